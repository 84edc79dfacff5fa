"""Tidy case tables with a known plane, and the published values as a case table."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.analysis.groups import QUANTITIES
from kneewear.evidence.published.values import published_values

THICKNESSES = (6.0, 8.0, 10.0, 12.0, 14.0)
MASSES = (50.0, 75.0, 100.0, 125.0, 150.0)
UNITS = dict(zip(QUANTITIES, ("MPa", "MPa", "mm", "mm", "mm", "mm2", "mm3"), strict=True))


def plane_cases(thicknesses=THICKNESSES, masses=MASSES, lives=("gait",)):
    """Cases on the plane 100 - 2 h + 0.5 M (medial) and ten times that (lateral)."""
    rows = [
        (f"{h}_{m}", life, h, m, side, quantity, scale * (100.0 - 2.0 * h + 0.5 * m), unit)
        for life in lives
        for h in thicknesses
        for m in masses
        for side, scale in (("medial", 1.0), ("lateral", 10.0))
        for quantity, unit in UNITS.items()
    ]
    rows.append(
        (
            f"{thicknesses[0]}_{masses[0]}",
            lives[0],
            thicknesses[0],
            masses[0],
            "both",
            "max_residual",
            1e-12,
            "1",
        )
    )
    columns = ["case", "life", "thickness_mm", "body_mass_kg", "side", "quantity", "value", "unit"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def plane():
    return plane_cases


@pytest.fixture
def published():
    """The printed values in the shape of a study's case table."""
    table = published_values().rename(columns={"published": "value"})
    table["case"] = table["thickness_mm"].astype(str) + "_" + table["body_mass_kg"].astype(str)
    return table.assign(life="gait").drop(columns="table")
