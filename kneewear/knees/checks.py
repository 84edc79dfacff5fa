"""Checks of the tables of multibody studies, with the ranges that wear studies have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kneewear.activity.checks import check_motion
from kneewear.activity.load import clip_noise, judge_sharing
from kneewear.activity.plausibility import judge_load, judge_motion
from kneewear.activity.settings import LoadSettings, SignedMotion
from kneewear.base.checks import judge
from kneewear.errors import Finding, InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.curves import read_curves
from kneewear.io.text_tables import TextTable
from kneewear.knees.assembly import ComposedParts
from kneewear.knees.inputs import file_frames, load_parts, start_poses
from kneewear.knees.settings.composed_knee import (
    ComposedKneeSettings,
    FoundationSettings,
    KneeSettings,
)
from kneewear.knees.settings.knee_results import COMPONENTS, TrayLoadSettings
from kneewear.knees.settings.study import MultibodyStudy
from kneewear.knees.start_checks import judge_start
from kneewear.knees.tissue.bundles import Bundles
from kneewear.knees.tissue.wrapping import WrapObject
from kneewear.mechanics.bodies import BodyPoses
from kneewear.study.inputs import Reader

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
_WRAPS = {**_COLUMNS, "length_mm": "wrapping.length"}
_TENSIONS = {**_COLUMNS, "length_mm": "muscles.length"}
# Points within this of their frames are in metres.
_MIN_REACH_MM = 2.0
# Beginnings of names of ligaments that a knee has, the last one with a patella.
_NEEDED = ("MCL", "LCL", "PCL", "PT")
# Bundles of a ligament are numbered: mPFL1, mPFL2 and so on.
_NUMBERED = re.compile(r"(.*?)(\d+)")
# Quantities of an activity's motion, and the clinical coordinates that they are.
_GAIT = {
    "flexion": "flexion",
    "varus": "varus",
    "rotation": "tibial_external_rotation",
    "anterior_posterior": "femur_anterior",
    "superior_inferior": "femur_superior",
    "medial_lateral": "femur_lateral",
}


def check_files(study: MultibodyStudy, reader: Reader) -> tuple[Finding, ...]:
    """Read the tables and shapes of the bodies of a knee, and judge them."""
    files, model = reader.files(study), study.multibody
    findings: tuple[Finding, ...] = ()
    if isinstance(model, KneeSettings):
        findings = judge_tables(model, files, study.implant.knee)
    parts = load_parts(model, files)
    if isinstance(model, ComposedKneeSettings):
        findings += judge_parts(model, parts, files)
        findings += tuple(judge_start(model, parts, study.implant.knee))
    return findings


def judge_tables(settings: KneeSettings, files: Files, knee: str) -> tuple[Finding, ...]:
    """Findings about the tables of a knee with soft tissue.

    Parameters
    ----------
    settings : KneeSettings
        Settings of the model.
    files : mapping
        Data files by name.
    knee : str
        "right" or "left": the knee of the implant.

    Returns
    -------
    tuple of Finding

    Raises
    ------
    InputDataError
        If a value is outside what is possible, a ligament is on the other side of the knee, or the
        measured motion or load is not one of a knee.
    """
    found: list[Finding | None] = []
    tables = {**settings.ligaments, **settings.muscles}
    kinds = (("", _COLUMNS), ("_wrap_objects", _WRAPS), ("_tensions", _TENSIONS))
    columns = {
        str(files[name + kind]): own
        for kind, own in kinds
        for name in tables
        if name + kind in files
    }
    for path, own in columns.items():
        found += _judge_columns(TextTable.read(path, "a table of soft tissue"), own)
    if settings.ligaments:
        found += _judge_ligaments([files[name] for name in settings.ligaments], settings, knee)
    users: dict[str, list[str | Path]] = {}
    for name in tables:
        if f"{name}_wrap_objects" in files:
            users.setdefault(str(files[f"{name}_wrap_objects"]), []).append(files[name])
    for objects, paths in users.items():
        found += _judge_use(objects, paths)
    for name in settings.muscles:
        found += _judge_side(files[name], knee)
    if isinstance(settings, ComposedKneeSettings):
        found += _judge_motions(settings, files)
    found += [*_judge_weights(settings), *_judge_flexion(settings)]
    return tuple(one for one in found if one is not None)


def judge_parts(
    settings: ComposedKneeSettings, parts: ComposedParts, files: Files
) -> tuple[Finding, ...]:
    """Findings about sizes of shapes, bones under them, and strains at the start.

    InputDataError as of `judge_tables`.
    """
    found: list[Finding | None] = []
    for name, mesh in parts.shapes.items():
        size = float(np.ptp(mesh.vertices, axis=0).max())
        remedy = f"Check multibody.unit, which is {settings.unit}."
        found.append(judge("multibody.surface_size", size, str(files[name]), remedy))
    for contact in settings.contacts.values():
        if isinstance(contact, FoundationSettings) and contact.bones is not None:
            pairs = zip((contact.elements, contact.indenter), contact.bones, strict=True)
            for surface, bone in pairs:
                depth = _depth(parts.shapes[surface], parts.shapes[bone])
                remedy, where = "Surface and bone may be exchanged.", str(files[surface])
                found.append(judge("multibody.bone_depth", depth, where, remedy))
    poses = start_poses(settings)
    for name, one in parts.ligaments.items():
        found += _judge_strains(one, poses, str(files[name]))
    for name, one in {**parts.ligaments, **parts.muscles}.items():
        found += _judge_courses(one, poses, str(files[name]))
    return tuple(one for one in dict.fromkeys(found) if one is not None)


def _judge_flexion(settings: KneeSettings) -> Iterator[Finding | None]:
    """Yield findings about flexions that points of the settings drive."""
    for name, body in settings.bodies.items():
        curve = body.driven.get("theta_1")
        if curve is not None and curve.points is not None and body.turns == "flexion_first":
            span = float(np.ptp([value for _, value in curve.points]))
            where = f"key multibody.bodies.{name}.driven.theta_1"
            yield judge("motion.flexion_range", span, where, "Check its unit (deg).")


def _judge_weights(settings: KneeSettings) -> Iterator[Finding | None]:
    """Yield findings about centres of mass and the direction of gravity."""
    centres = {
        f"key multibody.bodies.{name}.mass.centre_mm": float(np.linalg.norm(body.mass.centre_mm))
        for name, body in settings.bodies.items()
        if body.mass is not None and any(body.mass.centre_mm)
    }
    if centres:
        where = max(centres, key=centres.__getitem__)
        yield judge("multibody.reach", centres[where], where, "Give it in mm.")
    if settings.gravity is not None:
        anterior, superior, _ = settings.gravity
        up = max(anterior, superior) / float(np.linalg.norm(settings.gravity))
        remedy = "Gravity pulls to inferior, or to posterior of who lies on the back."
        yield judge("multibody.gravity", up, "key multibody.gravity", remedy)


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
    if 0.0 < reach < _MIN_REACH_MM:
        raise InputDataError(
            table.path,
            f"points within {reach:.3g}",
            "points in mm",
            "These look like metres: multiply by 1000.",
        )


def _judge_ligaments(
    paths: Sequence[str | Path], settings: KneeSettings, knee: str
) -> Iterator[Finding | None]:
    """Yield findings about sides, numbers and missing bundles of ligaments."""
    tables = [TextTable.read(path, "a table of soft tissue") for path in paths]
    every = [name for table in tables for name in table.text["bundle"]]
    yield judge("ligaments.bundles", len(every), str(paths[0]), "Complete the table.")
    needed = _NEEDED if any(name.startswith("patella") for name in settings.bodies) else _NEEDED[:3]
    absent = [one for one in needed if not any(name.upper().startswith(one) for name in every)]
    if absent and len(absent) < len(needed) - 1:
        yield Finding(
            "ligaments.missing",
            "warn",
            str(paths[0]),
            f"no bundle of {', '.join(absent)}",
            f"bundles of {', '.join(needed)}",
            "Complete the table.",
        )
    for table in tables:
        yield from _judge_bundles(table, settings, knee)


def _judge_bundles(table: TextTable, settings: KneeSettings, knee: str) -> Iterator[Finding | None]:
    """Yield findings about sides, stiffness and numbers of the bundles of a table."""
    path, names = table.path, list(table.text["bundle"])
    for stem in dict.fromkeys(_stems(names)):
        missing = _missing(names, stem)
        if missing:
            yield Finding(
                "ligaments.missing",
                "warn",
                str(path),
                f"no bundle {', '.join(missing)}",
                "bundles without a gap in their numbers",
                "Complete the table.",
            )
    yield from _judge_stiffness(table, names)
    frames = file_frames(settings)
    # Frames have z to lateral of a right knee.
    way = 1.0 if knee == "right" else -1.0
    for start, side in (("MCL", -way), ("LCL", way)):
        for end in (1, 2):
            values = table.numbers(f"z{end}_mm")
            rows = [n for n, name in enumerate(names) if name.upper().startswith(start)]
            places = [
                values[n] + frames[table.text[f"body_{end}"][n]].origin[2]
                for n in rows
                if table.text[f"body_{end}"][n] in frames
            ]
            if places and side * float(np.mean(places)) <= 0.0:
                raise InputDataError(
                    path,
                    f"bundles {start} at z {np.mean(places):.3g} mm on average",
                    f"z {'above' if side > 0 else 'below'} 0, as in a {knee} knee",
                    "These are ligaments of the other knee: reverse z, or correct implant.knee.",
                    f"column 'z{end}_mm'",
                )


def _judge_use(path: str | Path, users: Sequence[str | Path]) -> Iterator[Finding | None]:
    """Yield a finding about wrap objects that nothing wraps on."""
    used: set[str] = set()
    for user in users:
        used |= set(TextTable.read(user, "a table of soft tissue").optional("wrap_object"))
    idle = [one for one in TextTable.read(path, "wrap objects").text["name"] if one not in used]
    remedy = "Name it in the column wrap_object of its bundles, or remove it."
    yield judge("wrapping.unused", len(idle), str(path), remedy, ", ".join(map(str, idle)))


def _judge_side(path: str | Path, knee: str) -> Iterator[Finding | None]:
    """Yield a finding about origins on the pelvis that are on the other side of the body."""
    table = TextTable.read(path, "a table of soft tissue")
    z = [
        one
        for one, body in zip(table.numbers("z_mm"), table.text["body"], strict=True)
        if str(body).startswith("pelvis")
    ]
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
            value
            for name, value in zip(names, stiffness, strict=True)
            if (match := _NUMBERED.fullmatch(name)) and match[1] == stem
        ]
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
    numbers = [
        int(match[2]) for name in names if (match := _NUMBERED.fullmatch(name)) and match[1] == stem
    ]
    every = range(min(1, *numbers), max(numbers) + 1)
    return [f"{stem}{number}" for number in every if number not in numbers]


def _judge_motions(settings: ComposedKneeSettings, files: Files) -> list[Finding | None]:
    """Findings about motions that are compared with, and about the load on components."""
    found: list[Finding | None] = []
    for name, motion in settings.compare.items():
        path = files[f"compare_{name}"]
        columns = {
            quantity: motion.columns[part]
            for quantity, one in _GAIT.items()
            if (part := f"{COMPONENTS}.{one}") in motion.columns
        }
        if settings.course.is_cycle and len(columns) == len(_GAIT):
            found += _judge_cycle(path, {"percent": motion.over, **columns})
        else:
            found += _judge_reference(path)
    load = settings.components.load if settings.components else None
    return found if load is None else [*found, *_judge_tray(files["components_load"], load)]


def _judge_cycle(path: str | Path, columns: Mapping[str, str]) -> list[Finding]:
    """Findings about the measured motion of components over a cycle, as of activities."""
    motion = SignedMotion.model_validate(
        {
            "file": str(path),
            "convention": "signs",
            "columns": columns,
            "signs": dict.fromkeys(_GAIT.values(), 1),
        }
    )
    table = read_curves(path, columns)
    return [*check_motion(table, motion), *judge_motion(table, motion)]


def _judge_tray(path: str | Path, tray: TrayLoadSettings) -> list[Finding]:
    """Findings about the measured load on components, as of activities."""
    columns = {"percent": tray.over, "medial": tray.medial, "lateral": tray.lateral}
    load = LoadSettings.model_validate(
        {"file": str(path), "columns": columns, "kind": "axial_force_n", "body_mass_kg": 75.0}
    )
    curves, _ = clip_noise(read_curves(path, columns), load)
    where = f"column '{tray.medial}' and '{tray.lateral}'"
    force = judge("load.peak_force", float(curves["load"].max()), str(path), "Give it in N.", where)
    sides = curves[["medial", "lateral"]].to_numpy(float)
    replaced, where = (
        float(np.mean(sides < tray.min_force_n)),
        "key multibody.components.load.min_force_n",
    )
    least = judge("load.replaced", replaced, where, "Lower it, or check the load.")
    found = [*judge_load(curves, load), *judge_sharing(curves, load)]
    return [*found, *(one for one in (force, least) if one)]


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
            "motion.empty_cells",
            "warn",
            str(path),
            f"{empty} empty cells",
            "none",
            "Rows with empty cells are not compared.",
        )
