"""The built-in cruciate-retaining implant: exact arcs revolved about medial-lateral axes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kneewear.config import ParametricImplantSettings
from kneewear.geometry.fit_quality import FitQuality, summarize_deviation
from kneewear.geometry.implant import SIDES, Implant
from kneewear.geometry.surface import Surface

# Flexion seen by the condyles: contact stays inside for -20 to 120 deg of flexion.
FEMORAL_SWEEP = (math.radians(-45.0), math.radians(140.0))
FEMORAL_EDGE_SWEEP = math.radians(75.0)
PLATEAU_EDGE_SWEEP = math.radians(35.0)
# Points along u and v at which the patches are measured against the exact arcs.
_MEASURED = (61, 121)


def build_parametric_implant(
    settings: ParametricImplantSettings,
    name: str,
    nominal_thickness: float,
    left: bool = False,
) -> Implant:
    """Implant of revolution with a dished insert.

    Each condyle is a convex coronal arc with rounded rims revolved about the flexion axis, which
    runs through the femoral origin. Each plateau is a coronal arc (the land) between two rounded
    rims, revolved about an axis above the insert. All surfaces are exact NURBS.

    Parameters
    ----------
    settings : ParametricImplantSettings
        Radii and widths, mm.
    name : str
        Name of the implant.
    nominal_thickness : float
        Nominal minimum insert thickness, mm. The bottom of the dishes lies `extra_thickness_mm`
        higher above the insert's flat underside.
    left : bool
        Recorded only: the built-in implant is symmetric under left-right mirroring.

    Returns
    -------
    Implant
        Femoral surfaces in the femoral frame, plateaus in the insert's frame.
    """
    femoral, insert = {}, {}
    top = nominal_thickness + settings.extra_thickness_mm
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        centre = 0.5 * settings.condyle_spacing_mm
        mismatch = getattr(settings.plateau_spacing_mismatch_mm, side)
        condyle = coronal_profile(
            middle=sign * centre,
            arc_radius=getattr(settings.femoral_coronal_radius_mm, side),
            half_width=settings.femoral_half_width_mm,
            rim_radius=settings.femoral_edge_radius_mm,
            rim_sweep=FEMORAL_EDGE_SWEEP,
            hollow=False,
        )
        femoral[side] = _revolved(
            condyle + np.array([0.0, settings.femoral_sagittal_radius_mm, 0.0]),
            axis_height=0.0,
            sweep=FEMORAL_SWEEP,
        )
        plateau = coronal_profile(
            middle=sign * (centre + mismatch),
            arc_radius=getattr(settings.plateau_coronal_radius_mm, side),
            half_width=settings.plateau_land_half_width_mm,
            rim_radius=getattr(settings.plateau_edge_radius_mm, side),
            rim_sweep=PLATEAU_EDGE_SWEEP,
            hollow=True,
        )
        radius = settings.plateau_sagittal_radius_mm
        half_sweep = math.asin(settings.plateau_half_length_mm / radius)
        # The axis stands above the insert: what rises comes nearer to it.
        insert[side] = _revolved(
            plateau * np.array([1.0, -1.0, 1.0]) + np.array([0.0, radius, 0.0]),
            axis_height=top + radius,
            sweep=(-half_sweep, half_sweep),
        ).reversed_normal()
    return Implant(
        name=name,
        femoral=femoral,
        insert=insert,
        underside=0.0,
        nominal_thickness=nominal_thickness,
        left=left,
    )


def measure_parametric_implant(
    implant: Implant, settings: ParametricImplantSettings
) -> list[FitQuality]:
    """Distance of the built-in implant's patches from the arcs its settings describe.

    Parameters
    ----------
    implant : Implant
        As built from the settings.
    settings : ParametricImplantSettings
        Radii and widths, mm.

    Returns
    -------
    list of FitQuality
        One for each patch, from 61 x 121 points on it.

    Notes
    -----
    A point goes to its meridian plane (its distance from the axis of revolution, and z); there its
    distance from the arc whose sector it lies in is known without any spline.
    """
    quality = []
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        centre = 0.5 * settings.condyle_spacing_mm
        mismatch = getattr(settings.plateau_spacing_mismatch_mm, side)
        sagittal = settings.plateau_sagittal_radius_mm
        top = implant.nominal_thickness + settings.extra_thickness_mm
        parts = (
            (
                "insert", implant.insert[side], top + sagittal, sign * (centre + mismatch),
                (-sagittal, getattr(settings.plateau_coronal_radius_mm, side),
                 settings.plateau_land_half_width_mm,
                 getattr(settings.plateau_edge_radius_mm, side), True),
            ),
            (
                "femoral", implant.femoral[side], 0.0, sign * centre,
                (settings.femoral_sagittal_radius_mm,
                 getattr(settings.femoral_coronal_radius_mm, side),
                 settings.femoral_half_width_mm, settings.femoral_edge_radius_mm, False),
            ),
        )  # fmt: skip
        for component, surface, axis_height, middle, profile in parts:
            (u0, u1), (v0, v1) = surface.domain
            u, v = np.linspace(u0, u1, _MEASURED[0]), np.linspace(v0, v1, _MEASURED[1])
            points = surface.evaluate(u[:, None], v[None, :]).reshape(-1, 3)
            radius = np.hypot(points[:, 0], points[:, 1] - axis_height)
            height = radius - profile[0] if profile[0] > 0 else -profile[0] - radius
            away = np.abs(points[:, 2] - middle)
            deviation = profile_distance(away, height, *profile[1:])
            quality.append(summarize_deviation((component, side), surface, points, deviation))
    return quality


def profile_distance(
    away: NDArray, height: NDArray, arc_radius: float, half_width: float, rim_radius: float,
    hollow: bool,
) -> NDArray[np.float64]:  # fmt: skip
    """Signed distance of points from an arc between two rims, positive outside the material.

    Parameters
    ----------
    away, height : array
        Distance from the middle along the medial-lateral direction, and height over the middle of
        the arc out of the bearing surface, mm.
    arc_radius, half_width, rim_radius : float
        As for `coronal_profile`.
    hollow : bool
        True for a plateau, False for a condyle.

    Returns
    -------
    array
        mm.
    """
    tilt = math.asin(half_width / arc_radius)
    up = 1.0 if hollow else -1.0
    land = up * (arc_radius - np.hypot(away, height - up * arc_radius))
    rise = up * arc_radius * (1.0 - math.cos(tilt))
    # The rim begins where the arc ends, in its direction, and falls away from there.
    inward = np.array([-math.sin(up * tilt), math.cos(tilt)])
    centre = np.array([half_width, rise]) - rim_radius * inward
    rim = np.hypot(away - centre[0], height - centre[1]) - rim_radius
    turned = np.arctan2(away - centre[0], height - centre[1])
    return np.where(turned > -up * tilt, rim, land)


def coronal_profile(
    middle: float,
    arc_radius: float,
    half_width: float,
    rim_radius: float,
    rim_sweep: float,
    hollow: bool,
) -> NDArray[np.float64]:
    """Exact control points of a symmetric coronal arc between two rims that fall away.

    Parameters
    ----------
    middle : float
        Medial-lateral position of the arc's middle, mm; its height there is zero.
    arc_radius, half_width : float
        Radius and half width of the arc, mm.
    rim_radius, rim_sweep : float
        Radius, mm, and angle, rad, of each rounded rim.
    hollow : bool
        True for a plateau (the arc rises to both sides, the rims fall), False for a condyle seen
        upside down: heights count out of the bearing surface in both.

    Returns
    -------
    array, shape (7, 3)
        Position z, height and weight of the control points of a quadratic NURBS of three arcs.
    """
    tilt = math.asin(half_width / arc_radius) * (1.0 if hollow else -1.0)
    start = middle - half_width
    rise = arc_radius * (1.0 - math.cos(tilt)) * (1.0 if hollow else -1.0)
    land = _arc(np.array([start, rise]), -tilt, 2.0 * tilt, arc_radius)
    right = _arc(land[-1, :2], tilt, -rim_sweep, rim_radius)
    left = right[::-1] * np.array([-1.0, 1.0, 1.0]) + np.array([2.0 * middle, 0.0, 0.0])
    return np.vstack([left, land[1:], right[1:]])


def _arc(start: NDArray, heading: float, turn: float, radius: float) -> NDArray[np.float64]:
    """Three quadratic control points (z, height, weight) of one arc under 180 degrees."""
    half = 0.5 * abs(turn)
    leg = radius * math.tan(half)
    along = np.array([math.cos(heading), math.sin(heading)])
    onward = np.array([math.cos(heading + turn), math.sin(heading + turn)])
    corner = start + leg * along
    return np.vstack(
        [[*start, 1.0], [*corner, math.cos(half)], [*(corner + leg * onward), 1.0]],
    )


def _smooth_knots(points: NDArray) -> NDArray[np.float64]:
    """Knots of joined quadratic arcs, spaced by chord so that speed is continuous at the joints."""
    ends = points[::2, :2]
    breaks = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(ends, axis=0), axis=1))])
    breaks = breaks / breaks[-1]
    return np.concatenate([[0.0], np.repeat(breaks, 2), [1.0]])


def _revolved(profile: NDArray, axis_height: float, sweep: tuple[float, float]) -> Surface:
    """Revolve a profile (z, radius, weight) about a medial-lateral axis; u turns, v runs along z.

    The normal points away from the axis.
    """
    arcs = math.ceil((sweep[1] - sweep[0]) / math.radians(75.0))
    turn = (sweep[1] - sweep[0]) / arcs
    pieces = []
    for number in range(arcs):
        angle = sweep[0] + number * turn
        start = np.array([math.sin(angle), -math.cos(angle)])
        piece = _arc(start, angle, turn, 1.0)
        pieces.append(piece if number == 0 else piece[1:])
    circle = np.vstack(pieces)
    control = np.empty((len(circle), len(profile), 3))
    control[..., 0] = circle[:, None, 0] * profile[None, :, 1]
    control[..., 1] = axis_height + circle[:, None, 1] * profile[None, :, 1]
    control[..., 2] = profile[None, :, 0]
    return Surface(
        control_points=control,
        weights=circle[:, None, 2] * profile[None, :, 2],
        knots_u=_smooth_knots(circle),
        knots_v=_smooth_knots(profile),
        degree_u=2,
        degree_v=2,
    )
