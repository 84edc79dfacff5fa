"""Numbers of Machado's thesis to compare with."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

# N/m^1.5 in N/mm^1.5.
PER_METRE = 10.0**-4.5


def published(name):
    """One of its tables, by first column."""
    path = files("kneewear.reference").joinpath("published", "machado", f"{name}.csv")
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#", index_col=0)
