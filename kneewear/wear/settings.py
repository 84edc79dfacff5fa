"""Settings of wear and creep over a life."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, create_model, field_validator, model_validator

from kneewear.base.faults import fault, fault_at
from kneewear.base.ranges import Range
from kneewear.base.types import Name, NonNegative, Positive, Removable, Settings, quantity
from kneewear.wear.law_settings import FACTOR, WEAR_LAWS, laws_with_wear_factor

if TYPE_CHECKING:
    LawName = str
else:
    LawName = Literal[tuple(WEAR_LAWS)]
*_FIRST, _LAST = laws_with_wear_factor()
_WITH_FACTOR = f"{', '.join(_FIRST)} and {_LAST}"
# Part of the cycles of a life.
Share = Annotated[float, Field(ge=0, le=1)]

_MONTHS = Range("months", 0.01, 0.5, 480, 1200, "Implants are followed for up to about 30 years")


class SurfaceUpdateSettings(Settings):
    """Update of the insert's surface between the blocks of a life."""

    medial_lateral: Literal["held", "as_simulated"] = Field(
        description="Whether worn blocks keep the medial-lateral positions of the fresh insert, "
        "which creep releases otherwise, or treat them as simulation.medial_lateral states."
    )
    smoothing_mm: NonNegative = quantity(
        "Length over which the lowering of the surface is smoothed: half an element's width. "
        "Depths are not smoothed.",
        Range("mm", 0, 0, 2, 10, "Elements are about 0.5 mm wide", least=0.02),
    )
    thins_layer: bool = Field(
        description="Whether wear makes the layer thinner and so stiffer; creep does not."
    )


# Block with a field for each law that has coefficients.
LawCoefficients: type[Settings] = create_model(
    "LawCoefficients",
    __base__=Settings,
    __doc__="Coefficients of wear laws; those left out are as published.",
    **{
        name: (law, Field(default=law(), description=f"Coefficients of the law {name}."))
        for name, law in WEAR_LAWS.items()
        if law.model_fields
    },
)  # type: ignore[call-overload]


# Usual factor of polyethylene against polished metal, mm3/(N m) (Fregly et al. 2005; quoted from
# memory), for implants from files: that of the default study was calibrated with its shape.
USUAL_WEAR_FACTOR = 2.64e-7
# Law of implants from files, which measured wear of moving contacts does not refute, and the factor
# of flat pins on circular paths (Saikko 2005, abstract read): docs/measured-wear.md.
SURVIVING_LAW = "cross_shear_saturation"
PIN_WEAR_FACTOR = 1.63e-6


# A factor within this part of a known one is that factor, rounded.
_ROUNDING = 5e-3


@cache
def _known_laws() -> dict[float, str]:
    """Laws of known wear factors, mm3/(N m), of the table `factors.csv`."""
    with Path(__file__).with_name("factors.csv").open(encoding="utf-8", newline="") as file:
        return {float(row["wear_factor_mm3_per_n_m"]): row["law"] for row in csv.DictReader(file)}


def known_law(factor: float) -> str | None:
    """Law that a wear factor, mm3/(N m), was found with; None of a factor that is not known."""
    laws = _known_laws().items()
    return next((law for own, law in laws if abs(factor / own - 1.0) < _ROUNDING), None)


