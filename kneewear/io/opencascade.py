"""Reading, meshing and writing of CAD faces; only where the extra `cad` is installed.

Files are read in a process of their own (`kneewear.io.apart`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from OCP.Bnd import Bnd_Box
from OCP.BRep import BRep_Tool
from OCP.BRepBndLib import BRepBndLib
from OCP.BRepBuilderAPI import (
    BRepBuilderAPI_MakeFace,
    BRepBuilderAPI_MakePolygon,
    BRepBuilderAPI_MakeSolid,
    BRepBuilderAPI_Sewing,
)
from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.BRepTools import BRepTools
from OCP.collections import (
    Array1_double,
    Array1_int,
    Array2_double,
    Array2_gp_Pnt,
    Sequence_TCollection_AsciiString,
)
from OCP.Geom import Geom_BSplineSurface
from OCP.gp import gp_Pnt
from OCP.IFSelect import IFSelect_RetDone
from OCP.IGESControl import IGESControl_Reader, IGESControl_Writer
from OCP.IMeshTools import IMeshTools_Parameters
from OCP.Interface import Interface_Static
from OCP.Message import Message, Message_Gravity
from OCP.STEPControl import STEPControl_AsIs, STEPControl_Reader, STEPControl_Writer
from OCP.TopAbs import TopAbs_FACE, TopAbs_REVERSED, TopAbs_SHELL
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS

from kneewear.base.checks import checks
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, joined, merge_vertices
from kneewear.geometry.surface import Surface
from kneewear.io.data_file import cut_off
from kneewear.io.result_files import atomic_path

Array = NDArray[np.float64]

# All lengths for a part 75 mm wide; they grow with the part, so that a wrong unit costs no time.
_USUAL_WIDTH = 75.0
_EDGE_DEFLECTION = 5e-4
_FACE_DEFLECTION = 0.05
_MAX_EDGE = 0.8
_ANGLE = 0.3
# Faces of other programs meet within this, mm; gaps are closed by sewing.
_SEWING = 1e-3
# Corners of neighbouring facets are equal, mm.
_SEWING_FACETS = 1e-7
# Factors of the deflection of edges and of the widest triangle that are tried until a part has no
# more triangles than usual.
_COARSENESS = (
    *((factor, 1.0) for factor in (1.0, 2.0, 4.0, 8.0, 16.0)),
    *((16.0, factor) for factor in (1.5, 2.0, 3.0, 4.0, 6.0)),
)
_ROUNDS = 12
_MERGING = 1e-9


def read_mesh(path: Path) -> TriangleMesh:
    """Fine triangles on all faces, in the file's unit, no more than a mesh usually has."""
    shape, unit = _read(path)
    shape = _sewn(shape)
    scale = _width(shape) / _USUAL_WIDTH
    most = _most_triangles()
    for deflection, width in _COARSENESS:
        last = (deflection, width) == _COARSENESS[-1]
        parts = _face_meshes(shape, scale, deflection, width, math.inf if last else most)
        if parts:
            break
    if not any(len(points) for points, _ in parts):
        raise _no_faces(path)
    mesh = joined([TriangleMesh(points, triangles) for points, triangles in parts])
    step = _MERGING * _USUAL_WIDTH * scale
    points, triangles = merge_vertices(mesh.vertices, mesh.faces, step)
    return TriangleMesh(points / unit, triangles)


def _most_triangles() -> float:
    """Triangles that a mesh usually has at most."""
    return checks()["geometry.mesh_triangles"].range.high


def _face_meshes(
    shape: Any, scale: float, deflection: float, width: float, most: float
) -> list[tuple[Array, NDArray[np.int64]]]:
    """Points and triangles of all faces; none when they are more than `most` triangles."""
    parameters = IMeshTools_Parameters()
    parameters.Deflection = _EDGE_DEFLECTION * scale * deflection
    parameters.DeflectionInterior = _FACE_DEFLECTION * scale
    parameters.Angle = parameters.AngleInterior = _ANGLE
    BRepTools.Clean_s(shape)
    BRepMesh_IncrementalMesh(shape, parameters)
    parts, count = [], 0
    for face in _faces(shape):
        parts.append(_face_mesh(face, _MAX_EDGE * scale * width, most - count))
        count += len(parts[-1][1])
        if count > most:
            return []
    return parts or [(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64))]


