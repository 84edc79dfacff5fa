"""Numbers of Caruntu and Hefzy (2004) on knee extension beside the computed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import computed_rows, judge_number, published_rows
from kneewear.contact.foundation import confined_modulus
from kneewear.knees.papers.knee_extension.motion import Extension, stored_energy_error
from kneewear.knees.papers.knee_extension.settings import CONTACTS, KneeExtensionSettings

Array = NDArray[np.float64]
Cases = Mapping[str, Extension]
Measure = Callable[[Extension], float]

# A motion that ends this near to full extension, deg, has reached it.
EXTENDED = 2.0
TIBIOFEMORAL, PATELLOFEMORAL = CONTACTS
CRUCIATES = {"ACL": ("AAC", "PAC"), "PCL": ("APC", "PPC")}
# Forcing function of which the source prints forces in its text alone.
BETWEEN = "300N"
# Thickness of one layer of cartilage in the source, mm.
LAYER_MM = 2.0


def compare_extension(cases: Cases, settings: KneeExtensionSettings) -> pd.DataFrame:
    """Judge the printed numbers by every forcing function, in the order of their forces.

    Forcing functions under which the knee does not reach the flexions of a number are left out.
    """
    names, first = list(cases), next(iter(cases.values()))
    rotation, velocity = coordinate_differences(first)
    layers = settings.contact("tibiofemoral").layer
    quantities = _pose() | _contact() | _ligaments() | _energy()
    values = {
        quantity: {name: measure(case) for name, case in cases.items()}
        for quantity, measure in quantities.items()
    }
    values |= {
        "difference of Eq. 2 from the rotation of the joint coordinates": {"": rotation},
        "difference of Eq. 24 from the angular velocity": {"": velocity},
        "stiffness of 2 mm of cartilage from its modulus and Poisson's ratio": {
            "": confined_modulus(layers.youngs_modulus_mpa, layers.poisson_ratio) / LAYER_MM
        },
        "rise of that flexion from the next smaller force": {
            name: _unwrapped(cases[name], "flexion_deg") - _unwrapped(cases[other], "flexion_deg")
            for other, name in pairwise(names)
        },
        "decrease of the duration from the next smaller force": {
            name: _duration(cases[other]) - _duration(cases[name])
            for other, name in pairwise(names)
        },
        **{
            f"patellofemoral force at {flexion} deg under the smallest force": {
                names[0]: at(cases[names[0]], PATELLOFEMORAL, float(flexion))
            }
            for flexion in (89, 60)
        },
        **{
            f"patellofemoral force at {flexion} deg under 300 N": {
                name: at(cases[name], PATELLOFEMORAL, float(flexion))
                for name in names
                if name == BETWEEN
            }
            for flexion in (60, 20)
        },
        "patellofemoral force at extension over that at 60 deg under the largest force": {
            names[-1]: at(cases[names[-1]], PATELLOFEMORAL, EXTENDED)
            / at(cases[names[-1]], PATELLOFEMORAL, 60.0)
        },
    }
    computed = computed_rows(values)
    reached = computed[np.isfinite(computed["computed"])]
    return judge_number(published_rows(__package__), reached, settings.aims)


def at(one: Extension, column: str, flexion: float) -> float:
    """A curve at a flexion, deg; NaN where the motion does not reach it."""
    table = one.table.sort_values("flexion_deg")
    where = table["flexion_deg"].to_numpy()
    return float(np.interp(flexion, where, table[column], left=np.nan, right=np.nan))


def value_span(one: Extension, high: float, low: float) -> pd.DataFrame:
    """Rows between two flexions, deg; empty where the motion ends before the lower one."""
    flexion = one.table["flexion_deg"]
    reaches = float(flexion.min()) <= low + EXTENDED
    return one.table[(flexion <= high) & (flexion >= low) & reaches]


def share(larger: str, smaller: str, high: float = 90.0, low: float = EXTENDED) -> Measure:
    """Part of the flexion between two angles, deg, at which one column exceeds another.

    Not of the output times, of which a slow leg has more near the start.
    """

    def measure(one: Extension) -> float:
        rows = value_span(one, high, low)
        if len(rows) < 2:
            return np.nan
        step = np.abs(np.diff(rows["flexion_deg"]))
        # What is lacking is summed, so that nothing is lacking exactly where all rows exceed.
        lacks = (rows[larger] <= rows[smaller]).to_numpy(dtype=float)
        return 1.0 - float(step @ (lacks[1:] + lacks[:-1]) / (2.0 * step.sum()))

    return measure


def crossing_flexion(before: str, after: str) -> Measure:
    """Flexion, deg, at which one column last passes another on the way to extension."""

    def measure(one: Extension) -> float:
        difference = (one.table[after] - one.table[before]).to_numpy()
        passes = np.flatnonzero((difference[:-1] <= 0.0) & (difference[1:] > 0.0))
        if not passes.size:
            return np.nan
        at = int(passes[-1])
        part = difference[at] / (difference[at] - difference[at + 1])
        low, high = one.table["flexion_deg"].iloc[[at, at + 1]]
        return float(low + part * (high - low))

    return measure


def largest(column: str, high: float, low: float) -> Measure:
    """Largest value of a column between two flexions."""
    return lambda one: float(value_span(one, high, low)[column].max())


def ratio(column: str, other: str, flexion: float) -> Measure:
    """One column over another at a flexion."""
    return lambda one: at(one, column, flexion) / at(one, other, flexion)


def change(column: str, sign: float) -> Measure:
    """Change of a column from the first flexion to extension, times a sign."""
    return lambda one: sign * (at(one, column, EXTENDED) - at(one, column, _first_flexion(one)))


def peak_flexion(column: str) -> Measure:
    """Flexion at which a column is largest; NaN where the motion ends before extension."""

    def measure(one: Extension) -> float:
        flexion = one.table["flexion_deg"]
        reaches = float(flexion.min()) <= EXTENDED
        return float(flexion.iloc[int(one.table[column].argmax())]) if reaches else np.nan

    return measure


def least_ratio(over: str, under: str, high: float, low: float) -> Measure:
    """Least ratio of the forces of two ligaments, the lower one 1 N at least, over flexions."""

    def measure(one: Extension) -> float:
        rows = one.table[one.table["flexion_deg"].between(low - 1e-6, high)]
        larger, smaller = (rows[list(CRUCIATES[name])].sum(axis=1) for name in (over, under))
        return float((larger / np.maximum(smaller, 1.0)).min()) if len(rows) else np.nan

    return measure


def _pose() -> dict[str, Measure]:
    return {
        "patellar ligament over quadriceps force at the start": lambda one: (
            _start("patellar ligament")(one) / _start("quadriceps")(one)
        ),
        "flexion at which the quadriceps leave the femur": lambda one: _unwrapped(
            one, "flexion_deg"
        ),
        "patellar flexion at which the quadriceps leave the femur": lambda one: _unwrapped(
            one, "patella flexion"
        ),
        "patellar flexion at the start": _start("patella flexion"),
        # With the axes of the data, which are not parallel in extension as the source's are.
        "patellar flexion at the start before its zero is moved": _unmoved,
        "varus at the start": _start("tibia adduction"),
        "internal rotation of the tibia at the start": _start("tibia rotation"),
        "quadriceps force at the start": _start("quadriceps"),
        "last flexion": lambda one: float(one.table["flexion_deg"].min()),
        "external rotation of the tibia to extension": change("tibia rotation", -1.0),
        "valgus rotation to extension": change("tibia adduction", -1.0),
        "range of varus from 90 to 55 deg": lambda one: float(
            value_span(one, 90.0, 55.0)["tibia adduction"].pipe(
                lambda rows: rows.max() - rows.min()
            )
        ),
        "share of the flexion with less flexion of the patella than of the tibia": share(
            "flexion_deg", "patella flexion"
        ),
    }


def _contact() -> dict[str, Measure]:
    medial, lateral = (
        {name: f"{side} {name}" for name in (TIBIOFEMORAL, PATELLOFEMORAL)}
        for side in ("medial", "lateral")
    )
    return {
        "share of the flexion with a larger medial tibiofemoral force": share(
            medial[TIBIOFEMORAL], lateral[TIBIOFEMORAL]
        ),
        "medial tibiofemoral force at extension over that at 30 deg": lambda one: (
            at(one, medial[TIBIOFEMORAL], EXTENDED) / at(one, medial[TIBIOFEMORAL], 30.0)
        ),
        "share of the flexion with a larger lateral patellofemoral force": share(
            lateral[PATELLOFEMORAL], medial[PATELLOFEMORAL]
        ),
        "flexion of the largest medial patellofemoral force": peak_flexion(medial[PATELLOFEMORAL]),
        "flexion of the largest lateral patellofemoral force": peak_flexion(
            lateral[PATELLOFEMORAL]
        ),
        "patellofemoral over quadriceps force at 80 deg": ratio(PATELLOFEMORAL, "quadriceps", 80.0),
        "patellofemoral over quadriceps force at extension": ratio(
            PATELLOFEMORAL, "quadriceps", EXTENDED
        ),
        "posterior shift of the medial tibiofemoral contact": change(
            f"{medial[TIBIOFEMORAL]} x", -1.0
        ),
        "anterior shift of the lateral tibiofemoral contact": change(
            f"{lateral[TIBIOFEMORAL]} x", 1.0
        ),
        "proximal shift of the patellofemoral contact on the femur": change(
            f"{lateral[PATELLOFEMORAL]} femur y", 1.0
        ),
        "distal shift of the patellofemoral contact on the patella": change(
            f"{lateral[PATELLOFEMORAL]} y", -1.0
        ),
    }


def _ligaments() -> dict[str, Measure]:
    slack = (("PAC", 90, 60), ("PPC", 90, 30), ("APC", 3, 1))
    return {
        "share of the flexion from 85 to 40 deg with more tension in APC than in PPC": share(
            "APC", "PPC", 85.0, 40.0
        ),
        **{
            f"largest tension of {fibre} from {high} to {low} deg": largest(
                fibre, float(high), float(low)
            )
            for fibre, high, low in slack
        },
        **{
            f"flexion of the largest tension of {fibre}": peak_flexion(fibre)
            for fibres in CRUCIATES.values()
            for fibre in fibres
        },
        "flexion at which the tension in PAC passes the one in AAC": crossing_flexion("AAC", "PAC"),
        "ACL force at extension over the largest PCL force": _cruciate_ratio,
        "least PCL over ACL force from 90 to 75 deg": least_ratio("PCL", "ACL", 90.0, 75.0),
        "least ACL over PCL force at extension": least_ratio("ACL", "PCL", EXTENDED, 0.0),
    }


def _cruciate_ratio(one: Extension) -> float:
    acl = sum(at(one, fibre, EXTENDED) for fibre in CRUCIATES["ACL"])
    pcl = float(one.table[list(CRUCIATES["PCL"])].sum(axis=1).max())
    return acl / max(pcl, 1.0)  # 1 N at least


def _energy() -> dict[str, Measure]:
    return {
        "energy error over the largest kinetic energy": lambda one: one.motion.energy_error,
        "energy error over the work of the quadriceps": stored_energy_error,
        "unbalanced force over the largest at the start": _unbalanced,
    }


def _unbalanced(one: Extension) -> float:
    forces = one.system.forces(one.motion.coordinates[0])
    free = np.setdiff1d(np.arange(12), one.system.coordinate("tibia.theta_1"))
    return forces.residual(free)


def _start(column: str) -> Measure:
    return lambda one: float(one.table[column].iloc[0])


def _unmoved(one: Extension) -> float:
    return _start("patella flexion")(one) + one.patella_zero


def _unwrapped(one: Extension, column: str) -> float:
    return np.nan if one.unwrapped is None else float(one.unwrapped[column])


def _first_flexion(one: Extension) -> float:
    return float(one.table["flexion_deg"].iloc[0])


def _duration(one: Extension) -> float:
    """Time to full extension, s; NaN where the motion ends before it."""
    reaches = float(one.table["flexion_deg"].min()) <= EXTENDED
    return float(one.table["time_s"].iloc[-1]) if reaches else np.nan


def coordinate_differences(one: Extension) -> tuple[float, float]:
    """Largest difference of Eq. 2 from the rotations, and of Eq. 24 from the angular velocity.

    The axes of the source are x lateral, y anterior, z proximal. Its angles are flexion,
    pi/2 - adduction and, as Eq. 2 has it for a right knee, external rotation.
    """
    swap = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    rotation = velocity = 0.0
    for place, rates in zip(one.motion.coordinates, one.motion.rates, strict=True):
        poses = one.system.poses(place, rates)
        for body in (1, 2):
            turns = slice(6 * body - 3, 6 * body)
            angle = place[turns] * (1.0, -1.0, -1.0) + (0.0, np.pi / 2.0, 0.0)
            rate = rates[turns] * (1.0, -1.0, -1.0)
            source = source_rotation(angle)
            gap = np.abs(source - swap @ poses.rotation[body] @ swap.T).max()
            true = source.T @ swap @ poses.velocity[body, 3:]
            rotation = max(rotation, float(gap))
            velocity = max(velocity, float(np.abs(source_rates(angle, rate) - true).max()))
    return rotation, velocity


def source_rotation(angle: Array) -> Array:
    """Eq. 2 of the source, from its three angles, rad."""
    (s1, s2, s3), (c1, c2, c3) = np.sin(angle), np.cos(angle)
    return np.array(
        [
            [s2 * c3, s2 * s3, c2],
            [-c1 * s3 - s1 * c2 * c3, c1 * c3 - s1 * c2 * s3, s1 * s2],
            [s1 * s3 - c1 * c2 * c3, -s1 * c3 - c1 * c2 * s3, c1 * s2],
        ]
    )


def source_rates(angle: Array, rate: Array) -> Array:
    """Eq. 24 of the source: minus R' d(U a)/dt, with U of Eq. 26, by a central difference."""
    step = 1e-6

    def vector(angle: Array) -> Array:
        (s1, s2, _), (c1, c2, _) = np.sin(angle), np.cos(angle)
        matrix = np.array([[1.0, 0.0, c2], [0.0, c1, s1 * s2], [0.0, -s1, c1 * s2]])
        return matrix @ angle

    change = (vector(angle + step * rate) - vector(angle - step * rate)) / (2.0 * step)
    return -source_rotation(angle).T @ change
