"""Activity of a new study: own curves, columns by their names, or the built-in gait."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear import default_study
from kneewear.activity.sources import build_activity
from kneewear.errors import InputDataError
from kneewear.geometry.dish import Dish
from kneewear.io.curves import read_columns
from kneewear.io.documents import save_table
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.setup.shapes import RecognisedShapes

# Distance of the middle between the plateaus from z = 0 beyond which a load line is stated, mm.
_OFF_MIDDLE = 0.5
# Part of its range to which a load rises where a stride begins, and the shortest stride, s.
_RISEN = 0.05
_SHORTEST_STRIDE_S = 0.4
# Coordinates that a conforming dish decides.
_SOLVED = ("anterior_posterior", "rotation")
# Mass that forces are taken to belong to, kg, and what a ground reaction is scaled to, body weights
# (Bei 2003, section 4.2.1).
_BODY_MASS_KG = 75.0
_SCALED_TO = (0.25, 3.0)
_KINDS = {
    "percent": ("percent", "pct", "cycle"),
    "time_s": ("time",),
    "flexion": ("flex",),
    "varus": ("varus", "adduction", "valgus"),
    "rotation": ("rotation", "internal", "external"),
    "anterior_posterior": ("anterior", "posterior", "ap_"),
    "superior_inferior": ("superior", "inferior", "axial"),
    "medial_lateral": ("lateral", "medial", "ml_"),
}


def activity_block(
    name: str, shapes: RecognisedShapes, motion: str | None, load: str | None, dish: Dish
) -> str:
    """Block of settings of the activity: own curves, or the built-in gait written as a file."""
    conforms = dish.conforms
    way = "settled_ap_rotation" if conforms else "prescribed"
    radii = f"sagittal radius of the plateaus {dish.ratio:.2f} times the condyles' radius: {way}"
    shapes.note("boundary_conditions", "activities", radii)
    block = f"activities.{name}_gait"
    invented = motion is None
    if motion is None:
        motion = load = f"{name}_gait.csv"
        gait = _built_in_gait()
        position, rotation = gait["femur_anterior_mm"], gait["tibial_external_rotation_deg"]
        turned = np.radians(np.abs(rotation - rotation.mean()).max()) * CHARACTERISTIC_LENGTH
        part = dish.kept_travel(float(np.abs(position - position.mean()).max() + turned))
        found = "an invented gait, the built-in one"
        if part < 1.0 and not conforms:
            part = float(f"{part:.2f}")
            for curve in (position, rotation):
                gait[curve.name] = (curve.mean() + part * (curve - curve.mean())).round(5)
            found += (
                f" with {part:g} of its travel and rotation, which keeps contact on this bearing"
            )
        save_table(gait, motion)
        remedy = "Replace it by curves of your own."
        shapes.assume("gait", f"{block}.motion.file", settings_path(motion), found, remedy)
    elif load is None:
        raise InputDataError(motion, "a motion without a load", "both", "Add --load FILE.")
    columns, duration = _motion_columns(motion, shapes)
    if not invented:
        shapes.assume(
            "signs",
            f"{block}.motion.convention",
            "grood-suntay",
            "signs of Grood and Suntay: flexion, varus, external rotation of the tibia, femur "
            "anterior, superior and lateral positive",
            "Compare the motion on the inputs page; set another convention, or signs.",
        )
    if "percent" in columns:
        found = f"a cycle of {duration:g} s"
        shapes.assume("duration", f"{block}.duration_s", duration, found, "Set its duration.")
    solved = [quantity for quantity in _SOLVED if conforms and quantity in columns]
    if solved and not invented:
        shapes.assume(
            "boundary_conditions",
            f"{block}.boundary_conditions",
            way,
            f"{' and '.join(solved).replace('_', '-')} of the file not used, but solved: {radii}",
            "Set prescribed, and name the columns, to follow the file.",
        )
    if conforms:
        columns.pop("anterior_posterior", None)
        columns.pop("rotation", None)
    listed = "".join(f'        {quantity}: "{column}"\n' for quantity, column in columns.items())
    clock = "percent" if "percent" in columns else "time_s"
    column, kind = _load_column(load, shapes)
    load_clock = columns[clock] if load == motion else _clock(load)[1]
    strides = _strides(load, load_clock, column) if clock == _clock(load)[0] == "time_s" else ()
    if strides:
        duration = float(f"{np.diff(strides).mean():.4g}")
        found = (
            f"{len(strides) - 1} strides of {duration:g} s on average, from where '{column}' rises"
        )
        shapes.note("strides", load, found)
    cut = f"      strides_s: [{', '.join(f'{one:.3f}' for one in strides)}]\n" if strides else ""
    line = ""
    if _states_line(dish):
        line = f"    control: {{load_line_mm: {dish.middle:.2f}}}  # mm; middle of the plateaus\n"
    # Where position is solved, the dwell pose is where the search starts.
    names = "anterior_posterior", "superior_inferior", "medial_lateral"
    zero = f"    zero: {{{', '.join(f'{name}: dwell_pose' for name in names)}}}\n"
    scaling = ""
    if kind == "axial_force_n":
        scaling = f"      body_mass_kg: {_BODY_MASS_KG:g}\n"
        found = f"forces of a body of {_BODY_MASS_KG:g} kg"
        key = f"{block}.load.body_mass_kg"
        shapes.assume("body_mass", key, _BODY_MASS_KG, found, "Set the mass of the subject.")
    if kind == "ground_reaction":
        low, high = _SCALED_TO
        scaling = f"      load_range_body_weights: [{low:g}, {high:g}]\n"
        shapes.assume(
            "load_range",
            f"{block}.load.load_range_body_weights",
            _SCALED_TO,
            f"a ground reaction scaled to {low:g} to {high:g} body weights in the joint",
            "Set the range of the joint's load.",
        )
    return f"""\
