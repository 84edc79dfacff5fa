"""The coupled elastic layer of an insert: its influence with free ends and local thickness."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.one_thread import on_one_thread
from kneewear.contact.flat_block import joint_ends
from kneewear.contact.influence import Influence, flat_influence
from kneewear.contact.material import Elastic
from kneewear.contact.strips import Section, Strip, flat_section
from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid

Array = NDArray[np.float64]

# Columns of elements of the strips, mm, and borders of elements over the thickness.
_COLUMN = 1.0
_LEVELS = (0.0, 0.35, 0.65, 0.87, 1.0)
# Columns of the flat strip on each side of its load, over those of the true one.
_FLAT = 2
# Gauss points over wave numbers times thickness between these borders.
_WAVES = ((0.0, 2.0, 6), (2.0, 6.4, 5), (6.4, 20.0, 4))
# Thicknesses from a load at which free ends and thickness no longer matter.
_REACH = 4.0
_KEPT = 24
# Slope up to which frames were compared with finite elements, deg, and the part of a side's force
# that may be on steeper elements.
STEEPEST_DEG = 20.0
STEEP_PART = 0.1
_TABLES: OrderedDict[str, Influence] = OrderedDict()


def insert_influence(
    grid: ElementGrid,
    side: int,
    thickness: Array,
    material: Elastic,
    *,
    place: tuple[int, int] | None = None,
    plan: tuple[Array, Array] | None = None,
) -> Influence:
    """Influence of the elements of one side of an insert on each other.

    Parameters
    ----------
    grid : ElementGrid
        Elements of both plateaus.
    side : int
        Side of the grid.
    thickness : array, shape (n_sides, rows, columns)
        Local thickness, mm; NaN where there is no element.
    material : Elastic
        Material of the insert.
    place : row and column, optional
        Element through which the sections are taken; the middle of the plateau by default.
    plan : arrays, shape (2,), optional
        Corners (x, z), mm, of the rectangle that the body fills, as the solid of finite-element
        comparisons. Otherwise it ends where the elements end; the section across is of the whole
        insert: both plateaus, joined by straight lines of their height and thickness.

    Notes
    -----
    To the layer of the thickness at `place` the difference of two finite strips is added, of the
    true section and of a flat one, once with the section across and once with that along x. What
    both pairs of ends do to each other is added as in a flat block of that thickness between the
    same ends. The tables of the last geometries are kept.
    """
    if place is None:
        place = middle_element(grid.valid[side])
    corners = None if plan is None else np.asarray(plan, dtype=float).tolist()
    key = _digest(grid, side, thickness, material.poisson_ratio, place, corners)
    if key not in _TABLES:
        unit = Elastic(1.0, material.poisson_ratio)
        _TABLES[key] = _build(grid, side, thickness, unit, place, plan)
        if len(_TABLES) > _KEPT:
            _TABLES.popitem(last=False)
    _TABLES.move_to_end(key)
    return _TABLES[key].softened(1.0 / material.youngs_modulus)


def end_distances(
    grid: ElementGrid,
    side: int,
    window: tuple[tuple[int, int], tuple[int, int]],
    *,
    place: tuple[int, int] | None = None,
    plan: tuple[Array, Array] | None = None,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Distances, mm, from elements to the ends of the body before and after them, along x and z.

    The `window` has their first row and column, and the row and column after their last. Ends are
    of the sections of `insert_influence`, whose other arguments these are.
    """
    row, column = middle_element(grid.valid[side]) if place is None else place
    nothing = np.zeros(grid.valid.shape)
    others = [] if plan else [other for other in range(len(grid.sides)) if other != side]
    distances = []
    for axis, number in ((0, column), (1, row)):
        line = _line(grid, side, nothing, number, axis)
        lines = [line, *(_line(grid, other, nothing, row, axis) for other in others if axis == 1)]
        cell = grid.cell_edges(side)[axis]
        low, high = _extent(lines, cell, plan)
        known = int(line.on.argmax())
        first, after = (
            float(line.position[known]) + cell * (corner[axis] - known - 0.5) for corner in window
        )
        distances.append((first - low, high - after))
    return distances[0], distances[1]


