"""The element grid of the fixed body's bearings (Bei 2003, section 2.2.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.base.sides import POST
from kneewear.geometry.coverage import (
    Coverage,
    Rectangle,
    bounding_rectangle,
    cover_cells,
    patch_coverage,
)
from kneewear.geometry.element_grid import ElementGrid, join_grids
from kneewear.geometry.implant import Implant, InsertLayer
from kneewear.geometry.plane import Plane, Projection
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import (
    Thickness,
    layer_thickness,
    thickness_above,
    thickness_to,
    without_bone,
)

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Cells covered less than this are not valid: together they hold under 1e-7 of a plateau.
MIN_FRACTION = 1e-6
# mm; the polygon that represents a patch's border deviates by 1e-5 mm.
_BORDER_MISS = 1e-3
_STEEPEST_DEG = 80.0


@dataclass(frozen=True)
class Bearing:
    """One bearing surface of the fixed body, on which elements can be built."""

    name: str  # of the side or pair: "medial", "lateral", "post"
    surface: Surface  # the patch, normals out of the elastic layer
    # Of the layer, mm, or a function from points of the patch to it; `thickness_to` makes one.
    thickness: float | Thickness
    plane: Plane = field(default_factory=Plane)  # carries the cells
    coverage: Coverage | None = None  # where the bearing exists when its patch reaches beyond it
    # Whether a point has no bone under its normal; None where every point has a layer.
    without_bone: Callable[[Array], Bools] | None = None
    layer_may_end: bool = False  # elements without a layer are left out, not refused

    @cached_property
    def covered(self) -> Coverage:
        """Plan of the bearing."""
        return self.coverage or patch_coverage(self.surface, self.plane)

    @cached_property
    def projection(self) -> Projection:
        """Function from plan positions (n, 2) to the parameters u, v where their lines meet."""
        return self.plane.projection(self.surface)

    def rectangle(self, rows: int, columns: int) -> Rectangle:
        """Smallest rectangle around the bearing, divided into cells."""
        return bounding_rectangle(self.covered, rows, columns)


def bearing_of(implant: Implant, side: str) -> Bearing:
    """Plateau of an implant or natural knee, or the back of its post; `side` is one of its sides.

    A plateau projects its elements from the horizontal plane, down to the insert's underside; of a
    natural knee the thickness is the shortest distance through the cartilage to the bone. The post
    uses the coronal plane, and its thickness reaches to its front.
    """
    if side == POST and implant.cam_and_post is not None:
        coronal = Plane((1.0, 0.0, 0.0))
        pair = implant.cam_and_post
        return Bearing(POST, pair.post, thickness_to(pair.front, coronal), coronal)
    layer = implant.insert_layer
    coverage = None if implant.coverage is None else implant.coverage[side]

    if layer is not None and layer.coverage is not None:
        return _bearing_of_cartilage(side, implant.insert[side], layer, coverage)

    def thickness(points: Array) -> Array:
        if layer is not None:
            normal = layer.normal(implant.insert[side], points)
            return layer_thickness(points, layer.bone[side], layer.limits, normal)
        return thickness_above(implant.underside, points)

    return Bearing(side, implant.insert[side], thickness, coverage=coverage)


def _bearing_of_cartilage(
    side: str, cartilage: Surface, layer: InsertLayer, coverage: Coverage | None
) -> Bearing:
    """Plateau of a tibia whose bone was measured on a part of it only; see `InsertLayer`."""
    bone, measured = layer.bone[side], (layer.coverage or {})[side]

    def lost(points: Array) -> Bools:
        return without_bone(points, cartilage, bone, measured)

    def thickness(points: Array) -> Array:
        values = layer_thickness(points, bone, layer.limits, layer.normal(cartilage, points))
        boneless = lost(points)
        if layer.beyond == "leave_out":
            return np.where(boneless, np.nan, values)
        if layer.points is not None and boneless.any():
            nearest = scipy.spatial.cKDTree(layer.points).query(points[boneless])[0]
            values[boneless] = np.clip(nearest, *layer.limits)
        return values

    ends = layer.beyond == "leave_out"
    return Bearing(side, cartilage, thickness, Plane(), coverage, lost, ends)


def build_grid(implant: Implant, rows: int, columns: int) -> ElementGrid:
    """Build the elements of all plateaus, rows x columns each, by projection from the plane y = 0.

    They lie within the smallest rectangle around each plateau's outline; see `build_elements`.
    """
    grids = []
    for side in implant.insert:
        bearing = bearing_of(implant, side)
        cells = bearing.rectangle(rows, columns)
        grids.append(build_elements(bearing, cells, nominal_thickness=implant.nominal_thickness))
    return join_grids(*grids)


def build_elements(
    bearing: Bearing, cells: Rectangle, *, nominal_thickness: float | None = None
) -> ElementGrid:
    """Project the cells of a rectangle onto one bearing: a grid of one side.

    `cells` are `bearing.rectangle(rows, columns)`, or a part of it; those that cover nothing of the
    bearing are not valid. `nominal_thickness` is the one that cases vary, mm; when absent the
    thickness is the same in all cases. ValueError if an element is steeper than 80 deg against the
    bearing's plane, the layer is not above its underside, or the underside ends under the bearing.

    An element is the part of the tangent plane above the covered part of its cell, so its area is
    the covered part divided by the component of the normal along the projecting line (Bei 2003,
    section 2.2.2). Its centre lies above the centroid of the covered part.
    """
    shape = (cells.rows, cells.columns)
    fraction, plan = cover_cells(bearing.covered, cells)
    u, v = bearing.projection(plan.reshape(-1, 2))
    found = bearing.surface.evaluate(u, v).reshape(*shape, 3)
    # The centroid of a sliver may miss a curved border slightly; the border point is used then.
    missed = np.linalg.norm(bearing.plane.plan(found) - plan, axis=-1)
    valid = (fraction > MIN_FRACTION) & (missed < _BORDER_MISS)
    advice = "from its plane; choose another direction or a smaller region"
    if ((fraction == 1.0) & ~valid).any():
        raise ValueError(f"the {bearing.name} bearing is missed by lines {advice}")
    centre = np.where(valid[..., None], found, np.nan)
    normal = np.where(valid[..., None], bearing.surface.normal(u, v).reshape(*shape, 3), np.nan)
    along_rows, up, _ = bearing.plane.frame
    upright = (normal * up).sum(axis=-1)
    if (upright[valid] < np.cos(np.radians(_STEEPEST_DEG))).any():
        raise ValueError(
            f"the {bearing.name} bearing is steeper than {_STEEPEST_DEG:g} deg or faces down "
            f"somewhere, seen {advice}"
        )
    thickness = np.full(shape, np.nan)
    local = bearing.thickness
    thickness[valid] = local(centre[valid]) if callable(local) else local
    refused = valid & (fraction == 1.0) & (not bearing.layer_may_end)
    valid = _with_layer(bearing.name, thickness, refused, valid)
    fraction = np.where(valid, fraction, 0.0)
    with np.errstate(invalid="ignore"):
        area = np.where(valid, cells.cell_area * fraction / upright, 0.0)
    normal = np.where(valid[..., None], normal, np.nan)
    # Nearest to the rows' direction in the plane of the element.
    tangent_row = along_rows - normal * (normal * along_rows).sum(axis=-1, keepdims=True)
    tangent_row = tangent_row / np.linalg.norm(tangent_row, axis=-1, keepdims=True)
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


def _with_layer(name: str, thickness: Array, refused: Bools, valid: Bools) -> Bools:
    """Valid elements with a layer below them, which none of the `refused` ones may lack."""
    lost = valid & np.isnan(thickness)
    if (lost & refused).any():
        raise ValueError(
            f"the insert's underside ends under the {name} bearing: {int(lost.sum())} elements "
            "have no layer below them"
        )
    valid = valid & ~lost
    if (thickness[valid] <= 0.0).any():
        raise ValueError(f"the {name} bearing lies below the insert's underside somewhere")
    return valid
