"""Distance of the built-in implant's patches from the arcs of its settings, without any spline."""

from __future__ import annotations

import math

import numpy as np

from kneewear.base.sides import POST, SIDES
from kneewear.geometry import parametric
from kneewear.geometry.fit_quality import summarize_deviation
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.primitives import Upright

# Points along u and v at which the patches are measured.
MEASURED = (61, 121)


def measure_parametric_implant(implant, settings):
    """One record for each patch, from 61 x 121 points on it.

    A point is taken to its meridian plane (its distance from the axis of revolution, and z); there
    its distance from the arc whose sector it lies in is known without any spline.
    """
    top = implant.nominal_thickness + settings.extra_thickness_mm
    shapes = {}
    for side in SIDES:
        shapes["insert", side] = parametric.plateau_shape(settings, side, top)
        shapes["femoral", side] = parametric.condyle_shape(settings, side)
    pair = settings.cam_and_post
    if pair is not None:
        shapes["insert", POST] = parametric.post_shape(pair.post, top)
        shapes["femoral", POST] = parametric.cam_shape(pair.cam)
    quality = []
    for (component, side), shape in shapes.items():
        femoral = component == "femoral"
        surface = implant.indenter(side) if femoral else bearing_of(implant, side).surface
        u, v = (np.linspace(*ends, n) for ends, n in zip(surface.domain, MEASURED, strict=True))
        points = surface.evaluate(u[:, None], v[None, :]).reshape(-1, 3)
        label = (component, side)
        quality.append(summarize_deviation(label, surface, points, shape_distance(shape, points)))
    return quality


def profile_distance(profile, z, height):
    """Signed distance, mm, of points from the profile, without any spline; positive outside.

    The height counts from the middle of the arc out of the surface, mm.
    """
    away = np.abs(z - profile.middle)
    tilt = math.asin(profile.half_width / profile.arc_radius)
    up = 1.0 if profile.hollow else -1.0
    land = up * (profile.arc_radius - np.hypot(away, height - up * profile.arc_radius))
    rise = up * profile.arc_radius * (1.0 - math.cos(tilt))
    # The rim begins where the arc ends, in its direction, and falls away from there.
    inward = np.array([-math.sin(up * tilt), math.cos(tilt)])
    centre = np.array([profile.half_width, rise]) - profile.rim_radius * inward
    rim = np.hypot(away - centre[0], height - centre[1]) - profile.rim_radius
    turned = np.arctan2(away - centre[0], height - centre[1])
    return np.where(turned > -up * tilt, rim, land)


def shape_distance(shape, points):
    """Signed distance, mm, of points (n, 3) near a surface from it; positive outside.

    A point is rotated into the plane of the profile about the centre of the arc in whose sector
    it lies; the sectors of neighbours meet in the ray through both centres.
    """
    if isinstance(shape, Upright):
        return profile_distance(shape.profile, points[:, 2], points[:, 0] - shape.posterior)
    height = np.empty(len(points))
    for number, arc in enumerate(shape.arcs):
        x, y = points[:, 0] - arc.x, points[:, 1] - arc.y
        reached = np.ones(len(points), bool)
        if number:
            reached = x * math.cos(arc.start) + y * math.sin(arc.start) >= 0.0
        over = np.hypot(x, y) - arc.radius
        height[reached] = -over[reached] if shape.profile.hollow else over[reached]
    return profile_distance(shape.profile, points[:, 2], height)
