"""Spatial knee: two spheres on planes, eight ligaments, gravity towards posterior.

References
----------
Machado thesis, sections 6.2.2 and 6.5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.multibody.actions import Contact
from kneewear.multibody.system import Body, System
from kneewear.replications.point_contact.contact import PointContact, SphereOnPlane
from kneewear.replications.point_contact.impacts import ImpactMotion, integrate_impacts
from kneewear.replications.point_contact.materials import impact_law
from kneewear.replications.point_contact.scenes import moving_shapes, planes, spheres
from kneewear.replications.spatial_knee.literature import (
    compare_spatial,
    euler_parameter_differences,
)
from kneewear.replications.spatial_knee.settings import SpatialSettings
from kneewear.studies.multibody.result import MultibodyResult, Scene, curves
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.laws import quadratic

Array = NDArray[np.float64]

# Flexions of the contact points of Fig. 6.23b, deg.
MARKED = range(0, 81, 10)
# Axes of scenes in those of the source, which are x lateral, y anterior, z superior.
AXES = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


def solve(parts: None, settings: SpatialSettings) -> MultibodyResult:
    """Flexion under gravity up to the last flexion, beside the numbers of the source."""
    system, start = build_spatial(settings)
    times = np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s)
    found = integrate_impacts(
        system, times, start, ("tibia",), relative_tolerance=1e-7, case=settings.law
    )
    motion = spatial_motion_table(found, settings)
    beyond = np.flatnonzero(motion["flexion_deg"] > settings.last_flexion_deg)
    motion = motion.iloc[: beyond[0]] if beyond.size else motion
    last = float(motion["time_s"].iloc[-1])
    contacts = tuple(one for one in found.contacts if one.begin <= last)
    coordinates = found.motion.coordinates[: len(motion)]
    flexion, over = motion["flexion_deg"].to_numpy(), "flexion (deg)"

    def panel(name: str, unit: str, columns: Mapping[str, str]) -> pd.DataFrame:
        series = {label: motion[column].to_numpy() for label, column in columns.items()}
        return curves(name, over, flexion, unit, series)

    place = curves(
        "6.23a position of the tibia", "time (s)", motion["time_s"], "mm",
        {axis: motion[f"{axis}_mm"].to_numpy() for axis in "xyz"},
    )  # fmt: skip
    turns = {"internal rotation": "internal_rotation_deg", "varus": "varus_deg"}
    depth = {str(side): f"{side}_indentation_mm" for side in settings.condyles}
    force = {str(side): f"{side}_force_n" for side in settings.condyles}
    fibres = {name: f"{name}_n" for name in settings.ligaments}
    points = [
        curves(
            "6.23b contact points on the femur", "x (mm)", track[:, 0], "mm", {side: track[:, 1]}
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
                panel("6.24a ligament fibres", "N", fibres),
                *strains,
            ],
            ignore_index=True,
        ),
        literature=compare_spatial(
            motion,
            contacts,
            tuple(settings.ligaments),
            {
                "energy error over the largest kinetic energy": found.motion.energy_error,
                **euler_parameter_differences(system, coordinates, times),
            },
        ),
        scene=spatial_scene(system, settings, coordinates),
    )


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
    lengths = [system.forces(one).parts["ligaments"].length for one in coordinates]
    return 100.0 * np.array([ligaments.law.strain(length) for length in lengths])


def spatial_scene(system: System, settings: SpatialSettings, coordinates: Array) -> Scene:
    """Spheres, parts of the planes and fibres at even steps of time."""
    pairs = tuple(
        SphereOnPlane(one.centre_mm, one.radius_mm, one.plane_mm, one.plane_normal)
        for one in settings.condyles.values()
    )
    start = system.poses(coordinates[0])
    return moving_shapes(
        system,
        coordinates,
        -np.degrees(coordinates[:, 3]),
        (spheres(pairs), planes(pairs, start.rotation[1], start.translation[1])),
        "Spheres and parts of the endless planes",
        AXES,
    )


def build_spatial(settings: SpatialSettings) -> tuple[System, Array]:
    """System of femur and tibia, and its start (6,)."""
    tibia, ligaments = settings.tibia, settings.ligaments
    start = np.array([*tibia.position_mm, 0.0, 0.0, 0.0])
    ends = [(np.array(one.femur_mm), np.array(one.tibia_mm)) for one in ligaments.values()]
    extended = [float(np.linalg.norm(end + start[:3] - begin)) for begin, end in ends]
    stretch = [one.stretch_at_extension for one in ligaments.values()]
    mass = 1e-3 * tibia.mass_kg
    contacts: dict[str, Contact] = {
        str(side): Contact(
            "femur",
            "tibia",
            PointContact(
                SphereOnPlane(
                    condyle.centre_mm, condyle.radius_mm, condyle.plane_mm, condyle.plane_normal
                ),
                impact_law(settings.contact, condyle.radius_mm, settings.law),
            ),
            has_rate=True,
        )
        for side, condyle in settings.condyles.items()
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