def write_patches(surfaces: Mapping[str, Surface], path: Path) -> None:
    """Patches as faces."""
    _quiet()
    writer: Any
    if path.suffix.lower() in (".iges", ".igs"):
        writer, success = IGESControl_Writer("MM", 1), True
        for surface in surfaces.values():
            writer.AddShape(_face(surface))
        writer.ComputeModel()
    else:
        writer, success = STEPControl_Writer(), IFSelect_RetDone
        Interface_Static.SetCVal_s("write.step.unit", "MM")
        for name, surface in surfaces.items():
            Interface_Static.SetCVal_s("write.step.product.name", name)
            writer.Transfer(_face(surface), STEPControl_AsIs)
    with atomic_path(path) as temporary:
        if writer.Write(str(temporary)) != success:
            raise OSError("OpenCASCADE gave up")


def write_solid(mesh: TriangleMesh, name: str, path: Path) -> None:
    """Watertight mesh as solids of plane faces, mm."""
    _quiet()
    writer: Any = STEPControl_Writer()
    Interface_Static.SetCVal_s("write.step.unit", "MM")
    Interface_Static.SetCVal_s("write.step.product.name", name)
    for body in mesh.bodies:
        corners = [gp_Pnt(*map(float, vertex)) for vertex in body.vertices]
        sewing = BRepBuilderAPI_Sewing(_SEWING_FACETS)
        for face in body.faces:
            outline = BRepBuilderAPI_MakePolygon(*(corners[number] for number in face), True)
            made = BRepBuilderAPI_MakeFace(outline.Wire(), True)
            if made.IsDone():
                sewing.Add(made.Face())
        sewing.Perform()
        explorer = TopExp_Explorer(sewing.SewedShape(), TopAbs_SHELL)
        solid = BRepBuilderAPI_MakeSolid()
        while explorer.More():
            solid.Add(TopoDS.Shell(explorer.Current()))
            explorer.Next()
        writer.Transfer(solid.Solid(), STEPControl_AsIs)
    with atomic_path(path) as temporary:
        if writer.Write(str(temporary)) != IFSelect_RetDone:
            raise OSError("OpenCASCADE gave up")


def bspline(surface: Surface) -> Any:
    """OpenCASCADE's form of a patch."""
    n_u, n_v = surface.weights.shape
    poles, weights = Array2_gp_Pnt(1, n_u, 1, n_v), Array2_double(1, n_u, 1, n_v)
    for i, j in np.ndindex(n_u, n_v):
        poles.SetValue(i + 1, j + 1, gp_Pnt(*map(float, surface.control_points[i, j])))
        weights.SetValue(i + 1, j + 1, float(surface.weights[i, j]))
    knots = [_knot_arrays(k) for k in (surface.knots_u, surface.knots_v)]
    return Geom_BSplineSurface(
        poles,
        weights,
        knots[0][0],
        knots[1][0],
        knots[0][1],
        knots[1][1],
        surface.degree_u,
        surface.degree_v,
    )


def _read(path: Path) -> tuple[Any, float]:
    """Shape in mm, and mm per unit of the file (1 for units other than metres)."""
    _quiet()
    is_step = path.suffix.lower() in (".step", ".stp")
    reader: Any = STEPControl_Reader() if is_step else IGESControl_Reader()
    if reader.ReadFile(str(path)) != IFSelect_RetDone:
        raise cut_off(path, "content that OpenCASCADE cannot read", "a complete STEP or IGES file")
    if is_step:
        names = [Sequence_TCollection_AsciiString() for _ in range(3)]
        reader.FileUnits(*names)
        unit = names[0].Value(1).ToCString().lower() if names[0].Length() else "millimetre"
    else:
        unit = reader.IGESModel().GlobalSection().UnitName().ToCString().lower()
    reader.TransferRoots()
    shape = reader.OneShape()
    if shape is None or shape.IsNull():
        raise _no_faces(path)
    return shape, 1000.0 if unit in ("metre", "meter", "m") else 1.0


def _no_faces(path: Path) -> InputDataError:
    remedy = "The file is cut off, or holds curves or an assembly only: export the part itself."
    return InputDataError(path, "no faces", "surfaces or a solid", remedy)


def _quiet() -> None:
    """Keep OpenCASCADE's progress off the screen."""
    for printer in Message.DefaultMessenger_s().Printers():
        printer.SetTraceLevel(Message_Gravity.Message_Fail)


def _sewn(shape: Any) -> Any:
    """Faces joined at common borders where they meet."""
    sewing = BRepBuilderAPI_Sewing(_SEWING)
    sewing.Add(shape)
    sewing.Perform()
    return sewing.SewedShape()


