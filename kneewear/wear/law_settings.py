"""Wear laws: how pressure and direction of sliding convert sliding to depth.

A law is a class here: coefficients with meaning, range and published value, a weight and a factor.
Its `name` selects it in the settings (`wear.wear_law`), and `wear.laws` changes its coefficients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import log
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kneewear.base.ranges import Range
from kneewear.base.references import Reference, cite
from kneewear.base.types import Finite, NonNegative, Positive, Settings, quantity
from kneewear.wear.direction_memory import (
    RememberedSliding,
    circle_cross_shear,
    remember_directions,
)
from kneewear.wear.history import History

Array = NDArray[np.float64]

MM3_PER_N_MM_FROM_MM3_PER_N_M = 1.0e-3
# Wear factor that levels of laws are multiples of, mm3/(N m).
UNIT_FACTOR = 1.0e-6
# Cross-shear ratio of a square path, the largest possible.
SQUARE_PATH = 0.5

FACTOR = Range(
    "mm3/(N m)", 0, 0, 4e-6, 1e-3, "Published: 1.0e-7 to 3.5e-6 (from memory)", least=3e-8
)
_EXPONENT = Range("1", 0, 0, 2, 10, "Published powers of cross-shear are below 1", least=0.01)
_SLOPE = Range(
    "1e-9 mm/mm", 0, 0, 500, 1e4, "Published lines have 1.9 and 32 (Liu et al. 2011)", least=0.1
)
_INTERCEPT = Range(
    "1e-9 mm/mm", 0, 0, 50, 1e3, "Published lines have 0.3 and 1.6 (Liu et al. 2011)", least=0.01
)

# Laws by their name in the settings.
WEAR_LAWS: dict[str, type[LawSettings]] = {}


class LawSettings(Settings, ABC):
    """Coefficients of a wear law, with its name and sources.

    A law has the methods of :class:`WearLaw` or of :class:`kneewear.wear.laws.Law`.
    """

    name: ClassVar[str]
    # Sentence for reports, where "{factor}" is replaced by the wear factor with its unit.
    summary: ClassVar[str]
    references: ClassVar[tuple[Reference, ...]]
    # How form and coefficients were read: paper, textbook, abstract or memory.
    read: ClassVar[str] = "memory"
    # Whether it agrees with all tests of moving contacts (`config/evidence/measured_wear.yaml`).
    survives: ClassVar[bool] = False
    # Whether a wear factor multiplies the depth; else the constants are absolute.
    multiplies_wear_factor: ClassVar[bool] = True
    # Constants that give a law without a wear factor one of `UNIT_FACTOR`, where it has such.
    unit_constants: ClassVar[Mapping[str, float]] = {}
    # Coefficients that features of a history depend on; the others change only the depth.
    history_constants: ClassVar[tuple[str, ...]] = ()
    # Whether two designs are compared by it, and intervals of the constants that tests leave open.
    is_drawn: ClassVar[bool] = False
    undecided: ClassVar[Mapping[str, tuple[float, float]]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Register the law; raise TypeError if it cites works that are no records."""
        for work in getattr(cls, "references", ()):
            if not isinstance(work, Reference):
                raise TypeError(
                    f"{cls.__name__}.references: expected objects of "
                    f"kneewear.base.references.Reference, found {work!r}"
                )
        if hasattr(cls, "name"):
            WEAR_LAWS[cls.name] = cls

    @classmethod
    def unverified(cls) -> bool:
        """True if the form or a coefficient was read in an abstract or quoted from memory."""
        return cls.read in ("abstract", "memory")

    @classmethod
    def follows_pressure(cls) -> bool:
        """True if the depth is proportional to the pressure."""
        return True


class WearLaw(LawSettings):
    """Wear depth from sliding, pressure and cross-shear: depth = f(CS) sum_t w(p_t) |s_t|.

    A weight w of the pressure at each frame is summed along the path and multiplied by a factor f
    of the cross-shear ratio CS of the whole cycle. Fields are the coefficients of the law.
    """

    @classmethod
    def follows_pressure(cls) -> bool:
        """True if the weight is the pressure."""
        return cls.weight is WearLaw.weight

    def weight(self, pressure: Array) -> Array:
        """Weight of sliding under a pressure, MPa: the pressure itself, if not overridden."""
        return pressure

    @abstractmethod
    def factor(self, cross_shear: Array) -> Array | float:
        """Factor at a cross-shear ratio of 0 to 0.5.

        A multiple of the wear factor, or for laws with published constants mm per mm and unit of
        the weight.
        """


