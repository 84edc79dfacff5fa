"""Thicknesses and body masses at which designs are compared, also where they share no case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.cases import BODY_MASS, THICKNESS

CELL = [THICKNESS, BODY_MASS]
VALUE = ["side", "quantity", "unit"]
SIMULATED = "simulated"
REGRESSION = "regression of its cases"
NEAREST = "nearest case"

Cell = tuple[float, float]


@dataclass(frozen=True)
class Match:
    """Thickness and body mass at which a design is compared, and the case that its values are of.

    `own` is the same for a case that was simulated, the nearest simulated one, or None where values
    follow from a regression of all cases of the design.
    """

    design: str
    cell: Cell
    own: Cell | None

    @property
    def method(self) -> str:
        """`SIMULATED`, `NEAREST` or `REGRESSION`."""
        return REGRESSION if self.own is None else SIMULATED if self.own == self.cell else NEAREST


def cells_by_design(cases: pd.DataFrame) -> dict[str, list[Cell]]:
    """Thicknesses and masses of the cases of each design, in the order of the designs."""
    return {
        str(design): sorted(set(rows[CELL].itertuples(index=False, name=None)))
        for design, rows in cases.groupby("design", sort=False)
    }


def distance(one: Cell, other: Cell) -> float:
    """Distance of two cases: sum of the logarithms of the ratios of thickness and body mass."""
    return float(np.abs(np.log(np.divide(one, other))).sum())


def match_cells(cases: pd.DataFrame) -> list[Match]:
    """Thicknesses and masses at which all designs can be compared, with the case of each design.

    Parameters
    ----------
    cases : DataFrame
        Cases of all designs with a column `design`; the first design is the reference.

    Returns
    -------
    list of Match
        The cells that all designs simulate. Without any, the cells of the reference nearest to the
        cases of all others; a design whose cases enclose one is at no distance.
    """
    known = cells_by_design(cases)
    shared = sorted(set.intersection(*map(set, known.values())))
    if shared:
        return [Match(design, cell, cell) for design in known for cell in shared]
    reference, *others = known

    def match(design: str, cell: Cell) -> Match:
        if cell not in known[design] and _encloses(known[design], cell):
            return Match(design, cell, None)
        return Match(design, cell, min(known[design], key=lambda own: distance(own, cell)))

    def farthest(cell: Cell) -> float:
        matches = [match(design, cell) for design in others]
        return max(distance(near.own, cell) if near.own else 0.0 for near in matches)

    nearest = min(map(farthest, known[reference]))
    chosen = [cell for cell in known[reference] if farthest(cell) <= nearest + 1e-9]
    return [match(design, cell) for design in known for cell in chosen]


def estimates_at(cases: pd.DataFrame, matches: Sequence[Match]) -> pd.DataFrame:
    """Values of the designs at the thicknesses and masses of their matches.

    The columns are `design`, `CELL`, `VALUE` and `value`. Cases are returned as they are where all
    matches are simulated.

    Notes
    -----
    The regression is a plane in the logarithms of value, thickness and mass, which is exact for a
    power law, and a plane in the values where one of them is not positive.
    """
    columns = ["design", *CELL, *VALUE, "value"]
    if all(match.method == SIMULATED for match in matches):
        return cases[columns]
    parts = []
    for match in matches:
        rows = cases[cases["design"] == match.design]
        wide = rows.set_index([*CELL, *VALUE])["value"].unstack(VALUE)
        values = _predicted(wide, match.cell) if match.own is None else _case(wide, match.own)
        part = values.rename("value").reset_index()
        part[CELL] = match.cell
        parts.append(part.assign(design=match.design))
    return pd.concat(parts, ignore_index=True)[columns]


def tabulate_matches(matches: Sequence[Match]) -> pd.DataFrame:
    """Columns design, `CELL`, method, and the thickness and mass of the design's own case."""
    rows = [(match.design, *match.cell, match.method, *(match.own or (np.nan,) * 2))
            for match in matches]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["design", *CELL, "method", *(f"own_{name}" for name in CELL)]
    )


def _terms(cells: Sequence[Cell]) -> NDArray[np.float64]:
    """Constant, and logarithms of thickness and mass."""
    return np.column_stack([np.ones(len(cells)), np.log(np.asarray(cells, dtype=float))])


def _encloses(cells: Sequence[Cell], cell: Cell) -> bool:
    """True if a case is within the ranges of others, which separate thickness from mass."""
    points = np.asarray(cells, dtype=float)
    varies = np.ptp(points, axis=0) > 0.0
    within = (points.min(axis=0) <= cell) & (points.max(axis=0) >= cell)
    rank = np.linalg.matrix_rank(_terms(cells)[:, [True, *varies]])
    return bool(varies.any() and within.all() and rank == 1 + varies.sum())


def _case(values: pd.DataFrame, cell: Cell) -> pd.Series[Any]:
    """Values (a column each) of the case of a thickness and mass."""
    return values.iloc[list(values.index).index(cell)]


def _predicted(values: pd.DataFrame, cell: Cell) -> pd.Series[Any]:
    """Values (a column each) at a thickness and mass, from the cases in the index."""
    terms, at = _terms(list(values.index)), _terms([cell])
    logarithmic = (values > 0.0).all().to_numpy()
    numbers = values.to_numpy(dtype=float)
    modelled = np.where(logarithmic, np.log(np.where(numbers > 0.0, numbers, 1.0)), numbers)
    # Of thickness or mass that is the same in all cases the coefficient is zero.
    coefficients = np.linalg.pinv(terms - [0.0, *terms[0, 1:]]) @ modelled
    predicted = ((at - [0.0, *terms[0, 1:]]) @ coefficients)[0]
    return pd.Series(np.where(logarithmic, np.exp(predicted), predicted), index=values.columns)
