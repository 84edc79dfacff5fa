"""Depth removed in one cycle by sliding under pressure, and cross-shear of the paths."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.wear.law_settings import MM3_PER_N_MM_FROM_MM3_PER_N_M, WEAR_LAWS

if TYPE_CHECKING:
    from kneewear.wear.settings import WearSettings

Array = NDArray[np.float64]

MONTHS_PER_YEAR = 12.0


def cycles_of_life(cycles_per_year: float, months: float) -> float:
    """Number of cycles in a life of so many months."""
    return cycles_per_year * months / MONTHS_PER_YEAR


class AnyLaw(Protocol):
    """Interface of wear laws: depth = f(CS) sum_t w(p_t) |s_t|."""

    def weight(self, pressure: Array) -> Array:
        """Weight w of sliding under a pressure, MPa."""

    def factor(self, cross_shear: Array) -> Array | float:
        """Factor f at a cross-shear ratio of 0 to 0.5; weight and factor give mm per mm."""


@dataclass(frozen=True)
class ScaledLaw:
    """Wear law whose factor is multiplied by a wear factor, mm3/(N mm)."""

    law: AnyLaw
    wear_factor: float

    def weight(self, pressure: Array) -> Array:
        """Weight of the law."""
        return self.law.weight(pressure)

    def factor(self, cross_shear: Array) -> Array | float:
        """Factor of the law times the wear factor."""
        return self.wear_factor * self.law.factor(cross_shear)


def choose_wear_law(settings: WearSettings) -> AnyLaw:
    """Wear law `settings.wear_law` with the wear factor and the coefficients of the settings."""
    law = getattr(settings.laws, settings.wear_law, None) or WEAR_LAWS[settings.wear_law]()
    factor = settings.wear_factor_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M
    return ScaledLaw(law, factor) if law.multiplies_wear_factor else law


def worn_depth(pressure: ArrayLike, slip: ArrayLike, cross_shear: ArrayLike, law: AnyLaw) -> Array:
    """Depth removed by sliding under pressure in one cycle.

    Parameters
    ----------
    pressure : array, shape (n_frames, ...)
        Contact pressure, MPa; zero where the surfaces are apart and nothing wears.
    slip : array, shape (n_frames, ..., 2)
        Tangential displacement during each frame's interval, mm, along two perpendicular tangents.
    cross_shear : array, shape (...)
        Cross-shear ratio of the cycle, 0 to 0.5.
    law : AnyLaw
        Weight of pressure and factor of cross-shear.

    Returns
    -------
    array, shape (...)
        Depth f(CS) sum_t w(p_t) |s_t|, mm, along the inward normal. Valid while it is small against
        the thickness.

    Raises
    ------
    ValueError
        If weight or factor of the law have neither one value nor one for each element.
    """
    cross_shear = np.asarray(cross_shear, dtype=np.float64)
    load, (along, aside), total = _loaded(pressure, slip)
    weight = _of_elements(law.weight(load), load.shape, "weight")
    factor = _of_elements(law.factor(cross_shear), cross_shear.shape, "factor")
    return factor * total(weight * np.sqrt(along**2 + aside**2))


def _loaded(pressure: ArrayLike, slip: ArrayLike) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Pressure (n,) and slip (2, n) where surfaces touch, and a function that sums over frames.

    A sixth of the elements that are ever loaded are so in a frame.
    """
    given = np.asarray(pressure)
    count = math.prod(given.shape[1:])
    at = np.flatnonzero(given != 0.0)
    element = at % count

    def total(values: Array) -> Array:
        return np.asarray(np.bincount(element, values, count).reshape(given.shape[1:]), dtype=float)

    sliding = np.asarray(slip).reshape(-1, 2)[at]
    return given.ravel()[at].astype(np.float64), sliding.T.astype(np.float64), total


def _of_elements(value: ArrayLike, shape: tuple[int, ...], method: str) -> Array:
    """Check that a method of a law returned a number or a value for each element; return it."""
    found = np.asarray(value)
    if found.shape not in ((), shape) or found.dtype.kind not in "fiu":
        raise ValueError(
            f"{method} of the wear law: found {found.dtype} of shape {found.shape}; "
            f"expected a number, or numbers of shape {shape}"
        )
    return found


def frictional_work(pressure: ArrayLike, slip: ArrayLike) -> tuple[Array, Array]:
    """Work of friction of a cycle, total and across its principal direction.

    Per area and coefficient of friction, MPa mm; arguments as in `worn_depth`.

    Notes
    -----
    A step in direction a does p |s| cos^2(a - b) along direction b and p |s| sin^2(a - b) across
    it. The principal direction is the b that minimizes the work across over the cycle. With
    W = sum p |s| and D = |sum p |s| (cos 2a, sin 2a)| that minimum is (W - D) / 2. Each element has
    its own principal direction; published ratios of pin tests are of one direction for the whole
    pin, and larger (by 0.5 to 95 % of a pin on a plate, half by more than 17 %).

    References
    ----------
    Kang, L., Galvin, A.L., Brown, T.D., Jin, Z. and Fisher, J. (2008) Quantification of the effect
    of cross-shear on the wear of conventional and highly cross-linked UHMWPE. J. Biomechanics 41,
    340-346 (the ratio of work across to all work; from memory).
    """
    load, (along, aside), total = _loaded(pressure, slip)
    distance = np.hypot(along, aside)
    moving = np.where(distance > 0.0, distance, 1.0)
    cosine, sine = along / moving, aside / moving
    step = load * distance
    work = total(step)
    double_cosine = total(step * (cosine**2 - sine**2))
    double_sine = total(step * (2.0 * cosine * sine))
    across = 0.5 * (work - np.hypot(double_cosine, double_sine))
    return work, np.maximum(across, 0.0)


def cross_shear_ratio(work: ArrayLike, cross_work: ArrayLike) -> Array:
    """Work across the principal direction relative to all work, both of :func:`frictional_work`.

    From 0 (straight paths, and where nothing slides) to 0.5 (square or round ones).
    """
    total = np.asarray(work, dtype=np.float64)
    return np.asarray(cross_work, dtype=np.float64) / np.where(total > 0.0, total, 1.0)
