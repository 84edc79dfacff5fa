"""Sums of depths per element over samples, kept instead of all maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.study.inputs import CaseInputs
from kneewear.study.plans import NOMINAL, ROLE
from kneewear.study.study import Study
from kneewear.study.wear import WearResult

Counts = NDArray[np.int64]
Array = NDArray[np.float64]

# Depths are summed in whole picometres and their squares in whole square nanometres: sums of whole
# numbers are exact, so they do not depend on how samples are spread over jobs. There is room for
# a million samples of 3 mm.
PICOMETRES = 1.0e9
SQUARE_NANOMETRES = 1.0e12


@dataclass(frozen=True)
class ElementSums:
    """Depths of some samples, summed by element: int arrays of shape (side, row, column).

    Sums of depths are in pm, those of squared depths in nm2; `samples` is the number of samples.
    """

    sides: tuple[str, ...]
    samples: Counts
    wear: Counts
    creep: Counts
    damage: Counts
    wear_squares: Counts
    creep_squares: Counts
    damage_squares: Counts

    def mean(self, quantity: str) -> Array:
        """Mean depth, mm, shape (side, row, column); zero without a sample."""
        count = max(int(self.samples), 1)
        return np.asarray(getattr(self, quantity) / PICOMETRES / count)

    def deviation(self, quantity: str) -> Array:
        """Standard deviation of a depth over samples, mm, shape (side, row, column)."""
        count = max(int(self.samples), 1)
        squares = getattr(self, f"{quantity}_squares") / SQUARE_NANOMETRES / count
        variance = np.maximum(squares - self.mean(quantity) ** 2, 0.0)
        return np.asarray(np.sqrt(variance * count / max(count - 1, 1)))


class SampleSums:
    """Collects the sums of depths of samples while they are computed."""

    def __init__(self, grid: ElementGrid) -> None:
        self.total = no_sums(grid)

    def add(self, row: Mapping[str, Any], result: WearResult) -> None:
        """Add the maps of a case; the case without changes and other elements are left out."""
        shape = result.maps.wear_depth.shape[2:]
        if row.get(ROLE) != NOMINAL and shape == self.total.wear.shape:
            self.total = add_sample(self.total, result.maps)


def collect_sums(study: Study, inputs: CaseInputs) -> SampleSums:
    """Keep the sums of depths of all cases."""
    return SampleSums(inputs.nominal_knee.grid)


def no_sums(grid: ElementGrid) -> ElementSums:
    """Sums of no sample on a grid."""
    zero = np.zeros(grid.area.shape, dtype=np.int64)
    return ElementSums(grid.sides, np.zeros((), np.int64), *(zero for _ in range(6)))


def add_sample(sums: ElementSums, maps: xr.Dataset) -> ElementSums:
    """Sums with one more sample: maps of one case and life."""
    depths = [maps[f"{name}_depth"].values for name in ("wear", "creep", "damage")]
    whole = [np.rint(PICOMETRES * depth[0, 0]).astype(np.int64) for depth in depths]
    square = [np.rint(SQUARE_NANOMETRES * depth[0, 0] ** 2).astype(np.int64) for depth in depths]
    one = ElementSums(sums.sides, np.ones((), np.int64), *whole, *square)
    return join_sums([sums, one])


def join_sums(parts: Sequence[ElementSums]) -> ElementSums:
    """Sums of several parts of different samples on one grid: the same bits in any order."""
    names = [field.name for field in fields(ElementSums) if field.name != "sides"]
    totals = {name: np.sum([getattr(part, name) for part in parts], axis=0) for name in names}
    return ElementSums(parts[0].sides, **totals)
