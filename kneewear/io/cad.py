"""STEP and IGES files, by OpenCASCADE (the optional extra `cad`)."""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kneewear.base.search_path import without_folder
from kneewear.errors import Finding, InputDataError
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.surface import Surface
from kneewear.io.data_file import cut_off, read_data

# Real parts take seconds.
_PATIENCE_S = 300
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

    Vertices lie on the faces, those along edges within 0.5 um of them; triangles are at most about
    0.8 mm wide. Raises InputDataError when the extra `cad` is missing, or the file is missing,
    damaged or without faces.
    """
    read_data(path, "a CAD")
    require_cad(path)
    mesh: TriangleMesh = _read_apart(path)
    return mesh


def save_patches(surfaces: Mapping[str, Surface], path: str | Path) -> None:
    """Write patches as faces of a STEP or IGES file, mm; in STEP each is a product of its name."""
    require_cad(path)
    from kneewear.io import opencascade  # noqa: PLC0415

    opencascade.write_patches(surfaces, Path(path))


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


def _read_apart(path: str | Path) -> Any:
    """Mesh by `kneewear.io.opencascade`, run in a separate process.

    A damaged file may crash OpenCASCADE, and Snakemake with it, or never end.
    """
    paths = [str(Path(__file__).parents[2])]
    paths += without_folder(os.environ.get("PYTHONPATH", "").split(os.pathsep), os.curdir)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.pickle")
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "kneewear.io.opencascade", str(path), str(answer)],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
                capture_output=True,
                text=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            found = f"content OpenCASCADE is busy with for {_PATIENCE_S} s"
            raise cut_off(path, found, _COMPLETE) from None
        if done.returncode < 0:
            raise cut_off(path, "content OpenCASCADE crashes on", _COMPLETE)
        if not answer.exists():
            raise RuntimeError(f"OpenCASCADE could not be run on {path}:\n{done.stderr}")
        given = pickle.loads(answer.read_bytes())
    if isinstance(given, InputDataError):
        raise given
    return given
