"""Wear laws: depth removed in one cycle by sliding under pressure.

To add a law: a class here, listed in `WEAR_LAWS`; its name in `WearSettings.wear_law`
(`kneewear/settings/wear.py`); and, to document it, the comment in `config/config.yaml`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from kneewear.settings.wear import WearSettings

Array = NDArray[np.float64]

MONTHS_PER_YEAR = 12.0
MM3_PER_N_MM_FROM_MM3_PER_N_M = 1.0e-3
# Cross-shear ratio of a square path, the largest possible.
SQUARE_PATH = 0.5


def cycles_of_life(cycles_per_year: float, months: float) -> float:
    """Number of cycles in a life of so many months."""
    return cycles_per_year * months / MONTHS_PER_YEAR


@dataclass(frozen=True)
class WearLaw(ABC):
    """How pressure and cross-shear convert sliding to depth: depth = f(CS) sum_t w(p_t) |s_t|.

    A weight w of the pressure at each frame is summed along the path and multiplied by a factor f
    of the cross-shear ratio CS of the whole cycle.

    Parameters
    ----------
    wear_factor : float
        Wear factor k of the settings on a square path, mm3/(N mm); laws with published constants
        do not use it.
    """

    wear_factor: float = math.nan
    # Sentence for reports, where "{factor}" is replaced by the wear factor with its unit.
    summary: ClassVar[str]
    references: ClassVar[tuple[str, ...]]
    # How form and coefficients were read: paper, textbook, abstract or memory.
    read: ClassVar[str] = "memory"

    @classmethod
    def unverified(cls) -> bool:
        """Whether the form or a coefficient was read in an abstract or quoted from memory."""
        return cls.read in ("abstract", "memory")

    def weight(self, pressure: Array) -> Array:
        """Weight of sliding under a pressure, MPa: the pressure itself, if not overridden."""
        return pressure

    @abstractmethod
    def factor(self, cross_shear: Array) -> Array | float:
        """Factor at a cross-shear ratio of 0 to 0.5; weight and factor give mm per mm."""


@dataclass(frozen=True)
class Archard(WearLaw):
    """Wear proportional to pressure and sliding in any direction: depth = k sum_t p_t |s_t|."""

    read: ClassVar[str] = "textbook"
    summary: ClassVar[str] = "Wear follows Archard's law with {factor}"
    references: ClassVar[tuple[str, ...]] = (
        "Archard, J.F. (1953) Contact and rubbing of flat surfaces. J. Applied Physics 24, "
        "981-988. https://doi.org/10.1063/1.1721448",
    )

    def factor(self, cross_shear: Array) -> float:
        """k, mm3/(N mm)."""
        return self.wear_factor


@dataclass(frozen=True)
class UnifiedTheory(WearLaw):
    """Wear by the work across the principal direction only: k(CS) = 2 k CS.

    On a rectangle of sides A <= B that work is A / (A + B) of all (idea from the abstract of the
    first paper, this form from memory of both). Measured factors peak at rectangles of 3 by 7
    (Turell's thesis, abstract read) and do not vanish on straight paths.
    """

    summary: ClassVar[str] = (
        "Wear is proportional to the work across the principal direction only (unified theory, "
        "Wang 2001), with {factor} on a square path"
    )
    references: ClassVar[tuple[str, ...]] = (
        "Wang, A. (2001) A unified theory of wear for ultra-high molecular weight polyethylene in "
        "multi-directional sliding. Wear 248, 38-47.",
        "Turell, M., Wang, A. and Bellare, A. (2003) Quantification of the effect of cross-path "
        "motion on the wear rate of ultra-high molecular weight polyethylene. Wear 255, "
        "1034-1039.",
    )

    def factor(self, cross_shear: Array) -> Array:
        """k(CS), mm3/(N mm)."""
        return self.wear_factor * cross_shear / SQUARE_PATH


@dataclass(frozen=True, kw_only=True)
class DirectionalWork(WearLaw):
    """Wear by the work along and across the principal direction, with different weights.

    k(CS) = 2 k [CS + (1 - CS) / q] / (1 + 1 / q), where q = 8.473 / 1.321 = 6.4 is the work that
    removes a volume along the molecules over that across them; on a straight path 2 k / 7.4 =
    0.27 k. The ratio was read in the paper's abstract; the absolute works given there are not used
    because they would make factors a thousand times smaller than usual ones. Strickland et al.
    (2012, Wear 274-275, 100-108) and O'Brien et al. (2014, J. Biomechanics 47, 1127-1133) add a
    memory of the order of directions, which needs more than sums over a cycle and is not provided.
    """

    work_along_over_across: float
    read: ClassVar[str] = "abstract"
    summary: ClassVar[str] = (
        "Wear weights the work along the principal direction {work_along_over_across} times less "
        "than the work across it (Schwenke and Wimmer 2013), with {factor} on a square path"
    )
    references: ClassVar[tuple[str, ...]] = (
        "Schwenke, T. and Wimmer, M.A. (2013) Cross-shear in metal-on-polyethylene articulation "
        "of orthopaedic implants and its relationship to wear. Wear 301, 168-174. "
        "https://doi.org/10.1016/j.wear.2013.01.069",
    )

    def factor(self, cross_shear: Array) -> Array:
        """k(CS), mm3/(N mm)."""
        along = 1.0 / self.work_along_over_across
        weighted = cross_shear + (1.0 - cross_shear) * along
        return self.wear_factor * weighted / (SQUARE_PATH * (1.0 + along))


@dataclass(frozen=True, kw_only=True)
class PressurePower(WearLaw):
    """Wear factor that decreases with pressure: k(p) = c p^e, c = 2e-6 mm3/(N m), e = -0.84.

    p in MPa; independent of direction. Fitted to pins and simulators under nominal stresses of a
    few MPa and more. Form and both coefficients are from memory of the literature.
    """

    coefficient_mm3_per_n_m: float
    exponent: float
    summary: ClassVar[str] = "The wear factor decreases with pressure (Vassiliou and Unsworth 2004)"
    references: ClassVar[tuple[str, ...]] = (
        "Vassiliou, K. and Unsworth, A. (2004) Is the wear factor in total joint replacements "
        "dependent on the nominal contact stress in ultra-high molecular weight polyethylene "
        "contacts? Proc. IMechE Part H 218, 101-107.",
    )

    def weight(self, pressure: Array) -> Array:
        """Pressure to the power of 1 + e, zero where unloaded."""
        return pressure ** (1.0 + self.exponent)

    def factor(self, cross_shear: Array) -> float:
        """Factor at 1 MPa, mm3/(N mm)."""
        return self.coefficient_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M


@dataclass(frozen=True, kw_only=True)
class CrossShearAndPressure(WearLaw):
    """Factor of cross-shear and pressure: k = exp(a + b ln CS + c p) mm3/(N m).

    a = -13.1, b = 0.19, c = -0.29, p in MPa, conventional polyethylene. Fitted to pins under a few
    MPa for use in hips; at the 15 to 30 MPa of a knee k vanishes (exp(-0.29 * 20) = 0.003), so it
    serves for comparison only. Form and all three coefficients are from memory of the literature.
    """

    constant: float
    cross_shear_exponent: float
    pressure_rate_per_mpa: float
    summary: ClassVar[str] = (
        "The wear factor increases with cross-shear and decreases with pressure (Kang et al. 2009)"
    )
    references: ClassVar[tuple[str, ...]] = (
        "Kang, L., Galvin, A.L., Fisher, J. and Jin, Z. (2009) Enhanced computational prediction "
        "of polyethylene wear in hip joints by incorporating cross-shear and contact pressure in "
        "addition to load and sliding distance. J. Biomechanics 42, 912-918.",
    )

    def weight(self, pressure: Array) -> Array:
        """Pressure times exp(c p), MPa."""
        return pressure * np.exp(self.pressure_rate_per_mpa * pressure)

    def factor(self, cross_shear: Array) -> Array:
        """exp(a) CS^b, mm3/(N mm)."""
        scale = np.exp(self.constant) * MM3_PER_N_MM_FROM_MM3_PER_N_M
        return scale * cross_shear**self.cross_shear_exponent


@dataclass(frozen=True, kw_only=True)
class ContactArea(WearLaw):
    """Wear volume = C x contact area x sliding distance, independent of the pressure.

    C = (s CS + i) 1e-9, a pure number (mm3 per mm2 and mm): s = 32, i = 0.3 up to CS = 0.04 and
    s = 1.9, i = 1.6 beyond, for conventional polyethylene; the two parts differ by 6 % at 0.04.
    Form and all coefficients are from memory of the literature.
    """

    low_slope: float
    low_intercept: float
    high_slope: float
    high_intercept: float
    border: float
    summary: ClassVar[str] = (
        "Wear follows contact area and cross-shear, independent of the pressure (Liu et al. 2011, "
        "Abdelgaied et al. 2011)"
    )
    references: ClassVar[tuple[str, ...]] = (
        "Liu, F., Galvin, A., Jin, Z. and Fisher, J. (2011) A new formulation for the prediction "
        "of polyethylene wear in artificial hip joints. Proc. IMechE Part H 225, 16-24.",
        "Abdelgaied, A. et al. (2011) Computational wear prediction of artificial knee joints "
        "based on a new wear law and formulation. J. Biomechanics 44, 1108-1116.",
    )

    def weight(self, pressure: Array) -> Array:
        """One where loaded, zero elsewhere."""
        return (pressure > 0.0).astype(np.float64)

    def factor(self, cross_shear: Array) -> Array:
        """C(CS), mm/mm."""
        low = self.low_slope * cross_shear + self.low_intercept
        high = self.high_slope * cross_shear + self.high_intercept
        return 1.0e-9 * np.where(cross_shear < self.border, low, high)


# Laws by their name in the settings (`WearSettings.wear_law`).
WEAR_LAWS: dict[str, type[WearLaw]] = {
    "archard": Archard,
    "unified_theory": UnifiedTheory,
    "directional_work": DirectionalWork,
    "pressure_power": PressurePower,
    "cross_shear_and_pressure": CrossShearAndPressure,
    "contact_area": ContactArea,
}


def choose_wear_law(settings: WearSettings) -> WearLaw:
    """Wear law `settings.wear_law` with the wear factor and the coefficients of the settings."""
    if settings.wear_law not in WEAR_LAWS:
        names = ", ".join(WEAR_LAWS)
        raise ValueError(f"wear_law must be one of {names}, got {settings.wear_law!r}")
    factor = settings.wear_factor_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M
    coefficients = settings.unverified.model_dump().get(settings.wear_law, {})
    return WEAR_LAWS[settings.wear_law](wear_factor=factor, **coefficients)


def worn_depth(pressure: ArrayLike, slip: ArrayLike, cross_shear: ArrayLike, law: WearLaw) -> Array:
    """Depth removed by sliding under pressure in one cycle.

    Parameters
    ----------
    pressure : array, shape (n_frames, ...)
        Contact pressure, MPa; zero where the surfaces are apart.
    slip : array, shape (n_frames, ..., 2)
        Tangential displacement during each frame's interval, mm, along two perpendicular tangents.
    cross_shear : array, shape (...)
        Cross-shear ratio of the cycle, 0 to 0.5.
    law : WearLaw
        Weight of pressure and factor of cross-shear.

    Returns
    -------
    array, shape (...)
        Depth f(CS) sum_t w(p_t) |s_t|, mm, along the inward normal. Valid while it is small against
        the thickness.
    """
    weight = law.weight(np.asarray(pressure, dtype=np.float64))
    distance = np.linalg.norm(np.asarray(slip, dtype=np.float64), axis=-1)
    factor = law.factor(np.asarray(cross_shear, dtype=np.float64))
    return factor * np.sum(weight * distance, axis=0)


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
    load = np.asarray(pressure, dtype=np.float64)
    along, aside = np.moveaxis(np.asarray(slip, dtype=np.float64), -1, 0)
    distance = np.hypot(along, aside)
    moving = np.where(distance > 0.0, distance, 1.0)
    cosine, sine = along / moving, aside / moving
    step = load * distance
    work = np.sum(step, axis=0)
    double_cosine = np.sum(step * (cosine**2 - sine**2), axis=0)
    double_sine = np.sum(step * (2.0 * cosine * sine), axis=0)
    across = 0.5 * (work - np.hypot(double_cosine, double_sine))
    return work, np.maximum(across, 0.0)


def cross_shear_ratio(work: ArrayLike, cross_work: ArrayLike) -> Array:
    """Work across the principal direction relative to all work, both of :func:`frictional_work`.

    From 0 (straight paths, and where nothing slides) to 0.5 (square or round ones).
    """
    total = np.asarray(work, dtype=np.float64)
    return np.asarray(cross_work, dtype=np.float64) / np.where(total > 0.0, total, 1.0)
