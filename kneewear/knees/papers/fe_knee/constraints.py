"""Contact of bodies with each other and with rigid half-spaces, in a basis that decouples it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kneewear.knees.papers.fe_knee.mortar import Mortar
from kneewear.knees.papers.rotation_vectors import skew_matrix

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Tied surfaces that are less apart than this, mm, coincide.
_TOUCHING = 1e-9


@dataclass(frozen=True)
class HalfSpace:
    """Rigid obstacle: nodes must stay on the side of a plane to which its normal points.

    `point` and `normal` have shape (3,); mm. The normal need not have unit length.
    """

    point: Array
    normal: Array

    def conditions(self, at: Array) -> tuple[Array, Array]:
        """Unit directions (k, 3) into the obstacle and distances (k,), mm, of positions (k, 3)."""
        unit = np.asarray(self.normal, dtype=float)
        unit = unit / np.linalg.norm(unit)
        directions = np.broadcast_to(-unit, at.shape)
        return directions, (at - np.asarray(self.point, dtype=float)) @ unit


@dataclass(frozen=True)
class Tie:
    """Nodes that follow others, u[nodes] = weights u, as an equality of mortar type.

    `nodes` (k,); `weights` (3 k, 3 n) of displacements, exact for rigid motions; `mean` (k, n) of
    values, whose rows add up to one.
    """

    nodes: Numbers
    weights: sparse.csr_array
    mean: sparse.csr_array


def tied(at: Array, pair: Mortar) -> Tie:
    """Tie of the non-mortar nodes of a pair to the mortar ones; positions (n, 3), mm.

    Where the surfaces are apart, the mean of the mortar nodes alone would not transmit the moment
    of a shear force: nodes also turn with the least-squares rotation of the mortar nodes.
    """
    weights = sparse.csr_array(sparse.kron(pair.mean, sparse.eye_array(3)))
    arms = at[pair.nodes] - pair.mean @ at
    if np.abs(arms).max() > _TOUCHING:
        led = np.unique(pair.mean.indices)
        own = skew_matrix(at[led] - at[led].mean(axis=0))
        turn = np.linalg.solve(np.einsum("pij,pkj->ik", own, own), np.concatenate(own, axis=1))
        columns = (3 * led[:, None] + np.arange(3)).ravel()
        further = (-skew_matrix(arms) @ turn).reshape(3 * len(arms), -1)
        place = sparse.csr_array(
            (np.ones(columns.size), (np.arange(columns.size), columns)),
            shape=(columns.size, at.size),
        )
        weights = weights + sparse.csr_array(further) @ place
    return Tie(pair.nodes, weights, pair.mean)


@dataclass(frozen=True)
class Constraints:
    """Linear conditions, at most one per node, in the transformed basis of the nodes.

    u = forward x, where x[p] of a non-mortar node p is its displacement relative to the mean of
    the mortar nodes, in an orthonormal frame whose first axis is the normal. A condition is
    then the bound x[p, 0] <= gap[p] alone (Wohlmuth and Krause 2003,
    doi:10.1137/S1064827502405318).

    Parameters
    ----------
    nodes : array of int, shape (k,)
        Nodes with a condition.
    directions : array, shape (k, 3)
        Unit normals along which they are bounded.
    gaps : array, shape (k,)
        mm.
    areas : array, shape (k,)
        Area of a condition, mm2, by which its force is a pressure.
    group : array of int, shape (k,)
        Number of the pair or, after the pairs, of the obstacle.
    forward, inverse : sparse arrays, shape (3 n, 3 n)
        The transformation and its inverse.
    """

    nodes: Numbers
    directions: Array
    gaps: Array
    areas: Array
    group: Numbers
    forward: sparse.bsr_array
    inverse: sparse.bsr_array

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Matrix N (k, 3 n) of the conditions N u <= gaps."""
        return sparse.csr_array(self.inverse.tocsr()[3 * self.nodes])

    def bounds(self, displacement: Array) -> Array:
        """Upper bounds (n,) of the first components of increments from a displacement (n, 3)."""
        bound = np.full(len(displacement), np.inf)
        bound[self.nodes] = self.gaps - self.matrix @ displacement.ravel()
        return bound


