"""Reduce the cases of a study to its tables (rule tabulate_results)."""

from kneewear.analysis.regression_tables import tabulate_results
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io.curves import read_simulator_test
from kneewear.io.documents import save_table
from kneewear.io.result_files import frozen_digest
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.wear.gravimetry import tabulate_wear_over_cycles
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import summarize_batches

with job_log(snakemake.log[0]):
    histories = netcdf.load_all(CONTACT, snakemake.input.histories, leave_out=("pressure", "slip"))
    batches = zip(
        netcdf.load_all(DAMAGE, snakemake.input.damage),
        # All activities of a batch, which follow each other.
        zip(*[histories] * snakemake.params.activities, strict=True),
        [WearSettings(**settings) for settings in snakemake.params.wear],
        strict=True,
    )
    cases, failures = summarize_batches(
        batches, netcdf.load(ElementGrid, snakemake.input.knee, "grid")
    )
    tables = tabulate_results(
        cases,
        pressure_limit=snakemake.params.pressure_limit,
        avg_pressure_limit=snakemake.params.avg_pressure_limit,
        compare_with_published=snakemake.params.compare_with_published,
    )
    life = WearSettings(**snakemake.params.life)
    # The prediction is stored: from here on measured wear is read.
    digest = frozen_digest(*snakemake.input.frozen) if snakemake.input.frozen else ""
    tests = {
        name: read_simulator_test(test["path"], test["columns"], life.mm3_per(test["unit"]))
        for name, test in snakemake.params.tests.items()
    }
    tables |= {"failures": failures} | tabulate_wear_over_cycles(cases, life, tests, digest)
    for name, table in tables.items():
        save_table(table, snakemake.output[name])
