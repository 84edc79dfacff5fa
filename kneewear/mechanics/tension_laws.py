"""Tension of ligament bundles and tendons over their length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _tissue_kernels as kernels

Array = NDArray[np.float64]

# Strain at which fibres are all taut (Blankevoort and Huiskes 1991, doi:10.1115/1.2894883: twice
# the reference strain of 0.03).
TRANSITION_STRAIN = 0.06


@dataclass(frozen=True)
class TensionLaw:
    """Tension of bundles over their stretch x = l - slack length, zero while slack.

    Parameters
    ----------
    slack_length : array, shape (n,)
        Length up to which a bundle is slack, mm.
    curvature : array, shape (n,)
        Coefficient a of the quadratic part a x^2, N/mm2; zero without one.
    transition : array, shape (n,)
        Stretch beyond which tension is linear, mm; zero for a linear law, inf for a quadratic one.
    slope : array, shape (n,)
        Stiffness of the linear part, N/mm; with a quadratic part before it 2 a times the
        transition, so that tension and stiffness are continuous.
    damping_time : array, shape (n,)
        Time that, multiplied by the stiffness and the rate of length, is the damping force, s. A
        bundle never pushes.
    active : array, shape (n,)
        Tension in addition, independent of the length, N: that of a muscle.
    knots : array, shape (n, m + 1), optional
        Ascending lengths, mm, between which a further tension of a muscle depends on the length.
    pieces : array, shape (n, m, 5), optional
        Energy of that tension, N mm: coefficients of powers 0 to 4 of the length beyond each knot.

    Raises
    ------
    ValueError
        If a slack length or a stiffness is not positive, or a damping time or active tension is
        negative.

    Notes
    -----
    Use `quadratic`, `quadratic_to_linear`, `linear`, `constant` or `tabulated`, which compute the
    numbers. Energy is the integral of the elastic tension over the stretch, and that of the tension
    of a muscle over its length.
    """

    slack_length: Array
    curvature: Array
    transition: Array
    slope: Array
    damping_time: Array
    active: Array
    knots: Array = field(default_factory=lambda: np.empty((0, 1)))
    pieces: Array = field(default_factory=lambda: np.empty((0, 0, 5)))

    def __post_init__(self) -> None:
        if self.pieces.size == 0:
            count = np.size(self.active)
            object.__setattr__(self, "knots", np.empty((count, 1)))
            object.__setattr__(self, "pieces", np.empty((count, 0, 5)))
        for name in self.__dataclass_fields__:
            values = np.atleast_1d(np.asarray(getattr(self, name), dtype=float))
            object.__setattr__(self, name, np.ascontiguousarray(values))
        _require("slack length", self.slack_length, self.slack_length > 0.0)
        stiff = np.where(self.transition > 0.0, self.curvature, self.slope)
        _require("stiffness", stiff, (stiff > 0.0) & (stiff < np.inf))
        _require("damping time", self.damping_time, self.damping_time >= 0.0)
        _require("active tension", self.active, self.active >= 0.0)

    @property
    def arrays(self) -> kernels.TensionLawArrays:
        """Numbers of the law as kernels take them."""
        return kernels.TensionLawArrays(
            self.slack_length,
            self.curvature,
            self.transition,
            self.slope,
            self.damping_time,
            self.active,
            self.knots,
            self.pieces,
        )

    def strain(self, length: ArrayLike) -> Array:
        """Strain l / slack length - 1 of each bundle (n,), negative while slack."""
        return np.asarray(length, dtype=float) / self.slack_length - 1.0

    def tension(self, length: ArrayLike) -> Array:
        """Tension of each bundle (n,) at its length, mm, and at rest, N."""
        return self._elastic(length)[1]

    def stiffness(self, length: ArrayLike) -> Array:
        """Derivative of the tension over the length, N/mm."""
        return self._elastic(length)[2]

    def energy(self, length: ArrayLike) -> Array:
        """Stored energy of each bundle at its length, N mm."""
        return self._elastic(length)[0]

    def _elastic(self, length: ArrayLike) -> Array:
        length = np.ascontiguousarray(np.broadcast_to(length, self.slack_length.shape), dtype=float)
        out = np.empty((4, length.size))
        kernels.elastic_many(self.arrays, length, out)
        return out


def quadratic(
    slack_length: ArrayLike, stiffness: ArrayLike, damping_time: ArrayLike = 0.0
) -> TensionLaw:
    """Tension k x^2 with a stiffness k, N/mm2, of the stretch x, mm (Machado thesis, Eq. 5.23)."""
    slack_length, stiffness, damping_time = _broadcast(slack_length, stiffness, damping_time)
    never = np.full(slack_length.shape, np.inf)
    none = np.zeros_like(stiffness)
    return TensionLaw(slack_length, stiffness, never, none, damping_time, none)


def quadratic_to_linear(
    slack_length: ArrayLike,
    stiffness: ArrayLike,
    transition_strain: ArrayLike = TRANSITION_STRAIN,
    damping_time: ArrayLike = 0.0,
) -> TensionLaw:
    """Tension k e^2 / (2 et) up to the transition strain et, and k (e - et / 2) beyond.

    With the strain e of the slack length, mm, and a stiffness k, N per unit strain. Toe region and
    linear region of Blankevoort et al. (1991), J Biomech 24:1019-1031,
    doi:10.1016/0021-9290(91)90019-J; tension and stiffness are continuous.
    """
    slack_length, stiffness, strain, damping_time = _broadcast(
        slack_length, stiffness, transition_strain, damping_time
    )
    _require("transition strain", strain, (strain > 0.0) & (strain < np.inf))
    _require("slack length", slack_length, slack_length > 0.0)
    curvature = stiffness / (2.0 * strain * slack_length**2)
    slope = stiffness / slack_length
    return TensionLaw(
        slack_length, curvature, strain * slack_length, slope, damping_time, 0.0 * slope
    )


def linear(
    slack_length: ArrayLike, stiffness: ArrayLike, damping_time: ArrayLike = 0.0
) -> TensionLaw:
    """Tension k x with a stiffness k, N/mm, of the stretch x, mm: a tendon or a spring.

    The stiffness jumps at the slack length, where tension is zero.
    """
    slack_length, stiffness, damping_time = _broadcast(slack_length, stiffness, damping_time)
    none = np.zeros_like(stiffness)
    return TensionLaw(slack_length, none, none, stiffness, damping_time, none)


def constant(tension: ArrayLike) -> TensionLaw:
    """Tension of muscles that does not depend on their length, N."""
    (active,) = _broadcast(tension)
    none, one = np.zeros_like(active), np.ones_like(active)
    return TensionLaw(np.full_like(active, np.inf), none, none, one, none, active)


def tabulated(tables: Sequence[tuple[ArrayLike, ArrayLike]]) -> TensionLaw:
    """Tension of muscles by tables of ascending lengths, mm, and tensions, N, one table each.

    Between the rows it is a monotone cubic (Fritsch and Butland 1984, doi:10.1137/0905021), so that
    the stiffness is continuous; outside them it is constant.
    """
    most = max(np.size(length) for length, _ in tables)
    knots, pieces = np.empty((len(tables), most)), np.zeros((len(tables), most - 1, 5))
    for n, (lengths, tensions) in enumerate(tables):
        length, tension = (np.asarray(one, dtype=float) for one in (lengths, tensions))
        _require_table(n, length, tension)
        # Shorter tables are continued by equal tensions.
        more = most - length.size
        length = np.append(length, length[-1] + np.arange(1.0, more + 1.0))
        tension = np.append(tension, np.full(more, tension[-1]))
        knots[n] = length
        pieces[n] = scipy.interpolate.PchipInterpolator(length, tension).antiderivative().c[::-1].T
    law = constant(np.zeros(len(tables)))
    return replace(law, knots=knots, pieces=pieces)


def _require_table(number: int, length: Array, tension: Array) -> None:
    """Refuse a table of a muscle that is no curve of tension over length."""
    where = f"table of muscle {number + 1}"
    if length.size < 2 or length.shape != tension.shape:
        raise ValueError(f"{where}: found {length.size} lengths and {tension.size} tensions")
    if not (np.diff(length) > 0.0).all():
        raise ValueError(f"{where}: found lengths that do not ascend")
    if not (tension >= 0.0).all():
        raise ValueError(f"{where}: found a tension of {tension.min():g} N, expected zero or more")


def slack_length(length: ArrayLike, strain: ArrayLike) -> Array:
    """Slack length l / (1 + e), mm, of a bundle with a reference strain e at a length l, mm."""
    return np.asarray(length, dtype=float) / (1.0 + np.asarray(strain, dtype=float))


def _broadcast(*values: ArrayLike) -> list[Array]:
    return [
        np.array(part, dtype=float)
        for part in np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in values))
    ]


def _require(what: str, values: Array, good: NDArray[np.bool_]) -> None:
    """Refuse numbers with which a bundle could not pull; the message counts bundles from 1."""
    if not np.all(good):
        number = int(np.flatnonzero(~good)[0])
        expected = "zero or more" if what.startswith(("damping", "active")) else "a positive number"
        raise ValueError(
            f"{what} of bundle {number + 1}: found {values[number]:g}, expected {expected}"
        )
