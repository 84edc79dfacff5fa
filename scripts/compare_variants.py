"""Compare the methods that one case was simulated with (rule compare_variants)."""

import pandas as pd

from kneewear.geometry.element_grid import ElementGrid
from kneewear.io import netcdf
from kneewear.io.csv_tables import save_table
from kneewear.io.history import load_case
from kneewear.joblog import job_log
from kneewear.settings.wear import WearSettings
from kneewear.verification.methods import compare_analyses, compare_methods

with job_log(snakemake.log[0], snakemake.threads):
    case, names = snakemake.params.case, snakemake.params.variants
    configured = load_case(snakemake.input.configured, case)
    variants = {names[key]: load_case(snakemake.input[key], case) for key in names}
    comparison = compare_methods(
        configured,
        variants,
        grid=netcdf.load(ElementGrid, snakemake.input.knee, "grid"),
        settings=WearSettings(**snakemake.params.wear),
    )
    others = variants[names["other_analysis"]]
    analyses = [compare_analyses(history, others[name]) for name, history in configured.items()]
    save_table(comparison, snakemake.output.variants)
    save_table(pd.concat(analyses), snakemake.output.analyses)
