"""Numbers of Machado's planar knee beside the computed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from kneewear.analysis.literature import computed_rows, judge_number, published_rows
from kneewear.knees.contact.impact_laws import FACTORS, hysteresis_factor
from kneewear.knees.papers.planar_knee.panels import PROFILES
from kneewear.knees.papers.planar_knee.run import Run
from kneewear.knees.papers.planar_knee.settings import PlanarSettings
from kneewear.knees.papers.point_contact.materials import impact_law

# Laws in the order of the areas of their loops, from the smallest, and three that are similar.
RISING = ("lee_wang", "lankarani_nikravesh", "hunt_crossley", "herbert_mcwhannell", "flores")
SIMILAR = ("gonthier", "zhiying_qishao", "flores")
DISEASED = ("90OA", "90OA-OP", "100OA-OP")
CONVEX = "convex"
CONCAVE = "concave"
CRUCIATES = ("ACL", "PCL")
COLLATERALS = ("MCL", "LCL")
N_PER_M = 1000.0**1.5

Values = dict[str, float | dict[str, float]]
# Motion of some choices, the usual ones where they are not given; None if it was not computed.
Choose = Callable[..., Run | None]


def compare_planar(runs: Sequence[Run], settings: PlanarSettings) -> pd.DataFrame:
    """Judge the printed numbers by the motions of all choices; the first has the usual ones."""

    def choose(**choices: Any) -> Run | None:
        wanted = runs[0]._replace(**choices).choice
        return next((run for run in runs if run.choice == wanted), None)

    computed: Values = {
        "energy error over the largest kinetic energy": max(
            run.solution.motion.energy_error for run in runs
        ),
        **_motion(runs[0], choose, settings),
        **_factors(settings),
        **_laws(choose),
        **_knees(choose, settings),
        **_pulses(choose, settings),
        **_shapes(choose, settings),
    }
    return judge_number(published_rows(__package__), computed_rows(computed), settings.aims)


def _motion(usual: Run, choose: Choose, settings: PlanarSettings) -> Values:
    law = impact_law(settings.knees[settings.reference_knee], settings.contact_radius_mm, "hertz")
    contacts = usual.solution.contacts
    begin = [90.0 - np.degrees(contact.begin_coordinates[5]) for contact in contacts]
    splines = [run for spline in settings.splines if (run := choose(spline=spline)) is not None]
    return {
        "largest ligament tension at the start": float(usual.tension[0].max()),
        "flexion at the start": float(usual.flexion[0]),
        "stiffness of the sphere of 30.4 mm on a plane": law.stiffness * N_PER_M,
        "flexion at the start of the first contact": float(begin[0]),
        "flexion at the end of the first contact": float(
            90.0 - np.degrees(contacts[0].end_coordinates[5])
        ),
        "largest indentation of the first contact": float(
            usual.contact("depth")[usual.first_impact()].max()
        ),
        "number of contacts": len(contacts),
        "number of contacts that end": sum(bool(np.isfinite(one.end)) for one in contacts),
        "flexion from which contact is continuous": float(begin[-1]),
        "lowest flexion": {
            knee: float(run.flexion.min())
            for knee in settings.knees
            if (run := choose(knee=knee)) is not None
        },
        "distance of the tibia's path with another spline": max(
            path_distance(run, splines[0]) for run in splines
        ),
    }


def path_distance(one: Run, other: Run) -> float:
    """Largest distance of two paths of the tibia, mm, at the output times that both have.

    A motion may end before another one, and contacts that begin at other times add output times.
    """
    path, beside = one.solution.motion, other.solution.motion
    _, at, there = np.intersect1d(path.time, beside.time, return_indices=True)
    first, second = path.coordinates[at, :2], beside.coordinates[there, :2]
    return float(np.linalg.norm(first - second, axis=1).max())


def _factors(settings: PlanarSettings) -> Values:
    """Damping factors of all laws at the restitution of the reference knee."""
    restitution = settings.knees[settings.reference_knee].restitution
    return {f"damping factor of {law}": hysteresis_factor(law, restitution) for law in FACTORS}


def _laws(choose: Choose) -> Values:
    runs = {law: run for law in FACTORS if (run := choose(law=law)) is not None}
    if len(runs) < len(FACTORS):
        return {}
    area = {law: run.loop_area() for law, run in runs.items()}
    depth = {law: float(run.contact("depth").max()) for law, run in runs.items()}
    similar = [area[law] for law in SIMILAR]
    return {
        "area of the first loop over that of the preceding law": {
            law: area[law] / area[before] for before, law in pairwise(RISING)
        },
        "largest over smallest loop area: Gonthier, Zhiying and Qishao, Flores": max(similar)
        / min(similar),
        "area of the first loop under Hertz over that under Flores": area["hertz"] / area["flores"],
        "largest indentation of other laws over that under Hertz": max(
            depth[law] / depth["hertz"] for law in depth if law != "hertz"
        ),
        "number of laws whose first contact ends": sum(
            bool(np.isfinite(run.solution.contacts[0].end)) for run in runs.values()
        ),
    }


def _knees(choose: Choose, settings: PlanarSettings) -> Values:
    runs = {knee: run for knee in settings.knees if (run := choose(knee=knee)) is not None}
    if not {"healthy", "artificial", *DISEASED} <= set(runs):
        return {}
    depth, force = (
        {knee: float(run.contact(name).max()) for knee, run in runs.items()}
        for name in ("depth", "force")
    )
    others = [knee for knee in runs if knee != "healthy"]
    law = {
        knee: impact_law(settings.knees[knee], settings.contact_radius_mm, "hertz")
        for knee in ("healthy", "90OA", "90OA-OP")
    }
    shallow = [
        abs(law["90OA"].force(x, 0.0, 1.0) - law["healthy"].force(x, 0.0, 1.0))
        for x in np.linspace(0.0, 0.415, 20)
    ]
    deep = {knee: one.force(0.5, 0.0, 1.0) for knee, one in law.items()}
    change = {
        knee: 1.0 - float(run.contact("depth").max()) / depth[knee]
        for knee in ("healthy", "artificial", "100OA-OP")
        if (run := choose(knee=knee, law="flores")) is not None
    }
    return {
        "largest indentation over that of the healthy knee": {
            knee: depth[knee] / depth["healthy"] for knee in others
        },
        "largest force over that of the healthy knee": {
            knee: force[knee] / force["healthy"] for knee in others
        },
        "force of the artificial knee over the smallest of diseased ones": force["artificial"]
        / min(force[knee] for knee in DISEASED),
        "difference from the force of the healthy knee up to 0.415 mm": max(shallow),
        "force of 90OA over that of the healthy knee at 0.5 mm": deep["90OA"] / deep["healthy"],
        "force of 90OA over that of 90OA-OP at 0.5 mm": deep["90OA"] / deep["90OA-OP"],
        "change of the indentation from Hertz to Flores: artificial knee over the smallest of "
        "others": change["artificial"]
        / min(change[knee] for knee in change if knee != "artificial"),
    }


def _pulses(choose: Choose, settings: PlanarSettings) -> Values:
    strong = settings.pulse.strong_amplitude_n
    pairs = {
        law: (weak, hard)
        for law in ("hertz", "flores")
        if (weak := choose(law=law)) and (hard := choose(law=law, amplitude=strong))
    }
    if len(pairs) < 2:
        return {}
    rise = {
        law: float(hard.contact("force").max() / weak.contact("force").max())
        for law, (weak, hard) in pairs.items()
    }
    weak, hard = pairs["flores"]
    values: Values = {
        "ratio of peak forces at 150 and 50 N: Hertz over Flores": rise["hertz"] / rise["flores"],
        "area of the first loop under Flores: 150 over 50 N": hard.loop_area() / weak.loop_area(),
    }
    names = list(settings.ligaments)
    if not {*CRUCIATES, *COLLATERALS} <= set(names):
        return values
    peaks = {
        law: [dict(zip(names, run.tension.max(axis=0), strict=True)) for run in pair]
        for law, pair in pairs.items()
    }
    return values | {
        "largest tension of collateral over cruciate ligaments": {
            law: max(weak[name] for name in COLLATERALS) / min(weak[name] for name in CRUCIATES)
            for law, (weak, _) in peaks.items()
        },
        "smallest ratio of ligament tensions at 150 and 50 N": {
            law: min(hard[name] / weak[name] for name in names)
            for law, (weak, hard) in peaks.items()
        },
    }


def _shapes(choose: Choose, settings: PlanarSettings) -> Values:
    runs = {shape: run for shape in (CONVEX, CONCAVE) if (run := choose(shape=shape)) is not None}
    plane = choose(shape=PROFILES)
    if len(runs) < len((CONVEX, CONCAVE)) or plane is None:
        return {}
    return _stiffnesses(settings) | {
        "largest force of a sphere in a cup over that of other shapes": {
            shape: float(runs[CONCAVE].contact("force").max() / run.contact("force").max())
            for shape, run in {CONVEX: runs[CONVEX], "plane": plane}.items()
        },
        "largest indentation of a sphere in a cup over that of other shapes": {
            shape: float(runs[CONCAVE].contact("depth").max() / run.contact("depth").max())
            for shape, run in {CONVEX: runs[CONVEX], "plane": plane}.items()
        },
    }


def _stiffnesses(settings: PlanarSettings) -> Values:
    """Stiffnesses of the pairs of spheres, by their own radii and by those of the other pair."""
    material = settings.knees[settings.reference_knee]
    convex, cup = (settings.sphere_pairs[shape] for shape in (CONVEX, CONCAVE))

    def stiffness(femur_mm: float, tibia_mm: float) -> float:
        return impact_law(material, femur_mm, "hertz", tibia_mm).stiffness * N_PER_M

    return {
        "stiffness of a sphere on a sphere": stiffness(
            convex.femur_radius_mm, convex.tibia_radius_mm
        ),
        "stiffness of a sphere in a cup": stiffness(cup.femur_radius_mm, cup.tibia_radius_mm),
        "stiffness of a sphere on a sphere by the radii of sphere and cup": stiffness(
            cup.femur_radius_mm, -cup.tibia_radius_mm
        ),
        "stiffness of a sphere in a cup by the radii of both spheres": stiffness(
            convex.femur_radius_mm, -convex.tibia_radius_mm
        ),
    }
