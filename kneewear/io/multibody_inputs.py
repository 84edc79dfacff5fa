"""What models of multibody studies are built from, read from their files."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import TypeAdapter

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh, joined
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.shapes import load_shape
from kneewear.io.soft_tissue import (
    FileFrame,
    Frames,
    WrapRow,
    read_ligaments,
    read_muscle_tensions,
    read_muscles,
    read_wrap_objects,
)
from kneewear.io.text_tables import TextTable
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.rotations import body_three_123
from kneewear.multibody.system import System
from kneewear.settings.composed_knee import ComposedKneeSettings
from kneewear.settings.faults import suggestion
from kneewear.settings.multibody import (
    MultibodyModel,
    PassiveFlexionSettings,
    PredictedGaitSettings,
)
from kneewear.settings.replications import MULTIBODY_MODELS, replication
from kneewear.settings.soft_tissue_knee import SoftTissueKneeSettings
from kneewear.studies.multibody.passive_flexion import (
    BODIES,
    COMPONENTS,
    JOINTS,
    MOVING,
    KneeParts,
    quadriceps_bundles,
    sided,
    start_of,
)
from kneewear.studies.multibody.predicted_gait import GAIT_COLUMN, LOAD_COLUMNS
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.wrapping import WrapObject

Array = NDArray[np.float64]
Files = Mapping[str, str | Path]


# Products of axes of a rotation differ from those of unit vectors by rounding only.
_ROTATION_ERROR = 1e-3
# Origins of components are within the leg.
_FARTHEST_MM = 1000.0


def load_settings(settings: Mapping[str, Any]) -> MultibodyModel:
    """Settings of a model from plain builtins."""
    return TypeAdapter(MultibodyModel).validate_python(dict(settings))


def load_parts(settings: MultibodyModel, files: Files) -> Any:
    """Parts of the model that the settings name, from its data files by name; None without."""
    if not settings.files and not isinstance(settings, ComposedKneeSettings):
        return None
    if isinstance(settings, ComposedKneeSettings):
        from kneewear.io.composed_inputs import load_composed_parts  # noqa: PLC0415 - it uses this

        return load_composed_parts(settings, files)
    if settings.model in MULTIBODY_MODELS:
        return replication(settings.model, "reader").read(settings, files)
    return load_knee_parts(settings, files)


def load_knee_parts(settings: SoftTissueKneeSettings, files: Files) -> KneeParts:
    """Surfaces, bundles, muscles and reference motion of a passive knee.

    InputDataError, naming bundle and wrap object, if a bundle cannot wrap at the start pose.
    """
    frames = file_frames(settings)
    ligaments = read_ligaments(files["ligaments"], frames, BODIES)
    obstacles = _obstacles(settings, files, "wrap_objects", frames)
    straight, key = settings.straight_bundles, "multibody.straight_bundles"
    require_known(straight, ligaments.bundles.names, files["ligaments"], "Correct the name.", key)
    wrapped_on = [
        "" if bundle in straight else name
        for bundle, name in zip(ligaments.bundles.names, ligaments.wrap_objects, strict=True)
    ]
    quadriceps, pulled_on = _quadriceps(settings, files, frames)
    poses = start_poses(settings)
    placed = {
        body: _placement(settings, files, body)
        for body, part in settings.bodies.items()
        if part.placement is not None
    }
    tissues = [
        (ligaments.bundles, wrapped_on, obstacles, "ligaments"),
        (quadriceps, pulled_on, obstacles, "quadriceps"),
    ]
    if settings.muscles is not None:
        muscles = read_muscles(files["muscles"], frames)
        names = tuple(one.name for one in muscles)
        law = read_muscle_tensions(files["muscle_tensions"], names)
        others = Bundles(names, BODIES, tuple(one.path for one in muscles), law)
        objects = _obstacles(settings, files, "muscle_wrap_objects", frames)
        tissues.append((others, [one.wrap_object for one in muscles], objects, "muscles"))
    for bundles, *_, table in tissues:
        refuse_one_body(bundles, files[table])
    wrapped = tuple(
        sided(replace(bundles, obstacles=chosen_obstacles(objects, names, files[table])), poses)
        for bundles, names, objects, table in tissues
    )
    for one in wrapped:
        one.check(poses)
    return KneeParts(
        surfaces={name: _surface(settings, files, name, "surface", placed) for name in BODIES},
        bones={
            name: _surface(settings, files, name, "bone", placed)
            for name in BODIES
            if f"{name}_bone" in files
        },
        drawn_bones={
            name: joined(
                [
                    _surface(settings, files, name, f"drawn_{number}", placed)
                    for number in range(len(part.drawn_bones))
                ]
            )
            for name, part in settings.bodies.items()
            if part.drawn_bones
        },
        ligaments=wrapped[0],
        quadriceps=wrapped[1],
        muscles=wrapped[2] if settings.muscles is not None else None,
        components=(placed["femur"], placed["tibia"])
        if {"femur", "tibia"} <= set(placed)
        else None,
        button=placed.get("patella"),
        reference=_reference(settings, files),
        source_model=_motion(settings, files, "source_model"),
        load=_load(settings, files),
    )


def file_frames(settings: SoftTissueKneeSettings) -> Frames:
    """Frames of tables by name."""
    return {
        name: FileFrame(body, origin)
        for body, part in settings.bodies.items()
        for name, origin in part.frames.items()
    }


def _obstacles(
    settings: SoftTissueKneeSettings, files: Files, table: str, frames: Frames
) -> dict[str, WrapObject | None]:
    """Wrap objects of a table by name, None for unused ones; none without a table."""
    rows = read_wrap_objects(files[table], frames) if table in files else ()
    unused = settings.unused_wrap_objects if table == "wrap_objects" else ()
    if rows:
        known, key = [row.name for row in rows], "multibody.unused_wrap_objects"
        require_known(unused, known, files[table], "Correct the name.", key)
    return {row.name: None if row.name in unused else place_object(row) for row in rows}


def _quadriceps(
    settings: SoftTissueKneeSettings, files: Files, frames: Frames
) -> tuple[Bundles, list[str]]:
    """Quadriceps with chosen origins and what each wraps on."""
    muscles = read_muscles(files["quadriceps"], frames)
    origins = settings.quadriceps.origins_mm
    known, key = [one.name for one in muscles], "multibody.quadriceps.origins_mm"
    require_known(origins, known, files["quadriceps"], "Correct the name.", key)
    paths = tuple(
        ((("femur", np.array(origins[one.name])), *one.path) if one.name in origins else one.path)
        for one in muscles
    )
    names, forces = tuple(known), [one.force for one in muscles]
    bundles = quadriceps_bundles(paths, forces, settings.quadriceps.total_n, names)
    if "quadriceps_tensions" in files:
        bundles = bundles.with_law(read_muscle_tensions(files["quadriceps_tensions"], names))
    return bundles, [one.wrap_object for one in muscles]


def start_poses(settings: SoftTissueKneeSettings) -> BodyPoses:
    """Poses of the bodies at the start."""
    return System("femur", MOVING, {}).poses(start_of(settings))


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


def _placement(settings: SoftTissueKneeSettings, files: Files, body: str) -> tuple[Array, Array]:
    """Rotation and origin, mm, of a component's frame in that of its body."""
    part = settings.bodies[body]
    record = json.loads(
        decode_text(files["placements"], read_data(files["placements"], "placements"))
    )
    if part.placement not in record:
        near = suggestion(str(part.placement), record) or "Name a placement of the file."
        raise InputDataError(
            files["placements"], f"no placement '{part.placement}'",
            f"one of {', '.join(map(str, record))}", near,
        )  # fmt: skip
    matrix = _matrix(record[part.placement], str(part.placement), files["placements"])
    # The matrix is in the first frame of the body.
    origin = np.array(next(iter(part.frames.values())), dtype=float)
    place = MM_PER_UNIT[settings.unit] * matrix[:3, 3]
    if np.abs(place).max() > _FARTHEST_MM:
        found = f"{part.placement} with an origin {np.abs(place).max():.4g} mm away"
        expected = f"an origin within {_FARTHEST_MM:g} mm; multibody.unit is {settings.unit}"
        raise InputDataError(files["placements"], found, expected, "Check the unit.")
    return matrix[:3, :3], place + origin


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


