"""Laxity loops of one design at all coefficients of friction (rule drive_loops)."""

import pandas as pd

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.implant import GridSettings, TableSettings
from kneewear.settings.laxity import LaxitySettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.studies.designs.bench import Bench, coulomb
from kneewear.studies.designs.laxity import drive_loops

with job_log(snakemake.log[0], snakemake.threads):
    settings = LaxitySettings(**snakemake.params.laxity)
    knee = {
        "implant": netcdf.load(Implant, snakemake.input.knee, "implant"),
        "grid": GridSettings(**snakemake.params.grid),
        "table": TableSettings(**snakemake.params.table),
        "settings": SimulationSettings(**snakemake.params.simulation),
    }
    loops = [
        drive_loops(
            bench=Bench(**knee, friction=coulomb(friction)),
            settings=settings,
            friction=friction,
            design=snakemake.wildcards.design,
        )
        for friction in settings.friction
    ]
    save_table(pd.concat(loops, ignore_index=True), snakemake.output.loops)
