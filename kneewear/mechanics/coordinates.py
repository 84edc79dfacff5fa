"""Generalized coordinates of the moving body."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Position of the moving body's origin, mm, and body-three 1-2-3 angles, rad (Bei 2003, 2.2.1).
COORDINATES = ("x", "y", "z", "theta_1", "theta_2", "theta_3")


def coordinate_numbers(names: ArrayLike) -> NDArray[np.int64]:
    """Ascending indices of coordinates by name; ValueError for unknown or repeated names."""
    given = [str(name) for name in np.atleast_1d(np.asarray(names, dtype=str))]
    unknown = sorted(set(given) - set(COORDINATES))
    if unknown or len(set(given)) < len(given):
        raise ValueError(
            f"coordinates {', '.join(given)}; expected different ones of {', '.join(COORDINATES)}"
        )
    return np.array(sorted(COORDINATES.index(name) for name in given), dtype=np.int64)
