"""STEP and IGES files, by OpenCASCADE (the optional extra `cad`)."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kneewear.errors import InputDataError
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


def cad_is_installed() -> bool:
    """Whether the optional extra `cad` is installed."""
    return find_spec("OCP") is not None


def require_cad(path: str | Path) -> None:
    """Refuse a CAD file where OpenCASCADE is missing."""
    if not cad_is_installed():
        found = "a CAD file, and no OpenCASCADE to read or write it"
        remedy = "Install it (pip install 'kneewear[cad]'), or export the part as STL."
        raise InputDataError(path, found, "the optional extra `cad`", remedy)


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
    root = str(Path(__file__).parents[2])
    search = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.pickle")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "kneewear.io.opencascade", str(path), str(answer)],
                env=os.environ | {"PYTHONPATH": search},
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
