"""Prediction of a study on the blocks of a measured insert."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.base.schemas import DAMAGE
from kneewear.base.sides import BOTH, SIDES
from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.evaluate import Evaluation
from kneewear.models.retrieval.registration import register
from kneewear.models.retrieval.scans import sheet_of
from kneewear.motion.history import cases_of
from kneewear.report.insert_view import insert_mesh
from kneewear.study import netcdf

Array = NDArray[np.float64]

_GRID = "geometry/knee.nc"
_MAPS = "wear/b*.nc"
# Median distance between bearings, mm, of another implant.
_OTHER_IMPLANT = 0.3
# Depth from which a block belongs to a scar, over the largest depth of its plateau.
_SCAR_FRACTION = 0.1
DEPTHS = {"wear": "wear_depth", "creep": "creep_depth", "sum": "damage_depth"}


@dataclass(frozen=True)
class Prediction:
    """Predicted depths on the blocks of an evaluation.

    Parameters
    ----------
    study, case, life : str
        Folder of the study, and what of it.
    depths : mapping
        Depth of "wear", "creep" and their "sum" at each block, mm.
    digests : mapping
        SHA-256 of the files of the study that were read, before the comparison.
    distance : float
        Median distance of the study's bearing from the measured one, mm.
    """

    study: str
    case: str
    life: str
    depths: dict[str, Array]
    digests: dict[str, str]
    distance: float


def read_prediction(
    folder: Path, evaluation: Evaluation, case: str | None = None, life: str | None = None
) -> Prediction:
    """Read a finished study of wear, and move its maps onto a measured insert.

    Parameters
    ----------
    folder : Path
        `results/<study>`.
    evaluation : Evaluation
    case, life : str, optional
        Names; without them the first case and the last life.

    Raises
    ------
    InputDataError
        When the study is not finished, of another implant, or has no such case or life.
    """
    files = [folder / _GRID, *sorted(folder.glob(_MAPS))]
    if len(files) < 2 or not files[0].is_file():
        expected = "the folder of a finished study of model wear"
        remedy = "Run the study, or correct its name."
        raise InputDataError(folder, "no finished wear study", expected, remedy)
    digests = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    grid: ElementGrid = netcdf.load(ElementGrid, files[0], "grid")
    names: list[str] = []
    for maps in netcdf.load_all(DAMAGE, files[1:]):
        own = [item.name for item in cases_of(maps)]
        names += own
        chosen = own[0] if case is None else case
        if chosen in own:
            break
    else:
        expected = f"one of {', '.join(names[:8])}"
        raise InputDataError("--case", f"'{case}'", expected, "Name a case of the study.")
    lives = [str(item) for item in maps["life"].values.tolist()]
    chosen_life = lives[-1] if life is None else life
    if chosen_life not in lives:
        expected = f"one of {', '.join(lives)}"
        raise InputDataError("--life", f"'{life}'", expected, "Name a life of the study.")
    at = (lives.index(chosen_life), own.index(chosen))
    mesh, valid = insert_mesh(grid)
    surface = TriangleMesh(mesh.points, _upward(mesh.points, mesh.triangles))
    pose = register(surface, sheet_of(evaluation.raster, evaluation.reference))
    if pose.distance > _OTHER_IMPLANT:
        result = f"a bearing {pose.distance:.2f} mm from {evaluation.scan.file} (median)"
        remedy = "Name a study of the implant that was scanned."
        raise InputDataError(
            folder, result, "the bearing of the scan", remedy, check="retrieval.study"
        )
    plan = (grid.centre[valid] @ pose.rotation.T + pose.translation)[:, [0, 2]]
    blocks = evaluation.blocks
    at_blocks = blocks.points[:, [0, 2]]
    triangles = scipy.spatial.Delaunay(plan)
    depths = {}
    for name, variable in DEPTHS.items():
        values = maps[variable].values[at][valid]
        inside = scipy.interpolate.LinearNDInterpolator(triangles, values, fill_value=0.0)
        depths[name] = np.asarray(inside(at_blocks))
    return Prediction(str(folder), chosen, chosen_life, depths, digests, pose.distance)


def _upward(points: Array, triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles whose normals point up."""
    down = TriangleMesh(points, triangles).face_normals[:, 1] < 0
    turned = triangles.copy()
    turned[down] = turned[down][:, ::-1]
    return turned


def scar_comparison(evaluation: Evaluation, prediction: Prediction) -> pd.DataFrame:
    """Measured and predicted volumes, positions and overlap of the scars of each side.

    Wear and creep are compared as a sum: a surface shows both.
    """
    blocks, scar = evaluation.blocks, evaluation.scar
    measured = np.where(scar.worn, np.nan_to_num(scar.depth), 0.0)
    rows = []
    for number, side in enumerate((*SIDES, BOTH)):
        own = blocks.side == number if side in SIDES else np.full(blocks.side.shape, True)
        area = np.where(own, blocks.area, 0.0)
        predicted = prediction.depths["sum"]
        centres, scars = [], []
        for depth in (measured, predicted):
            weight = area * np.maximum(depth, 0.0)
            total = weight.sum()
            plan = blocks.points[:, [0, 2]]
            centres.append(weight @ plan / total if total > 0 else np.full(2, np.nan))
            scars.append(own & (depth > _SCAR_FRACTION * max(float(depth[own].max()), 1e-6)))
        common, either = (area[item].sum() for item in (scars[0] & scars[1], scars[0] | scars[1]))
        volume, sd = scar.volume[number], scar.volume_sd[number]
        total = float(area @ predicted)
        rows.append(
            {
                "side": side,
                "measured_mm3": volume,
                "sd_mm3": sd,
                "predicted_wear_mm3": float(area @ prediction.depths["wear"]),
                "predicted_creep_mm3": float(area @ prediction.depths["creep"]),
                "predicted_sum_mm3": total,
                "difference_mm3": total - volume,
                "ratio": total / volume if volume > 0 else np.nan,
                "posterior_mm": centres[1][0] - centres[0][0],
                "medial_mm": centres[1][1] - centres[0][1],
                "overlap": common / either if either > 0 else np.nan,
            }
        )
    return pd.DataFrame(rows)


def profile_table(evaluation: Evaluation, prediction: Prediction | None) -> pd.DataFrame:
    """Depths along x and z through the deepest block of each side."""
    blocks, scar = evaluation.blocks, evaluation.scar
    rows = []
    for number, side in enumerate(SIDES):
        own = (blocks.side == number) & scar.worn & np.isfinite(scar.depth)
        if not own.any():
            continue
        deepest = np.flatnonzero(own)[int(np.argmax(scar.depth[own]))]
        for direction, line, axis in (
            ("anterior-posterior", blocks.column == blocks.column[deepest], 0),
            ("medial-lateral", blocks.row == blocks.row[deepest], 2),
        ):
            along = np.flatnonzero(line & (blocks.side == number))
            for index in along[np.argsort(blocks.points[along, axis])]:
                row = {
                    "side": side,
                    "direction": direction,
                    "position_mm": blocks.points[index, axis],
                    "depth_mm": scar.depth[index],
                    "sd_mm": scar.depth_sd[index],
                }
                if prediction is not None:
                    row["predicted_mm"] = prediction.depths["sum"][index]
                rows.append(row)
    return pd.DataFrame(rows)