class WearSettings(Settings):
    """Wear and creep over a life."""

    wear_law: LawName = Field(
        description="Wear law: constant factor; by work across the principal direction; by work "
        "along and across it; factor rising with cross-shear up to a limit, which measured wear of "
        "moving contacts does not refute; factor falling with pressure; of cross-shear and "
        "pressure; by area."
    )
    laws: LawCoefficients = Field(
        default=LawCoefficients(),
        description="Coefficients of wear laws; those left out are as published.",
    )
    wear_factor_mm3_per_n_m: NonNegative = quantity(
        f"Wear factor on a square path, for the laws {_WITH_FACTOR}; the others have published "
        "constants.",
        FACTOR,
    )
    found_with: LawName | None = Field(
        None,
        description="Law that the wear factor was found with, which must be the law of the study; "
        "null for the law of a factor that kneewear knows, and otherwise for any.",
    )
    polyethylene: str | None = Field(
        None,
        description="Grade of polyethylene that the constants are of, which reports name beside "
        "the wear factor; null if it is not stated.",
    )
    material_class: Literal["conventional", "crosslinked", "crosslinked_vitamin_e", "other"] = (
        Field(
            "conventional",
            description="Class of polyethylene for the interval from measured wear, which classes "
            "without measurements do not have. It changes no other result.",
        )
    )
    density_mg_per_mm3: Positive = quantity(
        "Density of the polyethylene, for the mass lost by wear.",
        Range("mg/mm3", 0.1, 0.85, 1.3, 20, "ISO 5834-2: 0.927 to 0.944 (from memory)"),
    )
    creep_law: Literal["pressure", "strain"] = Field(
        description="Creep depth from the largest pressure of a cycle, or from a strain times the "
        "thickness."
    )
    creep_mm_per_mpa: NonNegative = quantity(
        "Creep depth for each MPa of largest pressure, with creep_law: pressure.",
        Range(
            "mm/MPa",
            0,
            0,
            0.1,
            1,
            "0.0175 fits Bei (2003); 0.1 mm at 1 MPa is a centimetre at 100 MPa",
            least=1e-4,
        ),
    )
    creep_time: Literal["constant", "logarithm"] = Field(
        description="Whether creep_mm_per_mpa is scaled to other ages by the logarithm of time, or "
        "is constant, which requires a life of creep_months; with creep_law: pressure."
    )
    creep_months: Positive = quantity("Age at which creep_mm_per_mpa holds.", _MONTHS)
    recovery_minutes: NonNegative = quantity(
        "Time without load after the life, in which a part of the creep recovers; 0 for an insert "
        "in use.",
        Range("min", 0, 0, 1e6, 1e8, "Retrieved inserts are measured within two years", least=1),
    )
    cycles_per_year: Positive = quantity(
        "Cycles of all activities in a year.",
        Range(
            "1/year",
            1e3,
            2e5,
            4.3e6,
            5e7,
            "About 1e6, at most 3e6 (Schmalzried et al. 1998, from memory); steps are twice that",
        ),
    )
    months: NonNegative = quantity("Length of the life.", _MONTHS)
    mixing: Literal["linear", "sequence"] = Field(
        description="Whether activities of a life mix linearly, or follow each other in every "
        "block."
    )
    blocks: int = quantity(
        "Blocks of cycles of a life; the surface is updated between them. 1 extrapolates the cycle "
        "of the fresh surface; 16 and more follow the surface.",
        Range("1", 1, 1, 100, 1000, "Damage changes by less than 1 % beyond 8 blocks"),
    )
    surface_update: SurfaceUpdateSettings
    lives: Annotated[dict[Name, dict[Name, Share]], Field(min_length=1), Removable] = quantity(
        "Lives: name, and share of the cycles of each activity; the sum is 1. Where plastic strain "
        "stays (simulation.material_yield), activities follow each other in this order.",
        Range("1", 0, 0, 1, 1, "Parts of the cycles"),
    )

    @property
    def creep_takes_time(self) -> bool:
        """True if creep grows with the age of the insert."""
        return self.creep_law == "strain" or self.creep_time == "logarithm"

    @property
    def law_of_factor(self) -> str | None:
        """Law that the wear factor was found with; None if that is not known."""
        return self.found_with or known_law(self.wear_factor_mm3_per_n_m)

    @property
    def uses_factor(self) -> bool:
        """True if the law multiplies the wear factor."""
        return self.wear_law in laws_with_wear_factor()

    def mm3_per(self, unit: str) -> float:
        """Volume of one unit ("mg" or "mm3") of lost material."""
        return 1.0 / self.density_mg_per_mm3 if unit == "mg" else 1.0

    def without_updates(self) -> WearSettings:
        """The same life on a surface that stays fresh."""
        return self.model_copy(update={"blocks": 1, "mixing": "linear"})

    @model_validator(mode="after")
    def check_constant_creep(self) -> WearSettings:
        """Refuse constant creep at another age."""
        if (
            self.creep_mm_per_mpa > 0
            and not self.creep_takes_time
            and self.months != self.creep_months
        ):
            raise fault(
                f"creep_time: constant with months: {self.months:g} and creep_months: "
                f"{self.creep_months:g}",
                "a life of creep_months, the age at which creep_mm_per_mpa holds",
                "Set creep_time to logarithm, which scales creep to other ages; or creep_months to "
                "months if creep_mm_per_mpa was found for that age.",
            )
        return self

    @model_validator(mode="after")
    def check_updates(self) -> WearSettings:
        """Refuse updates without time."""
        if self == self.without_updates():
            return self
        if self.months < 1:
            raise fault(
                f"blocks: {self.blocks}, mixing: {self.mixing} with months: {self.months:g}",
                "a life of at least a month to divide",
                "Give the life a length, or set blocks to 1 and mixing to linear.",
            )
        if self.creep_mm_per_mpa > 0 and not self.creep_takes_time:
            raise fault(
                f"blocks: {self.blocks}, mixing: {self.mixing} with creep_time: constant",
                "creep_time: logarithm, for creep that is all there after the first block digs "
                "deeper than contact reaches",
                "Set creep_time to logarithm, or creep_mm_per_mpa to 0.",
            )
        return self

    @field_validator("lives")
    @classmethod
    def check_shares(cls, lives: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """Refuse shares that do not sum to 1."""
        for life, shares in lives.items():
            total = math.fsum(shares.values())
            if abs(total - 1) > 1e-9:
                found = f"shares of '{life}' that sum to {total:g}"
                raise fault_at((life,), found, "a sum of 1", "Correct the shares.")
        return lives
