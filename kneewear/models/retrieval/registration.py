"""Position of a scan on its reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]

_SAMPLE = 8000
_ITERATIONS = 40
# Distance within which a point of the scan has a counterpart, mm: at first, and at last.
_REACH = (6.0, 0.6)
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
        Median distance of points of the scan from the reference, mm.
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
        return TriangleMesh(mesh.vertices @ self.rotation.T + self.translation, mesh.faces)


def register(scan: TriangleMesh, reference: TriangleMesh) -> ScanPose:
    """Move a scan onto a reference, both in mm and knee axes.

    Points of the scan approach the tangent planes of the nearest points of the reference; those
    further away than others, such as worn ones, lose their weight (Tukey's biweight).
    """
    rng = np.random.default_rng(0)
    used = np.unique(scan.faces)
    chosen = used if used.size <= _SAMPLE else rng.permutation(used)[:_SAMPLE]
    points, normals = scan.vertices[chosen], scan.vertex_normals[chosen]
    tree = scipy.spatial.cKDTree(reference.vertices)
    target, facing = reference.vertices, reference.vertex_normals
    middle = 0.5 * (target.min(axis=0) + target.max(axis=0))
    shift = middle - 0.5 * (scan.vertices.min(axis=0) + scan.vertices.max(axis=0))
    # A whole insert and a sheet have their bearing, not their middle, at one height.
    shift[1] = np.quantile(target[:, 1], 0.98) - np.quantile(scan.vertices[:, 1], 0.98)
    rotation, translation = np.eye(3), shift
    distance, scale, matched = np.inf, 1.0, 0.0
    size = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    for number in range(_ITERATIONS):
        moved, turned = points @ rotation.T + translation, normals @ rotation.T
        reach = max(_REACH[0] * 0.8**number, _REACH[1])
        apart, nearest = tree.query(moved, distance_upper_bound=reach)
        near = np.isfinite(apart)
        near[near] &= (facing[nearest[near]] * turned[near]).sum(axis=1) > 0.7
        if near.sum() < 50:
            break
        normal, arm = facing[nearest[near]], moved[near] - middle
        residual = ((target[nearest[near]] - moved[near]) * normal).sum(axis=1)
        spread = max(_NORMAL * float(np.median(np.abs(residual - np.median(residual)))), 1e-3)
        weight = np.maximum(1.0 - (residual / (_CUT * spread)) ** 2, 0.0) ** 2
        terms = np.column_stack([normal, np.cross(arm, normal) / size])
        scaled = np.column_stack([terms, (arm * normal).sum(axis=1) / size])
        root = np.sqrt(weight)[:, None]
        step = np.linalg.lstsq(root * terms, root[:, 0] * residual, rcond=1e-8)[0]
        scale = 1.0 + float(
            np.linalg.lstsq(root * scaled, root[:, 0] * residual, rcond=1e-8)[0][6] / size
        )
        turn = scipy.spatial.transform.Rotation.from_rotvec(step[3:] / size).as_matrix()
        rotation = turn @ rotation
        translation = turn @ (translation - middle) + middle + step[:3]
        distance, matched = float(np.median(np.abs(residual))), float(near.mean())
        if np.abs(step).max() < _SETTLED:
            break
    return ScanPose(rotation, translation, distance, scale, matched)


def mirrored(mesh: TriangleMesh) -> TriangleMesh:
    """Mirror image of a mesh across the middle of its width."""
    middle = 0.5 * (mesh.vertices[:, 2].min() + mesh.vertices[:, 2].max())
    vertices = mesh.vertices * [1.0, 1.0, -1.0] + [0.0, 0.0, 2.0 * middle]
    return TriangleMesh(vertices, np.ascontiguousarray(mesh.faces[:, ::-1]))
