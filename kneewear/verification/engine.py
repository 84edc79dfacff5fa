"""The contact engine, and methods of multibody dynamics, against analytical solutions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.impact import FACTORS, contact_modulus, hysteresis_factor, impact_force
from kneewear.geometry.primitives import plate, sphere
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference import hertz, winkler
from kneewear.reference import impact as exact_impact
from kneewear.reference.impact import (
    conformal_indentation,
    convex_indentation,
    plane_indentation,
)
from kneewear.verification.analytical_contacts import (
    DEPTH,
    LEVER,
    MODULUS,
    POISSON_RATIO,
    RADIUS,
    THICKNESS,
    UNITS,
    YOUNGS_MODULUS,
    AnalyticalContact,
    Cells,
    analytical_contacts,
    contacts_by_shape,
    sphere_on_layer,
)
from kneewear.verification.common_normal import (
    find_common_normal,
    frame_patch,
    guess_common_normal,
)
from kneewear.verification.half_space import press_half_space, sphere_gap
from kneewear.verification.table_window import BlockLayout, StorageWindow

Array = NDArray[np.float64]
Row = dict[str, str | float]


def comparison(
    subject: str,
    quantity: str,
    unit: str,
    expected: float,
    errors: Array,
    source: str,
    target: float = math.nan,
) -> Row:
    """Row of a table: one quantity of a contact or method against its expected value.

    `errors` of all evaluations are relative to that value, whose `source` is named; `target` is
    the largest acceptable error, per cent; `computed` is the value with the largest error.
    """
    return {
        "contact": subject,
        "quantity": quantity,
        "unit": unit,
        "exact": expected,
        "computed": expected * (1.0 + float(errors[np.argmax(np.abs(errors))])),
        **error_columns(errors),
        "target_percent": target,
        "source": source,
    }


def error_columns(errors: Array) -> dict[str, float]:
    """Largest and root-mean-square error, per cent."""
    return {
        "worst_error_percent": 100.0 * float(np.abs(errors).max()),
        "rms_error_percent": 100.0 * float(np.sqrt(np.mean(errors**2))),
    }


CELLS = (100, 75)
# Targets of the relative errors under a sphere, per cent.
TARGETS = {"force": 0.05, "torque": 0.05, "peak": 0.5, "mean": 1.0, "area": 1.0, "radius": 1.0}
HALF_SPACE_TARGETS = {"force": 1.0, "peak": 1.0, "radius": 2.0}
# Elements of the half-space across three contact radii.
_HALF_SPACE_CELLS = 40


def compare_contacts(seed: int, offsets: int = 24) -> Iterator[Row]:
    """The engine against analytical solutions, at random offsets of the usual grid.

    The sphere on a linear layer is compared twice: on elements that extend just beyond the contact,
    and on elements over twice its extent. The last contact is a sphere on an elastic half-space,
    against Hertz.
    """
    positions = random_offsets(seed, offsets)
    wide = sphere_on_layer("linear", reach=2.0)
    wide = replace(wide, name=f"{wide.name}, elements over twice the contact")
    for contact in (*analytical_contacts(), wide):
        _, exact = contact.solution(np.zeros(2))
        targets = TARGETS if contact.name.startswith("sphere") else {}
        for name, errors in contact.errors(CELLS, positions).items():
            yield comparison(
                contact.name, name, UNITS[name], exact[name], errors, "elastic foundation",
                targets.get(name, math.nan),
            )  # fmt: skip
    yield from _compare_half_space(positions[:8])


def refine_contacts(
    seed: int, rows: Sequence[int] = (10, 20, 40, 80), offsets: int = 12
) -> pd.DataFrame:
    """Errors of each shape over random offsets, by the number of elements along either side."""
    positions = random_offsets(seed, offsets)
    return pd.DataFrame(
        [
            {"contact": contact.name, "quantity": quantity, "rows": count, **error_columns(errors)}
            for contact in contacts_by_shape()
            for count in rows
            for quantity, errors in contact.errors((count, count), positions).items()
        ]
    )


def vary_active_elements(
    seed: int, counts: Sequence[int] = (25, 50, 100, 200, 400), offsets: int = 1000
) -> pd.DataFrame:
    """Error of a sphere's contact by the number of active elements (Bei 2003, section 3.2.3).

    Median, 95 % quantile and maximum of the error's magnitude over random offsets, in per cent of
    the median value at the last count, which is the reference as published. The cells are square,
    and the contact area equals `counts` of them.
    """
    positions = random_offsets(seed, offsets)
    found = {}
    for count in counts:
        contact, cells = _sphere_with(count)
        found[count] = contact.errors(cells, positions)
    rows = []
    for count, errors in found.items():
        for quantity in ("force", "torque", "peak", "mean", "area"):
            last = 1.0 + float(np.median(found[counts[-1]][quantity]))
            size = 100.0 * np.abs((1.0 + errors[quantity]) / last - 1.0)
            rows.append(
                {
                    "active_elements": count,
                    "quantity": quantity,
                    "median_error_percent": float(np.median(size)),
                    "error_95_percent": float(np.quantile(size, 0.95)),
                    "worst_error_percent": float(size.max()),
                }
            )
    return pd.DataFrame(rows)


def random_offsets(seed: int, count: int) -> Array:
    """Positions of a contact on a grid, fractions of a cell, shape (count, 2)."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (count, 2))


