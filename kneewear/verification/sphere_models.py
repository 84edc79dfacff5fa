"""One sphere on an elastic foundation, on an elastic half-space, and by Hertz."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.resultant import Resultant
from kneewear.reference import hertz, winkler
from kneewear.verification.analytical_contacts import (
    DEPTH,
    LEVER,
    MODULUS,
    POISSON_RATIO,
    RADIUS,
    THICKNESS,
    UPRIGHT,
    YOUNGS_MODULUS,
    build_pair,
    sphere_on_layer,
)
from kneewear.verification.half_space import HalfSpaceContact, contact_modulus, press_half_space

Array = NDArray[np.float64]

# E* of the same polyethylene as a thick body, MPa.
HALF_SPACE_MODULUS = contact_modulus(YOUNGS_MODULUS, POISSON_RATIO)
LOAD = winkler.sphere_force(RADIUS, DEPTH, MODULUS, THICKNESS)
DEEPEST = 0.4
_CELLS = 28


def compare_sphere_models() -> pd.DataFrame:
    """Pressure under one load, and force over the approach, of three models of one sphere.

    Returns
    -------
    DataFrame
        Columns `model` (foundation or half-space), `source` (computed, or exact: the closed form
        of the foundation, and Hertz), `quantity` (`pressure`, MPa, over the distance from the axis
        under `LOAD`; `force`, N, over the approach), `place_mm` and `value`.

    Notes
    -----
    The polyethylene is the same, the bodies are not: a layer that cannot spread and whose places do
    not feel each other, and a thick body. Neither is the other's error.
    """
    parts = (
        ("foundation", "computed", *_foundation()),
        ("half-space", "computed", *_half_space()),
        ("foundation", "exact", *_winkler()),
        ("half-space", "exact", *_hertz()),
    )
    rows = [
        {"model": model, "source": source, "quantity": quantity, "place_mm": place, "value": value}
        for model, source, *curves in parts
        for quantity, curve in zip(("pressure", "force"), curves, strict=True)
        for place, value in zip(*curve, strict=True)
    ]
    return pd.DataFrame(rows)


Curve = tuple[Array, Array]


def _foundation() -> tuple[Curve, Curve]:
    """Pressure profile and force curve of the engine."""
    pair, layer, _ = build_pair(sphere_on_layer("linear", reach=1.5), (_CELLS, _CELLS))

    def press(depth: float) -> Resultant:
        return pair.evaluate(UPRIGHT, np.array([0.0, RADIUS - depth, LEVER]), layer)

    found = press(DEPTH)
    place = np.hypot(pair.centre[found.element, 0], pair.centre[found.element, 2] - LEVER)
    depths = np.linspace(0.0, DEEPEST, 9)[1:]
    forces = np.array([press(depth).wrench[1] for depth in depths])
    return _sorted(place, found.pressure), (depths, forces)


def _half_space() -> tuple[Curve, Curve]:
    """Pressure profile and force curve of the half-space."""
    half = 1.5 * math.sqrt(RADIUS * DEEPEST)
    cell = 2.0 * half / _CELLS
    line = cell * (np.arange(_CELLS) + 0.5) - half
    place = np.hypot(line[:, None], line)

    def press(approach: float | None = None) -> HalfSpaceContact:
        gap = place**2 / (2.0 * RADIUS)
        load = LOAD if approach is None else None
        size = (cell, cell)
        return press_half_space(gap, size, HALF_SPACE_MODULUS, approach=approach, load=load)

    depths = np.linspace(0.0, DEEPEST, 9)[1:]
    forces = np.array([press(float(depth)).force for depth in depths])
    return _sorted(place.ravel(), press().pressure.ravel()), (depths, forces)


def _winkler() -> tuple[Curve, Curve]:
    """The foundation's closed forms."""
    place = np.linspace(0.0, winkler.contact_radius(RADIUS, DEPTH), 200)
    depth = RADIUS - np.hypot(place, RADIUS - DEPTH)
    depths = np.linspace(0.0, DEEPEST, 81)
    forces = [winkler.sphere_force(RADIUS, float(d), MODULUS, THICKNESS) for d in depths]
    return (place, MODULUS / THICKNESS * depth), (depths, np.array(forces))


def _hertz() -> tuple[Curve, Curve]:
    """Hertz's pressure and force."""
    contact = hertz.ellipse_contact((RADIUS, RADIUS), LOAD, HALF_SPACE_MODULUS)
    place = np.linspace(0.0, contact.semi_axes[0], 200)
    pressure = np.array([contact.pressure(float(r), 0.0) for r in place])
    depths = np.linspace(0.0, DEEPEST, 81)
    forces = [hertz.sphere_contact(RADIUS, float(d), HALF_SPACE_MODULUS).force for d in depths]
    return (place, pressure), (depths, np.array(forces))


def _sorted(place: Array, pressure: Array) -> Curve:
    """Loaded elements by their distance from the axis, one of each ring."""
    loaded = pressure > 0.0
    rings, first = np.unique(place[loaded].round(6), return_index=True)
    return rings, pressure[loaded][first]