activities:
  gait: null                  # the built-in cycle is left out
  {name}_gait:
    source: file
    motion:
      file: {quoted_path(motion)}
      convention: grood-suntay  # or opensim, iso14243-3:2014, signs ...: docs/how-to/own-motion.md
      columns:                # deg and mm
{listed}{cut}    load:
      file: {quoted_path(load)}
      kind: {kind}
      columns: {{{_clock(load)[0]}: "{load_clock}", load: "{column}"}}
{scaling}\
    duration_s: {duration:g}
    closing_percent: 5        # of the cycle
    boundary_conditions: {way}  # prescribed | settled_ap_rotation | simulator
{line}{zero}"""


def _states_line(dish: Dish) -> bool:
    """True if the load acts at a stated line: position settles, and z 0 is not in the middle."""
    return bool(dish.conforms and abs(dish.middle) >= _OFF_MIDDLE)


def ignored_block(dish: Dish) -> str:
    """Silence of the usual range of a load line where the insert's origin is not in its middle."""
    if not _states_line(dish):
        return ""
    return """
checks:                       # the origin is beside the insert; the placement judges the load line
  ignore: [activities.*.control.load_line_mm]
"""


def _built_in_gait() -> pd.DataFrame:
    """Curves of the default study's gait at 101 percent."""
    settings = default_study().activities["gait"]
    activity = build_activity("gait", settings, 100)
    angles = np.degrees(clinical_angles(body_three_123(activity.rotation)))
    table = pd.DataFrame(
        {
            "percent": activity.percent,
            "flexion_deg": angles[:, 0],
            "tibial_external_rotation_deg": angles[:, 2],
            "femur_anterior_mm": -activity.translation[:, 0],
            "load_body_weights": activity.load,
        }
    )
    last = table.iloc[:1].assign(percent=100.0)
    return pd.concat([table, last], ignore_index=True).round(5)


def _clock(file: str) -> tuple[str, str]:
    """Quantity and column of the position in the cycle."""
    for kind in ("percent", "time_s"):
        for column in read_columns(file).columns:
            if any(word in column.lower() for word in _KINDS[kind]):
                return kind, column
    found = f"columns {', '.join(read_columns(file).columns)}"
    raise InputDataError(file, found, "one of percent or time", "Name one 'percent' or 'time'.")


def _motion_columns(file: str, shapes: RecognisedShapes) -> tuple[dict[str, str], float]:
    """Columns of the motion by their names, and the duration of the cycle, s."""
    table = read_columns(file)
    kind, clock = _clock(file)
    columns = {kind: clock}
    for quantity in list(_KINDS)[2:]:
        for column in table.columns:
            named = any(word in column.lower() for word in _KINDS[quantity])
            if (
                named
                and column not in columns.values()
                and not column.lower().startswith(("raw", "min", "load", "gap"))
            ):
                columns[quantity] = column
                break
    if "flexion" not in columns:
        found = f"columns {', '.join(table.columns)}"
        raise InputDataError(file, found, "one of flexion", "Name it 'flexion_deg'.")
    duration = float(np.ptp(table[clock])) if kind == "time_s" else 1.1
    found = ", ".join(f"{quantity} in '{column}'" for quantity, column in columns.items())
    shapes.note("columns", file, f"{found}, by their names")
    return columns, duration


def _strides(file: str, clock: str, column: str) -> tuple[float, ...]:
    """Times at which a load rises from its least values, s: beginnings of strides, and an end.

    Empty with fewer than two strides.
    """
    table = read_columns(file)
    load = -table[column[1:]] if column.startswith("-") else table[column]
    time, force = (one.to_numpy(dtype=float) for one in (table[clock], load))
    limit = force.min() + _RISEN * np.ptp(force)
    before = np.flatnonzero((force[:-1] < limit) & (force[1:] >= limit))
    part = (limit - force[before]) / (force[before + 1] - force[before])
    found: list[float] = []
    for one in time[before] + part * np.diff(time)[before]:
        if not found or one - found[-1] > _SHORTEST_STRIDE_S:
            found.append(float(one))
    return tuple(found) if len(found) > 2 else ()


def _load_column(file: str, shapes: RecognisedShapes) -> tuple[str, str]:
    """Column of the load and its kind, by its size."""
    table = read_columns(file)
    words = ("axial_bw", "load", "axial", "force", "reaction", "grf", "fz", "fy")
    clock = _clock(file)[1]
    for word in words:
        for column in table.columns:
            if word in column.lower() and column != clock:
                sign = "" if table[column].mean() >= 0.0 else "-"
                largest = float(np.nanmax(np.abs(table[column])))
                kind = "axial_load" if largest < 15.0 else "axial_force_n"
                if "ground" in column.lower() or "grf" in column.lower():
                    kind = "ground_reaction"
                way = ", negative in compression" if sign else ""
                shapes.note("load", file, f"'{column}' up to {largest:.4g}{way}: {kind}")
                return sign + column, kind
    found = f"columns {', '.join(table.columns)}"
    raise InputDataError(file, found, "one of load or force", "Name it 'load_body_weights'.")


def settings_path(file: str) -> str:
    """Path of a file as the settings have it."""
    path = Path(file).expanduser()
    return path.as_posix() if path.is_absolute() else Path(os.path.normpath(path)).as_posix()


def quoted_path(file: str) -> str:
    """Path of a file as written in the settings, quoted where YAML needs it."""
    return f'"{settings_path(file)}"'
