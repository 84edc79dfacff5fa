"""A bearing surface that carries contact elements: its patch, its element surface, its layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.coverage import Coverage, Rectangle, bounding_rectangle, patch_coverage
from kneewear.geometry.element_surfaces import ElementSurface, Plane, Projection
from kneewear.geometry.implant import Implant
from kneewear.geometry.layers import layer_thickness
from kneewear.geometry.surface import Surface
from kneewear.geometry.underside import thickness_above
from kneewear.sides import POST

Array = NDArray[np.float64]
Thickness = Callable[[Array], Array]


@dataclass(frozen=True)
class Bearing:
    """One bearing surface of the fixed body, on which elements can be built.

    Parameters
    ----------
    name : str
        Name of the side or pair: "medial", "lateral", "post".
    surface : Surface
        The patch, normals out of the elastic layer.
    thickness : float or function
        Thickness of the layer, mm, or a function from points (n, 3) of the patch to it, shape (n,);
        NaN where there is no layer. `thickness_to` makes one.
    projection_surface : ElementSurface
        Surface that carries the cells: the plane y = 0 if not given.
    coverage : Coverage, optional
        Where the bearing exists when its patch reaches beyond it; everywhere when absent.
    """

    name: str
    surface: Surface
    thickness: float | Thickness
    projection_surface: ElementSurface = field(default_factory=Plane)
    coverage: Coverage | None = None

    @cached_property
    def covered(self) -> Coverage:
        """Plan of the bearing."""
        return self.coverage or patch_coverage(self.surface, self.projection_surface)

    @cached_property
    def projection(self) -> Projection:
        """Function from plan positions (n, 2) to the parameters u, v where their lines meet."""
        return self.projection_surface.projection(self.surface)

    def rectangle(self, rows: int, columns: int) -> Rectangle:
        """Smallest rectangle around the bearing, divided into cells."""
        turnable = self.projection_surface.turnable
        return bounding_rectangle(self.covered, rows, columns, turnable=turnable)

    def thickness_at(self, points: Array) -> Array:
        """Thickness of the layer under points (n, 3) of the surface, mm, shape (n,)."""
        if callable(self.thickness):
            return self.thickness(points)
        return np.full(len(points), float(self.thickness))


def bearing_of(implant: Implant, side: str) -> Bearing:
    """Plateau of an implant or natural knee, or the back of its post; `side` is one of its sides.

    A plateau projects its elements from the horizontal plane, and its thickness is measured
    vertically down to the insert's underside; of a natural knee it is the shortest distance through
    the cartilage to the bone. The post uses the coronal plane, and its thickness reaches to its
    front.
    """
    if side == POST and implant.cam_and_post is not None:
        coronal = Plane((1.0, 0.0, 0.0))
        pair = implant.cam_and_post
        return Bearing(POST, pair.post, thickness_to(pair.front, coronal), coronal)
    layer = implant.insert_layer
    coverage = None if implant.coverage is None else implant.coverage[side]

    def thickness(points: Array) -> Array:
        if layer is not None:
            return layer_thickness(points, layer.bone[side], layer.limits)
        return thickness_above(implant.underside, points)

    return Bearing(side, implant.insert[side], thickness, coverage=coverage)


def thickness_to(backing: float | Surface, projection_surface: ElementSurface) -> Thickness:
    """Thickness of a layer measured along the lines of its element surface.

    The layer ends at a height on the element surface (see `ElementSurface.height`), mm, or at the
    surface of a backing. The result is a function from points (n, 3) of the bearing to thicknesses
    (n,), mm; NaN where a line misses the backing.
    """

    def thickness(points: Array) -> Array:
        if not isinstance(backing, Surface):
            return projection_surface.height(points) - backing
        *_, depth, hit = backing.ray_hits(points, -projection_surface.up(points))
        return np.where(hit, depth, np.nan)

    return thickness
