"""The built-in implants, cruciate-retaining or posterior-stabilised: exact arcs all over."""

from __future__ import annotations

import math

import numpy as np

from kneewear.geometry.fit_quality import FitQuality, summarize_deviation
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.implant import CamAndPost, Implant
from kneewear.geometry.primitives import Profile, SagittalArc, Swept, Upright, joined_arcs
from kneewear.settings.implant import CamSettings, ParametricImplantSettings, PostSettings
from kneewear.sides import POST, SIDES

# Flexion seen by the condyles: contact stays inside for -20 to 120 deg of flexion.
FEMORAL_SWEEP = (math.radians(-45.0), math.radians(140.0))
FEMORAL_EDGE_SWEEP = math.radians(75.0)
PLATEAU_EDGE_SWEEP = math.radians(35.0)
# Angle of the rounded rims of the post's back; what faces the sides never meets the cam.
POST_EDGE_SWEEP = math.radians(60.0)
# Points along u and v at which the patches are measured against the exact arcs.
_MEASURED = (61, 121)
# Medial is +z.
_SIGNS = {"medial": 1.0, "lateral": -1.0}

Shape = Swept | Upright


def build_parametric_implant(
    settings: ParametricImplantSettings, name: str, nominal_thickness: float, left: bool = False
) -> Implant:
    """Implant of exact arcs with a dished insert, in mm.

    Each condyle is a convex coronal arc with rounded rims, swept along a sagittal outline of one
    or more arcs, the first about the femoral origin. Each plateau is a coronal arc (the land)
    between two rounded rims, revolved about an axis above the insert; the bottom of the dishes lies
    `nominal_thickness` + `extra_thickness_mm` above the flat underside. A posterior-stabilised
    implant also has a cam of revolution between the condyles and a straight post on the insert.
    All surfaces are exact NURBS. `left` is recorded only, because the implant is symmetric.
    """
    shapes = _shapes(settings, nominal_thickness)
    femoral, insert = (
        {side: shape.surface for (body, side), shape in shapes.items() if body == component}
        for component in ("femoral", "insert")
    )
    cam_and_post = None
    if settings.cam_and_post is not None:
        post = settings.cam_and_post.post
        front = post.posterior_mm - post.depth_mm
        cam_and_post = CamAndPost(femoral.pop(POST), insert.pop(POST), front)
    return Implant(
        name=name,
        femoral=femoral,
        insert=insert,
        underside=0.0,
        nominal_thickness=nominal_thickness,
        left=left,
        cam_and_post=cam_and_post,
    )


def measure_parametric_implant(
    implant: Implant, settings: ParametricImplantSettings
) -> list[FitQuality]:
    """Distance of the built-in implant's patches from the arcs that its settings describe.

    One record for each patch, from 61 x 121 points on it. A point is taken to its meridian plane
    (its distance from the axis of revolution, and z); there its distance from the arc whose sector
    it lies in is known without any spline.
    """
    quality = []
    for (component, side), shape in _shapes(settings, implant.nominal_thickness).items():
        femoral = component == "femoral"
        surface = implant.indenter(side) if femoral else bearing_of(implant, side).surface
        u, v = (np.linspace(*ends, n) for ends, n in zip(surface.domain, _MEASURED, strict=True))
        points = surface.evaluate(u[:, None], v[None, :]).reshape(-1, 3)
        distance = shape.distance(points)
        quality.append(summarize_deviation((component, side), surface, points, distance))
    return quality


def _shapes(
    settings: ParametricImplantSettings, nominal_thickness: float
) -> dict[tuple[str, str], Shape]:
    """Shape of every patch, by component and side."""
    top = nominal_thickness + settings.extra_thickness_mm
    shapes: dict[tuple[str, str], Shape] = {}
    for side in SIDES:
        shapes["insert", side] = _plateau(settings, side, top)
        shapes["femoral", side] = _condyle(settings, side)
    pair = settings.cam_and_post
    if pair is not None:
        shapes |= {("insert", POST): _post(pair.post, top), ("femoral", POST): _cam(pair.cam)}
    return shapes


def _condyle(settings: ParametricImplantSettings, side: str) -> Swept:
    profile = Profile(
        middle=_SIGNS[side] * 0.5 * settings.condyle_spacing_mm,
        arc_radius=getattr(settings.femoral_coronal_radius_mm, side),
        half_width=settings.femoral_half_width_mm,
        rim_radius=settings.femoral_edge_radius_mm,
        rim_sweep=FEMORAL_EDGE_SWEEP,
    )
    radii = [(FEMORAL_SWEEP[0], settings.femoral_sagittal_radius_mm)]
    radii += [(math.radians(arc.from_flexion_deg), arc.radius_mm) for arc in settings.femoral_arcs]
    return Swept(profile, joined_arcs(radii, FEMORAL_SWEEP[1]))


def _plateau(settings: ParametricImplantSettings, side: str, top: float) -> Swept:
    mismatch = getattr(settings.plateau_spacing_mismatch_mm, side)
    profile = Profile(
        middle=_SIGNS[side] * (0.5 * settings.condyle_spacing_mm + mismatch),
        arc_radius=getattr(settings.plateau_coronal_radius_mm, side),
        half_width=settings.plateau_land_half_width_mm,
        rim_radius=getattr(settings.plateau_edge_radius_mm, side),
        rim_sweep=PLATEAU_EDGE_SWEEP,
        hollow=True,
    )
    radius = settings.plateau_sagittal_radius_mm
    half_sweep = math.asin(settings.plateau_half_length_mm / radius)
    # The axis is above the insert: higher points are nearer to it.
    return Swept(profile, (SagittalArc(0.0, top + radius, radius, -half_sweep, half_sweep),))


def _middle_profile(block: CamSettings | PostSettings, rim_sweep: float) -> Profile:
    return Profile(
        0.0, block.coronal_radius_mm, block.half_width_mm, block.edge_radius_mm, rim_sweep
    )


def _cam(cam: CamSettings) -> Swept:
    arcs = joined_arcs(
        [(FEMORAL_SWEEP[0], cam.radius_mm)], FEMORAL_SWEEP[1], (cam.posterior_mm, cam.superior_mm)
    )
    return Swept(_middle_profile(cam, FEMORAL_EDGE_SWEEP), arcs)


def _post(post: PostSettings, top: float) -> Upright:
    profile = _middle_profile(post, POST_EDGE_SWEEP)
    return Upright(profile, post.posterior_mm, top, top + post.height_mm)
