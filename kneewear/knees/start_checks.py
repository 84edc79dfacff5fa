"""Checks of a composed knee at its start: forces, contacts and names, and what curves cover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kneewear.activity.plausibility import judge_phase
from kneewear.base.agreement import Agreement, Statement, disagreements
from kneewear.base.checks import judge
from kneewear.errors import Finding
from kneewear.knees.assembly import ComposedParts, applied_loads, point_law
from kneewear.knees.inputs import start_poses
from kneewear.knees.settings.bodies import MeshShapeSettings, SphereShapeSettings
from kneewear.knees.settings.composed_knee import (
    ComposedKneeSettings,
    PairContact,
    PointSettings,
)
from kneewear.mechanics.bodies import BodyPoses

Array = NDArray[np.float64]
_SIDES = ("medial", "lateral")
# A body that is loaded farther than this from its contacts is a long bone, mm.
_LONG = 50.0
# Axial part of the forces below which they push across the bone.
_AXIAL = 0.3


class ComposedKnee(NamedTuple):
    """Settings of a composed knee, and the content of its files."""

    settings: ComposedKneeSettings
    parts: ComposedParts


def _covered(knee: ComposedKnee) -> Iterator[tuple[Statement, Statement]]:
    """Yield the range of the course, and of what each curve is over."""
    settings, course = knee.settings, knee.settings.course
    curves = {
        f"key multibody.bodies.{name}.driven.{coordinate}": curve.points
        for name, body in settings.bodies.items()
        for coordinate, curve in body.driven.items()
    }
    curves |= {
        f"key multibody.loads.{name}.factor": load.factor.points
        for name, load in settings.loads.items()
        if load.factor is not None
    }
    ranges = {key: np.array(points)[:, 0] for key, points in curves.items() if points}
    ranges |= {f"table of {name}": table[:, 0] for name, table in knee.parts.curves.items()}
    if knee.parts.load is not None:
        ranges["table of components.load"] = knee.parts.load[:, 0]
    own = Statement(course.last - course.first, "key multibody.course")
    for key, values in ranges.items():
        yield own, Statement(float(np.ptp(values)), key)


def _cycle(knee: ComposedKnee) -> Iterator[tuple[Statement, Statement]]:
    """Yield the range of a course that is a cycle, and of a cycle."""
    course = knee.settings.course
    if course.is_cycle:
        yield (
            Statement(course.last - course.first, "key multibody.course"),
            Statement(100.0, "multibody.course.is_cycle"),
        )


# What settings and files of a composed knee state twice.
PAIRS = (
    Agreement("knees.course", "1", _covered, "Give the course in units of its curves."),
    Agreement("knees.cycle", "1", _cycle, "Give the course in percent, from 0 to 100."),
)


def judge_start(
    settings: ComposedKneeSettings, parts: ComposedParts, side: str
) -> Iterator[Finding]:
    """Yield findings about the start, the forces and the course of a composed knee.

    Parameters
    ----------
    settings, parts : ComposedKneeSettings, ComposedParts
        Settings, and the content of their files.
    side : str
        "right" or "left".
    """
    knee = ComposedKnee(settings, parts)
    poses = start_poses(settings)
    places: dict[str, list[Array]] = {}
    findings: list[Finding | None] = []
    for name, contact in settings.contacts.items():
        gap, place, bodies = _touch(knee, contact, poses)
        remedy = "Check size, frame and normal of its shapes, and the start of the bodies."
        findings.append(judge("knees.gap", gap, f"key multibody.contacts.{name}", remedy))
        for body in bodies:
            places.setdefault(body, []).append(place)
    findings += [*_judge_sides(settings, poses, side), *_judge_shapes(settings)]
    findings += [*_judge_forces(knee, poses, places), _judge_mass(settings)]
    findings.append(_judge_gait(knee))
    yield from filter(None, findings)
    yield from disagreements(PAIRS, knee)


def _touch(
    knee: ComposedKnee, contact: PairContact, poses: BodyPoses
) -> tuple[float, Array, tuple[str, str]]:
    """Gap of a contact, mm, its place in the ground, and the bodies."""
    names = (knee.settings.ground, *knee.settings.moving)
    if isinstance(contact, PointSettings):
        placed = point_law(contact, knee.settings)
        first, second = contact.fixed.split(".")[0], contact.moving.split(".")[0]
        one, other = names.index(first), names.index(second)
        back = poses.rotation[one].T
        shift = back @ (poses.translation[other] - poses.translation[one])
        touch = placed.shapes.touch(back @ poses.rotation[other], shift)
        place = poses.translation[one] + poses.rotation[one] @ np.asarray(touch.point)
        return -float(touch.depth), place, (first, second)
    first, second = contact.elements.split(".")[0], contact.indenter.split(".")[0]
    points = []
    for part, body in ((contact.elements, first), (contact.indenter, second)):
        number = names.index(body)
        vertices = knee.parts.shapes[part].vertices
        points.append(vertices @ poses.rotation[number].T + poses.translation[number])
    distance, _ = cKDTree(points[1]).query(points[0])
    return float(distance.min()), points[0][int(distance.argmin())], (first, second)


def _judge_sides(
    settings: ComposedKneeSettings, poses: BodyPoses, side: str
) -> Iterator[Finding | None]:
    """Yield findings about spheres, and contacts on them, on the other side than their names."""
    names = (settings.ground, *settings.moving)
    # Frames have z to lateral of a right knee.
    way = 1.0 if side == "right" else -1.0
    named: dict[str, str] = {
        f"key multibody.bodies.{body}.shapes.{name}": f"{body}.{name}"
        for body, block in settings.bodies.items()
        for name, shape in block.shapes.items()
        if isinstance(shape, SphereShapeSettings)
    }
    named |= {
        f"key multibody.contacts.{name}": contact.fixed
        for name, contact in settings.contacts.items()
        if isinstance(contact, PointSettings)
    }
    across: dict[str, dict[str, float]] = {}
    for key, part in named.items():
        body, name = part.split(".")
        shape = settings.bodies[body].shapes[name]
        word = next((word for word in _SIDES if word in key.rsplit(".", 1)[-1].lower()), None)
        if word is None or not isinstance(shape, SphereShapeSettings):
            continue
        number = names.index(body)
        place = poses.translation[number] + poses.rotation[number] @ np.array(shape.centre_mm)
        outwards = way * float(place[2]) * (1.0 if word == "lateral" else -1.0)
        yield judge("knees.side", outwards, key, "Exchange medial and lateral, or reverse z.")
        if "shapes" in key:
            across.setdefault(body, {})[word] = outwards
    for body, found in across.items():
        if len(found) == len(_SIDES):
            key = f"key multibody.bodies.{body}.shapes"
            yield judge("knees.width", abs(sum(found.values())), key, "Check their centres.")


def _judge_shapes(settings: ComposedKneeSettings) -> Iterator[Finding | None]:
    """Yield a finding about spheres and planes without a contact, beside others that have one."""
    points = [each for each in settings.contacts.values() if isinstance(each, PointSettings)]
    used = {part for contact in points for part in (contact.fixed, contact.moving)}
    unused = [
        f"{body}.{name}"
        for body, block in settings.bodies.items()
        for name, shape in block.shapes.items()
        if not isinstance(shape, MeshShapeSettings) and f"{body}.{name}" not in used
    ]
    where = f"key multibody.bodies, shapes {', '.join(unused)}"
    yield judge("knees.unused", len(unused) if points else 0, where, "Add their contacts.")


def _judge_forces(
    knee: ComposedKnee, poses: BodyPoses, places: dict[str, list[Array]]
) -> Iterator[Finding | None]:
    """Yield findings about the size of each applied force, and their part along a long bone."""
    names = (knee.settings.ground, *knee.settings.moving)
    axial: dict[str, float] = {}
    size: dict[str, float] = {}
    loads = applied_loads(knee.parts, knee.settings)
    for name, block in knee.settings.loads.items():
        given = loads[name].force
        if callable(given):
            continue
        force = np.atleast_2d(np.array(given, dtype=float))
        largest = float(np.linalg.norm(force, axis=1).max())
        where = f"key multibody.loads.{name}"
        if any(block.force_n):
            yield judge("knees.force", largest, where, "Give force_n times factor in N.")
        number = names.index(block.body)
        if block.axes == "body":
            force = force @ poses.rotation[number].T
        if block.body not in places:
            continue
        towards = np.mean(places[block.body], axis=0) - poses.translation[number]
        length = float(np.linalg.norm(towards))
        if length > _LONG:
            along = float(np.mean(force @ (towards / length)))
            axial[block.body] = axial.get(block.body, 0.0) + along
            size[block.body] = size.get(block.body, 0.0) + largest
    for body, along in axial.items():
        part = along / size[body] if size[body] > 0.0 else 0.0
        remedy = f"Forces pull {body} off its contacts: reverse the axial one."
        yield judge("knees.compression", part if abs(part) > _AXIAL else 0.0,
                    f"key multibody.loads, forces on {body}", remedy)  # fmt: skip


def _judge_mass(settings: ComposedKneeSettings) -> Finding | None:
    """Finding about the largest mass of a body that moves; None without masses."""
    masses = {
        name: mass.mass_kg
        for name in settings.moving
        if (mass := settings.bodies[name].mass) is not None
    }
    if not masses:
        return None
    heaviest = max(masses, key=masses.__getitem__)
    where = f"key multibody.bodies.{heaviest}.mass.mass_kg"
    return judge("knees.mass", masses[heaviest], where, "Give the mass of the part that moves.")


def _judge_gait(knee: ComposedKnee) -> Finding | None:
    """Note on the phase of load and flexion of a cycle; None without both."""
    flexion, load = knee.parts.curves.get("components_flexion"), knee.parts.load
    if not knee.settings.course.is_cycle or flexion is None or load is None:
        return None
    at = load[:, 0]
    total, knee_flexion = load[:, 1:].sum(axis=1), np.interp(at, flexion[:, 0], flexion[:, 1])
    return judge_phase(at, knee_flexion, total, "key multibody.components", "load and flexion")
