"""Score of a program on a test set: `python -m benchmarks.retrieval.score FOLDER RESULTS.csv`.

Results have the columns phantom, side, volume_mm3 and sd_mm3. Volumes of both plateaus are scored:
errors, the fraction within the tolerance of the family (5 % or 3 mm3 with an unworn scan, 15 % or
15 mm3 with CAD or no reference), coverage of intervals of 90 %, and the slope of found over true
volumes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

# Fraction of the volume, and volume, mm3, by reference.
TOLERANCES = {
    "own": (0.05, 3.0),
    "other": (0.05, 3.0),
    "cad": (0.15, 15.0),
    "none": (0.15, 15.0),
}
_NINETY = 1.645


def score(truth: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Score of each family.

    Parameters
    ----------
    truth, results : DataFrame
        Volumes by phantom and side.

    Returns
    -------
    DataFrame
        Columns family, phantoms, evaluated, mean_error_mm3, rms_error_mm3, within_tolerance,
        coverage_90, slope.
    """
    both = truth[truth["side"] == "both"].merge(
        results, on=["phantom", "side"], how="left", suffixes=("_true", "")
    )
    rows = []
    for family, own in both.groupby("family", sort=False):
        relative, absolute = TOLERANCES[own["reference"].iloc[0]]
        result = own.dropna(subset=["volume_mm3"])
        error = (result["volume_mm3"] - result["volume_mm3_true"]).to_numpy()
        true = result["volume_mm3_true"].to_numpy()
        inside = np.abs(error) <= np.maximum(relative * true, absolute)
        covered = np.abs(error) <= _NINETY * result["sd_mm3"].to_numpy()
        square = float(true @ true)
        rows.append(
            {
                "family": family,
                "phantoms": len(own),
                "evaluated": len(result),
                "mean_error_mm3": error.mean() if len(result) else np.nan,
                "rms_error_mm3": np.sqrt((error**2).mean()) if len(result) else np.nan,
                "mean_sd_mm3": result["sd_mm3"].mean(),
                "within_tolerance": inside.sum() / len(own),
                "coverage_90": covered.sum() / len(own),
                "slope": result["volume_mm3"] @ true / square if square else np.nan,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    chosen = parser.parse_args()
    table = score(pd.read_csv(chosen.folder / "truth.csv"), pd.read_csv(chosen.results))
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
