"""Checks of the tables of multibody studies, with the ranges that wear studies have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kneewear.activity.checks import check_motion
from kneewear.activity.load import clip_noise, judge_sharing
from kneewear.activity.plausibility import judge_load, judge_motion
from kneewear.errors import InputDataError
from kneewear.findings import Finding
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.curves import read_curves
from kneewear.io.multibody_inputs import start_poses
from kneewear.io.text_tables import TextTable
from kneewear.mechanics.bodies import BodyPoses
from kneewear.settings.activity import LoadSettings, SignedMotion
from kneewear.settings.checks import judge
from kneewear.settings.composed_knee import ComposedKneeSettings
from kneewear.settings.multibody import (
    MultibodyModel,
    PassiveFlexionSettings,
    PredictedGaitSettings,
)
from kneewear.settings.soft_tissue_knee import SoftTissueKneeSettings
from kneewear.studies.multibody.composed import (
    ComposedParts,
    compose_system,
    start_coordinates,
)
from kneewear.studies.multibody.passive_flexion import KneeParts
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.wrapping import WrapObject

Files = Mapping[str, str | Path]

_POINT = {f"{axis}{end}_mm": "tissue.point" for axis in "xyz" for end in ("", "1", "2")}
_SIZE = ("radius_or_semiaxis_x_mm", "semiaxis_y_mm", "semiaxis_z_mm")
# Check of each column that a table may have.
_COLUMNS = {
    **_POINT,
    "linear_stiffness_n_per_strain": "ligaments.stiffness",
    "slack_length_mm": "ligaments.slack_length",
    "max_isometric_force_n": "muscles.force",
    "tension_n": "muscles.tension",
    **{f"translation_{axis}_mm": "tissue.point" for axis in "xyz"},
    **{f"rotation_{axis}_rad": "wrapping.rotation" for axis in "xyz"},
    **dict.fromkeys(_SIZE, "wrapping.size"),
}
_TABLES = {
    "ligaments": _COLUMNS,
    "wrap_objects": {**_COLUMNS, "length_mm": "wrapping.length"},
    "quadriceps": _COLUMNS,
    "muscles": _COLUMNS,
    "muscle_wrap_objects": {**_COLUMNS, "length_mm": "wrapping.length"},
    "quadriceps_tensions": {**_COLUMNS, "length_mm": "muscles.length"},
    "muscle_tensions": {**_COLUMNS, "length_mm": "muscles.length"},
}
# Points within this of their frames are in metres.
_LEAST_REACH_MM = 2.0
# Beginnings of names of ligaments that a knee with a patella has.
_NEEDED = ("MCL", "LCL", "PCL", "PT")
# Bundles of a ligament are numbered: mPFL1, mPFL2 and so on.
_NUMBERED = re.compile(r"(.*?)(\d+)")
_GAIT = {
    "percent": "percent_gait_cycle", "flexion": "flexion_deg", "varus": "varus_deg",
    "rotation": "tibial_external_rotation_deg", "anterior_posterior": "femur_anterior_mm",
    "superior_inferior": "femur_superior_mm", "medial_lateral": "femur_lateral_mm",
}  # fmt: skip
_LOAD = {"percent": "pct_cycle", "medial": "medial_N", "lateral": "lateral_N"}


def judge_tables(settings: MultibodyModel, files: Files, knee: str) -> tuple[Finding, ...]:
    """Findings about the tables of a knee with soft tissue.

    Parameters
    ----------
    settings : MultibodyModel
        Settings of the model; only knees with soft tissue have tables.
    files : mapping
        Data files by name.
    knee : str
        "right" or "left", as of the implant.

    Returns
    -------
    tuple of Finding

    Raises
    ------
    InputDataError
        If a value is outside what is possible, a ligament is on the other side of the knee, or the
        measured motion or load is not one of a knee.
    """
    if not isinstance(settings, SoftTissueKneeSettings):
        return ()
    found: list[Finding | None] = []
    for name, columns in _TABLES.items():
        if name in files:
            found += _judge_columns(TextTable.read(files[name], "a table of soft tissue"), columns)
    found += _judge_ligaments(files["ligaments"], settings, knee)
    users = {"wrap_objects": ("ligaments", "quadriceps"), "muscle_wrap_objects": ("muscles",)}
    for objects, names in users.items():
        unused = settings.unused_wrap_objects if objects == "wrap_objects" else ()
        if objects in files:
            found += _judge_use(files[objects], [files[one] for one in names], unused)
    for name in ("quadriceps", "muscles"):
        if name in files:
            found += _judge_side(files[name], knee)
    if isinstance(settings, PredictedGaitSettings):
        found += _judge_gait(settings, files)
    if isinstance(settings, PassiveFlexionSettings):
        for name in settings.motions:
            found += _judge_reference(files[name])
    if settings.weight is not None:
        centres = {
            f"key multibody.weight.bodies.{name}.centre_mm": float(np.linalg.norm(mass.centre_mm))
            for name, mass in settings.weight.bodies.items()
        }
        where = max(centres, key=centres.__getitem__)
        found.append(judge("multibody.reach", centres[where], where, "Give it in mm."))
        anterior, superior, _ = settings.weight.direction
        size = float(np.linalg.norm(settings.weight.direction))
        up = max(anterior, superior) / size
        where = "key multibody.weight.direction"
        remedy = "Gravity pulls to inferior, or to posterior of who lies on the back."
        found.append(judge("multibody.gravity", up, where, remedy))
    return tuple(one for one in found if one is not None)


def judge_parts(settings: MultibodyModel, parts: KneeParts, files: Files) -> tuple[Finding, ...]:
    """Findings about sizes of surfaces, bones under them, and strains at the start.

    InputDataError as of `judge_tables`.
    """
    found: list[Finding | None] = []
    for body, surface in parts.surfaces.items():
        where = str(files[f"{body}_surface"])
        remedy = f"Check multibody.unit, which is {settings.unit}."
        size = float(np.ptp(surface.vertices, axis=0).max())
        found.append(judge("multibody.surface_size", size, where, remedy))
        if body in parts.bones:
            depth = _depth(surface, parts.bones[body])
            remedy = "Surface and bone may be exchanged."
            found.append(judge("multibody.bone_depth", depth, where, remedy))
    poses = start_poses(settings)
    found += _judge_strains(parts.ligaments, poses, str(files["ligaments"]))
    tables = {"ligaments": parts.ligaments, "quadriceps": parts.quadriceps}
    tables |= {"muscles": parts.muscles} if parts.muscles is not None else {}
    for table, bundles in tables.items():
        found += _judge_courses(bundles, poses, str(files[table]))
    return tuple(one for one in found if one is not None)


def judge_composed(
    settings: ComposedKneeSettings, parts: ComposedParts, files: Files
) -> tuple[Finding, ...]:
    """Findings about the tables and shapes of a composed knee, and strains at its start.

    InputDataError if a value is outside what is possible.
    """
    found: list[Finding | None] = []
    poses = compose_system(parts, settings).poses(start_coordinates(settings))
    tables = {**settings.ligaments, **settings.muscles}
    bundles = {**parts.ligaments, **parts.muscles}
    users: dict[str, list[str | Path]] = {}
    for name, table in tables.items():
        path = str(files[name])
        found += _judge_columns(TextTable.read(path, "a table of soft tissue"), _COLUMNS)
        found += _judge_courses(bundles[name], poses, path)
        for kind, columns in (("wrap_objects", "wrap_objects"), ("tensions", "muscle_tensions")):
            other = files.get(f"{name}_{kind}")
            if other is not None:
                read = TextTable.read(other, "a table of soft tissue")
                found += _judge_columns(read, _TABLES[columns])
        if table.wrap_objects is not None:
            users.setdefault(str(files[f"{name}_wrap_objects"]), []).append(path)
    for objects, paths in users.items():
        found += _judge_use(objects, paths, ())
    for name, one in parts.ligaments.items():
        found += _judge_strains(one, poses, str(files[name]))
    for name, mesh in parts.shapes.items():
        size = float(np.ptp(mesh.vertices, axis=0).max())
        remedy = f"Check multibody.unit, which is {settings.unit}."
        found.append(judge("multibody.surface_size", size, str(files[name]), remedy))
    return tuple(one for one in found if one is not None)


def _judge_strains(ligaments: Bundles, poses: BodyPoses, path: str) -> Iterator[Finding | None]:
    """Yield findings about the least and the largest strain at the start."""
    strain = ligaments.law.strain(ligaments.evaluate(poses).length)
    for number in (int(strain.argmin()), int(strain.argmax())):
        where = f"bundle {ligaments.names[number]}"
        remedy = "Check its ends, slack length and the start of the bodies."
        yield judge("ligaments.strain", float(strain[number]), path, remedy, where)
    remedy = "Check slack lengths and the start."
    yield judge("ligaments.taut", float(strain.max()), path, remedy)


def _judge_courses(bundles: Bundles, poses: BodyPoses, path: str) -> Iterator[Finding | None]:
    """Yield findings about the longest detour, and the wrap object farthest from its path."""
    lines = bundles.straight.lines(poses)
    lengths = [float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()) for line in lines]
    detours = [
        length / max(float(np.linalg.norm(line[-1] - line[0])), 1e-9)
        for length, line in zip(lengths, lines, strict=True)
    ]
    worst = int(np.argmax(detours))
    remedy = "Check signs, bodies and order of its points."
    yield judge("tissue.detour", detours[worst], path, remedy, bundles.names[worst])
    apart = {
        number: _clearance(line, obstacle, poses, bundles.bodies.index(obstacle.body))
        for number, (line, obstacle) in enumerate(zip(lines, bundles.obstacles, strict=True))
        if obstacle is not None
    }
    if apart:
        worst = max(apart, key=apart.__getitem__)
        where = f"{bundles.names[worst]} and {getattr(bundles.obstacles[worst], 'name', '')}"
        remedy = "Check place, signs and body of the wrap object."
        yield judge("wrapping.distance", apart[worst], path, remedy, where)


def _clearance(
    line: NDArray[np.float64], obstacle: WrapObject, poses: BodyPoses, body: int
) -> float:
    """Distance of a path from the middle of a wrap object less its largest size, mm."""
    middle = poses.translation[body] + poses.rotation[body] @ np.asarray(obstacle.origin)
    along = np.diff(line, axis=0)
    share = np.sum((middle - line[:-1]) * along, axis=1) / np.sum(along**2, axis=1)
    nearest = line[:-1] + np.clip(share, 0.0, 1.0)[:, None] * along
    least = float(np.linalg.norm(nearest - middle, axis=1).min())
    return least - float(np.max(obstacle.size))


def _depth(surface: TriangleMesh, bone: TriangleMesh) -> float:
    """Mean depth of the nearest points of a bone under a surface, along its normals, mm."""
    _, nearest = cKDTree(bone.vertices).query(surface.vertices)
    apart = bone.vertices[nearest] - surface.vertices
    return -float(np.mean(np.sum(apart * surface.vertex_normals, axis=1)))


def _judge_columns(table: TextTable, columns: Mapping[str, str]) -> Iterator[Finding | None]:
    """Yield a finding about the most unusual value of each column."""
    points = []
    for column, check in columns.items():
        if column not in table.text:
            continue
        values = table.numbers(column, may_be_empty=True)
        if check == "tissue.point":
            points.append(values)
            zeros = values == 0.0
            if column in _POINT and not zeros.all():
                where, remedy = f"column '{column}'", "Give the points whose values are missing."
                yield judge("tissue.zeros", int(zeros.sum()), str(table.path), remedy, where)
        known = np.flatnonzero(np.isfinite(values))
        ends = {known[values[known].argmin()], known[values[known].argmax()]} if known.size else ()
        found = None
        for row in sorted(map(int, ends)):
            where = f"column '{column}', data row {row + 1}"
            found = judge(check, float(values[row]), str(table.path), "", where) or found
        yield found
    reach = float(np.nanmax(np.abs(points), initial=0.0)) if points else 0.0
    if 0.0 < reach < _LEAST_REACH_MM:
        raise InputDataError(
            table.path, f"points within {reach:.3g}", "points in mm",
            "These look like metres: multiply by 1000.",
        )  # fmt: skip


def _judge_ligaments(
    path: str | Path, settings: SoftTissueKneeSettings, knee: str
) -> Iterator[Finding | None]:
    """Yield findings about sides, numbers and missing bundles of ligaments."""
    table = TextTable.read(path, "a table of soft tissue")
    names = list(table.text["bundle"])
    yield judge("ligaments.bundles", len(names), str(path), "Complete the table.")
    for stem in dict.fromkeys(_stems(names)):
        missing = _missing(names, stem)
        if missing:
            yield Finding(
                "ligaments.missing", "warn", str(path), f"no bundle {', '.join(missing)}",
                "bundles without a gap in their numbers", "Complete the table.",
            )  # fmt: skip
    absent = [one for one in _NEEDED if not any(name.upper().startswith(one) for name in names)]
    if absent and len(absent) < len(_NEEDED) - 1:
        yield Finding(
            "ligaments.missing", "warn", str(path), f"no bundle of {', '.join(absent)}",
            f"bundles of {', '.join(_NEEDED)}", "Complete the table.",
        )  # fmt: skip
    yield from _judge_stiffness(table, names)
    frames = {
        name: origin for part in settings.bodies.values() for name, origin in part.frames.items()
    }
    # Frames have z to lateral of a right knee.
    way = 1.0 if knee == "right" else -1.0
    for start, side in (("MCL", -way), ("LCL", way)):
        for end in (1, 2):
            values = table.numbers(f"z{end}_mm")
            rows = [n for n, name in enumerate(names) if name.upper().startswith(start)]
            places = [
                values[n] + frames[table.text[f"body_{end}"][n]][2]
                for n in rows
                if table.text[f"body_{end}"][n] in frames
            ]
            if places and side * float(np.mean(places)) <= 0.0:
                raise InputDataError(
                    path,
                    f"bundles {start} at z {np.mean(places):.3g} mm on average",
                    f"z {'above' if side > 0 else 'below'} 0, as of a {knee} knee",
                    "These are ligaments of the other knee: reverse z, or correct implant.knee.",
                    f"column 'z{end}_mm'",
                )


def _judge_use(
    path: str | Path, users: Sequence[str | Path], unused: Collection[str]
) -> Iterator[Finding | None]:
    """Yield a finding about wrap objects that nothing wraps on."""
    used = set(unused)
    for user in users:
        used |= set(TextTable.read(user, "a table of soft tissue").optional("wrap_object"))
    idle = [one for one in TextTable.read(path, "wrap objects").text["name"] if one not in used]
    remedy = "Name it in the column wrap_object of its bundles, or in unused_wrap_objects."
    yield judge("wrapping.unused", len(idle), str(path), remedy, ", ".join(map(str, idle)))


def _judge_side(path: str | Path, knee: str) -> Iterator[Finding | None]:
    """Yield a finding about origins on the pelvis that are on the other side of the body."""
    table = TextTable.read(path, "a table of soft tissue")
    z = [
        one for one, body in zip(table.numbers("z_mm"), table.text["body"], strict=True)
        if str(body).startswith("pelvis")
    ]  # fmt: skip
    if z:
        lateral = float(np.mean(z)) if knee == "right" else -float(np.mean(z))
        remedy = f"z is lateral of a right leg; the knee is a {knee} one."
        yield judge("muscles.side", lateral, str(path), remedy, "column 'z_mm'")


def _judge_stiffness(table: TextTable, names: list[str]) -> Iterator[Finding | None]:
    """Yield findings about ligaments of unusual stiffness, or whose bundles differ much in it."""
    column = "linear_stiffness_n_per_strain"
    stiffness = table.numbers(column)
    for stem in dict.fromkeys(_stems(names)):
        own = [
            value for name, value in zip(names, stiffness, strict=True)
            if (match := _NUMBERED.fullmatch(name)) and match[1] == stem
        ]  # fmt: skip
        where = f"column '{column}', bundles {stem}"
        remedy = "Check the order of the rows and the decimal points."
        yield judge("ligaments.evenness", max(own) / min(own), str(table.path), remedy, where)
        yield judge("ligaments.total_stiffness", sum(own), str(table.path), remedy, where)


def _stems(names: Iterable[str]) -> Iterator[str]:
    """Yield names of ligaments whose bundles are numbered."""
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match:
            yield match[1]


def _missing(names: list[str], stem: str) -> list[str]:
    """Names that are missing in the numbers of a ligament's bundles, from 1 or 0 to the last."""
    numbers = [int(match[2]) for name in names
               if (match := _NUMBERED.fullmatch(name)) and match[1] == stem]  # fmt: skip
    every = range(min(1, *numbers), max(numbers) + 1)
    return [f"{stem}{number}" for number in every if number not in numbers]


