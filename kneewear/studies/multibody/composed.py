"""A knee composed by its settings: equilibria over a course, or forward dynamics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.load import GRAVITY
from kneewear.contact.impact_laws import effective_radius, hertz_stiffness, hysteresis_factor
from kneewear.contact.mesh_pair import MeshContact
from kneewear.contact.point import ImpactLaw, PointContact, Shapes, SphereOnPlane, SphereOnSphere
from kneewear.geometry.distance_field import build_distance_field
from kneewear.geometry.meshes import TriangleMesh, joined, sphere_mesh, woven
from kneewear.mechanics.coordinates import COORDINATES, follow_samples
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.multibody.actions import Contact
from kneewear.multibody.equilibrium import SystemEquilibrium, solve_system, trace_equilibria
from kneewear.multibody.impacts import integrate_impacts
from kneewear.multibody.joints import Joint
from kneewear.multibody.system import BODY_THREE, FLEXION_FIRST, Body, System
from kneewear.reference.hertz import contact_modulus
from kneewear.regression.literature import (
    ENERGY,
    ComparedNumber,
    judge_number,
    judge_numbers,
    rms_number,
)
from kneewear.settings.composed_knee import (
    ComposedBodySettings,
    ComposedKneeSettings,
    CurveSettings,
    FoundationSettings,
    JointSettings,
    PlaneShapeSettings,
    PointSettings,
    SphereShapeSettings,
)
from kneewear.studies.multibody.layers import build_layer
from kneewear.studies.multibody.outcome import equilibrium_checks, force_curves, knee_scene
from kneewear.studies.multibody.result import MultibodyResult, curves
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.springs import Spring

Array = NDArray[np.float64]

TURNS = {"flexion_first": FLEXION_FIRST, "body_three": BODY_THREE}
NAMES = {"flexion_first": ("flexion", "adduction", "rotation"), "body_three": COORDINATES[3:]}
# Frames in the animation, at most, and half the edge of a plane that is drawn, mm.
POSES, HALF_EDGE = 61, 30.0
LARGEST_ENERGY_ERROR = 1e-3


@dataclass(frozen=True)
class ComposedParts:
    """What files of a composed knee hold, in the frames of its bodies, mm.

    `shapes` are meshes by body and name, such as "femur.condyles"; `bones` are drawn, by body;
    `curves` (n, 2) come from tables, by the names of their files; `compared` is a measured
    motion with the course as `at`, and `literature` printed numbers.
    """

    shapes: Mapping[str, TriangleMesh] = field(default_factory=dict)
    bones: Mapping[str, TriangleMesh] = field(default_factory=dict)
    ligaments: Mapping[str, Bundles] = field(default_factory=dict)
    muscles: Mapping[str, Bundles] = field(default_factory=dict)
    curves: Mapping[str, Array] = field(default_factory=dict)
    compared: pd.DataFrame | None = None
    literature: pd.DataFrame | None = None


def solve_composed(parts: ComposedParts, settings: ComposedKneeSettings) -> MultibodyResult:
    """Motion and forces of all bodies over the course.

    ConvergenceError, with the frame, if it has no equilibrium or the integration ends early.
    """
    course = settings.course
    at = np.linspace(course.first, course.last, course.frames)
    system = compose_system(parts, settings)
    driven = driven_motion(parts, settings, at)
    free = free_names(settings)
    if settings.dynamics is not None:
        motion = _integrate(system, settings, driven, free)
        coordinates, found, reactions = motion.coordinates, motion.parts, motion.reaction
        checks = [
            ComparedNumber(
                "energy error over the largest kinetic energy", "", motion.energy_error, "1",
                ENERGY, high=LARGEST_ENERGY_ERROR,
            )
        ]  # fmt: skip
    else:
        equilibria = _equilibria(system, settings, driven, free)
        coordinates = np.array([one.coordinates for one in equilibria])
        found = tuple(one.forces.parts for one in equilibria)
        reactions = -np.array([one.forces.force for one in equilibria])
        # Loads do work that nothing stores.
        stored = {
            name: one for name, one in system.actions.items() if name not in settings.loads
        }  # fmt: skip
        checks = list(equilibrium_checks(System(system.ground, system.bodies, stored), equilibria))
    kinematics = coordinate_curves(settings, at, coordinates, parts.compared)
    forces = all_force_curves(system, parts, settings, at, found, reactions)
    checks += _compare(settings, at, coordinates, parts.compared)
    literature = judge_numbers(checks)
    if parts.literature is not None:
        printed = compare_printed(parts.literature, pd.concat([kinematics, forces]))
        literature = pd.concat([literature, printed], ignore_index=True)
    return MultibodyResult(
        kinematics, forces, literature, _scene(system, parts, settings, at, coordinates)
    )


def compose_system(parts: ComposedParts, settings: ComposedKneeSettings) -> System:
    """System of all bodies and of what acts on them; loads are over the frames of the course."""
    bodies = tuple(_body(name, settings.bodies[name]) for name in settings.moving)
    contacts = {
        name: _foundation(contact, parts)
        if isinstance(contact, FoundationSettings)
        else _point_contact(contact, settings)
        for name, contact in settings.contacts.items()
    }
    # Joints are closed at the start.
    start = System(settings.ground, bodies, {}).poses(start_coordinates(settings))
    joints = {}
    names = (settings.ground, *settings.moving)
    for name, joint in settings.joints.items():
        numbers = [names.index(body) for body in joint.bodies]
        joints[name] = _joint(joint, start.rotation[numbers], start.translation[numbers])
    springs = {}
    for name, one in settings.springs.items():
        body, coordinate = one.coordinate.split(".")
        turns = coordinate.startswith("theta")
        factor = 180.0 / np.pi * 1e3 if turns else 1.0
        rest, gap = (np.radians(v) if turns else v for v in (one.rest, one.gap))
        springs[name] = Spring(coordinate, factor * one.stiffness, rest, gap, body=body)
    return System(
        settings.ground,
        bodies,
        {
            **parts.ligaments, **parts.muscles, **contacts, **joints, **springs,
            **_loads(parts, settings),
        },
    )  # fmt: skip


def start_coordinates(settings: ComposedKneeSettings) -> Array:
    """Start of all bodies that move (6 n,), mm and rad."""
    start = np.array([settings.bodies[name].start for name in settings.moving], dtype=float)
    start[:, 3:] = np.radians(start[:, 3:])
    return start.ravel()


def free_names(settings: ComposedKneeSettings) -> tuple[str, ...]:
    """Names of the coordinates that are neither held nor driven."""
    return tuple(
        f"{name}.{coordinate}"
        for name in settings.moving
        for coordinate in COORDINATES
        if coordinate not in (*settings.bodies[name].held, *settings.bodies[name].driven)
    )


def driven_motion(parts: ComposedParts, settings: ComposedKneeSettings, at: Array) -> Array:
    """Coordinates (n_frames, 6 n), mm and rad: of curves where driven, else of the start."""
    motion = np.tile(start_coordinates(settings), (len(at), 1))
    for number, name in enumerate(settings.moving):
        for coordinate, curve in settings.bodies[name].driven.items():
            values = _sampled(curve, parts.curves.get(f"{name}_{coordinate}"), at)
            column = 6 * number + COORDINATES.index(coordinate)
            motion[:, column] = np.radians(values) if coordinate.startswith("theta") else values
    return motion


def _sampled(curve: CurveSettings, table: Array | None, at: Array) -> Array:
    """Values of a curve, linear between its points and constant beyond."""
    points = table if curve.points is None else np.array(curve.points, dtype=float)
    if points is None:
        raise ValueError("a curve of a table without its table")
    return np.interp(at, points[:, 0], points[:, 1])


def _body(name: str, settings: ComposedBodySettings) -> Body:
    mass, inertia = settings.mass, None
    if mass is not None and mass.inertia_kg_m2 is not None:
        # 1 kg m2 is 1e-3 t times 1e6 mm2.
        inertia = RigidBody(
            1e-3 * mass.mass_kg, 1e3 * np.diag(mass.inertia_kg_m2), np.array(mass.centre_mm)
        )
    return Body(name, TURNS[settings.turns], inertia)


def _foundation(settings: FoundationSettings, parts: ComposedParts) -> Contact:
    """Elastic foundation on the triangles of a mesh."""
    (own, _), (other, _) = (part.split(".") for part in (settings.elements, settings.indenter))
    surface, indenter = parts.shapes[settings.elements], parts.shapes[settings.indenter]
    measured = None
    if settings.bones is not None:
        bones = [parts.shapes[name] for name in settings.bones]
        measured = bones[0], indenter, bones[1]
    layer = build_layer(settings.layer, surface, measured)
    distances = build_distance_field(indenter, settings.layer.field_spacing_mm)
    return Contact(own, other, MeshContact(surface, distances, layer))


def _point_contact(settings: PointSettings, knee: ComposedKneeSettings) -> Contact:
    """Hertz contact of a sphere with a sphere, a cup or a plane, with the loss of a law."""
    (fixed, ball), (moving, other) = (p.split(".") for p in (settings.fixed, settings.moving))
    sphere, counter = knee.bodies[fixed].shapes[ball], knee.bodies[moving].shapes[other]
    assert isinstance(sphere, SphereShapeSettings)  # settings see to it
    pair: Shapes
    if isinstance(counter, PlaneShapeSettings):
        normal = np.array(counter.normal) / np.linalg.norm(counter.normal)
        radius = effective_radius(sphere.radius_mm)
        pair = SphereOnPlane(sphere.centre_mm, sphere.radius_mm, counter.point_mm, normal)
    else:
        assert isinstance(counter, SphereShapeSettings)
        radius = effective_radius(sphere.radius_mm, counter.radius_mm)
        pair = SphereOnSphere(
            sphere.centre_mm, sphere.radius_mm, counter.centre_mm, counter.radius_mm
        )
    modulus = contact_modulus(
        *(v for one in settings.materials for v in (one.youngs_modulus_mpa, one.poisson_ratio))
    )
    factor = hysteresis_factor(settings.law, settings.restitution)
    law = ImpactLaw(hertz_stiffness(radius, modulus), factor)
    return Contact(fixed, moving, PointContact(pair, law), has_rate=True)


def _joint(settings: JointSettings, rotation: Array, translation: Array) -> Contact:
    """Joint of two bodies at their start, (2, 3, 3) and (2, 3)."""
    axis = np.array(settings.axis) / np.linalg.norm(settings.axis)
    point = np.array(settings.point_mm)
    placed = translation[0] + rotation[0] @ point
    law = Joint(
        settings.kind, point, axis, rotation[1].T @ (placed - translation[1]),
        rotation[1].T @ rotation[0] @ axis, settings.stiffness_n_per_mm,
    )  # fmt: skip
    return Contact(*settings.bodies, law)


def _loads(parts: ComposedParts, settings: ComposedKneeSettings) -> dict[str, Load]:
    """Weights, and loads over the frames of the course."""
    course, found = settings.course, {}
    at = np.linspace(course.first, course.last, course.frames)
    if settings.gravity is not None:
        down = np.array(settings.gravity) / np.linalg.norm(settings.gravity)
        found = {
            f"weight of {name}": Load(
                body.mass.mass_kg * GRAVITY * down, point=body.mass.centre_mm, body=name
            )
            for name, body in settings.bodies.items()
            if body.mass is not None and name != settings.ground
        }
    for name, load in settings.loads.items():
        force, moment = np.array(load.force_n), 1e3 * np.array(load.moment_n_m)
        if load.factor is not None:
            factor = _sampled(load.factor, parts.curves.get(f"load_{name}"), at)[:, None]
            force, moment = factor * force, factor * moment
        found[name] = Load(
            force, moment, load.point_mm, "moving" if load.axes == "body" else "fixed",
            body=load.body,
        )  # fmt: skip
    return found


def _equilibria(
    system: System, settings: ComposedKneeSettings, driven: Array, free: Sequence[str]
) -> tuple[SystemEquilibrium, ...]:
    """Equilibrium of each frame; forces alone where all coordinates are held or driven."""
    if not free:
        return tuple(
            SystemEquilibrium(one, system.at(frame).forces(one), 0.0, 1)
            for frame, one in enumerate(driven)
        )
    return trace_equilibria(system, driven, free, tolerance=settings.tolerance)


def _integrate(
    system: System, settings: ComposedKneeSettings, driven: Array, free: Sequence[str]
) -> Any:
    """Forward dynamics over the course, in s from its first value."""
    dynamics, course = settings.dynamics, settings.course
    if dynamics is None:
        raise ValueError("no settings of dynamics")
    duration = course.last - course.first
    loads = [one.time_history(course.frames) for one in system.loads.values()]
    start, begin = driven[0], system.at(0)
    if dynamics.settle and free:
        start = solve_system(begin, start, free, tolerance=settings.tolerance).coordinates
    return integrate_impacts(
        begin, np.linspace(0.0, duration, course.frames), start, free,
        motion=follow_samples(np.hstack([driven, *loads]), duration),
        relative_tolerance=dynamics.relative_tolerance, largest_step=dynamics.largest_step_s,
    ).motion  # fmt: skip


def _labels(settings: ComposedKneeSettings) -> Iterator[tuple[str, int, str, str]]:
    """Yield body, number, name and unit of each coordinate of the bodies that move."""
    number = 0
    for body in settings.moving:
        for name in (*COORDINATES[:3], *NAMES[settings.bodies[body].turns]):
            yield body, number, name, "mm" if name in COORDINATES[:3] else "deg"
            number += 1


def coordinate_curves(
    settings: ComposedKneeSettings, at: Array, coordinates: Array, compared: pd.DataFrame | None
) -> pd.DataFrame:
    """Curves of all coordinates (n_frames, 6 n), beside those that were measured."""
    tables = []
    for body, number, name, unit in _labels(settings):
        values = coordinates[:, number]
        values, panel = np.degrees(values) if unit == "deg" else values, f"{body} {name}"
        tables.append(curves(panel, settings.course.of, at, unit, {"computed": values}))
        part = f"{body}.{COORDINATES[number % 6]}"
        if compared is not None and part in compared:
            measured = {"reference": compared[part]}
            tables.append(curves(panel, settings.course.of, compared["at"], unit, measured))
    return pd.concat(tables, ignore_index=True)


def all_force_curves(
    system: System,
    parts: ComposedParts,
    settings: ComposedKneeSettings,
    at: Array,
    found: Sequence[Mapping[str, Any]],
    reactions: Array,
) -> pd.DataFrame:
    """Curves of contacts, tissues and joints, and of constraint forces (n_frames, 6 n)."""
    ligaments, muscles = list(parts.ligaments), list(parts.muscles)
    tables = [
        force_curves(system, found, settings.course.of, at, ligaments=ligaments, muscles=muscles),
        *_joint_curves(settings, at, found),
        *_reaction_curves(settings, at, reactions),
    ]
    return pd.concat(tables, ignore_index=True)


def _joint_curves(
    settings: ComposedKneeSettings, at: Array, found: Sequence[Mapping[str, Any]]
) -> Iterator[pd.DataFrame]:
    """Yield curves of constraint forces and gaps of joints."""
    if not settings.joints:
        return
    over = settings.course.of
    force = {name: [np.linalg.norm(one[name].wrench[:3]) for one in found]
             for name in settings.joints}  # fmt: skip
    gap = {name: [one[name].gap for one in found] for name in settings.joints}
    yield curves("joint constraint force", over, at, "N", force)
    yield curves("joint gap", over, at, "mm", gap)


def _reaction_curves(
    settings: ComposedKneeSettings, at: Array, reactions: Array
) -> Iterator[pd.DataFrame]:
    """Yield curves of constraint forces along coordinates that are held or driven."""
    force: dict[str, Array] = {}
    moment: dict[str, Array] = {}
    for body, number, name, unit in _labels(settings):
        one = settings.bodies[body]
        if COORDINATES[number % 6] in (*one.held, *one.driven):
            of = force if unit == "mm" else moment
            of[f"{body} {name}"] = reactions[:, number] * (1.0 if unit == "mm" else 1e-3)
    if force:
        yield curves("constraint force", settings.course.of, at, "N", force)
    if moment:
        yield curves("constraint moment", settings.course.of, at, "N m", moment)


def _compare(
    settings: ComposedKneeSettings, at: Array, coordinates: Array, compared: pd.DataFrame | None
) -> Iterator[ComparedNumber]:
    """Yield rms differences from a measured motion within the course."""
    if settings.compare is None or compared is None:
        return
    where = compared["at"].to_numpy(dtype=float)
    inside = (where >= at[0]) & (where <= at[-1])
    for body, number, name, unit in _labels(settings):
        part = f"{body}.{COORDINATES[number % 6]}"
        if part in compared:
            values = np.interp(where[inside], at, coordinates[:, number])
            yield rms_number(
                "rms difference from the reference", f"{body} {name}",
                np.degrees(values) if unit == "deg" else values,
                compared[part].to_numpy(dtype=float)[inside], unit, settings.compare.source,
            )  # fmt: skip


def compare_printed(printed: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Judge printed numbers (`panel`, `series`, `at`, `published`, ...) by computed curves."""
    computed = []
    for panel, series, at in printed[["panel", "series", "at"]].itertuples(index=False):
        curve = table[(table["panel"] == panel) & (table["series"] == series)]
        computed.append(float(np.interp(at, curve["at"], curve["value"])))
    names = zip(printed["series"], printed["at"], strict=True)
    case = [f"{series} at {at:g}" for series, at in names]
    keys = printed.assign(quantity=printed["panel"], case=case)
    return judge_number(keys, keys[["quantity", "case"]].assign(computed=computed))


