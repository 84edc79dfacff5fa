"""The element grid of the fixed body's bearings (Bei 2003, section 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.bearing import Bearing, bearing_of
from kneewear.geometry.coverage import Rectangle, cover_cells
from kneewear.geometry.implant import SIDES, Implant

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Cells covered less than this carry nothing: together they hold under 1e-7 of a plateau.
_LEAST_FRACTION = 1e-6
# mm; the polygon that stands for a patch's border strays by 1e-5 mm.
_BORDER_MISS = 1e-3
_UNKNOWN_WHERE_INVALID = ("centre", "normal", "tangent_row", "tangent_column", "thickness")
_ARRAYS = (*_UNKNOWN_WHERE_INVALID, "area", "valid", "covered", "corners")


@dataclass(frozen=True)
class ElementGrid:
    """Contact elements on bearing surfaces of the fixed body; the first axis is the side.

    Plateaus have their elements laid on the plane y = 0. Other bearings may have theirs laid on
    another `ElementSurface`: its up, rows' and columns' directions then stand for +y, +x and +z.

    Parameters
    ----------
    centre : array, shape (n_sides, n_rows, n_columns, 3)
        Element centres on the surface, insert's frame, mm, above the middle of what their cells
        cover. Rows run along +x (or the turned rectangle's side nearest it), columns along +z.
    normal, tangent_row, tangent_column : array, shape (n_sides, n_rows, n_columns, 3)
        Local frame: outward unit normal and the unit tangents nearest +x and +z.
    area : array, shape (n_sides, n_rows, n_columns)
        True surface area, mm2 (covered projected area divided by the vertical component of the
        normal), zero where not valid.
    thickness : array, shape (n_sides, n_rows, n_columns)
        Local superior-inferior thickness of the nominal insert, mm; of a natural knee that of the
        cartilage, the shortest way to the bone.
    valid : bool array, shape (n_sides, n_rows, n_columns)
        False where the surface covers nothing of the cell; such cells carry nothing.
    covered : array, shape (n_sides, n_rows, n_columns)
        Covered part of each cell, 0 to 1.
    corners : array, shape (n_sides, n_rows + 1, n_columns + 1, 2)
        Corners of the cells in the plane y = 0: x and z, mm.
    nominal_thickness : float
        Nominal minimum thickness of the insert, mm. A case of thickness t has the local thickness
        `thickness + t - nominal_thickness`. NaN when no side's thickness varies.
    sides : tuple of str
        Names along the first axis: ("medial", "lateral"), or any others.
    unvaried : tuple of str
        Sides whose thickness is the same in every case, such as a post.
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

    def case_thickness(self, thickness: float) -> NDArray[np.float64]:
        """Local thickness of an insert of another nominal thickness.

        Parameters
        ----------
        thickness : float
            Minimum insert thickness of the case, mm.

        Returns
        -------
        array, shape (n_sides, n_rows, n_columns)
            Local thickness, mm; NaN where the grid carries nothing.

        Raises
        ------
        ValueError
            If the thickness is not positive everywhere on the grid.
        """
        varied = np.array([side not in self.unvaried for side in self.sides])
        more = np.where(varied, thickness - self.nominal_thickness, 0.0)
        local = self.thickness + more[:, None, None]
        smallest = float(np.min(local[self.valid]))
        if smallest <= 0.0:
            raise ValueError(
                f"an insert of {thickness:g} mm would be {smallest:.3g} mm thick at its thinnest "
                "element; choose a larger thickness or a smaller insert region"
            )
        return np.where(self.valid, local, np.nan)


def build_grid(implant: Implant, rows: int, columns: int) -> ElementGrid:
    """Project a rectangle of the plane y = 0 onto each plateau.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee; its plateaus carry the elements.
    rows, columns : int
        Number of elements along x and along z on each side.

    Returns
    -------
    ElementGrid
        Elements; cells that cover nothing of the plateau (or of its scanned sheet) are not valid.

    Notes
    -----
    The rectangle is the smallest one round the plateau's outline in the horizontal plane, turned
    only where that saves area. See `lay_elements` for what an element is.

    Raises
    ------
    ValueError
        If an element is steeper than 80 deg, the insert is not above its underside, or the
        underside ends under the bearing.
    """
    grids = []
    for side in SIDES:
        bearing = bearing_of(implant, side)
        cells = bearing.rectangle(rows, columns)
        grids.append(lay_elements(bearing, cells, nominal_thickness=implant.nominal_thickness))
    return join_grids(*grids)


def lay_elements(
    bearing: Bearing, cells: Rectangle, *, nominal_thickness: float | None = None
) -> ElementGrid:
    """Project the cells of a rectangle onto one bearing.

    Parameters
    ----------
    bearing : Bearing
        Surface that carries the elements, and what its cells are laid on.
    cells : Rectangle
        Cells: `bearing.rectangle(rows, columns)`, or a part of it.
    nominal_thickness : float, optional
        Nominal thickness that cases vary, mm. When absent the thickness is the same in all cases.

    Returns
    -------
    ElementGrid
        Of one side; cells that cover nothing of the bearing are not valid.

    Notes
    -----
    An element is the piece of the tangent plane above the covered part of its cell, so its area is
    the covered part divided by the component of the normal along the projecting line (Bei 2003,
    section 2.2.2), times the stretch of an element surface whose lines are not parallel. Its centre
    lies above the middle of the covered part.

    Raises
    ------
    ValueError
        If an element is steeper than 80 deg against the element surface, the layer is not above
        its underside, or the underside ends under the bearing.
    """
    shape = (cells.rows, cells.columns)
    fraction, plan = cover_cells(bearing.covered, cells)
    u, v = bearing.projection(plan.reshape(-1, 2))
    found = bearing.surface.evaluate(u, v).reshape(*shape, 3)
    # The middle of a sliver may miss a curved border by a hair; the border itself then serves.
    missed = np.linalg.norm(bearing.laid_on.plan(found) - plan, axis=-1)
    valid = (fraction > _LEAST_FRACTION) & (missed < _BORDER_MISS)
    if ((fraction == 1.0) & ~valid).any():
        raise ValueError(
            f"the {bearing.name} bearing is missed by lines across what its elements are laid on; "
            "choose another direction or a smaller region"
        )
    centre = np.where(valid[..., None], found, np.nan)
    normal = np.where(valid[..., None], bearing.surface.normal(u, v).reshape(*shape, 3), np.nan)
    upright = (normal * bearing.laid_on.up(found)).sum(axis=-1)
    if (upright[valid] < np.cos(np.radians(80.0))).any():
        raise ValueError(
            f"the {bearing.name} bearing is steeper than 80 deg or faces down somewhere, seen from "
            "what its elements are laid on; choose another direction or a smaller region"
        )
    thickness = np.full(shape, np.nan)
    thickness[valid] = bearing.thickness_at(centre[valid])
    valid = _on_the_layer(bearing.name, thickness, fraction, valid)
    fraction = np.where(valid, fraction, 0.0)
    with np.errstate(invalid="ignore"):
        stretched = cells.cell_area * fraction * bearing.laid_on.stretch(found)
        area = np.where(valid, stretched / upright, 0.0)
    normal = np.where(valid[..., None], normal, np.nan)
    tangent_row = _in_plane(bearing.laid_on.along_rows(found), normal)
    parts = {
        "centre": np.where(valid[..., None], centre, np.nan),
        "normal": normal,
        "tangent_row": tangent_row,
        "tangent_column": np.cross(tangent_row, normal),
        "area": area,
        "thickness": np.where(valid, thickness, np.nan),
        "valid": valid,
        "covered": fraction,
        "corners": cells.corners,
    }
    return ElementGrid(
        **{name: part[None] for name, part in parts.items()},
        nominal_thickness=np.nan if nominal_thickness is None else nominal_thickness,
        sides=(bearing.name,),
        unvaried=(bearing.name,) if nominal_thickness is None else (),
    )


def join_grids(*grids: ElementGrid) -> ElementGrid:
    """One grid of the sides of several.

    Parameters
    ----------
    grids : ElementGrid
        Grids of one fixed body, of any numbers of rows and columns.

    Returns
    -------
    ElementGrid
        Their sides in order. Smaller ones are filled up to the most rows and columns by cells that
        are not valid and cover nothing.

    Raises
    ------
    ValueError
        If there is no grid, two sides share a name, or two nominal thicknesses disagree.
    """
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


def _on_the_layer(name: str, thickness: Array, fraction: Array, valid: Bools) -> Bools:
    """Valid elements with a layer below them."""
    lost = valid & np.isnan(thickness)
    if (lost & (fraction == 1.0)).any():
        raise ValueError(
            f"the insert's underside ends under the {name} bearing: {int(lost.sum())} elements "
            "have nothing below them"
        )
    valid = valid & ~lost
    if (thickness[valid] <= 0.0).any():
        raise ValueError(f"the {name} bearing lies below the insert's underside somewhere")
    return valid


def _filled(values: NDArray, name: str, rows: int, columns: int) -> NDArray:
    """Array of one grid, filled up to a number of rows and columns of cells."""
    more = (rows + (name == "corners") - values.shape[1],
            columns + (name == "corners") - values.shape[2])  # fmt: skip
    width = [(0, 0), (0, more[0]), (0, more[1])] + [(0, 0)] * (values.ndim - 3)
    if name == "corners":
        return np.pad(values, width, mode="edge")
    blank = np.nan if name in _UNKNOWN_WHERE_INVALID else 0
    return np.pad(values, width, constant_values=blank)


def _in_plane(direction: Array, normal: Array) -> Array:
    """Unit vectors nearest directions in the planes across the normals."""
    tangent = direction - normal * (normal * direction).sum(axis=-1, keepdims=True)
    return tangent / np.linalg.norm(tangent, axis=-1, keepdims=True)
