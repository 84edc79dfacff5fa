"""What contact gives back: resultants of every pair, and what their elements bear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from kneewear.contact import _record_kernels as record

Array = NDArray[np.float64]


class Resultant:
    """Contact of one pair at one pose.

    All vectors are in the frame of the fixed body, and the fixed body feels the opposite of what
    the moving one does. Element-wise results hold the active elements only: those whose penetration
    is positive and that face the indenter, in an order that does not depend on the search.
    """

    __slots__ = ("_elements", "_numbers")

    def __init__(self, numbers: Array, elements: Array) -> None:
        self._numbers, self._elements = numbers, elements

    @property
    def wrench(self) -> Array:
        """Force on the moving body, N, and its moment about its origin, N mm, shape (6,)."""
        return self._numbers[record.WRENCH : record.WRENCH + 6]

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose, shape (6, 6).

        Its columns belong to a translation, mm, and a turn, rad, of the moving body about its own
        origin, both along the axes of the fixed body. Moments turn along: the lower right block is
        not symmetric. Velocities, where they matter, stay as they are.
        """
        return self._numbers[record.STIFFNESS : record.STIFFNESS + 36].reshape(6, 6)

    @property
    def damping(self) -> Array:
        """Derivative of the wrench over velocity and angular velocity, shape (6, 6).

        Zero without friction and damping, and where no velocity was given.
        """
        return self._numbers[record.DAMPING : record.DAMPING + 36].reshape(6, 6)

    @property
    def force(self) -> Array:
        """Force on the fixed body, N, shape (3,)."""
        return -self.wrench[:3]

    @property
    def torque(self) -> Array:
        """Torque on the fixed body about its origin, N mm, shape (3,)."""
        wrench, origin = self.wrench, self._numbers[record.ORIGIN : record.ORIGIN + 3]
        return -(wrench[3:] + np.cross(origin, wrench[:3]))

    @property
    def max_pressure(self) -> float:
        """Largest element pressure, MPa."""
        return float(self._numbers[record.PEAK])

    @property
    def avg_pressure(self) -> float:
        """Mean pressure of the active elements, MPa."""
        return float(self._numbers[record.MEAN])

    @property
    def contact_area(self) -> float:
        """Area of the active elements, mm2."""
        return float(self._numbers[record.CONTACT_AREA])

    @property
    def max_penetration(self) -> float:
        """Largest penetration, mm."""
        return float(self._numbers[record.DEPTH])

    @property
    def centre_of_pressure(self) -> Array:
        """Centre of pressure, mm, shape (3,); NaN where nothing is in contact."""
        if self.active_elements == 0:
            return np.full(3, np.nan)
        return self._numbers[record.CENTRE_OF_PRESSURE : record.CENTRE_OF_PRESSURE + 3]

    @property
    def active_elements(self) -> int:
        """Number of active elements."""
        return int(self._numbers[record.ACTIVE_COUNT])

    @property
    def evaluated_elements(self) -> int:
        """Number of elements whose distance was looked for."""
        return int(self._numbers[record.EVALUATED_COUNT])

    @property
    def element(self) -> NDArray[np.int64]:
        """Active elements among the valid ones; `ContactPair.index` tells their grid places."""
        return self._elements[:, record.OUT_ELEMENT].astype(np.int64)

    @property
    def penetration(self) -> Array:
        """Penetration of the active elements, mm, shape (n,)."""
        return self._elements[:, record.OUT_PENETRATION]

    @property
    def pressure(self) -> Array:
        """Elastic pressure of the active elements, MPa, shape (n,)."""
        return self._elements[:, record.OUT_PRESSURE]

    @property
    def area(self) -> Array:
        """Areas of the active elements, mm2, shape (n,)."""
        return self._elements[:, record.OUT_AREA]

    @property
    def direction(self) -> Array:
        """Direction of the elastic pressure on the elements, unit vectors, shape (n, 3)."""
        return self._elements[:, record.OUT_DIRECTION : record.OUT_DIRECTION + 3]

    @property
    def slip_velocity(self) -> Array:
        """Velocity of the moving body along row and column tangents, mm/s, shape (n, 2).

        NaN where no velocity was given.
        """
        slip = self._elements[:, record.OUT_SLIP : record.OUT_SLIP + 2]
        return slip if self._numbers[record.MOVING] else np.full_like(slip, np.nan)


class ContactResult(Mapping[str, Resultant]):
    """Contact of all pairs between two bodies at one pose, a `Resultant` a name."""

    __slots__ = ("_elements", "_names", "_numbers")

    def __init__(self, names: tuple[str, ...], numbers: Array, elements: Array) -> None:
        self._names, self._numbers, self._elements = names, numbers, elements

    def __getitem__(self, name: str) -> Resultant:
        if name not in self._names:
            raise KeyError(name)
        place = self._names.index(name)
        counts = self._numbers[: place + 1, record.ACTIVE_COUNT].astype(np.int64)
        first = int(counts[:-1].sum())
        return Resultant(self._numbers[place], self._elements[first : first + int(counts[-1])])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def wrench(self) -> Array:
        """Force of all pairs on the moving body, N, and moment about its origin, N mm."""
        return self._numbers[:, record.WRENCH : record.WRENCH + 6].sum(axis=0)

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose, see `Resultant.stiffness`."""
        total = self._numbers[:, record.STIFFNESS : record.STIFFNESS + 36].sum(axis=0)
        return total.reshape(6, 6)

    @property
    def damping(self) -> Array:
        """Derivative of the wrench over the velocities, see `Resultant.damping`."""
        return self._numbers[:, record.DAMPING : record.DAMPING + 36].sum(axis=0).reshape(6, 6)
