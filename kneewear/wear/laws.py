"""Depth removed in one cycle by sliding under pressure, and cross-shear of the paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.wear.history import History
from kneewear.wear.law_settings import MM3_PER_N_MM_FROM_MM3_PER_N_M, WEAR_LAWS, LawSettings

if TYPE_CHECKING:
    from kneewear.wear.settings import WearSettings

Array = NDArray[np.float64]

MONTHS_PER_YEAR = 12.0


def cycles_of_life(cycles_per_year: float, months: float) -> float:
    """Number of cycles in a life of so many months."""
    return cycles_per_year * months / MONTHS_PER_YEAR


class AnyLaw(Protocol):
    """Wear law of a weight and a factor: depth = f(CS) sum_t w(p_t) |s_t|."""

    def weight(self, pressure: Array) -> Array:
        """Weight w of sliding under a pressure, MPa."""

    def factor(self, cross_shear: Array) -> Array | float:
        """Factor f at a cross-shear ratio of 0 to 0.5; weight and factor give mm per mm."""


@runtime_checkable
class Law(Protocol):
    """Interface of wear laws over ordered histories."""

    @property
    def memory_mm(self) -> float:
        """Length of sliding that the law remembers; 0 if the order of sliding does not matter."""

    def features(self, history: History) -> Any:
        """Everything that is summed over the frames of a cycle: once for each history."""

    def depth(self, features: Any) -> Array:
        """Depth removed in a cycle, mm, of every element: microseconds."""


class WeightedSliding(NamedTuple):
    """Features of laws with a weight and a factor."""

    sliding: Array  # sum_t w(p_t) |s_t|
    cross_shear: Array  # cross-shear ratio of the cycle


@dataclass(frozen=True)
class CrossShearLaw:
    """Law over histories by a weight and a factor."""

    law: AnyLaw
    memory_mm: ClassVar[float] = 0.0

    def sliding(self, history: History) -> Array:
        """Sliding in a cycle, mm, weighted by the law."""
        load = history.loaded.pressure
        weight = _of_elements(self.law.weight(load), load.shape, "weight")
        return history.total(weight * history.distance)

    def features(self, history: History) -> WeightedSliding:
        """Weighted sliding and cross-shear ratio of the cycle."""
        return WeightedSliding(self.sliding(history), history.cross_shear)

    def depth(self, features: WeightedSliding) -> Array:
        """Factor times weighted sliding, mm."""
        ratio = features.cross_shear
        return _of_elements(self.law.factor(ratio), ratio.shape, "factor") * features.sliding


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


@dataclass(frozen=True)
class ScaledDepth:
    """Law over histories whose depth is multiplied by a wear factor, mm3/(N mm)."""

    law: Law
    wear_factor: float

    @property
    def memory_mm(self) -> float:
        """Memory of the law."""
        return self.law.memory_mm

    def features(self, history: History) -> Any:
        """Features of the law."""
        return self.law.features(history)

    def depth(self, features: Any) -> Array:
        """Depth of the law times the wear factor."""
        return self.wear_factor * self.law.depth(features)


def over_histories(law: Law | AnyLaw | LawSettings) -> Law:
    """Return a law over histories: itself, or the adapter of a law with weight and factor."""
    return law if isinstance(law, Law) else CrossShearLaw(cast("AnyLaw", law))


def choose_wear_law(settings: WearSettings) -> Law | AnyLaw:
    """Wear law `settings.wear_law` with the wear factor and the coefficients of the settings."""
    law: Any = getattr(settings.laws, settings.wear_law, None) or WEAR_LAWS[settings.wear_law]()
    factor = settings.wear_factor_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M
    if not law.multiplies_wear_factor:
        return cast("Law | AnyLaw", law)
    return ScaledDepth(law, factor) if isinstance(law, Law) else ScaledLaw(law, factor)


def worn_depth(pressure: ArrayLike, slip: ArrayLike, cross_shear: ArrayLike, law: AnyLaw) -> Array:
    """Depth removed by sliding under pressure in one cycle, by a law with weight and factor.

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
    adapter = CrossShearLaw(law)
    sliding = adapter.sliding(History(pressure, slip))
    return adapter.depth(WeightedSliding(sliding, np.asarray(cross_shear, dtype=np.float64)))


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
    return History(pressure, slip).frictional_work
