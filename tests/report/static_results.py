"""A small study of static contact, solved, with made-up studies of its elements."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import xarray as xr

from kneewear.analysis.tables import analyse_results
from kneewear.geometry.implant import Implant
from kneewear.geometry.implant_sources import build_implant
from kneewear.models.press.tables import case_conditions
from tests.models.press.chapter3 import small_study
from tests.models.press.conftest import compute

STUDY = small_study(
    materials=("linear", "nonlinear"),
    flexion_deg=(0.0, 90.0),
    load_n=(750.0, 3000.0),
    analyses={"contact": {}, "materials": {"between": "material"}},
)
# As in the tables on disk: two sides at each position.
CONVERGENCE = pd.DataFrame(
    [
        {
            "wanted": n,
            "offset": offset,
            "side": side,
            "active_elements": n,
            "max_pressure_mpa": 20.0 * (1.0 + error * (-1) ** offset),
            "avg_pressure_mpa": 10.0 * (1.0 + 2.0 * error),
        }
        for n, error in ((25, 0.04), (50, 0.02), (400, 0.0))
        for offset in range(4)
        for side in ("medial", "lateral")
    ]
)
SENSITIVITY = pd.DataFrame(
    [
        {
            "rows": rows,
            "columns": columns,
            "force_n": 1500.0,
            "torque_n_mm": 3e4,
            "active_elements": 9,
            "max_pressure_mpa": 20.0 + 10.0 / rows,
            "avg_pressure_mpa": 10.0 + 10.0 / columns,
        }
        for rows in (20, 40, 100)
        for columns in (20, 40, 100)
    ]
)


class StaticResults(NamedTuple):
    """Dataset, conditions of its cases, implant and tables of the study."""

    contact: xr.Dataset
    cases: pd.DataFrame
    implant: Implant
    tables: dict[str, pd.DataFrame]


def solve_small_study() -> StaticResults:
    """Results of the study."""
    results, data = compute(STUDY)
    tables = analyse_results(STUDY, results) | {
        "results": results,
        "fit_quality": pd.DataFrame({"side": ["medial"], "max_mm": [0.0]}),
        "element_convergence": CONVERGENCE,
        "grid_sensitivity": SENSITIVITY,
    }
    cases = case_conditions(results, STUDY)
    return StaticResults(data, cases, build_implant(STUDY.implant)[0], tables)
