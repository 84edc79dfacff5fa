"""Bearing surfaces of an implant (`geometry/surfaces.nc`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kneewear.geometry.implant import SIDES, Coverage, Implant
from kneewear.geometry.surface import Surface
from kneewear.io import netcdf
from kneewear.io.netcdf import Layout, Variable

KIND = "implant surfaces"
FRAME = "right-knee insert frame: x posterior, y superior, z medial"
_PATCHES = tuple((body, side) for body in ("femoral", "insert") for side in SIDES)


def save_implant(implant: Implant, path: str | Path) -> None:
    """Write the surfaces of an implant.

    Parameters
    ----------
    implant : Implant
        The implant, as a right knee.
    path : str or Path
        File to write; its attribute `knee` says which one the implant is made for, `frame` that
        the coordinates are those of a right one either way.
    """
    values: dict[str, Any] = {}
    attributes: dict[str, Any] = {
        "name": implant.name,
        "underside_mm": float(implant.underside),
        "nominal_thickness_mm": float(implant.nominal_thickness),
        "knee": "left" if implant.left else "right",
        "frame": FRAME,
        "coverage": int(implant.coverage is not None),
    }
    for body, side in _PATCHES:
        patch, surface = f"{body}_{side}", getattr(implant, body)[side]
        values[f"{patch}_control_points"] = surface.control_points
        values[f"{patch}_weights"] = surface.weights
        values[f"{patch}_knots_u"] = surface.knots_u
        values[f"{patch}_knots_v"] = surface.knots_v
        attributes[f"{patch}_degree_u"] = int(surface.degree_u)
        attributes[f"{patch}_degree_v"] = int(surface.degree_v)
    for side, coverage in (implant.coverage or {}).items():
        values[f"coverage_{side}_x"] = coverage.x
        values[f"coverage_{side}_z"] = coverage.z
        values[f"coverage_{side}_inside"] = coverage.inside
    netcdf.save(_layout(implant.coverage is not None), values, path, attributes)


def load_implant(path: str | Path) -> Implant:
    """Read the surfaces of an implant.

    Parameters
    ----------
    path : str or Path
        File written by `save_implant`.

    Returns
    -------
    Implant
        The implant.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, attributes = netcdf.load(_layout(False), path)
    coverage = None
    if attributes["coverage"]:
        values, _ = netcdf.load(_layout(True), path)
        coverage = {
            side: Coverage(
                x=values[f"coverage_{side}_x"],
                z=values[f"coverage_{side}_z"],
                inside=values[f"coverage_{side}_inside"].astype(bool),
            )
            for side in SIDES
        }
    surfaces: dict[str, dict[str, Surface]] = {"femoral": {}, "insert": {}}
    for body, side in _PATCHES:
        patch = f"{body}_{side}"
        surfaces[body][side] = Surface(
            control_points=values[f"{patch}_control_points"],
            weights=values[f"{patch}_weights"],
            knots_u=values[f"{patch}_knots_u"],
            knots_v=values[f"{patch}_knots_v"],
            degree_u=int(attributes[f"{patch}_degree_u"]),
            degree_v=int(attributes[f"{patch}_degree_v"]),
        )
    return Implant(
        name=str(attributes["name"]),
        **surfaces,
        underside=float(attributes["underside_mm"]),
        nominal_thickness=float(attributes["nominal_thickness_mm"]),
        left=attributes["knee"] == "left",
        coverage=coverage,
    )


def _layout(with_coverage: bool) -> Layout:
    """Layout of the file: four patches of their own sizes, and where the plateaus exist."""
    variables: list[Variable] = []
    for body, side in _PATCHES:
        patch = f"{body}_{side}"
        net = (f"{patch}_u", f"{patch}_v")
        text = f"{side} {'condyle' if body == 'femoral' else 'plateau'}"
        variables += [
            Variable(f"{patch}_control_points", (*net, "component"), "mm", f"net of the {text}"),
            Variable(f"{patch}_weights", net, "1", f"weights of the {text}"),
            Variable(f"{patch}_knots_u", (f"{patch}_knot_u",), "1", f"first knots of the {text}"),
            Variable(f"{patch}_knots_v", (f"{patch}_knot_v",), "1", f"second knots of the {text}"),
        ]
    for side in SIDES if with_coverage else ():
        x, z = f"coverage_{side}_raster_x", f"coverage_{side}_raster_z"
        text = f"{side} plateau's coverage"
        variables += [
            Variable(f"coverage_{side}_x", (x,), "mm", f"posterior raster of the {text}"),
            Variable(f"coverage_{side}_z", (z,), "mm", f"medial raster of the {text}"),
            Variable(f"coverage_{side}_inside", (x, z), "1", f"1 inside the {text}"),
        ]
    return Layout(KIND, tuple(variables))
