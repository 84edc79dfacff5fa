"""Linear elastic bone and Kelvin-Voigt cartilage: mass, stiffness and viscosity of a mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# A rule of degree two over the triangle times Gauss's two-point rule over the height.
_TRIANGLE_POINTS = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]]) / 6.0
_HEIGHTS = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)


@dataclass(frozen=True)
class KelvinVoigt:
    """Isotropic solid with a viscous stress beside the elastic one.

    Parameters
    ----------
    young_modulus : float
        MPa.
    poisson : float
        Poisson's ratio, from 0 to below 0.5.
    density : float
        t/mm3 (1 g/cm3 is 1e-9 t/mm3).
    viscosity : float, optional
        Shear and bulk viscosity mu, MPa s; zero for an elastic solid.

    Notes
    -----
    sigma = E : eps(u) + V : eps(v). The source (Sander et al. 2012, Table 2) gives one value as
    "shear/bulk viscosity", so V : e = 2 mu dev(e) + mu tr(e) I here: mu is both moduli.
    """

    young_modulus: float
    poisson: float
    density: float
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        if not (self.young_modulus > 0.0 and self.density > 0.0 and self.viscosity >= 0.0):
            raise ValueError(
                f"modulus {self.young_modulus:g}, density {self.density:g}, viscosity "
                f"{self.viscosity:g}; expected positive ones and a viscosity of at least zero"
            )
        if not 0.0 <= self.poisson < 0.5:
            raise ValueError(f"Poisson's ratio {self.poisson:g}; expected 0 to below 0.5")

    @property
    def elastic_moduli(self) -> tuple[float, float]:
        """Lamé's moduli lambda and mu, MPa."""
        shear = self.young_modulus / (2.0 + 2.0 * self.poisson)
        return 2.0 * shear * self.poisson / (1.0 - 2.0 * self.poisson), shear

    @property
    def viscous_moduli(self) -> tuple[float, float]:
        """The moduli of V in Lamé's form, MPa s."""
        return self.viscosity / 3.0, self.viscosity


@dataclass(frozen=True)
class Matrices:
    """Matrices of a mesh: lumped mass (n,), t; stiffness, N/mm; viscosity, N s/mm (3 n, 3 n)."""

    mass: Array
    stiffness: sparse.bsr_array
    viscosity: sparse.bsr_array


@dataclass(frozen=True)
class Elements:
    """Elements of one kind: nodes (e, a), and at integration points shape functions and volumes.

    `shape` (p, a), `slope` (e, p, a, 3) in 1/mm and `volume` (e, p) in mm3.
    """

    nodes: Numbers
    shape: Array
    slope: Array
    volume: Array


def assembled(mesh: VolumeMesh, bone: KelvinVoigt, cartilage: KelvinVoigt | None) -> Matrices:
    """Matrices of a mesh whose tetrahedra are bone and whose prisms are cartilage.

    Mass is lumped by sums of rows, which keeps total mass, linear momentum and the centre of
    mass. ValueError if there are prisms without a material.
    """
    parts = _parts(mesh, bone, cartilage)
    mass, stiffness, viscosity = np.zeros(len(mesh.nodes)), [], []
    for elements, material in parts:
        share = material.density * np.einsum("ep,pa->ea", elements.volume, elements.shape)
        mass += np.bincount(elements.nodes.ravel(), share.ravel(), minlength=mass.size)
        stiffness.append((elements.nodes, _stiffness(elements, material.elastic_moduli)))
        if material.viscosity:
            viscosity.append((elements.nodes, _stiffness(elements, material.viscous_moduli)))
    return Matrices(mass, _summed(stiffness, mass.size), _summed(viscosity, mass.size))


def stresses(
    mesh: VolumeMesh,
    bone: KelvinVoigt,
    cartilage: KelvinVoigt | None,
    displacement: Array,
    velocity: Array | None = None,
) -> tuple[Array, Array]:
    """Mean stress of each tetrahedron and of each prism, MPa; shapes (m, 3, 3) and (k, 3, 3).

    Displacement (n, 3), mm; with a velocity (n, 3), mm/s, the viscous stress is added.
    """
    found = []
    for elements, material in _parts(mesh, bone, cartilage):
        stress = _stress(_strain(elements, displacement), material.elastic_moduli)
        if velocity is not None:
            stress = stress + _stress(_strain(elements, velocity), material.viscous_moduli)
        found.append(stress)
    return found[0], found[1] if len(found) == 2 else np.empty((0, 3, 3))


