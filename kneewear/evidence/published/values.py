"""Results printed in Bei (2003): Table 2-1, chapter 3, chapter 4 and appendices.

Only comparison and calibration read them, so that predictions are independent of them.
"""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

TABLES = {
    "table_a_1_max_pressure": "A-1",
    "table_a_1_avg_pressure": "A-1",
    "table_b_1_depths": "B-1",
    "table_c_1_area": "C-1",
    "table_c_1_volume": "C-1",
}
UNITS = {"mm^2": "mm2", "mm^3": "mm3"}
# Half of the last printed digit: what a value may differ by and still be the printed one.
HALF_UNITS = {
    "max_pressure": 0.05,
    "avg_pressure": 0.05,
    "wear_depth_at_deepest_damage": 0.005,
    "creep_depth_at_deepest_damage": 0.005,
    "damage_depth": 0.005,
    "damage_area": 0.5,
    "damage_volume": 0.5,
}
# Thickness, mm, and body mass, kg, of the cases the built-in constants are fitted to: 10 mm at all
# masses, 75 kg at all thicknesses. The other 16 are predicted.
CALIBRATION_CASES = tuple(
    [(10.0, mass) for mass in (50.0, 75.0, 100.0, 125.0, 150.0)]
    + [(thickness, 75.0) for thickness in (6.0, 8.0, 12.0, 14.0)]
)


def published_table(name: str, package: str = "kneewear.evidence.published") -> pd.DataFrame:
    """One printed table by the name of its CSV file, whose first line states source and columns.

    In "table_4_1_regression" the printed a2 of the depths has one significant digit: predictions
    need the coefficients re-fitted on the printed values, `refit_a0` and so on.
    """
    source = files(package).joinpath(f"{name}.csv")
    with source.open("r", encoding="utf-8") as file:
        return pd.read_csv(file, comment="#").replace({"unit": UNITS})


def published_values() -> pd.DataFrame:
    """The 350 printed values of Tables A-1, B-1 and C-1.

    Columns table, side, thickness_mm, body_mass_kg, quantity, unit and published.
    """
    parts = [published_table(name).assign(table=table) for name, table in TABLES.items()]
    values = pd.concat(parts, ignore_index=True)
    values = values.rename(columns={"mass_kg": "body_mass_kg", "value": "published"})
    settings = ["thickness_mm", "body_mass_kg"]
    values[settings] = values[settings].astype(float)
    return values[["table", "side", *settings, "quantity", "unit", "published"]]
