"""Result tables as CSV (`tables/*.csv`, `geometry/fit_quality.csv`)."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pandas as pd

from kneewear.errors import DamagedFileError
from kneewear.io.atomic import atomic_path
from kneewear.io.digests import read_checked


def save_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table.

    Numbers are written in the shortest form that reads back to the same bits, so equal tables are
    equal files; the index is not written.
    """
    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n", encoding="utf-8")


def load_table(path: str | Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a table.

    Parameters
    ----------
    path : str or Path
        CSV file; lines that start with # are comments.
    columns : sequence of str
        Required columns.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    InputDataError
        When there is no such file.
    DamagedFileError
        When its digest is not that of what was written, or it is no table, or a column is missing.
    """
    try:
        table = pd.read_csv(BytesIO(read_checked(path, "a CSV table")), comment="#")
    except ValueError as error:  # pandas' parser errors and wrong encodings are ValueErrors
        raise DamagedFileError(path, str(error), "a CSV table") from error
    missing = [column for column in columns if column not in table.columns]
    if missing:
        found = f"columns {', '.join(map(str, table.columns))}"
        raise DamagedFileError(path, found, f"column {', '.join(missing)}", "header")
    return table
