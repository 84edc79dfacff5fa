"""The system of a composed knee: bodies, and what acts on them, from settings and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.activity.load import GRAVITY
from kneewear.contact.foundation import ElasticLayer, LargeStrain, SmallStrain, confined_modulus
from kneewear.contact.hertz import contact_modulus
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.contact.distance_field import (
    DistanceField,
    build_distance_field,
    distances_to_mesh,
)
from kneewear.knees.contact.impact_laws import effective_radius, hertz_stiffness, hysteresis_factor
from kneewear.knees.contact.mesh_pair import MeshContact
from kneewear.knees.contact.point import (
    ImpactLaw,
    PointContact,
    Shapes,
    SphereOnPlane,
    SphereOnSphere,
)
from kneewear.knees.joints import Joint
from kneewear.knees.settings.bodies import (
    BodySettings,
    CurveSettings,
    LayerSettings,
    PlaneShapeSettings,
    SphereShapeSettings,
)
from kneewear.knees.settings.composed_knee import (
    ComposedKneeSettings,
    FoundationSettings,
    JointSettings,
    KneeSettings,
    PointSettings,
)
from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.coordinates import COORDINATES, ROTATIONS
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.springs import Spring
from kneewear.motion.actions import Contact
from kneewear.motion.system import BODY_THREE, FLEXION_FIRST, Body, System

Array = NDArray[np.float64]
# Rotation and origin, mm, of a frame in the frame of a body.
Placement = tuple[Array, Array]

# The load on components among the actions.
APPLIED = "applied load"
TURNS = {"flexion_first": FLEXION_FIRST, "body_three": BODY_THREE}


@dataclass(frozen=True)
class ComposedParts:
    """Content of the files of a composed knee, in the frames of its bodies, mm.

    `shapes` are meshes by body and name, such as "femur.condyles", and `placements` the frames of
    their files; `bones` are drawn, by body; `curves` (n, 2) come from tables, by the names of their
    files; `load` (n, 3) holds course, medial and lateral force on the components, N; `compared` are
    motions by name, with what they are over as `at`, and `literature` printed numbers.
    """

    shapes: Mapping[str, TriangleMesh] = field(default_factory=dict)
    placements: Mapping[str, Placement] = field(default_factory=dict)
    bones: Mapping[str, TriangleMesh] = field(default_factory=dict)
    ligaments: Mapping[str, Bundles] = field(default_factory=dict)
    muscles: Mapping[str, Bundles] = field(default_factory=dict)
    curves: Mapping[str, Array] = field(default_factory=dict)
    load: Array | None = None
    compared: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    literature: pd.DataFrame | None = None


def compose_system(parts: ComposedParts, settings: KneeSettings) -> System:
    """System of all bodies and of what acts on them; loads are over the frames of the course."""
    # Of each mesh and spacing of nodes once.
    fields: dict[tuple[str, float], DistanceField] = {}
    contacts = {
        name: _foundation(contact, parts, fields)
        if isinstance(contact, FoundationSettings)
        else _point_contact(contact, settings)
        for name, contact in settings.contacts.items()
    }
    # Joints are closed at the start.
    start = bodies_alone(settings).poses(start_coordinates(settings))
    joints = {}
    names = (settings.ground, *settings.moving)
    for name, joint in settings.joints.items():
        numbers = [names.index(body) for body in joint.bodies]
        joints[name] = _joint(joint, start.rotation[numbers], start.translation[numbers])
    springs = {}
    for name, one in settings.springs.items():
        body, coordinate = one.coordinate.split(".")
        turns = coordinate in ROTATIONS
        factor = 180.0 / np.pi * 1e3 if turns else 1.0
        rest, gap = (np.radians(v) if turns else v for v in (one.rest, one.gap))
        springs[name] = Spring(coordinate, factor * one.stiffness, rest, gap, body=body)
    return System(
        settings.ground,
        bodies_alone(settings).bodies,
        {
            **parts.ligaments,
            **parts.muscles,
            **contacts,
            **joints,
            **springs,
            **applied_loads(parts, settings),
        },
    )


def bodies_alone(settings: KneeSettings) -> System:
    """System of all bodies on which nothing acts."""
    bodies = tuple(_body(name, settings.bodies[name]) for name in settings.moving)
    return System(settings.ground, bodies, {})


def start_coordinates(settings: KneeSettings) -> Array:
    """Start of all bodies that move (6 n,), mm and rad."""
    start = np.array([settings.bodies[name].start for name in settings.moving], dtype=float)
    start[:, 3:] = np.radians(start[:, 3:])
    return start.ravel()


def course_points(settings: ComposedKneeSettings) -> Array:
    """Places of the frames on the course (n_frames,)."""
    course = settings.course
    return np.linspace(course.first, course.last, course.frames)


def follower(settings: ComposedKneeSettings) -> str | None:
    """Coordinate that follows the flexion of the components; None without."""
    components = settings.components
    if components is None or components.flexion is None:
        return None
    return f"{components.tibial.split('.')[0]}.theta_1"


def free_names(settings: ComposedKneeSettings) -> tuple[str, ...]:
    """Names of the coordinates that are neither held nor driven."""
    return tuple(
        f"{name}.{coordinate}"
        for name in settings.moving
        for coordinate in COORDINATES
        if coordinate not in (*settings.bodies[name].held, *settings.bodies[name].driven)
        and f"{name}.{coordinate}" != follower(settings)
    )


def driven_motion(parts: ComposedParts, settings: ComposedKneeSettings, at: Array) -> Array:
    """Coordinates (n_frames, 6 n), mm and rad: of curves where driven, else of the start."""
    motion = np.tile(start_coordinates(settings), (len(at), 1))
    for number, name in enumerate(settings.moving):
        for coordinate, curve in settings.bodies[name].driven.items():
            values = sample_curve(curve, parts.curves.get(f"{name}_{coordinate}"), at)
            column = 6 * number + COORDINATES.index(coordinate)
            motion[:, column] = np.radians(values) if coordinate in ROTATIONS else values
    return motion


def sample_curve(curve: CurveSettings, table: Array | None, at: Array) -> Array:
    """Values of a curve between its points, constant beyond."""
    points = table if curve.points is None else np.array(curve.points, dtype=float)
    if points is None:
        raise ValueError("a curve of a table without its table")
    if curve.between == "linear":
        return np.interp(at, points[:, 0], points[:, 1])
    inside = np.clip(at, points[0, 0], points[-1, 0])
    return np.asarray(
        scipy.interpolate.PchipInterpolator(points[:, 0], points[:, 1])(inside), dtype=float
    )


def _body(name: str, settings: BodySettings) -> Body:
    mass, inertia = settings.mass, None
    if mass is not None and mass.inertia_kg_m2 is not None:
        # 1 kg m2 is 1e-3 t times 1e6 mm2.
        inertia = RigidBody(
            1e-3 * mass.mass_kg, 1e3 * np.diag(mass.inertia_kg_m2), np.array(mass.centre_mm)
        )
    return Body(name, TURNS[settings.turns], inertia)


def _foundation(
    settings: FoundationSettings,
    parts: ComposedParts,
    fields: dict[tuple[str, float], DistanceField],
) -> Contact:
    """Elastic foundation on the triangles of a mesh."""
    (own, _), (other, _) = (part.split(".") for part in (settings.elements, settings.indenter))
    surface, indenter = parts.shapes[settings.elements], parts.shapes[settings.indenter]
    measured = None
    if settings.bones is not None:
        bones = [parts.shapes[name] for name in settings.bones]
        measured = bones[0], indenter, bones[1]
    layer = _layer(settings.layer, surface, measured)
    key = settings.indenter, settings.layer.field_spacing_mm
    if key not in fields:
        fields[key] = build_distance_field(indenter, key[1])
    return Contact(own, other, MeshContact(surface, fields[key], layer))


def _layer(
    settings: LayerSettings,
    surface: TriangleMesh,
    measured: tuple[TriangleMesh, TriangleMesh, TriangleMesh] | None,
) -> ElasticLayer:
    """Layer under the triangles of `surface`, with the thickness of the other body's layer added.

    Where the settings give no thickness, it is the distance of each triangle to the bone under it
    plus the mean one of the other body, between 1 and 10 mm each; `measured` are this bone, and
    surface and bone of the other body.
    """
    law = SmallStrain if settings.strain == "small" else LargeStrain
    modulus = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio)
    if measured is None:
        thickness = np.full(len(surface.faces), settings.thickness_mm)
        return ElasticLayer(law(modulus), thickness)
    bone, other, other_bone = measured
    own, added = (
        np.clip(np.abs(distances_to_mesh(under, mesh.vertices[mesh.faces].mean(axis=1))), 1.0, 10.0)
        for mesh, under in ((surface, bone), (other, other_bone))
    )
    return ElasticLayer(law(modulus), own + float(np.mean(added)))


def _point_contact(settings: PointSettings, knee: KneeSettings) -> Contact:
    """Contact of both bodies at one point."""
    fixed, moving = (part.split(".")[0] for part in (settings.fixed, settings.moving))
    return Contact(fixed, moving, point_law(settings, knee), has_rate=True)


def point_law(settings: PointSettings, knee: KneeSettings) -> PointContact:
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
    return PointContact(pair, law)


def _joint(settings: JointSettings, rotation: Array, translation: Array) -> Contact:
    """Joint of two bodies at their start, (2, 3, 3) and (2, 3)."""
    axis = np.array(settings.axis) / np.linalg.norm(settings.axis)
    point = np.array(settings.point_mm)
    placed = translation[0] + rotation[0] @ point
    law = Joint(
        settings.kind,
        point,
        axis,
        rotation[1].T @ (placed - translation[1]),
        rotation[1].T @ rotation[0] @ axis,
        settings.stiffness_n_per_mm,
    )
    return Contact(*settings.bodies, law)


def applied_loads(parts: ComposedParts, settings: KneeSettings) -> dict[str, Load]:
    """Weights, and loads over the frames of the course."""
    found = {}
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
        if load.factor is not None and isinstance(settings, ComposedKneeSettings):
            table, at = parts.curves.get(f"load_{name}"), course_points(settings)
            factor = sample_curve(load.factor, table, at)[:, None]
            force, moment = factor * force, factor * moment
        found[name] = Load(
            force,
            moment,
            load.point_mm,
            "moving" if load.axes == "body" else "fixed",
            body=load.body,
        )
    if isinstance(settings, ComposedKneeSettings) and parts.load is not None:
        found[APPLIED] = _tray_load(parts, settings, parts.load)
    return found


def _tray_load(parts: ComposedParts, settings: ComposedKneeSettings, table: Array) -> Load:
    """Measured load of both sides along the axis of the tibial component."""
    components = settings.components
    if components is None or components.load is None:
        raise ValueError("a load on components without its settings")
    (axes, origin), at = parts.placements[components.tibial], course_points(settings)
    medial, lateral = (
        np.maximum(np.interp(at, table[:, 0], table[:, side]), components.load.min_force_n)
        for side in (1, 2)
    )
    total = medial + lateral
    # Components have z medial.
    line = components.load.lever_mm * (medial - lateral) / total
    return Load(
        np.outer(total, axes[:, 1]),
        point=origin + np.outer(line, axes[:, 2]),
        frame="moving",
        body=components.tibial.split(".")[0],
    )