class Archard(WearLaw):
    """Wear proportional to pressure and sliding in any direction: depth = k sum_t p_t |s_t|."""

    name: ClassVar[str] = "archard"
    is_drawn: ClassVar[bool] = True
    read: ClassVar[str] = "textbook"
    summary: ClassVar[str] = "Wear follows Archard's law with {factor}"
    references: ClassVar[tuple[Reference, ...]] = cite("archard1953")

    def factor(self, cross_shear: Array) -> float:
        """1."""
        return 1.0


class UnifiedTheory(WearLaw):
    """Wear by the work across the principal direction only: k(CS) = 2 k CS.

    On a rectangle of sides A <= B that work is A / (A + B) of all (idea from the abstract of the
    first paper, this form from memory of both). Measured factors peak at rectangles of 3 by 7
    (Turell's thesis, abstract read) and do not vanish on straight paths.
    """

    name: ClassVar[str] = "unified_theory"
    summary: ClassVar[str] = (
        "Wear is proportional to the work across the principal direction only (unified theory, "
        "Wang 2001), with {factor} on a square path"
    )
    references: ClassVar[tuple[Reference, ...]] = cite("wang2001", "turell2003")

    def factor(self, cross_shear: Array) -> Array:
        """k(CS) / k."""
        return cross_shear / SQUARE_PATH


class DirectionalWork(WearLaw):
    """Wear by the work along and across the principal direction, with different weights.

    k(CS) = 2 k [CS + (1 - CS) / q] / (1 + 1 / q), where q = 8.473 / 1.321 = 6.4 is the work that
    removes a volume along the molecules over that across them; on a straight path 2 k / 7.4 =
    0.27 k. The ratio was read in the paper's abstract; the absolute works given there are not used
    because they would make factors a thousand times smaller than usual ones. Strickland et al.
    (2012, Wear 274-275, 100-108) and O'Brien et al. (2014, J. Biomechanics 47, 1127-1133) add a
    memory of the order of directions; `direction_memory` is a law with one.
    """

    name: ClassVar[str] = "directional_work"
    read: ClassVar[str] = "abstract"
    work_along_over_across: Positive = quantity(
        "Work that removes a volume along the principal direction, over that across it.",
        Range("1", 0.01, 1, 100, 1e4, "6.4 in the source; wear is faster across"),
        6.4,
    )
    summary: ClassVar[str] = (
        "Wear weights the work along the principal direction {work_along_over_across} times less "
        "than the work across it (Schwenke and Wimmer 2013), with {factor} on a square path"
    )
    references: ClassVar[tuple[Reference, ...]] = cite("schwenke2013")

    def factor(self, cross_shear: Array) -> Array:
        """k(CS) / k."""
        along = 1.0 / self.work_along_over_across
        return (cross_shear + (1.0 - cross_shear) * along) / (SQUARE_PATH * (1.0 + along))


class CrossShearSaturation(WearLaw):
    """Wear factor that rises from nearly zero on straight paths and saturates.

    k(CS) / k = f0 + (1 - f0) min(CS / CS1, 1), without dependence on pressure: the law for moving
    contacts that agrees with the tests of `config/evidence/measured_wear.yaml`. The factor k is
    that of flat pins under circular motion (1.63e-6 mm3/(N m), 100 pins; Saikko 2005). CS1 = 0.1,
    0.04 to 0.19: hips under ISO 14242-1, whose mean cross-shear ratio is 0.08 (Kaddick and Wimmer
    2001). f0 = 0.036, 0.020 to 0.052: six discs wore 0.052 +- 0.023 times as fast on a straight as
    on an elliptic path (Grupp et al. 2009). All were read in abstracts. Not for stationary contacts
    above about 2 MPa, whose factor falls with pressure, and without the order of directions (random
    motion wears flat pins 1.23 times as fast as circular motion; Saikko and Kostamo 2013).
    """

    name: ClassVar[str] = "cross_shear_saturation"
    read: ClassVar[str] = "abstract"
    survives: ClassVar[bool] = True
    is_drawn: ClassVar[bool] = True
    undecided: ClassVar[Mapping[str, tuple[float, float]]] = {
        "straight_factor": (0.020, 0.052),
        "saturation": (0.04, 0.19),
    }
    straight_factor: Annotated[float, Field(ge=0, le=1)] = quantity(
        "Wear factor on a straight path over that of multidirectional motion.",
        Range("1", 0, 0.01, 0.3, 1, "0.020 to 0.052: straight and elliptic paths of discs"),
        0.036,
    )
    saturation: Annotated[float, Field(gt=0, le=0.5)] = quantity(
        "Cross-shear ratio from which the wear factor no longer rises.",
        Range("1", 0.001, 0.03, 0.5, 0.5, "0.04 to 0.19: hips under ISO 14242-1"),
        0.1,
    )
    summary: ClassVar[str] = (
        "The wear factor rises from {straight_factor} of its largest value on straight paths to "
        "{factor} at a cross-shear ratio of {saturation}, without dependence on pressure"
    )
    references: ClassVar[tuple[Reference, ...]] = cite("saikko2005", "grupp2009", "kaddick2001")

    def factor(self, cross_shear: Array) -> Array:
        """k(CS) / k."""
        risen = np.minimum(np.asarray(cross_shear) / self.saturation, 1.0)
        return self.straight_factor + (1.0 - self.straight_factor) * risen


