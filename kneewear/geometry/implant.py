"""The implant: bearing surfaces of femoral component and insert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.surface import Surface

SIDES = ("medial", "lateral")


@dataclass(frozen=True)
class Coverage:
    """Part of the horizontal plane over which a scanned bearing surface really exists.

    Parameters
    ----------
    x, z : array, shape (n_x,) and (n_z,)
        Raster coordinates in the insert's frame, mm, ascending and equally spaced.
    inside : bool array, shape (n_x, n_z)
        True where a vertical line meets the scanned sheet.
    """

    x: NDArray[np.float64]
    z: NDArray[np.float64]
    inside: NDArray[np.bool_]

    def contains(self, x: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether the sheet exists at the raster point nearest each position.

        Parameters
        ----------
        x, z : array
            Positions, mm, of equal shape.

        Returns
        -------
        bool array
            False outside the raster.
        """
        step_x, step_z = self.x[1] - self.x[0], self.z[1] - self.z[0]
        row = np.rint((x - self.x[0]) / step_x).astype(int)
        column = np.rint((z - self.z[0]) / step_z).astype(int)
        on_raster = (row >= 0) & (row < self.x.size) & (column >= 0) & (column < self.z.size)
        row, column = np.clip(row, 0, self.x.size - 1), np.clip(column, 0, self.z.size - 1)
        return on_raster & self.inside[row, column]


@dataclass(frozen=True)
class Implant:
    """Bearing surfaces of a total knee replacement, as a right knee.

    Parameters
    ----------
    name : str
        Name shown in tables and figures.
    femoral : mapping of side to Surface
        Condyles in the femoral component's frame, normals pointing out of the metal.
    insert : mapping of side to Surface
        Plateaus in the insert's frame, normals pointing up, out of the polyethylene.
    underside : float
        Height of the insert's flat underside in its frame, mm; the local thickness is measured
        down to it in the superior-inferior direction.
    nominal_thickness : float
        Minimum thickness the implant is sold by, mm: a property stated with the implant.
    left : bool
        True when the user's knee is a left one (mirrored on reading; inside it is a right knee).
    coverage : mapping of side to Coverage, optional
        Where a plateau exists when its patch reaches beyond it; everywhere when absent.
    """

    name: str
    femoral: Mapping[str, Surface]
    insert: Mapping[str, Surface]
    underside: float
    nominal_thickness: float
    left: bool = False
    coverage: Mapping[str, Coverage] | None = None
