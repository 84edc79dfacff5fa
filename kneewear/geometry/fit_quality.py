"""How far a patch stands from the points it is meant to follow, and whether that is accepted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.smoothness import ripple_amplitude
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

# Ripple is accepted up to this part of the tolerance of the deviation: it is what the eye and the
# pressure map see first.
RIPPLE_SHARE = 0.2


@dataclass(frozen=True)
class FitQuality:
    """How far a fitted patch stands from the points it was fitted to.

    Parameters
    ----------
    side, component : str
        "medial" or "lateral"; "insert" or "femoral".
    n_u, n_v : int
        Control points.
    max_mm, mean_mm, sd_mm : float
        Largest and mean absolute deviation, and standard deviation of the signed one: exact
        closest-point distance of vertices, mm.
    n_points : int
        Number of vertices judged: those fitted and at least 2 mm inside the borders of the region
        and of the mesh. Of a condyle's rounded edges the outer one is judged whole, the notch's
        but for its last 0.5 mm.
    ripple_mm : float
        Largest amplitude of an oscillation between points, mm; see `ripple_amplitude`.
    points : array, shape (n_points, 3)
        The points judged, mm, in the frame of the component.
    deviation : array, shape (n_points,)
        Signed distance of each from the patch, mm, positive outside the material.
    """

    side: str
    component: str
    n_u: int
    n_v: int
    max_mm: float
    mean_mm: float
    sd_mm: float
    n_points: int
    ripple_mm: float = 0.0
    points: Array = field(default_factory=lambda: np.empty((0, 3)), repr=False, compare=False)
    deviation: Array = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    def row(self) -> dict[str, Any]:
        """Names and numbers of the patch without its points."""
        return {name: getattr(self, name) for name in self.columns()}

    @classmethod
    def columns(cls) -> list[str]:
        """Names of the columns of `fit_quality.csv`."""
        names = [item.name for item in fields(cls)]
        return [name for name in names if name not in ("points", "deviation")]


def judge_patch(
    surface: Surface, points: Array, component: str, side: str, ripple_reach: float | None = None
) -> FitQuality:
    """Deviation of points from a patch.

    Parameters
    ----------
    surface : Surface
        The patch.
    points : array, shape (n, 3)
        Points that should lie on it, mm; those whose nearest point is the patch's border are left
        out.
    component, side : str
        Names for the record.
    ripple_reach : float, optional
        Distance from the points, mm, within which the patch is searched for ripple; not searched
        when absent.

    Returns
    -------
    FitQuality
    """
    _, _, distance, _, interior = surface.closest_points(points)
    points, distance = points[interior], distance[interior]
    searched = ripple_reach is not None and len(points) > 0
    return summarize_deviation(
        (component, side),
        surface,
        points,
        distance,
        ripple_amplitude(surface, points, ripple_reach) if searched else 0.0,  # type: ignore[arg-type]
    )


def summarize_deviation(
    label: tuple[str, str], surface: Surface, points: Array, distance: Array, ripple: float = 0.0
) -> FitQuality:
    """Record of signed distances between points and a patch.

    Parameters
    ----------
    label : pair of str
        Component and side.
    surface : Surface
        The patch.
    points, distance : array, shape (n, 3) and (n,)
        Points, mm, and their signed distances, mm.
    ripple : float
        Amplitude of oscillation, mm.

    Returns
    -------
    FitQuality
    """
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
        points=points,
        deviation=distance,
    )


def is_accepted(quality: FitQuality, tolerance: float, mean_tolerance: float) -> bool:
    """Whether deviation and ripple of a patch keep their limits, mm."""
    return (
        quality.max_mm <= tolerance
        and quality.mean_mm <= mean_tolerance
        and quality.ripple_mm <= RIPPLE_SHARE * tolerance
    )


def refuse_patch(
    quality: FitQuality, tolerance: float, mean_tolerance: float, source: str
) -> InputDataError:
    """Error that tells which limit a patch breaks, by how much and where."""
    lines = f"with {quality.n_u} x {quality.n_v} lines"
    between = f"between {quality.side} {quality.component} patch and mesh {lines}"
    remedy = (
        "Move the region away from edges, lower `knot_spacing_mm` and `smoothing_length_mm`, or "
        "accept more (`tolerance_mm`, `mean_tolerance_mm`)."
    )
    if quality.max_mm > tolerance:
        x, y, z = quality.points[int(np.abs(quality.deviation).argmax())]
        found = f"a deviation of {1e3 * quality.max_mm:.1f} um {between}"
        expected = f"at most {1e3 * tolerance:.1f} um (`tolerance_mm`)"
        where = f"near x {x:.1f}, y {y:.1f}, z {z:.1f} mm"
        return InputDataError(source, found, expected, remedy, where)
    if quality.mean_mm > mean_tolerance:
        found = f"a mean deviation of {1e3 * quality.mean_mm:.2f} um {between}"
        expected = f"at most {1e3 * mean_tolerance:.2f} um (`mean_tolerance_mm`)"
        return InputDataError(source, found, expected, remedy)
    found = f"a ripple of {1e3 * quality.ripple_mm:.2f} um on the {quality.side} "
    found += f"{quality.component} patch {lines}"
    expected = f"at most {1e3 * RIPPLE_SHARE * tolerance:.2f} um, a fifth of `tolerance_mm`"
    remedy = "Raise `smoothing_length_mm` or `knot_spacing_mm`: the patch follows noise."
    return InputDataError(source, found, expected, remedy)
