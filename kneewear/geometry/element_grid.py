"""Contact elements as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry import _area_kernels
from kneewear.mechanics.arrays import make_read_only

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

_UNKNOWN_WHERE_INVALID = ("centre", "normal", "tangent_row", "tangent_column", "thickness")
_ARRAYS = (*_UNKNOWN_WHERE_INVALID, "area", "valid", "covered", "corners")


@dataclass(frozen=True)
class ElementGrid:
    """Contact elements on bearing surfaces of the fixed body; the first axis is the side.

    The elements of plateaus are projected from the plane y = 0. Those of other bearings may be
    projected from another `Plane`, whose up, rows' and columns' directions then replace
    +y, +x and +z. Arrays have the shape (n_sides, n_rows, n_columns), and (..., 3) for vectors.

    Parameters
    ----------
    centre : array
        Element centres on the surface, insert's frame, mm, above the centroid of what their cells
        cover. Rows run along +x (or the turned rectangle's side nearest it), columns along +z.
    normal, tangent_row, tangent_column : array
        Local frame: outward unit normal and the unit tangents nearest +x and +z.
    area, thickness : array
        True surface area, mm2 (covered projected area divided by the vertical component of the
        normal), zero where not valid; and local vertical thickness of the nominal insert, mm (of a
        natural knee the shortest distance through the cartilage to the bone).
    valid, covered : array
        Covered part of each cell, 0 to 1, and whether it carries load: False where the surface
        covers nothing of the cell.
    corners : array, shape (n_sides, n_rows + 1, n_columns + 1, 2)
        Corners of the cells in the plane y = 0: x and z, mm.
    nominal_thickness : float
        Nominal minimum thickness of the insert, mm. A case of thickness t has the local thickness
        `thickness + t - nominal_thickness`. NaN when no side's thickness varies.
    sides, unvaried : tuple of str
        Names along the first axis, such as "medial"; and those whose thickness is the same in every
        case, such as a post.
    """

    centre: Array
    normal: Array
    tangent_row: Array
    tangent_column: Array
    area: Array
    thickness: Array
    valid: Bools
    covered: Array
    corners: Array
    nominal_thickness: float
    sides: tuple[str, ...]
    unvaried: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        make_read_only(self, _ARRAYS)

    def cell_edges(self, side: int) -> tuple[float, float]:
        """Edges of the cells of a side along its columns and along its rows, mm."""
        corners = self.corners[side]
        return (
            float(np.linalg.norm(corners[1, 0] - corners[0, 0])),
            float(np.linalg.norm(corners[0, 1] - corners[0, 0])),
        )

    def case_thickness(self, thickness: float) -> NDArray[np.float64]:
        """Local thickness, mm, of an insert of another minimum thickness; NaN where not valid.

        A thickness that is not positive everywhere on the grid raises a ValueError.
        """
        varied = np.array([side not in self.unvaried for side in self.sides])
        more = np.where(varied, thickness - self.nominal_thickness, 0.0)
        local = self.thickness + more[:, None, None]
        smallest = float(np.min(local[self.valid]))
        if not 0.0 < smallest < np.inf:
            raise ValueError(
                f"an insert of {thickness:g} mm would be {smallest:.3g} mm thick at its thinnest "
                "element; choose a larger thickness or a smaller insert region"
            )
        return np.where(self.valid, local, np.nan)


def border_elements(valid: Bools) -> Bools:
    """Valid elements of one side (row, column) that lack a valid neighbour: contact ends there."""
    padded = np.pad(valid, 1)
    inner = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    found: Bools = valid & ~inner
    return found


def covered_area(value: ArrayLike, area: ArrayLike) -> float:
    """Area, mm2, of the elements of one side on which a value is positive, finer than the elements.

    Parameters
    ----------
    value : array_like, shape (n_rows, n_columns)
        Penetration, mm, or another value that decreases to zero at a finite slope where contact
        ends, such as pressure; zero, negative or NaN in inactive elements.
    area : array_like, shape (n_rows, n_columns)
        Areas of the elements, mm2, zero where there is none.

    Notes
    -----
    Around each active element the value is a quadratic function of row and column, by central
    differences. Beyond the outermost active element of a line the value is extrapolated: by three
    active elements in line, or by fewer and those of the line beside it. The positive part of the
    function, within the element and within inactive ones beside it (the mean over active ones on
    their sides), is the covered part of their areas. For a paraboloid on equal cells the error is
    that of the numerical integration, below 0.02 % from six elements across on; for other smooth
    values it decreases with the third power of the size of the elements.

    Contact can end abruptly: at an edge of either body. The area then ends with the last active
    element or, where there is no element, with the grid: nothing is extrapolated beyond it. This is
    assumed where the extrapolated value is still half of its neighbour's, and of values that
    cannot be extrapolated, as of single elements, which count as a whole.
    """
    shape = np.shape(area)
    if np.shape(value) != shape or len(shape) != 2:
        raise ValueError(
            f"values of shape {np.shape(value)} and areas of {shape}; expected one shape"
        )
    return float(
        _area_kernels.cut_area(*(np.require(part, float, ["C", "W"]) for part in (value, area)))
    )


def join_grids(*grids: ElementGrid) -> ElementGrid:
    """Grid of the sides of several grids of a body, in order; cells added to fill are not valid."""
    sides = tuple(side for grid in grids for side in grid.sides)
    if not sides or len(set(sides)) != len(sides):
        raise ValueError(f"a grid needs sides of different names; found {sides}")
    nominal = {grid.nominal_thickness for grid in grids if set(grid.sides) - set(grid.unvaried)}
    if len(nominal) > 1:
        raise ValueError(f"grids of one body need one nominal thickness; found {sorted(nominal)}")
    rows, columns = (max(grid.valid.shape[axis] for grid in grids) for axis in (1, 2))
    parts = {
        name: np.concatenate([_filled(getattr(grid, name), name, rows, columns) for grid in grids])
        for name in _ARRAYS
    }
    return ElementGrid(
        **parts,
        nominal_thickness=nominal.pop() if nominal else np.nan,
        sides=sides,
        unvaried=tuple(side for grid in grids for side in grid.unvaried),
    )


def _filled(values: NDArray[Any], name: str, rows: int, columns: int) -> NDArray[Any]:
    """Array of one grid, extended to a number of rows and columns of cells."""
    extra = name == "corners"
    width = [(0, 0)] * values.ndim
    width[1] = 0, rows + extra - values.shape[1]
    width[2] = 0, columns + extra - values.shape[2]
    if extra:
        return np.pad(values, width, mode="edge")
    blank = np.nan if name in _UNKNOWN_WHERE_INVALID else 0
    return np.pad(values, width, constant_values=blank)