class PressurePower(WearLaw):
    """Wear factor that decreases with pressure: k(p) = c p^e, c = 2e-6 mm3/(N m), e = -0.84.

    p in MPa; independent of direction. Fitted to pins and simulators under nominal stresses of a
    few MPa and more. Form and both coefficients are from memory of the literature.
    """

    name: ClassVar[str] = "pressure_power"
    history_constants: ClassVar[tuple[str, ...]] = ("exponent",)
    multiplies_wear_factor: ClassVar[bool] = False
    unit_constants: ClassVar[Mapping[str, float]] = {"coefficient_mm3_per_n_m": UNIT_FACTOR}
    coefficient_mm3_per_n_m: NonNegative = quantity("Wear factor at 1 MPa.", FACTOR, 2.0e-6)
    exponent: Annotated[float, Field(gt=-1)] = quantity(
        "Power of the pressure, MPa, in the wear factor.",
        Range(
            "1",
            -1,
            -1,
            0,
            0,
            "Wear neither falls with the load nor grows faster than it",
            least=0.01,
        ),
        -0.84,
    )
    summary: ClassVar[str] = "The wear factor decreases with pressure (Vassiliou and Unsworth 2004)"
    references: ClassVar[tuple[Reference, ...]] = cite("vassiliou2004")

    def weight(self, pressure: Array) -> Array:
        """Pressure to the power of 1 + e, zero where unloaded."""
        return pressure ** (1.0 + self.exponent)

    def factor(self, cross_shear: Array) -> float:
        """Factor at 1 MPa, mm3/(N mm)."""
        return self.coefficient_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M


class CrossShearAndPressure(WearLaw):
    """Factor of cross-shear and pressure: k = exp(a + b ln CS + c p) mm3/(N m).

    a = -13.1, b = 0.19, c = -0.29, p in MPa, conventional polyethylene. Fitted to pins under a few
    MPa for use in hips; at the 15 to 30 MPa of a knee k vanishes (exp(-0.29 * 20) = 0.003), so it
    serves for comparison only. Form and all three coefficients are from memory of the literature.
    """

    name: ClassVar[str] = "cross_shear_and_pressure"
    history_constants: ClassVar[tuple[str, ...]] = ("pressure_rate_per_mpa",)
    multiplies_wear_factor: ClassVar[bool] = False
    unit_constants: ClassVar[Mapping[str, float]] = {"constant": log(UNIT_FACTOR)}
    constant: Finite = quantity(
        "Logarithm of the wear factor, mm3/(N m), at a cross-shear ratio of 1 without pressure.",
        Range("1", -30, -18, -9, -5, "-13.1 in the source; factors of 1.5e-8 to 1.2e-4"),
        -13.1,
    )
    cross_shear_exponent: NonNegative = quantity(
        "Power of the cross-shear ratio in the wear factor.", _EXPONENT, 0.19
    )
    pressure_rate_per_mpa: Finite = quantity(
        "Change of the logarithm of the wear factor for each MPa.",
        Range("1/MPa", -5, -1, 0, 0, "-0.29 in the source", least=0.01),
        -0.29,
    )
    summary: ClassVar[str] = (
        "The wear factor increases with cross-shear and decreases with pressure (Kang et al. 2009)"
    )
    references: ClassVar[tuple[Reference, ...]] = cite("kang2009")

    def weight(self, pressure: Array) -> Array:
        """Pressure times exp(c p), MPa."""
        return pressure * np.exp(self.pressure_rate_per_mpa * pressure)

    def factor(self, cross_shear: Array) -> Array:
        """exp(a) CS^b, mm3/(N mm)."""
        scale = np.exp(self.constant) * MM3_PER_N_MM_FROM_MM3_PER_N_M
        return scale * cross_shear**self.cross_shear_exponent


