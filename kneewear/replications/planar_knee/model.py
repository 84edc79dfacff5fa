"""Planar knee: one femoral and one tibial profile, four ligaments, impacts.

References
----------
Machado thesis, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.multibody.actions import Contact
from kneewear.multibody.system import Body, System
from kneewear.replications.planar_knee.literature import compare_planar
from kneewear.replications.planar_knee.run import Run
from kneewear.replications.planar_knee.settings import PlanarSettings
from kneewear.replications.point_contact.contact import PointContact, Profiles, polar_profile
from kneewear.replications.point_contact.impacts import integrate_impacts
from kneewear.replications.point_contact.materials import impact_law
from kneewear.replications.point_contact.scenes import moving_shapes, ribbon
from kneewear.studies.multibody.result import MultibodyResult, curves
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.laws import quadratic

Array = NDArray[np.float64]

FREE = ("tibia.x", "tibia.y", "tibia.theta_3")
# Decay of the pulse (Eq. 5.1).
DECAY = 4.73


def solve(parts: None, settings: PlanarSettings) -> MultibodyResult:
    """Motions of all laws, knees, splines and pulses, beside the numbers of the source."""
    runs = list(_runs(settings))
    usual = runs[0]
    laws, knees, splines, amplitudes = (
        _varied(runs, choice) for choice in ("law", "knee", "spline", "amplitude")
    )
    weak_and_strong = {f"{amplitude:g} N": run for amplitude, run in amplitudes.items()}
    pulses = [
        run
        for run in runs
        if (run.knee, run.spline) == (usual.knee, usual.spline) and run.law in ("hertz", "flores")
    ]
    motion = [
        *(_over_time("flexion by pulse", name, run, run.flexion, "deg")
          for name, run in weak_and_strong.items()),
        *(_row("height of the tibia by spline", name, "forward position (mm)", path[:, 0],
               "mm", path[:, 1])
          for name, run in splines.items() for path in [run.solution.motion.coordinates]),
        *(_touching("indentation by material", name, run, "depth", "mm")
          for name, run in knees.items()),
        *(_touching("indentation by law", name, run, "depth", "mm") for name, run in laws.items()),
    ]  # fmt: skip
    forces = [
        *(_loop("force, first impact, by law", name, run, run.first_impact())
          for name, run in laws.items()),
        *(_loop("force, whole motion, by law", name, run) for name, run in laws.items()),
        *(_loop("force by material", name, run) for name, run in knees.items()),
    ]  # fmt: skip
    for run in pulses:
        tensions = dict(zip(settings.ligaments, run.tension.T, strict=True))
        panel = f"ligaments, {run.law}, {run.amplitude:g} N"
        forces.append(curves(panel, "flexion (deg)", run.flexion, "N", tensions))
    return MultibodyResult(
        kinematics=pd.concat(motion, ignore_index=True),
        forces=pd.concat(forces, ignore_index=True),
        literature=compare_planar(runs, settings),
        scene=moving_shapes(
            build_planar(settings, *usual[:4])[0],
            usual.solution.motion.coordinates,
            usual.flexion,
            (ribbon(settings.femoral_profile), ribbon(settings.tibial_profile)),
            "Profiles as ribbons 20 mm wide",
        ),
    )


def _varied(runs: Sequence[Run], choice: str) -> dict[Any, Run]:
    """Runs that differ from the first one in one choice only, by that choice."""
    usual = runs[0]
    return {
        getattr(run, choice): run
        for run in runs
        if run[:4] == usual._replace(**{choice: getattr(run, choice)})[:4]
    }


def _row(panel: str, name: str, over: str, at: Array, unit: str, values: Array) -> pd.DataFrame:
    return curves(panel, over, at, unit, {name: values})


def _over_time(panel: str, name: str, run: Run, values: Array, unit: str) -> pd.DataFrame:
    return _row(panel, name, "time (s)", run.solution.motion.time, unit, values)


def _touching(panel: str, name: str, run: Run, quantity: str, unit: str) -> pd.DataFrame:
    """A quantity of contact over flexion, zero while apart."""
    values = np.maximum(run.contact(quantity), 0.0)
    return _row(panel, name, "flexion (deg)", run.flexion, unit, values)


def _loop(panel: str, name: str, run: Run, chosen: NDArray[np.bool_] | None = None) -> pd.DataFrame:
    """Force over indentation where the bodies touch."""
    touching = run.contact("depth") > 0.0
    if chosen is not None:
        touching &= chosen
    depth, force = (run.contact(quantity)[touching] for quantity in ("depth", "force"))
    return _row(panel, name, "indentation (mm)", depth, "N", force)


def build_planar(
    settings: PlanarSettings, knee: str, law: str, spline: str, amplitude: float
) -> tuple[System, Array]:
    """System of one knee, force law, spline and pulse, N, and its start (6,)."""
    tibia, ligaments = settings.tibia, settings.ligaments
    femoral, tibial = (
        polar_profile(np.radians(profile.angle_deg), profile.radius_mm, spline)
        for profile in (settings.femoral_profile, settings.tibial_profile)
    )
    # The search starts where the line from the tibia's centre of mass leaves the femur.
    toward = tibia.angle_rad - np.pi
    contact = PointContact(
        Profiles(femoral, tibial, np.array([toward, 0.0])),
        impact_law(settings.knees[knee], settings.contact_radius_mm, law),
    )
    mass = 1e-3 * tibia.mass_kg
    inertia = 1e3 * tibia.inertia_kg_m2
    pulse = settings.pulse.duration_s

    def push(time: float) -> tuple[float, float, float]:
        force = amplitude * np.exp(-DECAY * (time / pulse) ** 2) * np.sin(np.pi * time / pulse)
        return (float(force), 0.0, 0.0)

    system = System(
        "femur",
        (Body("tibia", inertia=RigidBody(mass, inertia * np.eye(3), np.zeros(3))),),
        {
            "ligaments": Bundles(
                tuple(ligaments),
                ("femur", "tibia"),
                tuple(
                    (("femur", [*one.femur_mm, 0.0]), ("tibia", [*one.tibia_mm, 0.0]))
                    for one in ligaments.values()
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


def _runs(settings: PlanarSettings) -> Iterator[Run]:
    """Motions of every law, then of every knee, spline and pulse."""
    usual = settings.reference_knee, "hertz", settings.splines[0], settings.pulse.amplitude_n
    strong = settings.pulse.strong_amplitude_n
    layered = [name for name, knee in settings.knees.items() if knee.layer is not None]
    wanted = [
        usual,
        *((usual[0], law, *usual[2:]) for law in settings.laws),
        *((knee, *usual[1:]) for knee in settings.knees),
        *(
            (knee, law, *usual[2:])
            for knee in settings.knees
            for law in ("hertz", "flores")
            if knee not in layered
        ),
        *((*usual[:2], spline, usual[3]) for spline in settings.splines),
        *((usual[0], law, usual[2], strong) for law in ("hertz", "flores")),
    ]
    times = np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s)
    for choice in dict.fromkeys(wanted):
        system, start = build_planar(settings, *choice)
        run = Run(
            *choice, integrate_impacts(system, times, start, FREE, case=", ".join(choice[:2]))
        )
        if not run.solution.contacts:
            raise InputDataError(
                "multibody.duration_s",
                f"no contact within {settings.duration_s:g} s ({choice[0]} knee, {choice[1]})",
                "a motion in which the tibia meets the femur",
                "Choose a longer duration or a stronger pulse.",
            )
        yield run
