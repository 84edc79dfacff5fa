"""Understanding of shapes, motion and load, as figures and tables.

A wrong sign, side, phase or unit is seen here before anything is computed; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.activity.activity import Activity
from kneewear.activity.directions import CURVES, Curve, Directions, describe_activity
from kneewear.activity.settings import FileActivity, parse_activity
from kneewear.base.sides import SIDES
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import middle_of_condyles
from kneewear.io.column_uses import column_uses
from kneewear.report import style
from kneewear.report.derived import Settings, derived
from kneewear.report.maps import sample_surface

# Colours of the phases of a cycle, behind the curves.
PHASE_COLOURS = ("#dce9f5", "#eef4fa", "#ffffff")


@derived
def understood_shapes(settings: Settings) -> pd.DataFrame:
    """Files, forms, units, axes and bearings of the components, as the settings have them."""
    implant = settings.get("implant", {})
    if implant.get("source") != "meshes":
        return pd.DataFrame()
    meshes = implant["meshes"]
    axes = ", ".join(f"+{axis} {word}" for axis, word in meshes["axes"].items())
    plateaus, condyles = meshes["insert_region_mm"], meshes["femoral_region_mm"]
    bearings = {
        "insert": [
            f"{side} {_length(plateaus[side]['x'])} mm long, {_length(plateaus[side]['z'])} mm wide"
            for side in SIDES
            if plateaus[side]
        ],
        "femoral": [
            f"{side} {_length(condyles[side]['z'])} mm wide, {condyles[side]['angle_deg'][0]:.0f} "
            f"to {condyles[side]['angle_deg'][1]:.0f} deg about the condyles' axis"
            for side in SIDES
            if condyles[side]
        ],
    }
    return pd.DataFrame(
        {
            "component": {"insert": "insert", "femoral": "femoral component"}[part],
            "file": meshes[part],
            "form": meshes[f"{part}_form"],
            "unit": meshes["unit"],
            "axes": f"{axes} of a {implant['knee']} knee",
            "bearings": "; ".join(bearings[part]),
        }
        for part in bearings
    )


def _length(limits: Any) -> str:
    return f"{limits[1] - limits[0]:.0f}"


def tabulate_columns(settings: Settings, files: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Every column of the files of activities: what it was understood as, and its use.

    `settings` are plain builtins, `files` the paths by activity and part. Columns activity and the
    fields of `ColumnUse`.
    """
    rows = []
    for name, paths in files.items():
        if not paths:
            continue
        block = parse_activity(settings["activities"][name])
        if isinstance(block, FileActivity):
            knee = block.motion.knee or settings["implant"]["knee"]
            uses = column_uses(name, block, paths, knee)
            rows += [{"activity": name} | asdict(use) for use in uses]
    return pd.DataFrame(rows)


def tabulate_directions(activities: Iterable[Activity]) -> pd.DataFrame:
    """Motion and load of activities in words: a row for each curve, and for each phase of the load.

    Columns activity, curve, use, minimum, maximum, unit and, in words, range and direction.
    """
    rows: list[dict[str, Any]] = []
    for directions in map(describe_activity, activities):
        curves = [
            (curve, directions.values[:, number], directions.use[number])
            for number, curve in enumerate(CURVES)
        ]
        curves += [(curve, force, "prescribed") for curve, force in directions.forces]
        for curve, values, use in curves:
            words = [
                f"{movement.phase}: {movement.words}"
                for movement in directions.movements
                if movement.curve is curve and movement.changes
            ]
            rows.append(_row(directions, curve.name, use, values, curve.unit,
                             "; ".join(words) or "hardly moves"))  # fmt: skip
        phases = [
            f"{phase.name}, {phase.start:.0f} to {phase.end % 100.0 or 100.0:.0f} %: "
            f"{phase.load[0]:.2g} to {phase.load[1]:.3g}"
            for phase in directions.phases
        ]
        rows.append(_row(directions, "axial load", "prescribed", directions.load, "body weights",
                         "; ".join(phases)))  # fmt: skip
    return pd.DataFrame(rows)


def activity_tables(activities: Sequence[Activity]) -> dict[str, pd.DataFrame]:
    """Notes on the files of activities, their motion in words, and what determines coordinates."""
    notes = [(one.name, note) for one in activities for note in one.notes]
    conditions = []
    for one in activities:
        by = one.boundary_conditions
        kinds = {
            "prescribed": by["prescribed"],
            "held": by["held"],
            "driven by force": by["force"],
            "solved": by["solved"],
            "spring": by["springs"],
        }
        conditions += [(one.name, name, kind) for kind, names in kinds.items() for name in names]
    return {
        "understood_motion": tabulate_directions(activities),
        "activity_notes": pd.DataFrame(notes, columns=["activity", "note"]),
        "boundary_conditions": pd.DataFrame(
            conditions, columns=["activity", "coordinate", "condition"]
        ),
    }


def _row(
    directions: Directions, name: str, use: str, values: Any, unit: str, words: str
) -> dict[str, Any]:
    # No minus before zero.
    low, high = (round(float(end), 6) + 0.0 for end in (np.min(values), np.max(values)))
    return {
        "activity": directions.name,
        "curve": name.replace("_", "-"),
        "use": use,
        "minimum": low,
        "maximum": high,
        "unit": unit,
        "range": f"{low:.3g} to {high:.3g} {unit}",
        "direction": words,
    }


