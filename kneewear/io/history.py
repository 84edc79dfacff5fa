"""Contact histories of one case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kneewear.io import netcdf
from kneewear.simulation.history import ContactHistory


def load_case(paths: Sequence[str | Path], name: str) -> dict[str, ContactHistory]:
    """Read the contact histories of one case.

    Parameters
    ----------
    paths : sequence of str or Path
        Files of contact histories, one per activity.
    name : str
        Name of the case.

    Returns
    -------
    dict of activity name to ContactHistory
        Without cases where the case failed.

    Raises
    ------
    InputDataError
        When a file is missing, damaged or of another kind.
    """
    histories = netcdf.load_all(ContactHistory, paths, only={"case": name})
    return {history.activity: history for history in histories}
