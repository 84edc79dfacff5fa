"""What files of a composed knee hold: shapes, soft tissue, curves and printed numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh, joined
from kneewear.io.multibody_inputs import (
    Files,
    chosen_obstacles,
    place_object,
    refuse_one_body,
    require_known,
)
from kneewear.io.shapes import load_shape
from kneewear.io.soft_tissue import (
    FileFrame,
    Frames,
    read_ligaments,
    read_muscle_tensions,
    read_muscles,
    read_wrap_objects,
)
from kneewear.io.text_tables import TextTable
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.rotations import body_three_123
from kneewear.regression.literature import NUMBERS
from kneewear.settings.composed_knee import ComposedKneeSettings, MeshShapeSettings
from kneewear.settings.soft_tissue_knee import Six
from kneewear.studies.multibody.composed import (
    ComposedParts,
    compose_system,
    curve_names,
    start_coordinates,
)
from kneewear.studies.multibody.passive_flexion import sided
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.laws import constant

Array = NDArray[np.float64]


def load_composed_parts(settings: ComposedKneeSettings, files: Files) -> ComposedParts:
    """Shapes, bundles, curves and printed numbers of a composed knee.

    InputDataError, with file and place, if a table is damaged, names a frame that no body has, a
    bundle cannot wrap at the start, or a curve does not ascend.
    """
    frames: Frames = {
        name: FileFrame(body, origin)
        for body, one in settings.bodies.items()
        for name, origin in {body: (0.0, 0.0, 0.0), **one.frames}.items()
    }
    bodies = (settings.ground, *settings.moving)
    poses = compose_system(ComposedParts(), _bare(settings)).poses(start_coordinates(settings))
    ligaments = {}
    for name, one in settings.ligaments.items():
        read = read_ligaments(
            files[name], frames, bodies, one.transition_strain, one.damping_time_s
        )
        ligaments[name] = _wrapped(
            read.bundles, read.wrap_objects, settings, name, files, frames, poses
        )
    muscles = {}
    for name, muscle in settings.muscles.items():
        paths = read_muscles(files[name], frames)
        names = tuple(one.name for one in paths)
        if muscle.activation is None:
            law = read_muscle_tensions(files[f"{name}_tensions"], names)
        else:
            law = constant([muscle.activation * one.force for one in paths])
        bundles = Bundles(names, bodies, tuple(one.path for one in paths), law)
        wraps = tuple(one.wrap_object for one in paths)
        muscles[name] = _wrapped(bundles, wraps, settings, name, files, frames, poses)
    for tables in (ligaments, muscles):
        counts = Counter(one for bundles in tables.values() for one in bundles.names)
        for name, bundles in tables.items():
            twice = [one for one in bundles.names if counts[one] > 1]
            if twice:
                expected = "different names in all tables"
                raise InputDataError(files[name], f"{twice[0]} twice", expected, "Rename one.")
    parts = ComposedParts(
        shapes={
            f"{body}.{name}": _mesh(settings, files[f"{body}.{name}"], shape.placement)
            for body, one in settings.bodies.items()
            for name, shape in one.shapes.items()
            if isinstance(shape, MeshShapeSettings)
        },
        bones={
            body: joined(
                [_mesh(settings, files[f"{body}_bone_{n}"]) for n in range(len(one.bones))]
            )
            for body, one in settings.bodies.items()
            if one.bones
        },
        ligaments=ligaments,
        muscles=muscles,
        curves={
            name: _curve(files[name], curve.over, {"value": curve.column}).to_numpy(dtype=float)
            for name, curve in settings.table_curves.items()
        },
        compared=None
        if settings.compare is None
        else _curve(files["compare"], settings.compare.over, settings.compare.columns),
        literature=_printed(files["literature"]) if "literature" in files else None,
    )
    if parts.literature is not None:
        _check_printed(parts, settings, files["literature"])
    return parts


def _bare(settings: ComposedKneeSettings) -> ComposedKneeSettings:
    """The bodies alone."""
    none: dict[str, Any] = {
        name: {} for name in ("contacts", "ligaments", "muscles", "springs", "joints", "loads")
    }
    return settings.model_copy(update={**none, "gravity": None})


def _mesh(
    settings: ComposedKneeSettings, path: str | Path, placement: Six = (0.0,) * 6
) -> TriangleMesh:
    """Mesh in the frame of its body, mm."""
    mesh, turn = load_shape(path), body_three_123(np.radians(placement[3:]))
    vertices = MM_PER_UNIT[settings.unit] * mesh.vertices @ turn.T + np.array(placement[:3])
    return TriangleMesh(vertices, mesh.faces)


def _wrapped(
    bundles: Bundles,
    wraps: tuple[str, ...],
    settings: ComposedKneeSettings,
    name: str,
    files: Files,
    frames: Frames,
    poses: BodyPoses,
) -> Bundles:
    """Bundles with what they wrap on at the start poses."""
    table = {**settings.ligaments, **settings.muscles}[name]
    kind = "ligaments" if name in settings.ligaments else "muscles"
    key = f"multibody.{kind}.{name}.straight"
    require_known(table.straight, bundles.names, files[name], "Correct the name.", key)
    refuse_one_body(bundles, files[name])
    objects = f"{name}_wrap_objects"
    rows = read_wrap_objects(files[objects], frames) if objects in files else ()
    known = {row.name: place_object(row) for row in rows}
    names = [
        "" if one in table.straight else wrap
        for one, wrap in zip(bundles.names, wraps, strict=True)
    ]
    placed = sided(replace(bundles, obstacles=chosen_obstacles(known, names, files[name])), poses)
    placed.check(poses)
    return placed


def _curve(path: str | Path, over: str, columns: dict[Any, str]) -> pd.DataFrame:
    """Columns over one that ascends, as `at`; rows with empty cells are left out."""
    table = TextTable.read(path, "a table of curves")
    table.require([over, *columns.values()])
    found = pd.DataFrame(
        {"at": table.numbers(over)}
        | {name: table.numbers(column, may_be_empty=True) for name, column in columns.items()}
    ).dropna(ignore_index=True)
    at = found["at"].to_numpy(dtype=float)
    falls = np.flatnonzero(np.diff(at) <= 0.0)
    if len(at) < 2 or falls.size:
        what = f"{at[falls[0] + 1]:g} after {at[falls[0]]:g}" if falls.size else f"{len(at)} rows"
        expected = "two rows or more, in ascending order"
        raise InputDataError(path, what, expected, "Sort the table.", f"column '{over}'")
    return found


def _printed(path: str | Path) -> pd.DataFrame:
    """Printed numbers of a table: panel, series, at, published and so on, unit and source."""
    table = TextTable.read(path, "a table of printed numbers")
    table.require(["panel", "series", "at", "unit", "source"])
    words = {name: list(table.text[name]) for name in ("panel", "series", "unit", "source")}
    numbers = {
        name: table.numbers(name, may_be_empty=True) for name in NUMBERS if name in table.text
    }
    return pd.DataFrame({**words, "at": table.numbers("at"), **numbers})


def _check_printed(parts: ComposedParts, settings: ComposedKneeSettings, path: str | Path) -> None:
    """Refuse printed numbers of curves that the model does not compute, or beside its course."""
    known = [f"{panel}, {series}" for panel, series in curve_names(parts, settings)]
    assert parts.literature is not None
    course = settings.course
    columns = ["panel", "series", "at"]
    for row, (panel, series, at) in enumerate(parts.literature[columns].itertuples(index=False), 1):
        where = f"data row {row}"
        require_known([f"{panel}, {series}"], known, path, "Correct panel and series.", where)
        if not course.first <= at <= course.last:
            expected = f"{course.first:g} to {course.last:g}, as of the course"
            raise InputDataError(path, f"at {at:g}", expected, "Correct it.", where)
