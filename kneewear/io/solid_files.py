"""Closed solids as files: STL, surface meshes for finite elements, STEP."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.cad import cad_is_installed, save_solid_step
from kneewear.io.documents import save_text
from kneewear.io.result_files import atomic_path

# Facets of a STEP file: above, programs take minutes to open it.
MAX_STEP_FACETS = 20_000
# A triangle of a binary STL file.
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def save_solid(mesh: TriangleMesh, name: str, folder: Path) -> list[Path]:
    """Write a solid as `{name}.stl`, `{name}.inp` and, below 20,000 facets, `{name}.step`, mm.

    STEP files need the extra `cad`; without it none is written.
    """
    files = [folder / f"{name}.stl", folder / f"{name}.inp"]
    save_stl(mesh, f"{name}, mm", files[0])
    save_text(surface_elements(mesh, name), files[1])
    if len(mesh.faces) < MAX_STEP_FACETS and cad_is_installed():
        files.append(folder / f"{name}.step")
        save_solid_step(mesh, name, files[-1])
    return files


def save_stl(mesh: TriangleMesh, title: str, path: Path) -> None:
    """Write triangles as a binary STL file."""
    corners = mesh.vertices[mesh.faces]
    facets = np.zeros(len(corners), FACET)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1, keepdims=True)
    facets["normal"] = np.divide(across, length, out=np.zeros_like(across), where=length > 0.0)
    facets["corners"] = corners
    # No text of the head may begin with the first word of the other kind of STL.
    head = title.encode("ascii", "replace")[:80].ljust(80)
    with atomic_path(path) as temporary:
        temporary.write_bytes(head + np.uint32(len(facets)).tobytes() + facets.tobytes())


def surface_elements(mesh: TriangleMesh, name: str) -> str:
    """Triangles as shell elements S3 of an input file of Abaqus, which other programs read too.

    Numbers begin at 1; normals point outwards; vertices that triangles share are one node.
    """
    nodes = [
        f"{number}, {x:.9g}, {y:.9g}, {z:.9g}" for number, (x, y, z) in enumerate(mesh.vertices, 1)
    ]
    elements = [f"{number}, {a}, {b}, {c}" for number, (a, b, c) in enumerate(mesh.faces + 1, 1)]
    head = [f"** {name}: closed surface, mm, normals outwards", "*NODE"]
    return "\n".join([*head, *nodes, f"*ELEMENT, TYPE=S3, ELSET={name}", *elements, ""])
