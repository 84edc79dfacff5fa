"""Step of the rule plot_figures that draws what the cases of a wear study came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.base.schemas import DAMAGE
from kneewear.io.documents import load_computed
from kneewear.report.drawing import Drawing
from kneewear.report.figures import draw_results
from kneewear.study import netcdf
from kneewear.study.job_files import JobFiles
from kneewear.wear.leading import leading_depth


def plot_results(settings: Mapping[str, Any], given: JobFiles) -> Drawing:
    """Draw what the cases of a study came to."""
    only = {"case": settings["cases"]}
    maps = netcdf.load(DAMAGE, given.paths("damage"), only=only)
    tables = load_computed(given.paths("tables"))
    return Drawing(draw_results(given.grid(), maps, tables, leading_depth(settings["creep_law"])))
