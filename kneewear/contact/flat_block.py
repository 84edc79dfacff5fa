"""Joint effect of both pairs of free ends of a flat block, by finite elements.

What free ends along x and free ends along z change in the deflections of a layer does not add up:
a pair of ends lies in the field that the other pair has changed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.material import Elastic, Strains
from kneewear.contact.solid import Solid, with_middles
from kneewear.contact.strips import HALF

Array = NDArray[np.float64]

# Terms of the sum of products, as many as kernels add together.
TERMS = 4
# Elements along x and along z, and borders of elements over the thickness.
_ELEMENTS = 8
_LEVELS = np.array([0.0, 0.65, 1.0])
# Thicknesses by which a block without ends is longer on each side, and its elements' growth there.
_REACH = 3.0
_GROWTH = 1.7
# Weights of the outermost two places in the fit of the products: contact is inside, effects are
# largest at the corners.
_OUTERMOST = np.array([0.1, 0.4])


class JointEnds(NamedTuple):
    """Deflections at (x_i, z_j) per force at (x_k, z_l): the sum of along[:, i, k] across[:, j, l].

    Both are of shape (terms, n, n), of `n` equally spaced places from end to end, mm/N.
    """

    along: Array
    across: Array


def joint_ends(length: float, width: float, thickness: float, material: Elastic) -> JointEnds:
    """Joint effect of two pairs of free ends on the influence in a flat block bonded at its base.

    Parameters
    ----------
    length, width, thickness : float
        Edges of the block along x, along z and downwards, mm.
    material : Elastic
        Material of the block.

    Notes
    -----
    Of four blocks of the same elements, with and without free ends along x and along z, deflections
    are added with the signs +, -, -, +: the layer and the effects of single pairs cancel, and the
    errors of the elements near a force with them. Deflections are means of cells around the
    places, which carry the forces. The products come from a singular value decomposition;
    its parts are symmetric, or both antisymmetric, so that the sum is symmetric.
    """
    # Blocks of the same proportions have the same deflections over their size; rounded, both
    # sides of an insert share one block.
    proportions = round(length / thickness, 3), round(width / thickness, 3)
    along, across = _unit_ends(*proportions, material.poisson_ratio)
    return JointEnds(along / (material.youngs_modulus * thickness), across)


@lru_cache(maxsize=64)
def _unit_ends(length: float, width: float, poisson_ratio: float) -> JointEnds:
    """Effect in a block of unit thickness and modulus."""
    material = Elastic(1.0, poisson_ratio)
    signs = (1.0, 0, 0), (-1.0, 1, 0), (-1.0, 0, 1), (1.0, 1, 1)
    parts = [sign * _block(length, width, x, z, material) for sign, x, z in signs]
    found = np.sum(parts, axis=0)
    count = _ELEMENTS + 1
    weight = np.ones(count)
    weight[:2], weight[-2:] = _OUTERMOST, _OUTERMOST[::-1]
    square = np.outer(weight, weight)
    joint = found.reshape(count, count, count, count).transpose(0, 2, 1, 3)
    joint = joint * square[:, :, None, None] * square
    terms = []
    for sign in (1.0, -1.0):
        part = 0.5 * (joint + sign * joint.transpose(1, 0, 2, 3))
        left, size, right = np.linalg.svd(part.reshape(count**2, count**2))
        for number in range(TERMS):
            x = size[number] * left[:, number].reshape(count, count) / square
            z = right[number].reshape(count, count) / square
            terms.append((size[number], 0.5 * (x + sign * x.T), 0.5 * (z + sign * z.T)))
    terms.sort(key=lambda term: -term[0])
    return JointEnds(*(np.array([term[part] for term in terms[:TERMS]]) for part in (1, 2)))


def _block(length: float, width: float, beyond_x: int, beyond_z: int, material: Elastic) -> Array:
    """Deflections of the places of a block per force on others; ends are free or far beyond."""
    # SciPy takes longer to load than most users of this module take.
    from kneewear.contact.condensation import Condensation  # noqa: PLC0415

    x, z = _lines(length, beyond_x), _lines(width, beyond_z)
    solid = _solid(x, z)
    nodes = 2 * _ELEMENTS + 1
    first_x, first_z = x.size - 1 - _ELEMENTS, z.size - 1 - _ELEMENTS
    inner = np.s_[first_x : first_x + nodes, first_z : first_z + nodes, 1]
    kept = np.sort(solid.surface_freedoms[inner].ravel())
    condensed = Condensation(solid, _stiffness(x, z, material), kept).matrix
    forces = np.kron(_cells(), _cells())
    return np.asarray(forces.T @ np.linalg.solve(condensed, forces))


def _solid(x: Array, z: Array) -> Solid:
    """Block of unit thickness between borders of elements along x and z."""
    plan_x, plan_z, height = np.meshgrid(
        *(with_middles(lines) for lines in (x, z, _LEVELS)), indexing="ij"
    )
    return Solid(np.stack([plan_x, height, plan_z], axis=-1))


def _stiffness(x: Array, z: Array, material: Elastic) -> Array:
    """Stiffness of the elements between borders; elements of equal widths share one."""
    borders, places = [], []
    for widths in (np.diff(x), np.diff(z)):
        _, first, place = np.unique(np.round(widths, 9), return_index=True, return_inverse=True)
        borders.append(np.concatenate([[0.0], np.cumsum(widths[first])]))
        places.append(place)
    found = Strains(_solid(*borders)).stiffness(material.tensor)
    found = found.reshape(borders[0].size - 1, borders[1].size - 1, -1, 81, 81)
    return np.asarray(found[places[0][:, None], places[1]].reshape(-1, 81, 81))


def _lines(length: float, beyond: int) -> Array:
    """Borders of elements over a length, and growing beyond it on both sides."""
    inner: Array = np.linspace(-0.5 * length, 0.5 * length, _ELEMENTS + 1)
    if not beyond:
        return inner
    step = length / _ELEMENTS
    further = np.cumsum(step * _GROWTH ** np.arange(1.0, 30.0))
    further = further[: int(np.searchsorted(further, _REACH)) + 1]
    further *= _REACH / further[-1]
    return np.concatenate([inner[0] - further[::-1], inner, inner[-1] + further])


def _cells() -> Array:
    """Forces on the nodes of a line of elements under a unit force on the cell of each place."""
    count = _ELEMENTS + 1
    forces = np.zeros((2 * count - 1, count))
    for place in range(count):
        for side in (-1, 1):
            if 0 <= place + side < count:
                for node, part in enumerate(HALF):
                    forces[2 * place + side * node, place] += part
    return np.asarray(forces / forces.sum(axis=0))
