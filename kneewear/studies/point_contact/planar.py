"""Planar knee: one femoral and one tibial profile, four ligaments, impacts.

References
----------
Machado thesis, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.impact import (
    FACTORS,
    contact_modulus,
    effective_radius,
    hertz_stiffness,
    hysteresis_factor,
)
from kneewear.errors import InputDataError
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.multibody.actions import Contact
from kneewear.multibody.impacts import ImpactMotion, integrate_impacts
from kneewear.multibody.point_contact import (
    ImpactLaw,
    PointContact,
    Profiles,
    polar_profile,
)
from kneewear.multibody.system import Body, System
from kneewear.reference.impact import delivered_restitution
from kneewear.settings.point_contact import ElasticSettings, PlanarSettings, PointContactSettings
from kneewear.studies.multibody.result import OWN_CHECK, MultibodyResult, curves, statements
from kneewear.studies.point_contact.results import Statement, energy_balance, stated
from kneewear.studies.point_contact.scenes import moving_shapes, ribbon
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.laws import quadratic

Array = NDArray[np.float64]

FREE = ("tibia.x", "tibia.y", "tibia.theta_3")
# Decay of the pulse (Eq. 5.1).
DECAY = 4.73
# Coefficients of restitution of cartilage and of the artificial knee (Table 5.5).
RESTITUTIONS = (0.616, 0.79)
# What they deliver (roots of the phase plane's equation, found independently).
DELIVERED = {
    "hertz": (1.0, 1.0),
    "hunt_crossley": (0.7204, 0.8259),
    "herbert_mcwhannell": (0.6616, 0.7981),
    "lee_wang": (0.8385, 0.9049),
    "lankarani_nikravesh": (0.7619, 0.8414),
    "gonthier": (0.5918, 0.7578),
    "zhiying_qishao": (0.5928, 0.7765),
    "flores": (0.5943, 0.7780),
}


class Run(NamedTuple):
    """A motion: its varied choices, and what was found."""

    knee: str
    law: str
    spline: str
    amplitude: float
    found: ImpactMotion

    @property
    def flexion(self) -> Array:
        """Flexion, deg."""
        return 90.0 - np.degrees(self.found.motion.coordinates[:, 5])

    def contact(self, quantity: str) -> Array:
        """Overlap `depth`, mm, its `rate`, mm/s, or `force`, N, at all times."""
        return np.array([getattr(part["contact"], quantity) for part in self.found.motion.parts])

    @property
    def tension(self) -> Array:
        """Tension of the ligaments (n_times, n_ligaments), N."""
        return np.array([part["ligaments"].tension for part in self.found.motion.parts])

    def first_impact(self) -> NDArray[np.bool_]:
        """Times within the first contact."""
        first = self.found.contacts[0]
        time = self.found.motion.time
        return (time >= first.begin) & (time <= first.end)

    def loop_area(self) -> float:
        """Work that the first contact did not give back, N mm."""
        within = self.first_impact()
        # Ends of the contact are between the output times.
        depth, force = (np.pad(self.contact(name)[within], 1) for name in ("depth", "force"))
        return float(np.trapezoid(force, depth))


def solve_planar(parts: None, settings: PlanarSettings) -> MultibodyResult:
    """Motions of all laws, knees, splines and pulses, and the statements of the source."""
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
          for name, run in splines.items() for path in [run.found.motion.coordinates]),
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
        statements=statements(
            [
                *_statements(runs, settings),
                *_restitution_statements(),
                energy_balance(max(run.found.motion.energy_error for run in runs)),
            ]
        ),
        scene=moving_shapes(
            build_planar(settings, *usual[:4])[0],
            usual.found.motion.coordinates,
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
    return _row(panel, name, "time (s)", run.found.motion.time, unit, values)


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


def impact_law(
    contact: PointContactSettings, radius: float, law: str, other: float = np.inf
) -> ImpactLaw:
    """Force law of spheres of given radii, mm, with the layer of a knee if it has one.

    A first layer lies between equal surfaces of its own material.
    """
    size = effective_radius(radius, other)
    base = hertz_stiffness(size, _modulus(contact.femur, contact.tibia))
    if contact.layer is None or contact.layer_thickness_mm is None:
        return ImpactLaw(base, hysteresis_factor(law, contact.restitution))
    layer = hertz_stiffness(size, _modulus(contact.layer, contact.layer))
    factor = hysteresis_factor(law, contact.restitution)
    return ImpactLaw(layer, factor, contact.layer_thickness_mm, base)


def _modulus(one: ElasticSettings, other: ElasticSettings) -> float:
    return contact_modulus(
        one.youngs_modulus_mpa, one.poisson_ratio, other.youngs_modulus_mpa, other.poisson_ratio
    )


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
        if not run.found.contacts:
            raise InputDataError(
                "multibody.duration_s",
                f"no contact within {settings.duration_s:g} s ({choice[0]} knee, {choice[1]})",
                "a motion in which the tibia meets the femur",
                "Choose a longer duration or a stronger pulse.",
            )
        yield run


def _restitution_statements() -> Iterator[Statement]:
    """Restitution that each law delivers in a free impact, to four digits."""
    for law in FACTORS:
        for wanted, delivered in zip(RESTITUTIONS, DELIVERED[law], strict=True):
            found = delivered_restitution(hysteresis_factor(law, wanted))
            yield Statement(
                f"{_in_words(law)}: restitution delivered in a free impact at {wanted}",
                f"{found:.4f}", "", f"{delivered:.4f}", abs(found - delivered) < 6e-5,
                f"{OWN_CHECK}: phase plane of the laws of Table 5.4",
            )  # fmt: skip


def _in_words(law: str) -> str:
    """Name of a force law as statements show it."""
    return law.replace("_", " ")


def _statements(runs: Sequence[Run], settings: PlanarSettings) -> list[Statement]:
    """Statements of the source, with the number found here."""
    return [*_motion_statements(runs, settings), *_law_statements(runs, settings),
            *_knee_statements(runs, settings), *_pulse_statements(runs, settings)]  # fmt: skip


def _chosen(
    runs: Sequence[Run], settings: PlanarSettings, *, knee: str = "", law: str = "hertz",
    spline: str = "", amplitude: float = 0.0,
) -> Run | None:  # fmt: skip
    """The run of some choices, the usual ones where they are not given."""
    wanted = (
        knee or settings.reference_knee,
        law,
        spline or settings.splines[0],
        amplitude or settings.pulse.amplitude_n,
    )
    return next((run for run in runs if run[:4] == wanted), None)


def _motion_statements(runs: Sequence[Run], settings: PlanarSettings) -> Iterator[Statement]:
    usual = _chosen(runs, settings)
    if usual is None:
        return
    first = usual.found.motion.parts[0]["ligaments"]
    yield stated(
        "All ligaments are slack at the start", "Tables 5.1, 5.2",
        "0 N (lengths within 0.05 mm of slack)", f"{first.tension.max():.3f} N",
        bool(first.tension.max() < 0.1),
    )  # fmt: skip
    yield stated(
        "Flexion at the start", "Table 5.1", "54.79 deg", f"{usual.flexion[0]:.2f} deg",
        bool(abs(usual.flexion[0] - 54.79) < 0.005),
    )  # fmt: skip
    yield stated(
        "Stiffness of the sphere of 30.4 mm on a plane, cartilage on both", "section 5.2",
        "3260513 N/m^1.5",
        f"{_si_stiffness(settings):.0f} N/m^1.5", bool(abs(_si_stiffness(settings) - 3260513) < 1),
    )  # fmt: skip
    contacts = usual.found.contacts
    angles = [90.0 - np.degrees(one.begin_coordinates[5]) for one in contacts]
    end = 90.0 - np.degrees(contacts[0].end_coordinates[5])
    yield stated(
        "First contact", "Figure 5.17", "27.5 to 22.5 deg, each within 2 deg",
        f"{angles[0]:.1f} to {end:.1f} deg",
        bool(abs(angles[0] - 27.5) < 2.0 and abs(end - 22.5) < 2.0), chosen=True,
    )  # fmt: skip
    lasting = len(contacts) == 2 and not np.isfinite(contacts[1].end)
    yield stated(
        "Contact is continuous from the second impact on", "section 5.2", "2 contacts",
        f"{len(contacts)} contacts", lasting,
    )  # fmt: skip
    yield stated(
        "Flexion from which contact is continuous", "section 5.2", "26 deg, within 2 deg",
        f"{angles[-1]:.1f} deg", bool(abs(angles[-1] - 26.0) < 2.0),
    )  # fmt: skip
    yield stated(
        "Hyperextension that is reached", "section 5.1", "-5 deg",
        f"{usual.flexion.min():.1f} deg", bool(abs(usual.flexion.min() + 5.0) < 0.5),
        chosen=True,
    )  # fmt: skip
    splines = [_chosen(runs, settings, spline=one) for one in settings.splines]
    paths = [run.found.motion.coordinates[:, :2] for run in splines if run is not None]
    apart = max(float(np.linalg.norm(path - paths[0], axis=1).max()) for path in paths)
    yield stated(
        "The type of spline has no significant influence on the motion", "section 5.2",
        "centre of mass within 1 mm", f"{apart:.2f} mm", apart < 1.0,
    )  # fmt: skip


def _si_stiffness(settings: PlanarSettings) -> float:
    """Stiffness of the reference knee, N/m^1.5."""
    law = impact_law(settings.knees[settings.reference_knee], settings.contact_radius_mm, "hertz")
    return law.stiffness * 1000.0**1.5


def _law_statements(runs: Sequence[Run], settings: PlanarSettings) -> Iterator[Statement]:
    by_law = {law: _chosen(runs, settings, law=law) for law in settings.laws}
    found = {law: run for law, run in by_law.items() if run is not None}
    if len(found) < len(FACTORS):
        return
    area: dict[str, float] = {law: run.loop_area() for law, run in found.items()}
    depth: dict[str, float] = {law: run.contact("depth").max() for law, run in found.items()}
    shown = ", ".join(f"{_in_words(law)} {value:.3f}" for law, value in area.items())
    rising = ("lee_wang", "lankarani_nikravesh", "hunt_crossley", "herbert_mcwhannell", "flores")
    yield stated(
        "Areas of the loops rise: " + ", ".join(map(_in_words, rising)), "Figure 5.15", "ascending",
        f"{shown} N mm", bool(np.all(np.diff([area[law] for law in rising]) > 0.0)),
    )  # fmt: skip
    close = [area[law] for law in ("gonthier", "zhiying_qishao", "flores")]
    yield stated(
        "Gonthier, Zhiying and Qishao, and Flores are similar", "section 5.4",
        "areas within 5 %", f"{100.0 * (max(close) / min(close) - 1.0):.1f} %",
        max(close) < 1.05 * min(close),
    )  # fmt: skip
    yield stated(
        "Hertz has no loop", "section 5.4", "0 N mm", f"{area['hertz']:.2f} N mm",
        abs(area["hertz"]) < 0.01 * area["flores"],
    )  # fmt: skip
    yield stated(
        "Hertz has the largest indentation", "section 5.4", "hertz",
        f"hertz {depth['hertz']:.3f} mm, others up to "
        f"{max(value for law, value in depth.items() if law != 'hertz'):.3f} mm",
        max(depth, key=lambda law: depth[law]) == "hertz",
    )  # fmt: skip
    ended = [_in_words(law) for law, run in found.items() if np.isfinite(run.found.contacts[0].end)]
    yield stated(
        "Loops of the first impact are closed", "Figure 5.15", "all laws",
        f"{len(ended)} of {len(found)}: {', '.join(ended) or 'none'}", len(ended) == len(found),
        chosen=True,
    )  # fmt: skip


def _knee_statements(runs: Sequence[Run], settings: PlanarSettings) -> Iterator[Statement]:
    found = {knee: _chosen(runs, settings, knee=knee) for knee in settings.knees}
    knees = {knee: run for knee, run in found.items() if run is not None}
    if not {"healthy", "artificial", "90OA", "90OA-OP", "100OA-OP"} <= set(knees):
        return
    depth = {knee: run.contact("depth").max() for knee, run in knees.items()}
    force = {knee: float(run.contact("force").max()) for knee, run in knees.items()}
    yield stated(
        "The healthy knee has the largest indentation", "section 5.5", "healthy",
        ", ".join(f"{knee} {value:.3f}" for knee, value in depth.items()) + " mm",
        max(depth, key=lambda knee: depth[knee]) == "healthy",
    )  # fmt: skip
    yield stated(
        "The healthy knee has the lowest force", "section 5.5, Figure 5.18", "healthy",
        ", ".join(f"{knee} {value:.0f}" for knee, value in force.items()) + " N",
        min(force, key=lambda knee: force[knee]) == "healthy",
    )  # fmt: skip
    ill = [force[knee] for knee in ("90OA", "90OA-OP", "100OA-OP")]
    yield stated(
        "The artificial knee has lower forces than diseased ones", "section 5.5",
        "below all three", f"{force['artificial']:.0f} against {min(ill):.0f} N",
        force["artificial"] < min(ill),
    )  # fmt: skip
    laws = {
        knee: impact_law(settings.knees[knee], settings.contact_radius_mm, "hertz")
        for knee in ("healthy", "90OA", "90OA-OP")
    }
    within = np.linspace(0.0, 0.415, 20)
    same = all(
        laws["90OA"].force(x, 0.0, 1.0) == laws["healthy"].force(x, 0.0, 1.0) for x in within
    )
    beyond = [law.force(0.5, 0.0, 1.0) for law in laws.values()]
    yield stated(
        "90OA is as the healthy knee up to 0.415 mm and stiffer beyond", "Eq. 5.33",
        "equal, then larger", f"at 0.5 mm {beyond[1]:.0f} against {beyond[0]:.0f} N",
        bool(same and beyond[1] > beyond[0]),
    )  # fmt: skip
    yield stated(
        "90OA has higher forces than 90OA with osteoporosis at the same indentation",
        "section 5.5", "larger", f"at 0.5 mm {beyond[1]:.0f} against {beyond[2]:.0f} N",
        beyond[1] >= beyond[2],
    )  # fmt: skip
    change = {}
    for knee in ("healthy", "artificial", "100OA-OP"):
        lossy, usual = _chosen(runs, settings, knee=knee, law="flores"), knees[knee]
        if lossy is not None:
            change[knee] = 1.0 - float(lossy.contact("depth").max() / usual.contact("depth").max())
    yield stated(
        "The law matters least in the artificial knee", "section 5.5",
        "smallest change of the indentation from Hertz to Flores",
        ", ".join(f"{knee} {100.0 * value:.1f} %" for knee, value in change.items()),
        min(change, key=lambda knee: change[knee]) == "artificial",
    )  # fmt: skip


def _pulse_statements(runs: Sequence[Run], settings: PlanarSettings) -> Iterator[Statement]:
    strong = settings.pulse.strong_amplitude_n
    pairs = {
        law: (_chosen(runs, settings, law=law), _chosen(runs, settings, law=law, amplitude=strong))
        for law in ("hertz", "flores")
    }
    rise = {}
    for law, (weak, hard) in pairs.items():
        if weak is None or hard is None:
            return
        rise[law] = float(hard.contact("force").max() / weak.contact("force").max())
    yield stated(
        "150 N change the response under Hertz more than under Flores", "section 5.6",
        "larger ratio of peak forces", f"hertz {rise['hertz']:.2f}, flores {rise['flores']:.2f}",
        rise["hertz"] > rise["flores"],
    )  # fmt: skip
    weak, hard = pairs["flores"]
    assert weak is not None and hard is not None
    ratio = hard.loop_area() / weak.loop_area()
    yield stated(
        "The first loop under Flores is about 844 times larger at 150 N", "section 5.6",
        "844",
        f"{ratio:.2f}", bool(0.9 < ratio / 844.0 < 1.1),
    )  # fmt: skip
    names = list(settings.ligaments)
    if not {"ACL", "PCL", "MCL", "LCL"} <= set(names):
        return
    for law, (weak, hard) in pairs.items():
        assert weak is not None and hard is not None
        peak = dict(zip(names, weak.tension.max(axis=0), strict=True))
        yield stated(
            f"Collaterals pull less than cruciates ({law}, 50 N)", "Figure 5.22",
            "collateral below cruciate", ", ".join(f"{n} {v:.0f}" for n, v in peak.items()) + " N",
            bool(max(peak["MCL"], peak["LCL"]) < min(peak["ACL"], peak["PCL"])),
        )  # fmt: skip
        more = dict(zip(names, hard.tension.max(axis=0), strict=True))
        yield stated(
            f"150 N raise the forces of the ligaments ({law})", "Figures 5.22, 5.23",
            "all larger", ", ".join(f"{n} {v:.0f}" for n, v in more.items()) + " N",
            bool(all(more[name] > peak[name] for name in names)),
        )  # fmt: skip
