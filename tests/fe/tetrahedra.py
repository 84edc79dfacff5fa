"""Blocks of linear tetrahedra, and their steps by the midpoint rule."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import splu

from kneewear.fe.volume_mesh import VolumeMesh, boundary_triangles


def box(counts, sizes, corner=(0.0, 0.0, 0.0)) -> VolumeMesh:
    """Block of cubes, each divided into six tetrahedra."""
    shape = np.array(counts) + 1
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    number = np.arange(np.prod(shape)).reshape(shape)
    tetrahedra = []
    for order in permutations(range(3)):
        path = [np.zeros(3, dtype=int)]
        for axis in order:
            path.append(path[-1] + np.eye(3, dtype=int)[axis])
        corners = [
            number[tuple(slice(at, at + count) for at, count in zip(step, counts, strict=True))]
            for step in path
        ]
        odd = np.linalg.det(np.diff(path, axis=0)) < 0
        tetrahedra.append(
            np.stack(corners, axis=-1).reshape(-1, 4)[:, [1, 0, 2, 3] if odd else ...]
        )
    nodes = grid.reshape(-1, 3) / np.array(counts) * np.array(sizes) + np.array(corner)
    return VolumeMesh(nodes, np.concatenate(tetrahedra))


def face(mesh: VolumeMesh, axis: int, value: float, within: float = np.inf):
    """Boundary triangles on a plane, within a distance of its centre along each other axis."""
    triangles = boundary_triangles(mesh)
    at = mesh.nodes[triangles]
    middle = at.mean(axis=1) - 0.5 * (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0))
    others = np.delete(middle, axis, axis=1)
    flat = np.all(np.abs(at[..., axis] - value) < 1e-9, axis=1)
    return triangles[flat & np.all(np.abs(others) < within, axis=1)]


class LinearBlock:
    """A block of bone (N, mm, s, t) with lumped mass that is stepped by the midpoint rule."""

    def __init__(self, mesh, young_modulus=17000.0, poisson=0.3, density=2e-9):
        self.mesh = mesh
        edges = mesh.nodes[mesh.tetrahedra[:, 1:]] - mesh.nodes[mesh.tetrahedra[:, :1]]
        volume = np.linalg.det(edges) / 6.0
        slopes = np.swapaxes(np.linalg.inv(edges), 1, 2)
        slopes = np.concatenate([-slopes.sum(axis=1, keepdims=True), slopes], axis=1)
        lame = young_modulus * poisson / ((1 + poisson) * (1 - 2 * poisson))
        shear = young_modulus / (2 + 2 * poisson)
        across = np.einsum("eai,ebj->eaibj", slopes, slopes)
        block = (
            lame * across
            + shear * np.einsum("eaibj->eajbi", across)
            + shear * np.einsum("eak,ebk,ij->eaibj", slopes, slopes, np.eye(3))
        ) * volume[:, None, None, None, None]
        dofs = (3 * mesh.tetrahedra[..., None] + np.arange(3)).reshape(-1, 12)
        rows, columns = np.repeat(dofs, 12, axis=1), np.tile(dofs, 12)
        self.stiffness = csc_array(coo_array((block.ravel(), (rows.ravel(), columns.ravel()))))
        self.mass = np.zeros(len(mesh.nodes))
        np.add.at(self.mass, mesh.tetrahedra, 0.25 * density * volume[:, None])
        self.displacement = np.zeros_like(mesh.nodes)
        self.velocity = np.zeros_like(mesh.nodes)

    @cached_property
    def _factors(self):
        return {}

    def _factor(self, tau):
        if tau not in self._factors:
            mass = csc_array(
                coo_array((np.repeat(self.mass, 3), 2 * (np.arange(3 * len(self.mass)),)))
            )
            self._factors[tau] = splu(csc_array(2.0 / tau**2 * mass + 0.5 * self.stiffness))
        return self._factors[tau]

    def moved(self, load, tau):
        """Displacement after a step with a nodal load."""
        coast = 2.0 / tau**2 * self.mass[:, None] * (self.displacement + tau * self.velocity)
        elastic = 0.5 * (self.stiffness @ self.displacement.ravel())
        right = (load + coast).ravel() - elastic
        return self._factor(tau).solve(right).reshape(-1, 3)

    def accept(self, displacement, tau):
        """Take the displacement after a step, and its velocity."""
        self.velocity = 2.0 / tau * (displacement - self.displacement) - self.velocity
        self.displacement = displacement

    @property
    def energy(self):
        """Kinetic and strain energy."""
        strain = 0.5 * self.displacement.ravel() @ (self.stiffness @ self.displacement.ravel())
        return strain + 0.5 * np.sum(self.mass[:, None] * self.velocity**2)

    @property
    def momentum(self):
        """Linear momentum."""
        return self.mass @ self.velocity
