"""An ultracongruent implant as a user's files: in metres, other axes, unrelated origins.

`python -m tests.geometry.ultracongruent FOLDER` writes them as STL.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import yaml

from kneewear.base.sides import SIDES
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.settings import ParametricImplantSettings
from kneewear.io.cad import save_patches
from tests.geometry.example_implant import joined, meshed, stl_bytes
from tests.geometry.solids import closed

STUDY = Path(__file__).parents[2] / "config/evidence/fe_twin_ultracongruent.yaml"
SHAPE = yaml.safe_load(STUDY.read_text(encoding="utf-8"))["implant"]["parametric"]
# Origins of the files in the frames of the built-in shape, mm (posterior, superior, medial).
ORIGINS = {"insert": (35.0, -60.0, 2.0), "femoral": (-18.0, 22.0, -1.5)}
# Rows: posterior, superior and medial along the files' axes: x medial, y posterior, z superior.
TO_FILE = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
COUNTS = {"insert": (57, 45), "femoral": (121, 45)}


def ultracongruent() -> Implant:
    """The implant, in the frames of the built-in shape."""
    shape = ParametricImplantSettings(**SHAPE)
    return build_parametric_implant(shape, "Ultracongruent", nominal_thickness=6.0)


def in_file(points: np.ndarray, part: str, left: bool = False) -> np.ndarray:
    """Points, mm in the frame of the built-in shape, as the files have them, in metres."""
    mirror = np.array([-1.0 if left else 1.0, 1.0, 1.0])
    return 1e-3 * (points - ORIGINS[part]) @ TO_FILE * mirror


def components(left: bool = False, solid: bool = False) -> dict[str, TriangleMesh]:
    """Meshes of insert and femoral component as the files have them."""
    implant = ultracongruent()
    found = {}
    for part, surfaces in (("insert", implant.insert), ("femoral", implant.femoral)):
        parts = []
        for side in SIDES:
            mesh = meshed(surfaces[side], *COUNTS[part])
            if solid:
                upper = mesh.vertices.reshape(*COUNTS[part], 3)
                lower = upper * [1.0, 0.0, 1.0] if part == "insert" else upper * [0.6, 0.6, 1.0]
                mesh = closed(upper, lower)
            parts.append(mesh)
        whole = joined(parts)
        faces = whole.faces[:, ::-1] if left else whole.faces
        found[part] = TriangleMesh(in_file(whole.vertices, part, left), faces)
    return found


def ply_bytes(mesh: TriangleMesh) -> bytes:
    """Binary PLY of a mesh."""
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        f"element vertex {len(mesh.vertices)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(mesh.faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = np.zeros(len(mesh.faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, mesh.faces
    return header.encode() + mesh.vertices.astype("<f4").tobytes() + faces.tobytes()


def write_components(
    folder: Path, ending: str = "stl", *, left: bool = False, solid: bool = False
) -> None:
    """Write `insert` and `femoral` of one file format, STEP in mm as its unit is in the file."""
    folder.mkdir(parents=True, exist_ok=True)
    if ending == "step":
        implant = ultracongruent()
        for part, surfaces in (("insert", implant.insert), ("femoral", implant.femoral)):
            turned = {
                side: one.transformed(TO_FILE.T, -np.array(ORIGINS[part]) @ TO_FILE)
                for side, one in surfaces.items()
            }
            save_patches(turned, folder / f"{part}.step")
        return
    encode = {"stl": stl_bytes, "ply": ply_bytes}[ending]
    for part, mesh in components(left, solid).items():
        (folder / f"{part}.{ending}").write_bytes(encode(mesh))


if __name__ == "__main__":
    write_components(Path(sys.argv[1]))
