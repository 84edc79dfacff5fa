"""One implant, whatever it comes from: the built-in shape or a user's files."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.clouds import femoral_from_points, insert_from_points, is_cloud
from kneewear.geometry.extraction import (
    Extraction,
    extract_condyles,
    extract_plateaus,
    whole_sheet,
)
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import (
    TriangleMesh,
    check_femoral,
    check_insert,
    check_size,
    condyle_axis,
    is_closed,
    sheet_coverage,
    to_knee_axes,
)
from kneewear.geometry.natural import KneeFit, KneeMeshes, build_natural_knee
from kneewear.geometry.parametric import build_parametric_implant, measure_parametric_implant
from kneewear.geometry.sidedness import check_femoral_side, check_insert_side
from kneewear.geometry.surface import Surface
from kneewear.geometry.underside import (
    PlaneUnderside,
    Underside,
    thickness_above,
    underside_of_mesh,
)
from kneewear.settings.implant import ImplantSettings, MeshImplantSettings
from kneewear.sides import SIDES

# Vertices of a mesh that are enough to tell its least thickness before it is fitted.
_THICKNESS_SAMPLES = 5000


def build_implant(
    settings: ImplantSettings,
    insert_mesh: TriangleMesh | None = None,
    femoral_mesh: TriangleMesh | None = None,
    underside_mesh: TriangleMesh | None = None,
    *,
    insert_bone_mesh: TriangleMesh | None = None,
    femoral_bone_mesh: TriangleMesh | None = None,
) -> tuple[Implant, list[FitQuality]]:
    """Implant of a study.

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
        If a mesh is not what it should be, or cannot be fitted within the tolerance.
    """
    left = settings.knee == "left"
    if settings.source == "parametric":
        if settings.parametric is None:
            raise ValueError("source parametric needs the parametric settings")
        implant = build_parametric_implant(
            settings.parametric, settings.name, settings.nominal_thickness_mm, left
        )
        return implant, measure_parametric_implant(implant, settings.parametric)
    if settings.source == "natural":
        knee = _knee_meshes(
            settings, insert_mesh, femoral_mesh, insert_bone_mesh, femoral_bone_mesh
        )
        return build_natural_knee(knee, _knee_fit(settings), settings.name)
    if settings.meshes is None or insert_mesh is None or femoral_mesh is None:
        raise ValueError("source meshes needs the mesh settings, an insert and a femoral mesh")
    bearings = extract_bearings(settings, insert_mesh, femoral_mesh)
    sheets = (bearings[part].sheet for part in ("insert", "femoral"))
    implant, quality = _fit_implant(settings, settings.meshes, *sheets)
    return _laid_on(implant, settings, underside_mesh), quality


def check_meshes(settings: ImplantSettings, **meshes: TriangleMesh) -> None:
    """Refuse meshes that cannot be what the settings say.

    Parameters
    ----------
    settings : ImplantSettings
        The `implant` block of the settings.
    **meshes : TriangleMesh
        As `build_implant` takes them.

    Raises
    ------
    InputDataError
        As `convert_meshes`; of a natural knee, if a sheet is in another unit or closed.
    """
    if settings.source != "natural":
        convert_meshes(settings, meshes["insert_mesh"], meshes["femoral_mesh"])
        return
    knee, fit = _knee_meshes(settings, **meshes), _knee_fit(settings)
    for mesh, source in zip(knee.sheets, knee.names, strict=True):
        converted = to_knee_axes(mesh, fit.unit, fit.axes.model_dump(), fit.knee, source)
        check_size(converted, source)
        _check_form(converted, "sheet", "natural", source)


def convert_meshes(
    settings: ImplantSettings, insert_mesh: TriangleMesh, femoral_mesh: TriangleMesh
) -> tuple[TriangleMesh, TriangleMesh]:
    """Both meshes in mm and knee axes, checked; point clouds are joined to sheets.

    Parameters
    ----------
    settings : ImplantSettings
        The `implant` block of the settings, with its `meshes` block.
    insert_mesh, femoral_mesh : TriangleMesh
        As read from file.

    Returns
    -------
    pair of TriangleMesh
        Insert and femoral component of a right knee.

    Raises
    ------
    InputDataError
        If a mesh is empty, in another unit, turned inside out or upside down, broken, of the other
        knee, in the other one's place, or a solid that is said to be a sheet.
    """
    meshes = settings.meshes
    if meshes is None:
        raise ValueError("the settings have no block 'meshes'")
    axes = meshes.axes.model_dump()
    insert = to_knee_axes(insert_mesh, meshes.unit, axes, settings.knee, meshes.insert)
    femoral = to_knee_axes(femoral_mesh, meshes.unit, axes, settings.knee, meshes.femoral)
    if is_cloud(insert):
        insert = insert_from_points(insert.vertices, meshes.insert)
    if is_cloud(femoral):
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
    """Refuse an insert without thickness somewhere, as far as it shows before anything is fitted.

    Parameters
    ----------
    settings : ImplantSettings
        The `implant` block of the settings.
    thickness : float
        Smallest minimum thickness of the cases, mm.
    insert_mesh, underside_mesh : TriangleMesh, optional
        As `build_implant` takes them.

    Raises
    ------
    InputDataError
        When its local thickness is zero or less at a sampled place.

    Notes
    -----
    Samples are vertices of the mesh in the regions that face up, or a raster of the built-in
    plateaus.
    """
    underside: float | Underside
    if settings.source == "parametric" and settings.parametric is not None:
        implant = build_parametric_implant(
            settings.parametric, settings.name, settings.nominal_thickness_mm
        )
        underside = implant.underside
        points = np.concatenate([_samples(surface) for surface in implant.insert.values()])
    elif settings.source == "meshes" and settings.meshes is not None and insert_mesh is not None:
        underside, _, _ = _given_underside(settings, underside_mesh)
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


def _bearing_vertices(
    settings: MeshImplantSettings, knee: str, mesh: TriangleMesh
) -> NDArray[np.float64]:
    """Some vertices of the insert that face up within the regions of its plateaus, mm."""
    insert = to_knee_axes(mesh, settings.unit, settings.axes.model_dump(), knee, settings.insert)
    points = insert.vertices
    if not is_cloud(insert):
        points = points[insert.vertex_normals[:, 1] > 0.5]
    x, z = points[:, 0], points[:, 2]
    inside = np.zeros(len(points), dtype=bool)
    for side in SIDES:
        region = getattr(settings.insert_region_mm, side)
        inside |= (x > region.x[0]) & (x < region.x[1]) & (z > region.z[0]) & (z < region.z[1])
    points = points[inside]
    return points[:: 1 + len(points) // _THICKNESS_SAMPLES]


def extract_bearings(
    settings: ImplantSettings, insert_mesh: TriangleMesh, femoral_mesh: TriangleMesh
) -> dict[str, Extraction]:
    """Bearing sheets of both components: as given, or cut out of solids.

    Parameters
    ----------
    settings : ImplantSettings
        The `implant` block of the settings, with its `meshes` block.
    insert_mesh, femoral_mesh : TriangleMesh
        As read from file.

    Returns
    -------
    dict
        "insert" and "femoral" to their extraction, as a right knee.

    Raises
    ------
    InputDataError
        As `convert_meshes`, and when a solid has no bearing.
    """
    insert, femoral = convert_meshes(settings, insert_mesh, femoral_mesh)
    meshes = settings.meshes
    if meshes is None:
        raise ValueError("the settings have no block 'meshes'")
    return {
        "insert": extract_plateaus(insert, meshes.insert)
        if meshes.insert_form == "solid"
        else whole_sheet(insert),
        "femoral": extract_condyles(femoral, meshes.femoral)
        if meshes.femoral_form == "solid"
        else whole_sheet(femoral),
    }


def _knee_meshes(
    settings: ImplantSettings,
    insert_mesh: TriangleMesh | None = None,
    femoral_mesh: TriangleMesh | None = None,
    insert_bone_mesh: TriangleMesh | None = None,
    femoral_bone_mesh: TriangleMesh | None = None,
) -> KneeMeshes:
    """The four sheets of a natural knee with the names of their files."""
    named = settings.natural
    if named is None or insert_mesh is None or femoral_mesh is None:
        raise ValueError("source natural needs its settings and the meshes of both cartilages")
    if insert_bone_mesh is None or femoral_bone_mesh is None:
        raise ValueError("source natural needs the meshes of both bones")
    files = (named.femoral_cartilage, named.femoral_bone, named.tibial_cartilage, named.tibial_bone)
    return KneeMeshes(femoral_mesh, femoral_bone_mesh, insert_mesh, insert_bone_mesh, files)


def _knee_fit(settings: ImplantSettings) -> KneeFit:
    """How the sheets of a natural knee are read and fitted."""
    named = settings.natural
    if named is None:
        raise ValueError("source natural needs its settings")
    return KneeFit(
        unit=named.unit,
        axes=named.axes,
        knee=settings.knee,
        tibial_regions=named.tibial_region_mm,
        femoral_regions=named.femoral_region_mm,
        fit=FitSettings(
            knot_spacing_along=named.knot_spacing_mm.along,
            knot_spacing_across=named.knot_spacing_mm.across,
            smoothing_length=named.smoothing_length_mm,
            tolerance=named.tolerance_mm,
            mean_tolerance=named.mean_tolerance_mm,
        ),
        tibial_limits=named.tibial_thickness_mm,
        femoral_limits=named.femoral_thickness_mm,
    )


def _check_form(mesh: TriangleMesh, form: str, key: str, source: str) -> None:
    """Refuse a closed body that is said to be a bearing sheet."""
    if form == "sheet" and is_closed(mesh):
        raise InputDataError(
            source,
            "a closed solid",
            "the bearing sheet alone, as the settings say",
            f"Say `{key}: solid`, and its bearing is cut out.",
            key,
        )


def window_axis(meshes: MeshImplantSettings, femoral: TriangleMesh) -> tuple[float, float]:
    """Axis about which the angles of the femoral windows are told.

    Parameters
    ----------
    meshes : MeshImplantSettings
        The `implant.meshes` block of the settings.
    femoral : TriangleMesh
        Femoral component in knee axes.

    Returns
    -------
    pair of float
        x and y, mm.
    """
    limits = [abs(z) for side in SIDES for z in getattr(meshes.femoral_region_mm, side).z]
    return condyle_axis(femoral, (min(limits), max(limits)))


def _fit_implant(
    settings: ImplantSettings,
    meshes: MeshImplantSettings,
    insert: TriangleMesh,
    femoral: TriangleMesh,
) -> tuple[Implant, list[FitQuality]]:
    """Patches through both meshes."""
    fit = FitSettings(
        knot_spacing_along=meshes.knot_spacing_mm.along,
        knot_spacing_across=meshes.knot_spacing_mm.across,
        smoothing_length=meshes.smoothing_length_mm,
        tolerance=meshes.tolerance_mm,
        mean_tolerance=meshes.mean_tolerance_mm,
    )
    regions = meshes.femoral_region_mm
    axis = window_axis(meshes, femoral)
    plateaus, condyles, coverage, quality = {}, {}, {}, []
    for side in SIDES:
        region = getattr(meshes.insert_region_mm, side)
        plateaus[side], good = fit_plateau(insert, region.x, region.z, fit, (meshes.insert, side))
        quality.append(good)
        coverage[side] = sheet_coverage(insert, region.x, region.z)
        part = getattr(regions, side)
        angles = (math.radians(part.angle_deg[0]), math.radians(part.angle_deg[1]))
        condyles[side], good = fit_condyle(
            femoral, axis, angles, part.z, fit, (meshes.femoral, side)
        )
        quality.append(good)
    implant = Implant(
        name=settings.name,
        femoral=condyles,
        insert=plateaus,
        underside=math.nan,
        nominal_thickness=settings.nominal_thickness_mm,
        left=settings.knee == "left",
        coverage=coverage,
    )
    return implant, quality


def _laid_on(
    implant: Implant, settings: ImplantSettings, underside_mesh: TriangleMesh | None
) -> Implant:
    """The implant with its underside, refused where that is not below the bearing."""
    underside, source, key = _given_underside(settings, underside_mesh)
    _check_underside(implant, underside, source, key)
    return replace(implant, underside=underside)


def _given_underside(
    settings: ImplantSettings, underside_mesh: TriangleMesh | None
) -> tuple[float | Underside, str, str]:
    """Underside by the settings, with the file and the key it comes from."""
    meshes = settings.meshes
    if meshes is None:
        raise ValueError("the settings have no block 'meshes'")
    if meshes.underside_mesh is not None:
        if underside_mesh is None:
            raise ValueError("the settings name an underside mesh, and none was given")
        axes = meshes.axes.model_dump()
        source = meshes.underside_mesh
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
        if not thickness[worst] > 0.0:
            x, y, z = points[worst]
            found = (
                "no underside"
                if np.isnan(thickness[worst])
                else f"an underside at y {y - thickness[worst]:.2f} mm"
            )
            raise InputDataError(
                source,
                f"{found} under the {side} bearing at x {x:.1f}, y {y:.2f}, z {z:.1f} mm",
                "an underside below the whole bearing",
                f"Correct `{key}`: it counts in the insert's frame.",
                key,
            )


def _samples(surface: Surface) -> NDArray[np.float64]:
    """Points of a patch on a regular raster of its parameters, shape (n, 3)."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(np.linspace(u0, u1, 41), np.linspace(v0, v1, 41))
    return surface.evaluate(u, v).reshape(-1, 3)