class ContactArea(WearLaw):
    """Wear volume = C x contact area x sliding distance, independent of the pressure.

    C = (s CS + i) 1e-9, a pure number (mm3 per mm2 and mm): s = 32, i = 0.3 up to CS = 0.04 and
    s = 1.9, i = 1.6 beyond, for conventional polyethylene; the two parts differ by 6 % at 0.04.
    Form and all coefficients are from memory of the literature.
    """

    name: ClassVar[str] = "contact_area"
    multiplies_wear_factor: ClassVar[bool] = False
    low_slope: NonNegative = quantity(
        "Coefficient for each unit of the cross-shear ratio below the border.", _SLOPE, 32.0
    )
    low_intercept: NonNegative = quantity(
        "Coefficient at a cross-shear ratio of zero.", _INTERCEPT, 0.3
    )
    high_slope: NonNegative = quantity(
        "Coefficient for each unit of the cross-shear ratio above the border.", _SLOPE, 1.9
    )
    high_intercept: NonNegative = quantity(
        "Value of the upper line at a cross-shear ratio of zero.", _INTERCEPT, 1.6
    )
    border: NonNegative = quantity(
        "Cross-shear ratio that separates both lines.",
        Range("1", 0, 0, 0.5, 0.5, "The cross-shear ratio is at most 0.5", least=0.001),
        0.04,
    )
    summary: ClassVar[str] = (
        "Wear follows contact area and cross-shear, independent of the pressure (Liu et al. 2011, "
        "Abdelgaied et al. 2011)"
    )
    references: ClassVar[tuple[Reference, ...]] = cite("liu2011", "abdelgaied2011")

    def weight(self, pressure: Array) -> Array:
        """One where loaded, zero elsewhere."""
        return (pressure > 0.0).astype(np.float64)

    def factor(self, cross_shear: Array) -> Array:
        """C(CS), mm/mm."""
        low = self.low_slope * cross_shear + self.low_intercept
        high = self.high_slope * cross_shear + self.high_intercept
        return 1.0e-9 * np.where(cross_shear < self.border, low, high)


class DirectionMemory(LawSettings):
    """Wear by cross-shear against the directions of sliding that an element remembers.

    depth = k sum_t p_t |s_t| g(c_t) / g(c_0) with g(c) = f0 + (1 - f0) 2 c, where c is the mean
    square of the sine between the present direction and those of the path slid before, which fade
    by exp(-l / L) over the distance l. On a circle of radius R it is 1/2 - 1/2 / (1 + (2 L / R)^2),
    and c_0 its value on the circle on which the wear factor k was measured. The order of directions
    and the size of the path matter, which they do not in laws of the ratio of a cycle. That
    a memory is needed is the finding of Strickland, Dressler and Taylor (2012, abstract read),
    whose laws are another re-shaping array; this form is ours. L is found from the ratio of random
    over circular motion of flat pins, 1.23 (Saikko and Kostamo 2013, abstract read), f0 from discs
    on straight and elliptic paths, 0.052 (Grupp et al. 2009, abstract read), with the tests of
    `config/evidence/measured_wear.yaml`.
    """

    name: ClassVar[str] = "direction_memory"
    read: ClassVar[str] = "abstract"
    history_constants: ClassVar[tuple[str, ...]] = ("memory_mm",)
    memory_mm: Positive = quantity(
        "Length of sliding within which a direction is forgotten to 1/e.",
        Range("mm", 0.001, 0.05, 100, 1e6, "Paths are 1 to 30 mm", least=0.01),
        1.7,
    )
    straight_factor: Annotated[float, Field(ge=0, le=1)] = quantity(
        "Wear factor on a straight path over that at a cross-shear of 1/2.",
        Range("1", 0, 0.001, 0.3, 1, "Straight paths of discs wore 0.052 times elliptic ones"),
        0.027,
    )
    reference_diameter_mm: Positive = quantity(
        "Diameter of the circle on which the wear factor was measured.",
        Range("mm", 0.1, 2, 60, 500, "Tracks of pins; 10 mm in the source"),
        10.0,
    )
    summary: ClassVar[str] = (
        "Wear follows cross-shear against the directions of the last {memory_mm} mm of sliding, "
        "with {factor} on a circle of {reference_diameter_mm} mm"
    )
    references: ClassVar[tuple[Reference, ...]] = cite("strickland2012", "saikko2013", "grupp2009")

    def features(self, history: History) -> RememberedSliding:
        """Work and crossed work of the cycle."""
        return remember_directions(history, self.memory_mm)

    def depth(self, features: RememberedSliding) -> Array:
        """Depth by a wear factor of one, mm."""
        own, half = self.straight_factor, 0.5 * self.reference_diameter_mm
        crossed = 2.0 * circle_cross_shear(self.memory_mm, half)
        straight = own * features.work + (1.0 - own) * features.crossed
        return np.asarray(straight / (own + (1.0 - own) * crossed))


def laws_with_wear_factor() -> tuple[str, ...]:
    """Names of the laws whose factor multiplies the wear factor of the settings."""
    return tuple(name for name, law in WEAR_LAWS.items() if law.multiplies_wear_factor)
