"""Results of contact: the resultant of every pair, and the pressures of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from kneewear.contact._force_kernels import OUTCOME, RESULT

Array = NDArray[np.float64]


class Resultant:
    """Contact of one pair at one pose.

    All vectors are in the frame of the fixed body, which feels the opposite of what the moving one
    does. Element-wise results are of the active elements only: those whose penetration is positive
    and that face the indenter, in an order that does not depend on the search.
    """

    __slots__ = ("_elements", "_numbers")

    def __init__(self, numbers: np.void, elements: NDArray[np.void]) -> None:
        self._numbers, self._elements = numbers, elements

    @property
    def wrench(self) -> Array:
        """Force on the moving body, N, and its moment about its origin, N mm, shape (6,)."""
        return self._numbers["wrench"]

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose, shape (6, 6).

        Its columns belong to a translation, mm, and a rotation, rad, of the moving body about its
        own origin, both along the axes of the fixed body. Moments rotate along: the lower right
        block is not symmetric. Velocities, where they matter, are constant.
        """
        return self._numbers["stiffness"]

    @property
    def damping(self) -> Array:
        """Derivative of the wrench over velocity and angular velocity, shape (6, 6).

        Zero without friction and damping, and where no velocity was given.
        """
        return self._numbers["damping"]

    @property
    def force(self) -> Array:
        """Force on the fixed body, N, shape (3,)."""
        return -self.wrench[:3]

    @property
    def torque(self) -> Array:
        """Torque on the fixed body about its origin, N mm, shape (3,)."""
        wrench = self.wrench
        return -(wrench[3:] + np.cross(self._numbers["translation"], wrench[:3]))

    @property
    def max_pressure(self) -> float:
        """Largest element pressure, MPa."""
        return float(self._numbers["max_pressure"])

    @property
    def avg_pressure(self) -> float:
        """Mean pressure of the active elements, MPa."""
        return float(self._numbers["avg_pressure"])

    @property
    def contact_area(self) -> float:
        """Area of the active elements, mm2."""
        return float(self._numbers["contact_area"])

    @property
    def max_penetration(self) -> float:
        """Largest penetration, mm."""
        return float(self._numbers["max_penetration"])

    @property
    def centre_of_pressure(self) -> Array:
        """Centre of pressure, mm, shape (3,); NaN where there is no contact."""
        if self.active_elements == 0:
            return np.full(3, np.nan)
        return self._numbers["centre_of_pressure"]

    @property
    def active_elements(self) -> int:
        """Number of active elements."""
        return int(self._numbers["active_elements"])

    @property
    def evaluated_elements(self) -> int:
        """Number of elements whose distance was computed."""
        return int(self._numbers["evaluated_elements"])

    @property
    def element(self) -> NDArray[np.int64]:
        """Active elements among the valid ones; `ContactPair.index` gives their grid positions."""
        return self._elements["element"]

    @property
    def penetration(self) -> Array:
        """Penetration of the active elements, mm, shape (n,)."""
        return self._elements["penetration"]

    @property
    def pressure(self) -> Array:
        """Elastic pressure of the active elements, MPa, shape (n,)."""
        return self._elements["pressure"]

    @property
    def area(self) -> Array:
        """Areas of the active elements, mm2, shape (n,)."""
        return self._elements["area"]

    @property
    def direction(self) -> Array:
        """Direction of the elastic pressure on the elements, unit vectors, shape (n, 3)."""
        return self._elements["direction"]

    @property
    def slip_velocity(self) -> Array:
        """Velocity of the moving body along row and column tangents, mm/s, shape (n, 2).

        NaN where no velocity was given.
        """
        slip = self._elements["slip_velocity"]
        return slip if self._numbers["is_moving"] else np.full_like(slip, np.nan)


class ContactResult(Mapping[str, Resultant]):
    """Contact of all pairs between two bodies at one pose, by name of the pair."""

    __slots__ = ("_buffer", "_names")

    def __init__(self, names: tuple[str, ...], buffer: NDArray[np.uint8], active: int) -> None:
        # The results of all pairs, then the outcomes of their active elements.
        end = len(names) * RESULT.itemsize + active * OUTCOME.itemsize
        self._names, self._buffer = names, buffer[:end].copy()

    def __getitem__(self, name: str) -> Resultant:
        if name not in self._names:
            raise KeyError(name)
        number, results = self._names.index(name), self._results
        counts = results["active_elements"]
        outcomes = self._buffer[results.nbytes :].view(OUTCOME)
        first = int(counts[:number].sum())
        return Resultant(results[number], outcomes[first : first + int(counts[number])])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def wrench(self) -> Array:
        """Force of all pairs on the moving body, N, and moment about its origin, N mm."""
        return self._sum("wrench")

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose, see `Resultant.stiffness`."""
        return self._sum("stiffness")

    @property
    def damping(self) -> Array:
        """Derivative of the wrench over the velocities, see `Resultant.damping`."""
        return self._sum("damping")

    @property
    def _results(self) -> NDArray[np.void]:
        return self._buffer[: len(self._names) * RESULT.itemsize].view(RESULT)

    def _sum(self, name: str) -> Array:
        return self._results[name].sum(axis=0)
