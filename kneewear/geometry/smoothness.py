"""Whether a fitted patch oscillates between the points it was fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

_SAMPLES_PER_SPAN = 4
# A spline swings from knot to knot: waves longer than this many spans are shape.
_LONGEST_SWING_SPANS = 2.5
# Rounding in the second differences of a micrometre-accurate fit, 1/mm.
_LEAST_SWING = 1e-6
# Bearings are rounder than 10 mm everywhere (the tightest, a posterior condyle, has 15 mm); what
# is tighter is an edge, whose shape the deviation judges.
_SHARPEST = 0.1


def ripple_amplitude(surface: Surface, points: Array, reach: float) -> float:
    """Largest amplitude of an oscillation along the parameter lines, mm.

    Parameters
    ----------
    surface : Surface
        Fitted patch.
    points : array, shape (n, 3)
        Points it was fitted to and is judged by.
    reach : float
        Parts of the patch farther than this from all points are not looked at, mm.

    Returns
    -------
    float
        mm; zero where curvature nowhere goes up, down and up again within a few knot spans.

    Notes
    -----
    Normal curvature is sampled four times a knot span along every line. A wave of height a and half
    length d has curvatures that swing by 2 a (pi/d)^2, so a swing s over d stands for the height
    a = (s/2) (d/pi)^2. An oscillation is three swings in a row, each no longer than two and a half
    knot spans; its amplitude is that of the smallest of them. A single edge (flat, round, flat)
    swings twice and is shape, and edges tighter than 10 mm in radius are left out.
    """
    from scipy.spatial import cKDTree  # noqa: PLC0415 - see kneewear.geometry.surface

    u, v = _refined(surface.knots_u), _refined(surface.knots_v)
    point, s_u, s_v, s_uu, _, s_vv = surface.derivatives(u[:, None], v[None, :])
    normal = np.cross(s_u, s_v)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    apart = cKDTree(points).query(point, distance_upper_bound=reach)[0] > reach
    sharp = np.abs(np.stack(surface.curvature(u[:, None], v[None, :]))).max(axis=0)
    apart |= sharp > _SHARPEST
    largest = 0.0
    for along, second, parameter, turned in ((s_u, s_uu, u, False), (s_v, s_vv, v, True)):
        metric = (along**2).sum(-1)
        curvature = (second * normal).sum(-1) / metric
        speed = np.sqrt(metric)
        fields = (curvature, speed, apart)
        for line in zip(*(field if turned else field.T for field in fields), strict=True):
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
    longest = _LONGEST_SWING_SPANS * _SAMPLES_PER_SPAN
    beside = np.diff(np.concatenate([[0], np.cumsum(apart)])[turns]) > 0
    amplitude[(np.diff(turns) > longest) | (swing < _LEAST_SWING) | beside] = 0.0
    return float(np.minimum(np.minimum(amplitude[:-2], amplitude[1:-1]), amplitude[2:]).max())


def _turning_points(values: Array) -> NDArray[np.int64]:
    """Places where a sequence turns round, its ends included."""
    rising = np.sign(np.diff(values))
    moving = np.flatnonzero(rising)
    # Level pieces belong to the slope before them.
    turn = moving[1:][rising[moving[1:]] != rising[moving[:-1]]]
    return np.concatenate([[0], turn, [values.size - 1]])


def _refined(knots: Array) -> Array:
    """Several values a knot span, just off the knots where curvature may jump."""
    breaks = np.unique(knots)
    part = (np.arange(_SAMPLES_PER_SPAN) + 0.5) / _SAMPLES_PER_SPAN
    return (breaks[:-1, None] + np.diff(breaks)[:, None] * part).ravel()
