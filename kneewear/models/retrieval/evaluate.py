"""Wear of a scanned insert: position on the reference, scar, volumes and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.base.sides import BOTH, SIDES
from kneewear.errors import Finding, InputDataError
from kneewear.geometry.coverage import polygon_coverage
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.kriging import Drift
from kneewear.models.retrieval.reference import reconstructed
from kneewear.models.retrieval.registration import ScanPose, mirrored, register
from kneewear.models.retrieval.scans import (
    Scan,
    bearing_regions,
    dish_regions,
    plateau_regions,
)
from kneewear.models.retrieval.scar import Scar, find_scar, likeliest_scar, unworn_fractions
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.split import Measured
from kneewear.models.retrieval.surfaces import Blocks, Raster, make_blocks
from kneewear.models.retrieval.underside import (
    Face,
    deformation_table,
    evaluate_underside,
    judge_deformation,
)

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Median distance from the reference, mm, of a scan that is not of it; a mirror image at this part
# of the distance is the right one, which is tried above a distance, mm.
_OTHER_DESIGN = 0.25
_MIRROR_RATIO = 0.5
_MIRROR_ABOVE = 0.05
# Matched fraction below which the mirror image is tried, and by which it matches better.
_MIRROR_BELOW = 0.95
_MIRROR_GAIN = 0.05
_MIRROR_GAINED = 1.2
# Matched fraction of a mirror image at least: other designs touch anywhere, and leave most apart.
_MIRROR_MATCHED = 0.4
# Check of a scan whose front was taken for its rear.
_FRONT = "retrieval.front"
# Difference of the matched fractions of two poses that tells which is right.
_TELLING_MATCH = 0.005
# Relative difference of size, and of the extents of the plan, mm, of another size.
_OTHER_SCALE = 0.006
_OTHER_EXTENT = 1.5
# Error of a volume, relative and mm3, above which a page warns; quantile of an interval of 90 %.
_USEFUL = (0.15, 15.0)
_NINETY = 1.645
# Currie's detection limit in standard deviations of a volume: both errors at 5 %.
_DETECTION = 3.29
# Depth above which a block counts to the area, in its standard deviations.
_AREA_LIMIT = 2.0
# Distance above a reference and area, mm and mm2, that a scan does not grow.
_ABOVE = 0.04
_ABOVE_AREA = 40.0
# Unworn fraction of a plateau below which its volume is doubtful.
_LITTLE_UNWORN = 0.2
# Standard deviation of the mean depth of a plateau, mm, above which nothing is known of it.
_UNKNOWN_DEPTH = 1.0


@dataclass(frozen=True)
class Areas:
    """Polygons (n, 2) of corners x, z, mm, drawn on the plan of the reference.

    `worn` states the scar, `damage` what is neither worn nor unworn, `measured` what is evaluated.
    """

    worn: tuple[Array, ...] = ()
    damage: tuple[Array, ...] = ()
    measured: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Evaluation:
    """Wear of one scan.

    Parameters
    ----------
    scan : Scan
    pose : ScanPose or None
        Motion onto the reference; None without one.
    raster : Raster
    blocks : Blocks
    scar : Scar
    offset : array, shape (n,)
        Unworn surface above the reference along the normal, predicted at each block, mm.
    reference : array, shape (n, m)
        Heights of the reference at the points of the raster, mm.
    findings : tuple of Finding
    underside : Face or None
        Wear of the underside, where scan and reference have one.
    """

    scan: Scan
    pose: ScanPose | None
    raster: Raster
    blocks: Blocks
    scar: Scar
    offset: Array
    reference: Array
    findings: tuple[Finding, ...]
    underside: Face | None = None

    @property
    def face(self) -> Face:
        """The bearing."""
        return Face(self.blocks, self.scar, self.reference)

    @property
    def moved(self) -> TriangleMesh:
        """The scan on the reference."""
        return self.pose.moved(self.scan.mesh) if self.pose else self.scan.mesh


def evaluate_scan(
    scan: Scan, reference: Scan | None, settings: ScanSettings, areas: Areas | None = None
) -> Evaluation:
    """Evaluate the wear of a scan against a reference, or against its own unworn part.

    Parameters
    ----------
    scan : Scan
    reference : Scan, optional
        Unworn surface: a scan before the test, one of another insert, or CAD.
    settings : ScanSettings
    areas : Areas, optional
        Drawn areas.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputDataError
        When the scan is not of the reference, or too little of it is unworn.
    """
    areas = areas or Areas()
    if reference is None:
        return _evaluate_alone(scan, settings, areas)
    scan, pose = _registered(scan, reference)
    _refuse_others(scan, reference, pose)
    vertices = reference.mesh.vertices
    raster = Raster.around(vertices[:, [0, 2]].min(axis=0), vertices[:, [0, 2]].max(axis=0))
    heights = raster.heights(reference.mesh)
    plateaus = plateau_regions(raster, heights, reference.file)
    regions = _measured(raster, bearing_regions(raster, heights, plateaus), areas)
    result = raster.heights(pose.moved(scan.mesh))
    blocks = make_blocks(raster, heights, result, regions, settings.block_mm)
    _check_coverage(scan, blocks)
    worn, excluded = _drawn(blocks, areas)
    if worn is not None:
        _check_unworn(scan, unworn_fractions(blocks, worn), settings)
    drifts = [Drift(blocks.rigid_drift())]
    findings = _judge_reference(scan, reference, blocks)
    scar = find_scar(blocks, drifts, settings, worn, excluded)
    evaluation = _finished(scan, pose, raster, heights, blocks, scar, settings, findings)
    below = evaluate_underside(raster, evaluation.moved, reference.mesh, plateaus, settings)
    if below is None:
        return evaluation
    bent = judge_deformation(deformation_table(evaluation.face, below), scan.file)
    return replace(evaluation, underside=below, findings=(*evaluation.findings, *bent))


def _registered(scan: Scan, reference: Scan) -> tuple[Scan, ScanPose]:
    """A scan, turned round if its front was taken for its rear, and its pose on the reference."""
    turned = replace(
        scan, mesh=TriangleMesh(scan.mesh.vertices * [-1.0, 1.0, -1.0], scan.mesh.faces)
    )
    pose, other = (register(item.mesh, reference.mesh) for item in (scan, turned))
    # A notch or a rim without counterpart tells more than tolerances of what has one.
    gained = other.matched - pose.matched
    nearer = other.distance < pose.distance
    if gained < -_TELLING_MATCH or (gained < _TELLING_MATCH and not nearer):
        return scan, pose
    result = f"front and rear exchanged: so it is nearer to {reference.file}"
    finding = Finding(_FRONT, "note", scan.file, result, "", "")
    return replace(turned, findings=(*scan.findings, finding)), other


def _evaluate_alone(scan: Scan, settings: ScanSettings, areas: Areas) -> Evaluation:
    """Evaluate a scan against the shape of its own unworn part."""
    vertices = scan.mesh.vertices
    raster = Raster.around(vertices[:, [0, 2]].min(axis=0), vertices[:, [0, 2]].max(axis=0))
    result = raster.heights(scan.mesh)
    plateaus = dish_regions(raster, result, plateau_regions(raster, result, scan.file))
    regions = _measured(raster, plateaus, areas)
    unworn: Bools | None = None
    if areas.worn:
        unworn = ~_inside(raster, areas.worn)
    starts: tuple[Bools, ...] = ()
    for final in (False, True):
        heights, drifts_at = reconstructed(raster, result, regions, unworn)
        blocks = make_blocks(raster, heights, result, regions, settings.block_mm)
        _check_coverage(scan, blocks)
        worn, excluded = _drawn(blocks, areas)
        if worn is not None:
            _check_unworn(scan, unworn_fractions(blocks, worn), settings)
        drifts = drifts_at(blocks.points, blocks.normals, blocks.side)
        if final:
            break
        first = likeliest_scar(blocks, drifts, settings, excluded) if worn is None else worn
        _check_unworn(scan, unworn_fractions(blocks, first), settings)
        starts = (first,)
        unworn = _on_raster(raster, blocks, ~first)
    scar = find_scar(blocks, drifts, settings, worn, excluded, starts)
    return _finished(scan, None, raster, heights, blocks, scar, settings, (_doubt_alone(scan),))


def _on_raster(raster: Raster, blocks: Blocks, chosen: Bools) -> Bools:
    """Points of a raster in chosen blocks."""
    per = max(round(blocks.size / (raster.x[1] - raster.x[0])), 1)
    image = np.kron(blocks.masked(chosen), np.ones((per, per), dtype=bool))
    points = np.zeros(raster.shape, dtype=bool)
    rows, columns = (min(a, b) for a, b in zip(image.shape, raster.shape, strict=True))
    points[:rows, :columns] = image[:rows, :columns]
    return points


def _doubt_alone(scan: Scan) -> Finding:
    """Finding about every volume without a reference: a form of wear may be one of the dish.

    Intervals are those of the designs of `benchmarks/retrieval`; a design may be unlike them.
    """
    result = "no reference: wear that continues the form of the dish is taken for its shape"
    expected = "an unworn surface of the same design"
    remedy = (
        "Name one with --reference; without it the volume may be wrong by more than its interval "
        "says."
    )
    return Finding("retrieval.alone", "warn", scan.file, result, expected, remedy)


def _check_unworn(scan: Scan, unworn: Array, settings: ScanSettings) -> None:
    """InputDataError where too little of a plateau, or of both, is unworn."""
    for side, part in zip((*SIDES, BOTH), unworn, strict=True):
        if part < settings.least_unworn:
            result = f"{100 * part:.0f} % of the {side} plateau unworn"
            remedy = "Give an unworn scan with --reference, or a smaller worn area."
            expected = f"at least {100 * settings.least_unworn:.0f} %"
            raise InputDataError(scan.file, result, expected, remedy, check="retrieval.unworn")


def check_known(scan: Scan, blocks: Blocks, scar: Scar) -> None:
    """InputDataError where the unworn surface leaves the mean depth of a plateau open."""
    for number, side in enumerate(SIDES):
        area = float(blocks.area[blocks.side == number].sum())
        if scar.volume_sd[number] > _UNKNOWN_DEPTH * area:
            result = (
                f"a volume of the {side} plateau with an SD of {scar.volume_sd[number]:.2g} mm3"
            )
            expected = f"at most {_UNKNOWN_DEPTH * area:.2g} mm3, {_UNKNOWN_DEPTH:g} mm on it"
            remedy = "Give an unworn scan with --reference, or a smaller worn area."
            raise InputDataError(scan.file, result, expected, remedy, check="retrieval.unworn")


def _finished(
    scan: Scan,
    pose: ScanPose | None,
    raster: Raster,
    heights: Array,
    blocks: Blocks,
    scar: Scar,
    settings: ScanSettings,
    findings: tuple[Finding, ...],
) -> Evaluation:
    _check_unworn(scan, scar.unworn, settings)
    check_known(scan, blocks, scar)
    for side, unworn in zip(SIDES, scar.unworn, strict=False):
        if unworn < _LITTLE_UNWORN:
            result = f"{100 * unworn:.0f} % of the {side} plateau unworn: its volume is doubtful"
            remedy = "State the worn area in the file of --settings if it is known."
            findings += (Finding("retrieval.unworn", "warn", scan.file, result, "", remedy),)
    findings += _judge_interval(scan, scar)
    offset = scar.depth + np.where(np.isfinite(blocks.deviation), blocks.deviation, np.nan)
    return Evaluation(scan, pose, raster, blocks, scar, offset, heights, findings)


def _judge_interval(scan: Scan, scar: Scar) -> tuple[Finding, ...]:
    """Finding about a volume of both plateaus that is not known within 15 % or 15 mm3."""
    volume, half = float(scar.volume[2]), _NINETY * float(scar.volume_sd[2])
    allowed = max(_USEFUL[0] * volume, _USEFUL[1])
    if half <= allowed:
        return ()
    result = f"{volume:.3g} mm3 known within {half:.2g} mm3 only (interval of 90 %)"
    expected = f"within {allowed:.2g} mm3"
    remedy = "Name an unworn reference, or draw the worn area in the file of --settings."
    return (Finding("retrieval.interval", "warn", scan.file, result, expected, remedy),)


def _refuse_others(scan: Scan, reference: Scan, pose: ScanPose) -> None:
    """InputDataError for a scan of another size or design, or its mirror image."""
    extents = [item.mesh.extent[[0, 2]] for item in (scan, reference)]
    larger = float((extents[0] - extents[1]).max())
    scaled = abs(pose.scale - 1.0) > _OTHER_SCALE and pose.distance > 0.1 * _OTHER_DESIGN
    apart = pose.distance > _OTHER_DESIGN
    unlike = apart or scaled or larger > _OTHER_EXTENT
    # A mirror image that is turned round may differ by its notch alone.
    turned = any(item.check == _FRONT for item in scan.findings)
    near = pose.distance < _MIRROR_ABOVE and pose.matched > _MIRROR_BELOW
    if near and not unlike and not turned:
        return
    _, other = _registered(replace(scan, mesh=mirrored(scan.mesh)), reference)
    least = _TELLING_MATCH if turned else _MIRROR_GAIN
    gained = other.matched - pose.matched > least
    ratio = _MIRROR_GAINED if gained else _MIRROR_RATIO
    nearer = other.distance < ratio * pose.distance
    fits = larger <= _OTHER_EXTENT and abs(other.scale - 1.0) <= _OTHER_SCALE
    fits &= other.matched > _MIRROR_MATCHED
    if fits and nearer and other.matched > pose.matched - _MIRROR_GAIN:
        result = f"the mirror image of {reference.file}"
        remedy = "Name the side with --knee, or export the scan again without mirroring it."
        raise InputDataError(
            scan.file, result, "a scan of the same side", remedy, check="retrieval.mirrored"
        )
    if not unlike:
        return
    result = (
        f"a surface {pose.distance:.2f} mm from {reference.file} (median), "
        f"{extents[0][0]:.1f} by {extents[0][1]:.1f} mm instead of {extents[1][0]:.1f} by "
        f"{extents[1][1]:.1f} mm"
    )
    remedy = "Name the reference of this size and design, or leave it out."
    raise InputDataError(
        scan.file, result, "a scan of the reference", remedy, check="retrieval.size"
    )


def _check_coverage(scan: Scan, blocks: Blocks) -> None:
    part = float(np.isfinite(blocks.deviation).mean())
    if part < 0.5:
        result = f"{100 * part:.0f} % of the plateaus in the scan"
        remedy = "Scan the bearing as a whole, or give the measured area with --areas."
        raise InputDataError(scan.file, result, "at least half", remedy, check="retrieval.coverage")


def _judge_reference(scan: Scan, reference: Scan, blocks: Blocks) -> tuple[Finding, ...]:
    """Finding about a scan that rises above its reference, as if that were worn."""
    known = np.isfinite(blocks.deviation)
    values = blocks.deviation[known]
    middle = float(np.median(values))
    image = blocks.image(np.where(known, blocks.deviation - middle, 0.0), 0.0)
    smooth = scipy.ndimage.gaussian_filter(image, 1.0)
    areas = []
    for sign in (1.0, -1.0):
        label, count = scipy.ndimage.label(sign * smooth > _ABOVE)
        sizes = scipy.ndimage.sum_labels(label > 0, label, np.arange(1, count + 1))
        areas.append(float(np.max(sizes, initial=0.0)) * blocks.size**2)
    above, below = areas
    if above > max(_ABOVE_AREA, 2.0 * below):
        result = (
            f"{above:.0f} mm2 more than {1e3 * _ABOVE:.0f} um above {reference.file}, "
            f"{below:.0f} mm2 as far below it"
        )
        remedy = "The reference may be the more worn one: exchange the files, or name another."
        finding = Finding(
            "retrieval.reference",
            "warn",
            scan.file,
            result,
            "a surface below its reference",
            remedy,
        )
        return (finding,)
    return ()


def _inside(raster: Raster, polygons: Sequence[Array]) -> Bools:
    """Points of a raster inside any of some polygons."""
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    inside = np.zeros(raster.shape, dtype=bool)
    for polygon in polygons:
        held = polygon_coverage(polygon).contains(x.ravel(), z.ravel())
        inside |= np.reshape(held, raster.shape)
    return inside


def _measured(raster: Raster, regions: NDArray[np.int64], areas: Areas) -> NDArray[np.int64]:
    """Plateaus within the area that is evaluated."""
    if not areas.measured:
        return regions
    return np.where(_inside(raster, areas.measured), regions, -1)


def _drawn(blocks: Blocks, areas: Areas) -> tuple[Bools | None, Bools]:
    """Blocks that are stated to be worn (None: found), and those with damage."""

    def held(polygons: Sequence[Array]) -> Bools:
        inside = np.zeros(len(blocks.points), dtype=bool)
        for polygon in polygons:
            inside |= polygon_coverage(polygon).contains(*blocks.points[:, [0, 2]].T)
        return inside

    return (held(areas.worn) if areas.worn else None), held(areas.damage)


def result_table(
    evaluations: Sequence[Evaluation] | Sequence[Face], years: float | None
) -> pd.DataFrame:
    """Volume, depth and area of each plateau and both, with standard deviations, of a face.

    Several scans of one insert are averaged: noise and position of a scan become smaller by their
    number, what the reference contributes does not.
    """
    rows = []
    count = len(evaluations)
    for number, side in enumerate((*SIDES, BOTH)):
        volumes = np.array([item.scar.volume[number] for item in evaluations])
        sources = _sources(evaluations, number)
        sd = float(np.sqrt(sum(value**2 for value in sources.values())))
        first = evaluations[0]
        own = first.blocks.side == number if side in SIDES else np.full(first.scar.worn.size, True)
        depth = np.where(own & first.scar.worn, np.nan_to_num(first.scar.depth), -np.inf)
        worst = int(np.argmax(depth))
        deep = own & (np.nan_to_num(first.scar.depth) > _AREA_LIMIT * first.scar.depth_sd)
        worn = bool(np.isfinite(depth[worst]))
        row = {
            "side": side,
            "volume_mm3": volumes.mean(),
            "sd_mm3": sd,
            "lower_mm3": volumes.mean() - _NINETY * sd,
            "upper_mm3": volumes.mean() + _NINETY * sd,
            "detection_limit_mm3": _DETECTION * sd,
            "detected": bool(volumes.mean() > 0.5 * _DETECTION * sd),
            "largest_depth_mm": depth[worst] if worn else np.nan,
            "depth_sd_mm": first.scar.depth_sd[worst] if worn else np.nan,
            "x_mm": first.blocks.points[worst, 0] if worn else np.nan,
            "z_mm": first.blocks.points[worst, 2] if worn else np.nan,
            "area_mm2": first.blocks.area[deep & first.scar.worn].sum(),
            "evaluated_mm2": first.blocks.area[own].sum(),
            "unworn_percent": 100.0 * first.scar.unworn[number],
            "scans": count,
        }
        if years:
            row["mm3_per_year"] = volumes.mean() / years
            row["sd_mm3_per_year"] = sd / years
        rows.append(row)
    return pd.DataFrame(rows)


def measured_depths(evaluations: Sequence[Evaluation]) -> Measured:
    """Depths of the first scan, and mean volumes of all, for what is fitted to them."""
    blocks, scar = evaluations[0].blocks, evaluations[0].scar
    table = result_table(evaluations, None)[:2]
    depth = np.where(scar.worn | ~np.isfinite(scar.depth), scar.depth, 0.0)
    volume, sd = (table[name].to_numpy() for name in ("volume_mm3", "sd_mm3"))
    return Measured(depth, scar.depth_sd, blocks.area, blocks.side, volume, sd)


def _sources(evaluations: Sequence[Evaluation] | Sequence[Face], number: int) -> dict[str, float]:
    """Standard deviation of the volume of a side by source, mm3."""
    squares = {
        name: float(np.mean([item.scar.sources[name][number] ** 2 for item in evaluations]))
        for name in evaluations[0].scar.sources
    }
    count = len(evaluations)
    sources = {name: np.sqrt(value) for name, value in squares.items()}
    sources["scanner"] /= np.sqrt(count)
    if count > 1:
        volumes = [item.scar.volume[number] for item in evaluations]
        sources["repeated scans"] = float(np.std(volumes, ddof=1) / np.sqrt(count))
    return sources


def source_table(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Standard deviation of the volume of each side by source."""
    rows = [
        {"side": side, "source": name, "sd_mm3": value}
        for number, side in enumerate((*SIDES, BOTH))
        for name, value in _sources(evaluations, number).items()
    ]
    return pd.DataFrame(rows)


