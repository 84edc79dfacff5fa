"""Activity of a new study: own curves, columns by their names, or the built-in gait."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kneewear.errors import InputDataError
from kneewear.geometry.dish import Dish
from kneewear.io.curves import read_columns
from kneewear.setup.gait import share_line, write_built_in_gait
from kneewear.setup.shapes import RecognisedShapes

# Distance of the middle between the plateaus from z = 0 beyond which a load line is stated, mm.
_OFF_MIDDLE = 0.5
# Part of its range to which a load rises where a stride begins, and the shortest stride, s.
_RISEN = 0.05
_SHORTEST_STRIDE_S = 0.4
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
    name: str,
    shapes: RecognisedShapes,
    motion: str | None,
    load: str | None,
    dish: Dish,
    share: float | None = None,
) -> str:
    """Block of settings of the activity: own curves, or the built-in gait written as a file."""
    conforms = dish.conforms
    way = "settled_ap_rotation" if conforms else "prescribed"
    found = f"sagittal radius of the plateaus {dish.ratio:.2f} times that of the condyles: {way}"
    shapes.note("boundary_conditions", "activities", found)
    scale = ""
    if motion is None:
        motion = load = write_built_in_gait()
        shapes.note("motion", motion, "the built-in gait; replace it by your own curves")
        scale = "" if conforms else share_line(share)
    elif load is None:
        raise InputDataError(motion, "a motion without a load", "both", "Add --load FILE.")
    columns, duration = _motion_columns(motion, shapes)
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
    return f"""\
activities:
  gait: null                  # the built-in cycle is left out
  {name}_gait:
    source: file
    motion:
      file: {quoted_path(motion)}
      convention: grood-suntay  # or opensim, iso14243-3:2014, signs ...: docs/how-to/own-motion.md
{scale}      columns:                # deg and mm
{listed}{cut}    load:
      file: {quoted_path(load)}
      kind: {kind}
      columns: {{{_clock(load)[0]}: "{load_clock}", load: "{column}"}}
{"      body_mass_kg: 75        # kg; assumed" + chr(10) if kind == "axial_force_n" else ""}\
{"      load_range_body_weights: [0.25, 3.0]" + chr(10) if kind == "ground_reaction" else ""}\
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
    shapes.note(
        "columns",
        file,
        f"{found}, by their names; signs of Grood and Suntay assumed",
        "Compare the motion on the inputs page.",
        doubt=True,
    )
    if kind == "percent":
        shapes.note(
            "duration", file, f"cycle of {duration:g} s assumed", "Correct duration_s.", doubt=True
        )
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


def quoted_path(file: str) -> str:
    """Path of a file as written in the settings, quoted where YAML needs it."""
    path = Path(file).expanduser()
    text = path.as_posix() if path.is_absolute() else Path(os.path.normpath(path)).as_posix()
    return f'"{text}"'
