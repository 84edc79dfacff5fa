"""Contact with an element grid of its own for each contact region of a pose."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, find_objects, label

from kneewear.contact.foundation import Layer, PressureLaw
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.geometry.coverage import Rectangle
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Block = tuple[slice, slice]  # rows and columns of cells

# Cells along each side of a box, first and at most.
CELLS, MAX_CELLS = 12, 24
# A region that fills less than this fraction of its box along one side is searched again.
_LOOSE = 0.6
# Smaller regions, mm, are ignored: the force of 1 um of contact is some 1e-9 N.
_SMALLEST = 1e-3
# Smallest margin round a region, in cells.
_MARGIN = 0.2
# Cells have the slope of their middle, and curvatures are sampled: safety factors of both.
_CELL_SAFETY, _CURVATURE_SAFETY = 1.25, 1.1
# Undetected contact matters if it could be deeper than this fraction of the deepest found.
_RELEVANT_DEPTH = 0.05
# Largest deviation of a border polygon, mm; a position missed by more is off the bearing.
_ON_THE_BEARING = 1e-3
# A position outside a bearing whose parameter lines cross its border at more than 20 deg is
# projected onto a border point at most this many times as far away as the nearest.
_ASLANT = 3.0


class _Box(NamedTuple):
    """Part of the plan, cut into cells."""

    low: Array  # start along the whole rectangle's length and width, mm
    high: Array  # end
    cells: int  # along each side


class _Samples(NamedTuple):
    """Points of the bearing in the middle of the cells of a box."""

    cells: int  # along each side
    point: Array  # on the bearing, over the middle of the cell or nearest to it
    half_sides: Array  # half the sides of the cell as steps along the bearing, (n, 2, 3), mm
    radius: Array  # upper bound of the distance of any point of the cell, mm
    off: Bools  # the middle of the cell is not over the bearing
    outside: Bools  # no part of the cell is


@dataclass(frozen=True)
class RegionSearch:
    """Search for contact regions between one bearing and the surface of the moving body.

    Notes
    -----
    A box of the bearing's plan is cut into 12 x 12 cells, and the distance d from the middle of
    each to the indenter is computed. Over a step s along the bearing d changes by N . s, with N the
    indenter's normal, and is lower than that by at most k s^2 / 2, with k the largest sum of the
    concave curvatures of both surfaces. With a and b half the sides of a cell as steps along the
    bearing, a cell of radius r = max |a +- b| thus holds no contact where

        d > r   or   d > |N . a| + |N . b| + k r^2 / 2.

    The second criterion applies while r is below half the smallest concave radius of the indenter
    (within that radius the nearest point is unique) and the nearest point is not on its border.

    The remaining cells form regions (connected, corners included). A region much smaller than its
    box is the box of another search. A box in which contact may be undetected between separated
    points is searched with up to 24 x 24 cells, as rough and nearly conforming surfaces need. A
    rectangle ends where the distance, linear between the middles of cells, becomes positive; what
    it cuts off is a shallow rim. The search does not depend on previous poses, and no region is
    lost while cells are small against the radii of curvature.
    """

    bearing: Bearing
    indenter: Surface

    @cached_property
    def whole(self) -> Rectangle:
        """Rectangle round the whole bearing, as one cell."""
        return self.bearing.rectangle(1, 1)

    @cached_property
    def max_concavity(self) -> float:
        """Upper bound of the negative second derivative of the distance along the bearing, 1/mm."""
        greatest = (_max_curvature(self.bearing.surface), _max_curvature(self.indenter))
        bounds = (k * _CURVATURE_SAFETY if k > 0.0 else k / _CURVATURE_SAFETY for k in greatest)
        return max(sum(bounds), 0.0)

    @cached_property
    def indenter_concavity(self) -> float:
        """Upper bound of the indenter's concave curvature, 1/mm; 0 if convex."""
        return _CURVATURE_SAFETY * max(_max_curvature(self.indenter), 0.0)

    def find(self, rotation: Array, translation: Array) -> tuple[Rectangle, ...]:
        """Rectangles of the plan that hold all contact at one pose, each as one cell.

        They are parallel to the rectangle round the bearing, disjoint and ordered by position;
        none where the bodies are apart. One may hold only a narrow gap.
        """
        found: list[_Box] = []
        boxes = [self._first_box]
        while boxes:
            box = boxes.pop()
            samples = self._first_samples if box is self._first_box else self._samples(box)
            distance, lowest = self._distances(samples, rotation, translation)
            for block in _blocks(lowest <= 0.0):
                next_box, final = _judge(box, block, distance, lowest)
                if next_box is not None:
                    (found if final else boxes).append(next_box)
        found.sort(key=lambda box: tuple(box.low))
        return tuple(self.whole.part(box.low, box.high, 1, 1) for box in found)

    def _distances(
        self, samples: _Samples, rotation: Array, translation: Array
    ) -> tuple[Array, Array]:
        """Distance at the middle of each cell and lower bound in it; inf off the bearing."""
        local = (samples.point - translation) @ rotation
        _, _, distance, normal, interior = self.indenter.closest_points(local)
        fall = np.abs(samples.half_sides @ (normal @ rotation.T)[..., None]).sum(axis=(-2, -1))
        fall += 0.5 * self.max_concavity * samples.radius**2
        smooth = interior & (2.0 * self.indenter_concavity * samples.radius < 1.0)
        fall = np.where(smooth, np.minimum(fall, samples.radius), samples.radius)
        lowest = np.where(samples.outside, np.inf, distance - fall)
        shape = (samples.cells, samples.cells)
        return np.where(samples.off, np.inf, distance).reshape(shape), lowest.reshape(shape)

    @cached_property
    def _first_box(self) -> _Box:
        """Box of the whole bearing."""
        return _Box(np.zeros(2), np.array([self.whole.length, self.whole.width]), CELLS)

    @cached_property
    def _first_samples(self) -> _Samples:
        """Samples of the first box, the same at every pose."""
        return self._samples(self._first_box)

    def _samples(self, box: _Box) -> _Samples:
        cells = self.whole.part(box.low, box.high, box.cells, box.cells)
        index = np.arange(cells.rows) + 0.5
        plan = cells.at(*np.meshgrid(index, index, indexing="ij")).reshape(-1, 2)
        surface, plane = self.bearing.surface, self.bearing.projection_surface
        point, along_u, along_v, *_ = surface.derivatives(*self.bearing.projection(plan))
        at = plane.at(point)
        missed = np.linalg.norm(at.plan - plan, axis=-1)
        half = np.array([cells.length, cells.width]) / (2 * cells.rows)
        steps = _tangents(at.rates, np.cross(along_u, along_v), cells.angle)
        half_sides = steps * (half + missed[:, None])[..., None]
        corners = half_sides[:, :1] + half_sides[:, 1:] * np.array([[1.0], [-1.0]])
        radius = _CELL_SAFETY * np.linalg.norm(corners, axis=-1).max(axis=-1)
        outside = missed > _ASLANT * float(np.hypot(*half))
        return _Samples(box.cells, point, half_sides, radius, missed > _ON_THE_BEARING, outside)


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


