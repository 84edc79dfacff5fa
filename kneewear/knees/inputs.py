"""Inputs of multibody studies, read from their files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import NUMBERS
from kneewear.base.faults import suggestion
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh, joined
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.shapes import load_shape
from kneewear.io.text_tables import TextTable
from kneewear.knees.assembly import ComposedParts, Placement, bodies_alone, start_coordinates
from kneewear.knees.composed import curve_names
from kneewear.knees.replications import is_replication, replication
from kneewear.knees.settings.bodies import BodySettings, MeshShapeSettings
from kneewear.knees.settings.composed_knee import ComposedKneeSettings, KneeSettings
from kneewear.knees.settings.knee_results import ComparedMotionSettings
from kneewear.knees.settings.study import MultibodyModel
from kneewear.knees.tissue.bundles import Bundles, sided
from kneewear.knees.tissue.files import (
    FileFrame,
    Frames,
    WrapRow,
    read_ligaments,
    read_muscle_tensions,
    read_muscles,
    read_wrap_objects,
)
from kneewear.knees.tissue.wrapping import WrapObject
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.rotations import body_three_123
from kneewear.mechanics.tension_laws import constant

Array = NDArray[np.float64]
Files = Mapping[str, str | Path]

# Products of axes of a rotation differ from those of unit vectors by rounding only.
_ROTATION_ERROR = 1e-3
# Origins of components are within the leg.
_FARTHEST_MM = 1000.0


def load_parts(settings: MultibodyModel, files: Files) -> Any:
    """Parts of the model that the settings name, from its data files by name; None without."""
    if is_replication(settings.model):
        reads = bool(settings.files)
        return replication(settings.model, "reader").read(settings, files) if reads else None
    return load_composed_parts(settings, files)


def load_composed_parts(settings: ComposedKneeSettings, files: Files) -> ComposedParts:
    """Bodies, tissues, motions and printed numbers of a composed knee.

    InputDataError as `load_knee_parts`, or if a curve does not ascend.
    """
    load = settings.components.load if settings.components else None
    columns = {} if load is None else {"medial": load.medial, "lateral": load.lateral}
    parts = replace(
        load_knee_parts(settings, files),
        curves={
            name: _curve(files[name], curve.over, {"value": curve.column}).to_numpy(dtype=float)
            for name, curve in settings.table_curves.items()
        },
        load=None
        if load is None
        else _curve(files["components_load"], load.over, columns).to_numpy(dtype=float),
        compared={
            name: _motion(files[f"compare_{name}"], one, settings.course.over is None)
            for name, one in settings.compare.items()
        },
        literature=_printed(files["literature"]) if "literature" in files else None,
    )
    if parts.literature is not None:
        _check_printed(parts, settings, files["literature"])
    return parts


def load_knee_parts(settings: KneeSettings, files: Files) -> ComposedParts:
    """Shapes and bundles of a knee.

    InputDataError, with file and place, if a table is damaged, names a frame that no body has, or a
    bundle cannot wrap at the start.
    """
    frames = file_frames(settings)
    bodies = (settings.ground, *settings.moving)
    poses = start_poses(settings)
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
        names = tuple(path.name for path in paths)
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
    placements = {
        f"{body}.{name}": _placement(settings, one, mesh, files.get(f"{body}.{name}_matrix"))
        for body, one in settings.bodies.items()
        for name, mesh in one.meshes.items()
    }
    in_body = np.eye(3), np.zeros(3)
    return ComposedParts(
        shapes={name: _mesh(settings, files[name], place) for name, place in placements.items()},
        placements=placements,
        bones={
            body: joined(
                [_mesh(settings, files[f"{body}_bone_{n}"], in_body) for n in range(len(one.bones))]
            )
            for body, one in settings.bodies.items()
            if one.bones
        },
        ligaments=ligaments,
        muscles=muscles,
    )


def file_frames(settings: KneeSettings) -> Frames:
    """Frames of tables by name."""
    return {
        name: FileFrame(body, origin)
        for body, one in settings.bodies.items()
        for name, origin in {body: (0.0, 0.0, 0.0), **one.frames}.items()
    }


def start_poses(settings: KneeSettings) -> BodyPoses:
    """Poses of the bodies at the start."""
    return bodies_alone(settings).poses(start_coordinates(settings))


def _mesh(settings: KneeSettings, path: str | Path, place: Placement) -> TriangleMesh:
    """Mesh in the frame of its body, mm."""
    mesh, (rotation, origin) = load_shape(path), place
    vertices = MM_PER_UNIT[settings.unit] * mesh.vertices @ rotation.T + origin
    return TriangleMesh(vertices, mesh.faces)


def _placement(
    settings: KneeSettings, body: BodySettings, mesh: MeshShapeSettings, path: str | Path | None
) -> Placement:
    """Rotation and origin, mm, of the axes of a mesh's file in the frame of its body."""
    if mesh.matrix is None or path is None:
        return body_three_123(np.radians(mesh.placement[3:])), np.array(mesh.placement[:3])
    record, name = json.loads(decode_text(path, read_data(path, "placements"))), mesh.matrix.name
    if name not in record:
        near = suggestion(name, record) or "Name a placement of the file."
        expected = f"one of {', '.join(map(str, record))}"
        raise InputDataError(path, f"no placement '{name}'", expected, near)
    matrix = _matrix(record[name], name, path)
    place = MM_PER_UNIT[settings.unit] * matrix[:3, 3]
    if np.abs(place).max() > _FARTHEST_MM:
        found = f"{name} with an origin {np.abs(place).max():.4g} mm away"
        expected = f"an origin within {_FARTHEST_MM:g} mm; multibody.unit is {settings.unit}"
        raise InputDataError(path, found, expected, "Check the unit.")
    return matrix[:3, :3], place + body.frames.get(mesh.matrix.frame, (0.0, 0.0, 0.0))


