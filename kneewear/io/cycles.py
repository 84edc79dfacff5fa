"""Frame records of the simulated cycles (`wear/cycles/{batch}.nc`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kneewear.io import netcdf
from kneewear.io.history import case_labels, labelled_cases
from kneewear.io.netcdf import Variable
from kneewear.wear.cycles import FRAME_FIELDS, CycleRecord

_FRAME = ("activity", "case", "frame")
_SIDE = (*_FRAME, "side")
LAYOUT = netcdf.Layout(
    "cycle record",
    (
        Variable("activity", ("activity",), "1", "name of the activity", coordinate=True),
        Variable("case", ("case",), "1", "name of the case", coordinate=True),
        Variable("thickness", ("case",), "mm", "minimum insert thickness", coordinate=True),
        Variable("body_mass", ("case",), "kg", "body mass", coordinate=True),
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("component", ("component",), "1", "axis of the insert's frame", coordinate=True),
        Variable("percent", ("frame",), "percent", "percent of the cycle", coordinate=True),
        Variable("time", ("activity", "frame"), "s", "time"),
        Variable("load", _FRAME, "N", "load along -y"),
        Variable("load_line", _FRAME, "mm", "medial position of the load"),
        Variable("spring_force", _FRAME, "N", "medial-lateral spring force"),
        Variable("residual", _FRAME, "1", "largest equilibrium residual relative to the load"),
        Variable("translation", (*_FRAME, "component"), "mm", "position of the femoral component"),
        Variable("rotation", (*_FRAME, "component"), "rad", "body-three angles 1-2-3"),
        Variable("force", (*_SIDE, "component"), "N", "contact force on the insert"),
        Variable(
            "reaction_force", (*_FRAME, "component"), "N", "drivers' force on the femoral component"
        ),
        Variable(
            "reaction_moment",
            (*_FRAME, "component"),
            "N mm",
            "drivers' moment on the femoral component about its origin",
        ),
        Variable("max_pressure", _SIDE, "MPa", "largest element pressure"),
        Variable("avg_pressure", _SIDE, "MPa", "mean non-zero element pressure"),
        Variable("contact_area", _SIDE, "mm2", "loaded area"),
        Variable(
            "centre_of_pressure",
            (*_SIDE, "component"),
            "mm",
            "pressure-weighted mean of element centres, NaN where unloaded",
            may_be_nan=True,
        ),
        Variable(
            "peak_load_pressure",
            ("activity", "case", "side", "row", "column"),
            "MPa",
            "contact pressure at the frame of largest load",
            chunks=(1, 1, 2, 1000, 1000),
        ),
    ),
)


def save_cycles(record: CycleRecord, path: str | Path) -> None:
    """Write a cycle record.

    Parameters
    ----------
    record : CycleRecord
        Frame histories of a batch of cases.
    path : str or Path
        File to write.
    """
    values = {
        name: getattr(record, name)
        for name in ("percent", "time", *FRAME_FIELDS, "peak_load_pressure")
    }
    values |= case_labels(record.cases)
    values |= {"activity": np.array(record.activities), "side": np.array(record.sides)}
    values |= {"component": np.array(["x", "y", "z"])}
    netcdf.save(LAYOUT, values, path, {})


@netcdf.tells_damage("cycle record")
def load_cycles(path: str | Path | Sequence[str | Path]) -> CycleRecord:
    """Read a cycle record.

    Parameters
    ----------
    path : str, Path or sequence of them
        Files written by `save_cycles`; several are joined along the cases.

    Returns
    -------
    CycleRecord
        The record.

    Raises
    ------
    InputDataError
        When a file is missing, damaged or of another kind.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    values = netcdf.joined((netcdf.load(LAYOUT, one)[0] for one in paths), LAYOUT, "case")
    arrays = ("percent", "time", *FRAME_FIELDS, "peak_load_pressure")
    return CycleRecord(
        activities=tuple(str(activity) for activity in values["activity"]),
        cases=labelled_cases(values),
        sides=tuple(str(side) for side in values["side"]),
        **{name: values[name] for name in arrays},
    )
