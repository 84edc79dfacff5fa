"""Mean wear factor of every laboratory and class of polyethylene, from measured wear."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.analysis.literature import published_rows
from kneewear.wear.interval import FILE, ONE_FACTOR

# Laws between which the tests do not decide: one factor for all motions, and the law that tests of
# moving contacts do not refute.
LAWS = (ONE_FACTOR, "cross_shear_saturation")
# Motions of the rows that enter: straight paths wear some twenty times less.
MOTION = "multidirectional"

_HEAD = """\
# Wear factor of each laboratory and class of polyethylene in serum, multidirectional motion:
# geometric mean of measured wear over the integral of pressure times sliding of the test. Made by
#     python -m kneewear.evidence.synthesis.factors TABLE
# with tables/measured_wear.csv of the study config/evidence/measured_wear.yaml; not edited by hand.
"""


def factors_by_laboratory(measured: pd.DataFrame, wear_factor: float) -> pd.DataFrame:
    """Factors of laboratories from the table `measured_wear` of a study.

    Parameters
    ----------
    measured : DataFrame
        Table of `analyse_measured`.
    wear_factor : float
        Wear factor of the study, mm3/(N m).

    Returns
    -------
    DataFrame
        Columns law, material_class, laboratory, factor_mm3_per_n_m, log_squares (sum of the squared
        deviations of logarithms within the laboratory) and measurements. Ratios have no factor of
        their own, and marks no wear; both are left out.
    """
    known = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    known = known.set_index("measurement")
    parts = [_of_law(measured, law, known, wear_factor) for law in LAWS]
    return pd.concat(parts, ignore_index=True)


def _of_law(
    measured: pd.DataFrame, law: str, known: pd.DataFrame, wear_factor: float
) -> pd.DataFrame:
    """Factors of laboratories by a law."""
    own = measured[(measured["law"] == law) & measured["verdict"].fillna("").ne("")]
    own = own.set_index("measurement")
    rows = known.loc[own.index]
    rows = rows[rows["over"] == ""]
    absolute = own.loc[rows.index]
    # One factor is without the measured ratio of random over circular motion.
    over = "constant_factor_over_measured" if law == ONE_FACTOR else "predicted_over_measured"
    rows_of_tests = pd.DataFrame(
        {
            "material_class": rows["material_class"],
            "laboratory": rows["laboratory"],
            "motion": rows["motion"],
            "factor": wear_factor / absolute[over].to_numpy(),
        }
    )
    rows_of_tests = rows_of_tests[rows_of_tests["motion"] == MOTION]
    groups = rows_of_tests.groupby(["material_class", "laboratory"], sort=True)["factor"]
    table = groups.agg(lambda values: float(np.exp(np.log(values).mean()))).reset_index()
    squares = groups.agg(
        lambda values: float(np.sum((np.log(values) - np.log(values).mean()) ** 2))
    )
    table.insert(0, "law", law)
    return table.rename(columns={"factor": "factor_mm3_per_n_m"}).assign(
        log_squares=squares.to_numpy(), measurements=groups.size().to_numpy()
    )


def write_factors(table: Path, wear_factor: float, target: Path) -> None:
    """Write the factors from the table of a study into a file."""
    factors = factors_by_laboratory(pd.read_csv(table), wear_factor)
    text = factors.to_csv(index=False, float_format="%.5g", lineterminator="\n")
    target.write_text(_HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    # Of config/evidence/measured_wear.yaml.
    write_factors(Path(sys.argv[1]), 1.63e-6, Path(str(files("kneewear.wear").joinpath(FILE))))
