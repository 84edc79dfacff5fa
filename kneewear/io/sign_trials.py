"""Trials of reversed signs (`simulation/{activity}/signs.csv`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import pandas as pd

from kneewear.io.csv_tables import load_table, save_table
from kneewear.simulation.signs import SignTrial

# Names of the columns where they carry a unit.
_UNITS = {
    "driver_force": "driver_force_of_load",
    "driver_moment": "driver_moment_of_load_mm",
    "effort": "effort_of_load",
    "anterior": "anterior_mm",
    "posterior": "posterior_mm",
}
_COLUMNS = [_UNITS.get(field.name, field.name) for field in fields(SignTrial)]


def save_trials(trials: Sequence[SignTrial], path: str | Path) -> None:
    """Write trials.

    Parameters
    ----------
    trials : sequence of SignTrial
        As given first.
    path : str or Path
        CSV file to write.
    """
    save_table(pd.DataFrame([asdict(trial) for trial in trials]).rename(columns=_UNITS), path)


def load_trials(path: str | Path) -> tuple[SignTrial, ...]:
    """Read trials.

    Parameters
    ----------
    path : str or Path
        File written by `save_trials`.

    Returns
    -------
    tuple of SignTrial
        As given first.

    Raises
    ------
    InputDataError
        When the file cannot be read or lacks a column.
    """
    table = load_table(path, _COLUMNS).rename(columns={new: old for old, new in _UNITS.items()})
    return tuple(SignTrial(**row) for row in table.to_dict("records"))
