"""Data of the interactive view of several designs, each with surfaces of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.report.case_facts import design_values
from kneewear.report.insert_view import build_insert_view, scale_tops
from kneewear.report.tables import words
from kneewear.settings.optimisation import OptimisationSettings
from kneewear.studies.optimisation.front import FullDesign


def build_design_view(
    settings: OptimisationSettings, designs: Mapping[str, FullDesign]
) -> dict[str, Any]:
    """Gather the data of the view of some designs, by their names, with one colour scale for all.

    As of :func:`kneewear.report.insert_view.build_insert_view`, but that `shapes` has the meshes of
    each design, `insert` and `femoral`, and each case the number of its `shape`.
    """
    tops: dict[str, float] = {}
    for one in designs.values():
        for name, top in scale_tops(one.damage).items():
            tops[name] = max(top, tops.get(name, 0.0))
    view: dict[str, Any] = {}
    shapes, cases = [], []
    for name, one in designs.items():
        cycles = one.histories.values()
        percent = next(iter(cycles)).percent
        view = build_insert_view(one.knee.implant, one.knee.grid, one.damage, percent, cycles, tops)
        shapes.append({part: view.pop(part) for part in ("insert", "femoral")})
        label = f"{words(name)}: {design_values(settings.model_dump(), one.values)}"
        for case in view["cases"]:
            cases.append(case | {"name": name, "label": label, "shape": len(shapes) - 1})
    return view | {"shapes": shapes, "cases": cases}
