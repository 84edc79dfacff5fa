"""A computed quantity compared with its expected value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """One quantity of one test case against its theoretical value."""

    subject: str  # the contact or method
    quantity: str
    unit: str
    expected: float
    errors: Array  # of all evaluations, relative to the expected value
    source: str  # of the expected value
    target_percent: float = math.nan  # largest acceptable error; NaN for none

    @property
    def computed(self) -> float:
        """Value with the largest error."""
        return self.expected * (1.0 + float(self.errors[np.argmax(np.abs(self.errors))]))


def comparison_table(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """Table of comparisons, one per row; `computed` is the value with the largest error."""
    return pd.DataFrame(
        [
            {
                "contact": one.subject,
                "quantity": one.quantity,
                "unit": one.unit,
                "exact": one.expected,
                "computed": one.computed,
                **error_columns(one.errors),
                "target_percent": one.target_percent,
                "source": one.source,
            }
            for one in comparisons
        ]
    )


def error_columns(errors: Array) -> dict[str, float]:
    """Largest and root-mean-square error, per cent."""
    return {
        "worst_error_percent": 100.0 * float(np.abs(errors).max()),
        "rms_error_percent": 100.0 * float(np.sqrt(np.mean(errors**2))),
    }