def curve_names(parts: ComposedParts, settings: ComposedKneeSettings) -> list[tuple[str, str]]:
    """Panel and series of every curve that the model computes, before it computes any."""
    course, start = settings.course, start_coordinates(settings)
    system = compose_system(parts, settings)
    forces = system.at(0).forces(start)
    at, twice = np.array([course.first, course.last]), np.tile(start, (2, 1))
    tables = (
        coordinate_curves(settings, at, twice, None),
        all_force_curves(system, parts, settings, at, [forces.parts] * 2, 0.0 * twice),
    )
    names = pd.concat(tables)[["panel", "series"]].drop_duplicates()
    return list(names.itertuples(index=False, name=None))


def _scene(
    system: System, parts: ComposedParts, settings: ComposedKneeSettings, at: Array, motion: Array
) -> Any:
    """Bodies and bundles at some frames; None where nothing has a shape."""
    meshes = {
        name: joined(drawn)
        for name, body in settings.bodies.items()
        if (drawn := [_drawn(shape, parts.shapes.get(f"{name}.{key}"))
                      for key, shape in body.shapes.items()])
    }  # fmt: skip
    if not meshes:
        return None
    chosen = np.unique(np.linspace(0, len(at) - 1, min(POSES, len(at))).round().astype(int))
    return knee_scene(
        system,
        [system.poses(motion[frame]) for frame in chosen],
        [f"{at[frame]:.3g}" for frame in chosen],
        (*parts.ligaments, *parts.muscles),
        meshes=meshes,
        bones=parts.bones,
        shapes="Shapes of the bodies" + (" (pale: bones)" if parts.bones else ""),
    )


def _drawn(shape: Any, mesh: TriangleMesh | None) -> TriangleMesh:
    """Mesh of a shape; of a plane a square."""
    if mesh is not None:
        return mesh
    if isinstance(shape, SphereShapeSettings):
        return sphere_mesh(shape.centre_mm, abs(shape.radius_mm))
    across = HALF_EDGE * np.linalg.svd(np.array([shape.normal], dtype=float))[2][1:]
    middle = np.array(shape.point_mm)
    return woven(
        np.array([[middle + i * across[0] + j * across[1] for j in (-1, 1)] for i in (-1, 1)])
    )
