"""Wear over the cycles, beside wear measured in a simulator."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from kneewear.base.sides import SIDES
from kneewear.geometry.element_grid import ElementGrid
from kneewear.wear.laws import cycles_of_life
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import damage_volume

POINTS = 11


def tabulate_wear_over_cycles(
    cases: pd.DataFrame,
    wear: WearSettings,
    tests: Mapping[str, pd.DataFrame],
    prediction_sha256: str = "",
) -> dict[str, pd.DataFrame]:
    """Tables `wear_over_cycles`, to the end of the life or of the longest test, whichever is later.

    With `tests` (of `read_simulator_test`, by name) also `simulator_tests`, with the digest of the
    prediction that was stored before them.
    """
    ends = [1e-6 * cycles_of_life(wear.cycles_per_year, wear.months)]
    ends += [float(test["million_cycles"].max()) for test in tests.values()]
    curves = wear_over_cycles(cases, wear.density_mg_per_mm3, max(ends))
    found = {"wear_over_cycles": curves}
    if tests:
        beside = beside_measured_wear(curves, tests)
        found["simulator_tests"] = beside.assign(prediction_sha256=prediction_sha256)
    return found


def predicted_rates(maps: xr.Dataset, grid: ElementGrid, wear: WearSettings) -> pd.DataFrame:
    """Wear volume of both sides of every case and life, before any measured wear is read.

    `maps` are of the schema DAMAGE. Columns case, life and `wear_mm3_per_million_cycles`.
    """
    million = 1e-6 * cycles_of_life(wear.cycles_per_year, wear.months)
    rows = [
        {
            "case": case,
            "life": life,
            "wear_mm3_per_million_cycles": sum(
                damage_volume(depth, area)
                for depth, area in zip(
                    maps["wear_depth"].values[at_life, at_case], grid.area, strict=True
                )
            )
            / million,
        }
        for at_case, case in enumerate(maps["case"].values.tolist())
        for at_life, life in enumerate(maps["life"].values.tolist())
    ]
    return pd.DataFrame(rows, columns=["case", "life", "wear_mm3_per_million_cycles"])


def wear_over_cycles(cases: pd.DataFrame, density: float, million_cycles: float) -> pd.DataFrame:
    """Material lost by both sides of every case and life over the cycles.

    Columns case, life, further settings of the case, `million_cycles` (from 0 to that given),
    `wear_mm3` and `wear_mg`; `density` is in mg/mm3. Wear grows with the cycles at the mean rate of
    the life: exactly on a surface that stays fresh, on average where the surface is updated.
    """
    rows = cases[(cases["quantity"] == "mass_loss") & cases["side"].isin(SIDES)]
    labels = [name for name in map(str, cases) if name not in ("side", "quantity", "value", "unit")]
    rate = rows.groupby(labels, sort=False, dropna=False)["value"].sum().reset_index(name="rate")
    table = rate.merge(
        pd.DataFrame({"million_cycles": np.linspace(0.0, million_cycles, POINTS)}), how="cross"
    )
    table["wear_mg"] = table.pop("rate") * table["million_cycles"]
    table["wear_mm3"] = table["wear_mg"] / density
    return table


def beside_measured_wear(curves: pd.DataFrame, tests: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Measured wear beside the range of the predicted one.

    Columns test, life, `million_cycles`, `wear_mm3` and `error_mm3` as measured, then
    `predicted_low_mm3` and `predicted_high_mm3` over the cases, and `ratio`, the middle of these
    over the measured wear.
    """
    last = curves["million_cycles"].max()
    ends = curves[curves["million_cycles"] == last].groupby("life", sort=False)["wear_mm3"]
    parts = []
    for name, test in tests.items():
        for life, (low, high) in ends.agg(["min", "max"]).iterrows():
            part = test.assign(test=name, life=life)
            for column, rate in (("low", low / last), ("high", high / last)):
                part[f"predicted_{column}_mm3"] = rate * part["million_cycles"]
            middle = part[["predicted_low_mm3", "predicted_high_mm3"]].mean(axis=1)
            part["ratio"] = middle / part["wear_mm3"].where(part["wear_mm3"] != 0.0)
            parts.append(part)
    joined = pd.concat(parts, ignore_index=True)
    labels = ["test", "life"]
    return joined[[*labels, *(name for name in joined if name not in labels)]]