def _surface(
    settings: SoftTissueKneeSettings,
    files: Files,
    body: str,
    kind: str,
    placed: Mapping[str, tuple[Array, Array]],
) -> TriangleMesh:
    """Mesh of a body in its frame, mm."""
    mesh = load_shape(files[f"{body}_{kind}"])
    vertices = MM_PER_UNIT[settings.unit] * mesh.vertices
    if body in placed:
        rotation, origin = placed[body]
        vertices = vertices @ rotation.T + origin
    return TriangleMesh(vertices, mesh.faces)


def _reference(settings: SoftTissueKneeSettings, files: Files) -> pd.DataFrame | None:
    """Columns of the motion to compare with, from its first time on."""
    if isinstance(settings, PredictedGaitSettings):
        columns = [GAIT_COLUMN, *(name for name, _ in COMPONENTS.values())]
        return _read_columns(files["motion"], columns)
    return _motion(settings, files, "reference")


def _motion(settings: SoftTissueKneeSettings, files: Files, name: str) -> pd.DataFrame | None:
    """Columns of a motion of the settings, from its first time on; None without."""
    wanted = settings.motions.get(name) if isinstance(settings, PassiveFlexionSettings) else None
    if wanted is None:
        return None
    motion = COMPONENTS if wanted.convention == "components" else JOINTS
    columns = [column for column, _ in motion.values()]
    return _read_columns(files[name], columns, wanted.from_s)


def _load(settings: SoftTissueKneeSettings, files: Files) -> pd.DataFrame | None:
    """Measured load of both sides over the cycle."""
    if not isinstance(settings, PredictedGaitSettings):
        return None
    return _read_columns(files["load"], LOAD_COLUMNS)


def _read_columns(
    file: str | Path, columns: Sequence[str], from_s: float | None = None
) -> pd.DataFrame:
    """Complete rows of columns of a table, from a time on where it has one."""
    table = TextTable.read(file, "a table of motion")
    table.require(columns)
    wanted = [*columns, *(["time_s"] if "time_s" in table.text and from_s is not None else [])]
    numbers = pd.DataFrame({name: table.numbers(name, may_be_empty=True) for name in wanted})
    if from_s is not None and "time_s" in numbers:
        numbers = numbers[numbers["time_s"] >= from_s]
    return numbers[list(columns)].dropna().reset_index(drop=True)
