"""From implant data to bearing surfaces, element grid and lookup tables."""

from kneewear.geometry.distance_table import DistanceTable, build_distance_table
from kneewear.geometry.grid import ElementGrid, build_grid
from kneewear.geometry.implant import SIDES, Coverage, Implant
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable, tabulate_surface

__all__ = [
    "SIDES",
    "Coverage",
    "DistanceTable",
    "ElementGrid",
    "Implant",
    "Surface",
    "SurfaceTable",
    "build_distance_table",
    "build_grid",
    "build_implant",
    "build_parametric_implant",
    "tabulate_surface",
]
