"""Cosserat rods: material, configuration, strains, energy and momentum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.knees.papers.fe_knee.rod_elements import RodSection, section, strains
from kneewear.knees.papers.rotation_vectors import transposed, turned

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RodMaterial:
    """Elastic rod with a circular cross-section.

    Young's modulus, MPa; Poisson's ratio; density, t/mm3; radius, mm. Defaults are the ligaments of
    Sander et al. 2012, Table 2 and section 5. ValueError unless modulus, density and radius are
    positive and Poisson's ratio is between -1 and 0.5.
    """

    young_modulus: float = 330.0
    poisson: float = 0.3
    density: float = 1e-9
    radius: float = 5.0

    def __post_init__(self) -> None:
        if min(self.young_modulus, self.density, self.radius) <= 0.0:
            raise ValueError("modulus, density and radius of a rod must be positive")
        if not -1.0 < self.poisson <= 0.5:
            raise ValueError("Poisson's ratio of a rod must be above -1 and at most 0.5")

    @property
    def area(self) -> float:
        """Area of the cross-section, mm2."""
        return float(np.pi * self.radius**2)

    @property
    def second_moment(self) -> float:
        """Second moment of area about a diameter, mm4; the polar one is twice as large."""
        return float(0.25 * np.pi * self.radius**4)

    @property
    def stiffness(self) -> Array:
        """(A1, A2, A3, K1, K2, K3): shear, shear and stretch, N; bending, bending and twist, N mm2.

        W = diag(G A, G A, E A, E J, E J, 2 G J) / 2 of the strains, with G = E / (2 + 2 nu),
        equation 10 of the source; no shear correction factor.
        """
        shear = self.young_modulus / (2.0 + 2.0 * self.poisson)
        bending = self.young_modulus * self.second_moment
        return np.array(
            [
                shear * self.area,
                shear * self.area,
                self.young_modulus * self.area,
                bending,
                bending,
                2.0 * shear * self.second_moment,
            ]
        )

    @property
    def line_density(self) -> float:
        """Mass per unstressed length, t/mm."""
        return self.density * self.area

    @property
    def line_inertia(self) -> Array:
        """Rotatory inertia per length about the axes of a cross-section, t mm."""
        return self.density * self.second_moment * np.array([1.0, 1.0, 2.0])


@dataclass(frozen=True)
class RodState:
    """Configuration and velocity of several rods with the same number of nodes.

    `position` (rod, node, 3), mm; `rotation` (rod, node, 3, 3), whose columns are the directors,
    the third along the rod; `velocity` (rod, node, 3), mm/s; `spin` (rod, node, 3), rad/s, spatial
    components of the angular velocity.
    """

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    def turned(self, rotation: ArrayLike, shift: ArrayLike) -> RodState:
        """The state after a rigid motion x -> rotation x + shift of all rods."""
        rotation, shift = np.asarray(rotation, dtype=float), np.asarray(shift, dtype=float)
        return RodState(
            self.position @ rotation.T + shift,
            rotation @ self.rotation,
            self.velocity @ rotation.T,
            self.spin @ rotation.T,
        )


@dataclass(frozen=True)
class Rods:
    """Straight, unstressed rods of equal elements.

    Parameters
    ----------
    materials
        Material of each rod.
    length : shape (rod,)
        Unstressed length, mm; below the distance of the ends at the start for a pre-strain.
    elements
        Number of elements of each rod; the source has 20.
    gravity : shape (3,)
        Acceleration by gravity, mm/s2; our vertical axis is y.

    Notes
    -----
    Mass and rotatory inertia are integrated by the trapezoidal rule, hence concentrated at nodes;
    the strain energy by the one-point rule in the middle of elements.
    """

    materials: tuple[RodMaterial, ...]
    length: Array
    elements: int = 20
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if np.shape(self.length) != (len(self.materials),) or np.min(self.length) <= 0.0:
            raise ValueError("each rod must have one positive length")
        if self.elements < 1:
            raise ValueError("a rod must have at least one element")

    @property
    def element_length(self) -> Array:
        """Unstressed length of elements, mm, shape (rod, 1, 1)."""
        return (self.length / self.elements)[:, None, None]

    @property
    def stiffness(self) -> Array:
        """Stiffness of cross-sections, shape (rod, 1, 6)."""
        return np.array([material.stiffness for material in self.materials])[:, None]

    @property
    def nodal_length(self) -> Array:
        """Unstressed length that belongs to each node, mm, shape (rod, node, 1)."""
        share = np.ones((1, self.elements + 1, 1))
        share[:, [0, -1]] = 0.5
        return self.element_length * share

    @property
    def nodal_mass(self) -> Array:
        """Mass of nodes, t, shape (rod, node, 1)."""
        density = np.array([material.line_density for material in self.materials])
        return density[:, None, None] * self.nodal_length

    @property
    def nodal_inertia(self) -> Array:
        """Principal inertia of nodes about the directors, t mm2, shape (rod, node, 3)."""
        inertia = np.array([material.line_inertia for material in self.materials])
        return inertia[:, None, :] * self.nodal_length

    @property
    def weight(self) -> Array:
        """Force of gravity on nodes, N, shape (rod, node, 3)."""
        return self.nodal_mass * np.asarray(self.gravity)

    def straight(
        self, start: ArrayLike, end: ArrayLike, velocity: ArrayLike = (0.0, 0.0, 0.0)
    ) -> RodState:
        """Rods along straight lines between points (rod, 3), mm, moving with `velocity`, mm/s.

        Cross-sections are normal to the line. Nodes are equally spaced, r = (1 - s / l) start + (s
        / l) end (the source prints s for s / l). ValueError if two points coincide.
        """
        start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        axis = end - start
        chord = np.linalg.norm(axis, axis=-1, keepdims=True)
        if np.any(chord == 0.0):
            raise ValueError("the ends of a rod must not coincide")
        at = np.linspace(0.0, 1.0, self.elements + 1)[:, None]
        position = start[:, None] + at * axis[:, None]
        rotation = np.repeat(_along(axis / chord)[:, None], self.elements + 1, axis=1)
        speed = np.broadcast_to(np.asarray(velocity, dtype=float), position.shape).copy()
        return RodState(position, rotation, speed, np.zeros_like(position))

    def sections(self, state: RodState) -> RodSection:
        """Geometry of elements."""
        return section(
            np.diff(state.position, axis=1), state.rotation[:, :-1], state.rotation[:, 1:]
        )

    def strains(self, state: RodState) -> Array:
        """Strains in the middle of elements, (rod, element, 6), in axes of the cross-section.

        Two of shear and the stretch; two of bending and the twist, rad/mm.
        """
        return np.concatenate(strains(self.sections(state), self.element_length), axis=-1)

    def stresses(self, state: RodState) -> Array:
        """Forces, N, and moments, N mm, across the middle of elements, (rod, element, 6).

        Components in axes of the cross-section; the third force is the tension.
        """
        return self.stiffness * self.strains(state)

    def strain_energy(self, state: RodState) -> Array:
        """Strain energy of each rod, mJ, shape (rod,)."""
        strain = self.strains(state)
        return 0.5 * np.sum(self.element_length * self.stiffness * strain**2, axis=(1, 2))

    def kinetic_energy(self, state: RodState) -> Array:
        """Kinetic energy of each rod, mJ, shape (rod,)."""
        body = turned(transposed(state.rotation), state.spin)
        work = self.nodal_mass * state.velocity**2 + self.nodal_inertia * body**2
        return np.asarray(0.5 * np.sum(work, axis=(1, 2)))

    def gravity_energy(self, state: RodState) -> Array:
        """Potential energy of gravity of each rod, mJ, zero at the origin, shape (rod,)."""
        return np.asarray(-np.sum(self.weight * state.position, axis=(1, 2)))

    def energy(self, state: RodState) -> Array:
        """Total energy of each rod, mJ, shape (rod,)."""
        return self.strain_energy(state) + self.kinetic_energy(state) + self.gravity_energy(state)

    def momentum(self, state: RodState) -> Array:
        """Linear momentum of each rod, N s, shape (rod, 3)."""
        return np.asarray(np.sum(self.nodal_mass * state.velocity, axis=1))

    def angular_momentum(self, state: RodState) -> Array:
        """Angular momentum of each rod about the origin, N mm s, shape (rod, 3)."""
        orbit = np.cross(state.position, self.nodal_mass * state.velocity)
        return np.asarray(np.sum(orbit + self.spin_momentum(state), axis=1))

    def spin_momentum(self, state: RodState) -> Array:
        """Angular momentum of cross-sections about their centres, N mm s, (rod, node, 3)."""
        body = turned(transposed(state.rotation), state.spin)
        return turned(state.rotation, self.nodal_inertia * body)

    def edge_stress(self, state: RodState) -> Array:
        """Largest von Mises stress in the cross-sections of elements, MPa, shape (rod, element).

        At the edge of the circle, where stress of bending and twist is largest: normal stress |N|/A
        + |M| r/J and shear stress of the twist |T| r/(2 J) plus the mean one |V|/A. The sum of
        maxima is an upper bound, since they need not occur at one point.
        """
        force, moment = np.split(self.stresses(state), 2, axis=-1)
        area = np.array([material.area for material in self.materials])[:, None]
        modulus = np.array([one.second_moment / one.radius for one in self.materials])[:, None]
        bending = np.linalg.norm(moment[..., :2], axis=-1)
        normal = np.abs(force[..., 2]) / area + bending / modulus
        shear = np.linalg.norm(force[..., :2], axis=-1) / area + np.abs(moment[..., 2]) / (
            2.0 * modulus
        )
        return np.asarray(np.sqrt(normal**2 + 3.0 * shear**2))


def _along(axis: Array) -> Array:
    """Rotations (..., 3, 3) whose third column is the unit vector `axis`."""
    least = np.eye(3)[np.argmin(np.abs(axis), axis=-1)]
    first = np.cross(least, axis)
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    return np.stack([first, np.cross(axis, first), axis], axis=-1)
