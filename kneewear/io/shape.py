"""Shape of a component from a file of any supported format."""

from __future__ import annotations

from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io import cad, mesh, points


def load_shape(path: str | Path) -> TriangleMesh:
    """Mesh, point cloud or CAD part by the ending of its file.

    Parameters
    ----------
    path : str or Path
        .stl, .ply, .obj; .csv, .xyz, .txt; .step, .stp, .iges, .igs.

    Returns
    -------
    TriangleMesh
        In the unit and axes of the file. A point cloud (a PLY without triangles is one) has no
        faces.

    Raises
    ------
    InputDataError
        If the ending is unknown or the file cannot be read.
    """
    ending = Path(path).suffix.lower()
    if ending in cad.SUFFIXES:
        return cad.load_cad(path)
    if ending in points.SUFFIXES:
        return points.load_points(path)
    if ending in mesh.SUFFIXES:
        return mesh.load_mesh(path)
    known = ", ".join((*mesh.SUFFIXES, *points.SUFFIXES, *cad.SUFFIXES))
    raise InputDataError(
        path, f"a file ending in '{ending}'", f"one ending in {known}", "Convert the file."
    )