def _sphere_with(active: int) -> tuple[AnalyticalContact, Cells]:
    """Sphere on square cells of which the contact area holds so many, and rows and columns."""
    cell = math.sqrt(math.pi / active)
    rows = math.ceil(2.0 / cell) + 2
    return sphere_on_layer("linear", reach=0.5 * rows * cell), (rows, rows)


def _compare_half_space(positions: Array) -> Iterator[Row]:
    """A sphere on a half-space against Hertz."""
    modulus = contact_modulus(YOUNGS_MODULUS, POISSON_RATIO)
    exact = hertz.sphere_contact(RADIUS, DEPTH, modulus)
    expected = {"force": exact.force, "peak": exact.peak_pressure, "radius": exact.semi_axes[0]}
    width = 3.0 * exact.semi_axes[0]
    computed: dict[str, list[float]] = {name: [] for name in expected}
    for x, z in width / _HALF_SPACE_CELLS * positions:
        gap, cell = sphere_gap(RADIUS, width, _HALF_SPACE_CELLS, (x, z))
        found = press_half_space(gap, cell, modulus, approach=DEPTH)
        computed["force"].append(found.force)
        computed["peak"].append(float(found.pressure.max()))
        computed["radius"].append(cell[0] * math.sqrt(np.count_nonzero(found.pressure) / math.pi))
    for name, value in expected.items():
        errors = np.array(computed[name]) / value - 1.0
        target = HALF_SPACE_TARGETS[name]
        yield comparison("sphere, half-space", name, UNITS[name], value, errors, "Hertz", target)


Curve = tuple[Array, Array]

# E* of the same polyethylene as a thick body, MPa.
HALF_SPACE_MODULUS = contact_modulus(YOUNGS_MODULUS, POISSON_RATIO)
LAYER = winkler.LinearLayer(MODULUS, THICKNESS)
LOAD = winkler.sphere_force(RADIUS, DEPTH, LAYER)
DEEPEST = 0.4  # mm
_DEPTHS, _FINE_DEPTHS = np.linspace(0.0, DEEPEST, 9)[1:], np.linspace(0.0, DEEPEST, 81)
_CELLS = 28


def compare_sphere_models() -> pd.DataFrame:
    """Pressure under one load, and force over the approach, of three models of one sphere.

    Columns `model` (foundation or half-space), `source` (computed, or exact: the analytical
    solution of the foundation, and Hertz), `quantity` (`pressure`, MPa, over the distance from the
    axis under `LOAD`; `force`, N, over the approach), `place_mm` and `value`. The polyethylene is
    the same, the bodies differ: a thin bonded layer of independent springs, and a thick body.
    """
    parts = (
        ("foundation", "computed", *_foundation()),
        ("half-space", "computed", *_half_space()),
        ("foundation", "exact", *_winkler()),
        ("half-space", "exact", *_hertz()),
    )
    rows = [
        {"model": model, "source": source, "quantity": quantity, "place_mm": at, "value": value}
        for model, source, *curves in parts
        for quantity, curve in zip(("pressure", "force"), curves, strict=True)
        for at, value in zip(*curve, strict=True)
    ]
    return pd.DataFrame(rows)


def _foundation() -> tuple[Curve, Curve]:
    """Pressure profile and force curve of the engine."""
    evaluate, pair = sphere_on_layer("linear", reach=1.5).on_grid((_CELLS, _CELLS))
    results = [evaluate(np.array([0.0, RADIUS - depth, LEVER])) for depth in (DEPTH, *_DEPTHS)]
    x, _, z = pair.centre[results[0].element].T
    forces = np.array([-result.force[1] for result in results[1:]])
    return _profile(np.hypot(x, z - LEVER), results[0].pressure), (_DEPTHS, forces)


