"""Draw all figures of the study (rule plot_figures)."""

from pathlib import Path

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.cycles import load_cycles
from kneewear.io.damage import load_damage
from kneewear.io.deviation import load_deviation
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.extraction import load_extractions
from kneewear.io.figures import save_figure
from kneewear.io.grid import load_grid
from kneewear.io.history import load_case
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.report.dynamics import draw_dynamics
from kneewear.report.figures import draw_figures
from kneewear.report.verification import draw_verification

with job_log(snakemake.log[0], snakemake.threads):
    activities = [load_activity(path) for path in snakemake.input.activities]
    comparison = [load_table(path) for path in snakemake.input.comparison]
    figures = draw_figures(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        maps=load_damage(snakemake.input.damage),
        cycles=load_cycles(snakemake.input.cycles),
        activities={activity.name: activity for activity in activities},
        cases=load_table(snakemake.input.cases),
        regression=load_table(snakemake.input.regression),
        comparison=next(iter(comparison), None),
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        quality=load_deviation(snakemake.input.deviation),
        extractions=next(map(load_extractions, snakemake.input.extraction), None),
        benchmark=next(map(load_table, snakemake.input.benchmark), None),
    )
    figures |= draw_dynamics(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        histories=load_case(snakemake.input.histories, snakemake.params.case),
        comparison=load_table(snakemake.input.analyses),
    )
    tables = {Path(path).stem: load_table(path) for path in snakemake.input.verification}
    figures |= draw_verification(tables)
    for name, figure in figures.items():
        for suffix in ("svg", "png"):
            save_figure(figure, Path(snakemake.output.figures, f"{name}.{suffix}"))
