"""Sums of depths an element over samples (`samples/{batch}.nc`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kneewear.io import netcdf
from kneewear.io.netcdf import Variable
from kneewear.studies.uncertainty.element_sums import ElementSums, join_sums

_MAP = ("side", "row", "column")
_ONE_MAP = (2, 1000, 1000)
_QUANTITIES = {"wear": "worn away", "creep": "crept", "damage": "worn away and crept"}
LAYOUT = netcdf.Layout(
    "element sums",
    (
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("samples", (), "1", "number of samples summed"),
        *(
            Variable(name, _MAP, "pm", f"sum of depths {words}", chunks=_ONE_MAP)
            for name, words in _QUANTITIES.items()
        ),
        *(
            Variable(
                f"{name}_squares", _MAP, "nm2", f"sum of squared depths {words}", chunks=_ONE_MAP
            )
            for name, words in _QUANTITIES.items()
        ),
    ),
)
_ARRAYS = ("samples", *_QUANTITIES, *(f"{name}_squares" for name in _QUANTITIES))


def save_sums(sums: ElementSums, path: str | Path) -> None:
    """Write sums of some samples.

    Parameters
    ----------
    sums : ElementSums
        Sums.
    path : str or Path
        File to write.
    """
    values = {name: getattr(sums, name) for name in _ARRAYS}
    netcdf.save(LAYOUT, values | {"side": np.array(sums.sides)}, path, {})


@netcdf.tells_damage("element sums")
def load_sums(path: str | Path | Sequence[str | Path]) -> ElementSums:
    """Read sums of samples.

    Parameters
    ----------
    path : str, Path or sequence of them
        Files written by `save_sums`; several are added up.

    Returns
    -------
    ElementSums

    Raises
    ------
    InputDataError
        When a file is missing, damaged or of another kind.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    return join_sums([_load_one(one) for one in paths])


def _load_one(path: str | Path) -> ElementSums:
    values, _ = netcdf.load(LAYOUT, path)
    sides = tuple(str(side) for side in values["side"])
    arrays = {name: values[name].astype(np.int64) for name in _ARRAYS}
    return ElementSums(sides, **arrays)
