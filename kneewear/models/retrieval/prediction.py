"""Prediction of a study on the blocks of a measured insert."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import Case, centre_case
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.base.sides import BOTH, SIDES
from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.documents import load_table
from kneewear.models.retrieval.evaluate import Evaluation
from kneewear.models.retrieval.lives import Lifetime, LifeTrial, recorded_study
from kneewear.models.retrieval.registration import ScanPose, register
from kneewear.models.retrieval.scans import sheet_of
from kneewear.models.retrieval.split import Depths, at_blocks
from kneewear.motion.history import cases_of
from kneewear.report.insert_view import insert_mesh
from kneewear.report.tables import rows_with
from kneewear.study import netcdf
from kneewear.study.settings import apply_case
from kneewear.wear.posterior import ALL_LAWS

Array = NDArray[np.float64]

_GRID = "geometry/knee.nc"
_MAPS = "wear/b*.nc"
_INTERVALS = "tables/wear_intervals.csv"
# Median distance between bearings, mm, of another implant.
_OTHER_IMPLANT = 0.3
# Part of the bearing of a study that is above the measured one, at least: dishes without rims are.
_COMMON = 0.4
# Depth from which a block belongs to a scar, over the largest depth of its plateau.
_SCAR_FRACTION = 0.1
DEPTHS = {"wear": "wear_depth", "creep": "creep_depth", "sum": "damage_depth"}
# Variables of a cycle that are large and not read.
_HISTORIES = ("pressure", "slip")


@dataclass(frozen=True)
class Prediction:
    """Predicted depths on the blocks of an evaluation.

    Parameters
    ----------
    study, case, life : str
        Folder of the study, and what of it.
    depths : mapping
        Depth of "wear", "creep" and "dent" (permanent deflection of an insert that yields) and
        their "sum" at each block, mm.
    digests : mapping
        SHA-256 of the files of the study that were read, before the comparison.
    distance : float
        Median distance of the study's bearing from the measured one, mm.
    pose : ScanPose
        Motion of the study's insert onto the measured one.
    wear_interval : mapping of side to tuple
        Ends of the interval of the wear volume by all laws and laboratories, mm3; empty where the
        study has none of this case and life.
    """

    study: str
    case: str
    life: str
    depths: dict[str, Array]
    digests: dict[str, str]
    distance: float
    pose: ScanPose | None = None
    wear_interval: Mapping[str, tuple[float, float]] = field(default_factory=dict)


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
    batch, maps, chosen = _maps_of_case(files[1:], case)
    lives = [str(item) for item in maps["life"].values.tolist()]
    chosen_life = lives[-1] if life is None else life
    if chosen_life not in lives:
        expected = f"one of {', '.join(lives)}"
        raise InputDataError("--life", f"'{life}'", expected, "Name a life of the study.")
    cases = cases_of(maps)
    number = [item.name for item in cases].index(chosen)
    at = (lives.index(chosen_life), number)
    mesh, valid = insert_mesh(grid)
    surface = TriangleMesh(mesh.points, _upward(mesh.points, mesh.triangles))
    pose = pose_of_study(surface, evaluation, folder)
    plan = pose.placed(grid.centre[valid])[:, [0, 2]]
    blocks = evaluation.blocks
    to_blocks = at_blocks(plan, blocks.points[:, [0, 2]])
    depths = {
        name: to_blocks(maps[variable].values[at][valid]) for name, variable in DEPTHS.items()
    }
    cycles = _cycles_that_yield(folder, batch, maps, cases[number], chosen_life)
    digests |= {str(item): hashlib.sha256(item.read_bytes()).hexdigest() for item in cycles}
    depths["dent"] = to_blocks(_dent(cycles, chosen, valid.shape)[valid])
    depths["sum"] = depths["sum"] + depths["dent"]
    interval = _wear_interval(folder, chosen, chosen_life)
    return Prediction(
        str(folder), chosen, chosen_life, depths, digests, pose.distance, pose, interval
    )


def _maps_of_case(files: Sequence[Path], case: str | None) -> tuple[str, xr.Dataset, str]:
    """Name of the file of maps with a case, its maps, and the case (the first one by default)."""
    names: list[str] = []
    for file in files:
        maps = netcdf.load(DAMAGE, file)
        own = [item.name for item in cases_of(maps)]
        names += own
        chosen = own[0] if case is None else case
        if chosen in own:
            return file.name, maps, chosen
    expected = f"one of {', '.join(names[:8])}"
    raise InputDataError("--case", f"'{case}'", expected, "Name a case of the study.")


def _cycles_that_yield(
    folder: Path, batch: str, maps: xr.Dataset, case: Case, life: str
) -> list[Path]:
    """Files with cycles of a life on an insert that yields; none of one that does not.

    Raises
    ------
    InputDataError
        When a file is missing, without which the dents of the insert are unknown.
    """
    whole = recorded_study(folder)
    if apply_case(whole, case).simulation.material_yield is None:
        return []
    shares = maps["shares"].sel(life=life).values
    names = [str(name) for name in maps["activity"].values[shares > 0.0].tolist()]
    files = [folder / "simulation" / name / batch for name in names]
    for item in files:
        if not item.is_file():
            expected = "the cycles of an insert that yields, with its dents"
            raise InputDataError(item, "no such file", expected, "Run the study again.")
    return files


def _dent(cycles: Sequence[Path], case: str, shape: tuple[int, ...]) -> Array:
    """Permanent deflection that cycles leave, (side, row, column), mm; zero without cycles.

    Each activity continues on the dents of those before it: the largest of all is the last state.
    """
    loaded = netcdf.load_all(CONTACT, cycles, leave_out=_HISTORIES, only={"case": [case]})
    dents = [cycle["dent"].values[0] for cycle in loaded]
    return np.max(dents, axis=0) if dents else np.zeros(shape)


def pose_of_study(bearing: TriangleMesh, evaluation: Evaluation, folder: Path) -> ScanPose:
    """Motion of the bearing of a study onto the measured one.

    Raises
    ------
    InputDataError
        When they are of different implants.
    """
    raster, heights = evaluation.raster, evaluation.reference
    pose = register(bearing, sheet_of(raster, heights))
    # The pose has counterparts within its reach only, and bearings of any two implants touch.
    placed = pose.placed(bearing.vertices)
    unworn = scipy.interpolate.RegularGridInterpolator(
        (raster.x, raster.z), heights, bounds_error=False, fill_value=np.nan
    )(placed[:, [0, 2]])
    apart = np.abs(placed[:, 1] - unworn)
    known = np.isfinite(apart)
    distance = float(np.median(apart[known])) if known.any() else np.inf
    if distance > _OTHER_IMPLANT or known.mean() < _COMMON:
        result = (
            f"a bearing {distance:.2f} mm from {evaluation.scan.file} (median), which covers "
            f"{100 * known.mean():.0f} % of it"
        )
        remedy = "Name a study of the implant that was scanned."
        raise InputDataError(
            folder, result, "the bearing of the scan", remedy, check="retrieval.study"
        )
    return pose


def depths_at_blocks(life: Lifetime, prediction: Prediction, evaluation: Evaluation) -> Depths:
    """Depths of wear and creep of a trial at the blocks of a measurement."""
    assert prediction.pose is not None
    valid = life.knee.grid.valid
    plan = prediction.pose.placed(life.centres[valid])[:, [0, 2]]
    to_blocks = at_blocks(plan, evaluation.blocks.points[:, [0, 2]])

    def depths(trial: LifeTrial) -> tuple[Array, Array]:
        wear, creep = (to_blocks(item[valid]) for item in life.depths(trial))
        return wear, creep

    return depths


def _wear_interval(folder: Path, case: str, life: str) -> dict[str, tuple[float, float]]:
    """Interval of the wear volume of each side, mm3; none of another case than the centre one."""
    path = folder / _INTERVALS
    if not path.is_file():
        return {}
    first = recorded_study(folder).variants()[0]
    if case != first[centre_case(first)].name:
        return {}
    table = load_table(path)
    own = rows_with(table, law=ALL_LAWS, life=life, quantity="wear_volume")
    ends = own[["low", "high"]].to_numpy(dtype=float).tolist()
    return {str(side): (low, high) for side, (low, high) in zip(own["side"], ends, strict=True)}


def _upward(points: Array, triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles whose normals point up."""
    down = TriangleMesh(points, triangles).face_normals[:, 1] < 0
    turned = triangles.copy()
    turned[down] = turned[down][:, ::-1]
    return turned


def scar_comparison(evaluation: Evaluation, prediction: Prediction) -> pd.DataFrame:
    """Measured and predicted volumes, positions and overlap of the scars of each side.

    Wear and creep are compared as a sum, with the dents of an insert that yields: a surface shows
    all of them.
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
        creep = float(area @ prediction.depths["creep"])
        dent = float(area @ prediction.depths["dent"]) if "dent" in prediction.depths else 0.0
        other = creep + dent
        dents = {"predicted_dent_mm3": dent} if dent else {}
        low, high = prediction.wear_interval.get(side, (np.nan, np.nan))
        rows.append(
            {
                "side": side,
                "measured_mm3": volume,
                "sd_mm3": sd,
                "predicted_wear_mm3": float(area @ prediction.depths["wear"]),
                "predicted_creep_mm3": creep,
                **dents,
                "predicted_sum_mm3": total,
                "difference_mm3": total - volume,
                "ratio": total / volume if volume > 0 else np.nan,
                "ratio_low": (low + other) / volume if volume > 0 else np.nan,
                "ratio_high": (high + other) / volume if volume > 0 else np.nan,
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
