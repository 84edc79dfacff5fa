"""Where two bearings may touch: rectangles round the contact regions of one pose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, find_objects, label

from kneewear.geometry.bearing import Bearing
from kneewear.geometry.coverage import Rectangle
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Box = tuple[Array, Array]  # start and end along the rectangle's length and width, mm
Block = tuple[slice, slice]  # rows and columns of cells
Look = tuple[Array, Array, int]  # a box, and the cells to cut it into along each side

# Cells along each side of a box that is looked at, first and at most.
CELLS, MOST_CELLS = 12, 24
# What takes up less than this part of its box along one side is looked at more closely.
_LOOSE = 0.6
# Regions smaller than this, mm, are left out: the force of 1 um of contact is some 1e-9 N.
_SMALLEST = 1e-3
# Least room kept round a region, in cells.
_ROOM = 0.2
# Cells have the slope of their middle, and curvatures are sampled: both are taken this much worse.
_CELL_SAFETY, _CURVATURE_SAFETY = 1.25, 1.1
# Contact that could hide is sought when it could be deeper than this part of the deepest found.
_WORTH_SEEKING = 0.05
# How far a border polygon strays at most, mm; a place missed by more lies off the bearing.
_ON_THE_BEARING = 1e-3
# A place outside a bearing whose parameter lines cross its border at more than 20 deg is projected
# onto a border point at most this many times as far away as the nearest.
_ASLANT = 3.0


@dataclass(frozen=True)
class RegionSearch:
    """Search for contact regions between one bearing and the surface of the moving body.

    Parameters
    ----------
    bearing : Bearing
        Bearing of the fixed body.
    indenter : Surface
        Surface of the moving body.

    Notes
    -----
    A box of the bearing's plan is cut into 12 x 12 cells and the distance d from the middle of each
    to the indenter is found. Along the bearing d changes by N . s over a step s, with N the
    indenter's normal, and falls below that by at most k s^2 / 2, with k the curvature that hollow
    parts of both surfaces have together. With half its sides a and b as steps along the bearing, a
    cell of radius r = max |a +- b| thus holds no contact where

        d > r   or   d > |N . a| + |N . b| + k r^2 / 2.

    The second holds while r is below half the radius of the indenter's hollowest part (nearer than
    the whole of it each place has one nearest point) and is not asked where the nearest point lies
    on the indenter's border.

    What is left falls into regions (cells that touch, corners included). A region much smaller
    than its box is a box of the next search; one where contact may hide between places that
    touch nothing is searched in smaller cells, up to 24 x 24: rough surfaces and those that nearly
    conform need them. A rectangle ends where the distance, linear between the middles of cells,
    turns positive; what it cuts off is a shallow rim. No previous pose is used, and no region is
    lost while cells are small against the radii of curvature.
    """

    bearing: Bearing
    indenter: Surface

    @cached_property
    def whole(self) -> Rectangle:
        """Rectangle round the whole bearing, as one cell."""
        return self.bearing.rectangle(1, 1)

    @cached_property
    def hollowness(self) -> float:
        """Greatest curvature with which the distance may bend down, 1/mm, taken too large.

        The hollowest place of the bearing against the least convex of the indenter.
        """
        greatest = (_hollowest(self.bearing.surface), _hollowest(self.indenter))
        return max(
            sum(k * _CURVATURE_SAFETY if k > 0.0 else k / _CURVATURE_SAFETY for k in greatest), 0.0
        )

    @cached_property
    def hollow_indenter(self) -> float:
        """Curvature of the hollowest place of the indenter, 1/mm, taken too large; 0 if convex."""
        return _CURVATURE_SAFETY * max(_hollowest(self.indenter), 0.0)

    def find(self, rotation: Array, translation: Array) -> tuple[Rectangle, ...]:
        """Rectangles of the plan that hold all contact at one pose, each as one cell.

        Parameters
        ----------
        rotation : array, shape (3, 3)
            Orientation of the moving body in the frame of the fixed one.
        translation : array, shape (3,)
            Position of its origin, mm.

        Returns
        -------
        tuple of Rectangle
            Parallel to the rectangle round the bearing and apart from each other, in order of
            their place; none where the bodies are apart. One may hold nothing but a narrow gap.
        """
        found: list[Box] = []
        looks = [self._first_look]
        while looks:
            look = looks.pop()
            places = self._first_places if look is self._first_look else self._places(look)
            distance, lowest = self._distances(places, rotation, translation)
            for block in _blocks(lowest <= 0.0):
                next_look, tight = _judge(look, block, distance, lowest)
                if next_look is not None:
                    looks.append(next_look)
                elif tight is not None:
                    found.append(tight)
        found.sort(key=lambda box: tuple(box[0]))
        return tuple(self.whole.part(low, high, 1, 1) for low, high in found)

    def _distances(
        self, places: _Places, rotation: Array, translation: Array
    ) -> tuple[Array, Array]:
        """Distance at the middle of each cell and the least in it at worst; inf off the bearing."""
        local = (places.point - translation) @ rotation
        _, _, distance, line, interior = self.indenter.closest_points(local)
        fall = np.abs(places.sides @ (line @ rotation.T)[..., None]).sum(axis=(-2, -1))
        fall += 0.5 * self.hollowness * places.radius**2
        smooth = interior & (2.0 * self.hollow_indenter * places.radius < 1.0)
        fall = np.where(smooth, np.minimum(fall, places.radius), places.radius)
        lowest = np.where(places.beside, np.inf, distance - fall)
        shape = (places.number, places.number)
        return np.where(places.off, np.inf, distance).reshape(shape), lowest.reshape(shape)

    @cached_property
    def _first_look(self) -> Look:
        """At the whole bearing."""
        return np.zeros(2), np.array([self.whole.length, self.whole.width]), CELLS

    @cached_property
    def _first_places(self) -> _Places:
        """Those of the first look, which is the same for every pose."""
        return self._places(self._first_look)

    def _places(self, look: Look) -> _Places:
        """Points of the bearing over the middles of cells, and how far the cells reach."""
        low, high, count = look
        cells = self.whole.part(low, high, count, count)
        index = np.arange(cells.rows) + 0.5
        plan = cells.at(*np.meshgrid(index, index, indexing="ij")).reshape(-1, 2)
        point, along_u, along_v, *_ = self.bearing.surface.derivatives(
            *self.bearing.projection(plan)
        )
        missed = np.linalg.norm(self.bearing.projection_surface.plan(point) - plan, axis=-1)
        half = np.array([cells.length, cells.width]) / (2 * cells.rows)
        steps = _tangents(
            self.bearing.projection_surface.rates(point), np.cross(along_u, along_v), cells.angle
        )
        sides = steps * (half + missed[:, None])[..., None]
        corners = sides[:, :1] + sides[:, 1:] * np.array([[1.0], [-1.0]])
        return _Places(
            count,
            point,
            sides,
            _CELL_SAFETY * np.linalg.norm(corners, axis=-1).max(axis=-1),
            missed > _ON_THE_BEARING,
            missed > _ASLANT * float(np.hypot(*half)),
        )


class _Places(NamedTuple):
    """Points that stand for the cells of one look."""

    number: int  # of cells along each side
    point: Array  # on the bearing, over the middle of the cell or as near as it gets
    sides: Array  # half the sides of the cell as steps along the bearing, (n, 2, 3), mm
    radius: Array  # no place of the cell lies farther away, mm
    off: Bools  # the middle of the cell is not over the bearing
    beside: Bools  # no part of the cell is


def _tangents(rates: Array, normal: Array, angle: float) -> Array:
    """Steps on a surface for a unit step along rows and along columns, shape (n, 2, 3).

    They solve rates @ step = unit vector, turned by the angle of the rows, and normal . step = 0.
    """
    across = np.cross(rates[:, 1], normal)
    along = np.cross(normal, rates[:, 0])
    volume = (rates[:, 0] * across).sum(axis=-1)
    steps = np.stack([across, along], axis=1) / volume[:, None, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, sine], [-sine, cosine]]) @ steps


def _hollowest(surface: Surface) -> float:
    """Greatest sampled curvature, 1/mm, negative where the surface is convex everywhere."""
    return float(np.nanmax(surface.curvature(*surface.sample_parameters)[1]))


def _judge(
    look: Look, block: Block, distance: Array, lowest: Array
) -> tuple[Look | None, Box | None]:
    """Where to look next for the region in a block of a box's cells, or the rectangle round it.

    Neither for a region that is too small to matter.
    """
    low, high, count = look
    cell = (high - low) / count
    first = np.array([part.start for part in block])
    last = np.array([part.stop for part in block])
    start, end = low + first * cell, low + last * cell
    if (end - start).max() < _SMALLEST:
        return None, None
    if (last - first).min() <= _LOOSE * count:
        return (start, end, CELLS), None
    loaded = distance[block] < 0.0
    # Contact may also hide in cells whose neighbours are all without.
    sought = _WORTH_SEEKING * min(distance[block].min(), 0.0)
    hiding = (lowest[block] <= sought) & ~binary_dilation(loaded, np.ones((3, 3)))
    if hiding.any() and count < MOST_CELLS:
        return (start, end, 2 * count), None
    ends = [_ends(np.moveaxis(distance[block], axis, 0), np.moveaxis(hiding, axis, 0))
            for axis in (0, 1)]  # fmt: skip
    return None, (
        start + np.array([max(ahead, 0.0) for ahead, _ in ends]) * cell,
        np.minimum(start + np.array([behind for _, behind in ends]) * cell, end),
    )


def _blocks(possible: Bools) -> list[Block]:
    """Row and column ranges round connected cells; those that overlap are joined."""
    numbered, _ = label(possible, structure=np.ones((3, 3)))
    blocks = list(find_objects(numbered))
    joined: list[Block] = []
    while blocks:
        block = blocks.pop()
        clash = next((other for other in joined if _overlap(block, other)), None)
        if clash is None:
            joined.append(block)
        else:
            joined.remove(clash)
            blocks.append(tuple(slice(min(a.start, b.start), max(a.stop, b.stop))
                                for a, b in zip(block, clash, strict=True)))  # fmt: skip
    return joined


def _overlap(one: Block, other: Block) -> bool:
    return all(a.start < b.stop and b.start < a.stop for a, b in zip(one, other, strict=True))


def _ends(distance: Array, hiding: Bools) -> tuple[float, float]:
    """First and last place along the first axis, in cells, that may be in contact, and some room.

    Between middles of cells the distance is taken as linear; beyond the outermost one, and towards
    a place off the bearing, as negative all the way.
    """
    ahead = _first(distance, hiding)
    behind = len(distance) - _first(distance[::-1], hiding[::-1])
    # Between two lines of cells a round region reaches out further by 1 / (4 width) of a cell.
    room = max(_ROOM, 0.5 / max(behind - ahead, 0.5))
    return ahead - room, behind + room


def _first(distance: Array, hiding: Bools) -> float:
    """First place along the first axis, in cells, that may be in contact."""
    first = np.where(hiding.any(axis=1), np.arange(len(distance), dtype=float), np.inf).min()
    before = np.concatenate([np.full((1, distance.shape[1]), np.inf), distance[:-1]])
    row, column = np.nonzero((distance < 0.0) & (before >= 0.0))
    inside, outside = distance[row, column], before[row, column]
    share = np.where(np.isfinite(outside), inside / (inside - outside), 1.0)
    zeros = np.maximum(row + 0.5 - share, 0.0)
    return float(min(first, zeros.min(initial=np.inf)))
