"""Wear laws of the hierarchical model: their constants with priors, and wear between nodes.

Wear of every test is computed at nodes of the constants of a law (`config/evidence/
wear_posterior.yaml`). Its logarithm is interpolated between them, so that a likelihood costs
microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.wear.direction_memory import circle_cross_shear
from kneewear.wear.law_settings import (
    MM3_PER_N_MM_FROM_MM3_PER_N_M,
    UNIT_FACTOR,
    ContactArea,
    DirectionMemory,
)

Array = NDArray[np.float64]


class Constant(NamedTuple):
    """Constant of a law, with the bounds of its prior: uniform, or uniform in the logarithm."""

    name: str
    low: float
    high: float
    is_logarithmic: bool = False

    def from_unit(self, part: Array) -> Array:
        """Value at a part of the prior's probability, 0 to 1."""
        if self.is_logarithmic:
            return np.asarray(self.low * (self.high / self.low) ** part)
        return self.low + (self.high - self.low) * part


_STRAIGHT = Constant("straight_factor", 0.005, 1.0, is_logarithmic=True)
# Priors span the nodes. Constants of contact_area, and archard, which has none, are not sampled.
CONSTANTS: dict[str, tuple[Constant, ...]] = {
    "archard": (),
    "cross_shear_saturation": (_STRAIGHT, Constant("saturation", 0.03, 0.5, is_logarithmic=True)),
    "direction_memory": (_STRAIGHT, Constant("memory_mm", 0.5, 12.0, is_logarithmic=True)),
    "pressure_power": (Constant("exponent", -0.84, 0.0),),
    "cross_shear_and_pressure": (
        Constant("cross_shear_exponent", 0.0, 0.5),
        Constant("pressure_rate_per_mpa", -0.3, 0.0),
    ),
    "contact_area": (),
}
LAWS = tuple(CONSTANTS)
# Wear below this part of that by one factor is none, so that logarithms are finite.
_WEAR_FLOOR = 1e-6
Nodes = Mapping[str, Array]


@dataclass(frozen=True)
class LawSpace:
    """Wear of tests by every law at any constants.

    Parameters
    ----------
    nodes : mapping of law to list of (constants, wear)
        Constants of a node by name, and the wear of every test there, shape (n_tests,).
    """

    nodes: Mapping[str, tuple[tuple[Mapping[str, float], Array], ...]]

    def log_wear(self, law: str, values: Array) -> Array:
        """Logarithm of the wear of every test, shape (n, n_tests), at constants (n, n_constants).

        The nodes give the unit: of laws that a factor multiplies, 1e-6 mm3/(N m).
        """
        one = self._one_factor
        count = len(values)
        if law == "archard":
            wear = np.broadcast_to(one, (count, len(one)))
        elif law == "contact_area":
            wear = np.broadcast_to(self.nodes[law][0][1], (count, len(one)))
        elif law == "cross_shear_saturation":
            own, at = values.T
            crossed = self._interpolated(law, {"saturation": at}, self._saturated)
            wear = own[:, None] * one + (1.0 - own[:, None]) * crossed
        elif law == "direction_memory":
            own, at = values.T
            crossed = self._interpolated(law, {"memory_mm": at}, self._crossed)
            on_circle = own + (1.0 - own) * _circle(at)
            wear = (own[:, None] * one + (1.0 - own[:, None]) * crossed) / on_circle[:, None]
        else:
            named = dict(zip((constant.name for constant in CONSTANTS[law]), values.T, strict=True))
            wear = self._interpolated(law, named, lambda _, wear: wear)
        return np.log(np.maximum(wear, _WEAR_FLOOR * one))

    @property
    def _one_factor(self) -> Array:
        return self.nodes["archard"][0][1]

    def _saturated(self, constants: Mapping[str, float], wear: Array) -> Array:
        """Wear at a node without the part of straight paths."""
        own = constants["straight_factor"]
        return (wear - own * self._one_factor) / (1.0 - own)

    def _crossed(self, constants: Mapping[str, float], wear: Array) -> Array:
        """Crossed work at a node of the memory."""
        own, memory = constants["straight_factor"], np.array(constants["memory_mm"])
        scale = own + (1.0 - own) * _circle(memory)
        return self._saturated(constants, wear * scale)

    def _interpolated(self, law: str, at: Mapping[str, Array], change: Any) -> Array:
        """Multilinear interpolation of the logarithm between nodes, in the scale of the prior."""
        own = self.nodes[law]
        if law == "pressure_power":  # whose exponent of zero is one factor
            own = (*own, ({"exponent": 0.0}, self._one_factor))
        scales = {constant.name: constant.is_logarithmic for constant in CONSTANTS[law]}
        axes = {name: np.unique([constants[name] for constants, _ in own]) for name in at}
        table = np.full((*map(len, axes.values()), len(self._one_factor)), np.nan)
        for constants, wear in own:
            place = tuple(
                int(np.searchsorted(axis, constants[name])) for name, axis in axes.items()
            )
            table[place] = np.log(
                np.maximum(change(constants, wear), _WEAR_FLOOR * self._one_factor)
            )
        for name, axis in axes.items():
            points, given = (np.log(axis), np.log(at[name])) if scales[name] else (axis, at[name])
            cell = np.clip(np.searchsorted(points, given) - 1, 0, len(points) - 2)
            part = (given - points[cell]) / (points[cell + 1] - points[cell])
            if name == next(iter(axes)):
                low, high = table[cell], table[cell + 1]
            else:  # the first axis now has the values
                rows = np.arange(len(given))
                low, high = table[rows, cell], table[rows, cell + 1]
            part = part.reshape(-1, *[1] * (low.ndim - 1))
            table = (1.0 - part) * low + part * high
        return np.exp(table)


def _circle(memory: Array) -> Array:
    """Twice the cross-shear on the circle that the factor of direction_memory was measured on."""
    return 2.0 * circle_cross_shear(memory, 0.5 * DirectionMemory().reference_diameter_mm)


def log_factor(law: str, values: Array, cross_shear: Array, pressure: Array) -> Array:
    """Logarithm of wear over level, and integral of pressure times sliding, by a law.

    Parameters
    ----------
    law : str
        Name of the law.
    values : array, shape (n, n_constants)
        Its constants in the order of `CONSTANTS`.
    cross_shear, pressure : array, shape (n,)
        Ratio of the frictional work, and pressure, MPa, of a contact where both are uniform.

    Notes
    -----
    A law of the order of directions is in the limit of a memory that is long against the cycle: its
    cross-shear is (1 - D^2) / 2 where the ratio of the cycle is (1 - D) / 2.
    """
    if law == "cross_shear_saturation":
        own, at = values.T
        factor = own + (1.0 - own) * np.minimum(cross_shear / at, 1.0)
    elif law == "direction_memory":
        own, memory = values.T
        crossed = 4.0 * cross_shear * (1.0 - cross_shear)
        factor = (own + (1.0 - own) * crossed) / (own + (1.0 - own) * _circle(memory))
    elif law == "pressure_power":
        factor = pressure ** values[:, 0]
    elif law == "cross_shear_and_pressure":
        factor = cross_shear ** values[:, 0] * np.exp(values[:, 1] * pressure)
    elif law == "contact_area":
        per_area = ContactArea().factor(cross_shear) / pressure
        factor = per_area / (UNIT_FACTOR * MM3_PER_N_MM_FROM_MM3_PER_N_M)
    else:
        factor = np.ones(len(values))
    return np.asarray(np.log(np.maximum(factor, _WEAR_FLOOR)))
