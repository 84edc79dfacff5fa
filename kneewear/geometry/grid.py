"""The element grid of the fixed body's bearings (Bei 2003, section 2.2.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.bearing import Bearing, bearing_of
from kneewear.geometry.coverage import Rectangle, cover_cells
from kneewear.geometry.element_grid import ElementGrid, join_grids
from kneewear.geometry.implant import Implant
from kneewear.sides import SIDES

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Cells covered less than this are not valid: together they hold under 1e-7 of a plateau.
_LEAST_FRACTION = 1e-6
# mm; the polygon that represents a patch's border deviates by 1e-5 mm.
_BORDER_MISS = 1e-3


def build_grid(implant: Implant, rows: int, columns: int) -> ElementGrid:
    """Build the elements of both plateaus by projection from the plane y = 0.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee; its plateaus carry the elements.
    rows, columns : int
        Number of elements along x and along z on each side.

    Returns
    -------
    ElementGrid
        Elements within the smallest rectangle around each plateau's outline, turned only where that
        saves area; cells that cover nothing of the plateau are not valid. See `build_elements`,
        also for errors.
    """
    grids = []
    for side in SIDES:
        bearing = bearing_of(implant, side)
        cells = bearing.rectangle(rows, columns)
        grids.append(build_elements(bearing, cells, nominal_thickness=implant.nominal_thickness))
    return join_grids(*grids)


def build_elements(
    bearing: Bearing, cells: Rectangle, *, nominal_thickness: float | None = None
) -> ElementGrid:
    """Project the cells of a rectangle onto one bearing.

    Parameters
    ----------
    bearing : Bearing
        Surface that carries the elements.
    cells : Rectangle
        Cells: `bearing.rectangle(rows, columns)`, or a part of it.
    nominal_thickness : float, optional
        Nominal thickness that cases vary, mm. When absent the thickness is the same in all cases.

    Returns
    -------
    ElementGrid
        Of one side; cells that cover nothing of the bearing are not valid.

    Raises
    ------
    ValueError
        If an element is steeper than 80 deg against the element surface, the layer is not above
        its underside, or the underside ends under the bearing.

    Notes
    -----
    An element is the part of the tangent plane above the covered part of its cell, so its area is
    the covered part divided by the component of the normal along the projecting line (Bei 2003,
    section 2.2.2), times the stretch of an element surface whose lines are not parallel. Its centre
    lies above the centroid of the covered part.
    """
    carrier = bearing.projection_surface
    shape = (cells.rows, cells.columns)
    fraction, plan = cover_cells(bearing.covered, cells)
    u, v = bearing.projection(plan.reshape(-1, 2))
    found = bearing.surface.evaluate(u, v).reshape(*shape, 3)
    # The centroid of a sliver may miss a curved border slightly; the border point is used then.
    missed = np.linalg.norm(carrier.plan(found) - plan, axis=-1)
    valid = (fraction > _LEAST_FRACTION) & (missed < _BORDER_MISS)
    if ((fraction == 1.0) & ~valid).any():
        raise ValueError(
            f"the {bearing.name} bearing is missed by lines from its projection surface; choose "
            "another direction or a smaller region"
        )
    centre = np.where(valid[..., None], found, np.nan)
    normal = np.where(valid[..., None], bearing.surface.normal(u, v).reshape(*shape, 3), np.nan)
    upright = (normal * carrier.up(found)).sum(axis=-1)
    if (upright[valid] < np.cos(np.radians(80.0))).any():
        raise ValueError(
            f"the {bearing.name} bearing is steeper than 80 deg or faces down somewhere, seen from "
            "its projection surface; choose another direction or a smaller region"
        )
    thickness = np.full(shape, np.nan)
    thickness[valid] = bearing.thickness_at(centre[valid])
    valid = _with_layer(bearing.name, thickness, fraction, valid)
    fraction = np.where(valid, fraction, 0.0)
    with np.errstate(invalid="ignore"):
        stretched = cells.cell_area * fraction * carrier.stretch(found)
        area = np.where(valid, stretched / upright, 0.0)
    normal = np.where(valid[..., None], normal, np.nan)
    tangent_row = _in_plane(carrier.along_rows(found), normal)
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


def _with_layer(name: str, thickness: Array, fraction: Array, valid: Bools) -> Bools:
    """Valid elements with a layer below them."""
    lost = valid & np.isnan(thickness)
    if (lost & (fraction == 1.0)).any():
        raise ValueError(
            f"the insert's underside ends under the {name} bearing: {int(lost.sum())} elements "
            "have no layer below them"
        )
    valid = valid & ~lost
    if (thickness[valid] <= 0.0).any():
        raise ValueError(f"the {name} bearing lies below the insert's underside somewhere")
    return valid


def _in_plane(direction: Array, normal: Array) -> Array:
    """Unit vectors nearest to directions in the planes perpendicular to the normals."""
    tangent = direction - normal * (normal * direction).sum(axis=-1, keepdims=True)
    return tangent / np.linalg.norm(tangent, axis=-1, keepdims=True)
