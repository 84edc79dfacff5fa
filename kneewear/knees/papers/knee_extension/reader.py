"""Parts of the extended knee from data files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, joined
from kneewear.knees.assembly import bodies_alone
from kneewear.knees.inputs import Files, file_frames, load_knee_parts, require_known
from kneewear.knees.papers.knee_extension.merging import (
    join_ligaments,
    mean_path,
    merge_ligaments,
    merge_muscles,
)
from kneewear.knees.papers.knee_extension.motion import BODIES, ExtensionParts
from kneewear.knees.papers.knee_extension.patches import (
    CoonsPatches,
    femoral_patches,
    patellar_patches,
)
from kneewear.knees.papers.knee_extension.plateaus import planar_plateaus, plateau_grids
from kneewear.knees.papers.knee_extension.settings import ExtensionSettings, KneeExtensionSettings
from kneewear.knees.tissue.files import read_ligaments
from kneewear.knees.tuning import groups_of


def read(settings: KneeExtensionSettings, files: Files) -> ExtensionParts:
    """A knee whose bundles are those of the settings, each in place of some of the table.

    Bundles of `extension.further_ligaments` come first.

    Their strains are the mean ones at zero coordinates, which are full extension. InputDataError if
    the table does not have a name, if two bundles have one, or if bundles of one join different
    bodies.
    """
    knee = load_knee_parts(settings, files)
    bundles = knee.ligaments["ligaments"]
    extension = settings.extension
    ligament = extension.patellar_ligament.bundles
    key = "multibody.extension.bundles"
    groups = {
        name: _numbers(chosen, bundles.names, files, f"{key}.{name}")
        for name, chosen in extension.bundles.items()
    }
    _require_once(groups, bundles.names, files, key)
    key = "multibody.extension.patellar_ligament.bundles"
    tendon = _numbers(ligament, bundles.names, files, key)
    extended = bodies_alone(settings).poses(np.zeros(2 * 6))
    ligaments = merge_ligaments(bundles, groups, extended)
    if "further_ligaments" in files:
        further = read_ligaments(files["further_ligaments"], file_frames(settings), BODIES)
        ligaments = join_ligaments(further.bundles, ligaments, files["further_ligaments"])
    surfaces = {body: knee.shapes[name] for body, name in settings.surfaces.items()}
    patches = build_patches(surfaces, extension)
    if patches is not None:
        surfaces = {body: joined([one.mesh() for one in own]) for body, own in patches.items()}
    elif extension.plateaus is not None:
        surfaces["tibia"] = planar_plateaus(surfaces["tibia"], extension.plateaus.slope_deg)
    quadriceps = merge_muscles("quadriceps", knee.muscles["quadriceps"])
    joined_bodies = {body for body, _ in quadriceps.paths[0]}
    if patches is not None and joined_bodies != {"femur", "patella"}:
        found = f"muscles from {' to '.join(sorted(joined_bodies))}"
        expected, remedy = "muscles from femur to patella with patches", "Correct their bodies."
        raise InputDataError(files["quadriceps"], found, expected, remedy)
    return ExtensionParts(
        replace(
            knee,
            shapes={name: surfaces[body] for body, name in settings.surfaces.items()},
            ligaments={"ligaments": ligaments},
            muscles={"quadriceps": quadriceps},
        ),
        mean_path(bundles, tendon),
        patches,
    )


def build_patches(
    surfaces: Mapping[str, TriangleMesh], extension: ExtensionSettings
) -> dict[str, tuple[CoonsPatches, ...]] | None:
    """Patches of femur, both plateaus and patella; None without `extension.patches`.

    InputDataError if a surface is not where patches are sought.
    """
    wanted, plateaus = extension.patches, extension.plateaus
    if wanted is None or plateaus is None:
        return None
    planes = plateau_grids(surfaces["tibia"], plateaus.slope_deg, wanted.tibia_mm)
    patches = {
        "femur": (femoral_patches(surfaces["femur"], wanted.femur_mm),),
        "tibia": tuple(CoonsPatches(np.swapaxes(plane, 0, 1)) for plane in planes),
        "patella": (patellar_patches(surfaces["patella"], wanted.patella_mm),),
    }
    for body, own in patches.items():
        if not any(one.kept.any() for one in own):
            found = f"a surface of the {body} without a patch whose centre is on it"
            expected = "a femur around its condylar axis, a patella that faces posterior"
            remedy = "Check the axes of the mesh, or make its patches smaller."
            where = f"multibody.bodies.{body}.shapes"
            raise InputDataError(where, found, expected, remedy)
    return patches


def _numbers(
    chosen: Sequence[str], names: Sequence[str], files: Files, where: str
) -> tuple[int, ...]:
    """Numbers of bundles that are named, alone or as a ligament without final digits."""
    groups = {name: [number] for number, name in enumerate(names)} | groups_of(tuple(names))
    remedy = "Name bundles or ligaments of the table."
    require_known(chosen, groups, files["ligaments"], remedy, where)
    return tuple(number for name in chosen for number in groups[name])


def _require_once(
    groups: Mapping[str, Sequence[int]], names: Sequence[str], files: Files, where: str
) -> None:
    """Refuse a bundle of the table that is part of two."""
    owner: dict[int, str] = {}
    for name, numbers in groups.items():
        for number in numbers:
            if number in owner:
                found = f"bundle {names[number]} in {owner[number]} and in {name}"
                expected, remedy = "each bundle of the table once", "Remove it from one of them."
                raise InputDataError(files["ligaments"], found, expected, remedy, where)
            owner[number] = name
