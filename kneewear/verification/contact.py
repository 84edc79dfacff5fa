"""Errors of the contact engine against analytical solutions, and their dependence on the grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.reference import hertz
from kneewear.verification.analytical_contacts import (
    DEPTH,
    POISSON_RATIO,
    RADIUS,
    UNITS,
    YOUNGS_MODULUS,
    AnalyticalContact,
    Cells,
    analytical_contacts,
    contacts_by_shape,
    sphere_on_layer,
)
from kneewear.verification.comparison import Comparison, error_columns
from kneewear.verification.half_space import press_half_space, sphere_gap
from kneewear.verification.impact import contact_modulus

Array = NDArray[np.float64]

CELLS = (100, 75)
# Targets of the relative errors under a sphere, per cent.
TARGETS = {"force": 0.05, "torque": 0.05, "peak": 0.5, "mean": 1.0, "area": 1.0, "radius": 1.0}
HALF_SPACE_TARGETS = {"force": 1.0, "peak": 1.0, "radius": 2.0}
# Elements of the half-space across three contact radii.
_HALF_SPACE_CELLS = 40


def compare_contacts(seed: int, offsets: int = 24) -> Iterator[Comparison]:
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
        for quantity, errors in contact.errors(CELLS, positions).items():
            yield Comparison(
                contact.name,
                quantity,
                UNITS[quantity],
                exact[quantity],
                errors,
                "elastic foundation",
                targets.get(quantity, math.nan),
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


def _compare_half_space(positions: Array) -> Iterator[Comparison]:
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
        yield Comparison("sphere, half-space", name, UNITS[name], value, errors, "Hertz", target)
