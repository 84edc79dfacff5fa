"""From implant data to bearing surfaces, element grid and lookup tables."""

from kneewear.geometry.coverage import Coverage
from kneewear.geometry.distance_table import DistanceTable, build_distance_table
from kneewear.geometry.grid import ElementGrid, build_grid
from kneewear.geometry.implant import SIDES, Implant, Layer
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.layers import ThicknessTable, joint_thickness, tabulate_thickness
from kneewear.geometry.natural import KneeFit, KneeMeshes, build_natural_knee
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable, tabulate_surface

__all__ = [
    "SIDES",
    "Coverage",
    "DistanceTable",
    "ElementGrid",
    "Implant",
    "KneeFit",
    "KneeMeshes",
    "Layer",
    "Surface",
    "SurfaceTable",
    "ThicknessTable",
    "build_distance_table",
    "build_grid",
    "build_implant",
    "build_natural_knee",
    "build_parametric_implant",
    "joint_thickness",
    "tabulate_surface",
    "tabulate_thickness",
]
