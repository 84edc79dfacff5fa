"""Files of a dynamic finite-element knee: surfaces, attachments of ligaments, and meshes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import Finding, InputDataError
from kneewear.geometry.meshes import TriangleMesh, to_knee_axes
from kneewear.io.result_files import atomic_path
from kneewear.io.shapes import load_shape
from kneewear.knees.papers.fe_knee.bones import FEMUR, FIBULA, TIBIA, KneeBones, NaturalBones
from kneewear.knees.papers.fe_knee.settings import BonesSettings, FeKneeStudy, NaturalBonesSettings
from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh
from kneewear.knees.tissue.files import FileFrame, read_ligaments
from kneewear.study.inputs import Reader

Array = NDArray[np.float64]
Files = Mapping[str, str | Path]

_PARTS = ("nodes", "tetrahedra", "prisms")
_SURFACE = ("vertices", "faces")


def load_bones(settings: BonesSettings, files: Files, knee: str) -> NaturalBones | None:
    """Surfaces and attachments of natural bones by `files`; None for simplified ones.

    `knee` is "left" or "right". InputDataError if a file is not what the settings say.
    """
    own = settings.natural
    if settings.source != "natural" or own is None:
        return None
    axes = own.axes.model_dump()
    surfaces = {
        name: to_knee_axes(load_shape(files[name]), own.unit, axes, knee, str(files[name]))
        for name in own.files
        if name != "ligaments"
    }
    return NaturalBones(surfaces, _attachments(own, files["ligaments"], axes, knee))


def check_files(study: FeKneeStudy, reader: Reader) -> tuple[Finding, ...]:
    """Read the data files of a study; InputDataError if they, or the mesher, cannot be used."""
    bones = study.fe_knee.bones
    load_bones(bones, reader.files(study), study.implant.knee)
    if bones.source == "natural" and find_spec("pytetwild") is None:
        raise InputDataError(
            "fe_knee.bones.source: natural",
            "no pytetwild to fill bones with tetrahedra",
            "the optional extra `fe`",
            "Install it: pip install 'kneewear[fe]'. Or take simplified bones.",
        )
    return ()


def _attachments(
    own: NaturalBonesSettings, path: str | Path, axes: Mapping[str, str], knee: str
) -> dict[str, dict[str, Array]]:
    """Mean attachments of the bundles whose names begin as the settings say, in knee axes, mm."""
    frames = {name: FileFrame(body) for name, body in own.frames.items()}
    bundles = read_ligaments(path, frames, tuple(sorted(set(own.frames.values())))).bundles
    found = {}
    on_fibula = own.fibula.ligaments if own.fibula else ()
    for name, beginning in own.bundles.items():
        paths = [
            {body: np.asarray(point, dtype=float) for body, point in ends}
            for bundle, ends in zip(bundles.names, bundles.paths, strict=True)
            if bundle.startswith(beginning) and {body for body, _ in ends} == {FEMUR, TIBIA}
        ]
        if not paths:
            raise InputDataError(
                path,
                f"no bundle that begins with {beginning}",
                "one or more between femur and tibia",
                "Correct the name.",
                f"fe_knee.bones.natural.bundles.{name}",
            )
        lower = FIBULA if name in on_fibula else TIBIA
        found[name] = {
            body: _mean(paths, at, axes, knee) for body, at in ((FEMUR, FEMUR), (lower, TIBIA))
        }
    return found


def _mean(paths: list[dict[str, Array]], body: str, axes: Mapping[str, str], knee: str) -> Array:
    points = np.array([ends[body] for ends in paths], dtype=float)
    cloud = TriangleMesh(points, np.empty((0, 3), dtype=np.int64))
    return to_knee_axes(cloud, "mm", axes, knee).vertices.mean(axis=0)


def keep_meshes(path: Path, key: str, build: Callable[[], KneeBones]) -> KneeBones:
    """Meshes in a file of a key, which `build` makes where there is none.

    Tetrahedra of natural bones differ a little each time they are made.
    """
    try:
        with np.load(path, allow_pickle=False) as found:
            known = str(found["key"]) == key
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        known = False
    if not known:
        save_meshes(build(), path, key)
    return load_meshes(path)


def save_meshes(bones: KneeBones, path: str | Path, key: str = "") -> None:
    """Write the coarse meshes of bones with their patches, complete or not at all."""
    arrays: dict[str, Any] = {
        "key": np.array(key),
        "ligaments": np.array(bones.ligaments, dtype=str),
        "raised": np.array(bones.raised),
    }
    for body, mesh in bones.meshes.items():
        arrays |= {f"{body}/{name}": getattr(mesh, name) for name in _PARTS}
        arrays |= {f"{body}/patches/{name}": one for name, one in mesh.patches.items()}
    for body, surface in bones.surfaces.items():
        arrays |= {f"{body}/surface/{name}": getattr(surface, name) for name in _SURFACE}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def load_meshes(path: str | Path) -> KneeBones:
    """Read what `save_meshes` has written."""
    with np.load(path, allow_pickle=False) as found:
        bodies = [one for one in (FEMUR, TIBIA, FIBULA) if f"{one}/nodes" in found.files]
        meshes = {body: _mesh(found, body) for body in bodies}
        surfaces = {
            body: TriangleMesh(*(found[f"{body}/surface/{name}"] for name in _SURFACE))
            for body in bodies
            if f"{body}/surface/faces" in found.files
        }
        ligaments, raised = tuple(map(str, found["ligaments"])), float(found["raised"])
        return KneeBones(
            meshes[FEMUR], meshes[TIBIA], ligaments, raised, surfaces, meshes.get(FIBULA)
        )


def _mesh(found: Any, body: str) -> VolumeMesh:
    """Mesh of one bone with its patches."""
    start = f"{body}/patches/"
    patches = {
        name.removeprefix(start): found[name] for name in found.files if name.startswith(start)
    }
    nodes, tetrahedra, prisms = (found[f"{body}/{name}"] for name in _PARTS)
    return VolumeMesh(nodes, tetrahedra, prisms, patches)
