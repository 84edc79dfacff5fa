"""STEP and IGES files, by OpenCASCADE (the optional extra `cad`)."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from kneewear.errors import Finding, InputDataError
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.surface import Surface
from kneewear.io.apart import read_apart
from kneewear.io.data_file import read_data

# Fine triangles on the faces of a part, however short its file.
_ROOM_BYTES = 6_000_000_000
_COMPLETE = "a complete STEP or IGES file"
STEP_SUFFIXES = (".step", ".stp")
IGES_SUFFIXES = (".iges", ".igs")
SUFFIXES = STEP_SUFFIXES + IGES_SUFFIXES
# Libraries of the system that OpenCASCADE is linked against on Linux; servers may lack them.
SYSTEM_LIBRARIES = ("libGL.so.1", "libX11.so.6")


def cad_is_installed() -> bool:
    """True if the optional extra `cad` is installed, and the system has what it needs."""
    return find_spec("OCP") is not None and not cad_fault()


@cache
def cad_fault() -> str:
    """Why OpenCASCADE, which is installed, cannot be loaded; nothing where it can be.

    To load it takes half a second, which every job would spend: where the system has its libraries
    it is taken as loadable.
    """
    if not sys.platform.startswith("linux"):
        return ""
    try:
        for name in SYSTEM_LIBRARIES:
            ctypes.CDLL(name)
    except OSError:
        try:
            import_module("OCP")
        except ImportError as error:
            return str(error)
    return ""


def require_cad(path: str | Path) -> None:
    """Refuse a CAD file where OpenCASCADE is missing or cannot be loaded."""
    if cad_is_installed():
        return
    found = "a CAD file, and no OpenCASCADE to read or write it"
    expected = "the optional extra `cad`"
    remedy = "Install it (pip install 'kneewear[cad]'), or export the part as STL."
    if find_spec("OCP") is not None:
        found = f"a CAD file, and OpenCASCADE that cannot be loaded ({cad_fault()})"
        expected = f"the system's {' and '.join(SYSTEM_LIBRARIES)}, which it needs"
        remedy = (
            "Install them (Debian: apt-get install libgl1 libx11-6), or export the part as STL."
        )
    raise InputDataError(path, found, expected, remedy)


def unwritten_cad() -> list[Finding]:
    """Finding that no STEP files are written because OpenCASCADE, installed, cannot be loaded."""
    if find_spec("OCP") is None or not cad_fault():
        return []
    finding = Finding(
        "cad.system_libraries",
        "note",
        "STEP files of the implant",
        f"OpenCASCADE that cannot be loaded ({cad_fault()}); none are written",
        f"the system's {' and '.join(SYSTEM_LIBRARIES)}",
        "Install them (Debian: apt-get install libgl1 libx11-6).",
    )
    return [finding]


def load_cad(path: str | Path) -> TriangleMesh:
    """Fine triangles on all faces of a STEP or IGES file, in its unit and axes (inches as mm).

    Vertices lie on the faces, those along edges within 0.5 um of them, or 8 um where a part would
    have more triangles than usual; triangles are at most about 0.8 mm wide, or wider where that is
    too many as well. Raises InputDataError when the extra `cad` is missing, or the file is missing,
    damaged or without faces.
    """
    read_data(path, "a CAD")
    require_cad(path)
    mesh: TriangleMesh = read_apart(
        path, "kneewear.io.opencascade:read_mesh", "OpenCASCADE", _COMPLETE, _ROOM_BYTES
    )
    return mesh


def save_patches(surfaces: Mapping[str, Surface], path: str | Path) -> None:
    """Write patches as faces of a STEP or IGES file, mm; in STEP each is a product of its name."""
    require_cad(path)
    from kneewear.io import opencascade  # noqa: PLC0415

    opencascade.write_patches(surfaces, Path(path))


def save_solid_step(mesh: TriangleMesh, name: str, path: str | Path) -> None:
    """Write a watertight mesh as solids of plane faces of a STEP file, mm."""
    require_cad(path)
    from kneewear.io import opencascade  # noqa: PLC0415

    opencascade.write_solid(mesh, name, Path(path))


def save_implant_step(implant: Implant, path: str | Path) -> None:
    """Write the bearing surfaces of an implant (`geometry/surfaces.step`).

    Condyles (in the femoral frame) precede plateaus (in the insert's frame), the medial one first
    and cam and post last; those of a left implant are mirrored back.
    """
    surfaces = {f"femoral_{side}": implant.indenter(side) for side in implant.sides}
    surfaces |= {f"insert_{side}": bearing_of(implant, side).surface for side in implant.sides}
    if implant.left:
        surfaces = {name: surface.mirrored() for name, surface in surfaces.items()}
    save_patches(surfaces, path)
