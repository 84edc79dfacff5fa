"""Knot spacing, smoothing and tolerances with which surfaces follow the bearings of an implant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.fit_quality import RIPPLE_SHARE, FitQuality
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.meshes import TriangleMesh, bearing_axis, within_outline
from kneewear.geometry.noise import NOISY, estimate_noise
from kneewear.geometry.segmentation import CondyleRegion, PlateauRegion

Array = NDArray[np.float64]
Plateaus = Mapping[str, PlateauRegion]
Condyles = Mapping[str, CondyleRegion]

# Parts of a mesh edge that are tried: knots along and across, and smoothing.
_KNOTS = ((2.5, 1.25), (3.5, 2.0))
_SMOOTHING = (0.25, 0.5, 1.0, 2.0, 4.0)
# Of fits whose mean deviation is about the least the smoothest is taken: the rest is noise.
_ABOUT = 1.15
# Of scans deviations below the mean of the noise are of no use, deviations of a smooth surface are
# this part above it, and stronger smoothing is tried.
_ABOUT_NOISE = 1.02
_NOISE_SMOOTHING = (8.0, 12.0)
# Deviations that are accepted anyway, and the room above what was reached, mm and 1.
_MIN_MAX = 0.02
_MIN_MEAN = 0.001
_ROOM = 1.25
# Of scans nearly all of the mean deviation is noise s, and a surface that deviates by d itself
# raises it to sqrt(s^2 + d^2) only: a quarter above the noise would be 3/4 of it.
_ROOM_NOISE = 1.03
# A border of a condyle moves inward by this much beyond the worst place, mm; how often, and the
# angles it may reach, deg.
_STEP = 1.0
_ROUNDS = 6
_POSTERIOR = 85.0
_ANTERIOR = -20.0
_INWARD = 1.0
# Standard deviations that the noise of none of some thousand vertices reaches.
_CERTAIN = 5.0


@dataclass(frozen=True)
class FittingChoice:
    """Settings of the fit that were found, lengths in mm, and what they reach.

    `qualities` are those of four patches, medial and lateral of insert and femoral component;
    `plateaus` are the widest regions that a surface follows, `condyles` the regions after places
    that no surface follows were cut off. `noise` has the noise of each component, mm; `scanned` is
    True where one of them is a scan.
    """

    settings: FitSettings
    qualities: tuple[FitQuality, ...]
    plateaus: Plateaus
    condyles: Condyles
    noise: Mapping[str, float]
    scanned: bool


def choose_fit(
    insert: TriangleMesh, femoral: TriangleMesh, grown: Sequence[Plateaus], condyles: Condyles
) -> FittingChoice:
    """Fit settings for the bearings of sheets in mm and knee axes.

    `grown` are plateaus as of `segment_plateaus`, from the narrowest on: of each side the widest is
    taken that a surface follows to its borders within 20 um, or as closely as the narrowest but for
    the noise of a scan.
    Knots and smoothing in parts of a mesh edge are tried on all four patches; of those whose mean
    deviation is at most 15 % above the least the smoothest are taken, so that surfaces follow the
    shape and not the noise. Of scans deviations are judged by the noise that is estimated, and
    stronger smoothing is tried. Tolerances are a quarter above what is reached, at least 20 um, and
    1 um on average; of scans 3 % above on average, and the surface has no lines where strips
    deviate: the mean of a strip is noise as well. InputDataError when a region holds too few
    vertices.
    """
    # Knots closer than vertices would follow the noise of one of them.
    edge = max(_edge(insert), _edge(femoral))
    first = _settings(edge, _KNOTS[0], 0.5)
    condyles = without_bad_borders(femoral, condyles, first, _condyle_noise(femoral, condyles))
    closest = _settings(edge, _KNOTS[0], _SMOOTHING[0])
    plateaus = {side: _widest(insert, [one[side] for one in grown], closest) for side in grown[0]}
    noise = {
        "insert": _plateau_noise(insert, plateaus),
        "femoral": _condyle_noise(femoral, condyles),
    }
    scanned = max(noise.values()) > NOISY
    tried = []
    for knots in _KNOTS:
        for smoothing in (*_SMOOTHING, *(_NOISE_SMOOTHING if scanned else ())):
            settings = _settings(edge, knots, smoothing)
            qualities = tuple(_fits(insert, femoral, plateaus, condyles, settings))
            tried.append((settings, qualities))
    means = np.array([[quality.mean_mm for quality in qualities] for _, qualities in tried])
    # Below half of the accepted mean deviation less is of no use.
    means = np.maximum(means, 0.5 * _MIN_MEAN)
    about = _ABOUT
    if scanned:
        # Mean size of normal deviations over their standard deviation.
        least_mean = np.sqrt(2.0 / np.pi) * np.array([noise[one.component] for one in tried[0][1]])
        means, about = np.maximum(means, least_mean), _ABOUT_NOISE
    worst = (means / means.min(axis=0)).max(axis=1)
    enough = worst < about * worst.min()
    settings, qualities = [one for one, good in zip(tried, enough, strict=True) if good][-1]
    least = max(
        _ROOM * max(one.max_mm for one in qualities),
        2 * _ROOM * max(one.ripple_mm for one in qualities) / RIPPLE_SHARE,
    )
    mean = (_ROOM_NOISE if scanned else _ROOM) * max(one.mean_mm for one in qualities)
    found = replace(
        settings,
        tolerance=_rounded_up(max(_MIN_MAX, least)),
        mean_tolerance=_rounded_up(max(_MIN_MEAN, mean)),
        densest=False,
    )
    return FittingChoice(found, qualities, plateaus, condyles, noise, scanned)


def _plateau_noise(insert: TriangleMesh, plateaus: Plateaus) -> float:
    """Largest noise of the plateaus, mm."""
    parts = [within_outline(insert, one.outline).vertices for one in plateaus.values()]
    return max(map(estimate_noise, parts))


def _condyle_noise(femoral: TriangleMesh, condyles: Condyles) -> float:
    """Largest noise of the condyles, mm."""
    arms = femoral.vertices[:, :2] - np.array(_axis(femoral, condyles))
    angle = np.degrees(np.arctan2(arms[:, 0], -arms[:, 1]))
    across = femoral.vertices[:, 2]
    fits = []
    for one in condyles.values():
        (near, far), (low, high) = one.z, one.angle_deg
        inside = (across > near) & (across < far) & (angle > low) & (angle < high)
        fits.append(estimate_noise(femoral.vertices[inside]))
    return max(fits)


def _edge(mesh: TriangleMesh) -> float:
    """Median edge of equilateral triangles of the same area, mm."""
    area = np.linalg.norm(mesh.face_normals, axis=1)
    return float(np.sqrt(np.median(area) * 4.0 / np.sqrt(3.0)))


def _settings(edge: float, knots: tuple[float, float], smoothing: float) -> FitSettings:
    along, across = (
        float(f"{max(least, part * edge):.2g}")
        for least, part in zip((1.5, 1.0), knots, strict=True)
    )
    return FitSettings(along, across, float(f"{smoothing * edge:.2g}"), np.inf, densest=True)


def _fits(
    insert: TriangleMesh,
    femoral: TriangleMesh,
    plateaus: Plateaus,
    condyles: Condyles,
    settings: FitSettings,
) -> Iterator[FitQuality]:
    for side, one in plateaus.items():
        sheet = within_outline(insert, one.outline)
        yield fit_plateau(sheet, one.x, one.z, settings, ("insert", "insert", side))[1]
    for side in condyles:
        yield _fit_condyle(femoral, condyles, side, settings)


def _axis(femoral: TriangleMesh, condyles: Condyles) -> tuple[float, float]:
    return bearing_axis(femoral, [condyle.z for condyle in condyles.values()])


def _fit_condyle(
    femoral: TriangleMesh, condyles: Condyles, side: str, settings: FitSettings
) -> FitQuality:
    one = condyles[side]
    low, high = np.radians(one.angle_deg)
    axis = _axis(femoral, condyles)
    label = ("femoral", "femoral", side)
    return fit_condyle(femoral, axis, (float(low), float(high)), one.z, settings, label)[1]


def _widest(
    insert: TriangleMesh, grown: Sequence[PlateauRegion], settings: FitSettings
) -> PlateauRegion:
    """Widest of the regions of a plateau that a patch follows to its borders."""

    def deviation(region: PlateauRegion) -> float:
        sheet = within_outline(insert, region.outline)
        patch, _ = fit_plateau(sheet, region.x, region.z, settings)
        _, _, distance, _, interior = patch.closest_points(sheet.vertices)
        return float(np.abs(distance[interior]).max(initial=0.0))

    # The largest of the deviations of a scan is chance: on a wider region it is larger by a part of
    # the noise.
    noise = estimate_noise(within_outline(insert, grown[0].outline).vertices)
    limit = max(_MIN_MAX, deviation(grown[0]) + (noise if noise > NOISY else 0.0))
    return next((one for one in grown[:0:-1] if deviation(one) <= limit), grown[0])


def without_bad_borders(
    femoral: TriangleMesh, condyles: Condyles, settings: FitSettings, noise: float
) -> Condyles:
    """Regions of condyles that end before places near their borders that no patch follows.

    Places deviate by more than 20 um, and by more than the `noise` of the femoral sheet, mm, does.
    """
    regions = dict(condyles)
    for side, first in condyles.items():
        for _ in range(_ROUNDS):
            try:
                fit = _fit_condyle(femoral, regions, side, settings)
            except InputDataError:
                break
            place, deviation = _worst_place(fit, noise)
            if deviation <= _MIN_MAX:
                break
            smaller = _cut_near(regions[side], place, _axis(femoral, regions), first)
            if smaller == regions[side]:
                break
            regions[side] = smaller
    return regions


def _worst_place(fit: FitQuality, noise: float) -> tuple[Array, float]:
    """Place (3,) of the largest deviation, and its size, mm.

    Of a scan, deviations are means over as many points as leave `_MIN_MAX` of its noise: the
    largest one of a single point is where chance put it.
    """
    count = min(max(1, int(np.ceil((_CERTAIN * noise / _MIN_MAX) ** 2))), len(fit.points))
    near = scipy.spatial.cKDTree(fit.points).query(fit.points, k=[*range(1, count + 1)])[1]
    deviation = np.abs(fit.deviation[near].mean(axis=1))
    worst = int(deviation.argmax())
    return fit.points[worst], float(deviation[worst])


def _cut_near(
    region: CondyleRegion, place: Array, axis: tuple[float, float], first: CondyleRegion
) -> CondyleRegion:
    """Region that ends before a place, at the border nearest to it, if that may move so far."""
    arm = place[:2] - np.array(axis)
    angle = float(np.degrees(np.arctan2(arm[0], -arm[1])))
    radius = float(np.hypot(*arm))
    (low, high), (z0, z1) = region.angle_deg, region.z
    step = float(np.degrees(_STEP / radius))
    inner = 1 if z1 < 0 else 0  # number of the limit beside the notch
    sign = 1.0 if inner == 0 else -1.0
    notch = (z0, z1)[inner]
    distances = {
        "posterior": np.radians(high - angle) * radius,
        "anterior": np.radians(angle - low) * radius,
        "notch": sign * (place[2] - notch),
    }
    nearest = min(distances, key=lambda name: distances[name])
    # Much flexion is given up before the flank of the notch, which guides the condyle.
    if angle - step > _POSTERIOR:
        return replace(region, angle_deg=(low, angle - step))
    if nearest == "anterior" and angle + step < _ANTERIOR:
        return replace(region, angle_deg=(angle + step, high))
    moved = float(place[2]) + sign * 0.5 * _STEP
    if nearest == "notch" and sign * (moved - first.z[inner]) < _INWARD:
        return replace(region, z=(moved, z1) if inner == 0 else (z0, moved))
    return region


def _rounded_up(value: float) -> float:
    """Value with two digits, rounded up."""
    power = 10.0 ** (np.floor(np.log10(value)) - 1)
    return float(f"{np.ceil(value / power - 1e-9) * power:.3g}")