def _max_curvature(surface: Surface) -> float:
    """Largest sampled curvature, 1/mm; negative where the surface is convex everywhere."""
    return float(np.nanmax(surface.curvature(*surface.sample_parameters)[1]))


def _judge(box: _Box, block: Block, distance: Array, lowest: Array) -> tuple[_Box | None, bool]:
    """Box round the region in a block of cells, and whether it is final or to be searched again.

    None for a region that is too small to matter.
    """
    cell = (box.high - box.low) / box.cells
    first, last = (
        np.array([getattr(part, end) for part in block], float) for end in ("start", "stop")
    )
    start, end = box.low + first * cell, box.low + last * cell
    if (end - start).max() < _SMALLEST:
        return None, False
    if (last - first).min() <= _LOOSE * box.cells:
        return _Box(start, end, CELLS), False
    loaded = distance[block] < 0.0
    # Contact may be undetected in cells without loaded neighbours.
    relevant = _RELEVANT_DEPTH * min(distance[block].min(), 0.0)
    undetected = (lowest[block] <= relevant) & ~binary_dilation(loaded, np.ones((3, 3)))
    if undetected.any() and box.cells < MAX_CELLS:
        return _Box(start, end, 2 * box.cells), False
    ends = np.array([_ends(distance[block], undetected), _ends(distance[block].T, undetected.T)])
    low = start + np.maximum(ends[:, 0], 0.0) * cell
    return _Box(low, np.minimum(start + ends[:, 1] * cell, end), 1), True


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
            (row, column), (other_row, other_column) = block, clash
            blocks.append((_hull(row, other_row), _hull(column, other_column)))
    return joined


def _overlap(one: Block, other: Block) -> bool:
    return all(a.start < b.stop and b.start < a.stop for a, b in zip(one, other, strict=True))


def _hull(one: slice, other: slice) -> slice:
    return slice(min(one.start, other.start), max(one.stop, other.stop))


def _ends(distance: Array, undetected: Bools) -> tuple[float, float]:
    """First and last position along the first axis, in cells, of possible contact, with a margin.

    The distance is linear between middles of cells; beyond the outermost one, and towards a
    position off the bearing, it is taken as negative.
    """
    ahead = _first(distance, undetected)
    behind = len(distance) - _first(distance[::-1], undetected[::-1])
    # Between two lines of cells a round region extends further by 1 / (4 width) of a cell.
    margin = max(_MARGIN, 0.5 / max(behind - ahead, 0.5))
    return ahead - margin, behind + margin


