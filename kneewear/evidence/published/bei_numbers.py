"""Axes of the figures and statements of the text of Bei (2003), by finished studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.analysis.literature import computed_rows, judge_number, published_rows
from kneewear.base.schemas import CONTACT
from kneewear.base.sides import SIDES
from kneewear.contact.foundation import MATERIALS, confined_modulus
from kneewear.io.documents import load_table
from kneewear.study import netcdf

NAME = "bei_numbers"
# Stress up to which moduli are shown (Fig. 3-1B), MPa.
HIGHEST_STRESS = 50.0
# Linear material of chapter 3: Young's modulus, MPa, and Poisson's ratio.
MODULUS = 400.0
POISSON_RATIO = 0.46
NONLINEAR = "polyethylene_tuned"
# Thickness below which pressures rise rapidly, and above which they are less sensitive, mm.
THIN = 4.0
THICK = 8.0

Values = Mapping[str, float]


def compare_numbers(results: Path) -> pd.DataFrame:
    """Printed axes and statements beside the numbers of the studies in a folder of results.

    Table of `judge_number` with the study of each number; a range has the cases "smallest" and
    "largest". Numbers of studies that are not finished are left out.
    """
    rows = published_rows(__package__, NAME)
    values: dict[str, float | Values] = {}
    for _, row in rows.iterrows():
        folder = results / str(row["study"])
        if (folder / "report" / "summary.json").is_file():
            compute = OWN.get(str(row["quantity"]))
            values[str(row["quantity"])] = compute(folder) if compute else _extremes(folder, row)
    if not values:
        return pd.DataFrame()
    judged = judge_number(rows, computed_rows(values))
    return judged.merge(rows[["quantity", "study"]], on="quantity")


def _extremes(folder: Path, row: pd.Series) -> Values:
    """Smallest and largest value of a column of a table."""
    table = load_table(folder / "tables" / f"{row['table']}.csv")
    for condition in str(row["rows"]).split():
        column, _, values = condition.partition("=")
        table = table[table[column].astype(str).isin(values.split("|"))]
    return extremes(table[str(row["column"])].to_numpy(dtype=float) * float(row["factor"]))


def extremes(values: np.ndarray) -> Values:
    """Smallest and largest value."""
    return {"smallest": float(np.min(values)), "largest": float(np.max(values))}


def _loads(name: str, factor: float) -> Callable[[Path], Values]:
    """Components of force or torque on the insert through a cycle of gait."""

    def read(folder: Path) -> Values:
        history = netcdf.load(CONTACT, folder / "simulation" / "gait" / "b000.nc", leave_out=_MAPS)
        return extremes(factor * history[name].sum("side").to_numpy())

    return read


_MAPS = ("pressure", "slip")


def _moduli(folder: Path) -> Values:
    """Tangent moduli of the published materials."""
    stress = np.linspace(0.0, HIGHEST_STRESS, 101)
    return extremes(
        np.concatenate([material.tangent_modulus(stress) for material in MATERIALS.values()])
    )


def _spread_over_force(column: str) -> Callable[[Path], float]:
    """Standard deviation over mean of a pressure over grids, over the same of the force."""

    def compare(folder: Path) -> float:
        table = load_table(folder / "tables" / "grid_sensitivity.csv")
        relative = table.std() / table.mean()
        return float(relative[column] / relative["force_n"])

    return compare


def _convergence(elements: int) -> Callable[[Path], Values]:
    """Largest errors of both pressures with some active elements, % of the means with the most."""

    def compare(folder: Path) -> Values:
        table = load_table(folder / "tables" / "element_convergence.csv")
        own, finest = (
            table[table["wanted"] == wanted] for wanted in (elements, table["wanted"].max())
        )
        return {
            name: 100.0 * float((own[column] / finest[column].mean() - 1.0).abs().max())
            for name, column in (("maximum", "max_pressure_mpa"), ("average", "avg_pressure_mpa"))
        }

    return compare


def _offset(folder: Path) -> Values:
    """Distance by which the medial centre of pressure is anterior of the lateral one, mm."""
    contact = load_table(folder / "tables" / "contact.csv")
    centres = contact[contact["quantity"] == "centre_posterior"]
    sides = centres.pivot(index="case", columns="side", values="value")
    medial, lateral = (sides[str(side)] for side in SIDES)
    return extremes((lateral - medial).to_numpy())


def _strains(folder: Path) -> Values:
    """Largest strains of chapter 3, %: deflection over thickness, and of the material's curve."""
    contact = load_table(folder / "tables" / "contact.csv")
    peaks = contact[contact["quantity"] == "max_pressure"].groupby("material")["value"].max()
    curve = float(MATERIALS[NONLINEAR].strain(peaks["nonlinear"]))
    return {
        "linear, deflection over thickness": 100.0
        * float(peaks["linear"])
        / confined_modulus(MODULUS, POISSON_RATIO),
        "nonlinear, Eq. 3-2 at the largest pressure": 100.0 * curve,
    }


def _rise(folder: Path) -> Values:
    """Mean loss of pressure per mm of thickness up to `THIN`, over that from `THICK`."""
    contact = load_table(folder / "tables" / "contact.csv")
    ratios = {}
    for side in SIDES:
        rows = contact[(contact["quantity"] == "max_pressure") & (contact["side"] == str(side))]
        rows = rows.sort_values("thickness_mm")
        slopes = [
            -np.polyfit(part["thickness_mm"], part["value"], 1)[0]
            for part in (rows[rows["thickness_mm"] <= THIN], rows[rows["thickness_mm"] >= THICK])
        ]
        ratios[str(side)] = float(slopes[0] / slopes[1])
    return ratios


# What is no column of a table, by its quantity.
OWN: dict[str, Callable[[Path], float | Values]] = {
    "contact force during gait": _loads("force", 1.0),
    "contact torque during gait": _loads("torque", 1e-3),
    "tangent modulus up to 50 MPa": _moduli,
    "error of pressures with 25 active elements": _convergence(25),
    "error of pressures with 50 active elements": _convergence(50),
    "spread of maximum pressure over spread of force, by grid": _spread_over_force(
        "max_pressure_mpa"
    ),
    "spread of average pressure over spread of force, by grid": _spread_over_force(
        "avg_pressure_mpa"
    ),
    "medial contact of the natural knee anterior of the lateral one by": _offset,
    "largest strain": _strains,
    "loss of pressure for each mm below 4 mm over that from 8 mm": _rise,
}
