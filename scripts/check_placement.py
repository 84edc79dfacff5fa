"""Try a motion on the bearing and judge its placement (rule check_placement)."""

import logging

from kneewear.activity.activity import Activity
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.placement import check_placement

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    placement = check_placement(
        netcdf.load(KneeModel, snakemake.input.knee),
        activity=netcdf.load(Activity, snakemake.input.activity),
        cases=[Case(**one) for one in snakemake.params.cases],
        settings=SimulationSettings(**snakemake.params.simulation),
        fit=netcdf.load(GeometryRecord, snakemake.input.fit).fit_quality,
    )
    # The page has them as findings, from the table.
    for sentence in placement.sentences[1:]:
        logging.getLogger("kneewear").info(sentence)
    save_table(placement.table, snakemake.output.placement)
