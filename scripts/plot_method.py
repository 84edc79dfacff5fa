"""Draw what a study is given and how well its parts work (rule plot_method)."""

from pathlib import Path

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.deviation import load_deviation
from kneewear.io.distance_table import load_distance_tables
from kneewear.io.extraction import load_extractions
from kneewear.io.figures import save_figures
from kneewear.io.grid import load_grid
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log
from kneewear.report.figures import draw_method

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_method(
        implant=load_implant(snakemake.input.surfaces),
        grid=load_grid(snakemake.input.grid),
        activities={one.name: one for one in map(load_activity, snakemake.input.activities)},
        tables={Path(path).stem: load_table(path) for path in snakemake.input.tables}
        | {
            f"calibration_{Path(path).stem}": load_table(path)
            for path in snakemake.input.calibration
        },
        distance_tables=load_distance_tables(snakemake.input.distance_table),
        quality=load_deviation(snakemake.input.deviation),
        extractions=next(map(load_extractions, snakemake.input.extraction), None),
    )
    save_figures(figures, snakemake.output.figures)
