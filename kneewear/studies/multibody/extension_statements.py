"""What Caruntu and Hefzy (2004) state about knee extension, beside the numbers found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.foundation import confined_modulus
from kneewear.multibody.system import System
from kneewear.settings.multibody import KneeExtensionSettings
from kneewear.studies.multibody.extension_motion import (
    TOLERANCE,
    Extension,
    stored_energy_error,
)
from kneewear.studies.multibody.result import OWN_CHECK
from kneewear.studies.point_contact.results import Statement, energy_balance, stated

Array = NDArray[np.float64]
Cases = Mapping[str, Extension]

RESULTS, DISCUSSION = "Results", "Discussion"
# Largest deviations from printed numbers that count as the same: angles, deg, and parts.
NEAR_DEG, NEAR = 5.0, 0.25
# "Full extension" of a motion that ends earlier does not exist; flexions near it, deg.
EXTENDED = 2.0
MEDIAL, LATERAL = "medial", "lateral"
TF, PF = "tibiofemoral contact", "patellofemoral contact"
CRUCIATES = {"ACL": ("AAC", "PAC"), "PCL": ("APC", "PPC")}
# Thickness of one layer of cartilage in the source, mm, and its stiffness, N/mm3.
LAYER_MM, STIFFNESS = 2.0, 5.0


def at(one: Extension, column: str, flexion: float) -> float:
    """A curve at a flexion, deg; NaN where the motion does not reach it."""
    table = one.table.sort_values("flexion_deg")
    where = table["flexion_deg"].to_numpy()
    value = np.interp(flexion, where, table[column], left=np.nan, right=np.nan)
    return float(value)


def span(one: Extension, high: float, low: float) -> pd.DataFrame:
    """Rows between two flexions, deg; empty where the motion ends before the lower one."""
    flexion = one.table["flexion_deg"]
    reaches = float(flexion.min()) <= low + EXTENDED
    return one.table[(flexion <= high) & (flexion >= low) & reaches]


def judged(
    statement: str,
    source: str,
    expected: str,
    found: Mapping[str, float],
    unit: str,
    holds: Callable[[float], bool],
    *,
    chosen: bool = False,
) -> Statement:
    """A statement on every forcing function: it holds if it holds for all that reach it."""
    words = [
        f"{name}: {round(value, 6) + 0.0:.3g}" if np.isfinite(value) else f"{name}: not reached"
        for name, value in found.items()
    ]
    reached = [value for value in found.values() if np.isfinite(value)]
    good = bool(reached) and all(holds(value) for value in reached)
    text = ", ".join(words) + (f" {unit}" if unit else "")
    return stated(statement, source, expected, text, good, chosen=chosen)


def share(one: pd.DataFrame, larger: Any, smaller: Any) -> float:
    """Part of the rows in which one is larger than the other, %; NaN without rows."""
    return float(100.0 * (larger > smaller).mean()) if len(one) else float("nan")


def always(
    statement: str, source: str, cases: Cases, columns: tuple[str, str], high: float, low: float
) -> Statement:
    """One column is larger than another, over a range of flexion."""
    parts = {name: span(one, high, low) for name, one in cases.items()}
    found = {name: share(rows, rows[columns[0]], rows[columns[1]]) for name, rows in parts.items()}
    return judged(
        statement, source, "throughout", found, "% of the output times", lambda x: x == 100.0
    )


def extension_statements(
    cases: Cases, settings: KneeExtensionSettings
) -> Iterator[Statement | tuple[Any, ...]]:
    """All statements, numbered as the capabilities they belong to, and own checks."""
    yield from _formulation(cases, settings)
    yield from _motion(cases, settings)
    yield from _contact(cases)
    yield from _ligaments(cases)
    yield from _migration(cases)
    yield from _checks(cases)


def _formulation(cases: Cases, settings: KneeExtensionSettings) -> Iterator[Statement]:
    one = next(iter(cases.values()))
    gap, slip = coordinate_gaps(one)
    yield stated(
        "C1 Eq. 2 is the rotation of the joint coordinates", "Eq. 2", "difference 0",
        f"{gap:.1g}", gap < 1e-9,
    )  # fmt: skip
    yield stated(
        "C1 Eq. 24 is the angular velocity", "Eq. 24", "difference 0",
        f"up to {slip:.2g} rad/s; the true one is used", slip < 1e-6,
    )  # fmt: skip
    contacts: Any = one.system.actions
    faces = [len(contacts[name].law.area) for name in (TF, PF)]
    yield stated(
        "C2 Femur and patella are Coons patches, the tibia is a plane", "Figure 2",
        "continuous normals at borders",
        f"replaced by {faces[0]} and {faces[1]} triangles on splines of the distance to a mesh",
        True, chosen=True,
    )  # fmt: skip
    layers = settings.layers
    printed = confined_modulus(layers.youngs_modulus_mpa, layers.poisson_ratio) / LAYER_MM
    yield stated(
        "C3 Stiffness of the foundation from modulus, Poisson's ratio and 2 mm", "Contact loads",
        f"{STIFFNESS:g} N/mm3", f"{printed:.3g} N/mm3; {STIFFNESS:g} is used",
        abs(printed / STIFFNESS - 1.0) < 0.02,
    )  # fmt: skip
    rest, slope, least = contact_gaps(cases)
    yield stated(
        "C3 The contact force is the sum of pressure times area, along the directions of contact",
        "Contact loads", "difference 0", f"{rest:.1g} of the force", rest < 1e-9,
    )  # fmt: skip
    yield stated(
        f"C3 Pressure is {STIFFNESS:g} N/mm3 times the penetration, which is positive",
        "Contact loads", "within 0.1 %",
        f"difference {100.0 * slope:.1g} %; penetration above {least:.1g} mm",
        slope < 1e-3 and least > 0.0,
    )  # fmt: skip
    ligaments: Any = one.system.actions["ligaments"]
    names = ligaments.names
    yield stated(
        "C4 Twelve bundles", "Ligamentous forces", "12", f"{len(names)}", len(names) == 12,
        chosen=True,
    )  # fmt: skip
    law = ligaments.law
    knee = law.slack_length + law.transition
    step = 1e-7 * law.slack_length
    jumps = [
        np.abs(getattr(law, name)(knee + step) / getattr(law, name)(knee - step) - 1.0).max()
        for name in ("tension", "stiffness")
    ]
    yield stated(
        "C4 Tension and stiffness are continuous at 6 % of strain, where k_l = 4 k_q 0.03 L0",
        "Eq. 14", "relative jump 0", f"{max(jumps):.1g}", bool(max(jumps) < 1e-5),
    )  # fmt: skip
    wanted = settings.extension.patellar_ligament.force_ratio
    ratios = {
        name: float(case.table["patellar ligament"].iloc[0] / case.table["quadriceps"].iloc[0])
        for name, case in cases.items()
    }
    yield judged(
        "C5 Patellar ligament over quadriceps force at the start, by the slack length",
        "Eq. 18", f"{wanted:g} within 1 %", ratios, "", lambda x: abs(x / wanted - 1.0) < 0.01,
        chosen=True,
    )  # fmt: skip


def contact_gaps(cases: Cases) -> tuple[float, float, float]:
    """How contacts differ from sums over their elements, over all output times.

    Largest relative differences of the force from the sum of pressure times area, and of the
    pressure from the stiffness of the foundation times penetration; least penetration, mm.
    """
    rest = slope = 0.0
    least = np.inf
    frames = (found for one in cases.values() for found in one.motion.parts)
    for resultant in (found[name] for found in frames for name in (TF, PF)):
        if not len(resultant.element):
            continue
        pressure, depth = resultant.pressure, resultant.penetration
        force = resultant.force
        total = (pressure * resultant.area) @ resultant.direction
        rest = max(rest, float(np.linalg.norm(force - total) / np.linalg.norm(force)))
        slope = max(slope, float(np.abs(pressure / (STIFFNESS * depth) - 1.0).max()))
        least = min(least, float(depth.min()))
    return rest, slope, least


def coordinate_gaps(one: Extension) -> tuple[float, float]:
    """Largest difference of Eq. 2 from the rotations, and of Eq. 24 from the angular velocity.

    The axes of the source are x lateral, y anterior, z proximal. Its angles are flexion,
    pi/2 - adduction and, as Eq. 2 has it for a right knee, external rotation.
    """
    swap = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    gap = slip = 0.0
    for place, rates in zip(one.motion.coordinates, one.motion.rates, strict=True):
        poses = one.system.poses(place, rates)
        for body in (1, 2):
            turns = slice(6 * body - 3, 6 * body)
            angle = place[turns] * (1.0, -1.0, -1.0) + (0.0, np.pi / 2.0, 0.0)
            rate = rates[turns] * (1.0, -1.0, -1.0)
            turned = source_rotation(angle)
            gap = max(gap, float(np.abs(turned - swap @ poses.rotation[body] @ swap.T).max()))
            true = turned.T @ swap @ poses.velocity[body, 3:]
            slip = max(slip, float(np.abs(source_rates(angle, rate) - true).max()))
    return gap, slip


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


def _motion(cases: Cases, settings: KneeExtensionSettings) -> Iterator[Statement]:
    left = {name: _unwrapped(one, "flexion_deg") for name, one in cases.items()}
    patella = {name: _unwrapped(one, "patella flexion") for name, one in cases.items()}
    yield judged(
        "C6 Knee flexion at which the quadriceps leave the femur", RESULTS,
        f"74 to 74.5 deg within {NEAR_DEG:g} deg", left, "deg",
        lambda x: abs(x - 74.25) < NEAR_DEG,
    )  # fmt: skip
    yield stated(
        "C6 The quadriceps leave at larger flexion under larger forces", RESULTS,
        "in the order of forces", _listed(left, "deg"), _rises(left),
    )  # fmt: skip
    yield judged(
        "C6 Patellar flexion at that instant", RESULTS, f"57.6 to 58.2 deg within {NEAR_DEG:g} deg",
        patella, "deg", lambda x: abs(x - 57.9) < NEAR_DEG,
    )  # fmt: skip
    yield from _start(cases)
    ends = {name: float(one.table["flexion_deg"].min()) for name, one in cases.items()}
    last = settings.extension.last_flexion_deg
    yield judged(
        "C9 The knee reaches full extension", RESULTS, f"{last:g} deg", ends, "deg",
        lambda x: x < last + 0.1,
    )  # fmt: skip
    duration = {
        name: float(one.table["time_s"].iloc[-1]) if ends[name] < last + 0.1 else float("nan")
        for name, one in cases.items()
    }
    yield stated(
        "C9 The extension is shorter under larger forces", RESULTS, "in the order of forces",
        _listed(duration, "s"), _rises({name: -value for name, value in duration.items()}),
    )  # fmt: skip
    turned = {
        name: at(one, "tibia rotation", _first(one)) - at(one, "tibia rotation", EXTENDED)
        for name, one in cases.items()
    }
    yield judged(
        "C9 External rotation of the tibia from 90 deg to extension", RESULTS,
        "18.5 deg on average, within 25 %", turned, "deg", lambda x: abs(x / 18.5 - 1.0) < NEAR,
    )  # fmt: skip
    valgus = {
        name: at(one, "tibia adduction", _first(one)) - at(one, "tibia adduction", EXTENDED)
        for name, one in cases.items()
    }
    yield judged(
        "C9 Valgus rotation from 90 deg to extension", RESULTS, "4 deg on average, within 1 deg",
        valgus, "deg", lambda x: abs(x - 4.0) < 1.0,
    )  # fmt: skip
    still = {
        name: float(np.ptp(span(one, 90.0, 55.0)["tibia adduction"]))
        if len(span(one, 90.0, 55.0)) else float("nan")
        for name, one in cases.items()
    }  # fmt: skip
    yield judged(
        "C9 Neither varus nor valgus rotation from 90 to 55 deg", DISCUSSION, "below 1 deg", still,
        "deg", lambda x: x < 1.0,
    )  # fmt: skip
    yield always("C14 The patella flexes less than the tibia", "Figure 7", cases,
                 ("flexion_deg", "patella flexion"), 90.0, EXTENDED)  # fmt: skip


def _start(cases: Cases) -> Iterator[Statement]:
    """The pose at rest, in equilibrium here and from the literature in the source."""
    first = next(iter(cases.values())).table.iloc[0]
    for words, column, printed in (
        ("C8 Patellar flexion at the start", "patella flexion", 71.26),
        ("C8 Varus at the start", "tibia adduction", 4.61),
        ("C8 Internal rotation of the tibia at the start", "tibia rotation", 22.96),
    ):
        yield stated(
            words, "Model calculations", f"{printed:g} deg within {NEAR_DEG:g} deg",
            f"{first[column]:.3g} deg", bool(abs(first[column] - printed) < NEAR_DEG),
        )  # fmt: skip
    force = {name: float(one.table["quadriceps"].iloc[0]) for name, one in cases.items()}
    yield judged(
        "C8 Quadriceps force at the start", "Model calculations", "75 N within 5 %", force, "N",
        lambda x: abs(x / 75.0 - 1.0) < 0.05, chosen=True,
    )  # fmt: skip


def _contact(cases: Cases) -> Iterator[Statement]:
    yield always("C10 Medial tibiofemoral contact force above the lateral one", "Figure 8", cases,
                 (f"{MEDIAL} {TF}", f"{LATERAL} {TF}"), 90.0, EXTENDED)  # fmt: skip
    column = f"{MEDIAL} {TF}"
    growth = {
        name: at(one, column, EXTENDED) / at(one, column, 30.0) for name, one in cases.items()
    }
    yield judged(
        "C10 Medial tibiofemoral force at extension over that at 30 deg", RESULTS,
        "2 within 25 %", growth, "", lambda x: abs(x / 2.0 - 1.0) < NEAR,
    )  # fmt: skip
    yield always("C10 Lateral patellofemoral contact force above the medial one", "Figure 9", cases,
                 (f"{LATERAL} {PF}", f"{MEDIAL} {PF}"), 90.0, EXTENDED)  # fmt: skip
    for side in (MEDIAL, LATERAL):
        yield judged(
            f"C10 Flexion of the largest {side} patellofemoral force", RESULTS, "45 to 60 deg",
            {name: _peak(one, f"{side} {PF}") for name, one in cases.items()}, "deg",
            lambda x: 45.0 <= x <= 60.0,
        )  # fmt: skip
    for flexion, printed in ((80.0, 1.1), (EXTENDED, 0.45)):
        ratio = {
            name: at(one, PF, flexion) / at(one, "quadriceps", flexion)
            for name, one in cases.items()
        }
        yield judged(
            f"C11 Patellofemoral over quadriceps force at {flexion:g} deg", "Figure 12",
            f"{printed:g} within 25 %", ratio, "",
            lambda x, printed=printed: abs(x / printed - 1.0) < NEAR,  # type: ignore[misc]
        )  # fmt: skip
    names = list(cases)
    for flexion, printed in ((89.0, 70.0), (60.0, 175.0)):
        yield judged(
            f"C11 Patellofemoral force at {flexion:g} deg under the smallest force", DISCUSSION,
            f"{printed:g} N within 25 %", {names[0]: at(cases[names[0]], PF, flexion)}, "N",
            lambda x, printed=printed: abs(x / printed - 1.0) < NEAR,  # type: ignore[misc]
        )  # fmt: skip
    ends = {names[-1]: at(cases[names[-1]], PF, EXTENDED) / at(cases[names[-1]], PF, 60.0)}
    yield judged(
        "C11 Under the largest force it falls from 60 deg to extension, by the factor", DISCUSSION,
        "below 1", ends, "", lambda x: x < 1.0,
    )  # fmt: skip


def _ligaments(cases: Cases) -> Iterator[Statement]:
    for words, source, columns, high, low in (
        ("C12 Anterior fibres of the ACL pull more than posterior ones, 85 to 40 deg", "Figure 10",
         ("AAC", "PAC"), 85.0, 40.0),
        ("C12 Posterior fibres of the ACL pull more than anterior ones, 30 to 0 deg", "Figure 10",
         ("PAC", "AAC"), 30.0, EXTENDED),
        ("C12 Anterior fibres of the PCL pull more than posterior ones, 85 to 40 deg", "Figure 11",
         ("APC", "PPC"), 85.0, 40.0),
    ):  # fmt: skip
        yield always(words, source, cases, columns, high, low)
    for words, source, fibre, high, low in (
        ("C12 Posterior fibres of the ACL are slack, 90 to 60 deg", DISCUSSION, "PAC", 90.0, 60.0),
        ("C12 Posterior fibres of the PCL are slack, 90 to 30 deg", DISCUSSION, "PPC", 90.0, 30.0),
        ("C12 Anterior fibres of the PCL are slack at extension", DISCUSSION, "APC", 3.0, 1.0),
    ):
        largest = {
            name: float(rows[fibre].max()) if len(rows := span(one, high, low)) else float("nan")
            for name, one in cases.items()
        }
        yield judged(words, source, "below 1 N", largest, "N", lambda x: x < 1.0)
    for words, fibre, low, high in (
        ("C12 Flexion at which anterior fibres of the ACL pull most", "AAC", 85.0, 90.0),
        ("C12 Flexion at which posterior fibres of the ACL pull most", "PAC", 0.0, 5.0),
        ("C12 Flexion at which anterior fibres of the PCL pull most", "APC", 70.0, 90.0),
        ("C12 Flexion at which posterior fibres of the PCL pull most", "PPC", 0.0, 5.0),
    ):
        yield judged(
            words, DISCUSSION, f"{low:g} to {high:g} deg",
            {name: _peak(one, fibre) for name, one in cases.items()}, "deg",
            lambda x, low=low, high=high: low <= x <= high,  # type: ignore[misc]
        )  # fmt: skip
    flexed = {name: _least_ratio(one, "PCL", "ACL", 75.0, 90.0) for name, one in cases.items()}
    extended = {name: _least_ratio(one, "ACL", "PCL", 0.0, EXTENDED) for name, one in cases.items()}
    for words, found in (
        ("C12 PCL over ACL force, 1 N at least, from 90 to 75 deg: least", flexed),
        ("C12 ACL over PCL force, 1 N at least, at extension: least", extended),
    ):
        yield judged(words, DISCUSSION, "above 1", found, "", lambda x: x > 1.0)


def _migration(cases: Cases) -> Iterator[Statement]:
    for words, column, sign in (
        ("C13 Contact on the medial plateau moves to posterior, by", f"{MEDIAL} {TF} x", -1.0),
        ("C13 Contact on the lateral plateau moves to anterior, by", f"{LATERAL} {TF} x", 1.0),
        ("C13 Patellofemoral contact moves to proximal on the femur, by",
         f"{LATERAL} {PF} femur y", 1.0),
        ("C13 Patellofemoral contact moves to distal on the patella, by",
         f"{LATERAL} {PF} y", -1.0),
    ):  # fmt: skip
        moved = {
            name: sign * (at(one, column, EXTENDED) - at(one, column, _first(one)))
            for name, one in cases.items()
        }
        yield judged(words, "Figures 2 and 3", "above 0 mm", moved, "mm", lambda x: x > 0.0)


def _checks(cases: Cases) -> Iterator[Statement | tuple[Any, ...]]:
    worst = max(one.motion.energy_error for one in cases.values())
    yield energy_balance(worst)
    stored = max(stored_energy_error(one) for one in cases.values())
    yield stated(
        "Kinetic and stored energy gained, against the work of the quadriceps", OWN_CHECK,
        "within 0.1 %", f"{100.0 * stored:.2g} %", stored < 1e-3,
    )  # fmt: skip
    one = next(iter(cases.values()))
    yield stated(
        "C7 Derivatives of the forces at the start, against differences", OWN_CHECK,
        "within 0.1 % of the largest", *_derivative_error(one.system, one.motion.coordinates[0]),
    )  # fmt: skip
    yield stated(
        "C7 Unbalanced force at the start, flexion held", OWN_CHECK, f"below {TOLERANCE:g}",
        *_unbalanced(one),
    )  # fmt: skip


def _derivative_error(system: System, place: Array) -> tuple[str, bool]:
    """Largest difference of the Jacobian from central differences, relative to its row."""
    step = np.tile(np.repeat([1e-4, 1e-5], 3), 2)
    exact = system.forces(place).derivative
    difference = np.empty_like(exact)
    for column, size in enumerate(step):
        move = np.zeros_like(place)
        move[column] = size
        ends = [system.forces(place + sign * move).force for sign in (1.0, -1.0)]
        difference[:, column] = (ends[0] - ends[1]) / (2.0 * size)
    weight = np.tile(np.repeat([1.0, 23.0], 3), 2)
    scaled = (difference - exact) / np.outer(weight, weight)
    error = float(np.abs(scaled).max() / np.abs(exact / np.outer(weight, weight)).max())
    return f"{100.0 * error:.2g} %", error < 1e-3


def _unbalanced(one: Extension) -> tuple[str, bool]:
    forces = one.system.forces(one.motion.coordinates[0])
    free = np.setdiff1d(np.arange(12), one.system.coordinate("tibia.theta_1"))
    left = forces.residual(free)
    return f"{left:.1g} of the largest force", left < TOLERANCE


def _least_ratio(one: Extension, over: str, under: str, low: float, high: float) -> float:
    """Least ratio of the forces of two ligaments, 1 N at least, between two flexions, deg."""
    rows = one.table[one.table["flexion_deg"].between(low - 1e-6, high)]
    larger, smaller = (sum(rows[fibre] for fibre in CRUCIATES[name]) for name in (over, under))
    return float((larger / np.maximum(smaller, 1.0)).min()) if len(rows) else float("nan")


def _unwrapped(one: Extension, column: str) -> float:
    return float("nan") if one.unwrapped is None else float(one.unwrapped[column])


def _first(one: Extension) -> float:
    return float(one.table["flexion_deg"].iloc[0])


def _peak(one: Extension, column: str) -> float:
    """Flexion at which a column is largest; NaN where the motion ends before extension."""
    table = one.table
    if float(table["flexion_deg"].min()) > EXTENDED:
        return float("nan")
    return float(table["flexion_deg"].iloc[int(table[column].argmax())])


def _listed(values: Mapping[str, float], unit: str) -> str:
    words = [
        f"{name}: {value:.4g}" if np.isfinite(value) else f"{name}: not reached"
        for name, value in values.items()
    ]
    return f"{', '.join(words)} {unit}"


def _rises(values: Mapping[str, float]) -> bool:
    found = np.array([value for value in values.values() if np.isfinite(value)])
    return bool(found.size > 1 and (np.diff(found) > 0.0).all())
