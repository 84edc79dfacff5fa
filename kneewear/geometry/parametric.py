"""The built-in implants, cruciate-retaining or posterior-stabilised: exact arcs all over."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kneewear.base.sides import SIDES
from kneewear.geometry.implant import CamAndPost, Implant
from kneewear.geometry.primitives import Profile, SagittalArc, Swept, Upright, joined_arcs
from kneewear.geometry.settings import CamSettings, ParametricImplantSettings, PostSettings

# Flexion seen by the condyles: contact stays inside for -20 to 120 deg of flexion.
FEMORAL_SWEEP = (math.radians(-45.0), math.radians(140.0))
FEMORAL_EDGE_SWEEP = math.radians(75.0)
PLATEAU_EDGE_SWEEP = math.radians(35.0)
# Angle of the rounded rims of the post's back; what faces the sides never meets the cam.
POST_EDGE_SWEEP = math.radians(60.0)
# Medial is +z.
_SIGNS = {"medial": 1.0, "lateral": -1.0}


def build_parametric_implant(
    settings: ParametricImplantSettings,
    name: str,
    nominal_thickness: float,
    left: bool = False,
    sides: Sequence[str] = SIDES,
) -> Implant:
    """Implant of exact arcs with a dished insert, in mm.

    Each condyle is a convex coronal arc with rounded rims, swept along a sagittal outline of one or
    more arcs, the first about the femoral origin. Each plateau is a coronal arc between two rounded
    rims, revolved about an axis above the insert; the bottom of the dishes lies `nominal_thickness`
    + `extra_thickness_mm` above the flat underside. `left` is recorded only, because the implant is
    symmetric; `sides` are the plateaus that there are.
    """
    top = nominal_thickness + settings.extra_thickness_mm
    cam_and_post = None
    if settings.cam_and_post is not None:
        post = settings.cam_and_post.post
        front = post.posterior_mm - post.depth_mm
        cam = cam_shape(settings.cam_and_post.cam).surface
        cam_and_post = CamAndPost(cam, post_shape(post, top).surface, front)
    return Implant(
        name=name,
        femoral={side: condyle_shape(settings, side).surface for side in sides},
        insert={side: plateau_shape(settings, side, top).surface for side in sides},
        underside=0.0,
        nominal_thickness=nominal_thickness,
        left=left,
        cam_and_post=cam_and_post,
    )


def condyle_shape(settings: ParametricImplantSettings, side: str) -> Swept:
    """Condyle of a side in the femoral frame."""
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


def plateau_shape(settings: ParametricImplantSettings, side: str, top: float) -> Swept:
    """Plateau of a side in the insert's frame; `top` is the height of its lowest line, mm."""
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


def cam_shape(cam: CamSettings) -> Swept:
    """Cam in the femoral frame."""
    arcs = joined_arcs(
        [(FEMORAL_SWEEP[0], cam.radius_mm)], FEMORAL_SWEEP[1], (cam.posterior_mm, cam.superior_mm)
    )
    return Swept(_middle_profile(cam, FEMORAL_EDGE_SWEEP), arcs)


def post_shape(post: PostSettings, top: float) -> Upright:
    """Back of the post on an insert whose plateaus are `top` high, mm."""
    profile = _middle_profile(post, POST_EDGE_SWEEP)
    return Upright(profile, post.posterior_mm, top, top + post.height_mm)
