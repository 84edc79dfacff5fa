"""Pressure and sliding of a cycle, in the order of its frames: what wear laws read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]


class Loaded(NamedTuple):
    """Elements in contact, frame after frame: `n` pairs of a frame and an element."""

    pressure: Array  # (n,), MPa, above zero
    slip: Array  # (2, n), mm, along two perpendicular tangents
    frame: NDArray[np.intp]  # (n,), ascending
    element: NDArray[np.intp]  # (n,), number in the flattened elements


@dataclass(frozen=True, eq=False)
class History:
    """Pressure and ordered sliding of the elements in one cycle of an activity.

    Parameters
    ----------
    pressure : array, shape (n_frames, ...)
        Contact pressure, MPa; zero where the surfaces are apart.
    slip : array, shape (n_frames, ..., 2)
        Sliding during the interval that is centred on the frame, mm, along two perpendicular
        tangents of the element.

    Notes
    -----
    The interval of a frame is from the middle between it and the frame before to the middle between
    it and the frame after; `slip` is half the displacement from the frame before to the frame
    after, of the point that is at the element at the frame. Cycles close: the frame after the last
    one is the first one. Where the surfaces are apart nothing slides: the path of the unloaded body
    is not part of a history.
    """

    pressure: ArrayLike
    slip: ArrayLike

    @cached_property
    def frames(self) -> int:
        """Number of frames of the cycle."""
        return int(np.shape(self.pressure)[0])

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the elements."""
        return np.shape(self.pressure)[1:]

    @cached_property
    def loaded(self) -> Loaded:
        """Pressure and sliding where surfaces touch, in double precision.

        A sixth of the elements that are ever loaded are so in a frame.
        """
        pressure = np.asarray(self.pressure)
        at = np.flatnonzero(pressure != 0.0)
        count = math.prod(self.shape)
        slip = np.asarray(self.slip).reshape(-1, 2)[at]
        return Loaded(
            pressure.ravel()[at].astype(np.float64),
            slip.T.astype(np.float64),
            at // max(count, 1),
            at % max(count, 1),
        )

    @cached_property
    def distance(self) -> Array:
        """Sliding distance where surfaces touch, shape (n,) of :attr:`loaded`, mm."""
        along, aside = self.loaded.slip
        return np.asarray(np.sqrt(along**2 + aside**2))

    def total(self, values: Array) -> Array:
        """Sum over the frames of values of :attr:`loaded`, for each element."""
        summed = np.bincount(self.loaded.element, values, math.prod(self.shape))
        return np.asarray(summed.reshape(self.shape), dtype=np.float64)

    @cached_property
    def frictional_work(self) -> tuple[Array, Array]:
        """Work of friction, total and across its principal direction: see `frictional_work`."""
        load, (along, aside) = self.loaded.pressure, self.loaded.slip
        distance = np.hypot(along, aside)
        moving = np.where(distance > 0.0, distance, 1.0)
        cosine, sine = along / moving, aside / moving
        step = load * distance
        work = self.total(step)
        double_cosine = self.total(step * (cosine**2 - sine**2))
        double_sine = self.total(step * (2.0 * cosine * sine))
        across = 0.5 * (work - np.hypot(double_cosine, double_sine))
        return work, np.maximum(across, 0.0)

    @cached_property
    def cross_shear(self) -> Array:
        """Cross-shear ratio of the cycle, 0 to 0.5."""
        return cross_shear_ratio(*self.frictional_work)

    def of_frames(self) -> Iterator[slice]:
        """Yield the part of :attr:`loaded` of every frame of the cycle."""
        ends = np.searchsorted(self.loaded.frame, np.arange(self.frames + 1))
        yield from (slice(int(a), int(b)) for a, b in pairwise(ends))


def ordered(cycle: xr.Dataset) -> History:
    """History of a dataset of the schema CONTACT with one case."""
    return History(cycle.pressure.values[0], cycle.slip.values[0])


def cross_shear_ratio(work: ArrayLike, cross_work: ArrayLike) -> Array:
    """Work across the principal direction relative to all work, both of :func:`frictional_work`.

    From 0 (straight paths, and where nothing slides) to 0.5 (square or round ones).
    """
    total = np.asarray(work, dtype=np.float64)
    return np.asarray(cross_work, dtype=np.float64) / np.where(total > 0.0, total, 1.0)
