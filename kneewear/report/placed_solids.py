"""Closed solids of the components of a finished wear study (`kneewear export --solid`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.errors import InputDataError
from kneewear.geometry.closed_solids import (
    enclosed_volume,
    is_watertight,
    layer_solid,
    patch_shell,
    worn_mesh,
)
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.extraction import Extraction
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.meshes import TriangleMesh, joined, merge_vertices
from kneewear.io.documents import load_record, save_table
from kneewear.io.result_files import refuse_damaged
from kneewear.io.solid_files import save_solid
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.vtk import element_mesh
from kneewear.study import netcdf
from kneewear.study.settings import validate_study
from kneewear.wear.worn_surface import lower_surface

Array = NDArray[np.float64]

# Vertices of files that are one point, mm.
_ONE_POINT = 1e-6
# A solid of a file has the frame of the bearings if these are in its box, but for this, mm.
_OFFSET = 1.0


@dataclass(frozen=True)
class PlacedSolids:
    """Solids of a case in a frame of a cycle, mm, by name, and its damage volume, mm3."""

    meshes: dict[str, TriangleMesh]
    damage_volume: float


def write_solids(
    folder: Path,
    output: Path,
    case: str | None = None,
    activity: str | None = None,
    frame: int | None = None,
) -> list[Path]:
    """Write closed solids of insert (fresh and worn) and femoral component as placed in a frame.

    Parameters
    ----------
    folder : Path
        `results/<study>` of model wear.
    output : Path
        Folder that is written: `insert_fresh`, `insert_worn` and `femoral` as STL, as surface mesh
        for finite elements (INP) and, below 20,000 facets, as STEP; `solids.csv` has their volumes.
    case, activity : str, optional
        The case in the middle of the design and the first activity by default.
    frame : int, optional
        Frame from 0; the one of the largest load by default.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputDataError
        When there is no such study, case, activity or frame, or when a bearing is no solid.
    """
    refuse_damaged(folder)
    solids = place_solids(folder, case, activity, frame)
    written: list[Path] = []
    rows = []
    for name, mesh in solids.meshes.items():
        written += save_solid(mesh, name, output)
        rows.append((name, len(mesh.faces), len(mesh.bodies), enclosed_volume(mesh)))
    table = pd.DataFrame(rows, columns=["solid", "facets", "bodies", "volume_mm3"])
    volumes = dict(zip(table["solid"], table["volume_mm3"], strict=True))
    table["removed_mm3"] = volumes["insert_fresh"] - table["volume_mm3"]
    table["damage_volume_mm3"] = solids.damage_volume
    others = table["solid"] != "insert_worn"
    table.loc[others, ["removed_mm3", "damage_volume_mm3"]] = np.nan
    save_table(table, output / "solids.csv")
    return [*written, output / "solids.csv"]


def place_solids(
    folder: Path, case: str | None, activity: str | None, frame: int | None
) -> PlacedSolids:
    """Solids of a case of a finished study; arguments and errors as :func:`write_solids`."""
    record = folder / "provenance.json"
    if not (record.is_file() and (folder / "wear").is_dir()):
        expected = "the folder of a finished study of model wear, results/<study>"
        raise InputDataError(folder, "no finished wear study", expected, "Run the study.")
    study = validate_study(load_record(record)["settings"], str(record))
    batches = study.batches()
    cases = {known.name: known for own in batches.values() for known in own}
    names = list(cases)
    case = _chosen("case", case, names, names[len(names) // 2], folder)
    activities = list(study.simulated_activities())
    activity = _chosen("activity", activity, activities, activities[0], folder)
    batch = next(name for name, own in batches.items() if cases[case] in own)
    only = {"case": [case]}
    maps = netcdf.load(DAMAGE, folder / "wear" / f"{batch}.nc", only=only)
    history = netcdf.load(CONTACT, folder / "simulation" / activity / f"{batch}.nc", only=only)
    for kind, results in (("wear", maps), ("contact", history)):
        if not results.sizes["case"]:
            expected = "a case that was computed"
            raise InputDataError(folder, f"no {kind} of case {case}", expected, "Name another one.")
    pose = _pose(history, frame, folder)
    knee = netcdf.load(KneeModel, folder / "geometry" / "knee.nc")
    extractions = netcdf.load(GeometryRecord, folder / "geometry" / "fit.nc").extractions or {}
    try:
        meshes = _insert_solids(knee, maps, cases[case].thickness, extractions.get("insert"))
    except ValueError as error:
        remedy = "Choose regions without gaps, or use the worn surfaces in wear/worn."
        raise InputDataError(folder, str(error), "an insert as a solid", remedy) from error
    femoral = _femoral_solid(knee.implant, extractions.get("femoral"))
    meshes["femoral"] = TriangleMesh(femoral.vertices @ pose[0].T + pose[1], femoral.faces)
    if knee.implant.left:
        meshes = {name: _mirrored(mesh) for name, mesh in meshes.items()}
    plateaus = [maps["side"].values.tolist().index(side) for side in knee.implant.plateaus]
    depth = maps.damage_depth.values[0, 0][plateaus]
    volume = float((depth * knee.grid.area[plateaus])[knee.grid.valid[plateaus]].sum())
    return PlacedSolids(meshes, volume)


def _chosen(name: str, given: str | None, known: Sequence[str], default: str, folder: Path) -> str:
    """A name among those that there are."""
    if given is None:
        return default
    if given not in known:
        raise InputDataError(
            folder, f"{name} {given}", f"one of {', '.join(known)}", f"Correct --{name}."
        )
    return given


def _pose(history: xr.Dataset, frame: int | None, folder: Path) -> tuple[Array, Array]:
    """Rotation matrix and translation of the femoral component in a frame."""
    count = history.sizes["frame"]
    chosen = int(np.argmax(history["load"].values[0])) if frame is None else frame
    if not 0 <= chosen < count:
        raise InputDataError(folder, f"frame {chosen}", f"0 to {count - 1}", "Correct --frame.")
    turn = body_three_123(history.rotation.values[0, chosen])
    return np.asarray(turn), history.translation.values[0, chosen]


def _insert_solids(
    knee: KneeModel, maps: xr.Dataset, thickness: float, whole: Extraction | None
) -> dict[str, TriangleMesh]:
    """Fresh and worn insert: its file where that is a solid, else the layer of the elements."""
    grid = knee.grid
    damage, wear = (maps[name].values[0, 0] for name in ("damage_depth", "wear_depth"))
    worn = lower_surface(grid, damage, wear, smoothing=0.0, thins=False)
    bearing = grid.centre[grid.valid]
    solid = None if whole is None else _solid_of(whole, bearing)
    if whole is not None and solid is not None:
        return {"insert_fresh": solid, "insert_worn": worn_mesh(solid, whole.kept, grid, worn)}
    below = grid.centre.copy()
    below[..., 1] -= grid.case_thickness(thickness)
    parts: dict[str, list[TriangleMesh]] = {"insert_fresh": [], "insert_worn": []}
    for side in knee.implant.plateaus:
        number = grid.sides.index(side)
        underside = element_mesh(_one_side(replace(grid, centre=below), number))[0]
        for name, one in (("insert_fresh", grid), ("insert_worn", worn)):
            points, quads = element_mesh(_one_side(one, number))
            parts[name].append(layer_solid(points, quads, underside))
    return {name: joined(meshes) for name, meshes in parts.items()}


def _femoral_solid(implant: Implant, whole: Extraction | None) -> TriangleMesh:
    """Femoral component: its file where that is a solid, else shells behind its condyles."""
    surfaces = implant.femoral.values()
    points = np.concatenate([patch.control_points.reshape(-1, 3) for patch in surfaces])
    solid = None if whole is None else _solid_of(whole, points)
    return joined(list(map(patch_shell, surfaces))) if solid is None else solid


def _solid_of(whole: Extraction, bearing: Array) -> TriangleMesh | None:
    """Mesh of a file in the frame of the bearings if it is a closed body; else None."""
    if whole.kept.all():
        return None
    vertices, faces = merge_vertices(whole.mesh.vertices, whole.mesh.faces, _ONE_POINT)
    mesh = TriangleMesh(vertices, faces)
    same = len(faces) == len(whole.mesh.faces)  # the bearing is known by its triangles
    below = (vertices.min(axis=0) - _OFFSET <= bearing.min(axis=0)).all()
    above = (vertices.max(axis=0) + _OFFSET >= bearing.max(axis=0)).all()
    return mesh if same and below and above and is_watertight(mesh) else None


def _one_side(grid: ElementGrid, number: int) -> ElementGrid:
    """Grid of one side, with the corners of its elements alone."""
    own = slice(number, number + 1)
    names = ("centre", "normal", "tangent_row", "tangent_column", "thickness", "area", "valid")
    arrays = {name: getattr(grid, name)[own] for name in (*names, "covered", "corners")}
    return replace(grid, **arrays, sides=grid.sides[own])


def _mirrored(mesh: TriangleMesh) -> TriangleMesh:
    """Mesh of a left knee, whose normals still point outwards."""
    return TriangleMesh(mesh.vertices * [-1.0, 1.0, 1.0], mesh.faces[:, ::-1])