def element_von_mises(stress: Array) -> Array:
    """Von Mises stress of stress tensors (..., 3, 3), MPa."""
    deviator = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
    return np.sqrt(1.5 * np.sum(deviator**2, axis=(-2, -1)))


def _parts(
    mesh: VolumeMesh, bone: KelvinVoigt, cartilage: KelvinVoigt | None
) -> list[tuple[Elements, KelvinVoigt]]:
    """Elements of bone and, where there are prisms, of cartilage with their materials."""
    parts = [(_tetrahedra(mesh), bone)]
    if len(mesh.prisms):
        if cartilage is None:
            raise ValueError(f"{len(mesh.prisms)} prisms without a material of cartilage")
        parts.append((_prisms(mesh), cartilage))
    return parts


def _tetrahedra(mesh: VolumeMesh) -> Elements:
    """Linear tetrahedra: constant slopes, one point."""
    at = mesh.nodes[mesh.tetrahedra]
    sides = at[:, 1:] - at[:, :1]
    inner = np.linalg.inv(sides).swapaxes(1, 2)
    slope = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    volume = np.linalg.det(sides) / 6.0
    return Elements(mesh.tetrahedra, np.full((1, 4), 0.25), slope[:, None], volume[:, None])


def _prisms(mesh: VolumeMesh) -> Elements:
    """Linear prisms: six points."""
    triangle = np.repeat(_TRIANGLE_POINTS, 2, axis=0)
    height = np.tile(_HEIGHTS, 3)[:, None]
    shape = np.concatenate([triangle * (1.0 - height), triangle * height], axis=1)
    along = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])
    reference = np.stack(
        [np.concatenate([side * (1.0 - height), side * height], axis=1) for side in along]
        + [np.concatenate([-triangle, triangle], axis=1)]
    )
    jacobian = np.einsum("dpa,eac->epdc", reference, mesh.nodes[mesh.prisms])
    slope = np.einsum("dpa,epcd->epac", reference, np.linalg.inv(jacobian), optimize=True)
    return Elements(mesh.prisms, shape, slope, np.linalg.det(jacobian) / 12.0)


def _stiffness(elements: Elements, moduli: tuple[float, float]) -> Array:
    """Stiffness blocks (e, a, b, 3, 3) of an isotropic material with Lamé's moduli."""
    slope, volume = elements.slope, elements.volume
    products = np.einsum("ep,epai,epbj->eabij", volume, slope, slope, optimize=True)
    first, shear = moduli
    trace = np.trace(products, axis1=-2, axis2=-1)[..., None, None]
    return np.asarray(first * products + shear * (products.swapaxes(-1, -2) + trace * np.eye(3)))


def _summed(parts: list[tuple[Numbers, Array]], n: int) -> sparse.bsr_array:
    """Sum of element blocks as a matrix of 3 x 3 blocks."""
    if not parts:
        return sparse.bsr_array((3 * n, 3 * n), blocksize=(3, 3))
    keys, blocks = [], []
    for nodes, block in parts:
        keys.append((nodes[:, :, None] * n + nodes[:, None, :]).ravel())
        blocks.append(block.reshape(-1, 9))
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    values = np.concatenate(blocks)
    data = np.stack([np.bincount(place, values[:, c], key.size) for c in range(9)], axis=1)
    row, column = np.divmod(key, n)
    start = np.searchsorted(row, np.arange(n + 1))
    return sparse.bsr_array((data.reshape(-1, 3, 3), column, start), shape=(3 * n, 3 * n))


def _strain(elements: Elements, field: Array) -> Array:
    """Mean symmetric gradient (e, 3, 3) of a nodal field."""
    gradient = np.einsum(
        "ep,epaj,eai->eij", elements.volume, elements.slope, field[elements.nodes], optimize=True
    )
    gradient /= elements.volume.sum(axis=1)[:, None, None]
    return np.asarray(0.5 * (gradient + gradient.swapaxes(1, 2)))


def _stress(strain: Array, moduli: tuple[float, float]) -> Array:
    """Isotropic stress of a strain with Lamé's moduli."""
    trace = np.trace(strain, axis1=1, axis2=2)[:, None, None]
    return np.asarray(moduli[0] * trace * np.eye(3) + 2.0 * moduli[1] * strain)