def _half_space() -> tuple[Curve, Curve]:
    """Pressure profile and force curve of the half-space."""
    gap, cell = sphere_gap(RADIUS, 3.0 * math.sqrt(RADIUS * DEEPEST), _CELLS)
    distance = np.sqrt(2.0 * RADIUS * gap)
    problem = gap, cell, HALF_SPACE_MODULUS
    forces = [press_half_space(*problem, approach=float(depth)).force for depth in _DEPTHS]
    pressure = press_half_space(*problem, load=LOAD).pressure
    return _profile(distance.ravel(), pressure.ravel()), (_DEPTHS, np.array(forces))


def _winkler() -> tuple[Curve, Curve]:
    """Analytical solution of the foundation."""
    distance = np.linspace(0.0, winkler.contact_radius(RADIUS, DEPTH), 200)
    depth = RADIUS - np.hypot(distance, RADIUS - DEPTH)
    forces = [winkler.sphere_force(RADIUS, float(d), LAYER) for d in _FINE_DEPTHS]
    return (distance, MODULUS / THICKNESS * depth), (_FINE_DEPTHS, np.array(forces))


def _hertz() -> tuple[Curve, Curve]:
    """Hertz's pressure and force."""
    contact = hertz.ellipse_contact((RADIUS, RADIUS), LOAD, HALF_SPACE_MODULUS)
    distance = np.linspace(0.0, contact.semi_axes[0], 200)
    pressure = np.array([contact.pressure(float(r), 0.0) for r in distance])
    forces = [
        hertz.sphere_contact(RADIUS, float(d), HALF_SPACE_MODULUS).force for d in _FINE_DEPTHS
    ]
    return (distance, pressure), (_FINE_DEPTHS, np.array(forces))


def _profile(distance: Array, pressure: Array) -> Curve:
    """Pressure by distance from the axis, one loaded element of each ring."""
    loaded = pressure > 0.0
    rings, first = np.unique(distance[loaded].round(6), return_index=True)
    return rings, pressure[loaded][first]


# Radii of the ball, of the other sphere and of the cup, and indentation, mm (Table 5.3).
BALL, OTHER, CUP, INDENTATION = 26.4, 36.02, 75.0, 0.05
# Coefficient of restitution of cartilage.
RESTITUTION = 0.616
# Reduced mass, t, speed, mm/s, and stiffness, N/mm^1.5; the restitution does not depend on them.
MASS, SPEED, STIFFNESS = 0.002, 300.0, 100.0
# Impacts of a ball that bounces along u, in blocks: the ninth is in a border block of the window.
IMPACTS = (3.5, 3.6, 3.8, 4.0, 4.2, 4.4, 4.6, 4.9, 5.3, 5.6, 6.2, 6.8)


def compare_common_normals(seed: int, poses: int = 20) -> Iterator[Row]:
    """Indentation of a ball in a sphere, a cup and a plane at random poses."""
    random = np.random.default_rng(seed)
    ball = sphere(BALL)
    upside_down = np.diag([-1.0, -1.0, 1.0])
    pairs = {
        "sphere": sphere(OTHER).transformed(upside_down, np.zeros(3)),
        "cup": sphere(CUP).reversed_normal(),
        "plane": plate((-60.0, 60.0), (-60.0, 60.0)),
    }
    for name, fixed in pairs.items():
        errors = []
        samples = tabulate_surface(fixed, 25, 25), tabulate_surface(ball, 25, 25)
        frames = frame_patch(fixed), frame_patch(ball)
        for _ in range(poses):
            angles, tilt = random.uniform(-0.3, 0.3, 3), random.uniform(-0.3, 0.3, 2)
            up = np.array([tilt[0], 1.0, tilt[1]]) / math.hypot(1.0, *tilt)
            if name == "sphere":
                centre = (BALL + OTHER - INDENTATION) * up
                expected = convex_indentation(float(np.linalg.norm(centre)), BALL, OTHER)
            elif name == "cup":
                centre = -(CUP - BALL + INDENTATION) * up
                expected = conformal_indentation(float(np.linalg.norm(centre)), BALL, CUP)
            else:
                centre = np.array([40.0 * tilt[0], BALL - INDENTATION, 40.0 * tilt[1]])
                expected = plane_indentation(float(centre[1]), BALL)
            pose = body_three_123(angles), centre
            found = find_common_normal(*frames, *pose, guess_common_normal(*samples, *pose))
            errors.append(-found.gap / expected - 1.0)
        subject = f"common normal, ball on {name}"
        source = "spheres in contact"
        yield comparison(subject, "indentation", "mm", INDENTATION, np.array(errors), source)