def unbounded_influence(
    grid: ElementGrid, side: int, thickness: Array, material: Elastic
) -> Influence:
    """Influence of the elements of one side on each other in a flat layer without ends.

    The layer is as thick as the body is under its middle element; `thickness` (n_sides, rows,
    columns), mm. For bodies that go on beyond their elements, such as discs of wear tests.
    """
    shape = (grid.valid.shape[1], grid.valid.shape[2])
    flat = float(thickness[side][middle_element(grid.valid[side])])
    modulus, ratio = material.youngs_modulus, material.poisson_ratio
    return flat_influence(shape, grid.cell_edges(side), flat, modulus, ratio)


def half_space_influence(grid: ElementGrid, side: int, material: Elastic) -> Influence:
    """Influence of the elements of one side on each other as parts of a flat half-space.

    Without thickness and ends: softer than an insert, unless contact is narrow against its
    thickness (named beside the foundation in Table 2-2 of Bei 2003).
    """
    shape = (grid.valid.shape[1], grid.valid.shape[2])
    modulus, ratio = material.youngs_modulus, material.poisson_ratio
    return flat_influence(shape, grid.cell_edges(side), np.inf, modulus, ratio)


def refuse_steep(grid: ElementGrid, pressure: NDArray[np.floating], what: str) -> None:
    """Refuse a layer whose pressures act on slopes that it does not represent.

    `pressure` (..., side, row, column), MPa, is that of one or all frames of `what`. InputDataError
    if a side has more than `STEEP_PART` of its force, in all frames together, on elements steeper
    than `STEEPEST_DEG`: the influence is that of a layer that is nearly flat.
    """
    upright = np.where(grid.valid, grid.normal[..., 1], 1.0)
    force = pressure.reshape(-1, *grid.valid.shape).sum(axis=0, dtype=float) * grid.area
    steep = np.where(upright < np.cos(np.radians(STEEPEST_DEG)), force, 0.0)
    for side, name in enumerate(grid.sides):
        if steep[side].sum() > STEEP_PART * force[side].sum():
            part = steep[side].sum() / force[side].sum()
            raise InputDataError(
                what,
                f"{100.0 * part:.0f} % of the {name} force on elements steeper than "
                f"{STEEPEST_DEG:g} deg",
                f"at most {100.0 * STEEP_PART:g} % on a coupled layer",
                "Set simulation.contact to foundation, or choose another motion or implant.",
            )


@on_one_thread
def _build(
    grid: ElementGrid,
    side: int,
    thickness: Array,
    material: Elastic,
    place: tuple[int, int],
    plan: tuple[Array, Array] | None,
) -> Influence:
    cell = grid.cell_edges(side)
    shape = grid.valid.shape[1:]
    flat = float(thickness[side][place])
    layer = flat_influence(shape, cell, flat, material.youngs_modulus, material.poisson_ratio)
    row, column = place
    across = _line(grid, side, thickness, row, axis=1)
    others = [] if plan else [one for one in range(len(grid.sides)) if one != side]
    lines = [across, *(_line(grid, one, thickness, row, axis=1) for one in others)]
    wide = _section(lines, cell[1], plan)
    ends = _difference(wide, across, flat, material, np.arange(0.0, shape[0]) * cell[0])
    line = _line(grid, side, thickness, column, axis=0)
    long = _section([line], cell[0], plan)
    along = _difference(long, line, flat, material, np.arange(0.0, shape[1]) * cell[1])
    joint = joint_ends(np.ptp(long.position), np.ptp(wide.position), flat, material)
    return Influence(
        layer.across + ends,
        layer.along + along,
        _at_elements(joint.along, long, line),
        _at_elements(joint.across, wide, across),
    )


def _at_elements(joint: Array, section: Section, line: _Line) -> Array:
    """Terms of the joint effect of ends among elements of a line, shape (terms, n, n)."""
    places = np.linspace(section.position[0], section.position[-1], joint.shape[1])
    share = _interpolation(places, line)
    # Row by row and column by column at once would leave the rounding of one order.
    found = np.array([share @ term @ share.T for term in joint])
    sign = np.where(np.einsum("tab,tba->t", joint, joint) > 0.0, 1.0, -1.0)[:, None, None]
    return np.asarray(0.5 * (found + sign * found.transpose(0, 2, 1)))


