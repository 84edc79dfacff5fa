"""Deviation and ripple of a patch fitted to points, and whether they are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.extraction import Extraction
from kneewear.geometry.noise import NOISY, estimate_noise
from kneewear.geometry.surface import Surface, span_parts

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# Ripple is accepted up to this part of the tolerance of the deviation, because the pressure is
# sensitive to it.
RIPPLE_SHARE = 0.2
_SAMPLES_PER_SPAN = 4
# A spline oscillates from knot to knot: waves longer than this many spans are shape.
_MAX_SWING_SPANS = 2.5
# Rounding in the second differences of a micrometre-accurate fit, 1/mm.
_MIN_SWING = 1e-6
# 1/mm. Radii of bearings exceed 10 mm everywhere (the smallest, of a posterior condyle, is 15 mm);
# smaller ones are edges, whose shape is judged by the deviation.
_SHARPEST = 0.1
# Width of strips, mm, and the least number of points whose mean is free of noise.
_STRIP = 0.5
_MIN_OF_STRIP = 12
# Standard errors of the mean of a strip that noise explains.
_STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class FitQuality:
    """Deviation of a patch from the points it was fitted to.

    Judged are the vertices fitted and at least 2 mm inside the borders of the region and of the
    mesh. Of a condyle's rounded edges the outer one is judged completely, the notch's except for
    its last 0.5 mm.
    """

    side: str  # "medial", "lateral" or "post"
    component: str  # "insert", "femoral", or their bones
    n_u: int  # control points along u
    n_v: int  # and along v
    max_mm: float  # of the absolute deviation: exact closest-point distances
    mean_mm: float  # of the absolute deviation
    sd_mm: float  # of the signed deviation
    n_points: int  # judged
    ripple_mm: float = 0.0  # maximum amplitude between points, see `ripple_amplitude`
    wave_mm: float = 0.0  # largest mean deviation of a strip along the bearing, see `strip_means`
    # The points judged, mm, in the frame of the component, and the signed distance of each from the
    # patch, mm, positive outside the material.
    points: Array = field(default_factory=lambda: np.empty((0, 3)), repr=False, compare=False)
    deviation: Array = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    def row(self) -> dict[str, Any]:
        """Values of the columns of `fit_quality.csv`."""
        return {name: getattr(self, name) for name in self.columns()}

    def wave_near(self, places: Array, reach: float, share: Array) -> float:
        """Largest mean deviation of a strip, mm, of points within `reach` of places (n, 3), mm.

        `share` (n,) is the part of the largest pressure that each place carries. The deviation of a
        point counts by the largest share near it: where a rim only just touches, it changes no
        result. Of a scan the part that its noise explains is left out.
        """
        if not (len(places) and len(self.points)):
            return 0.0
        found = scipy.spatial.cKDTree(places).query_ball_point(self.points, reach)
        carried = np.array([share[one].max(initial=0.0) for one in found])
        near = carried > 0.0
        means = strip_means(self.points[near], (carried * self.deviation)[near], self._noise())[1]
        return float(np.abs(means).max(initial=0.0))

    def largest_wave(self) -> float:
        """Largest mean deviation of a strip, mm, less what the noise of a scan explains."""
        means = strip_means(self.points, self.deviation, self._noise())[1]
        return float(np.abs(means).max(initial=0.0))

    def _noise(self) -> float:
        """Noise of the points, mm; zero of points that are no scan."""
        noise = estimate_noise(self.points)
        return noise if noise > NOISY else 0.0

    @classmethod
    def columns(cls) -> list[str]:
        """Names of the columns of `fit_quality.csv`."""
        return [item.name for item in fields(cls) if item.compare]


@dataclass(frozen=True)
class GeometryRecord:
    """Deviation of each patch from the vertices it was fitted to, and bearings cut out of solids.

    Exact patches of the built-in implant have no deviation; bearings are "insert" and "femoral".
    """

    fit_quality: tuple[FitQuality, ...]
    extractions: Mapping[str, Extraction] | None = None


def tabulate_fit(record: GeometryRecord) -> pd.DataFrame:
    """Deviation and ripple of every patch, one row per patch (`geometry/fit_quality.csv`)."""
    import pandas as pd  # noqa: PLC0415 - few jobs need it

    rows = [fit.row() for fit in record.fit_quality]
    return pd.DataFrame(rows, columns=FitQuality.columns())


def judge_patch(
    surface: Surface, points: Array, component: str, side: str, ripple_reach: float
) -> FitQuality:
    """Deviation of points (n, 3), mm, from a patch, except those nearest to the patch's border.

    Ripple is searched for within `ripple_reach`, mm, of the points.
    """
    _, _, distance, _, interior = surface.closest_points(points)
    points, distance = points[interior], distance[interior]
    ripple = ripple_amplitude(surface, points, ripple_reach) if len(points) else 0.0
    return summarize_deviation((component, side), surface, points, distance, ripple)


def summarize_deviation(
    label: tuple[str, str], surface: Surface, points: Array, distance: Array, ripple: float = 0.0
) -> FitQuality:
    """Record of points (n, 3) and their signed distances (n,), mm; label: component and side."""
    size = np.abs(distance)
    return FitQuality(
        side=label[1],
        component=label[0],
        n_u=surface.control_points.shape[0],
        n_v=surface.control_points.shape[1],
        max_mm=float(size.max(initial=0.0)),
        mean_mm=float(size.mean()) if size.size else 0.0,
        sd_mm=float(distance.std()) if size.size else 0.0,
        n_points=int(size.size),
        ripple_mm=ripple,
        wave_mm=float(np.abs(strip_means(points, distance)[1]).max(initial=0.0)),
        points=points,
        deviation=distance,
    )


def strip_means(points: Array, deviation: Array, noise: float = 0.0) -> tuple[Array, Array]:
    """Medial-lateral positions of strips along the bearing, and their mean deviations, mm.

    Strips of points (n, 3) are 0.5 mm wide; those of fewer than twelve points are left out. Noise
    cancels in the mean of a strip, so that a wave across the bearing is left, such as a smooth
    patch has where a fillet starts: on a conforming bearing it shifts the pressure sideways. Means
    are smaller by three standard errors of a `noise` of the points, mm.
    """
    number = np.floor(points[:, 2] / _STRIP).astype(np.int64)
    strips, which, count = np.unique(number, return_inverse=True, return_counts=True)
    means = np.bincount(which, weights=deviation, minlength=strips.size) / np.maximum(count, 1)
    enough = count >= _MIN_OF_STRIP
    explained = _STANDARD_ERRORS * noise / np.sqrt(np.maximum(count, 1))
    means = np.sign(means) * np.maximum(np.abs(means) - explained, 0.0)
    return np.asarray((strips[enough] + 0.5) * _STRIP, dtype=np.float64), means[enough]


def fit_fault(
    quality: FitQuality,
    tolerance: float,
    mean_tolerance: float,
    source: str,
    axis: tuple[float, float] | None = None,
) -> InputDataError | None:
    """Error that states which limit, mm, a patch exceeds, by how much and where; None if none.

    With the `axis` (x, y), mm, of a condyle the place has the angle about it as well.
    """
    patch = f"{quality.side} {quality.component} patch"
    lines = f"with {quality.n_u} x {quality.n_v} lines"
    where = ""
    remedy = (
        "If the place is on a rounded rim or a wall, end the region about 3 mm before it (make "
        "check-inputs counts the contact that ends there); else lower `knot_spacing_mm` and "
        "`smoothing_length_mm`, or accept more (`tolerance_mm`, `mean_tolerance_mm`)."
    )
    if quality.max_mm > tolerance:
        x, y, z = quality.points[int(np.abs(quality.deviation).argmax())]
        found = f"a deviation of {1e3 * quality.max_mm:.1f} um between {patch} and mesh {lines}"
        expected = f"at most {1e3 * tolerance:.1f} um (`tolerance_mm`)"
        where = f"near x {x:.1f}, y {y:.1f}, z {z:.1f} mm"
        if axis is not None:
            angle = np.degrees(np.arctan2(x - axis[0], axis[1] - y))
            where += f", angle {angle:.0f} deg about x {axis[0]:.1f}, y {axis[1]:.1f}"
    elif quality.mean_mm > mean_tolerance:
        found = f"a mean deviation of {1e3 * quality.mean_mm:.2f} um between {patch} and mesh "
        found += lines
        expected = f"at most {1e3 * mean_tolerance:.2f} um (`mean_tolerance_mm`)"
    elif quality.ripple_mm > RIPPLE_SHARE * tolerance:
        found = f"a ripple of {1e3 * quality.ripple_mm:.2f} um on the {patch} {lines}"
        expected = f"at most {1e3 * RIPPLE_SHARE * tolerance:.2f} um, a fifth of `tolerance_mm`"
        remedy = "Raise `smoothing_length_mm` or `knot_spacing_mm`: the patch follows noise."
    else:
        return None
    return InputDataError(source, found, expected, remedy, where)


def ripple_amplitude(surface: Surface, points: Array, reach: float) -> float:
    """Maximum amplitude of an oscillation along the parameter lines of a fitted patch, mm.

    Parts of the patch farther than `reach`, mm, from all points (n, 3) are ignored. A wave of
    height a and half length d has normal curvatures that swing by 2 a (pi/d)^2, so a swing s over d
    corresponds to the height a = (s/2) (d/pi)^2. An oscillation is three consecutive swings, each
    no longer than two and a half knot spans; its amplitude is that of the smallest of them. A
    single edge (flat, rounded, flat) swings twice and is shape; edges below 10 mm of radius are
    ignored.
    """
    u, v = (span_parts(breaks, _SAMPLES_PER_SPAN) for breaks in surface.arrays[:2])
    point, s_u, s_v, s_uu, _, s_vv = surface.derivatives(u[:, None], v[None, :])
    normal = np.cross(s_u, s_v)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    apart = scipy.spatial.cKDTree(points).query(point, distance_upper_bound=reach)[0] > reach
    sharp = np.abs(np.stack(surface.curvature(u[:, None], v[None, :]))).max(axis=0)
    apart |= sharp > _SHARPEST
    largest = 0.0
    for along, second, parameter, turned in ((s_u, s_uu, u, False), (s_v, s_vv, v, True)):
        metric = (along**2).sum(-1)
        curvature = (second * normal).sum(-1) / metric
        speed = np.sqrt(metric)
        values = (curvature, speed, apart)
        for line in zip(*(value if turned else value.T for value in values), strict=True):
            largest = max(largest, _line_ripple(parameter, *line))
    return largest


def _line_ripple(
    parameter: Array, curvature: Array, speed: Array, apart: NDArray[np.bool_]
) -> float:
    """Amplitude of the largest oscillation along one line."""
    step = 0.5 * (speed[1:] + speed[:-1]) * np.diff(parameter)
    length = np.concatenate([[0.0], np.cumsum(step)])
    turns = _turning_points(curvature)
    if len(turns) < 4:
        return 0.0
    swing, span = np.abs(np.diff(curvature[turns])), np.diff(length[turns])
    amplitude = 0.5 * swing * (span / np.pi) ** 2
    longest = _MAX_SWING_SPANS * _SAMPLES_PER_SPAN
    beside = np.diff(np.concatenate([[0], np.cumsum(apart)])[turns]) > 0
    amplitude[(np.diff(turns) > longest) | (swing < _MIN_SWING) | beside] = 0.0
    return float(np.minimum(np.minimum(amplitude[:-2], amplitude[1:-1]), amplitude[2:]).max())


def _turning_points(values: Array) -> NDArray[np.int64]:
    """Indices at which a sequence reverses, its ends included."""
    rising = np.sign(np.diff(values))
    moving = np.flatnonzero(rising)
    # Level pieces belong to the slope before them.
    turn = moving[1:][rising[moving[1:]] != rising[moving[:-1]]]
    return np.concatenate([[0], turn, [values.size - 1]])