def underside_tables(evaluations: Sequence[Evaluation]) -> dict[str, pd.DataFrame]:
    """Tables of volumes of the underside and of bending; none where no scan has an underside."""
    known = [(item.face, item.underside) for item in evaluations if item.underside is not None]
    if not known:
        return {}
    volumes = result_table([below for _, below in known], None)
    return {"underside": volumes, "deformation": deformation_table(*known[0])}


def tolerance_table(evaluation: Evaluation) -> pd.DataFrame:
    """Offset of unworn surface from the reference as estimated, with weights of its forms."""
    return pd.DataFrame(
        [
            {
                "form": item.smoothness,
                "weight": item.weight,
                "sd_um": 1e3 * item.sd,
                "length_mm": item.length,
                "noise_um": 1e3 * item.sd * np.sqrt(item.nugget),
            }
            for item in evaluation.scar.fields
        ]
    )


def depth_table(evaluation: Evaluation) -> pd.DataFrame:
    """Depth and standard deviation of each block."""
    blocks, scar = evaluation.blocks, evaluation.scar
    return pd.DataFrame(
        {
            "side": [SIDES[number] for number in blocks.side],
            "x_mm": blocks.points[:, 0],
            "y_mm": blocks.points[:, 1],
            "z_mm": blocks.points[:, 2],
            "area_mm2": blocks.area,
            "depth_mm": scar.depth,
            "sd_mm": scar.depth_sd,
            "worn_probability": scar.probability,
        }
    )
