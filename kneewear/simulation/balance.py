"""Forces along the six coordinates of the moving body at a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kneewear.mechanics import Load, Spring, body_three_123, generalized_forces, spring_forces

Array = NDArray[np.float64]

# Lever that makes an angle a length, mm: half a usual condyle spacing. It weighs steps and
# residuals; the poses found do not depend on it.
LEVER = 23.0
WEIGHT = np.array([1.0, 1.0, 1.0, LEVER, LEVER, LEVER])
# What messages suggest when no solution is found.
REMEDY = (
    "Check that loads, start pose and free coordinates belong together; a weak spring settles a "
    "coordinate that nothing restores."
)


class Pair(Protocol):
    """What a contact pair offers: the resultant on the moving body at a pose."""

    def evaluate(self, rotation: Array, translation: Array, layer: Any) -> Any:
        """Contact at a pose: `wrench` (6,) and `stiffness` (6, 6), as `Resultant` has them."""


@dataclass(frozen=True)
class Forces:
    """Forces along the six coordinates at one pose.

    Parameters
    ----------
    contacts : tuple
        Resultant of each pair.
    force : array, shape (6,)
        Sum of contact, loads and springs along the coordinates, N and N mm.
    derivative : array, shape (6, 6)
        Its derivative over the coordinates.
    scale : float
        Largest single force among what acts, N; moments count divided by the lever.
    """

    contacts: tuple[Any, ...]
    force: Array
    derivative: Array
    scale: float

    @property
    def touching(self) -> bool:
        """Whether any pair is in contact."""
        return any(contact.wrench[:3].any() for contact in self.contacts)

    def residual(self, free: NDArray[np.int64]) -> float:
        """Largest force along free coordinates relative to what acts.

        Parameters
        ----------
        free : int array
            Numbers of the free coordinates.

        Returns
        -------
        float
            Absolute, N, where nothing acts.
        """
        worst = float(np.max(np.abs(self.force / WEIGHT)[free]))
        return worst / self.scale if self.scale > 0.0 else worst


@dataclass(frozen=True)
class Balance:
    """What acts on the moving body.

    Parameters
    ----------
    pairs : sequence of ContactPair
        Contact pairs between fixed and moving body.
    layers : sequence of Layer
        Elastic layer of each pair.
    loads : sequence of Load
        Steady loads.
    springs : sequence of Spring
        Springs along coordinates.
    """

    pairs: Sequence[Pair]
    layers: Sequence[Any]
    loads: Sequence[Load] = ()
    springs: Sequence[Spring] = ()

    def forces(self, place: Array) -> Forces:
        """Forces at a pose.

        Parameters
        ----------
        place : array, shape (6,)
            Coordinates, mm and rad.

        Returns
        -------
        Forces

        Raises
        ------
        ValueError
            If elements lie too deep inside the moving body.
        """
        translation, rotation = place[:3], body_three_123(place[3:])
        contacts = tuple(
            pair.evaluate(rotation, translation, layer)
            for pair, layer in zip(self.pairs, self.layers, strict=True)
        )
        wrench, rate, scale = np.zeros(6), np.zeros((6, 6)), 0.0
        for contact in contacts:
            wrench += contact.wrench
            rate += contact.stiffness
            scale = max(scale, _size(contact.wrench))
        for load in self.loads:
            applied, change = load.wrench(translation, rotation)
            wrench += applied
            rate += change
            scale = max(scale, _size(applied))
        force, derivative = generalized_forces(wrench, rate, place[3:])
        pull, slope = spring_forces(self.springs, place)
        scale = max(scale, float(np.max(np.abs(pull / WEIGHT))))
        return Forces(contacts, force + pull, derivative + slope, scale)

    def lifted(self, place: Array, free: NDArray[np.int64], clear: bool = False) -> Array:
        """A start, moved against the loads, a millimetre at a time, as far as needed.

        Parameters
        ----------
        place : array, shape (6,)
            Coordinates, mm and rad.
        free : int array
            Numbers of the free coordinates; only translations among them move.
        clear : bool
            True to lift until nothing touches, False until no element lies too deep to be looked
            up.

        Returns
        -------
        array, shape (6,)
            Coordinates; as given where moving does not help.
        """
        rotation = body_three_123(place[3:])
        pull = sum((load.wrench(place[:3], rotation)[0] for load in self.loads), np.zeros(6))
        way = np.where(np.isin(np.arange(6), free[free < 3]), -pull, 0.0)
        if not way.any():
            return place
        way /= np.linalg.norm(way)
        for count in range(100):
            try:
                touching = self.forces(place + count * way).touching
            except ValueError:
                continue
            if not (clear and touching):
                return place + count * way
        return place


def _size(wrench: Array) -> float:
    """Force, or moment over the lever, whichever is larger, N."""
    return max(float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:])) / LEVER)
