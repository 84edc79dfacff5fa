"""Tables of soft tissue: ligament bundles, muscle paths and the surfaces they wrap on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.io.curves import parse_csv
from kneewear.io.data_file import decode_text, read_data
from kneewear.settings.faults import suggestion
from kneewear.tissue.bundles import Attachment, Bundles
from kneewear.tissue.laws import (
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
    table = _Table(path, ("bundle", "body_1", "body_2"), _LIGAMENT_NUMBERS)
    table.require_positive("linear_stiffness_n_per_strain", "slack_length_mm")
    table.require_unique("bundle")
    ends = [
        [table.attachment(row, frames, f"body_{end}", f"{{}}{end}_mm") for end in (1, 2)]
        for row in range(len(table.text))
    ]
    names = tuple(table.text["bundle"])
    law = quadratic_to_linear(
        table.numbers["slack_length_mm"],
        table.numbers["linear_stiffness_n_per_strain"],
        transition_strain,
        damping_time,
    )
    bundles = Bundles(names, bodies, tuple((one, other) for one, other in ends), law)
    return Ligaments(bundles, table.optional("wrap_object"))


def read_muscles(path: str | Path, frames: Frames) -> tuple[MusclePath, ...]:
    """Muscles of a table with one row per point (`muscle`, `body`, position), in its order.

    Points of a frame that `frames` does not have, such as the pelvis of a knee model, are left out.
    InputDataError as `read_ligaments`, and if a muscle keeps fewer than two points.
    """
    table = _Table(path, ("muscle", "body"), _MUSCLE_NUMBERS)
    table.require_positive("max_isometric_force_n")
    wraps = table.optional("wrap_object")
    muscles = []
    for name in dict.fromkeys(table.text["muscle"]):
        rows = np.flatnonzero(table.text["muscle"] == name)
        points = tuple(
            table.attachment(row, frames, "body", "{}_mm")
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
        force = float(table.numbers["max_isometric_force_n"][rows[0]])
        muscles.append(MusclePath(name, force, points, wraps[rows[0]]))
    return tuple(muscles)


def read_muscle_tensions(path: str | Path, muscles: tuple[str, ...]) -> TensionLaw:
    """Tension over length of muscles, of a table with one row per length (`muscle`, `length_mm`).

    InputDataError as `read_ligaments`, if a muscle has fewer than two rows, lengths that do not
    ascend or a negative tension, or if the table does not have it.
    """
    table = _Table(path, ("muscle",), _TENSION_NUMBERS)
    length, tension = (table.numbers[name] for name in _TENSION_NUMBERS)
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
    table = _Table(path, ("name", "kind", "body"), (*_PLACES, *_TURNS), optional=_SIZES)
    table.require_unique("name")
    uses, sides = table.optional("used_by"), table.optional("side")
    found = []
    for row, kind in enumerate(table.text["kind"]):
        if kind not in _NEEDED:
            table.refuse(row, "kind", kind, f"one of {', '.join(_NEEDED)}")
        sizes = [float(table.numbers[name][row]) for name in _SIZES]
        for number in _NEEDED[kind]:
            if not sizes[number] > 0.0:
                table.refuse(row, _SIZES[number], f"{sizes[number]:g}", f"a size of the {kind}")
        frame = table.frame(row, frames, "body")
        place = [float(table.numbers[name][row]) for name in _PLACES]
        turn = [float(table.numbers[name][row]) for name in _TURNS]
        found.append(
            WrapRow(
                name=table.text["name"][row],
                kind=kind,
                body=frame.body,
                translation=_three(np.array(place) + frame.origin),
                rotation=_three(np.array(turn)),
                size=(sizes[0], sizes[1], sizes[2]),
                length=sizes[3],
                used_by=tuple(uses[row].split()),
                side=table.direction(row, "side", sides[row]),
            )
        )
    return tuple(found)


def _three(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


class _Table:
    """Columns of text and numbers of a CSV file; messages count rows from 1 below the header."""

    def __init__(
        self,
        path: str | Path,
        words: tuple[str, ...],
        numbers: tuple[str, ...],
        optional: tuple[str, ...] = (),
    ) -> None:
        self.path = Path(path)
        cells = parse_csv(self.path, decode_text(path, read_data(path, "a table of soft tissue")))
        cells = cells.apply(lambda column: column.fillna("").str.strip())
        missing = [name for name in (*words, *numbers, *optional) if name not in cells]
        if missing:
            near = suggestion(missing[0], cells.columns) or "Add the columns."
            found = f"columns {', '.join(cells.columns)}"
            raise InputDataError(path, found, f"also {', '.join(missing)}", near, "header")
        if cells.empty:
            raise InputDataError(path, "no rows", "one row or more", "Export the table again.")
        self.text = cells
        self.numbers = {name: self._numbers(name, name in optional) for name in numbers + optional}

    def _numbers(self, name: str, may_miss: bool) -> Array:
        values = pd.to_numeric(self.text[name], errors="coerce").to_numpy(dtype=float)
        empty = (self.text[name] == "").to_numpy() & may_miss
        wrong = np.flatnonzero(~np.isfinite(values) & ~empty)
        if wrong.size:
            self.refuse(int(wrong[0]), name, f"'{self.text[name][wrong[0]]}'", "a number")
        return values

    def refuse(self, row: int, column: str, found: str, expected: str) -> None:
        """Raise InputDataError about a cell."""
        remedy = "Correct the table."
        where = f"row {row + 1}, column '{column}'"
        raise InputDataError(self.path, found, expected, remedy, where)

    def require_positive(self, *columns: str) -> None:
        for name in columns:
            wrong = np.flatnonzero(~(self.numbers[name] > 0.0))
            if wrong.size:
                value = f"{self.numbers[name][wrong[0]]:g}"
                self.refuse(int(wrong[0]), name, value, "a number above zero")

    def require_unique(self, column: str) -> None:
        again = np.flatnonzero(self.text[column].duplicated())
        if again.size:
            name = self.text[column][again[0]]
            self.refuse(int(again[0]), column, f"'{name}' again", "each name once")

    def optional(self, column: str) -> tuple[str, ...]:
        """Texts of a column, empty where there is none."""
        return tuple(self.text.get(column, pd.Series([""] * len(self.text))))

    def direction(self, row: int, column: str, text: str) -> tuple[float, float, float]:
        """Three numbers of a cell, zeros where it is empty."""
        numbers = pd.to_numeric(pd.Series(text.split() or ["0"] * 3), errors="coerce").to_numpy(
            float
        )
        if numbers.size != 3 or not np.isfinite(numbers).all():
            self.refuse(row, column, f"'{text}'", "three numbers, such as 1 0 0, or none")
        return _three(numbers)

    def frame(self, row: int, frames: Frames, column: str) -> FileFrame:
        """Frame named in a cell."""
        name = self.text[column][row]
        if name not in frames:
            near = suggestion(name, frames)
            self.refuse(
                row, column, f"body '{name}'",
                f"one of {', '.join(frames)}" + (f" ({near})" if near else ""),
            )  # fmt: skip
        return frames[name]

    def attachment(self, row: int, frames: Frames, column: str, pattern: str) -> Attachment:
        """Body and position, mm, of a point."""
        frame = self.frame(row, frames, column)
        point = [self.numbers[pattern.format(axis)][row] for axis in _AXES]
        return frame.body, np.array(point) + frame.origin
