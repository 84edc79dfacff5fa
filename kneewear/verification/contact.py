"""How near the engine comes to what is known, and how that depends on the elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    KnownContact,
    contacts_by_shape,
    errors_of_grids,
    known_contacts,
    sphere_on_layer,
)
from kneewear.verification.half_space import contact_modulus, press_half_space

Array = NDArray[np.float64]

CELLS = (100, 75)
# Largest relative errors aimed at under a sphere, per cent.
TARGETS = {"force": 0.05, "torque": 0.05, "peak": 0.5, "mean": 1.0, "area": 1.0, "radius": 1.0}
HALF_SPACE_TARGETS = {"force": 1.0, "peak": 1.0, "radius": 2.0}
# Elements of the half-space across three contact radii.
_HALF_SPACE_CELLS = 40


def verify_contact(seed: int, offsets: int = 24) -> pd.DataFrame:
    """The engine against closed forms on the usual grid.

    Parameters
    ----------
    seed : int
        Of the random places of the grid under the contact.
    offsets : int
        How many places.

    Returns
    -------
    DataFrame
        Columns `contact`, `quantity`, `unit`, `exact`, `computed` (at the worst place),
        `worst_error_percent`, `rms_error_percent` and, under spheres, `target_percent`. The first
        contact stands twice: on elements that reach just beyond it, and on elements that reach
        twice as far as it does.
    """
    places = random_offsets(seed, offsets)
    wide = sphere_on_layer("linear", reach=2.0)
    wide = replace(wide, name=f"{wide.name}, elements over twice the contact")
    contacts = [*known_contacts(), wide]
    rows = []
    errors_of = errors_of_grids(((contact, CELLS) for contact in contacts), places)
    for contact, found in zip(contacts, errors_of, strict=True):
        _, exact = contact.at(np.zeros(2))
        targets = TARGETS if contact.name.startswith("sphere") else {}
        rows += [
            _row(contact.name, quantity, exact[quantity], errors, targets)
            for quantity, errors in found.items()
        ]
    return pd.DataFrame([*rows, *_half_space_rows(places[:8])])


def refine_contacts(
    seed: int, rows: Sequence[int] = (10, 20, 40, 80), offsets: int = 12
) -> pd.DataFrame:
    """Errors of each shape on grids of growing density.

    Parameters
    ----------
    seed, offsets : int
        As in `verify_contact`.
    rows : sequence of int
        Elements along either side.

    Returns
    -------
    DataFrame
        Columns `contact`, `quantity`, `rows`, `rms_error_percent` and `worst_error_percent`.
    """
    places = random_offsets(seed, offsets)
    return pd.DataFrame(
        [
            {
                "contact": contact.name,
                "quantity": quantity,
                "rows": count,
                "rms_error_percent": 100.0 * _rms(errors),
                "worst_error_percent": 100.0 * float(np.abs(errors).max()),
            }
            for contact in contacts_by_shape()
            for count, found in zip(
                rows, errors_of_grids([(contact, (n, n)) for n in rows], places), strict=True
            )
            for quantity, errors in found.items()
        ]
    )


def vary_active_elements(
    seed: int, counts: Sequence[int] = (25, 50, 100, 200, 400), offsets: int = 1000
) -> pd.DataFrame:
    """Error of a sphere's contact by the number of active elements (Bei 2003, section 3.2.3).

    Parameters
    ----------
    seed, offsets : int
        As in `verify_contact`.
    counts : sequence of int
        Active elements; the last is what the others are compared with, as published.

    Returns
    -------
    DataFrame
        Columns `active_elements`, `quantity`, and over the places of the grid, in per cent of the
        median value at the last count: `median_error_percent`, `error_95_percent` (95 % of the
        places err less) and `worst_error_percent`, all of the size of the error.

    Notes
    -----
    The cells are square, the contact area holds as many as asked for.
    """
    places = random_offsets(seed, offsets)
    errors_of = errors_of_grids(map(_sphere_of, counts), places)
    found = dict(zip(counts, errors_of, strict=True))
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
    """Places of a grid under a contact, parts of a cell, shape (count, 2)."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (count, 2))


def _sphere_of(active: int) -> tuple[KnownContact, tuple[int, int]]:
    """Sphere on square cells of which the contact area holds so many, and rows and columns."""
    cell = math.sqrt(math.pi / active)
    rows = math.ceil(2.0 / cell) + 2
    return sphere_on_layer("linear", reach=0.5 * rows * cell), (rows, rows)


def _row(
    name: str, quantity: str, exact: float, errors: Array, targets: dict[str, float]
) -> dict[str, object]:
    worst = float(errors[np.argmax(np.abs(errors))])
    return {
        "contact": name,
        "quantity": quantity,
        "unit": UNITS[quantity],
        "exact": exact,
        "computed": exact * (1.0 + worst),
        "worst_error_percent": 100.0 * abs(worst),
        "rms_error_percent": 100.0 * _rms(errors),
        "target_percent": targets.get(quantity, math.nan),
    }


def _half_space_rows(places: Array) -> list[dict[str, object]]:
    """Rows of a sphere on a half-space against Hertz."""
    modulus = contact_modulus(YOUNGS_MODULUS, POISSON_RATIO)
    exact = hertz.sphere_contact(RADIUS, DEPTH, modulus)
    known = {"force": exact.force, "peak": exact.peak_pressure, "radius": exact.semi_axes[0]}
    cell = 3.0 * exact.semi_axes[0] / _HALF_SPACE_CELLS
    line = cell * (np.arange(_HALF_SPACE_CELLS) + 0.5 - 0.5 * _HALF_SPACE_CELLS)
    errors: dict[str, list[float]] = {name: [] for name in known}
    for x, z in cell * places:
        along, across = np.meshgrid(line - x, line - z, indexing="ij")
        gap = (along**2 + across**2) / (2.0 * RADIUS)
        found = press_half_space(gap, (cell, cell), modulus, approach=DEPTH)
        radius = cell * math.sqrt(np.count_nonzero(found.pressure) / math.pi)
        values = {"force": found.force, "peak": float(found.pressure.max()), "radius": radius}
        for name, value in values.items():
            errors[name].append(value / known[name] - 1.0)
    return [
        _row("sphere, half-space", name, known[name], np.array(errors[name]), HALF_SPACE_TARGETS)
        for name in known
    ]


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))
