"""Mortar coupling of two contact surfaces with a dual basis on the non-mortar side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from kneewear.knees.papers.fe_knee._kernels import integrate_overlaps

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# A triangle of which a smaller part is opposite the mortar side has no constraints: its dual
# functions would extrapolate from that part.
SMALLEST_PART = 0.2


@dataclass(frozen=True)
class Mortar:
    """Weak non-penetration between two surfaces, one inequality per non-mortar node.

    With u_p of the non-mortar node p and u_q of mortar nodes the condition is
    normals[p] . (u_p - sum_q mean[p, q] u_q) <= gaps[p].

    Parameters
    ----------
    nodes : array of int, shape (k,)
        Non-mortar nodes with a condition.
    mean : sparse array, shape (k, n)
        Weights of the mortar nodes; rows add up to one.
    areas : array, shape (k,)
        Integral of the node's shape function over the part that is opposite the mortar side, mm2;
        contact force divided by area is the pressure.
    normals : array, shape (k, 3)
        Unit outward normals of the non-mortar surface at its nodes.
    gaps : array, shape (k,)
        Weighted distance along the normal, mm; negative where the surfaces overlap.
    """

    nodes: Numbers
    mean: sparse.csr_array
    areas: Array
    normals: Array
    gaps: Array


@dataclass(frozen=True)
class Overlaps:
    """Pairs of opposite triangles: numbers, integrals of their shape functions, and dual basis."""

    first: Numbers
    second: Numbers
    own: Array
    mixed: Array


def mortar(nodes: Array, nonmortar: Numbers, other: Numbers, reach: float) -> Mortar:
    """Mortar coupling of two surfaces.

    Parameters
    ----------
    nodes : array, shape (n, 3)
        Positions of the nodes of both surfaces, mm.
    nonmortar, other : array of int, shapes (t, 3) and (s, 3)
        Outward triangles of the non-mortar and of the mortar surface.
    reach : float
        Largest distance along the normal of triangles that are coupled, mm.

    Notes
    -----
    The contact mapping projects each non-mortar triangle along its own normal onto the mortar
    triangles; integrals over the common parts are exact. The dual basis is biorthogonal to the
    linear functions on the part of each triangle that is covered (equation 27 of Sander et al.
    2012; for partial cover Cichosz and Bischoff 2011, doi:10.1016/j.cma.2010.11.004), so
    that the rows of `mean` add up to one and contact forces are in equilibrium.

    Raises
    ------
    ValueError
        If no part of the surfaces is within reach.
    """
    overlaps = _overlaps(nodes, nonmortar, other, reach)
    covered = np.zeros((len(nonmortar), 3, 3))
    np.add.at(covered, overlaps.first, overlaps.own)
    size = 0.5 * np.linalg.norm(_area_vectors(nodes, nonmortar), axis=1)
    used = covered.sum(axis=(1, 2)) > SMALLEST_PART * 2.0 * size
    chosen = used[overlaps.first]
    if not np.any(chosen):
        raise ValueError(
            f"no triangles of the two contact surfaces are opposite each other within {reach:g} mm"
        )
    integral = covered.sum(axis=2)
    dual = dual_basis(covered[used])
    mixed = np.einsum(
        "eab,ebc->eac", dual[np.cumsum(used)[overlaps.first[chosen]] - 1], overlaps.mixed[chosen]
    )
    n = len(nodes)
    rows = np.broadcast_to(nonmortar[overlaps.first[chosen]][:, :, None], mixed.shape)
    columns = np.broadcast_to(other[overlaps.second[chosen]][:, None, :], mixed.shape)
    coupled = sparse.coo_array(
        (mixed.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n)
    ).tocsr()
    areas = np.bincount(nonmortar[used].ravel(), integral[used].ravel(), minlength=n).astype(float)
    at = np.flatnonzero(areas > 0.0)
    mean = sparse.csr_array(sparse.diags_array(1.0 / areas[at]) @ coupled[at])
    normals = nodal_normals(nodes, nonmortar)[at]
    gaps = np.einsum("pc,pc->p", mean @ nodes - nodes[at], normals)
    return Mortar(at, mean, areas[at], normals, gaps)


def dual_basis(products: Array) -> Array:
    """Coefficients (e, a, b) of dual functions theta_a = sum_b coefficient psi_b.

    From the integrals (e, a, b) of psi_a psi_b over the covered parts of triangles: integrals of
    theta_a psi_b are zero unless a = b, and those of psi_a where a = b.
    """
    inverse = np.linalg.inv(products)
    return np.asarray(products.sum(axis=2)[:, :, None] * inverse)


def nodal_normals(nodes: Array, triangles: Numbers) -> Array:
    """Unit means of the normals of adjacent triangles by area (n, 3); zero elsewhere."""
    vectors = np.repeat(_area_vectors(nodes, triangles), 3, axis=0)
    total = np.zeros(nodes.shape)
    np.add.at(total, triangles.ravel(), vectors)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0.0)


def _area_vectors(nodes: Array, triangles: Numbers) -> Array:
    """Normals of triangles times twice their area."""
    at = nodes[triangles]
    return np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])


def _overlaps(nodes: Array, nonmortar: Numbers, other: Numbers, reach: float) -> Overlaps:
    """Pairs of triangles that face each other within reach, and integrals over their overlap."""
    first, second = _candidates(nodes[nonmortar], nodes[other], reach)
    normal = _area_vectors(nodes, nonmortar)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    facing = np.einsum("ec,ec->e", normal[first], _area_vectors(nodes, other)[second]) < 0.0
    first, second = first[facing], second[facing]
    here, there = nodes[nonmortar[first]], nodes[other[second]]
    origin, third = here[:, :1], normal[first]
    along = here[:, 1] - here[:, 0]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    axes = np.stack([along, np.cross(third, along)], axis=1)
    plane = np.einsum("eac,eic->eai", here - origin, axes)
    # Seen from the non-mortar side the mortar triangle is clockwise.
    shadow = np.einsum("eac,eic->eai", (there - origin)[:, ::-1], axes)
    count = len(first)
    area, own, mixed = np.zeros(count), np.zeros((count, 3, 3)), np.zeros((count, 3, 3))
    integrate_overlaps(plane, shadow, count, area, own, mixed)
    mixed = mixed[:, :, ::-1]
    height = np.einsum("eac,ec->ea", there - origin, third)
    common = area > 0.0
    distance = np.full(count, np.inf)
    distance[common] = (
        np.einsum("ea,ea->e", mixed.sum(axis=1)[common], height[common]) / area[common]
    )
    near = common & (np.abs(distance) <= reach)
    return Overlaps(first[near], second[near], own[near], mixed[near])


def _candidates(first: Array, second: Array, reach: float) -> tuple[Numbers, Numbers]:
    """Pairs of triangles whose enclosing spheres are within reach."""
    centre = first.mean(axis=1), second.mean(axis=1)
    radius = [
        np.linalg.norm(at - middle[:, None], axis=2).max()
        for at, middle in zip((first, second), centre, strict=True)
    ]
    found = cKDTree(centre[0]).query_ball_tree(cKDTree(centre[1]), reach + sum(radius))
    number = np.repeat(np.arange(len(first)), [len(part) for part in found])
    return number, np.array([k for part in found for k in part], dtype=np.int64)
