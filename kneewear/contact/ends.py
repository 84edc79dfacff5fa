"""Contact where one of its surfaces ends: beyond it there is nothing, and contact is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.element_grid import border_elements
from kneewear.geometry.surface import Surface

if TYPE_CHECKING:
    from kneewear.contact.pair import ContactPair
    from kneewear.contact.resultant import Resultant

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

# Share of the force of a contact at its ends above which the cut shows in results: as much as the
# elements themselves err by.
BORDER_LIMIT = 0.005
# Share above which a result is none of the whole surfaces, where they may end as the bodies do.
BORDER_LOST = 0.05
# Borders of patches nearer to each other than this, mm, join these; they are no ends.
JOINED = 1e-2


class AtEnds(NamedTuple):
    """Contact at the ends of the fixed and of the moving surface, each (2,) or (frame, 2)."""

    pressure: Array  # largest, MPa
    force: Array  # sum of pressure times area, N
    area: Array  # of the elements, mm2


class Ends(Protocol):
    """Places where the surfaces of a pair end."""

    def touched(self, rotation: Array, translation: Array, contact: Resultant) -> Bools:
        """True where loaded elements are at an end of the fixed and moving surface, (2, n)."""


class PatchEnds:
    """Ends of the surfaces of a pair of patches.

    An element is at an end of the fixed surface if it lacks a neighbour, and at one of the moving
    surface if its nearest point there is within its own width of a border of a patch that is
    neither a seam nor a pole nor joined to another patch.
    """

    def __init__(self, pair: ContactPair) -> None:
        valid = np.zeros(pair.cells.area.shape, dtype=bool)
        valid.ravel()[pair.index] = True
        self._pair = pair
        self._outermost: Bools = border_elements(valid).ravel()[pair.index]
        points = open_borders(pair.patches)
        self._tree = scipy.spatial.cKDTree(points) if len(points) else None

    def touched(self, rotation: Array, translation: Array, contact: Resultant) -> Bools:
        """True where loaded elements are at an end of the fixed and moving surface, (2, n)."""
        element = contact.element
        centre = (self._pair.centre[element] - translation) @ rotation
        return self._touched(element, centre, contact.area, contact.penetration)

    def along(self, rotations: Array, translations: Array, contacts: Sequence[Resultant]) -> AtEnds:
        """Contact at the ends at each pose of a motion, as of `contact_at_ends`.

        One search serves all poses. Rotations are (frame, 3, 3), translations (frame, 3), mm.
        """
        count = len(contacts)
        frame = np.repeat(np.arange(count), [contact.element.size for contact in contacts])
        element, area, penetration, pressure = (
            np.concatenate([getattr(one, name) for one in contacts])
            for name in ("element", "area", "penetration", "pressure")
        )
        moved = self._pair.centre[element] - translations[frame]
        centre = np.einsum("ni,nij->nj", moved, rotations[frame])
        at = self._touched(element, centre, area, penetration) & (pressure > 0.0)
        found = AtEnds(*np.zeros((3, count, 2)))
        for end, where in enumerate(at):
            loaded, p, a = frame[where], pressure[where], area[where]
            np.maximum.at(found.pressure[:, end], loaded, p)
            found.force[:, end] = np.bincount(loaded, p * a, count)
            found.area[:, end] = np.bincount(loaded, a, count)
        return found

    def _touched(self, element: Integers, centre: Array, area: Array, penetration: Array) -> Bools:
        """As `touched`, for centres of elements in the frame of the moving body."""
        found: Bools = np.zeros((2, element.size), dtype=bool)
        found[0] = self._outermost[element]
        if self._tree is None or not element.size:
            return found
        # Nearest points are as far away as the penetration.
        width = np.sqrt(area)
        reach = float(width.max() + penetration.max())
        away, _ = self._tree.query(centre, distance_upper_bound=reach)
        near = np.flatnonzero(np.isfinite(away))
        if near.size:
            point = nearest_points(self._pair.patches, centre[near])
            found[1, near] = self._tree.query(point)[0] < width[near]
        return found


def contact_at_ends(
    ends: Ends, rotation: ArrayLike, translation: ArrayLike, contact: Resultant
) -> AtEnds:
    """Largest pressure, force and area of a contact at the ends of its two surfaces.

    Parameters
    ----------
    ends : Ends
        Of the pair.
    rotation, translation : array_like
        Pose of the moving body, (3, 3) and (3,), mm.
    contact : Resultant
        Contact at this pose.

    Returns
    -------
    AtEnds
    """
    pressure = contact.pressure
    touched = ends.touched(np.asarray(rotation), np.asarray(translation), contact)
    at: Array = np.where(touched, 1.0, 0.0) * np.where(pressure > 0.0, 1.0, 0.0)
    return AtEnds(
        (at * pressure).max(axis=1, initial=0.0),
        at @ (pressure * contact.area),
        at @ contact.area,
    )


def open_borders(patches: Sequence[Surface]) -> Array:
    """Points of the borders at which a surface of one or several patches ends, (n, 3), mm."""
    parts = []
    for patch in patches:
        points = patch.border_points()
        for other in patches:
            if other is not patch and len(points):
                u, v, *_ = other.closest_points(points)
                apart = np.linalg.norm(other.evaluate(u, v) - points, axis=1)
                points = points[apart > JOINED]
        parts.append(points)
    return np.concatenate([np.empty((0, 3)), *parts])


def nearest_points(patches: Sequence[Surface], points: Array) -> Array:
    """Nearest points of a surface of one or several patches, (n, 3), mm."""
    nearest, distance = np.full_like(points, np.nan), np.full(len(points), np.inf)
    for patch in patches:
        u, v, *_ = patch.closest_points(points)
        place = patch.evaluate(u, v)
        away = np.linalg.norm(place - points, axis=1)
        nearer = away < distance
        nearest[nearer], distance[nearer] = place[nearer], away[nearer]
    return nearest
