"""Numbers of Machado's thesis to compare with."""

from __future__ import annotations

import math
from importlib.resources import files

import pandas as pd
from scipy.special import gamma

# N/m^1.5 in N/mm^1.5.
PER_METRE = 10.0**-4.5


def published(name):
    """One of its tables, by first column."""
    path = files("kneewear.evidence.published").joinpath("machado", f"{name}.csv")
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#", index_col=0)


def elastic_duration(indentation: float, speed: float, exponent: float = 1.5) -> float:
    """Time in contact, s, of an impact without loss, from the largest indentation D, mm.

    2 D / v0 times the integral of (1 - x^(n+1))^(-1/2) from 0 to 1; 2.943 D / v0 for n = 3/2
    (Johnson 1985, Contact Mechanics, section 11.4).
    """
    power = 1.0 / (exponent + 1.0)
    quarter = math.sqrt(math.pi) * gamma(1.0 + power) / gamma(0.5 + power)
    return float(2.0 * quarter * indentation / speed)
