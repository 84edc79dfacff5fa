"""Understanding of shapes, motion and load, as tables.

A wrong sign, side, phase or unit is seen here before anything is computed; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.directions import CURVES, Directions, describe_activity
from kneewear.activity.settings import FileActivity, parse_activity
from kneewear.base.sides import SIDES
from kneewear.io.column_uses import column_uses
from kneewear.report.derived import Settings, derived
from kneewear.report.tables import file_names

# Titles of unused columns that one line of a terminal lists.
_LISTED_COLUMNS = 3


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
    names = file_names(meshes[part] for part in bearings)
    return pd.DataFrame(
        {
            "component": {"insert": "insert", "femoral": "femoral component"}[part],
            "file": names[meshes[part]],
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
    names = file_names(row["file"] for row in rows)
    return pd.DataFrame(row | {"file": names[row["file"]]} for row in rows)


def unused_columns(columns: pd.DataFrame) -> list[str]:
    """Return lines for a terminal about columns that are not used, a line for each reason.

    Files of whole bodies have a hundred columns of other joints; the page lists each. `columns` is
    the table of `tabulate_columns`.
    """
    unused: dict[tuple[str, ...], list[str]] = {}
    for column in columns.to_dict("records"):
        if column["use"] != "used":
            alike = tuple(column[name] for name in ("file", "use", "reason", "key"))
            unused.setdefault(alike, []).append(column["column"])
    return [
        f"{_listed(titles)} of {file} {use}: {reason}{f' ({key})' if key else ''}"
        for (file, use, reason, key), titles in unused.items()
    ]


def _listed(titles: Sequence[str]) -> str:
    """Titles in quotation marks, and the number of those beyond the first ones."""
    shown = ", ".join(f"'{title}'" for title in titles[:_LISTED_COLUMNS])
    more = len(titles) - _LISTED_COLUMNS
    return f"column{'s' * (len(titles) > 1)} {shown}{f' and {more} more' * (more > 0)}"


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
