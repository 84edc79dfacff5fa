"""Step of the rule plot_figures that draws contact over the cycles of a wear study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.motion.history import keep_common
from kneewear.report.drawing import Drawing
from kneewear.report.figures import draw_contact
from kneewear.report.insert_view import build_insert_view
from kneewear.report.solids import whole_components
from kneewear.study import netcdf
from kneewear.study.job_files import JobFiles
from kneewear.wear.leading import leading_depth
from kneewear.wear.records import record_cycles


def plot_contact(settings: Mapping[str, Any], given: JobFiles) -> Drawing:
    """Draw contact over the cycle, and gather what the view of the insert shows."""
    knee, cases = given.the_knee, settings["cases"]
    paths, leave_out = given.paths("histories"), ("pressure", "slip")
    cycles = netcdf.load_all(CONTACT, paths, leave_out=leave_out)
    only = {"case": [settings["case"]]}
    histories = netcdf.load_all(CONTACT, given.paths("centre"), only=only)
    figures = draw_contact(
        implant=knee.implant,
        grid=knee.grid,
        cycles=record_cycles(keep_common(list(cycles))),
        activities=given.rebuilt_activities(settings["activities"]),
        histories=keep_common(list(histories)),
        limits=settings["limits"],
        poisson_ratio=settings["poisson_ratio"],
    )
    batches = (netcdf.load_cases(CONTACT, [path], ["slip"], cases) for path in paths)
    view = build_insert_view(
        implant=knee.implant,
        grid=knee.grid,
        maps=netcdf.load(DAMAGE, given.paths("damage"), only={"case": cases}),
        percent=next(iter(given.activities.values())).percent,
        first=settings["case"],
        leading=leading_depth(settings["creep_law"]),
        histories=(one for batch in batches for (one,) in batch),
        solids=whole_components(netcdf.load(GeometryRecord, given.paths("fit")[0]).extractions),
    )
    return Drawing(figures, view)
