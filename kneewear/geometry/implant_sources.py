"""The implant or natural knee of a study, from the built-in shape or from a user's files."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kneewear.base.checks import judge
from kneewear.base.sides import SIDES
from kneewear.errors import Finding, InputDataError
from kneewear.geometry import mesh_checks
from kneewear.geometry.extraction import Extraction, extract_condyles, extract_plateaus, whole_sheet
from kneewear.geometry.fit_quality import FitQuality, GeometryRecord, summarize_deviation
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.implant import Implant, InsertLayer
from kneewear.geometry.meshes import (
    FEWER_TRIANGLES,
    TriangleMesh,
    bearing_axis,
    femoral_from_points,
    insert_from_points,
    sampled_triangles,
    sheet_coverage,
    to_knee_axes,
    within_outline,
)
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.plausibility import (
    condyle_bearing,
    judge_bearing,
    judge_edges,
    judge_pair,
    plateau_bearing,
)
from kneewear.geometry.segmentation import MIN_FLAT, find_underside
from kneewear.geometry.settings import (
    ImplantSettings,
    InsertRegion,
    InsertRegions,
    MeshImplant,
    MeshImplantSettings,
    NaturalKnee,
    NaturalKneeSettings,
    ParametricImplant,
)
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import (
    PlaneUnderside,
    Underside,
    thickness_above,
    underside_of_mesh,
)

logger = logging.getLogger(__name__)

MeshBlock = MeshImplantSettings | NaturalKneeSettings
Patches = dict[str, Surface]
# Mesh in knee axes and its file, by component: "insert", "femoral", "insert_bone", "femoral_bone".
Sheets = Mapping[str, tuple[TriangleMesh, str]]

# Number of vertices of a mesh sufficient to estimate its minimum thickness before it is fitted.
_THICKNESS_SAMPLES = 5000
# mm; healthy cartilage of the knee is 1 to 6 mm thick, so a larger mean distance is an error.
_MAX_MEAN_CARTILAGE = 8.0
# Wave that is refined over the thickness of the insert: 1 % of the strain that 10 MPa cause in
# polyethylene (463 MPa, Poisson's ratio 0.46; Bei 2003), less than under most peak pressures.
_WAVE_STRAIN = 0.01 * 10.0 / 2140.0


def build_implant(
    settings: ImplantSettings,
    insert_mesh: TriangleMesh | None = None,
    femoral_mesh: TriangleMesh | None = None,
    underside_mesh: TriangleMesh | None = None,
    *,
    insert_bone_mesh: TriangleMesh | None = None,
    femoral_bone_mesh: TriangleMesh | None = None,
) -> tuple[Implant, GeometryRecord]:
    """Build the implant or natural knee of a study, as a right knee.

    Meshes are as read from file: insert and femoral component (or, of a natural knee, the cartilage
    of tibia and femur), underside where the settings name one, and subchondral bone of a natural
    knee; none for the built-in implant. A mesh that is needed and not given raises a ValueError,
    one that is not what the settings state, or cannot be fitted as closely, an InputDataError.
    """
    if isinstance(settings, ParametricImplant):
        thickness, left = settings.nominal_thickness_mm, settings.knee == "left"
        implant = build_parametric_implant(
            settings.parametric, settings.name, thickness, left, settings.sides
        )
        return implant, GeometryRecord(tuple(_exact_patches(implant)))
    if settings.source == "natural":
        natural, sheets = _natural_sheets(
            settings,
            insert_mesh=insert_mesh,
            femoral_mesh=femoral_mesh,
            insert_bone_mesh=insert_bone_mesh,
            femoral_bone_mesh=femoral_bone_mesh,
        )
        implant, quality = _fit_sheets(settings, natural, sheets)
        return implant, GeometryRecord(tuple(quality))
    if insert_mesh is None or femoral_mesh is None:
        raise ValueError("source meshes needs an insert and a femoral mesh")
    meshes = _mesh_settings(settings)
    bearings = extract_bearings(settings, insert_mesh, femoral_mesh)
    files = {"insert": meshes.insert, "femoral": meshes.femoral}
    sheets = {name: (bearing.sheet, files[name]) for name, bearing in bearings.items()}
    implant, quality = _fit_sheets(settings, meshes, sheets)
    quality.sort(key=lambda fit: SIDES.index(fit.side))
    for warning in judge_meshes(settings, insert_mesh, femoral_mesh, underside_mesh):
        logger.warning("%s", warning)
    underside, source, key = _read_underside(settings, underside_mesh)
    _check_underside(implant, underside, source, key)
    solid = "solid" in (meshes.insert_form, meshes.femoral_form)
    record = GeometryRecord(tuple(quality), bearings if solid else None)
    return replace(implant, underside=underside), record


def check_meshes(settings: ImplantSettings, **meshes: TriangleMesh) -> None:
    """Refuse meshes, named as in `build_implant`, that do not agree with the settings.

    InputDataError if one is empty, in another unit, inside out or upside down, not manifold, of the
    other knee or component, or a solid where the settings state a sheet.
    """
    if settings.source != "natural":
        _convert_meshes(settings, meshes["insert_mesh"], meshes["femoral_mesh"])
        return
    sheets = _natural_sheets(settings, **meshes)[1]
    for mesh, source in sheets.values():
        mesh_checks.check_size(mesh, source)
        _check_form(mesh, "sheet", "natural", source)
    tibia, source = sheets["insert"]
    mesh_checks.check_plateau_lengths(tibia, settings.knee, source)


def judge_meshes(
    settings: ImplantSettings,
    insert_mesh: TriangleMesh,
    femoral_mesh: TriangleMesh,
    underside_mesh: TriangleMesh | None = None,
) -> tuple[Finding, ...]:
    """Warnings about bearings that may not be those of one whole implant; meshes as they were read.

    InputDataError if a bearing has a hole, several layers or too few triangles, or insert, condyles
    and settings cannot be of one implant.
    """
    meshes = _mesh_settings(settings)
    bearings = extract_bearings(settings, insert_mesh, femoral_mesh)
    insert, femoral = (bearings[name].sheet for name in ("insert", "femoral"))
    axis = window_axis(meshes, femoral)
    plateaus, condyles = {}, {}
    for side in settings.sides:
        plateau = getattr(meshes.insert_region_mm, side)
        inside = _within_outline(insert, plateau)
        plateaus[side] = plateau_bearing(inside, plateau.x, plateau.z, meshes.insert, side)
        condyle = getattr(meshes.femoral_region_mm, side)
        low, high = (math.radians(angle) for angle in condyle.angle_deg)
        condyles[side] = condyle_bearing(
            femoral, axis, (low, high), condyle.z, meshes.femoral, side
        )
    found = [judge_bearing(one) for one in (*plateaus.values(), *condyles.values())]
    files = ((insert_mesh, meshes.insert), (femoral_mesh, meshes.femoral))
    sizes = [
        judge("geometry.mesh_triangles", len(mesh.faces), source, FEWER_TRIANGLES)
        for mesh, source in files
    ]
    edges = [judge_edges(bearings[name].mesh, getattr(meshes, name)) for name in bearings]
    found.append(tuple(filter(None, [*sizes, *edges])))
    underside, _, _ = _read_underside(settings, underside_mesh)
    thickness = partial(thickness_above, underside)
    widths = insert.extent[2], femoral.extent[2]
    nominal = settings.nominal_thickness_mm
    # Without a closed body nothing but the plateaus shows the frame.
    is_level = (
        meshes.insert_form == "solid" and find_underside(bearings["insert"].mesh)[1] >= MIN_FLAT
    )
    found.append(judge_pair(plateaus, condyles, thickness, nominal, widths, is_level))
    return tuple(warning for part in found for warning in part)


def extract_bearings(
    settings: ImplantSettings, insert_mesh: TriangleMesh, femoral_mesh: TriangleMesh
) -> dict[str, Extraction]:
    """Bearing sheets of "insert" and "femoral" mesh of a right knee, as given or cut out of solids.

    Raises as `check_meshes`, and when a solid has no bearing.
    """
    meshes = _mesh_settings(settings)
    cutters = {"insert": extract_plateaus, "femoral": extract_condyles}
    return {
        name: cutters[name](mesh, getattr(meshes, name))
        if getattr(meshes, f"{name}_form") == "solid"
        else whole_sheet(mesh)
        for name, mesh in _convert_meshes(settings, insert_mesh, femoral_mesh).items()
    }


def check_thickness(
    settings: ImplantSettings,
    thickness: float,
    insert_mesh: TriangleMesh | None = None,
    underside_mesh: TriangleMesh | None = None,
) -> None:
    """Refuse an insert without thickness at a sampled point, before anything is fitted.

    `thickness` is the smallest minimum thickness of the cases, mm; meshes are as for
    `build_implant`. Samples are vertices that face up in the regions of the bearing, or a raster.
    """
    underside: float | Underside
    if settings.source == "parametric":
        implant, _ = build_implant(settings)
        underside = implant.underside
        nets = [surface.control_points.reshape(-1, 3) for surface in implant.insert.values()]
        # Patches lie within their control points. Where these are high enough nothing is evaluated:
        # kernels would take longer to load than all other checks of a study.
        least = thickness_above(underside, np.concatenate(nets)).min()
        if least + thickness > settings.nominal_thickness_mm:
            return
        points = np.concatenate([_samples(surface) for surface in implant.insert.values()])
    elif settings.source == "meshes" and insert_mesh is not None:
        underside, _, _ = _read_underside(settings, underside_mesh)
        points = _bearing_vertices(settings, insert_mesh)
    else:
        return  # cartilage has a thickness of its own
    local = thickness_above(underside, points) + thickness - settings.nominal_thickness_mm
    if np.isnan(local).all() or not np.nanmin(local) <= 0:
        return
    x, _, z = points[np.nanargmin(local)]
    raise InputDataError(
        "key insert.thickness_mm",
        f"{thickness:g} mm, which leaves {np.nanmin(local):.2f} mm at x {x:.1f}, z {z:.1f} mm",
        "an insert thicker than 0 everywhere",
        f"Take more than {thickness - np.nanmin(local):.2f} mm; or check the underside, the "
        f"regions of the bearing and implant.nominal_thickness_mm "
        f"({settings.nominal_thickness_mm:g} mm).",
    )


def window_axis(block: MeshBlock, femoral: TriangleMesh) -> tuple[float, float]:
    """Axis (x, y), mm, about which the angles of the femoral regions of a block are measured.

    `femoral` is the femoral component, or cartilage, in knee axes.
    """
    widths = [region.z for region in block.femoral_region_mm.given.values()]
    return bearing_axis(femoral, widths)


def _exact_patches(implant: Implant) -> Iterator[FitQuality]:
    """Records of the patches of the built-in implant, which are exact: no point is judged."""
    for side in implant.sides:
        for body, surface in (
            ("insert", bearing_of(implant, side).surface),
            ("femoral", implant.indenter(side)),
        ):
            yield summarize_deviation((body, side), surface, np.empty((0, 3)), np.empty(0))


def _mesh_settings(settings: ImplantSettings) -> MeshImplantSettings:
    if not isinstance(settings, MeshImplant):
        raise ValueError("the settings have no block 'meshes'")
    return settings.meshes


def _in_knee_axes(
    mesh: TriangleMesh, settings: ImplantSettings, block: MeshBlock, source: str
) -> TriangleMesh:
    return to_knee_axes(mesh, block.unit, block.axes.model_dump(), settings.knee, source)


def _convert_meshes(
    settings: ImplantSettings, insert_mesh: TriangleMesh, femoral_mesh: TriangleMesh
) -> dict[str, TriangleMesh]:
    """Meshes of a right knee in knee axes, checked; point clouds become sheets."""
    meshes = _mesh_settings(settings)
    steps = {
        "insert": (
            insert_mesh,
            insert_from_points,
            mesh_checks.check_insert,
            mesh_checks.check_insert_side,
        ),
        "femoral": (
            femoral_mesh,
            femoral_from_points,
            mesh_checks.check_femoral,
            mesh_checks.check_femoral_side,
        ),
    }
    converted = {}
    for name, (mesh, from_points, check, check_side) in steps.items():
        source, key = getattr(meshes, name), f"{name}_form"
        found = _in_knee_axes(mesh, settings, meshes, source)
        if found.is_cloud:
            found = from_points(found.vertices, source)
        check(found, source)
        _check_form(found, getattr(meshes, key), key, source)
        if len(settings.sides) > 1:
            check_side(found, settings.knee, source)
        converted[name] = found
    return converted


def _natural_sheets(
    settings: ImplantSettings, **meshes: TriangleMesh | None
) -> tuple[NaturalKneeSettings, Sheets]:
    """The block of a natural knee and its four sheets."""
    if not isinstance(settings, NaturalKnee):
        raise ValueError("the settings have no block 'natural'")
    natural = settings.natural
    files = {
        "insert": natural.tibial_cartilage,
        "insert_bone": natural.tibial_bone,
        "femoral": natural.femoral_cartilage,
        "femoral_bone": natural.femoral_bone,
    }
    sheets = {}
    for component, source in files.items():
        mesh = meshes.get(f"{component}_mesh")
        if mesh is None:
            raise ValueError("source natural needs the meshes of both cartilages and both bones")
        sheets[component] = _in_knee_axes(mesh, settings, natural, source), source
    return natural, sheets


def _check_form(mesh: TriangleMesh, form: str, key: str, source: str) -> None:
    """Refuse a closed body where the settings state a bearing sheet."""
    if form == "sheet" and mesh.is_closed:
        expected = "the bearing sheet alone, as the settings state"
        remedy = f"Set `{key}: solid`, and its bearing is cut out."
        raise InputDataError(source, "a closed solid", expected, remedy, key)


def _fit_sheets(
    settings: ImplantSettings, block: MeshBlock, sheets: Sheets
) -> tuple[Implant, list[FitQuality]]:
    """Implant or natural knee whose patches are fitted to sheets, still without an underside."""
    # One axis for cartilage and bone, or the radial direction would differ between them.
    axis = window_axis(block, sheets["femoral"][0])
    regions = _insert_regions(block)
    fit = FitSettings(
        knot_spacing_along=block.knot_spacing_mm.along,
        knot_spacing_across=block.knot_spacing_mm.across,
        smoothing_length=block.smoothing_length_mm,
        tolerance=block.tolerance_mm,
        mean_tolerance=block.mean_tolerance_mm,
        wave_tolerance=_wave_tolerance(block.wave_tolerance_mm, settings.nominal_thickness_mm),
    )
    patches: dict[str, Patches] = {component: {} for component in sheets}
    quality = []
    for component, (mesh, source) in sheets.items():
        for side in settings.sides:
            label = (component, source, side)
            if component.startswith("insert"):
                plateau = getattr(regions, side)
                inside = _within_outline(mesh, plateau)
                surface, found = fit_plateau(inside, plateau.x, plateau.z, fit, label)
            else:
                condyle = getattr(block.femoral_region_mm, side)
                low, high = (math.radians(angle) for angle in condyle.angle_deg)
                surface, found = fit_condyle(mesh, axis, (low, high), condyle.z, fit, label)
            patches[component][side] = surface
            quality.append(found)
    layers = {}
    if isinstance(block, NaturalKneeSettings):
        limits = {"insert": block.tibial_thickness_mm, "femoral": block.femoral_thickness_mm}
        for body, given in limits.items():
            _check_layer(patches[body], patches[f"{body}_bone"], sheets[body][1])
            layers[body] = InsertLayer(patches[f"{body}_bone"], given, along=block.thickness_along)
        measured = {
            side: sheet_coverage(sheets["insert_bone"][0], region.x, region.z)
            for side in settings.sides
            if (region := getattr(regions, side))
        }
        layers["insert"] = replace(
            layers["insert"],
            coverage=measured,
            points=sampled_triangles(sheets["insert_bone"][0]),
            beyond=block.beyond_bone,
        )
    coverage = {}
    for side in settings.sides:
        plateau = getattr(regions, side)
        inside = _within_outline(sheets["insert"][0], plateau)
        coverage[side] = sheet_coverage(inside, plateau.x, plateau.z)
    implant = Implant(
        name=settings.name,
        femoral=patches["femoral"],
        insert=patches["insert"],
        underside=math.nan,
        nominal_thickness=settings.nominal_thickness_mm,
        left=settings.knee == "left",
        coverage=coverage,
        femoral_layer=layers.get("femoral"),
        insert_layer=layers.get("insert"),
    )
    return implant, quality


def _wave_tolerance(chosen: float | str | None, thickness: float) -> float:
    """Largest mean deviation of a strip, mm, by a setting and the nominal thickness, mm."""
    if chosen is None:
        return math.inf
    return _WAVE_STRAIN * thickness if chosen == "auto" else float(chosen)


def _insert_regions(block: MeshBlock) -> InsertRegions:
    if isinstance(block, NaturalKneeSettings):
        return block.tibial_region_mm
    return block.insert_region_mm


def _within_outline(mesh: TriangleMesh, region: InsertRegion) -> TriangleMesh:
    """Triangles of an insert inside the polygon of a region; all without one."""
    if region.outline is None:
        return mesh
    return within_outline(mesh, np.array(region.outline))


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


def _bearing_vertices(settings: ImplantSettings, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Some vertices of the insert that face up within the regions of its plateaus, mm.

    Of a solid they are seen from above: another body inside it has faces of its own.
    """
    meshes = _mesh_settings(settings)
    insert = _in_knee_axes(mesh, settings, meshes, meshes.insert)
    if meshes.insert_form == "solid":
        insert = extract_plateaus(insert, meshes.insert).sheet
    points = insert.vertices
    if not insert.is_cloud:
        points = points[insert.vertex_normals[:, 1] > 0.5]
    x, z = points[:, 0], points[:, 2]
    inside = np.zeros(len(points), dtype=bool)
    for side in settings.sides:
        region = getattr(meshes.insert_region_mm, side)
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
        solid = _in_knee_axes(underside_mesh, settings, meshes, meshes.underside_mesh)
        return underside_of_mesh(solid), meshes.underside_mesh, "underside_mesh"
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
