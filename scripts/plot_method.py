"""Draw what a study is given and how well its parts work (rule plot_method)."""

from pathlib import Path

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.settings import parse_activity
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.knee import KneeModel
from kneewear.io.curves import read_activity
from kneewear.io.documents import load_table, save_figures
from kneewear.report.figures import draw_method
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    measured = {}
    for one in snakemake.params.measured:
        measured.setdefault(one["beside"], {})[one["name"]] = read_activity(
            one["name"],
            parse_activity(one["settings"]),
            one["files"],
            snakemake.params.frames,
            one["knee"],
        )
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    record = netcdf.load(GeometryRecord, snakemake.input.fit)
    figures = draw_method(
        implant=knee.implant,
        grid=knee.grid,
        activities={one.name: one for one in netcdf.load_all(Activity, snakemake.input.activities)},
        tables={Path(path).stem: load_table(path) for path in snakemake.input.tables}
        | {
            f"calibration_{Path(path).stem}": pd.read_csv(path, comment="#")
            for path in snakemake.input.calibration
        },
        distance_tables=knee.distance_tables,
        quality=record.fit_quality,
        extractions=record.extractions,
        measured=measured,
        nominal=snakemake.params.thickness,
    )
    save_figures(figures, snakemake.output.figures, **snakemake.params.drawn)
