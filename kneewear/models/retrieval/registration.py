"""Position of a scan on its reference."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]

_SAMPLE = 8000
# Vertical component of the normals of surface that is moved and of the bearing: undersides of
# different inserts are alike, and hide that their bearings are not.
_NOT_BELOW = -0.3
_BEARING = 0.5
# Points of undersides, and number below which they are not used.
_SAMPLE_BELOW = 3000
_MIN_BELOW = 200
# Distance within which a point of the scan has a counterpart, mm: at first, and at last.
_REACH = (6.0, 0.6)
# Reaches of all points. Far ones at first: rims of plateaus tell where arcs lie along themselves.
_LONG = (*np.geomspace(*_REACH, 20), *(_REACH[1],) * 20)
# The first search: its points, reaches, and turns about two axes, deg.
_FEW = 1500
_SHORT = (*np.geomspace(*_REACH, 8), *(_REACH[1],) * 7)
_TURNS_DEG = (-5.0, 0.0, 5.0)
# Change of position that ends the iteration, mm at the border.
_SETTLED = 1e-5
# SD over median absolute deviation of a normal distribution, and residual, in SDs, without weight.
_NORMAL = 1.4826
_CUT = 4.685


@dataclass(frozen=True)
class ScanPose:
    """Rigid motion that moves a scan onto its reference.

    Parameters
    ----------
    rotation : array, shape (3, 3)
    translation : array, shape (3,)
        Of the origin, mm.
    distance : float
        Median distance of points of the bearing of the scan from the reference, mm.
    scale : float
        Factor by which the scan would fit best; 1 for a scan of the same size.
    matched : float
        Fraction of the points of the scan that have a counterpart.
    """

    rotation: Array
    translation: Array
    distance: float
    scale: float
    matched: float

    def moved(self, mesh: TriangleMesh) -> TriangleMesh:
        """The mesh on the reference."""
        return TriangleMesh(self.placed(mesh.vertices), mesh.faces)

    def placed(self, points: Array) -> Array:
        """Points (n, 3) on the reference."""
        return points @ self.rotation.T + self.translation


@dataclass(frozen=True)
class _Target:
    """Vertices of a reference with their normals and a search tree, and its middle."""

    points: Array
    normals: Array
    tree: scipy.spatial.cKDTree
    middle: Array

    def pairs(self, moved: Array, turned: Array, reach: float) -> tuple[NDArray[np.bool_], Array]:
        """Points that have a counterpart within reach that faces alike, and its number."""
        apart, nearest = self.tree.query(moved, distance_upper_bound=reach)
        near = np.isfinite(apart)
        near[near] &= (self.normals[nearest[near]] * turned[near]).sum(axis=1) > 0.7
        return near, nearest[near]


def register(scan: TriangleMesh, reference: TriangleMesh) -> ScanPose:
    """Move a scan onto a reference, both in mm and knee axes.

    Points of the scan approach the tangent planes of the nearest points of the reference; those
    further away than others, such as worn ones, lose their weight (Tukey's biweight). This finds
    the nearest of several valleys: a few points are first moved from several turns, and the turn
    that brings them closest is followed with all points. Bearings that are arcs may be moved along
    themselves: an underside, with a free thickness of the insert, shows how they are inclined.
    """
    rng = np.random.default_rng(0)
    used = np.unique(scan.faces)
    used = used[scan.vertex_normals[used, 1] > _NOT_BELOW]
    chosen = used if used.size <= _SAMPLE else rng.permutation(used)[:_SAMPLE]
    points, normals = scan.vertices[chosen], scan.vertex_normals[chosen]
    vertices = reference.vertices
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    target = _Target(vertices, reference.vertex_normals, scipy.spatial.cKDTree(vertices), middle)
    few = rng.permutation(len(points))[:_FEW]
    starts = [
        _approach(points[few], normals[few], target, _start(scan, target, turn), _SHORT)
        for turn in itertools.product(_TURNS_DEG, _TURNS_DEG)
    ]
    best = min(starts, key=lambda pose: _remaining(pose, points[few], normals[few], target))
    below = _underside(scan, rng)
    if below.size >= _MIN_BELOW and _underside(reference, rng).size >= _MIN_BELOW:
        points = np.concatenate([points, scan.vertices[below]])
        normals = np.concatenate([normals, scan.vertex_normals[below]])
    return _approach(points, normals, target, best, _LONG)


def _underside(mesh: TriangleMesh, rng: np.random.Generator) -> NDArray[np.int64]:
    """Some vertices that face down."""
    down = np.unique(mesh.faces)
    down = down[mesh.vertex_normals[down, 1] < -_BEARING]
    return np.asarray(rng.permutation(down)[:_SAMPLE_BELOW])


def _start(scan: TriangleMesh, target: _Target, turn: Sequence[float]) -> ScanPose:
    """Scan turned by angles about the vertical and medial-lateral axes, over the reference."""
    rotation = scipy.spatial.transform.Rotation.from_euler("yz", turn, degrees=True).as_matrix()
    vertices = scan.vertices @ rotation.T
    shift = target.middle - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    # A whole insert and a sheet have their bearing, not their middle, at one height.
    shift[1] = np.quantile(target.points[:, 1], 0.98) - np.quantile(vertices[:, 1], 0.98)
    return ScanPose(rotation, shift, np.inf, 1.0, 0.0)


def _remaining(pose: ScanPose, points: Array, normals: Array, target: _Target) -> float:
    """Mean distance of points from the reference; `_REACH` at last for those without counterpart.

    A valley with more counterparts that are further away is no better one.
    """
    moved, turned = points @ pose.rotation.T + pose.translation, normals @ pose.rotation.T
    near, nearest = target.pairs(moved, turned, _REACH[1])
    residual = ((target.points[nearest] - moved[near]) * target.normals[nearest]).sum(axis=1)
    return float((np.abs(residual).sum() + _REACH[1] * (~near).sum()) / len(points))


def _approach(
    points: Array, normals: Array, target: _Target, start: ScanPose, reaches: Sequence[float]
) -> ScanPose:
    """Follow a start; points have counterparts within one reach, mm, for each iteration."""
    rotation, translation, middle = start.rotation, start.translation, target.middle
    distance, scale, matched = start.distance, start.scale, start.matched
    size = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    above = normals[:, 1] > _NOT_BELOW
    for reach in reaches:
        moved, turned = points @ rotation.T + translation, normals @ rotation.T
        near, nearest = target.pairs(moved, turned, reach)
        if near.sum() < 50:
            break
        normal, arm = target.normals[nearest], moved[near] - middle
        residual = ((target.points[nearest] - moved[near]) * normal).sum(axis=1)
        facing = turned[near, 1] > _BEARING
        bearing = residual[facing] if facing.any() else residual
        spread = max(_NORMAL * float(np.median(np.abs(bearing - np.median(bearing)))), 1e-3)
        terms = np.column_stack([normal, np.cross(arm, normal) / size])
        below = turned[near, 1] < _NOT_BELOW
        spreads, centred = np.full(residual.size, spread), residual.copy()
        if below.sum() >= _MIN_BELOW:
            # Tolerance and wear of both faces change the thickness, which is an unknown.
            terms = np.column_stack([terms, below])
            centred[below] -= np.median(residual[below])
            apart = float(np.median(np.abs(centred[below])))
            spreads[below] = max(_NORMAL * apart, spread)
        scaled = np.column_stack([terms, (arm * normal).sum(axis=1) / size])
        weight = np.maximum(1.0 - (centred / (_CUT * spreads)) ** 2, 0.0) ** 2
        root = (np.sqrt(weight) * spread / spreads)[:, None]
        step = np.linalg.lstsq(root * terms, root[:, 0] * residual, rcond=1e-8)[0][:6]
        scale = 1.0 + float(
            np.linalg.lstsq(root * scaled, root[:, 0] * residual, rcond=1e-8)[0][-1] / size
        )
        turn = scipy.spatial.transform.Rotation.from_rotvec(step[3:] / size).as_matrix()
        rotation = turn @ rotation
        translation = turn @ (translation - middle) + middle + step[:3]
        distance, matched = float(np.median(np.abs(bearing))), float(near[above].mean())
        if np.abs(step).max() < _SETTLED:
            break
    return ScanPose(rotation, translation, distance, scale, matched)


def mirrored(mesh: TriangleMesh) -> TriangleMesh:
    """Mirror image of a mesh across the middle of its width."""
    middle = 0.5 * (mesh.vertices[:, 2].min() + mesh.vertices[:, 2].max())
    vertices = mesh.vertices * [1.0, 1.0, -1.0] + [0.0, 0.0, 2.0 * middle]
    return TriangleMesh(vertices, np.ascontiguousarray(mesh.faces[:, ::-1]))
