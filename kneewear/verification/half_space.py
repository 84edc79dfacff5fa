"""The elastic half-space as contact model: every element feels the pressure on all others.

An alternative to the elastic foundation (Bei 2003, Table 2-2) for bodies thick against the contact,
where the foundation's springs, which do not feel each other, are the cruder picture. An insert is
not that thick: under a layer of a few contact radii the half-space is too soft, and it knows only
small strain and linear materials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from kneewear.contact.foundation import Layer, SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.geometry.element_grid import ElementGrid

Array = NDArray[np.float64]

MAX_ROUNDS = 50
# Part of the largest overlap by which a gap may be negative, and part of a load left over.
_OVERLAP_LEFT = 1e-12
_LOAD_LEFT = 1e-10


@dataclass(frozen=True)
class HalfSpaceContact:
    """Contact of an elastic half-space.

    Parameters
    ----------
    pressure : array, shape (rows, columns)
        Pressure of every element, MPa, zero where apart.
    approach : float
        How far the bodies have come together, mm.
    force : float
        Sum of pressure times area, N.
    """

    pressure: Array
    approach: float
    force: float


def contact_modulus(
    youngs_modulus: float,
    poisson_ratio: float,
    other_modulus: float = math.inf,
    other_ratio: float = 0.0,
) -> float:
    """Modulus E* of a pair of bodies.

    Parameters
    ----------
    youngs_modulus, poisson_ratio : float
        Of one body, MPa and 1.
    other_modulus, other_ratio : float
        Of the other, rigid when left out.

    Returns
    -------
    float
        1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2, MPa.

    References
    ----------
    Johnson, K. L. (1985), Contact Mechanics, section 4.2, doi:10.1017/CBO9781139171731.
    """
    compliance = (1.0 - poisson_ratio**2) / youngs_modulus
    return 1.0 / (compliance + (1.0 - other_ratio**2) / other_modulus)


def rectangle_deflection(
    along: ArrayLike, across: ArrayLike, half_length: float, half_width: float
) -> Array:
    """Deflection of a half-space by even pressure on a rectangle, times E* over the pressure.

    Parameters
    ----------
    along, across : array
        Place on the surface, from the middle of the rectangle along its sides, mm.
    half_length, half_width : float
        Half of its sides, mm.

    Returns
    -------
    array
        mm; positive into the half-space.

    Notes
    -----
    Its corners' antiderivatives of 1 / distance, x asinh(y / |x|) + y asinh(x / |y|), added up with
    their signs and divided by pi. At far places the four cancel: the relative rounding error is
    about 1e-16 times (distance / half side)^2.

    References
    ----------
    Love, A. E. H. (1929), Phil. Trans. R. Soc. A 228:377, doi:10.1098/rsta.1929.0009, as given by
    Johnson (1985), Eq. 3.25.
    """
    x, y = np.asarray(along, dtype=float), np.asarray(across, dtype=float)
    right, left = x + half_length, x - half_length
    far, near = y + half_width, y - half_width
    return (
        _corner(right, far) - _corner(right, near) - _corner(left, far) + _corner(left, near)
    ) / math.pi


def press_half_space(
    gap: Array,
    cell: tuple[float, float],
    modulus: float,
    *,
    approach: float | None = None,
    load: float | None = None,
    area: Array | None = None,
) -> HalfSpaceContact:
    """Pressures of a half-space on a lattice of elements.

    Parameters
    ----------
    gap : array, shape (rows, columns)
        Distance of the undeformed surfaces at the middle of every element when their approach is
        zero, mm; NaN where there is no element.
    cell : pair of float
        Length (from row to row) and width (from column to column) of a cell, mm.
    modulus : float
        E* of the pair, MPa, see `contact_modulus`.
    approach : float, optional
        How far the bodies come together, mm; or
    load : float, optional
        Force that presses them together, N.
    area : array, shape (rows, columns), optional
        Area of every element, mm2; that of a cell if left out. The pressure of an element that
        covers its cell in part deflects the others as if its force were spread over the cell.

    Returns
    -------
    HalfSpaceContact
        Where there is pressure the gap is closed, where there is none it is open.

    Raises
    ------
    ValueError
        Unless one of approach and load is given, and the load is positive and finds elements.
    RuntimeError
        If the contact area or the approach does not settle.

    Notes
    -----
    Only elements that overlap undeformed can touch. From a first guess of those in contact, those
    in tension leave and those that overlap join until none does either (the primal-dual active set
    method, Hintermueller, Ito and Kunisch 2003, doi:10.1137/S1052623401383558): a few rounds of a
    Cholesky factorisation, so that time grows with the cube of the number of elements in contact
    and memory with the square of that of overlapping ones (1900 need a second and 90 MB). Under a
    load the approach is found by Newton's method on logarithms, which meets a power law at once.
    """
    if (approach is None) == (load is None):
        raise ValueError("press_half_space needs an approach or a load, one of them")
    flexibility = _flexibility(gap.shape, cell, modulus)
    if approach is None:
        approach = _approach_under(float(load or 0.0), gap, flexibility)
    place, force, _ = _forces_at(approach, gap, flexibility)
    pressure = np.zeros(gap.shape)
    pressure[place] = force / (math.prod(cell) if area is None else area[place])
    return HalfSpaceContact(pressure, approach, float(force.sum()))


@dataclass(frozen=True)
class HalfSpaceResultant:
    """Half-space contact of one pair at one pose; the names are those of `Resultant`.

    Parameters
    ----------
    wrench : array, shape (6,)
        Force on the moving body, N, and its moment about that body's origin, N mm.
    element : int array, shape (n,)
        Elements that overlap the undeformed indenter.
    penetration, pressure, area : array, shape (n,)
        mm, MPa and mm2.
    """

    wrench: Array
    element: NDArray[np.int64]
    penetration: Array
    pressure: Array
    area: Array


def press_pair(
    grid: ElementGrid,
    side: int,
    pair: ContactPair,
    pose: tuple[Array, Array],
    modulus: float,
) -> HalfSpaceResultant:
    """Contact of a pair whose elements stand on a half-space.

    Parameters
    ----------
    grid, side
        Grid and side the pair was made of.
    pair : ContactPair
        Its distances serve as overlaps.
    pose : pair of array
        Rotation (3, 3) and translation (3,), mm, of the moving body.
    modulus : float
        E* of the pair, MPa.

    Returns
    -------
    HalfSpaceResultant

    Notes
    -----
    Elements are taken as a plane lattice of equal cells and pressure acts along their normals: a
    half-space has a flat surface, so slopes within the contact are small or the model is wrong.
    """
    rotation, translation = pose
    found = pair.evaluate(rotation, translation, Layer(SmallStrain(1.0), np.ones(pair.index.size)))
    touching = found.penetration > 0.0
    element, penetration = found.element[touching], found.penetration[touching]
    shape, place = grid.valid[side].shape, pair.index[element]
    overlap, area = np.full(shape, np.nan), np.zeros(shape)
    overlap.flat[place], area.flat[place] = penetration, pair.area[element]
    contact = press_half_space(-overlap, _cell(grid, side), modulus, approach=0.0, area=area)
    pressure = contact.pressure.flat[place]
    force = (pressure * pair.area[element])[:, None] * pair.normal[element]
    moment = np.cross(pair.centre[element] - translation, force)
    wrench = np.concatenate([force.sum(axis=0), moment.sum(axis=0)])
    return HalfSpaceResultant(wrench, element, penetration, pressure, pair.area[element])


def _flexibility(shape: tuple[int, ...], cell: tuple[float, float], modulus: float) -> Array:
    """Deflection per force, mm/N, by steps along rows and columns between two elements."""
    steps = [side * np.arange(count) for side, count in zip(cell, shape, strict=True)]
    along, across = np.meshgrid(*steps, indexing="ij")
    spread = rectangle_deflection(along, across, 0.5 * cell[0], 0.5 * cell[1])
    return spread / (modulus * math.prod(cell))


def _forces_at(approach: float, gap: Array, flexibility: Array) -> tuple[Any, Array, float]:
    """Places of the overlapping elements, their forces, and the rate of the sum of these."""
    row, column = place = np.nonzero(approach - gap > 0.0)
    steps = np.abs(row[:, None] - row), np.abs(column[:, None] - column)
    return place, *_contact_forces(approach - gap[place], flexibility[steps])


def _approach_under(load: float, gap: Array, flexibility: Array) -> float:
    """Approach at which the forces add up to a load."""
    heights = gap[np.isfinite(gap)]
    if not load > 0.0 or not heights.size:
        raise ValueError(f"a load of {load:g} N finds no contact on {heights.size} elements")
    lowest = float(heights.min())
    depth = max(float(np.quantile(heights, 0.1)) - lowest, 1e-3)
    for _ in range(MAX_ROUNDS):
        _, force, rate = _forces_at(lowest + depth, gap, flexibility)
        total = float(force.sum())
        if abs(total - load) < _LOAD_LEFT * load:
            return lowest + depth
        depth *= (load / total) ** (total / (depth * rate))
    raise RuntimeError(f"no approach found for a load of {load:g} N in {MAX_ROUNDS} steps")


def _contact_forces(overlap: Array, flexibility: Array) -> tuple[Array, float]:
    """Forces f >= 0 with flexibility f >= overlap, equal where f > 0, and d(sum f) / d(overlap)."""
    if not overlap.size:
        return np.zeros(0), 0.0
    # Under smooth bodies contact ends where they overlap by half of the most (Hertz: exactly).
    active = overlap >= 0.5 * overlap.max()
    for _ in range(MAX_ROUNDS):
        force = np.zeros(overlap.size)
        sides = np.column_stack([overlap[active], np.ones(np.count_nonzero(active))])
        solved = cho_solve(cho_factor(flexibility[np.ix_(active, active)]), sides)
        force[active] = solved[:, 0]
        left = overlap - flexibility @ force
        wrong = np.where(active, force < 0.0, left > _OVERLAP_LEFT * overlap.max())
        if not wrong.any():
            return force, float(solved[:, 1].sum())
        active ^= wrong
    raise RuntimeError(f"the contact area did not settle in {MAX_ROUNDS} rounds")


def _corner(x: Array, y: Array) -> Array:
    """Antiderivative of 1 / distance over both coordinates."""
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(x == 0.0, 0.0, x * np.arcsinh(y / np.abs(x)))
        across = np.where(y == 0.0, 0.0, y * np.arcsinh(x / np.abs(y)))
    return along + across


def _cell(grid: ElementGrid, side: int) -> tuple[float, float]:
    """Length and width of a cell of one side, mm."""
    corners = grid.corners[side]
    return (
        float(np.linalg.norm(corners[1, 0] - corners[0, 0])),
        float(np.linalg.norm(corners[0, 1] - corners[0, 0])),
    )
