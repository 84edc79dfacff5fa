"""Materials of point contacts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from kneewear.base.faults import fault
from kneewear.base.ranges import Range
from kneewear.base.types import Positive, Settings, quantity
from kneewear.knees.settings.composed_knee import ElasticSettings

PoissonRatio = Annotated[float, Field(ge=0.0, lt=0.5)]


Samples = Annotated[int, Field(ge=4)]
Blocks = tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]]
SAMPLES = Range("1", 4, 9, 999, 2000, "9 to 999 (Machado, section 6.5.1)")
BLOCKS = Range("1", 1, 3, 50, 500, "3 to 37 (Machado, Table 6.3)")
BLOCK = Range("1", 4, 4, 50, 2000, "9 (Machado, section 6.5.1)")


def require_middle(where: str, sizes: Blocks, whole: int) -> None:
    """Refuse a window without a middle block that is smaller than the table."""
    if any(size < whole and (size < 3 or size % 2 == 0) for size in sizes):
        raise fault(
            f"{where}: {list(sizes)} of {whole} blocks",
            "odd numbers, 3 or more, or all blocks",
            "The block of the contact is in the middle: correct the numbers.",
        )


class PointContactSettings(Settings):
    """Materials of both surfaces of a point contact, of a first layer over them, and their loss."""

    femur: ElasticSettings = Field(description="Material of the femoral surface.")
    tibia: ElasticSettings = Field(description="Material of the tibial surface.")
    restitution: Annotated[float, Field(gt=0.0, le=1.0)] = quantity(
        "Coefficient of restitution that the contact law is given.",
        Range("1", 0, 0.1, 1, 1, "0.62 of cartilage, 0.79 of a replacement (Machado, Table 5.5)"),
    )
    layer: ElasticSettings | None = Field(
        None, description="Material of a first layer between both surfaces; null without."
    )
    layer_thickness_mm: Positive | None = quantity(
        "Indentation beyond which the surfaces under the layer are loaded too.",
        Range("mm", 0.005, 0.05, 5, 20, "A tenth of a cartilage of 4 mm (Machado, section 5.5)"),
        None,
    )

    @model_validator(mode="after")
    def _layer_has_a_thickness(self) -> PointContactSettings:
        if (self.layer is None) != (self.layer_thickness_mm is None):
            raise fault(
                f"layer: {self.layer} and layer_thickness_mm: {self.layer_thickness_mm}",
                "both or neither",
                "Give both, or leave both out.",
            )
        return self
