"""Tables of soft tissue: ligament bundles, muscle paths and the surfaces they wrap on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.faults import suggestion
from kneewear.errors import InputDataError
from kneewear.io.text_tables import TextTable
from kneewear.knees.tissue.bundles import Attachment, Bundles
from kneewear.mechanics.tension_laws import (
    TRANSITION_STRAIN,
    TensionLaw,
    quadratic_to_linear,
    tabulated,
)

Array = NDArray[np.float64]

_AXES = ("x", "y", "z")
_LIGAMENT_NUMBERS = (
    *(f"{axis}{end}_mm" for end in (1, 2) for axis in _AXES),
    "linear_stiffness_n_per_strain",
    "slack_length_mm",
)
_MUSCLE_NUMBERS = ("max_isometric_force_n", *(f"{axis}_mm" for axis in _AXES))
_TENSION_NUMBERS = ("length_mm", "tension_n")
_PLACES = tuple(f"translation_{axis}_mm" for axis in _AXES)
_TURNS = tuple(f"rotation_{axis}_rad" for axis in _AXES)
_SIZES = ("radius_or_semiaxis_x_mm", "semiaxis_y_mm", "semiaxis_z_mm", "length_mm")
# Numbers of a wrap object that its kind needs; the others are empty.
_NEEDED = {"cylinder": (0, 3), "ellipsoid": (0, 1, 2), "sphere": (0,)}


class FileFrame(NamedTuple):
    """A frame that a table's points are given in.

    It is parallel to that of the system's `body`, and its origin is at `origin`, mm, there.
    """

    body: str
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)


Frames = Mapping[str, FileFrame]


class Ligaments(NamedTuple):
    """Bundles of a table, and the wrap object of each, empty for a straight one."""

    bundles: Bundles
    wrap_objects: tuple[str, ...]


@dataclass(frozen=True)
class MusclePath:
    """A muscle: maximum isometric force, N, points from origin to insertion, wrap object."""

    name: str
    force: float
    path: tuple[Attachment, ...]
    wrap_object: str


@dataclass(frozen=True)
class WrapRow:
    """A wrap object in the frame of a body, with the names of what wraps on it.

    `rotation` are body-fixed turns about x, y, z, rad. `size` holds a radius, or the semi-axes of
    an ellipsoid, and `length` that of a cylinder along its z axis, mm; NaN where there is none.
    `side` is the direction, in the object's axes, to the side on which bundles pass; zero if it is
    not stated.
    """

    name: str
    kind: str
    body: str
    translation: tuple[float, float, float]
    rotation: tuple[float, float, float]
    size: tuple[float, float, float]
    length: float
    used_by: tuple[str, ...]
    side: tuple[float, float, float] = (0.0, 0.0, 0.0)


def read_ligaments(
    path: str | Path,
    frames: Frames,
    bodies: tuple[str, ...],
    transition_strain: float = TRANSITION_STRAIN,
    damping_time: float = 0.0,
) -> Ligaments:
    """Two-point bundles of a table (`bundle`, two ends, stiffness per strain, slack length).

    `frames` are those of the table by name, and `bodies` those of the system, in its order.
    InputDataError, with row and column, if a column is missing, a bundle occurs twice, a frame is
    unknown, a coordinate is no number, or a stiffness or slack length is not positive.
    """
    table = _read(path, ("bundle", "body_1", "body_2", *_LIGAMENT_NUMBERS))
    names = table.unique("bundle")
    law = quadratic_to_linear(
        table.positive("slack_length_mm"),
        table.positive("linear_stiffness_n_per_strain"),
        transition_strain,
        damping_time,
    )
    ends = []
    for end in (1, 2):
        places = _places(table, f"{{}}{end}_mm")
        ends.append([_point(table, n, at, frames, f"body_{end}") for n, at in enumerate(places)])
    bundles = Bundles(names, bodies, tuple(zip(*ends, strict=True)), law)
    return Ligaments(bundles, table.optional("wrap_object"))


def read_muscles(path: str | Path, frames: Frames) -> tuple[MusclePath, ...]:
    """Muscles of a table with one row per point (`muscle`, `body`, position), in its order.

    Points of a frame that `frames` does not have, such as the pelvis of a knee model, are left out.
    InputDataError as `read_ligaments`, and if a muscle keeps fewer than two points.
    """
    table = _read(path, ("muscle", "body", *_MUSCLE_NUMBERS))
    forces, wraps = table.positive("max_isometric_force_n"), table.optional("wrap_object")
    places, muscles = _places(table, "{}_mm"), []
    numbers = table.numbers("point") if "point" in table.text else None
    for name in dict.fromkeys(table.text["muscle"]):
        rows = np.flatnonzero(table.text["muscle"] == name)
        for number, row in enumerate(rows.tolist(), 1):
            if numbers is not None and numbers[row] != number:
                table.refuse(row, "point", f"{numbers[row]:g}", f"{number}, in order of the path")
            if forces[row] != forces[rows[0]]:
                expected = f"{forces[rows[0]]:g}, as of {name} before"
                table.refuse(row, "max_isometric_force_n", f"{forces[row]:g}", expected)
        points = tuple(
            _point(table, row, places[row], frames, "body")
            for row in rows.tolist()
            if table.text["body"][row] in frames
        )
        if len(points) < 2:
            raise InputDataError(
                path,
                f"{len(points)} points on {', '.join(frames)}",
                "two or more",
                "Name the frames of its points.",
                f"muscle {name}",
            )
        muscles.append(MusclePath(name, float(forces[rows[0]]), points, wraps[rows[0]]))
    return tuple(muscles)


def read_muscle_tensions(path: str | Path, muscles: tuple[str, ...]) -> TensionLaw:
    """Tension over length of muscles, of a table with one row per length (`muscle`, `length_mm`).

    InputDataError as `read_ligaments`, if a muscle has fewer than two rows, lengths that do not
    ascend or a negative tension, or if the table does not have it.
    """
    table = _read(path, ("muscle", *_TENSION_NUMBERS))
    length, tension = (table.numbers(name) for name in _TENSION_NUMBERS)
    known = tuple(dict.fromkeys(table.text["muscle"]))
    found = []
    for name in muscles:
        rows = np.flatnonzero(table.text["muscle"] == name)
        if rows.size < 2:
            near = suggestion(name, known) or "Add its lengths and tensions."
            where = f"muscle {name}"
            raise InputDataError(path, f"{rows.size} rows", "two or more", near, where)
        for row, before in zip(rows[1:].tolist(), rows[:-1], strict=True):
            if not length[row] > length[before]:
                expected = f"a length above {length[before]:g}"
                table.refuse(row, "length_mm", f"{length[row]:g}", expected)
        for row in rows[tension[rows] < 0.0].tolist():
            table.refuse(row, "tension_n", f"{tension[row]:g}", "zero or more")
        found.append((length[rows], tension[rows]))
    return tabulated(found)


def read_wrap_objects(path: str | Path, frames: Frames) -> tuple[WrapRow, ...]:
    """Wrap objects of a table, in the frames of the system's bodies.

    The optional column `side` has three numbers, the direction to the side on which bundles pass.
    InputDataError as `read_ligaments`, or if the kind is unknown or a size of that kind is missing.
    """
    table = _read(path, ("name", "kind", "body", *_PLACES, *_TURNS, *_SIZES))
    names, uses, sides = table.unique("name"), table.optional("used_by"), table.optional("side")
    places, turns = (
        np.column_stack([table.numbers(name) for name in columns]) for columns in (_PLACES, _TURNS)
    )
    every = np.column_stack([table.numbers(name, may_be_empty=True) for name in _SIZES])
    found = []
    for row, kind in enumerate(table.text["kind"]):
        if kind not in _NEEDED:
            table.refuse(row, "kind", kind, f"one of {', '.join(_NEEDED)}")
        sizes = every[row].tolist()
        for number in _NEEDED[kind]:
            if not sizes[number] > 0.0:
                table.refuse(row, _SIZES[number], f"{sizes[number]:g}", f"a size of the {kind}")
        frame = _frame(table, row, frames, "body")
        found.append(
            WrapRow(
                name=names[row],
                kind=kind,
                body=frame.body,
                translation=_three(places[row] + frame.origin),
                rotation=_three(turns[row]),
                size=(sizes[0], sizes[1], sizes[2]),
                length=sizes[3],
                used_by=tuple(uses[row].split()),
                side=_direction(table, row, "side", sides[row]),
            )
        )
    return tuple(found)


def _three(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _read(path: str | Path, columns: tuple[str, ...]) -> TextTable:
    """Table with rows that has some columns."""
    table = TextTable.read(path, "a table of soft tissue")
    table.require(columns)
    return table


def _places(table: TextTable, pattern: str) -> Array:
    """Positions (n, 3) of points, mm, from the columns of a pattern with x, y and z."""
    return np.column_stack([table.numbers(pattern.format(axis)) for axis in _AXES])


def _frame(table: TextTable, row: int, frames: Frames, column: str) -> FileFrame:
    """Frame named in a cell."""
    name = table.text[column][row]
    if name not in frames:
        remedy = suggestion(name, frames) or "Correct the table."
        table.refuse(row, column, f"body '{name}'", f"one of {', '.join(frames)}", remedy)
    return frames[name]


def _point(table: TextTable, row: int, place: Array, frames: Frames, column: str) -> Attachment:
    """Body and position, mm, of a point."""
    frame = _frame(table, row, frames, column)
    return frame.body, place + frame.origin


def _direction(table: TextTable, row: int, column: str, text: str) -> tuple[float, float, float]:
    """Three numbers of a cell, zeros where it is empty."""
    words = text.split() or ["0"] * 3
    numbers = pd.to_numeric(pd.Series(words), errors="coerce").to_numpy(float)
    if numbers.size != 3 or not np.isfinite(numbers).all():
        table.refuse(row, column, f"'{text}'", "three numbers, such as 1 0 0, or none")
    return _three(numbers)
