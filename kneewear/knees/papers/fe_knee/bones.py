"""Bones of a dynamic finite-element knee, from simplified solids or from natural surfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, simplified
from kneewear.knees.papers.fe_knee import bone_meshes
from kneewear.knees.papers.fe_knee.boundary import surface_follower
from kneewear.knees.papers.fe_knee.mortar import mortar
from kneewear.knees.papers.fe_knee.settings import (
    BonesSettings,
    NaturalBonesSettings,
    SimplifiedBonesSettings,
    SimplifiedFibulaSettings,
)
from kneewear.knees.papers.fe_knee.volume_mesh import (
    Hierarchy,
    VolumeMesh,
    boundary_triangles,
    cartilage_surface,
    element_volumes,
    hierarchy,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEMUR = "femur"
TIBIA = "tibia"
FIBULA = "fibula"
CONTACT = "contact"
BASE = "base"
TIE = "tie"
# Points of a natural surface that refined meshes follow, at most about.
_SURFACE_POINTS = 20000
# Triangles of a natural bone are under cartilage if their centre is so near to the subchondral
# sheet, in parts of the element size.
_NEAR_SHEET = 0.2
# Nodes at most so far above the lowest one, in parts of the element size, are the tibia's base.
_BASE_DEPTH = 0.25
# Size of the triangles of simplified condyles that refined meshes follow, in the same parts.
_FINE = 0.125
# Boundary nodes at most so far from the surface, in parts of the element size, are moved onto it.
_REACH = 0.25
# A mesher without a seed gives another mesh each time; few are unfit.
_MESHES_TRIED = 5


@dataclass(frozen=True)
class NaturalBones:
    """Surfaces of natural bones in knee axes, mm, and where ligaments are attached to them.

    `surfaces` by the names `tibia`, `tibial_sheet`, `femoral_sheet` and, if there is one, `fibula`;
    `attachments` by ligament and bone.
    """

    surfaces: Mapping[str, TriangleMesh]
    attachments: Mapping[str, Mapping[str, Array]]


@dataclass(frozen=True)
class KneeBones:
    """Coarse meshes of femur and tibia with cartilage, mm: x posterior, y superior, z medial.

    Their patches are the cartilage surface `contact`, those of the ligaments by their names, and
    `base` of tibia and fibula, which meets the obstacle. `raised` is how far the femur was moved
    up, mm. `surfaces` of bones without cartilage, by body, are those that refined meshes follow.
    A `fibula` has no cartilage; the patches `tie` of tibia and fibula are tied.
    """

    femur: VolumeMesh
    tibia: VolumeMesh
    ligaments: tuple[str, ...]
    raised: float
    surfaces: Mapping[str, TriangleMesh] = field(default_factory=dict)
    fibula: VolumeMesh | None = None

    @property
    def meshes(self) -> dict[str, VolumeMesh]:
        """Meshes by body."""
        pair = {FEMUR: self.femur, TIBIA: self.tibia}
        return pair if self.fibula is None else pair | {FIBULA: self.fibula}

    @property
    def lowest(self) -> float:
        """Height of the lowest node of tibia and fibula, mm."""
        return min(
            float(self.meshes[mesh].nodes[:, 1].min()) for mesh in self.meshes if mesh != FEMUR
        )

    def hierarchies(self, settings: BonesSettings) -> dict[str, Hierarchy]:
        """Refined meshes by body, whose boundaries follow the surfaces of the bones."""
        return {
            name: hierarchy(mesh, settings.refinements, _follower(self.surfaces, name, settings))
            for name, mesh in self.meshes.items()
        }


def _follower(
    surfaces: Mapping[str, TriangleMesh], body: str, settings: BonesSettings
) -> Callable[[VolumeMesh], VolumeMesh] | None:
    """Function that moves the boundary of a body onto its surface; None without a surface."""
    if body not in surfaces:
        return None
    reach = _REACH * settings.element_mm
    return surface_follower(surfaces[body], settings.cartilage_mm, reach, BASE)


def build_bones(settings: BonesSettings, natural: NaturalBones | None = None) -> KneeBones:
    """Coarse bones with cartilage and insertions, the femur raised to the wanted gap.

    `natural` holds the surfaces of natural bones, and is needed for these only. InputDataError if
    a mesh is of no use, cartilages do not face each other, or an attachment is far from its bone.
    """
    if settings.source == "natural":
        if natural is None or settings.natural is None:
            raise ValueError("natural bones need their surfaces")
        meshes, surfaces = _natural(settings, settings.natural, natural)
        attachments = natural.attachments
    else:
        own = settings.simplified
        if own is None:
            raise ValueError("simplified bones need their settings")
        meshes, surfaces = _simplified(settings, own)
        attachments = {
            name: {FEMUR: np.array(one.femur), TIBIA: np.array(one.tibia)}
            for name, one in own.attachments_mm.items()
        }
        for name, point in own.fibula.ligaments_mm.items() if own.fibula else ():
            attachments[name] = {FEMUR: attachments[name][FEMUR], FIBULA: np.array(point)}
    for name, mesh in meshes.items():
        patched = _with_patches(mesh, name, attachments, settings)
        follow = _follower(surfaces, name, settings)
        meshes[name] = patched if follow is None else follow(patched)
        bone_meshes.check_quality(meshes[name], name)
    ligaments, fibula = tuple(attachments), meshes.get(FIBULA)
    bones = KneeBones(meshes[FEMUR], meshes[TIBIA], ligaments, 0.0, surfaces, fibula)
    if fibula is not None:
        _check_tie(meshes[TIBIA], fibula, tie_reach(bones, settings), settings.source)
    finest = {name: one.finest for name, one in bones.hierarchies(settings).items()}
    gap = bone_meshes.joint_gap(finest[FEMUR], finest[TIBIA])
    if not np.isfinite(gap):
        raise InputDataError(
            "fe_knee.bones",
            "no femoral cartilage above tibial cartilage",
            "surfaces that face each other",
            "Check axes and places of the bones.",
        )
    raised = settings.joint_gap_mm - gap
    up = np.array([0.0, raised, 0.0])
    if FEMUR in surfaces:
        own_surface = surfaces[FEMUR]
        surfaces[FEMUR] = TriangleMesh(own_surface.vertices + up, own_surface.faces)
    raised_femur = replace(bones.femur, nodes=bones.femur.nodes + up)
    return replace(bones, femur=raised_femur, raised=raised)


def _with_patches(
    mesh: VolumeMesh,
    body: str,
    attachments: Mapping[str, Mapping[str, Array]],
    settings: BonesSettings,
) -> VolumeMesh:
    """Mesh with the contact surface, the insertions and the base as patches."""
    patches = {CONTACT: cartilage_surface(mesh)} if len(mesh.prisms) else {}
    for name, ends in attachments.items():
        if body in ends:
            at, radius = f"insertion of {name} on the {body}", settings.patch_radius_mm
            patches[name] = bone_meshes.insertion_patch(mesh, ends[body], radius, at)
    if body != FEMUR:
        patches[BASE] = bone_meshes.lowest_triangles(mesh, _BASE_DEPTH * settings.element_mm)
        if settings.fibula is not None:
            patches[TIE] = bone_meshes.lowest_triangles(mesh, settings.fibula.tie_mm)
    return replace(mesh, patches=patches)


def tie_reach(bones: KneeBones, settings: BonesSettings) -> float:
    """Largest distance of tied triangles, mm: the least of the lower ends and one element."""
    if bones.fibula is None:
        raise ValueError("there is no fibula")
    ends = [one.nodes[np.unique(one.patches[TIE])] for one in (bones.tibia, bones.fibula)]
    if not all(map(len, ends)):
        return 0.0
    apart = np.linalg.norm(ends[0][:, None] - ends[1], axis=-1)
    return float(apart.min()) + settings.element_mm


def _check_tie(tibia: VolumeMesh, fibula: VolumeMesh, reach: float, source: str) -> None:
    """InputDataError if no triangles of the lower ends face each other."""
    nodes = np.concatenate([tibia.nodes, fibula.nodes])
    try:
        mortar(nodes, fibula.patches[TIE] + len(tibia.nodes), tibia.patches[TIE], reach)
    except ValueError:
        raise InputDataError(
            f"fe_knee.bones.{source}.fibula.tie_mm",
            "no triangles of the lower ends of tibia and fibula that face each other",
            "whole coarse triangles of both within the tie, side by side",
            "Take a higher tie, smaller elements, or another place of the fibula.",
        ) from None


def _simplified(
    settings: BonesSettings, own: SimplifiedBonesSettings
) -> tuple[dict[str, VolumeMesh], dict[str, TriangleMesh]]:
    """Blocks whose cartilage covers a rectangle of each compartment, and their curved surfaces."""
    element, dishes = settings.element_mm, None
    if own.dishes is not None:
        dishes = bone_meshes.Dishes(
            own.dishes.radii_mm, own.condyle_spacing_mm, own.dishes.depth_mm
        )
    tibia = bone_meshes.simplified_tibia(own.size_mm, element, own.shaft_mm, dishes)
    femur = bone_meshes.simplified_femur(
        own.size_mm, element, own.condyle_radii_mm, own.condyle_spacing_mm, own.shaft_mm
    )
    fine = bone_meshes.simplified_femur(
        own.size_mm, _FINE * element, own.condyle_radii_mm, own.condyle_spacing_mm, own.shaft_mm
    )
    meshes = {
        FEMUR: _covered_block(*femur, -1.0, settings, own),
        TIBIA: _covered_block(*tibia, 1.0, settings, own),
    }
    if own.fibula is not None:
        meshes[FIBULA] = _fibula_block(element, own, own.fibula)
    curved = {FEMUR: fine}
    if dishes is not None:
        curved[TIBIA] = bone_meshes.simplified_tibia(
            own.size_mm, _FINE * element, own.shaft_mm, dishes
        )
    return meshes, {
        name: TriangleMesh(one[0], boundary_triangles(VolumeMesh(*one)))
        for name, one in curved.items()
    }


def _fibula_block(
    element: float, own: SimplifiedBonesSettings, fibula: SimplifiedFibulaSettings
) -> VolumeMesh:
    """Block on the lateral side of the tibia."""
    middle = -0.5 * own.size_mm[2] - fibula.gap_mm - 0.5 * fibula.size_mm[2]
    nodes, tetrahedra = bone_meshes.simplified_fibula(fibula.size_mm, element, own.shaft_mm)
    base = np.array([fibula.posterior_mm, -own.size_mm[1] - own.shaft_mm, middle])
    return VolumeMesh(nodes + base, tetrahedra)


def _covered_block(
    nodes: Array,
    tetrahedra: Ints,
    side: float,
    settings: BonesSettings,
    own: SimplifiedBonesSettings,
) -> VolumeMesh:
    """Block with cartilage on its upper (1) or lower (-1) side."""
    boundary = boundary_triangles(VolumeMesh(nodes, tetrahedra))
    surface = TriangleMesh(nodes, boundary)
    centre = nodes[boundary].mean(axis=1)
    up = side * surface.face_normals[:, 1]
    length, width = own.cartilage_size_mm
    covered = (
        (up > 0.3 * np.linalg.norm(surface.face_normals, axis=1))
        & (np.abs(centre[:, 0]) < 0.5 * length)
        & (np.abs(np.abs(centre[:, 2]) - 0.5 * own.condyle_spacing_mm) < 0.5 * width)
    )
    return bone_meshes.add_cartilage(
        nodes, tetrahedra, boundary[covered], settings.cartilage_mm, "fe_knee.bones.cartilage_mm"
    )


def _natural(
    settings: BonesSettings, own: NaturalBonesSettings, natural: NaturalBones
) -> tuple[dict[str, VolumeMesh], dict[str, TriangleMesh]]:
    """Tetrahedra in the tibia and in a femoral block, with cartilage on the subchondral sheets.

    And in the fibula, if there is one, and the surfaces that their boundaries follow.
    """
    surfaces = natural.surfaces
    sides = [ends[FEMUR] for ends in natural.attachments.values()]
    outside = [side for side in sides if _is_beside(side, surfaces["femoral_sheet"])]
    solids = {
        FEMUR: bone_meshes.closed_femur(
            surfaces["femoral_sheet"],
            np.array(outside).reshape(-1, 3),
            own.femur_top_mm + own.shaft_mm,
        ),
        TIBIA: bone_meshes.lengthened(surfaces[TIBIA], own.shaft_mm),
    }
    if own.fibula is not None:
        solids[FIBULA] = bone_meshes.lengthened(surfaces[FIBULA], own.shaft_mm)
    sheets = {FEMUR: surfaces["femoral_sheet"], TIBIA: surfaces["tibial_sheet"]}
    found = {}
    for name, solid in solids.items():
        nodes, tetrahedra = _tetrahedra(solid, settings.element_mm, name)
        if name not in sheets:
            found[name] = VolumeMesh(nodes, tetrahedra)
            continue
        boundary = boundary_triangles(VolumeMesh(nodes, tetrahedra))
        near = _NEAR_SHEET * settings.element_mm
        covered = bone_meshes.covered_triangles(boundary, nodes, sheets[name], near)
        thickness, where = settings.cartilage_mm, f"cartilage of the {name}"
        covered = bone_meshes.extrudable(nodes, covered, thickness)
        found[name] = bone_meshes.add_cartilage(nodes, tetrahedra, covered, thickness, where)
    return found, {name: simplified(solid, _SURFACE_POINTS) for name, solid in solids.items()}


def _tetrahedra(solid: TriangleMesh, element: float, name: str) -> tuple[Array, Ints]:
    """Nodes and tetrahedra of a bone, the lowest side of a tibia plane.

    The mesher keeps a plane within its envelope only, and contact would be at single nodes. The
    natural fibula ends above the tibia. One mesh in about 30 cannot be made plane; the mesher gives
    another one each time.
    """
    for tried in range(1, _MESHES_TRIED + 1):
        nodes, tetrahedra = bone_meshes.tetrahedralise(solid, element, name)
        if name != TIBIA:
            break
        try:
            return bone_meshes.with_flat_base(nodes, tetrahedra, _BASE_DEPTH * element)
        except InputDataError:
            if tried == _MESHES_TRIED:
                raise
    return nodes, tetrahedra


def _is_beside(point: Array, sheet: TriangleMesh) -> bool:
    """True if a point is further to the side than all of a sheet."""
    return bool(np.abs(point[2]) > np.abs(sheet.vertices[:, 2]).max())


def mesh_summary(bones: KneeBones) -> list[dict[str, object]]:
    """Counts and qualities of the coarse meshes, one row for each body."""
    rows = []
    for name, mesh in bones.meshes.items():
        tetrahedra, prisms = element_volumes(mesh)
        rows.append(
            {
                "body": name,
                "nodes": len(mesh.nodes),
                "tetrahedra": len(mesh.tetrahedra),
                "prisms": len(mesh.prisms),
                "least_quality": float(bone_meshes.tetrahedron_quality(mesh).min()),
                "bone_volume_cm3": float(tetrahedra.sum()) * 1e-3,
                "cartilage_volume_cm3": float(prisms.sum()) * 1e-3,
            }
        )
    return rows
