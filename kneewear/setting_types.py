"""What blocks of settings are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from kneewear.setting_faults import fault

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Settings(BaseModel):
    """Base of every block of settings: unknown keys are refused and values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def ascending(pair: tuple[float, float]) -> tuple[float, float]:
    """Refuse a pair whose first value is not the lower one."""
    if pair[0] >= pair[1]:
        raise fault(f"[{pair[0]:g}, {pair[1]:g}]", "[lower, upper]", "Put the lower value first.")
    return pair
