"""Distance tables of the condyles (`geometry/distance_table.nc`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.geometry._distance_kernels import DistanceArrays
from kneewear.geometry.distance_table import DistanceTable, TableQuality
from kneewear.io import netcdf
from kneewear.io.netcdf import Layout, Variable
from kneewear.sides import SIDES

_COORDINATES = "angle about the axis (0 distal, posterior positive), z, distance from the axis"


def _variables(side: str) -> tuple[Variable, ...]:
    """Variables of one side; each side has columns and nodes of its own."""
    columns, nodes = (f"angle_{side}", f"z_{side}"), (f"node_{side}",)
    said = f", {side} side"
    return (
        Variable(f"axis_{side}", ("plane",), "mm", "x and y of the medial-lateral axis" + said),
        Variable(
            f"origin_{side}", ("coordinate",), "rad, mm, mm", "node 0: " + _COORDINATES + said
        ),
        Variable(
            f"rate_{side}", ("coordinate",), "1/rad, 1/mm, 1/mm", "nodes per " + _COORDINATES + said
        ),
        Variable(f"first_{side}", columns, "1", "first radial node of each column" + said),
        Variable(f"length_{side}", columns, "1", "radial nodes of each column" + said),
        Variable(f"base_{side}", columns, "1", "place of each column's radial node 0" + said),
        Variable(
            f"coefficient_{side}", nodes, "mm", "cubic B-spline coefficient of the distance" + said
        ),
        Variable(
            f"state_{side}",
            nodes,
            "1",
            "cell above: 0 ask the surface, 1 tabulated, 2 apart" + said,
        ),
    )


LAYOUT = Layout("distance table", tuple(v for side in SIDES for v in _variables(side)))
_QUALITY = tuple(field.name for field in fields(TableQuality))


def save_distance_tables(tables: Mapping[str, DistanceTable], path: str | Path) -> None:
    """Write the distance tables of both sides.

    Parameters
    ----------
    tables : mapping of side to DistanceTable
        Tables; error, memory and reach of each become attributes of the file.
    path : str or Path
        File to write.
    """
    values, attributes = {}, {}
    for side in SIDES:
        table = tables[side]
        for name, array in table.arrays._asdict().items():
            values[f"{name}_{side}"] = array
        reach = {"depth_mm": table.depth, "outside_mm": table.outside}
        for name, number in {**asdict(table.quality), **reach}.items():
            attributes[f"{name}_{side}"] = float(number)
    netcdf.save(LAYOUT, values, path, attributes)


def quality_table(tables: Mapping[str, DistanceTable]) -> pd.DataFrame:
    """Error and memory of every table, a row a side (`geometry/distance_table.csv`)."""
    return pd.DataFrame([{"side": side, **asdict(t.quality)} for side, t in tables.items()])


@netcdf.tells_damage("distance table")
def load_distance_tables(path: str | Path) -> dict[str, DistanceTable]:
    """Read the distance tables of both sides.

    Parameters
    ----------
    path : str or Path
        File written by `save_distance_tables`.

    Returns
    -------
    dict of side to DistanceTable
        The tables.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, attributes = netcdf.load(LAYOUT, path)
    tables = {}
    for side in SIDES:
        arrays = {name: values[f"{name}_{side}"] for name in DistanceArrays._fields}
        tables[side] = DistanceTable(
            arrays=DistanceArrays(**{n: np.ascontiguousarray(a) for n, a in arrays.items()}),
            depth=float(attributes[f"depth_mm_{side}"]),
            outside=float(attributes[f"outside_mm_{side}"]),
            quality=TableQuality(**{n: float(attributes[f"{n}_{side}"]) for n in _QUALITY}),
        )
    return tables
