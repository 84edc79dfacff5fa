"""Linear elastic and elastic-plastic materials, their stresses, and stiffness of elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.solid import Solid, dilatation_means

Array = NDArray[np.float64]

# Order of components: xx, yy, zz, xy, yz, zx; shear strains are engineering strains.
_PAIRS = ((0, 1), (1, 2), (2, 0))
_VOLUME = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
_DEVIATOR = np.diag([1.0, 1.0, 1.0, 0.5, 0.5, 0.5]) - np.outer(_VOLUME, _VOLUME) / 3.0
# Norm of a stress deviator: shear components count twice.
_TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])


@dataclass(frozen=True)
class Elastic:
    """Isotropic linear elasticity with Young's modulus, MPa, and Poisson's ratio.

    ValueError if the modulus is not positive or Poisson's ratio not between -1 and one half.
    """

    youngs_modulus: float
    poisson_ratio: float

    def __post_init__(self) -> None:
        if not 0.0 < self.youngs_modulus < np.inf:
            raise ValueError(f"Young's modulus is {self.youngs_modulus:g}; it must be positive")
        if not -1.0 < self.poisson_ratio < 0.5:
            raise ValueError(f"Poisson's ratio is {self.poisson_ratio:g}; it must be below 0.5")

    @property
    def shear_modulus(self) -> float:
        """G = E / (2 (1 + nu)), MPa."""
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def bulk_modulus(self) -> float:
        """E / (3 (1 - 2 nu)), MPa."""
        return self.youngs_modulus / (3.0 * (1.0 - 2.0 * self.poisson_ratio))

    @property
    def tensor(self) -> Array:
        """Stress per strain (6, 6), MPa."""
        return self.bulk_modulus * np.outer(_VOLUME, _VOLUME) + 2.0 * self.shear_modulus * _DEVIATOR


@dataclass(frozen=True)
class Hardening:
    """Yield stress by plastic strain: piecewise linear through points, constant after the last.

    `strain` begins with zero and ascends; `stress`, MPa, is positive and does not descend;
    ValueError otherwise.
    """

    strain: tuple[float, ...]
    stress: tuple[float, ...]

    def __post_init__(self) -> None:
        strain, stress = np.array(self.strain), np.array(self.stress)
        if (
            strain.size != stress.size
            or strain.size == 0
            or strain[0] != 0.0
            or (np.diff(strain) <= 0.0).any()
            or (np.diff(stress) < 0.0).any()
            or stress[0] <= 0.0
        ):
            raise ValueError(
                f"plastic strains {self.strain} and stresses {self.stress} MPa; expected strains "
                "that ascend from zero and as many positive stresses that do not descend"
            )

    def yield_stress(self, strain: ArrayLike) -> tuple[Array, Array]:
        """Yield stress at an equivalent plastic strain, and its slope, MPa."""
        strain = np.asarray(strain, dtype=float)
        at, stress = np.array([*self.strain, np.inf]), np.array(self.stress)
        slope = np.append(np.diff(stress) / np.diff(self.strain), 0.0)
        piece = np.clip(np.searchsorted(at, strain, side="right") - 1, 0, stress.size - 1)
        return stress[piece] + slope[piece] * (strain - at[piece]), slope[piece]

    def increment(self, trial: ArrayLike, strain: ArrayLike, stiffness: float) -> Array:
        """Increment p >= 0 of plastic strain with trial - stiffness p = Y(strain + p).

        `trial` is the von Mises stress before the return, MPa, `strain` the equivalent plastic
        strain before, and `stiffness`, MPa, what an increment takes from the stress.
        """
        at, stress = np.array(self.strain), np.array(self.stress)
        # Both sides plus stiffness (strain + p): the left one is constant, the right one ascends.
        ascending = stress + stiffness * at
        target = np.asarray(trial, dtype=float) + stiffness * np.asarray(strain, dtype=float)
        beyond = np.maximum(target - ascending[-1], 0.0) / stiffness
        total = np.interp(target, ascending, at) + beyond
        return np.asarray(np.maximum(total - strain, 0.0))


@dataclass(frozen=True)
class PlasticState:
    """Plastic strain (n, 6) and equivalent plastic strain (n,) of points, shear as engineering."""

    strain: Array
    equivalent: Array


def return_stress(
    elastic: Elastic, hardening: Hardening, strain: Array, state: PlasticState
) -> tuple[Array, PlasticState]:
    """Stress of von Mises plasticity with isotropic hardening, by radial return.

    Parameters
    ----------
    elastic, hardening : Elastic, Hardening
        The material.
    strain : array, shape (n, 6)
        Strains at the end of a step.
    state : PlasticState
        Plastic strains at its start.

    Returns
    -------
    array, PlasticState
        Stress (n, 6), MPa, and plastic strains at the end.

    Notes
    -----
    The trial deviator is scaled back to the yield surface, q = q_trial - 3 G dp, with the plastic
    increment dp from q = Y(p + dp) (Simo and Hughes 1998, Computational Inelasticity, box 3.2).
    """
    shear = elastic.shear_modulus
    trial = (strain - state.strain) @ elastic.tensor
    mean = trial[:, :3].mean(axis=1)
    deviator = trial - mean[:, None] * _VOLUME
    size = np.sqrt((_TWICE * deviator**2).sum(axis=1))
    stress = np.sqrt(1.5) * size
    limit, _ = hardening.yield_stress(state.equivalent)
    yields = stress > limit
    own, before = stress[yields], state.equivalent[yields]
    more = np.zeros(own.size)
    # Piecewise linear: Newton's method ends when the piece does not change.
    for _ in range(len(hardening.strain) + 2):
        level, slope = hardening.yield_stress(before + more)
        more += (own - 3.0 * shear * more - level) / (3.0 * shear + slope)
        more = np.maximum(more, 0.0)
    direction = deviator[yields] / size[yields, None]
    stress_now = trial.copy()
    stress_now[yields] -= (np.sqrt(6.0) * shear * more)[:, None] * direction
    plastic, equivalent = state.strain.copy(), state.equivalent.copy()
    plastic[yields] += (np.sqrt(1.5) * more)[:, None] * direction * _TWICE
    equivalent[yields] += more
    return stress_now, PlasticState(plastic, equivalent)


class Strains:
    """Strains of the elements of a solid, with means of the dilatation that do not lock."""

    def __init__(self, solid: Solid) -> None:
        slope, self.volume = solid.geometry
        means = dilatation_means(self.volume)
        count = slope.shape[0]
        matrix = np.zeros((count, 27, 6, 27, 3))
        for axis in range(3):
            matrix[:, :, axis, :, axis] = slope[..., axis]
        for shear, (first, second) in enumerate(_PAIRS, start=3):
            matrix[:, :, shear, :, first] = slope[..., second]
            matrix[:, :, shear, :, second] = slope[..., first]
        own = matrix.reshape(count, 27, 6, 81)
        dilatation = slope.reshape(count, 27, 81)
        own[:, :, :3] += ((means @ dilatation - dilatation) / 3.0)[:, :, None]
        self.matrix = own
        self._freedoms = solid.element_freedoms
        self._size = solid.size

    def strains(self, displacement: Array) -> Array:
        """Strains (element, point, 6) of displacements of all degrees of freedom."""
        padded = np.append(displacement, 0.0)
        return np.asarray((self.matrix @ padded[self._freedoms][:, None, :, None])[..., 0])

    def stiffness(self, tangent: Array, elements: NDArray[Any] | slice = slice(None)) -> Array:
        """Stiffness (element, 81, 81), N/mm, of tangents (6, 6) or (element, point, 6, 6), MPa."""
        numbers = np.arange(len(self.matrix))[elements]
        found = np.empty((numbers.size, 81, 81))
        for start in range(0, numbers.size, 64):  # 64 elements are 7 MB
            part = numbers[start : start + 64]
            matrix = self.matrix[part]
            own = tangent if tangent.ndim == 2 else tangent[start : start + 64]
            stress = own @ (matrix * self.volume[part][:, :, None, None])
            flat = matrix.reshape(part.size, 162, 81)
            found[start : start + 64] = flat.transpose(0, 2, 1) @ stress.reshape(flat.shape)
        return found

    def forces(self, stress: Array) -> Array:
        """Forces on all degrees of freedom, N, that balance stresses (element, point, 6), MPa."""
        weighted = (stress * self.volume[..., None]).reshape(len(stress), 1, 162)
        own = (weighted @ self.matrix.reshape(len(stress), 162, 81))[:, 0]
        found = np.zeros(self._size + 1)
        np.add.at(found, self._freedoms, own)
        return found[:-1]


def von_mises(stress: Array) -> Array:
    """Von Mises stress of stresses (..., 6), MPa."""
    mean = stress[..., :3].mean(axis=-1, keepdims=True)
    return np.asarray(np.sqrt(1.5 * (_TWICE * (stress - mean * _VOLUME) ** 2).sum(axis=-1)))


def maximum_shear(stress: Array) -> Array:
    """Largest shear stress of stresses (..., 6), half the range of principal stresses, MPa."""
    full = np.empty((*stress.shape[:-1], 3, 3))
    for axis in range(3):
        full[..., axis, axis] = stress[..., axis]
    for shear, (first, second) in enumerate(_PAIRS, start=3):
        full[..., first, second] = full[..., second, first] = stress[..., shear]
    principal = np.linalg.eigvalsh(full)
    return np.asarray(0.5 * (principal[..., 2] - principal[..., 0]))
