"""Settings of contact simulations."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kneewear.base.faults import fault, fault_at
from kneewear.base.ranges import Range
from kneewear.base.types import (
    MEDIAL,
    MODULUS,
    POISSON_RATIO,
    Finite,
    NonNegative,
    Positive,
    Settings,
    quantity,
)
from kneewear.motion.alignment_settings import AlignmentSettings

# Largest and largest mean pressure that a model of contact is trusted for, MPa: those of the
# foundation's source (Bei 2003, sections 3.4.3 and 4.4), and those up to which the coupled layer is
# within 10 % of finite elements that yield (docs/theory/coupled-layer.md).
# The half-space is of the same linear material as the coupled layer.
CONTACT_LIMITS_MPA = {
    "foundation": (35.0, 14.0),
    "coupled_layer": (20.0, 17.0),
    "half_space": (20.0, 17.0),
}
# The same of a coupled layer that yields: up to the largest pressures of the finite elements that
# yield (docs/snapshot/fe_twin_yield).
YIELD_LIMITS_MPA = (39.0, 23.0)

_BODY = "A component has 0.2 to 0.5 kg; a shank of up to 10 kg may move with it"


def pressure_limits(simulation: SimulationSettings) -> tuple[float, float]:
    """Largest and largest mean pressure that the contact of a simulation is trusted for, MPa."""
    if simulation.material_yield is not None:
        return YIELD_LIMITS_MPA
    return CONTACT_LIMITS_MPA[simulation.contact]


class ForwardSettings(Settings):
    """Forward dynamics of the femoral component; for analysis: forward."""

    mass_kg: Positive = quantity(
        "Mass of the moving body.", Range("kg", 0.001, 0.05, 10, 2000, _BODY)
    )
    radius_of_gyration_mm: Positive = quantity(
        "Radius of gyration about all axes through the centre of mass.",
        Range("mm", 1, 10, 200, 1000, _BODY),
    )
    centre_of_mass_mm: tuple[Finite, Finite, Finite] = quantity(
        "Centre of mass in the femoral frame: posterior, superior, medial.",
        Range("mm", -500, -100, 100, 500, _BODY),
    )
    damping_ratio: NonNegative = quantity(
        "Damping of the free vibrations at the frame of the largest load, over critical damping.",
        Range("1", 0, 0, 1, 100, "Above 1 the motion is overdamped"),
    )
    damping_load_exponent: NonNegative = quantity(
        "Power of the load over the largest load by which dampers change over the cycle: 0 keeps "
        "them the same, 0.25 keeps their ratio to critical damping on curved bearings.",
        Range("1", 0, 0, 0.4, 2, "A load in swing vibrates from 0.5 on (docs/theory/motion.md)"),
        0.0,
    )
    relative_tolerance: Positive = quantity(
        "Largest error of a step, over 0.1 mm of penetration.",
        Range("1", 1e-10, 1e-8, 1e-3, 1e-2, "Pressures differ by 1 % at 1e-2"),
    )
    cycles: int = quantity(
        "Cycles simulated; the last one is kept.",
        Range("1", 1, 1, 10, 100, "Transients end within one cycle at the default damping"),
    )


class ThreeParameterSettings(Settings):
    """Material that softens: strain = strain0 / 2 (p / p0) + strain0 / 2 (p / p0)^n."""

    exponent: Positive = quantity(
        "Exponent n; 1 gives a linear material.",
        Range("1", 1, 1, 20, 100, "Polyethylene has 3 to 7 (Bei 2003, section 3.2.2)"),
    )
    reference_strain: Positive = quantity(
        "Reference strain strain0.",
        Range("1", 1e-4, 0.005, 0.2, 1, "Polyethylene yields at a strain of a few percent"),
    )
    reference_pressure_mpa: Positive = quantity(
        "Reference pressure p0.",
        Range("MPa", 0.01, 1, 100, 1000, "Polyethylene yields at 10 to 25 MPa"),
    )


class PressureLawSettings(Settings):
    """Pressure on the layer as a function of penetration."""

    strain: Literal["small", "large"] = Field(
        description="Strain of the layer with penetration d and thickness h: d / h, or -ln(1 - d /"
        " h)."
    )
    material: Literal[
        "linear",
        "polyethylene_23c",
        "polyethylene_37c",
        "polyethylene_tuned",
        "polyethylene_tuned_linear",
        "own",
    ] = Field(
        description="Linear with youngs_modulus_mpa, a three-parameter polyethylene by name, or "
        "own_material."
    )
    nonlinear_form: Literal["published", "integrated"] = Field(
        description="How a three-parameter material enters: its tangent modulus as a secant "
        "modulus, as published, or its stress-strain curve."
    )
    own_material: ThreeParameterSettings | None = Field(
        description="Three-parameter material; null unless material is own."
    )
    cap_mpa: Positive | None = quantity(
        "Pressure above which the layer is perfectly plastic; null for none. Without history: for "
        "a first, growing load.",
        Range("MPa", 1, 10, 500, 1e4, "Three times the yield stress is 42 MPa (Bei 2003)"),
    )
    thickness_offset_mm: Finite = quantity(
        "Thickness added to that of every element.",
        Range("mm", -30, -5, 5, 30, "The insert is 4 to 30 mm thick"),
    )

    @model_validator(mode="after")
    def check_own_material(self) -> PressureLawSettings:
        """Require own_material with material: own, and only then."""
        if (self.material == "own") != (self.own_material is not None):
            raise fault(
                f"material: {self.material} with own_material: {self.own_material}",
                "own_material with material: own and only then",
                "Fill own_material in, or set it to null and name a material.",
            )
        return self


class YieldCurveSettings(Settings):
    """Yield stress by plastic strain (von Mises, isotropic hardening)."""

    plastic_strain: Annotated[tuple[NonNegative, ...], Field(min_length=1)] = quantity(
        "Equivalent plastic strains of the curve, ascending from 0; the curve is linear between "
        "them, and constant beyond the last.",
        Range("1", 0, 0, 1, 2, "Polyethylene fails at true strains of 1 to 2"),
    )
    yield_stress_mpa: Annotated[tuple[Positive, ...], Field(min_length=1)] = quantity(
        "Yield stresses (von Mises) at these strains, not descending.",
        Range("MPa", 0.1, 5, 200, 2000, "Polyethylene yields at 10 to 25 MPa"),
    )
    source: str = Field(min_length=1, description="Source of the curve.")

    @model_validator(mode="after")
    def check_curve(self) -> Self:
        """Refuse a curve that does not ascend."""
        strain, stress = self.plastic_strain, self.yield_stress_mpa
        rises = all(a < b for a, b in pairwise(strain))
        hardens = all(a <= b for a, b in pairwise(stress))
        if strain[0] != 0.0 or not rises or not hardens or len(strain) != len(stress):
            raise fault(
                f"plastic strains {list(strain)} with yield stresses {list(stress)} MPa",
                "strains that ascend from 0, and as many stresses that do not descend",
                "Correct the points of the curve.",
            )
        return self


class MaterialYieldSettings(YieldCurveSettings):
    """Polyethylene that yields; for contact: coupled_layer and analysis: quasi_static."""

    permanent_share: Annotated[float, Field(ge=0, le=1)] = quantity(
        "Part of the plastic strain of earlier frames and of the activities before that stays; 1 "
        "keeps all, 0 forgets it.",
        Range("1", 0, 0, 1, 1, "What polyethylene recovers between steps is not known"),
    )


class SimulationSettings(Settings):
    """Contact simulation."""

    analysis: Literal["forward", "quasi_static"] = Field(
        description="Forward dynamics on the coarse grid and inverse dynamics on the fine one, or "
        "a sequence of equilibria on the fine grid."
    )
    forward: ForwardSettings
    frames: int = quantity(
        "Frames of one cycle.",
        Range("1", 4, 20, 2000, 10000, "25 frames err by 10 to 12 % in volumes (defaults.yaml)"),
    )
    youngs_modulus_mpa: Positive = quantity("Young's modulus of the layer.", MODULUS)
    poisson_ratio: Annotated[float, Field(lt=0.5)] = quantity(
        "Poisson's ratio of the layer, below 0.5.", POISSON_RATIO
    )
    contact: Literal["foundation", "coupled_layer", "half_space"] = Field(
        description="Layer of independent elements (Bei 2003), one whose elements deflect under "
        "the pressure on each other, as an elastic solid with free ends, or an elastic half-space."
    )
    material_yield: MaterialYieldSettings | None = Field(
        default=None,
        description="Yield of the polyethylene below a coupled layer; null for an elastic one.",
    )
    pressure_law: PressureLawSettings
    medial_share: Annotated[float, Field(gt=0, lt=1)] = quantity(
        "Part of the load on the medial side with load_line: solved.",
        Range("1", 0, 0.2, 0.9, 1, "0.58 to 0.63 measured in one implant, 0.70 in Bei (2003)"),
    )
    load_line: Literal["solved", "fixed"] = Field(
        description="Whether the medial-lateral position of the load is solved for the medial "
        "share."
    )
    fixed_load_line_mm: Finite = quantity(
        "Medial-lateral position of the load with load_line: fixed, medial positive.", MEDIAL
    )
    force_direction: Literal["minimum_distance", "mid_surface"] = Field(
        description="Direction in which pressure acts on an element."
    )
    distance: Literal["exact", "table"] = Field(
        description="Distances by search on the surfaces, or from the distance table."
    )
    medial_lateral: Literal["solved", "held"] = Field(
        description="Whether the medial-lateral position is solved, or held where the motion "
        "prescribes it; the required force is reported."
    )
    medial_lateral_spring_per_mm: NonNegative = quantity(
        "Stiffness of a weak medial-lateral spring, over the load.",
        Range("1/mm", 0, 0, 10, 1e4, "10 holds the position within 0.1 mm"),
    )
    tolerance: Positive = quantity(
        "Largest residual of the equilibrium, over the load.",
        Range("1", 1e-14, 1e-12, 1e-5, 1e-3, "Rounding, and an error of 0.1 % of the load"),
    )
    alignment: AlignmentSettings

    @model_validator(mode="after")
    def _coupled_layer_is_linear(self) -> SimulationSettings:
        """Refuse what the influence of a linear elastic solid does not cover."""
        if self.contact == "foundation":
            return self
        law = self.pressure_law
        expected: dict[tuple[str, ...], tuple[object, object]] = {
            ("pressure_law", "strain"): (law.strain, "small"),
            ("pressure_law", "material"): (law.material, "linear"),
            ("pressure_law", "cap_mpa"): (law.cap_mpa, None),
            ("force_direction",): (self.force_direction, "minimum_distance"),
        }
        for at, (found, wanted) in expected.items():
            if found != wanted:
                value = "null" if wanted is None else wanted
                raise fault_at(
                    at,
                    f"{found} with contact: {self.contact}",
                    f"{value}: it is a linear elastic solid without friction",
                    f"Set {'.'.join(at)} to {value}, or contact to foundation.",
                )
        return self

    @model_validator(mode="after")
    def _yield_is_of_a_coupled_layer(self) -> SimulationSettings:
        """Refuse yield where no state is carried from frame to frame."""
        expected = {"contact": "coupled_layer", "analysis": "quasi_static"}
        for name, wanted in expected.items() if self.material_yield is not None else ():
            value = getattr(self, name)
            if value != wanted:
                raise fault_at(
                    (name,),
                    f"{value} with material_yield",
                    f"{wanted}: plastic strain is carried from equilibrium to equilibrium below a "
                    "coupled layer",
                    f"Set {name} to {wanted}, or material_yield to null.",
                )
        return self
