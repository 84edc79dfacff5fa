"""Insertions of rods into elastic bodies: mean pose of a patch, tractions of force and moment.

The pose of an insertion is the mean position of the patch and the rotation of its mean deformation
gradient (Sander et al. 2012, equations 12 and 13). A rod's force and moment become the traction
that is as constant as possible (equation 14).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.knees.papers.rotation_vectors import polar_rotation

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Integrals of products of linear functions over a triangle of area 1.
_TRIANGLE_MASS = (np.ones((3, 3)) + np.eye(3)) / 12.0
_FACES = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


@dataclass(frozen=True)
class Insertion:
    """A patch of the boundary of a tetrahedral mesh into which a rod is inserted.

    Made by `insertion`. `numbers` (k,) are nodes of the patch, `position` (k, 3) their reference
    positions, mm, `mass` (k, k) the integrals of products of their shape functions, mm2;
    `inner_numbers` (g,) are nodes of the tetrahedra behind the patch and `gradient` (g, 3) the
    means of the gradients of their shape functions over the patch, 1/mm.
    """

    numbers: Numbers
    position: Array
    mass: Array
    inner_numbers: Numbers
    gradient: Array

    @property
    def area(self) -> float:
        """Area, mm2."""
        return float(np.sum(self.mass))

    @cached_property
    def weights(self) -> Array:
        """Weights of nodal values in the mean over the patch, shape (k,)."""
        return np.asarray(np.sum(self.mass, axis=1) / self.area)

    @property
    def centroid(self) -> Array:
        """Mean reference position, mm."""
        return np.asarray(self.weights @ self.position)

    @cached_property
    def arms(self) -> Array:
        """Reference positions from the centroid, mm, shape (k, 3)."""
        return self.position - self.centroid

    @cached_property
    def inertia(self) -> Array:
        """Integral of |y|^2 I - y y^T with the arm y, mm4."""
        moment = self.arms.T @ self.mass @ self.arms
        return np.asarray(np.trace(moment) * np.eye(3) - moment)

    def mean_position(self, displacement: Array) -> Array:
        """Mean position of the displaced patch, mm (equation 12).

        `displacement` (n, 3), mm, is that of all nodes of the body.
        """
        return np.asarray(self.centroid + self.weights @ displacement[self.numbers])

    def mean_rotation(self, displacement: Array) -> Array:
        """Rotation (3, 3) of the patch: polar factor of the mean of grad(x + u) (equation 13)."""
        return polar_rotation(np.eye(3) + displacement[self.inner_numbers].T @ self.gradient)

    def mean_turn(self, displacement: Array) -> Array:
        """Small rotation (3,), rad, of the patch that is closest to a displacement (n, 3), mm.

        It minimises the integral over the patch of the squared distance to a rigid motion, and is
        adjoint to `nodal_forces`: these do the work moment . turn in any displacement.
        """
        weighted = self.mass @ displacement[self.numbers]
        return np.linalg.solve(self.inertia, np.sum(np.cross(self.arms, weighted), axis=0))

    def traction(self, force: ArrayLike, moment: ArrayLike) -> Array:
        """Traction at the nodes of the patch, MPa, shape (k, 3), linear between them.

        It has the resultant `force`, N, and the moment `moment`, N mm, about the centroid.

        Notes
        -----
        Of all fields with this resultant, t = force / area + w x y, with the arm y, has the
        smallest integral of |t|^2, hence also of |t - mean|^2. Moments refer to the reference
        shape, as strains are small.
        """
        turn = np.linalg.solve(self.inertia, np.asarray(moment, dtype=float))
        return np.asarray(force, dtype=float) / self.area + np.cross(turn, self.arms)

    def nodal_forces(self, force: ArrayLike, moment: ArrayLike) -> Array:
        """Forces on the nodes of the patch, N, (k, 3), equivalent to `traction`.

        In a displacement u they do the work force . (mean of u) + moment . (`mean_turn` of u).
        """
        return np.asarray(self.mass @ self.traction(force, moment))


def insertion(nodes: Array, triangles: Numbers, tetrahedra: Numbers) -> Insertion:
    """Patch of triangles (t, 3) on the boundary of tetrahedra (m, 4); nodes (n, 3), mm.

    ValueError if there is no triangle, or a triangle is no face of a tetrahedron.
    """
    if not len(triangles):
        raise ValueError("an insertion needs at least one triangle")
    numbers, local = np.unique(triangles, return_inverse=True)
    local = local.reshape(triangles.shape)
    corner = nodes[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = 0.5 * np.linalg.norm(normal, axis=1)
    mass = np.zeros((len(numbers), len(numbers)))
    np.add.at(mass, (local[:, :, None], local[:, None, :]), area[:, None, None] * _TRIANGLE_MASS)

    behind = _tetrahedra_behind(triangles, tetrahedra)
    inner, place = np.unique(behind, return_inverse=True)
    gradient = np.zeros((len(inner), 3))
    share = (area / np.sum(area))[:, None, None]
    np.add.at(gradient, place.reshape(behind.shape), share * _shape_gradients(nodes[behind]))
    return Insertion(numbers, nodes[numbers], mass, inner, gradient)


def _tetrahedra_behind(triangles: Numbers, tetrahedra: Numbers) -> Numbers:
    """Nodes (t, 4) of the tetrahedron of each triangle."""
    near = tetrahedra[np.sum(np.isin(tetrahedra, triangles), axis=1) >= 3]
    faces = np.sort(near[:, _FACES], axis=-1).reshape(-1, 3)
    place = {tuple(face): number // 4 for number, face in enumerate(faces.tolist())}
    try:
        return near[[place[tuple(face)] for face in np.sort(triangles, axis=1).tolist()]]
    except KeyError as missing:
        raise ValueError(f"triangle {missing} is no face of a tetrahedron") from missing


def _shape_gradients(corners: Array) -> Array:
    """Gradients (m, 4, 3) of the linear shape functions of tetrahedra with corners (m, 4, 3)."""
    inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1])
    others = np.swapaxes(inverse, 1, 2)
    return np.concatenate([-np.sum(others, axis=1, keepdims=True), others], axis=1)
