"""The implant or natural knee of a study, from the built-in shape or from a user's files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.extraction import Extraction, extract_condyles, extract_plateaus, whole_sheet
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.implant import Implant, Layer
from kneewear.geometry.mesh_checks import (
    check_femoral,
    check_femoral_side,
    check_insert,
    check_insert_side,
    check_size,
)
from kneewear.geometry.meshes import (
    TriangleMesh,
    condyle_axis,
    femoral_from_points,
    insert_from_points,
    sheet_coverage,
    to_knee_axes,
)
from kneewear.geometry.parametric import build_parametric_implant, measure_parametric_implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import (
    PlaneUnderside,
    Underside,
    thickness_above,
    underside_of_mesh,
)
from kneewear.settings.implant import (
    FemoralRegions,
    ImplantSettings,
    InsertRegions,
    MeshImplantSettings,
    NaturalKneeSettings,
)
from kneewear.sides import SIDES

Patches = dict[str, Surface]
Qualities = dict[str, FitQuality]

# Number of vertices of a mesh sufficient to estimate its minimum thickness before it is fitted.
_THICKNESS_SAMPLES = 5000
# mm; healthy cartilage of the knee is 1 to 6 mm thick, so a larger mean distance is an error.
_MAX_MEAN_CARTILAGE = 8.0


def build_implant(
    settings: ImplantSettings,
    insert_mesh: TriangleMesh | None = None,
    femoral_mesh: TriangleMesh | None = None,
    underside_mesh: TriangleMesh | None = None,
    *,
    insert_bone_mesh: TriangleMesh | None = None,
    femoral_bone_mesh: TriangleMesh | None = None,
) -> tuple[Implant, list[FitQuality]]:
    """Build the implant or natural knee of a study.

    Parameters
    ----------
    settings : ImplantSettings
        The `implant` block of the settings.
    insert_mesh, femoral_mesh : TriangleMesh, optional
        As read from file; needed when the source is "meshes" or, as cartilage, "natural".
    underside_mesh : TriangleMesh, optional
        As read from file; needed when the settings name one.
    insert_bone_mesh, femoral_bone_mesh : TriangleMesh, optional
        Subchondral bone of tibia and femur; needed when the source is "natural".

    Returns
    -------
    Implant
        As a right knee.
    list of FitQuality
        One for each patch: against the vertices it was fitted to, or against the exact arcs of the
        built-in implant.

    Raises
    ------
    ValueError
        If a mesh is needed and not given.
    InputDataError
        If a mesh is not what the settings state, or cannot be fitted within the tolerance.
    """
    if settings.source == "natural":
        given = _natural_meshes(
            settings,
            insert_mesh=insert_mesh,
            femoral_mesh=femoral_mesh,
            insert_bone_mesh=insert_bone_mesh,
            femoral_bone_mesh=femoral_bone_mesh,
        )
        return _build_natural_knee(settings, given)
    if settings.source == "meshes":
        if insert_mesh is None or femoral_mesh is None:
            raise ValueError("source meshes needs an insert and a femoral mesh")
        bearings = extract_bearings(settings, insert_mesh, femoral_mesh)
        return _build_meshed_implant(settings, bearings, underside_mesh)
    if settings.parametric is None:
        raise ValueError("source parametric needs the parametric settings")
    implant = build_parametric_implant(
        settings.parametric, settings.name, settings.nominal_thickness_mm, settings.knee == "left"
    )
    return implant, measure_parametric_implant(implant, settings.parametric)


def check_meshes(settings: ImplantSettings, **meshes: TriangleMesh) -> None:
    """Refuse meshes, named as in `build_implant`, that do not agree with the settings.

    Raises
    ------
    InputDataError
        As `convert_meshes`; of a natural knee, if a sheet is in another unit or closed.
    """
    if settings.source != "natural":
        convert_meshes(settings, meshes["insert_mesh"], meshes["femoral_mesh"])
        return
    for mesh, source in _natural_meshes(settings, **meshes).values():
        check_size(mesh, source)
        _check_form(mesh, "sheet", "natural", source)


def convert_meshes(
    settings: ImplantSettings, insert_mesh: TriangleMesh, femoral_mesh: TriangleMesh
) -> tuple[TriangleMesh, TriangleMesh]:
    """Insert and femoral mesh of a right knee in mm and knee axes; point clouds become sheets.

    Raises
    ------
    InputDataError
        If a mesh is empty, in another unit, inside out or upside down, not manifold, of the other
        knee, of the other component, or a solid where the settings state a sheet.
    """
    meshes = _mesh_settings(settings)
    axes = meshes.axes.model_dump()
    insert = to_knee_axes(insert_mesh, meshes.unit, axes, settings.knee, meshes.insert)
    femoral = to_knee_axes(femoral_mesh, meshes.unit, axes, settings.knee, meshes.femoral)
    if insert.is_cloud:
        insert = insert_from_points(insert.vertices, meshes.insert)
    if femoral.is_cloud:
        femoral = femoral_from_points(femoral.vertices, meshes.femoral)
    check_insert(insert, meshes.insert)
    check_femoral(femoral, meshes.femoral)
    _check_form(insert, meshes.insert_form, "insert_form", meshes.insert)
    _check_form(femoral, meshes.femoral_form, "femoral_form", meshes.femoral)
    check_insert_side(insert, settings.knee, meshes.insert)
    check_femoral_side(femoral, settings.knee, meshes.femoral)
    return insert, femoral


def check_thickness(
    settings: ImplantSettings,
    thickness: float,
    insert_mesh: TriangleMesh | None = None,
    underside_mesh: TriangleMesh | None = None,
) -> None:
    """Refuse an insert without thickness at a sampled point, before anything is fitted.

    `thickness` is the smallest minimum thickness of the cases, mm; meshes are as for
    `build_implant`. Samples are vertices that face up in the regions of the bearing, or a raster of
    the built-in plateaus.

    Raises
    ------
    InputDataError
        When the local thickness is zero or less at a sample.
    """
    underside: float | Underside
    if settings.source == "parametric" and settings.parametric is not None:
        implant = build_parametric_implant(
            settings.parametric, settings.name, settings.nominal_thickness_mm
        )
        underside = implant.underside
        points = np.concatenate([_samples(surface) for surface in implant.insert.values()])
    elif settings.source == "meshes" and settings.meshes is not None and insert_mesh is not None:
        underside, _, _ = _read_underside(settings, underside_mesh)
        points = _bearing_vertices(settings.meshes, settings.knee, insert_mesh)
    else:
        return  # cartilage has a thickness of its own
    local = thickness_above(underside, points) + thickness - settings.nominal_thickness_mm
    if np.isnan(local).all() or not np.nanmin(local) <= 0:
        return
    x, _, z = points[np.nanargmin(local)]
    raise InputDataError(
        "key cases.thickness_mm",
        f"{thickness:g} mm, which leaves {np.nanmin(local):.2f} mm at x {x:.1f}, z {z:.1f} mm",
        "an insert thicker than 0 everywhere",
        f"Take more than {thickness - np.nanmin(local):.2f} mm; or check the underside, the "
        f"regions of the bearing and implant.nominal_thickness_mm "
        f"({settings.nominal_thickness_mm:g} mm).",
    )


def extract_bearings(
    settings: ImplantSettings, insert_mesh: TriangleMesh, femoral_mesh: TriangleMesh
) -> dict[str, Extraction]:
    """Bearing sheets of the "insert" and "femoral" mesh, as given or cut out of solids.

    Arguments are as for `build_implant`, results those of a right knee. Raises as `convert_meshes`,
    and when a solid has no bearing.
    """
    meshes = _mesh_settings(settings)
    insert, femoral = convert_meshes(settings, insert_mesh, femoral_mesh)
    solid = meshes.insert_form == "solid", meshes.femoral_form == "solid"
    return {
        "insert": extract_plateaus(insert, meshes.insert) if solid[0] else whole_sheet(insert),
        "femoral": extract_condyles(femoral, meshes.femoral) if solid[1] else whole_sheet(femoral),
    }


def window_axis(
    settings: MeshImplantSettings | NaturalKneeSettings, femoral: TriangleMesh
) -> tuple[float, float]:
    """Axis (x, y), mm, about which the angles of the femoral regions of a block are measured.

    `femoral` is the femoral component, or cartilage, in knee axes.
    """
    limits = [abs(z) for side in SIDES for z in getattr(settings.femoral_region_mm, side).z]
    return condyle_axis(femoral, (min(limits), max(limits)))


def _mesh_settings(settings: ImplantSettings) -> MeshImplantSettings:
    if settings.meshes is None:
        raise ValueError("the settings have no block 'meshes'")
    return settings.meshes


def _check_form(mesh: TriangleMesh, form: str, key: str, source: str) -> None:
    """Refuse a closed body where the settings state a bearing sheet."""
    if form == "sheet" and mesh.is_closed:
        expected = "the bearing sheet alone, as the settings state"
        remedy = f"Set `{key}: solid`, and its bearing is cut out."
        raise InputDataError(source, "a closed solid", expected, remedy, key)


def _build_meshed_implant(
    settings: ImplantSettings,
    bearings: Mapping[str, Extraction],
    underside_mesh: TriangleMesh | None,
) -> tuple[Implant, list[FitQuality]]:
    """Implant whose patches are fitted to the bearing sheets."""
    meshes = _mesh_settings(settings)
    fit, regions = _fit_settings(meshes), meshes.insert_region_mm
    insert, femoral = bearings["insert"].sheet, bearings["femoral"].sheet
    plateaus, quality = _fit_plateaus(insert, regions, fit, "insert", meshes.insert)
    condyles, others = _fit_condyles(
        femoral, window_axis(meshes, femoral), meshes.femoral_region_mm, fit, "femoral",
        meshes.femoral
    )  # fmt: skip
    implant = Implant(
        name=settings.name,
        femoral=condyles,
        insert=plateaus,
        underside=math.nan,
        nominal_thickness=settings.nominal_thickness_mm,
        left=settings.knee == "left",
        coverage={
            side: sheet_coverage(insert, getattr(regions, side).x, getattr(regions, side).z)
            for side in SIDES
        },
    )
    underside, source, key = _read_underside(settings, underside_mesh)
    _check_underside(implant, underside, source, key)
    both = [one for side in SIDES for one in (quality[side], others[side])]
    return replace(implant, underside=underside), both


def _natural_meshes(
    settings: ImplantSettings, **meshes: TriangleMesh | None
) -> dict[str, tuple[TriangleMesh, str]]:
    """The four sheets of a natural knee in knee axes, by component, with their files."""
    natural = settings.natural
    if natural is None:
        raise ValueError("the settings have no block 'natural'")
    files = {
        "insert": natural.tibial_cartilage,
        "insert_bone": natural.tibial_bone,
        "femoral": natural.femoral_cartilage,
        "femoral_bone": natural.femoral_bone,
    }
    axes, found = natural.axes.model_dump(), {}
    for component, source in files.items():
        mesh = meshes.get(f"{component}_mesh")
        if mesh is None:
            raise ValueError("source natural needs the meshes of both cartilages and both bones")
        converted = to_knee_axes(mesh, natural.unit, axes, settings.knee, source)
        found[component] = converted, source
    return found


def _build_natural_knee(
    settings: ImplantSettings, meshes: Mapping[str, tuple[TriangleMesh, str]]
) -> tuple[Implant, list[FitQuality]]:
    """Natural knee of cartilage and subchondral surfaces; its nominal thickness is the minimum."""
    natural = settings.natural
    if natural is None:
        raise ValueError("the settings have no block 'natural'")
    fit, windows = _fit_settings(natural), natural.tibial_region_mm
    # One axis for both sheets, or the radial direction would differ between them.
    axis = window_axis(natural, meshes["femoral"][0])
    patches: dict[str, Patches] = {}
    quality: list[FitQuality] = []
    for component, (mesh, source) in meshes.items():
        if component.startswith("insert"):
            fitted = _fit_plateaus(mesh, windows, fit, component, source)
        else:
            regions = natural.femoral_region_mm
            fitted = _fit_condyles(mesh, axis, regions, fit, component, source)
        patches[component] = fitted[0]
        quality += fitted[1].values()
    for body in ("insert", "femoral"):
        _check_layer(patches[body], patches[f"{body}_bone"], meshes[body][1])
    knee = Implant(
        name=settings.name,
        femoral=patches["femoral"],
        insert=patches["insert"],
        underside=np.nan,
        nominal_thickness=natural.tibial_thickness_mm[0],
        left=settings.knee == "left",
        coverage={
            side: sheet_coverage(
                meshes["insert"][0], getattr(windows, side).x, getattr(windows, side).z
            )
            for side in SIDES
        },
        femoral_layer=Layer(patches["femoral_bone"], natural.femoral_thickness_mm),
        insert_layer=Layer(patches["insert_bone"], natural.tibial_thickness_mm),
    )
    return knee, quality


def _fit_settings(block: MeshImplantSettings | NaturalKneeSettings) -> FitSettings:
    return FitSettings(
        knot_spacing_along=block.knot_spacing_mm.along,
        knot_spacing_across=block.knot_spacing_mm.across,
        smoothing_length=block.smoothing_length_mm,
        tolerance=block.tolerance_mm,
        mean_tolerance=block.mean_tolerance_mm,
    )


def _fit_plateaus(
    mesh: TriangleMesh, regions: InsertRegions, fit: FitSettings, component: str, source: str
) -> tuple[Patches, Qualities]:
    """Patches of both plateaus through one sheet, and their quality."""
    patches, quality = {}, {}
    for side in SIDES:
        region = getattr(regions, side)
        patches[side], found = fit_plateau(mesh, region.x, region.z, fit, (source, side))
        quality[side] = replace(found, component=component)
    return patches, quality


def _fit_condyles(
    mesh: TriangleMesh,
    axis: tuple[float, float],
    regions: FemoralRegions,
    fit: FitSettings,
    component: str,
    source: str,
) -> tuple[Patches, Qualities]:
    """Patches of both condyles through one sheet, and their quality."""
    patches, quality = {}, {}
    for side in SIDES:
        region = getattr(regions, side)
        angles = (math.radians(region.angle_deg[0]), math.radians(region.angle_deg[1]))
        patches[side], found = fit_condyle(mesh, axis, angles, region.z, fit, (source, side))
        quality[side] = replace(found, component=component)
    return patches, quality


def _check_layer(cartilage: Patches, bone: Patches, source: str) -> None:
    """Refuse cartilage whose middle lies inside its bone or far off it."""
    for side, surface in cartilage.items():
        points = _samples(surface, 21, 0.25)
        mean = float(bone[side].closest_points(points)[2].mean())
        if not 0.0 < mean < _MAX_MEAN_CARTILAGE:
            raise InputDataError(
                source,
                f"{side} cartilage {mean:.2f} mm above its bone in the middle",
                f"cartilage on its own bone, up to {_MAX_MEAN_CARTILAGE:g} mm thick",
                "Check that cartilage and subchondral surface are not exchanged and share one "
                "frame.",
            )


def _bearing_vertices(
    settings: MeshImplantSettings, knee: str, mesh: TriangleMesh
) -> NDArray[np.float64]:
    """Some vertices of the insert that face up within the regions of its plateaus, mm."""
    insert = to_knee_axes(mesh, settings.unit, settings.axes.model_dump(), knee, settings.insert)
    points = insert.vertices
    if not insert.is_cloud:
        points = points[insert.vertex_normals[:, 1] > 0.5]
    x, z = points[:, 0], points[:, 2]
    inside = np.zeros(len(points), dtype=bool)
    for side in SIDES:
        region = getattr(settings.insert_region_mm, side)
        inside |= (x > region.x[0]) & (x < region.x[1]) & (z > region.z[0]) & (z < region.z[1])
    points = points[inside]
    return points[:: 1 + len(points) // _THICKNESS_SAMPLES]


def _read_underside(
    settings: ImplantSettings, underside_mesh: TriangleMesh | None
) -> tuple[float | Underside, str, str]:
    """Underside by the settings, with the file and the key it comes from."""
    meshes = _mesh_settings(settings)
    if meshes.underside_mesh is not None:
        if underside_mesh is None:
            raise ValueError("the settings name an underside mesh, and none was given")
        source, axes = meshes.underside_mesh, meshes.axes.model_dump()
        solid = to_knee_axes(underside_mesh, meshes.unit, axes, settings.knee, source)
        return underside_of_mesh(solid), source, "underside_mesh"
    if meshes.underside_plane is not None:
        plane = meshes.underside_plane
        rises = (plane.posterior_rise_deg, plane.medial_rise_deg)
        slopes = (math.tan(math.radians(rise)) for rise in rises)
        return PlaneUnderside(plane.height_mm, *slopes), meshes.insert, "underside_plane"
    height = math.nan if meshes.underside_mm is None else meshes.underside_mm
    return height, meshes.insert, "underside_mm"


def _check_underside(implant: Implant, underside: float | Underside, source: str, key: str) -> None:
    """Refuse an underside that is not everywhere below the bearing."""
    for side, surface in implant.insert.items():
        points = _samples(surface)
        if implant.coverage is not None:
            points = points[implant.coverage[side].contains(points[:, 0], points[:, 2])]
        thickness = thickness_above(underside, points)
        worst = int(np.argmin(np.where(np.isnan(thickness), -np.inf, thickness)))
        if thickness[worst] > 0.0:
            continue
        x, y, z = points[worst]
        found = "no underside"
        if not np.isnan(thickness[worst]):
            found = f"an underside at y {y - thickness[worst]:.2f} mm"
        found = f"{found} under the {side} bearing at x {x:.1f}, y {y:.2f}, z {z:.1f} mm"
        remedy = f"Correct `{key}`: it is given in the insert's frame."
        raise InputDataError(source, found, "an underside below the whole bearing", remedy, key)


def _samples(surface: Surface, count: int = 41, margin: float = 0.0) -> NDArray[np.float64]:
    """Points of a patch on a regular raster of its parameters, shape (n, 3)."""
    part = np.linspace(margin, 1.0 - margin, count)
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(u0 + (u1 - u0) * part, v0 + (v1 - v0) * part, indexing="ij")
    return surface.evaluate(u, v).reshape(-1, 3)
