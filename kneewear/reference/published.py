"""Results printed in Bei (2003): Table 2-1, chapter 3, chapter 4 and appendices.

Only comparison and calibration read them, so that predictions are independent of them.
"""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

SOURCE = (
    "Bei, Y. (2003), Dynamic simulation of knee joint contact during human movement, "
    "dissertation, University of Florida"
)

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
    "wear_depth": 0.005,
    "creep_depth": 0.005,
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


def published_values() -> pd.DataFrame:
    """All printed values of Tables A-1, B-1 and C-1.

    Returns
    -------
    DataFrame
        350 rows; columns table, side, thickness_mm, body_mass_kg, quantity, unit, published.
    """
    parts = [_read(name).assign(table=table) for name, table in TABLES.items()]
    values = pd.concat(parts, ignore_index=True)
    values = values.rename(columns={"mass_kg": "body_mass_kg", "value": "published"})
    values["unit"] = values["unit"].replace(UNITS)
    values[["thickness_mm", "body_mass_kg"]] = values[["thickness_mm", "body_mass_kg"]].astype(
        float
    )
    return values[
        ["table", "side", "thickness_mm", "body_mass_kg", "quantity", "unit", "published"]
    ]


def published_regression() -> pd.DataFrame:
    """Table 4-1: printed coefficients of Eq. 4-1, and a re-fit on the printed values.

    Returns
    -------
    DataFrame
        Columns side, quantity, unit, a0, a1, a2, R2 (as printed), refit_a0, refit_a1, refit_a2,
        refit_R2, refit_R2_adj, refit_rmse, refit_max_abs_resid, mm_per_10kg, refit_mm_per_10kg.

    Notes
    -----
    The printed a2 of the depths has one significant digit: predictions need the re-fit.
    """
    table = _read("table_4_1_regression")
    table["unit"] = table["unit"].replace(UNITS)
    return table


def published_material_errors() -> pd.DataFrame:
    """Table 3-1: errors of the linear and the nonlinear material against measured pressures.

    Returns
    -------
    DataFrame
        Columns quantity (max_pressure, avg_pressure), measured (peaks without or with averaging of
        neighbouring sensels), statistic (mean, SD, RMS), linear_mpa and nonlinear_mpa: model minus
        measurement over 4 flexion angles and 4 loads.
    """
    return _read("table_3_1_errors")


def published_distance_methods() -> pd.DataFrame:
    """Table 2-1: minimum distance and ray firing on one and on several patches of a condyle.

    Returns
    -------
    DataFrame
        Columns geometry, patches, lines_along and lines_across of each patch; max_mm, mean_mm and
        sd_mm, the deviation from the dense patch; ray_firing_us and minimum_distance_us for an
        unstated number of queries; ratio, the former over the latter.
    """
    return _read("table_2_1_distance_methods")


def _read(name: str) -> pd.DataFrame:
    """One committed table."""
    source = files("kneewear.reference").joinpath("published", f"{name}.csv")
    with source.open("r", encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")
