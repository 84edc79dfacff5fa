"""The element grid as a raster seen from above."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.grid import ElementGrid


def cell_borders(grid: ElementGrid, side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Borders of a plateau's cells along x and along z.

    Parameters
    ----------
    grid : ElementGrid
        Elements above a regular raster of the x-z plane.
    side : int
        Index of the side.

    Returns
    -------
    x, z : array, shape (n_rows + 1,) and (n_columns + 1,)
        Borders, mm, ascending; they continue over rows and columns without any element.
    """
    centre = np.ma.masked_array(grid.centre[side], mask=np.repeat(~grid.valid[side], 3))
    return _borders(centre[..., 0].mean(axis=1)), _borders(centre[..., 2].mean(axis=0))


def _borders(middle: np.ma.MaskedArray) -> NDArray[np.float64]:
    """Borders of equally spaced cells from the middles of those that exist."""
    known = np.flatnonzero(~np.ma.getmaskarray(middle))
    values = np.asarray(middle.data, dtype=np.float64)
    step = (values[known[-1]] - values[known[0]]) / max(known[-1] - known[0], 1)
    return values[known[0]] + step * (np.arange(values.size + 1) - known[0] - 0.5)
