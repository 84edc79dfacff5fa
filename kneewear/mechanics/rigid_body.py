"""Equations of motion of the moving body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _kernels

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RigidBody:
    """Inertia of the moving body.

    Parameters
    ----------
    mass : float
        Mass, t (N s2/mm).
    inertia : array, shape (3, 3)
        Inertia about the centre of mass along the axes of the body's frame, t mm2.
    centre_of_mass : array, shape (3,)
        Position of the centre of mass in the body's frame, mm.

    Raises
    ------
    ValueError
        If the mass is not positive or the inertia not symmetric and positive.
    """

    mass: float
    inertia: ArrayLike
    centre_of_mass: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        inertia = np.asarray(self.inertia, dtype=float)
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise ValueError(f"mass of the moving body: found {self.mass} t, expected above zero")
        if inertia.shape != (3, 3) or not np.allclose(inertia, inertia.T, rtol=1e-9, atol=0.0):
            raise ValueError("inertia of the moving body: expected a symmetric matrix of 3 x 3")
        if not np.linalg.eigvalsh(inertia)[0] > 0.0:
            raise ValueError("inertia of the moving body: expected positive principal values")
        if np.shape(self.centre_of_mass) != (3,):
            raise ValueError("centre of mass of the moving body: expected three numbers, mm")

    @property
    def arrays(self) -> _kernels.BodyArrays:
        """Mass, inertia and centre of mass in the form of kernels."""
        return _kernels.BodyArrays(
            float(self.mass),
            np.ascontiguousarray(self.inertia, dtype=float),
            np.ascontiguousarray(self.centre_of_mass, dtype=float),
        )

    def equations(self, coordinates: ArrayLike, rates: ArrayLike) -> tuple[Array, Array]:
        """Mass matrix M and bias b of the equations of motion M q'' + b = Q.

        From coordinates, mm and rad, and rates, mm/s and rad/s, by Newton-Euler about the body's
        origin, projected on the axes of the coordinates. M has the units t, t mm and t mm2; b holds
        centrifugal and gyroscopic forces, N and N mm. Singular at a quarter turn of the second
        angle.
        """
        rotation, axes = np.empty((3, 3)), np.empty((3, 3))
        mass, bias = np.empty((6, 6)), np.empty(6)
        angles = np.asarray(coordinates, dtype=float)[3:]
        _kernels.orient(angles, _kernels.BODY_THREE_ORDER, _kernels.BODY_THREE_SIGN, rotation, axes)
        _kernels.inertia_along(
            self.arrays, rotation, axes, np.asarray(rates, dtype=float), mass, bias
        )
        return mass, bias


def solid_body(mass: float, radii_of_gyration: ArrayLike, centre_of_mass: ArrayLike) -> RigidBody:
    """A body of mass, t, with radii of gyration, mm, about the axes of its frame."""
    radii = np.asarray(radii_of_gyration, dtype=float)
    return RigidBody(mass, mass * np.diag(radii**2), centre_of_mass)


def modal_damping(mass: ArrayLike, stiffness: ArrayLike, ratio: float) -> Array:
    """Damping matrix that damps every mode of free vibration by the same ratio to critical damping.

    C = 2 ratio L |L^-1 K L^-T|^(1/2) L', with M = L L' and the symmetric part of the stiffness K;
    modes that it does not restore are damped by its magnitude.
    """
    root = np.linalg.cholesky(np.asarray(mass, dtype=float))
    inverse = np.linalg.inv(root)
    stiffness = np.asarray(stiffness, dtype=float)
    squares, modes = np.linalg.eigh(inverse @ (0.5 * (stiffness + stiffness.T)) @ inverse.T)
    shapes = root @ modes
    return 2.0 * ratio * (shapes * np.sqrt(np.abs(squares))) @ shapes.T