class FreeImpact(NamedTuple):
    """Free impact from first contact to separation."""

    duration: float  # s
    restitution: float
    largest_indentation: float  # mm
    loss: float  # work of the force over the indentation, N mm
    indentation: Array  # at the time steps, mm
    force: Array  # N


def simulate_impact(
    factor: float,
    mass: float = MASS,
    speed: float = SPEED,
    stiffness: float = STIFFNESS,
    exponent: float = 1.5,
) -> FreeImpact:
    """Impact of two bodies without other forces, integrated in time; see `impact_force`."""
    from scipy.integrate import solve_ivp  # noqa: PLC0415 - see kneewear.geometry.surface

    # In units of the largest elastic indentation, the speed and the energy.
    depth = exact_impact.largest_indentation(mass, speed, stiffness, exponent=exponent)

    def force(d: Array, rate: Array) -> Array:
        return impact_force(depth * d, speed * rate, speed, stiffness, factor, exponent)

    def rates(_: float, state: Array) -> list[float]:
        push = float(force(state[0], state[1])) * depth / (mass * speed**2)
        return [state[1], -push, push * state[1]]

    def separation(_: float, state: Array) -> float:
        return float(state[0])

    def reversal(_: float, state: Array) -> float:
        return float(state[1])

    separation.terminal, separation.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        rates,
        (0.0, 20.0),
        [0.0, 1.0, 0.0],
        method="DOP853",
        rtol=1e-10,
        atol=1e-13,
        events=(separation, reversal),
        max_step=0.05,
    )
    return FreeImpact(
        run.t[-1] * depth / speed,
        -run.y[1, -1],
        depth * run.y_events[1][0][0],
        run.y[2, -1] * mass * speed**2,
        depth * run.y[0],
        force(run.y[0], run.y[1]),
    )


def compare_impacts() -> Iterator[Row]:
    """Restitution and largest indentation of a free impact by each law of Table 5.4."""
    for law in FACTORS:
        factor = hysteresis_factor(law, RESTITUTION)
        found = simulate_impact(factor)
        restitution = exact_impact.delivered_restitution(factor)
        depth = exact_impact.largest_indentation(MASS, SPEED, STIFFNESS, factor)
        for quantity, unit, computed, expected in (
            ("restitution", "1", found.restitution, restitution),
            ("largest indentation", "mm", found.largest_indentation, depth),
        ):
            errors = np.array([computed / expected - 1.0])
            yield comparison(f"impact, {law}", quantity, unit, expected, errors, "phase plane")


def compare_storage_window() -> Iterator[Row]:
    """Updates of the storage window by the impacts of Fig. 6.13, and the values it interpolates."""
    block = 9
    table = tabulate_surface(sphere(6.0), block * block, block * block)
    rows = table.rows
    step = (rows[-1, -1, :2] - rows[0, 0, :2]) / (block * block - 1)
    first, steps = (float(rows[0, 0, 0]), float(rows[0, 0, 1])), (float(step[0]), float(step[1]))
    layout = BlockLayout((block * block, block * block), (block, block), first, steps)
    window = StorageWindow(layout, lambda a, b, c, d: rows[a:b, c:d], (5, 5))
    errors = []
    for position in IMPACTS:
        u, v = rows[0, 0, :2] + step * block * np.array([position, 4.0])
        points = [source.interpolate(u, v)[..., 2:5] for source in (window, table)]
        errors.append(float(np.linalg.norm(points[0]) / np.linalg.norm(points[1])) - 1.0)
    subject, distance = "storage window, 5 x 5 of 9 x 9 blocks", float(np.linalg.norm(points[1]))
    yield comparison(subject, "updates", "1", 1.0, np.array([window.updates - 1.0]), "Fig. 6.13")
    yield comparison(subject, "distance", "mm", distance, np.array(errors), "whole table")


def verify_engine(seed: int) -> dict[str, pd.DataFrame]:
    """Compare the engine with analytical solutions, without an implant.

    Tables `verification`, `refinement`, `active_elements` and `sphere_models`; the seed is that of
    the random positions of contacts on their grids.
    """
    comparisons = (
        *compare_contacts(seed),
        *compare_common_normals(seed),
        *compare_impacts(),
        *compare_storage_window(),
    )
    return {
        "verification": pd.DataFrame(comparisons),
        "refinement": refine_contacts(seed),
        "active_elements": vary_active_elements(seed),
        "sphere_models": compare_sphere_models(),
    }
