"""Faces of written STEP and IGES files, read back as patches."""

from __future__ import annotations

import numpy as np
from OCP.BRep import BRep_Tool
from OCP.BRepTools import BRepTools
from OCP.Geom import Geom_BSplineSurface, Geom_RectangularTrimmedSurface
from OCP.GeomConvert import GeomConvert
from OCP.TopAbs import TopAbs_REVERSED

from kneewear.geometry.surface import Surface
from kneewear.io.opencascade import _faces, _read


def load_patches(path):
    """Untrimmed patches of all faces, mm, in the order of the file."""
    return [_patch(face) for face in _faces(_read(path)[0])]


def _patch(face):
    geometry = BRep_Tool.Surface_s(face)
    limits = BRepTools.UVBounds_s(face)
    if not (np.allclose(limits, geometry.Bounds()) and isinstance(geometry, Geom_BSplineSurface)):
        trimmed = Geom_RectangularTrimmedSurface(geometry, *limits)
        geometry = GeomConvert.SurfaceToBSplineSurface_s(trimmed)
    surface = _surface(geometry)
    return surface.reversed_normal() if face.Orientation() == TopAbs_REVERSED else surface


def _surface(geometry):
    if geometry.IsUPeriodic() or geometry.IsVPeriodic():
        geometry.SetUNotPeriodic()
        geometry.SetVNotPeriodic()
        geometry.Segment(*geometry.Bounds())  # clamps the ends
    n_u, n_v = geometry.NbUPoles(), geometry.NbVPoles()
    points, weights = np.empty((n_u, n_v, 3)), np.empty((n_u, n_v))
    for i, j in np.ndindex(n_u, n_v):
        pole = geometry.Pole(i + 1, j + 1)
        points[i, j] = pole.X(), pole.Y(), pole.Z()
        weights[i, j] = geometry.Weight(i + 1, j + 1)
    u = [[geometry.UKnot(k)] * geometry.UMultiplicity(k) for k in range(1, geometry.NbUKnots() + 1)]
    v = [[geometry.VKnot(k)] * geometry.VMultiplicity(k) for k in range(1, geometry.NbVKnots() + 1)]
    degrees = geometry.UDegree(), geometry.VDegree()
    return Surface(points, weights, np.concatenate(u), np.concatenate(v), *degrees)
