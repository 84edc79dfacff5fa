"""Step of the rule plot_figures that draws what a wear study is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.settings import parse_activity
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.io.curves import read_activity
from kneewear.io.documents import load_table
from kneewear.report.drawing import Drawing
from kneewear.report.figures import draw_method
from kneewear.study import netcdf
from kneewear.study.job_files import JobFiles


def plot_method(settings: Mapping[str, Any], given: JobFiles) -> Drawing:
    """Draw what a study is given and how well its parts work."""
    measured: dict[str, dict[str, Activity]] = {}
    for one in settings["measured"]:
        block = parse_activity(one["settings"])
        activity = read_activity(one["name"], block, one["files"], settings["frames"], one["knee"])
        measured.setdefault(one["beside"], {})[one["name"]] = activity
    knee = given.the_knee
    record = netcdf.load(GeometryRecord, given.paths("fit")[0])
    figures = draw_method(
        implant=knee.implant,
        grid=knee.grid,
        activities=given.activities,
        tables={Path(path).stem: load_table(path) for path in given.paths("tables")}
        | {
            f"calibration_{Path(path).stem}": pd.read_csv(path, comment="#")
            for path in given.paths("calibration")
        },
        distance_tables=knee.distance_tables,
        quality=record.fit_quality,
        extractions=record.extractions,
        measured=measured,
        nominal=settings["thickness"],
    )
    return Drawing(figures)
