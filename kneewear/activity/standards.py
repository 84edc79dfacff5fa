"""Activities of knee simulators by their standard, with the curves of the user's copy of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from kneewear.base.faults import fault
from kneewear.base.types import (
    BODY_MASS,
    DURATION,
    MEDIAL,
    POSTERIOR,
    FileName,
    Finite,
    LinearSpring,
    Positive,
    Settings,
    TurningSpring,
    quantity,
)

Standard = Literal["iso14243-1", "iso14243-3", "astm-f3141"]
# What each standard controls; ASTM F3141 gives curves of both.
_CONTROL = {"iso14243-1": "force", "iso14243-3": "displacement"}
# Columns of the curves, the same for all; templates are in config/standards.
COLUMNS = {
    "displacement": {
        "flexion": "flexion_deg",
        "anterior_posterior": "ap_displacement_mm",
        "rotation": "tibial_rotation_deg",
    },
    "force": {
        "flexion": "flexion_deg",
        "anterior_posterior_force_n": "ap_force_n",
        "rotation_torque_n_m": "tibial_torque_n_m",
    },
}
AXIAL = "axial_force_n"
_SPRINGS = {"anterior_posterior_springs", "medial_lateral_springs", "rotation_springs"}


class StandardActivity(Settings):
    """One cycle of a test standard, whose curves the user supplies."""

    source: Standard = Field(
        description="The standard; two curves of it are controlled by displacement or by force."
    )
    curves: FileName = Field(
        description="File of the curves with the columns of the template in config/standards; path "
        "in the data folder."
    )
    control: Literal["displacement", "force"] | None = Field(
        None, description="Displacement or force control, for astm-f3141 only."
    )
    positive_anterior_posterior: Literal["tibia_anterior", "tibia_posterior"] = Field(
        description="Direction of the tibia, or of the force on it, where the curve is positive."
    )
    positive_rotation: Literal["tibia_internal", "tibia_external"] = Field(
        description="Rotation of the tibia, or torque on it, where the curve is positive."
    )
    duration_s: Positive = quantity("Duration of one cycle.", DURATION)
    body_mass_kg: Positive = quantity(
        "Body mass that the forces belong to; cases of other mass scale them.", BODY_MASS
    )
    load_line_mm: Finite = quantity(
        "Medial-lateral position of the axial load in the insert's frame, medial positive.", MEDIAL
    )
    medial_lateral: Literal["held", "free"] = Field(description="Held at zero, or free.")
    reference_posterior_mm: Finite = quantity(
        "Position of the femoral origin posterior of that of the insert at rest.", POSTERIOR
    )
    anterior_posterior_springs: tuple[LinearSpring, ...] = Field(
        (), description="Springs along the anterior-posterior position, for force control."
    )
    medial_lateral_springs: tuple[LinearSpring, ...] = Field(
        (), description="Springs along the medial-lateral position."
    )
    rotation_springs: tuple[TurningSpring, ...] = Field(
        (), description="Springs about the axis of rotation, for force control."
    )

    @model_validator(mode="after")
    def check_control(self) -> StandardActivity:
        """Require the control of the standard."""
        own = _CONTROL.get(self.source)
        if (own is None) == (self.control is None):
            raise fault(
                f"source: {self.source} with control: {self.control or 'null'}",
                f"control {own}, which is that of the standard: leave it out"
                if own
                else "control: displacement or force, as the curves are",
                "Remove or add control.",
            )
        springs = self.anterior_posterior_springs or self.rotation_springs
        if self.way == "displacement" and springs:
            raise fault(
                "springs along coordinates whose displacement is prescribed",
                "anterior_posterior_springs and rotation_springs with force control only",
                "Remove them.",
            )
        return self

    @property
    def way(self) -> str:
        """Controlled quantity: displacement or force."""
        return self.control or _CONTROL[self.source]

    def as_file_activity(self) -> dict[str, Any]:
        """The same activity as settings of one that is read from a file."""
        driven = "force" if self.way == "force" else "prescribed"
        forward = self.positive_anterior_posterior == "tibia_anterior"
        inward = self.positive_rotation == "tibia_internal"
        return {
            "source": "file",
            "standard": self.source,
            "motion": {
                "file": self.curves,
                "convention": "iso14243-3:2014",
                "signs": {
                    "flexion": 1,
                    "varus": 1,
                    "tibial_external_rotation": -1 if inward else 1,
                    # The femur moves backwards on a tibia that moves forwards.
                    "femur_anterior": -1 if forward else 1,
                    "femur_superior": 1,
                    "femur_lateral": 1,
                },
                "reference_posterior_mm": self.reference_posterior_mm,
                "columns": {"percent": "percent", **COLUMNS[self.way]},
            },
            "load": {
                "file": self.curves,
                "kind": "axial_force_n",
                "columns": {"percent": "percent", "load": AXIAL},
                "body_mass_kg": self.body_mass_kg,
            },
            "duration_s": self.duration_s,
            "closing_percent": 0.0,
            "control": {
                "anterior_posterior": driven,
                "rotation": driven,
                "varus": "free",
                "medial_lateral": self.medial_lateral,
                "load_line_mm": self.load_line_mm,
                **self.model_dump(include=_SPRINGS),
            },
        }


def expand_standard(block: Any) -> Any:
    """Expand a standard activity into the equivalent file activity."""
    known = Standard.__args__  # type: ignore[attr-defined]
    if isinstance(block, Mapping) and block.get("source") in known:
        return StandardActivity.model_validate(dict(block)).as_file_activity()
    return block
