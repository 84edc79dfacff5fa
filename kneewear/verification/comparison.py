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
    """One quantity of one test case against the value theory gives.

    Parameters
    ----------
    subject : str
        What is computed, such as the contact.
    quantity, unit : str
        Quantity and its unit.
    expected : float
        Expected value.
    errors : array, shape (n,)
        Errors of all evaluations, relative to the expected value.
    source : str
        Where the expected value comes from.
    target_percent : float
        Largest error aimed at, per cent; NaN for none.
    """

    subject: str
    quantity: str
    unit: str
    expected: float
    errors: Array
    source: str
    target_percent: float = math.nan

    @property
    def worst(self) -> float:
        """Error of the largest magnitude, with its sign."""
        return float(self.errors[np.argmax(np.abs(self.errors))])

    @property
    def computed(self) -> float:
        """Value with the largest error."""
        return self.expected * (1.0 + self.worst)


def comparison_table(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """Table of comparisons, one per row.

    Parameters
    ----------
    comparisons : iterable of Comparison
        Comparisons.

    Returns
    -------
    DataFrame
        Columns `contact`, `quantity`, `unit`, `exact`, `computed` (with the largest error),
        `worst_error_percent`, `rms_error_percent`, `target_percent` and `source`.
    """
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
