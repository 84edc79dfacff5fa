"""Data of the interactive view of several designs, each with surfaces of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.report.insert_view import build_insert_view, scale_tops
from kneewear.report.study_tables import design_values
from kneewear.report.tables import words
from kneewear.report.viewer import choice
from kneewear.study.designs import FullDesign


def build_design_view(
    variables: Mapping[str, Any], designs: Mapping[str, FullDesign]
) -> dict[str, Any]:
    """View of some designs, by their names, with one colour scale for all.

    `variables` are the study's, as plain builtins.
    """
    tops: dict[str, float] = {}
    for design in designs.values():
        for name, top in scale_tops(design.damage).items():
            tops[name] = max(top, tops.get(name, 0.0))
    view: dict[str, Any] = {}
    bodies: dict[str, Any] = {}
    scenes, labels = [], {}
    for name, one in designs.items():
        cycles = one.histories.values()
        percent = next(iter(cycles)).percent
        view = build_insert_view(
            one.knee.implant, one.knee.grid, one.damage, percent, cycles, tops=tops
        )
        labels[name] = f"{words(name)}: {design_values(variables, one.values)}"
        bodies |= {f"{name}_{part}": shape for part, shape in view["bodies"].items()}
        for scene in view["scenes"]:
            shown = [f"{name}_{part}" for part in scene["bodies"]]
            painted = {"bodies": shown, "coloured": f"{name}_insert"}
            scenes.append(scene | painted | {"of": scene["of"] | {"case": name}})
    quantity, _, *others = view["choices"]
    choices = [quantity, choice("case", "Design", labels), *others]
    return view | {"bodies": bodies, "scenes": scenes, "choices": choices}
