"""From implant data to bearing surfaces, element grid and lookup tables."""

from kneewear.geometry.bearing import Bearing, bearing_of, thickness_to
from kneewear.geometry.coverage import Coverage
from kneewear.geometry.distance_table import DistanceTable, build_distance_table
from kneewear.geometry.element_surfaces import Cylinder, Plane, Sphere
from kneewear.geometry.grid import ElementGrid, build_grid, join_grids, lay_elements
from kneewear.geometry.implant import POST, SIDES, CamAndPost, Implant, Layer
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.layers import ThicknessTable, joint_thickness, tabulate_thickness
from kneewear.geometry.natural import KneeFit, KneeMeshes, build_natural_knee
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable, tabulate_surface

__all__ = [
    "POST",
    "SIDES",
    "Bearing",
    "CamAndPost",
    "Coverage",
    "Cylinder",
    "DistanceTable",
    "ElementGrid",
    "Implant",
    "KneeFit",
    "KneeMeshes",
    "Layer",
    "Plane",
    "Sphere",
    "Surface",
    "SurfaceTable",
    "ThicknessTable",
    "bearing_of",
    "build_distance_table",
    "build_grid",
    "build_implant",
    "build_natural_knee",
    "build_parametric_implant",
    "join_grids",
    "joint_thickness",
    "lay_elements",
    "tabulate_surface",
    "tabulate_thickness",
    "thickness_to",
]