def middle_element(valid: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the element nearest the middle of all."""
    cells = np.argwhere(valid)
    row, column = cells[((cells - cells.mean(axis=0)) ** 2).sum(axis=1).argmin()]
    return int(row), int(column)


class _Line(NamedTuple):
    """Elements of a row or a column: positions, heights, thicknesses, and where there are any.

    Positions are along the unit vector `way`.
    """

    way: Array
    position: Array
    top: Array
    thickness: Array
    on: NDArray[np.bool_]


def _line(grid: ElementGrid, side: int, thickness: Array, number: int, axis: int) -> _Line:
    """Elements of a row (axis 1) or of a column (axis 0) of one side."""
    cut = np.s_[side, number] if axis == 1 else np.s_[side, :, number]
    corner = grid.corners[cut]
    middle = 0.5 * (corner[1:] + corner[:-1])
    way = corner[-1] - corner[0]
    way = way / np.linalg.norm(way)
    return _Line(
        way,
        middle @ way,
        grid.centre[cut][:, 1],
        thickness[cut],
        grid.valid[cut],
    )


def _difference(
    section: Section, line: _Line, flat: float, material: Elastic, apart: Array
) -> Array:
    """Influence among elements of a line beyond that of a flat layer, shape (apart, n, n)."""
    count = section.position.size
    strip = Strip(section, material, _LEVELS)
    half = flat_section(_FLAT * (count - 1), section.width, flat)
    even = Strip(half, material, _LEVELS, mirrored=True)
    offset = np.abs(np.arange(count)[:, None] - np.arange(count))
    node, weight = (part / flat for part in _wave_rule())
    parts = [
        strip.influence(wave) - 0.5 * even.influence(wave, np.array([0]))[offset, 0]
        for wave in node
    ]
    waves = np.cos(np.outer(apart, node)) * weight / np.pi
    waves[apart > _REACH * flat] = 0.0
    share = _interpolation(section.position, line)
    parts = [share @ part @ share.T for part in parts]
    return np.tensordot(waves, np.array(parts), axes=1)


def _section(lines: list[_Line], cell: float, plan: tuple[Array, Array] | None) -> Section:
    """Section through elements of lines, to the ends of their cells or of a rectangle, mm."""
    parts = [(line.position[line.on], line.top[line.on], line.thickness[line.on]) for line in lines]
    position, top, thickness = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(position)
    position, top, thickness = position[order], top[order], thickness[order]
    low, high = _extent(lines, cell, plan)
    count = max(3, round((high - low) / _COLUMN) + 1)
    places = np.linspace(low, high, count)
    return Section(places, *(np.interp(places, position, values) for values in (top, thickness)))


def _extent(
    lines: list[_Line], cell: float, plan: tuple[Array, Array] | None
) -> tuple[float, float]:
    """Positions of both ends of a section, as of `_section`, mm."""
    if plan is not None:
        low, high = sorted(float(at @ lines[0].way) for at in plan)
        return low, high
    position = np.concatenate([line.position[line.on] for line in lines])
    return float(position.min()) - 0.5 * cell, float(position.max()) + 0.5 * cell


def _interpolation(position: Array, line: _Line) -> Array:
    """Linear interpolation from places of a section to elements; zero where there is none."""
    width = position[1] - position[0]
    at = np.clip((line.position - position[0]) / width, 0.0, position.size - 1.0)
    low = np.minimum(at.astype(int), position.size - 2)
    share = np.zeros((line.position.size, position.size))
    number = np.arange(line.position.size)
    share[number, low], share[number, low + 1] = 1.0 - (at - low), at - low
    share[~line.on] = 0.0
    return share


def _wave_rule() -> tuple[Array, Array]:
    """Wave numbers times the thickness, and their weights."""
    nodes, weights = [], []
    for low, high, count in _WAVES:
        node, weight = np.polynomial.legendre.leggauss(count)
        nodes.append(0.5 * (high - low) * (node + 1.0) + low)
        weights.append(0.5 * (high - low) * weight)
    return np.concatenate(nodes), np.concatenate(weights)


def _digest(
    grid: ElementGrid, side: int, thickness: Array, poisson_ratio: float, *choices: object
) -> str:
    """Name of a table."""
    found = hashlib.sha256(repr((side, poisson_ratio, choices)).encode())
    for part in (grid.centre, grid.corners, thickness):
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()