def _width(shape: Any) -> float:
    """Largest extent, mm."""
    box = Bnd_Box()
    BRepBndLib.Add_s(shape, box)
    low, high = box.CornerMin(), box.CornerMax()
    sizes = (getattr(high, axis)() - getattr(low, axis)() for axis in ("X", "Y", "Z"))
    return max(*sizes, 1e-9)


def _faces(shape: Any) -> Iterator[Any]:
    """Faces of a shape."""
    explorer = TopExp_Explorer(shape, TopAbs_FACE)
    while explorer.More():
        yield TopoDS.Face(explorer.Current())
        explorer.Next()


def _face(surface: Surface) -> Any:
    """Face that fills a patch."""
    return BRepBuilderAPI_MakeFace(bspline(surface), 1e-7).Face()


def _knot_arrays(knots: Array) -> tuple[Any, Any]:
    """Distinct knots and their multiplicities."""
    values, counts = np.unique(knots, return_counts=True)
    real = Array1_double(1, values.size)
    whole = Array1_int(1, values.size)
    for number, (value, count) in enumerate(zip(values, counts, strict=True), 1):
        real.SetValue(number, float(value))
        whole.SetValue(number, int(count))
    return real, whole


def _face_mesh(face: Any, longest: float, most: float) -> tuple[Array, NDArray[np.int64]]:
    """Points on a face and its triangles, none wider than `longest` if they are at most `most`."""
    location = TopLoc_Location()
    mesh = BRep_Tool.Triangulation_s(face, location)
    if mesh is None:
        return np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)
    count = range(1, mesh.NbNodes() + 1)
    move = location.Transformation()
    nodes = (mesh.Node(n).Transformed(move) for n in count)
    points = np.array([(p.X(), p.Y(), p.Z()) for p in nodes])
    parameters = np.array([(p.X(), p.Y()) for p in (mesh.UVNode(n) for n in count)])
    triangles = np.array([mesh.Triangle(n).Get() for n in range(1, mesh.NbTriangles() + 1)]) - 1
    geometry = BRep_Tool.Surface_s(face)
    for _ in range(_ROUNDS):
        before = len(points)
        points, parameters, triangles = _split(points, parameters, triangles, geometry, longest)
        if len(points) == before or len(triangles) > most:
            break
    if face.Orientation() == TopAbs_REVERSED:
        triangles = triangles[:, ::-1]
    return points, triangles


def _split(
    points: Array, parameters: Array, triangles: NDArray[np.int64], geometry: Any, longest: float
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Halve every edge that is too long; midpoints of inner edges are moved onto the surface.

    Those along the face's border stay on the chord, as the neighbour's do.
    """
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges, number, uses = np.unique(
        np.sort(ends, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    long = np.flatnonzero(length > longest)
    if long.size == 0:
        return points, parameters, triangles
    middle = points[edges[long]].mean(axis=1)
    between = parameters[edges[long]].mean(axis=1)
    for inner in np.flatnonzero(uses[long] > 1):
        point = geometry.Value(*map(float, between[inner]))
        middle[inner] = point.X(), point.Y(), point.Z()
    halved = np.full(len(edges), -1)
    halved[long] = len(points) + np.arange(long.size)
    middles = halved[number.reshape(3, -1)].T
    return (
        np.concatenate([points, middle]),
        np.concatenate([parameters, between]),
        _subdivided(triangles, middles),
    )


# Parts of a triangle (corners a b c are 0 1 2, midpoints ab bc ca are 3 4 5) by the number of cut
# edges: ab, ab and bc, or all.
_CUTS = {
    1: ((0, 3, 2), (3, 1, 2)),
    2: ((3, 1, 4), (0, 3, 4), (0, 4, 2)),
    3: ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
}


def _subdivided(triangles: NDArray[np.int64], middles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles divided at the midpoints of their edges (-1 where an edge is not cut)."""
    cut = middles >= 0
    parts = [triangles[~cut.any(axis=1)]]
    for turn in range(3):
        corners = np.hstack([np.roll(triangles, -turn, axis=1), np.roll(middles, -turn, axis=1)])
        is_cut = np.roll(cut, -turn, axis=1)
        for count in (1, 2, 3) if turn == 0 else (1, 2):
            chosen = (is_cut == (np.arange(3) < count)).all(axis=1)
            parts += [corners[chosen][:, list(part)] for part in _CUTS[count]]
    return np.concatenate(parts)
