"""Spatial knee: two spheres on planes, eight ligaments, gravity towards posterior.

References
----------
Machado thesis, sections 6.2.2 and 6.5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.knees.contact.point import PointContact, Shapes, SphereOnPlane
from kneewear.knees.impacts import ContactInterval, ImpactMotion, integrate_impacts
from kneewear.knees.papers.point_contact.materials import impact_law
from kneewear.knees.papers.point_contact.scenes import moving_shapes, planes, spheres
from kneewear.knees.papers.point_contact.settings import Blocks
from kneewear.knees.papers.point_contact.tabulated import (
    TabulatedPair,
    placed_table,
    plane_table,
    sphere_table,
    window_on,
)
from kneewear.knees.papers.spatial_knee.literature import (
    assumed_case,
    compare_spatial,
    euler_parameter_differences,
)
from kneewear.knees.papers.spatial_knee.settings import (
    LookupSettings,
    SpatialSettings,
    SphereOnPlaneSettings,
)
from kneewear.knees.result import MultibodyResult, Scene, curves
from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.tension_laws import quadratic
from kneewear.motion.actions import Contact
from kneewear.motion.system import Body, System

Array = NDArray[np.float64]

# Flexions of the contact points of Fig. 6.23b, deg.
MARKED = range(0, 81, 10)
# Axes of scenes in those of the source, which are x lateral, y anterior, z superior.
AXES = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


def solve(parts: None, settings: SpatialSettings) -> MultibodyResult:
    """Flexion under gravity up to the last flexion, beside the numbers of the source."""
    flexions = {law: flex(settings, law) for law in settings.laws}
    system, found, motion, _ = flexions[settings.laws[0]]
    coordinates = found.motion.coordinates[: len(motion)]
    compared: dict[str, Flexed] = {str(law): one for law, one in flexions.items()}
    if settings.assumed_stretches:
        compared[assumed_case(settings)] = flex(settings.assumed, settings.laws[0])
    flexion, over = motion["flexion_deg"].to_numpy(), "flexion (deg)"

    def panel(name: str, unit: str, columns: Mapping[str, str]) -> pd.DataFrame:
        series = {label: motion[column].to_numpy() for label, column in columns.items()}
        return curves(name, over, flexion, unit, series)

    place = curves(
        "6.23a position of the tibia",
        "time (s)",
        motion["time_s"],
        "mm",
        {axis: motion[f"{axis}_mm"].to_numpy() for axis in "xyz"},
    )
    turns = {"internal rotation": "internal_rotation_deg", "varus": "varus_deg"}
    depth = {str(side): f"{side}_indentation_mm" for side in settings.condyles}
    force = {str(side): f"{side}_force_n" for side in settings.condyles}
    fibres = {name: f"{name}_n" for name in settings.ligaments}
    points = [
        curves(
            "6.23b contact points on the femur, y over x",
            "x (mm)",
            track[:, 0],
            "mm",
            {side: track[:, 1]},
        )
        for side, track in femoral_contacts(found, settings, flexion).items()
    ]
    strains = [
        curves("6.24b ligament fibres", "strain (%)", strain, "N", {name: motion[column]})
        for (name, column), strain in zip(
            fibres.items(), fibre_strains(system, coordinates).T, strict=True
        )
    ]
    return MultibodyResult(
        kinematics=pd.concat(
            [
                panel("rotation", "deg", turns),
                place,
                panel("6.22a indentation", "mm", depth),
                *points,
            ],
            ignore_index=True,
        ),
        forces=pd.concat(
            [
                panel("6.22b contact force", "N", force),
                *(
                    curves(
                        f"contact force, {law}",
                        over,
                        one.table["flexion_deg"],
                        "N",
                        {label: one.table[column] for label, column in force.items()},
                    )
                    for law, one in flexions.items()
                    if law != settings.laws[0]
                ),
                panel("6.24a ligament fibres", "N", fibres),
                *strains,
            ],
            ignore_index=True,
        ),
        literature=compare_spatial(
            {case: (one.table, one.contacts) for case, one in compared.items()},
            settings,
            {
                "energy error over the largest kinetic energy": {
                    case: one.found.motion.energy_error for case, one in compared.items()
                },
                **euler_parameter_differences(system, coordinates, found.motion.time),
                **lookup_differences(settings),
            },
        ),
        scene=spatial_scene(system, settings, motion["time_s"].to_numpy(), coordinates),
    )


class Flexed(NamedTuple):
    """A flexion: the whole motion, and table and contacts of it up to the last flexion."""

    system: System
    found: ImpactMotion
    table: pd.DataFrame
    contacts: tuple[ContactInterval, ...]


def flex(settings: SpatialSettings, law: str) -> Flexed:
    """Flexion under gravity with a contact law, up to the last flexion."""
    system, start = build_spatial(settings, law)
    times = np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s)
    found = _integrate(system, times, start, law)
    motion = spatial_motion_table(found, settings)
    beyond = np.flatnonzero(motion["flexion_deg"] > settings.last_flexion_deg)
    motion = motion.iloc[: beyond[0]] if beyond.size else motion
    last = float(motion["time_s"].iloc[-1])
    return Flexed(
        system, found, motion, tuple(contact for contact in found.contacts if contact.begin <= last)
    )


def _integrate(system: System, times: Array, start: Array, case: str) -> ImpactMotion:
    return integrate_impacts(system, times, start, ("tibia",), relative_tolerance=1e-7, case=case)


def lookup_differences(settings: SpatialSettings) -> dict[str, float]:
    """Largest differences of positions, mm, of motions by lookup tables, and updates of windows.

    The first is that from spheres on planes with all blocks of the tables in memory, the second
    that of both with a storage window.
    """
    lookup, law = settings.lookup, settings.laws[0]
    if lookup is None:
        return {}
    times = np.arange(0.0, lookup.duration_s + 1e-9, settings.output_step_s)
    system, start = build_spatial(settings, law)
    pairs = {
        name: {
            side: tabulated_condyle(one, lookup, size) for side, one in settings.condyles.items()
        }
        for name, size in {"whole": (lookup.samples,) * 2, "windowed": lookup.window}.items()
    }
    exact, whole, windowed = (
        _integrate(one, times, start, f"{law}, lookup tables").motion.coordinates
        for one in (system, *(build_spatial(settings, law, shapes)[0] for shapes in pairs.values()))
    )
    return {
        "difference of the positions by lookup tables": float(np.abs(whole - exact)[:, :3].max()),
        "difference of the motion with storage windows": float(np.abs(windowed - whole).max()),
        "updates of the storage windows": float(
            sum(one.updates for pair in pairs["windowed"].values() for one in pair.windows)
        ),
    }


def tabulated_condyle(
    condyle: SphereOnPlaneSettings, lookup: LookupSettings, window: Blocks
) -> TabulatedPair:
    """Lookup tables of a sphere and of a square of its plane, with storage windows.

    The poles of the sphere are medial and lateral, its seam is anterior, away from the contact.
    """
    sphere = placed_table(
        sphere_table(condyle.radius_mm, lookup.samples),
        np.array(AXES).T,
        np.array(condyle.centre_mm),
    )
    normal = np.array(condyle.plane_normal)
    across = np.linalg.svd(normal[None])[2][1:]
    # Their order makes a right-handed set with the normal.
    if np.linalg.det([*across, normal]) < 0.0:
        across = across[::-1]
    half = 0.5 * lookup.edge_mm
    plane = placed_table(
        plane_table((-half, -half), (half, half), lookup.samples),
        np.array([*across, normal]).T,
        np.array(condyle.plane_mm),
    )
    windows = tuple(window_on(one, lookup.block, window) for one in (sphere, plane))
    return TabulatedPair(sphere, plane, (windows[0], windows[1]))


def femoral_contacts(
    found: ImpactMotion, settings: SpatialSettings, flexion: Array
) -> dict[str, Array]:
    """Contact points (n, 3) of each side in the femur's frame at the flexions `MARKED`, mm.

    Flexions at which a side does not touch are left out.
    """
    marked = [int(np.abs(flexion - angle).argmin()) for angle in MARKED if angle <= flexion.max()]
    parts = [found.motion.parts[number] for number in dict.fromkeys(marked)]
    return {
        str(side): np.array([part[side].point for part in parts if part[side].depth > 0.0]).reshape(
            -1, 3
        )
        for side in settings.condyles
    }


def fibre_strains(system: System, coordinates: Array) -> Array:
    """Strain of every fibre (n_times, n_fibres), percent, negative where it is slack."""
    ligaments: Any = system.actions["ligaments"]
    lengths = [system.forces(coordinate).parts["ligaments"].length for coordinate in coordinates]
    return 100.0 * np.array([ligaments.law.strain(length) for length in lengths])


def spatial_scene(
    system: System, settings: SpatialSettings, time: Array, coordinates: Array
) -> Scene:
    """Spheres, parts of the planes and fibres at even steps of time."""
    pairs = tuple(spheres_on_planes(settings).values())
    start = system.poses(coordinates[0])
    return moving_shapes(
        system,
        time,
        coordinates,
        -np.degrees(coordinates[:, 3]),
        (spheres(pairs), planes(pairs, start.rotation[1], start.translation[1])),
        "Spheres and parts of the endless planes",
        AXES,
    )


def build_spatial(
    settings: SpatialSettings, law: str = "hertz", shapes: Mapping[Any, Shapes] | None = None
) -> tuple[System, Array]:
    """System of femur and tibia with a contact law, and its start (6,).

    `shapes` by side are in place of spheres on planes.
    """
    tibia, ligaments = settings.tibia, settings.ligaments
    start = np.array([*tibia.position_mm, 0.0, 0.0, 0.0])
    ends = [
        (np.array(ligament.femur_mm), np.array(ligament.tibia_mm))
        for ligament in ligaments.values()
    ]
    extended = [float(np.linalg.norm(end + start[:3] - begin)) for begin, end in ends]
    stretch = [one.stretch_at_extension for one in ligaments.values()]
    mass = 1e-3 * tibia.mass_kg
    contacts: dict[str, Contact] = {
        str(side): Contact(
            "femur",
            "tibia",
            PointContact(
                shape,
                impact_law(settings.contact, settings.condyles[side].radius_mm, law),
            ),
            has_rate=True,
        )
        for side, shape in (shapes or spheres_on_planes(settings)).items()
    }
    body = RigidBody(mass, 1e3 * np.diag(tibia.inertia_kg_m2), np.zeros(3))
    system = System(
        "femur",
        (Body("tibia", inertia=body),),
        {
            "ligaments": Bundles(
                tuple(ligaments),
                ("femur", "tibia"),
                tuple((("femur", begin), ("tibia", end)) for begin, end in ends),
                quadratic(
                    np.array(extended) / stretch,
                    [one.stiffness_n_per_mm2 for one in ligaments.values()],
                ),
            ),
            **contacts,
            "weight": Load((0.0, -mass * settings.gravity_mm_per_s2, 0.0), body="tibia"),
        },
    )
    return system, start


def spheres_on_planes(settings: SpatialSettings) -> dict[Any, SphereOnPlane]:
    """Condyles on endless planes, by side."""
    return {
        side: SphereOnPlane(one.centre_mm, one.radius_mm, one.plane_mm, one.plane_normal)
        for side, one in settings.condyles.items()
    }


def spatial_motion_table(found: ImpactMotion, settings: SpatialSettings) -> pd.DataFrame:
    """Angles, position, contacts and ligaments over time.

    Flexion is the turn of the tibia's long axis (z) towards posterior (-y); internal rotation the
    turn about that axis towards medial.
    """
    motion = found.motion
    turns = np.degrees(motion.coordinates[:, 3:])
    columns: dict[str, Array] = {
        "time_s": motion.time,
        "flexion_deg": -turns[:, 0],
        "internal_rotation_deg": turns[:, 2],
        "varus_deg": turns[:, 1],
        **dict(zip(("x_mm", "y_mm", "z_mm"), motion.coordinates[:, :3].T, strict=True)),
    }
    for side in settings.condyles:
        for name, unit in (("depth", "mm"), ("force", "n")):
            label = f"{side}_{'indentation' if name == 'depth' else name}_{unit}"
            values = np.array([getattr(part[side], name) for part in motion.parts])
            columns[label] = np.maximum(values, 0.0)
    tension = np.array([part["ligaments"].tension for part in motion.parts])
    for name, force in zip(settings.ligaments, tension.T, strict=True):
        columns[f"{name}_n"] = force
    return pd.DataFrame(columns)