@style.styled
def draw_directions(activity: Activity) -> Figure:
    """Curves of a cycle with their directions in words, and the load, over the phases."""
    directions = describe_activity(activity)
    shown = [
        (curve, directions.values[:, number], use)
        for number, (curve, use) in enumerate(zip(CURVES, directions.use, strict=True))
        if use == "prescribed" or np.ptp(directions.values[:, number]) > 0.0
    ]
    forces = directions.forces
    figure, panels = style.panels_in_rows(len(shown) + len(forces) + 1, 4, 2.0)
    order = np.argsort(directions.percent, kind="stable")
    percent = directions.percent[order]
    for axes, (curve, values, use) in zip(panels, shown, strict=False):
        _shade(axes, directions)
        colour = style.INK if use == "prescribed" else style.AMBER
        axes.plot(percent, values[order], color=colour)
        axes.set_title(_directed_title(curve))
        if use != "prescribed":
            axes.text(0.03, 0.97, use, transform=axes.transAxes, va="top", fontsize=style.SMALL)
    for axes, (curve, values) in zip(panels[len(shown) :], forces, strict=False):
        _shade(axes, directions)
        style.draw_cycle(axes, activity.percent, values, style.INK)
        axes.set_title(_directed_title(curve))
    load = panels[len(shown) + len(forces)]
    _shade(load, directions, named=True)
    style.draw_cycle(load, activity.percent, activity.load, style.INK)
    peaks = [int(np.argmin(np.abs(activity.percent - peak))) for peak in directions.peaks]
    load.plot(activity.percent[peaks], activity.load[peaks], "o", color=style.RED, ms=4)
    load.set(title="Axial load (body weights)", ylim=(0.0, 1.3 * float(activity.load.max())))
    for axes in panels:
        axes.set(xlim=(0.0, 100.0), xticks=[0, 25, 50, 75, 100], xlabel="% of cycle")
    return figure


def _directed_title(curve: Curve) -> str:
    """Title that states which way up is."""
    up, down = (
        words.replace(" by up to {}", "").replace(" {}", "")
        for words in (curve.growing, curve.falling)
    )
    return f"{curve.subject.capitalize()} {up} ↑\n{down} ↓ ({curve.unit})"


def _shade(axes: Axes, directions: Directions, named: bool = False) -> None:
    """Shade the phases of a cycle, and name them."""
    for phase, colour in zip(directions.phases, PHASE_COLOURS, strict=True):
        pieces = [(phase.start, min(phase.end, 100.0)), (0.0, phase.end - 100.0)]
        for start, end in pieces:
            if end > start:
                axes.axvspan(start, end, color=colour, lw=0, zorder=0)
        start, end = max(pieces, key=lambda piece: piece[1] - piece[0])
        if named:
            axes.text(
                0.5 * (start + end), 0.97, phase.name.replace(" ", "\n"), ha="center", va="top",
                fontsize=style.SMALL, transform=axes.get_xaxis_transform(), in_layout=False,
            )  # fmt: skip


@style.styled
def draw_shapes(implant: Implant) -> Figure:
    """Bearings of both components with anatomical directions, and the origin of the motion.

    Insert from above, condyles from the side and from behind, each in its own frame.
    """
    figure, ((plan, side_view, rear),) = style.new_figure(3.6, columns=3)
    for side, surface in implant.insert.items():
        points = sample_surface(surface)
        _draw_patch(plan, points[..., 2], points[..., 0], style.SIDE_COLOURS[side], side)
    style.show_plan(plan)
    plan.set_title("Insert from above")
    for side, surface in implant.femoral.items():
        points, colour = sample_surface(surface), style.SIDE_COLOURS[side]
        _draw_patch(side_view, points[..., 0], points[..., 1], colour, side)
        _draw_patch(rear, points[..., 2], points[..., 1], colour, side)
    middle = middle_of_condyles(implant.femoral)
    for axes, across in ((side_view, 0), (rear, 2)):
        axes.plot(0.0, 0.0, "+", color=style.INK, ms=12, mew=2, label="origin: motion turns here")
        axes.plot(middle[across], middle[1], "x", color=style.RED, ms=7, label="middle of the axis")
        axes.set(aspect="equal", ylabel="inferior ← y (mm) → superior")
    rear.invert_xaxis()
    side_view.set(title="Condyles from the side", xlabel=style.SECTION_LABEL)
    rear.set(title="Condyles from behind", xlabel=style.Z_LABEL, ylabel="")
    style.share_legend(figure, side_view, 4, below=True)
    return figure


def _draw_patch(axes: Axes, across: Any, up: Any, colour: str, label: str) -> None:
    """Draw a sampled surface as its lines, with its border."""
    for x, y in ((across, up), (across.T, up.T)):
        step = max(1, len(x) // 8)
        axes.plot(x[::step].T, y[::step].T, color=colour, lw=0.5)
    border = [(x[0], y[0]) for x, y in ((across, up), (across.T, up.T))]
    border += [(x[-1], y[-1]) for x, y in ((across, up), (across.T, up.T))]
    for number, (x, y) in enumerate(border):
        axes.plot(x, y, color=colour, lw=1.6, label=None if number else label)
