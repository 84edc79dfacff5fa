"""Compiled search for where many lines meet a patch, each near a known place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.geometry._kernels import PatchArrays, meet_line


@compiled
def meet_many(
    patch: PatchArrays,
    origins: NDArray,
    directions: NDArray,
    u: NDArray,
    v: NDArray,
    met: NDArray,
) -> None:
    """Move each (u, v) to where its line meets a patch, or to the border it leaves the patch by."""
    work = np.empty((6, 4))
    for n in range(origins.shape[0]):
        u[n], v[n], along = meet_line(patch, origins[n], directions[n], u[n], v[n], work)
        met[n] = np.isfinite(along)
