"""The contact engine against analytical solutions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact import hertz
from kneewear.contact.hertz import contact_modulus
from kneewear.evidence.verification import winkler
from kneewear.evidence.verification.analytical_contacts import (
    CHARACTERISTIC_LENGTH,
    DEPTH,
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
from kneewear.evidence.verification.half_space import solve_half_space, sphere_gap

Array = NDArray[np.float64]
Row = dict[str, str | float]


def compared_value(
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
            yield compared_value(
                contact.name,
                name,
                UNITS[name],
                exact[name],
                errors,
                "elastic foundation",
                targets.get(name, math.nan),
            )
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
        found = solve_half_space(gap, cell, modulus, approach=DEPTH)
        computed["force"].append(found.force)
        computed["peak"].append(float(found.pressure.max()))
        computed["radius"].append(cell[0] * math.sqrt(np.count_nonzero(found.pressure) / math.pi))
    for name, value in expected.items():
        errors = np.array(computed[name]) / value - 1.0
        target = HALF_SPACE_TARGETS[name]
        yield compared_value(
            "sphere, half-space", name, UNITS[name], value, errors, "Hertz", target
        )


Curve = tuple[Array, Array]

# E* of the same polyethylene as a thick body, MPa.
HALF_SPACE_MODULUS = contact_modulus(YOUNGS_MODULUS, POISSON_RATIO)
LAYER = winkler.LinearLayer(MODULUS, THICKNESS)
LOAD = winkler.sphere_force(RADIUS, DEPTH, LAYER)
DEEPEST = 0.4  # mm
_DEPTHS = np.linspace(0.0, DEEPEST, 9)[1:]
_FINE_DEPTHS = np.linspace(0.0, DEEPEST, 81)
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
    results = [
        evaluate(np.array([0.0, RADIUS - depth, CHARACTERISTIC_LENGTH]))
        for depth in (DEPTH, *_DEPTHS)
    ]
    x, _, z = pair.centre[results[0].element].T
    forces = np.array([-result.force[1] for result in results[1:]])
    return _profile(np.hypot(x, z - CHARACTERISTIC_LENGTH), results[0].pressure), (_DEPTHS, forces)


def _half_space() -> tuple[Curve, Curve]:
    """Pressure profile and force curve of the half-space."""
    gap, cell = sphere_gap(RADIUS, 3.0 * math.sqrt(RADIUS * DEEPEST), _CELLS)
    distance = np.sqrt(2.0 * RADIUS * gap)
    problem = gap, cell, HALF_SPACE_MODULUS
    forces = [solve_half_space(*problem, approach=float(depth)).force for depth in _DEPTHS]
    pressure = solve_half_space(*problem, load=LOAD).pressure
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


def verify_engine(seed: int) -> dict[str, pd.DataFrame]:
    """Compare the engine with analytical solutions, without an implant.

    Tables `verification`, `refinement`, `active_elements` and `sphere_models`; the seed is that of
    the random positions of contacts on their grids.
    """
    return {
        "verification": pd.DataFrame(compare_contacts(seed)),
        "refinement": refine_contacts(seed),
        "active_elements": vary_active_elements(seed),
        "sphere_models": compare_sphere_models(),
    }
