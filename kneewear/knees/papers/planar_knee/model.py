"""Planar knee: one femoral and one tibial profile, four ligaments, impacts.

References
----------
Machado thesis, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.knees.contact.point import PointContact, SphereOnSphere
from kneewear.knees.impacts import integrate_impacts
from kneewear.knees.papers.planar_knee.literature import compare_planar
from kneewear.knees.papers.planar_knee.panels import PROFILES, force_panels, kinematic_panels
from kneewear.knees.papers.planar_knee.run import Run
from kneewear.knees.papers.planar_knee.settings import (
    PlanarSettings,
    ProfileSettings,
    SpherePairSettings,
)
from kneewear.knees.papers.point_contact.materials import impact_law
from kneewear.knees.papers.point_contact.profiles import Profiles, polar_profile
from kneewear.knees.papers.point_contact.scenes import moving_shapes, ribbon
from kneewear.knees.papers.point_contact.settings import PointContactSettings
from kneewear.knees.result import MultibodyResult
from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.tension_laws import quadratic
from kneewear.motion.actions import Contact
from kneewear.motion.system import Body, System

Array = NDArray[np.float64]

FREE = ("tibia.x", "tibia.y", "tibia.theta_3")
# Time between output times while the bodies touch, s. Stiff knees bounce within 2 to 4 ms: at the
# output step of 1 ms their loops were chords and their peaks up to 12 % low.
CONTACT_STEP = 1e-4
# Decay of the pulse (Eq. 5.1).
DECAY = 4.73


def solve(parts: Mapping[str, ProfileSettings] | None, settings: PlanarSettings) -> MultibodyResult:
    """Motions of all laws, knees, splines and pulses, beside the numbers of the source.

    `parts` are the points of profiles that are outlines of meshes.
    """
    settings = settings.model_copy(update=dict(parts or {}))
    runs = list(_runs(settings))
    usual = runs[0]
    return MultibodyResult(
        kinematics=kinematic_panels(runs, settings),
        forces=force_panels(runs, settings),
        literature=compare_planar(runs, settings),
        scene=moving_shapes(
            build_planar(settings, *usual.choice)[0],
            usual.solution.motion.time,
            usual.solution.motion.coordinates,
            usual.flexion,
            (ribbon(settings.femoral_profile), ribbon(settings.tibial_profile)),
            "Profiles as ribbons 20 mm wide",
        ),
    )


def build_planar(
    settings: PlanarSettings,
    knee: str,
    law: str,
    spline: str,
    amplitude: float,
    shape: str = PROFILES,
) -> tuple[System, Array]:
    """System of one knee, force law, spline, pulse, N, and shape, and its start (6,)."""
    tibia, ligaments = settings.tibia, settings.ligaments
    mass = 1e-3 * tibia.mass_kg
    inertia = 1e3 * tibia.inertia_kg_m2
    pulse = settings.pulse.duration_s

    def push(time: float) -> tuple[float, float, float]:
        force = amplitude * np.exp(-DECAY * (time / pulse) ** 2) * np.sin(np.pi * time / pulse)
        return (float(force), 0.0, 0.0)

    material = settings.knees[knee]
    contact = (
        _profile_contact(settings, material, law, spline)
        if shape == PROFILES
        else _sphere_contact(settings.sphere_pairs[shape], material, law)
    )
    system = System(
        "femur",
        (Body("tibia", inertia=RigidBody(mass, inertia * np.eye(3), np.zeros(3))),),
        {
            "ligaments": Bundles(
                tuple(ligaments),
                ("femur", "tibia"),
                tuple(
                    (("femur", [*ligament.femur_mm, 0.0]), ("tibia", [*ligament.tibia_mm, 0.0]))
                    for ligament in ligaments.values()
                ),
                quadratic(
                    [one.slack_length_mm for one in ligaments.values()],
                    [one.stiffness_n_per_mm2 for one in ligaments.values()],
                ),
            ),
            "contact": Contact("femur", "tibia", contact, has_rate=True),
            "pulse": Load(push, frame="moving", body="tibia"),
            "weight": Load((0.0, -mass * settings.gravity_mm_per_s2, 0.0), body="tibia"),
        },
    )
    return system, np.array([tibia.x_mm, tibia.y_mm, 0.0, 0.0, 0.0, tibia.angle_rad])


def _profile_contact(
    settings: PlanarSettings, material: PointContactSettings, law: str, spline: str
) -> PointContact:
    """Contact of both profiles."""
    profiles = settings.femoral_profile.points, settings.tibial_profile.points
    femoral, tibial = (polar_profile(*points, spline) for points in profiles)
    # The search starts at the nearest points of both at the start, as complex numbers.
    fixed, moving = (radius * np.exp(1j * angle) for angle, radius in profiles)
    tibia = settings.tibia
    placed = complex(tibia.x_mm, tibia.y_mm) + np.exp(1j * tibia.angle_rad) * moving
    gaps = np.abs(fixed[:, None] - placed)
    nearest = np.unravel_index(np.argmin(gaps), gaps.shape)
    start = np.array([angle[at] for (angle, _), at in zip(profiles, nearest, strict=True)])
    return PointContact(
        Profiles(femoral, tibial, start),
        impact_law(material, settings.contact_radius_mm, law),
    )


def _sphere_contact(
    pair: SpherePairSettings, material: PointContactSettings, law: str
) -> PointContact:
    """Contact of a sphere with a sphere or a cup."""
    radii = pair.femur_radius_mm, pair.tibia_radius_mm
    return PointContact(
        SphereOnSphere((*pair.femur_mm, 0.0), radii[0], (*pair.tibia_mm, 0.0), radii[1]),
        impact_law(material, radii[0], law, radii[1]),
    )


def _runs(settings: PlanarSettings) -> Iterator[Run]:
    """Motions of every law of each knee, then of every spline, pulse and shape."""
    amplitude, strong = settings.pulse.amplitude_n, settings.pulse.strong_amplitude_n
    knee, spline = settings.reference_knee, settings.splines[0]
    layered = [name for name, one in settings.knees.items() if one.layer is not None]
    wanted = [
        (knee, "hertz", spline, amplitude, PROFILES),
        *(
            (name, law, spline, amplitude, PROFILES)
            for name in (knee, *settings.knees)
            for law in dict.fromkeys(("hertz", "flores", *settings.laws))
            if law == "hertz" or name not in layered
        ),
        *((knee, "hertz", one, amplitude, PROFILES) for one in settings.splines),
        *((knee, law, spline, strong, PROFILES) for law in ("hertz", "flores")),
        *((knee, "hertz", spline, amplitude, pair) for pair in settings.sphere_pairs),
    ]
    times = np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s)
    for choice in dict.fromkeys(wanted):
        system, start = build_planar(settings, *choice)
        solution = integrate_impacts(
            system, times, start, FREE, contact_step=CONTACT_STEP, case=", ".join(choice[:2])
        )
        run = Run(*choice, solution).until(settings.last_flexion_deg)
        if not run.solution.contacts:
            raise InputDataError(
                "multibody.duration_s",
                f"no contact within {settings.duration_s:g} s ({choice[0]} knee, {choice[1]})",
                "a motion in which the tibia meets the femur",
                "Choose a longer duration or a stronger pulse.",
            )
        yield run