def _first(distance: Array, undetected: Bools) -> float:
    """First position along the first axis, in cells, of possible contact."""
    first = np.where(undetected.any(axis=1), np.arange(len(distance), dtype=float), np.inf).min()
    before = np.concatenate([np.full((1, distance.shape[1]), np.inf), distance[:-1]])
    row, column = np.nonzero((distance < 0.0) & (before >= 0.0))
    inside, outside = distance[row, column], before[row, column]
    share = np.where(np.isfinite(outside), inside / (inside - outside), 1.0)
    zeros = np.maximum(row + 0.5 - share, 0.0)
    return float(min(first, zeros.min(initial=np.inf)))


@dataclass(frozen=True)
class RegionContact:
    """Contact of one region."""

    cells: Rectangle  # of the bearing's plan
    grid: ElementGrid  # its elements, of one side
    index: NDArray[np.int64]  # flat indices (row x columns + column) of its valid elements
    resultant: Resultant

    @property
    def force(self) -> Array:
        """Pressure times area of every cell, N, shape (rows, columns)."""
        force = np.zeros((self.cells.rows, self.cells.columns))
        force.flat[self.index[self.resultant.element]] = (
            self.resultant.pressure * self.resultant.area
        )
        return force


class AdaptiveResultant(NamedTuple):
    """Contact of one pair at one pose, by region; without regions where the bodies are apart."""

    regions: tuple[RegionContact, ...]
    wrench: Array  # force on the moving body, N, and moment about its origin, N mm, (6,)
    stiffness: Array  # derivative of the wrench over the pose with the elements fixed, (6, 6)
    penetration: Array  # of the active elements of all regions, mm
    pressure: Array  # MPa
    area: Array  # mm2


class AdaptivePair:
    """A contact pair whose elements follow the contact.

    At every pose the contact regions are found, and each gets the same number of elements, scaled
    to its size. The accuracy of force, peak and mean pressure hardly depends on the depth of the
    contact. A result does not depend on previous poses.

    For forces and pressures: static studies, forward dynamics with light contact. Wear accumulates
    on fixed elements; `spread_force` transfers the load of a region to those.

    The rectangle under a region is continuous in the pose while regions neither merge nor split.
    The stiffness is that of fixed elements, without the effect of their motion, which is of the
    order of the force's error. `options` are further arguments of `ContactPair`.
    """

    def __init__(
        self,
        bearing: Bearing,
        indenter: Surface,
        table: SurfaceTable,
        rows: int,
        columns: int,
        **options: Any,
    ) -> None:
        self.bearing = bearing
        self.rows, self.columns = rows, columns
        self.search = RegionSearch(bearing, indenter)
        whole = build_elements(bearing, bearing.rectangle(rows, columns))
        self._fixed_pair = ContactPair(whole, 0, indenter, table, **options)

    def with_elements(self, rows: int, columns: int) -> AdaptivePair:
        """The same pair with other numbers of elements per region."""
        other = copy(self)
        other.rows, other.columns = rows, columns
        return other

    def on(self, grid: ElementGrid) -> ContactPair:
        """The same surfaces with fixed elements."""
        return self._fixed_pair.with_grid(grid, 0)

    def evaluate(
        self, rotation: Array, translation: Array, law: PressureLaw, more_thickness: float = 0.0
    ) -> AdaptiveResultant:
        """Contact at one pose, with `more_thickness` (mm) added to the layer of the bearing."""
        regions = []
        for region in self.search.find(rotation, translation):
            cells = region.cut(self.rows, self.columns)
            grid = build_elements(self.bearing, cells)
            if grid.valid.any():
                pair = self.on(grid)
                layer = Layer(law, grid.thickness[grid.valid] + more_thickness)
                resultant = pair.evaluate(rotation, translation, layer)
                regions.append(RegionContact(cells, grid, pair.index, resultant))
        results = [region.resultant for region in regions]
        return AdaptiveResultant(
            tuple(regions),
            sum((result.wrench for result in results), np.zeros(6)),
            sum((result.stiffness for result in results), np.zeros((6, 6))),
            *(
                np.concatenate([np.zeros(0), *(getattr(result, name) for result in results)])
                for name in ("penetration", "pressure", "area")
            ),
        )


def spread_force(region: RegionContact, cells: Rectangle) -> Array:
    """Force (N) of a region on each cell of a fixed grid of the same bearing, with the same sum.

    The force of an element is divided between the cells it overlaps in proportion to the overlap.
    Divided by the areas of the fixed elements it is their mean pressure.
    """
    corners = region.cells.corners
    (row, column), (last_row, last_column) = cells.cells(corners[[0, -1], [0, -1]])
    by_row = _shares(np.linspace(row, last_row, region.cells.rows + 1), cells.rows)
    by_column = _shares(np.linspace(column, last_column, region.cells.columns + 1), cells.columns)
    return by_row @ region.force @ by_column.T


def _shares(edges: Array, cells: int) -> Array:
    """Share of each part between edges in each cell, shape (cells, parts)."""
    first = np.arange(float(cells))[:, None]
    overlap = np.minimum(edges[1:], first + 1.0) - np.maximum(edges[:-1], first)
    return np.maximum(overlap, 0.0) / np.diff(edges)