def _judge_gait(settings: PredictedGaitSettings, files: Files) -> list[Finding]:
    """Findings about measured motion and load, as of activities."""
    signs = dict.fromkeys(
        ("flexion", "varus", "tibial_external_rotation", "femur_anterior", "femur_superior",
         "femur_lateral"), 1,
    )  # fmt: skip
    motion = SignedMotion.model_validate(
        {"file": str(files["motion"]), "convention": "signs", "columns": _GAIT, "signs": signs}
    )
    table = read_curves(files["motion"], _GAIT)
    found = [*check_motion(table, motion), *judge_motion(table, motion)]
    load = LoadSettings.model_validate(
        {
            "file": str(files["load"]), "columns": _LOAD, "kind": "axial_force_n",
            "body_mass_kg": 75.0,
        }
    )  # fmt: skip
    curves, _ = clip_noise(read_curves(files["load"], _LOAD), load)
    found += judge_load(curves, load)
    peak = float(curves["load"].max())
    columns = "column 'medial_N' and 'lateral_N'"
    force = judge("load.peak_force", peak, str(files["load"]), "Give it in N.", columns)
    sides = curves[["medial", "lateral"]].to_numpy(float)
    replaced = float(np.mean(sides < settings.gait.least_load_n))
    where = "key multibody.gait.least_load_n"
    least = judge("load.replaced", replaced, where, "Lower it, or check the load.")
    return [*found, *judge_sharing(curves, load), *(one for one in (force, least) if one)]


def _judge_reference(path: str | Path) -> Iterator[Finding | None]:
    """Yield findings about units of a motion that is compared with, and about empty cells."""
    table = TextTable.read(path, "a table of motion")
    empty = 0
    for column in map(str, table.text):
        if not column.endswith(("_deg", "_mm", "_s")):
            continue
        values = pd.Series(table.numbers(column, may_be_empty=True))
        empty += int(values.isna().sum())
        where = f"column '{column}'"
        if column.endswith("flexion_deg"):
            span = float(np.ptp(values.dropna())) if values.notna().any() else 0.0
            remedy = "Check its unit (deg) and its sign."
            yield judge("motion.flexion_range", span, str(path), remedy, where)
            if values.notna().any():
                for value in (float(values.min()), float(values.max())):
                    yield judge("motion.flexion", value, str(path), remedy, where)
    if empty:
        yield Finding(
            "motion.empty_cells", "warn", str(path), f"{empty} empty cells", "none",
            "Rows with empty cells are not compared.",
        )  # fmt: skip
