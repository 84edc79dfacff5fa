"""Wear laws: depth worn off in one cycle from pressure and sliding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.wear.cross_shear import SQUARE_PATH

if TYPE_CHECKING:
    from kneewear.settings.wear import WearSettings

Array = NDArray[np.float64]

MONTHS_PER_YEAR = 12.0
MM3_PER_N_MM_FROM_MM3_PER_N_M = 1.0e-3


def cycles_of_life(cycles_per_year: float, months: float) -> float:
    """Activity cycles in a life of so many months."""
    return cycles_per_year * months / MONTHS_PER_YEAR


class WearLaw(Protocol):
    """How pressure and cross-shear turn sliding into depth.

    Every law has the form depth = f(CS) sum_t w(p_t) |s_t|: a weight of the pressure at each
    frame, summed along the path, times a factor of the cross-shear ratio CS of the whole cycle. So
    a law needs one sum an element, and no histories.
    """

    def weight(self, pressure: Array) -> Array:
        """Weight w of sliding under a pressure, MPa; zero at zero pressure."""

    def factor(self, cross_shear: Array) -> Array | float:
        """Factor f at a cross-shear ratio of 0 to 0.5; weight and factor together give mm a mm."""


@dataclass(frozen=True)
class Archard:
    """Wear proportional to pressure and sliding: depth = k sum_t p_t |s_t|.

    Parameters
    ----------
    wear_factor : float
        k: volume removed per force and sliding distance, mm3/(N mm).

    Notes
    -----
    The direction of sliding has no influence: the factor on a straight path is k. Holds while the
    depth is small against the thickness.

    References
    ----------
    Archard, J.F. (1953) Contact and rubbing of flat surfaces. J. Applied Physics 24, 981-988.
    """

    wear_factor: float

    def weight(self, pressure: Array) -> Array:
        """Pressure itself, MPa."""
        return pressure

    def factor(self, cross_shear: Array) -> float:
        """k, mm3/(N mm)."""
        return self.wear_factor


@dataclass(frozen=True)
class UnifiedTheory:
    """Wear by the work across the principal direction only: k(CS) = 2 k CS.

    Parameters
    ----------
    wear_factor : float
        k: factor on a square path (CS = 0.5), mm3/(N mm).

    Notes
    -----
    Molecules align along the principal direction of sliding and are torn off by work across it.
    On a rectangle of sides A <= B that is A / (A + B) of all work, so the factor is proportional
    to A / (A + B). On a straight path it is zero: nothing wears. The idea was read in the abstract
    of the first paper, the form A / (A + B) is from memory of both. Measured factors peak at
    rectangles of 3 by 7 (Turell's thesis, abstract read) and do not vanish on straight paths.

    References
    ----------
    Wang, A. (2001) A unified theory of wear for ultra-high molecular weight polyethylene in
    multi-directional sliding. Wear 248, 38-47.
    Turell, M., Wang, A. and Bellare, A. (2003) Quantification of the effect of cross-path motion on
    the wear rate of ultra-high molecular weight polyethylene. Wear 255, 1034-1039.
    """

    wear_factor: float

    def weight(self, pressure: Array) -> Array:
        """Pressure itself, MPa."""
        return pressure

    def factor(self, cross_shear: Array) -> Array:
        """k(CS), mm3/(N mm)."""
        return self.wear_factor * cross_shear / SQUARE_PATH


# Work to remove a volume along the molecules over that across them: 8.473 / 1.321.
WORK_ALONG_OVER_ACROSS = 6.4


@dataclass(frozen=True)
class DirectionalWork:
    """Wear by the work along and across the principal direction, each with its own worth.

    Parameters
    ----------
    wear_factor : float
        k: factor on a square path (CS = 0.5), mm3/(N mm).

    Notes
    -----
    k(CS) = 2 k [CS + (1 - CS) / 6.4] / (1 + 1 / 6.4): removing a volume takes 6.4 times as much
    work along the molecules as across them. On a straight path the factor is 2 k / 7.4 = 0.27 k.
    The ratio was read in the paper's abstract; the absolute works given there are not used, for
    they would make factors a thousand times smaller than usual ones. Strickland et al. and O'Brien
    et al. go on from here with a memory of the order in which directions follow each other; that
    needs more than sums over a cycle and is not provided.

    References
    ----------
    Schwenke, T. and Wimmer, M.A. (2013) Cross-shear in metal-on-polyethylene articulation of
    orthopaedic implants and its relationship to wear. Wear 301, 168-174.
    Strickland, M.A., Dressler, M.R. and Taylor, M. (2012) Predicting implant UHMWPE wear
    in-silico: a robust, adaptable computational-numerical framework for future theoretical models.
    Wear 274-275, 100-108.
    O'Brien, S.T. et al. (2014) An energy dissipation and cross shear time dependent computational
    wear model for the analysis of polyethylene wear in total knee replacements. J. Biomechanics 47,
    1127-1133.
    """

    wear_factor: float

    def weight(self, pressure: Array) -> Array:
        """Pressure itself, MPa."""
        return pressure

    def factor(self, cross_shear: Array) -> Array:
        """k(CS), mm3/(N mm)."""
        worth = cross_shear + (1.0 - cross_shear) / WORK_ALONG_OVER_ACROSS
        return self.wear_factor * worth / (SQUARE_PATH * (1.0 + 1.0 / WORK_ALONG_OVER_ACROSS))


@dataclass(frozen=True)
class PressurePower:
    """Wear factor that falls with pressure: k(p) = 2e-6 p^-0.84 mm3/(N m), p in MPa.

    Notes
    -----
    Independent of direction: on a straight path the factor is the same. Wear grows with p^0.16
    only, that is, hardly with load. The relation was fitted to pins and simulators under nominal
    stresses of a few MPa and more; it has no upper end at small pressures, where depth vanishes
    all the same. Form and both coefficients are from memory of the literature.

    References
    ----------
    Vassiliou, K. and Unsworth, A. (2004) Is the wear factor in total joint replacements dependent
    on the nominal contact stress in ultra-high molecular weight polyethylene contacts? Proc. IMechE
    Part H: J. Engineering in Medicine 218, 101-107.
    """

    coefficient: float = 2.0e-6 * MM3_PER_N_MM_FROM_MM3_PER_N_M
    exponent: float = -0.84

    def weight(self, pressure: Array) -> Array:
        """Pressure to the power of 0.16, MPa^0.16."""
        return pressure ** (1.0 + self.exponent)

    def factor(self, cross_shear: Array) -> float:
        """Factor at 1 MPa, mm3/(N mm)."""
        return self.coefficient


@dataclass(frozen=True)
class CrossShearAndPressure:
    """Factor of cross-shear and pressure: k = exp(-13.1 + 0.19 ln CS - 0.29 p) mm3/(N m).

    Notes
    -----
    p in MPa, conventional polyethylene. On a straight path the factor is zero. The relation was
    fitted to pins under a few MPa for use in hips; at the 15 to 30 MPa of a knee it lies far beyond
    and makes k vanish (exp(-0.29 * 20) = 0.003), so it serves for comparison only. Form and all
    three coefficients are from memory of the literature.

    References
    ----------
    Kang, L., Galvin, A.L., Fisher, J. and Jin, Z. (2009) Enhanced computational prediction of
    polyethylene wear in hip joints by incorporating cross-shear and contact pressure in addition to
    load and sliding distance: effect of head diameter. J. Biomechanics 42, 912-918.
    """

    constant: float = -13.1
    cross_shear_exponent: float = 0.19
    pressure_rate: float = -0.29

    def weight(self, pressure: Array) -> Array:
        """Pressure times exp(-0.29 p), MPa."""
        return pressure * np.exp(self.pressure_rate * pressure)

    def factor(self, cross_shear: Array) -> Array:
        """exp(-13.1) CS^0.19, mm3/(N mm)."""
        scale = np.exp(self.constant) * MM3_PER_N_MM_FROM_MM3_PER_N_M
        return scale * cross_shear**self.cross_shear_exponent


@dataclass(frozen=True)
class ContactArea:
    """Wear volume = C x contact area x sliding distance, whatever the pressure.

    Notes
    -----
    C = (32 CS + 0.3) 1e-9 up to CS = 0.04 and (1.9 CS + 1.6) 1e-9 beyond, a pure number (mm3 per
    mm2 and mm), for conventional polyethylene. On a straight path C is 0.3e-9. The two pieces miss
    each other by 6 % at 0.04. An element counts while its pressure is above zero, so depth depends
    on where contact is, not on how hard it presses. Form and all four coefficients are from memory
    of the literature.

    References
    ----------
    Liu, F., Galvin, A., Jin, Z. and Fisher, J. (2011) A new formulation for the prediction of
    polyethylene wear in artificial hip joints. Proc. IMechE Part H: J. Engineering in Medicine 225,
    16-24.
    Abdelgaied, A., Liu, F., Brockett, C., Jennings, L., Fisher, J. and Jin, Z. (2011) Computational
    wear prediction of artificial knee joints based on a new wear law and formulation.
    J. Biomechanics 44, 1108-1116.
    """

    def weight(self, pressure: Array) -> Array:
        """One where loaded, zero elsewhere."""
        return (pressure > 0.0).astype(np.float64)

    def factor(self, cross_shear: Array) -> Array:
        """C(CS), mm/mm."""
        low, high = 32.0 * cross_shear + 0.3, 1.9 * cross_shear + 1.6
        return 1.0e-9 * np.where(cross_shear < 0.04, low, high)


def choose_wear_law(settings: WearSettings) -> WearLaw:
    """Wear law that the settings name.

    Parameters
    ----------
    settings : WearSettings
        `wear_law`, and the wear factor of those laws that take one.

    Returns
    -------
    WearLaw

    Raises
    ------
    ValueError
        If there is no law of that name.
    """
    wear_factor = settings.wear_factor_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M
    laws: dict[str, WearLaw] = {
        "archard": Archard(wear_factor),
        "unified_theory": UnifiedTheory(wear_factor),
        "directional_work": DirectionalWork(wear_factor),
        "pressure_power": PressurePower(),
        "cross_shear_and_pressure": CrossShearAndPressure(),
        "contact_area": ContactArea(),
    }
    if settings.wear_law not in laws:
        raise ValueError(f"wear_law must be one of {', '.join(laws)}, got {settings.wear_law!r}")
    return laws[settings.wear_law]


def worn_depth(pressure: ArrayLike, slip: ArrayLike, cross_shear: ArrayLike, law: WearLaw) -> Array:
    """Depth removed by sliding under pressure in one cycle.

    Parameters
    ----------
    pressure : array, shape (n_frames, ...)
        Contact pressure, MPa; zero where the surfaces are apart.
    slip : array, shape (n_frames, ..., 2)
        Tangential displacement during each frame's interval, mm, along two perpendicular
        tangents.
    cross_shear : array, shape (...)
        Cross-shear ratio of the cycle, 0 to 0.5.
    law : WearLaw
        Weight of pressure and factor of cross-shear.

    Returns
    -------
    array, shape (...)
        Depth removed in one cycle, mm, along the inward normal.

    Notes
    -----
    depth = f(CS) sum_t w(p_t) |s_t|. Holds while the depth is small against the thickness.
    """
    weight = law.weight(np.asarray(pressure, dtype=np.float64))
    distance = np.linalg.norm(np.asarray(slip, dtype=np.float64), axis=-1)
    factor = law.factor(np.asarray(cross_shear, dtype=np.float64))
    return factor * np.sum(weight * distance, axis=0)