def _matrix(rows: Any, name: str, path: str | Path) -> Array:
    """4 x 4 matrix of a placement; InputDataError if its axes are not a rotation."""
    found, remedy = "", "Export the placements of the components again."
    try:
        matrix = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        found = f"{name} of shape {matrix.shape}"
    elif np.abs(matrix[:3, :3] @ matrix[:3, :3].T - np.eye(3)).max() > _ROTATION_ERROR:
        found = f"axes of {name} that are not perpendicular unit vectors"
    elif np.linalg.det(matrix[:3, :3]) < 0.0:
        found = f"axes of {name} that are left-handed"
    if found:
        expected = "a 4 x 4 matrix of a rotation and an origin"
        raise InputDataError(path, found, expected, remedy)
    return matrix


def _wrapped(
    bundles: Bundles,
    wraps: tuple[str, ...],
    settings: KneeSettings,
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


def place_object(row: WrapRow) -> WrapObject:
    """Wrap object of a row of a table."""
    return WrapObject(
        name=row.name,
        kind=row.kind,
        body=row.body,
        size=np.nan_to_num(row.size),
        rotation=body_three_123(row.rotation),
        origin=row.translation,
        side=row.side,
    )


def refuse_one_body(bundles: Bundles, path: str | Path) -> None:
    """Refuse bundles and muscles all of whose points are on one body."""
    for name, points in zip(bundles.names, bundles.paths, strict=True):
        bodies = {body for body, _ in points}
        if len(bodies) < 2:
            found, remedy = f"all points on {', '.join(bodies)}", "Correct the bodies of points."
            raise InputDataError(path, found, "points on two bodies", remedy, name)


def chosen_obstacles(
    obstacles: Mapping[str, WrapObject | None], names: Any, path: str | Path
) -> tuple[WrapObject | None, ...]:
    """Obstacle of each bundle; all are straight where no wrap objects are read."""
    if obstacles:
        remedy = "Add it to the table of wrap objects."
        require_known(filter(None, names), obstacles, path, remedy, "column 'wrap_object'")
    return tuple(obstacles.get(name) for name in names)


def require_known(
    names: Iterable[str], known: Collection[str], path: str | Path, remedy: str, where: str
) -> None:
    """Refuse a name that a file does not have."""
    for name in names:
        if name not in known:
            expected, near = f"one of {', '.join(known)}", suggestion(name, known) or remedy
            raise InputDataError(path, f"'{name}'", expected, near, where)


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


def _motion(path: str | Path, wanted: ComparedMotionSettings, ascends: bool) -> pd.DataFrame:
    """Complete rows of a motion from its first time on, with what it is over as `at`."""
    if ascends and wanted.from_s is None:
        return _curve(path, wanted.over, wanted.columns)
    table = TextTable.read(path, "a table of motion")
    table.require([wanted.over, *wanted.columns.values()])
    columns = {"at": wanted.over, **wanted.columns}
    numbers = {name: table.numbers(one, may_be_empty=True) for name, one in columns.items()}
    found = pd.DataFrame(numbers)
    if wanted.from_s is not None and "time_s" in table.text:
        found = found[table.numbers("time_s", may_be_empty=True) >= wanted.from_s]
    return found.dropna(ignore_index=True)


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
        if course.over is None and not course.first <= at <= course.last:
            expected = f"{course.first:g} to {course.last:g}, the range of the course"
            raise InputDataError(path, f"at {at:g}", expected, "Correct it.", where)
