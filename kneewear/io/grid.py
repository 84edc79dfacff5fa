"""Element grid of the insert (`geometry/grid.nc`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kneewear.geometry.element_grid import ElementGrid
from kneewear.io import netcdf
from kneewear.io.netcdf import Variable

_ELEMENT = ("side", "row", "column")
_VECTOR = (*_ELEMENT, "component")
LAYOUT = netcdf.Layout(
    "element grid",
    (
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("component", ("component",), "1", "axis of the insert's frame", coordinate=True),
        Variable("centre", _VECTOR, "mm", "element centre on the insert's surface"),
        Variable("normal", _VECTOR, "1", "outward unit normal"),
        Variable("tangent_row", _VECTOR, "1", "unit tangent nearest +x"),
        Variable("tangent_column", _VECTOR, "1", "unit tangent nearest +z"),
        Variable("area", _ELEMENT, "mm2", "surface area of the element"),
        Variable("thickness", _ELEMENT, "mm", "local thickness of the nominal insert"),
        Variable("valid", _ELEMENT, "1", "1 where the insert exists"),
        Variable("covered", _ELEMENT, "1", "covered part of the element's cell"),
        Variable(
            "corners", ("side", "row_corner", "column_corner", "plan"), "mm", "x and z of corners"
        ),
    ),
)
_ARRAYS = (
    "centre",
    "normal",
    "tangent_row",
    "tangent_column",
    "area",
    "thickness",
    "valid",
    "covered",
    "corners",
)


def save_grid(grid: ElementGrid, path: str | Path) -> None:
    """Write an element grid.

    Parameters
    ----------
    grid : ElementGrid
        The grid; not-a-number where an element is not valid is written as zero.
    path : str or Path
        File to write.
    """
    values = {name: getattr(grid, name) for name in _ARRAYS}
    for name in ("centre", "normal", "tangent_row", "tangent_column"):
        values[name] = np.where(grid.valid[..., None], values[name], 0.0)
    for name in ("area", "thickness"):
        values[name] = np.where(grid.valid, values[name], 0.0)
    values |= {"side": np.array(grid.sides), "component": np.array(["x", "y", "z"])}
    attributes = {
        "nominal_thickness_mm": float(grid.nominal_thickness),
        "sides_of_unvaried_thickness": " ".join(grid.unvaried),
    }
    netcdf.save(LAYOUT, values, path, attributes)


@netcdf.tells_damage("element grid")
def load_grid(path: str | Path) -> ElementGrid:
    """Read an element grid.

    Parameters
    ----------
    path : str or Path
        File written by `save_grid`.

    Returns
    -------
    ElementGrid
        The grid.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, attributes = netcdf.load(LAYOUT, path)
    arrays = {name: values[name] for name in _ARRAYS}
    arrays["valid"] = arrays["valid"].astype(bool)
    return ElementGrid(
        **arrays,
        nominal_thickness=float(attributes["nominal_thickness_mm"]),
        sides=tuple(str(side) for side in values["side"]),
        unvaried=tuple(str(attributes.get("sides_of_unvaried_thickness", "")).split()),
    )
