"""One sphere on an elastic foundation, on an elastic half-space, and by Hertz."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.reference import hertz, winkler
from kneewear.verification.analytical_contacts import (
    DEPTH,
    LEVER,
    MODULUS,
    POISSON_RATIO,
    RADIUS,
    THICKNESS,
    YOUNGS_MODULUS,
    sphere_on_layer,
)
from kneewear.verification.half_space import press_half_space, sphere_gap
from kneewear.verification.impact import contact_modulus

Array = NDArray[np.float64]
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
        {
            "model": model,
            "source": source,
            "quantity": quantity,
            "place_mm": position,
            "value": value,
        }
        for model, source, *curves in parts
        for quantity, curve in zip(("pressure", "force"), curves, strict=True)
        for position, value in zip(*curve, strict=True)
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
