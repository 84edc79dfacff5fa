"""A small static study, solved, with made-up studies of its elements."""

from __future__ import annotations

from typing import Any

import pandas as pd

from kneewear.geometry.implant_sources import build_implant
from kneewear.regression.materials import compare_materials
from kneewear.studies.static.record import tabulate_static
from tests.simulation.chapter3 import small_study, solved

STUDY = small_study(("linear", "nonlinear"), flexion_deg=[0, 90], load_n=[750, 3000])
# As in the tables on disk: two sides at each position.
CONVERGENCE = pd.DataFrame(
    [
        {"wanted": n, "offset": offset, "side": side, "active_elements": n,
         "max_pressure_mpa": 20.0 * (1.0 + error * (-1) ** offset),
         "avg_pressure_mpa": 10.0 * (1.0 + 2.0 * error)}
        for n, error in ((25, 0.04), (50, 0.02), (400, 0.0))
        for offset in range(4)
        for side in ("medial", "lateral")
    ]
)  # fmt: skip
SENSITIVITY = pd.DataFrame(
    [
        {"rows": rows, "columns": columns, "force_n": 1500.0, "torque_n_mm": 3e4,
         "active_elements": 9, "max_pressure_mpa": 20.0 + 10.0 / rows,
         "avg_pressure_mpa": 10.0 + 10.0 / columns}
        for rows in (20, 40, 100)
        for columns in (20, 40, 100)
    ]
)  # fmt: skip


def solve_small_study() -> tuple[Any, Any, dict[str, pd.DataFrame]]:
    """Record, implant and tables of the study."""
    record, implant = solved(STUDY), build_implant(STUDY.implant)[0]
    static = tabulate_static(record)
    tables = {
        "static": static,
        "material_comparison": compare_materials(static, published=True),
        "fit_quality": pd.DataFrame({"side": ["medial"], "max_mm": [0.0]}),
        "element_convergence": CONVERGENCE,
        "grid_sensitivity": SENSITIVITY,
    }
    return record, implant, tables
