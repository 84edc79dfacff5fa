"""Compilation of the kernels ahead of the jobs that need them."""

from __future__ import annotations

import numpy as np

from kneewear.contact import ContactPair, Layer, SmallStrain, _kernels
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import SIDES, Implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import tabulate_surface


def compile_kernels() -> None:
    """Compile every kernel of the chain once, by pressing two small plates together.

    Notes
    -----
    Later processes load the compiled code from the cache beside the package (or in
    `NUMBA_CACHE_DIR`), so jobs that fan out afterwards do not compile side by side.
    """
    plate = _plate()
    implant = Implant(
        name="plates",
        femoral=dict.fromkeys(SIDES, plate.reversed_normal()),
        insert=dict.fromkeys(SIDES, plate),
        underside=-8.0,
        nominal_thickness=8.0,
    )
    grid = build_grid(implant, rows=4, columns=4)
    condyle = implant.femoral["medial"]
    contact = ContactPair(grid, 0, condyle, tabulate_surface(condyle, 5, 5))
    upright, lowered = np.eye(3), np.array([0.0, -0.1, 0.0])
    contact.evaluate(upright, lowered, Layer(SmallStrain(1.0), np.ones(contact.index.size)))
    contact.gap(upright, lowered)
    _kernels.slide(
        contact.centre,
        contact.tangent_row,
        contact.tangent_column,
        *(upright, lowered) * 3,
        np.empty((contact.index.size, 2)),
    )


def _plate() -> Surface:
    """A flat square of 10 mm that faces up."""
    side = np.array([-5.0, 5.0])
    z, x = np.meshgrid(side, side, indexing="ij")
    return Surface(
        control_points=np.stack([x, np.zeros_like(x), z], axis=-1),
        weights=np.ones((2, 2)),
        knots_u=np.array([0.0, 0.0, 1.0, 1.0]),
        knots_v=np.array([0.0, 0.0, 1.0, 1.0]),
        degree_u=1,
        degree_v=1,
    )