def constrained(
    n: int,
    mortars: Sequence[Mortar],
    obstacles: Sequence[tuple[Numbers, Array, Array, Array]],
    fixed: Numbers,
    ties: Sequence[Tie] = (),
) -> Constraints:
    """Constraints of a number of nodes from contact pairs, obstacles and ties.

    Obstacles are given by nodes (k,), directions (k, 3), distances (k,) and areas (k,). Fixed
    nodes, with which tied ones must be given, have no conditions. ValueError if a node has two
    conditions, or is on the mortar side of one pair and on the non-mortar side of another.
    """
    parts = [(m.nodes, m.normals, m.gaps, m.areas) for m in mortars] + list(obstacles)
    keep = [~np.isin(part[0], fixed) for part in parts]
    empty = np.empty(0), np.empty((0, 3)), np.empty(0), np.empty(0)
    columns = [
        np.concatenate([none, *(part[c][kept] for part, kept in zip(parts, keep, strict=True))])
        for c, none in enumerate(empty)
    ]
    nodes = columns[0].astype(np.int64)
    group = np.repeat(np.arange(len(parts)), [kept.sum() for kept in keep])
    _check_single(nodes, group)
    coupling = sparse.csr_array((n, n))
    for pair, kept in zip(mortars, keep, strict=False):
        at = pair.nodes[kept]
        place = sparse.csr_array((np.ones(at.size), (at, np.arange(at.size))), shape=(n, at.size))
        coupling = coupling + place @ pair.mean[kept]
    shift = sparse.kron(coupling, sparse.eye_array(3), format="csr")
    for tie in ties:
        rows = (3 * tie.nodes[:, None] + np.arange(3)).ravel()
        place = sparse.csr_array(
            (np.ones(rows.size), (rows, np.arange(rows.size))), shape=(3 * n, rows.size)
        )
        shift = shift + place @ tie.weights
    both = np.unique(np.intersect1d(shift.indices, np.flatnonzero(np.diff(shift.indptr))) // 3)
    if both.size:
        raise ValueError(
            f"{both.size} nodes (first: {both[0]}) are on the mortar side of one contact pair and "
            "on the non-mortar side of another; exchange the sides of a pair"
        )
    frames = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()
    frames[nodes] = normal_frames(columns[1])
    rotation = _diagonal(frames)
    eye = sparse.eye_array(3 * n, format="csr")
    return Constraints(
        nodes,
        columns[1],
        columns[2],
        columns[3],
        group,
        sparse.bsr_array(((eye + shift) @ rotation).tobsr((3, 3))),
        sparse.bsr_array((rotation.T @ (eye - shift)).tobsr((3, 3))),
    )


def normal_frames(normals: Array) -> Array:
    """Orthogonal matrices (k, 3, 3) whose first columns are unit vectors (k, 3).

    Householder reflections that exchange the first axis and the vector.
    """
    mirror = normals - np.array([1.0, 0.0, 0.0])
    # Beside the first axis the difference would leave no digits.
    near = normals[:, 0] > 0.0
    mirror[near, 0] = -(normals[near, 1:] ** 2).sum(axis=1) / (1.0 + normals[near, 0])
    square = np.einsum("kc,kc->k", mirror, mirror)
    scale = np.divide(2.0, square, out=np.zeros_like(square), where=square > 1e-280)
    return np.asarray(np.eye(3) - scale[:, None, None] * mirror[:, :, None] * mirror[:, None, :])


def _check_single(nodes: Numbers, group: Numbers) -> None:
    """ValueError if a node has more than one condition."""
    number, count = np.unique(nodes, return_counts=True)
    if np.any(count > 1):
        node = number[np.argmax(count > 1)]
        raise ValueError(
            f"{np.sum(count > 1)} nodes (first: {node}, in contacts {group[nodes == node]}) have "
            "more than one contact condition; make the non-mortar patches and those of the "
            "obstacles disjoint"
        )


def _diagonal(blocks: Array) -> sparse.csr_array:
    """Block-diagonal matrix of 3 x 3 blocks."""
    n = len(blocks)
    return sparse.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)).tocsr()
