"""The insert under one condyle as a solid of columns, refined under the contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.resultant import Resultant
from kneewear.contact.solid import Solid, graded_lines, with_middles
from kneewear.evidence.fe_comparison.contact import Distance
from kneewear.evidence.fe_comparison.settings import SolidElementSettings
from kneewear.geometry.grid import Bearing
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Elements along the length of a contact, at least: a narrow one needs smaller ones.
_ALONG_LENGTH = 8
# Part of the width at each end of a contact, at most, and lengths inside and outside the end, mm,
# in which elements have the size of the ends. Beyond, sizes grow by these parts of the distance.
_END_PART = 0.25
_INSIDE = 1.2
_OUTSIDE = 0.3
_GROWTH_INSIDE = 0.3
_GROWTH_OUTSIDE = 0.5
# Of lines along x and downwards: each element is at most so many times its neighbour.
_GROWTH = 1.7
# Part of the thickness below the surface with elements of equal size.
_FINE_DEPTH = 0.2
# Samples of the sizes along a line.
_SAMPLES = 4001


@dataclass(frozen=True)
class ContactBox:
    """Plan positions (x, z), mm, between which the foundation is in contact."""

    low: Array
    high: Array

    @classmethod
    def of(cls, contact: Resultant, centres: Array) -> ContactBox:
        """Box of the loaded elements of a pair whose elements have the centres (n, 3)."""
        loaded = centres[contact.element[contact.pressure > 0.0]][:, [0, 2]]
        return cls(loaded.min(axis=0), loaded.max(axis=0))

    def in_middle(self, across: Array) -> Bools:
        """True where positions z, mm, are in the middle half of the width."""
        low, high = float(self.low[1]), float(self.high[1])
        return np.abs(np.asarray(across) - 0.5 * (low + high)) < 0.25 * (high - low)


def insert_solid(
    bearing: Bearing,
    plan: tuple[Array, Array],
    box: ContactBox,
    more_thickness: float,
    sizes: SolidElementSettings,
    factor: float = 1.0,
    margins: Array | float = 1.0,
) -> tuple[Solid, Bools]:
    """Solid between a bearing and the underside, and the nodes of its surface that may be touched.

    Parameters
    ----------
    bearing : Bearing
        Plateau of the nominal insert.
    plan : arrays, shape (2,)
        Corners (x, z) of the rectangle that the solid fills, mm.
    box : ContactBox
        Contact under which elements are small.
    more_thickness : float
        By which the underside is lowered against the nominal insert, mm.
    sizes : SolidElementSettings
        Largest sizes of elements.
    factor : float
        By which the sizes are multiplied.
    margins : array, shape (2, 2), or float
        By which the lower and the upper end of the box, along x and along z, are moved outwards to
        what may be touched, in elements along x.

    Returns
    -------
    Solid, array
        The solid and, by node of its surface, whether it may be touched.

    Raises
    ------
    ValueError
        If nothing is below the bearing somewhere.
    """
    low, high = (np.asarray(corner, dtype=float) for corner in plan)
    along_size = factor * min(sizes.along_mm, float(box.high[0] - box.low[0]) / _ALONG_LENGTH)
    wider = along_size * np.broadcast_to(margins, (2, 2))
    near = np.maximum(box.low - wider[0], low), np.minimum(box.high + wider[1], high)
    lines_x = graded_lines(low[0], high[0], (near[0][0], near[1][0]), along_size, _GROWTH)
    lines_z = _lines_across(low[1], high[1], box, sizes, factor)
    x, z = np.meshgrid(with_middles(lines_x), with_middles(lines_z), indexing="ij")
    u, v = bearing.projection(np.column_stack([x.ravel(), z.ravel()]))
    points = bearing.surface.evaluate(u, v)
    local = bearing.thickness(points) if callable(bearing.thickness) else bearing.thickness
    thickness = np.broadcast_to(local, len(points)) + more_thickness
    if not (thickness > 0.0).all():
        found = "nothing" if np.isnan(thickness).any() else f"{np.nanmin(thickness):.3g} mm"
        raise ValueError(
            f"below the {bearing.name} bearing is {found} of the insert somewhere; give an "
            "underside that covers it, a smaller insert region, or a thicker insert"
        )
    typical = float(np.median(thickness))
    fine = typical * (1.0 - _FINE_DEPTH), typical
    levels = with_middles(graded_lines(0.0, typical, fine, factor * sizes.below_mm, _GROWTH))
    top = points[:, 1].reshape(x.shape)
    height = (levels / typical - 1.0) * thickness.reshape(x.shape)[..., None] + top[..., None]
    wide = (*x.shape, levels.size)
    plane = (np.broadcast_to(part[..., None], wide) for part in (x, z))
    along, across = plane
    touchable = (x > near[0][0] - 1e-6) & (x < near[1][0] + 1e-6)
    touchable &= (z > near[0][1] - 1e-6) & (z < near[1][1] + 1e-6)
    return Solid(np.stack([along, height, across], axis=-1)), touchable


def rigid_body(surface: Surface, pose: Array) -> Distance:
    """Distance to a femoral surface at a pose: position, mm, and body-three 1-2-3 angles, rad."""
    translation, rotation = pose[:3], body_three_123(pose[3:])

    def distance(points: Array) -> tuple[Array, Array]:
        _, _, found, normal, _ = surface.closest_points((points - translation) @ rotation)
        return found, normal @ rotation.T

    return distance


def _lines_across(
    low: float, high: float, box: ContactBox, sizes: SolidElementSettings, factor: float
) -> Array:
    """Borders of elements along z, close to each other where contact ends."""
    first, last = float(box.low[1]), float(box.high[1])
    inside = min(_INSIDE, _END_PART * (last - first))

    def size(at: Array) -> Array:
        within = np.minimum(at - first, last - at)
        grown = np.where(
            within > 0.0,
            _GROWTH_INSIDE * np.maximum(within - inside, 0.0),
            _GROWTH_OUTSIDE * np.maximum(-within - _OUTSIDE, 0.0),
        )
        own = sizes.ends_mm + grown
        return factor * np.where(within > 0.0, np.minimum(own, sizes.across_mm), own)

    at = np.linspace(low, high, _SAMPLES)
    density = 1.0 / size(at)
    count = np.append(0.0, np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(at)))
    whole = max(1, int(np.ceil(count[-1])))
    return np.interp(np.linspace(0.0, count[-1], whole + 1), count, at)
