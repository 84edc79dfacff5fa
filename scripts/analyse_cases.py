"""Tables and figures of all analyses, from the results of all cases (rule analyse_cases)."""

import pandas as pd

from kneewear.analysis.tables import analyse_results, needs_dataset
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import load_computed, load_table, save_figures, save_table
from kneewear.report.analyses import draw_cases
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.datasets import load_kept, load_press_cases
from kneewear.study.files import design_implants
from kneewear.study.settings import study_of

with job_log(snakemake.log[0]):
    study = study_of(snakemake.params.study)
    results = pd.concat(map(load_table, snakemake.input.results), ignore_index=True)
    save_table(results, snakemake.output.results)
    dataset = load_press_cases(snakemake.input.kept) if needs_dataset(study) else None
    for name, table in analyse_results(study, results, dataset).items():
        save_table(table, snakemake.output[name])
    tables = [path for path in snakemake.output if path.endswith(".csv")]
    knees = [netcdf.load(KneeModel, path) for path in snakemake.input.knee]
    figures = draw_cases(
        study=study,
        tables=load_computed([*tables, *snakemake.input.tables]),
        kept=load_kept(snakemake.input.kept, study.model),
        grid=next((knee.grid for knee in knees), None),
        implants=design_implants(
            study, next((knee.implant for knee in knees), None), snakemake.params.root
        ),
    )
    save_figures(figures, snakemake.output.figures, **snakemake.params.drawn)
