"""The small implant and gait of `config/example_meshes/`, and the program that writes them.

The shape is the parametric implant's, meshed; the curves are invented, for trying import only.
Run `python -m tests.geometry.example_implant` to write the files again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kneewear.base.sides import SIDES
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.settings import ParametricImplantSettings
from kneewear.geometry.surface import Surface

FOLDER = Path(__file__).parents[2] / "config" / "example_meshes"
# Fixed here, so that retuning the default implant leaves the committed files alone.
SHAPE = {
    "femoral_sagittal_radius_mm": 30.0,
    "femoral_coronal_radius_mm": {"medial": 200.0, "lateral": 200.0},
    "femoral_half_width_mm": 12.0,
    "femoral_edge_radius_mm": 5.0,
    "condyle_spacing_mm": 46.0,
    "plateau_sagittal_radius_mm": 60.0,
    "plateau_coronal_radius_mm": {"medial": 240.0, "lateral": 240.0},
    "plateau_land_half_width_mm": 10.0,
    "plateau_edge_radius_mm": {"medial": 5.0, "lateral": 8.0},
    "plateau_spacing_mismatch_mm": {"medial": 0.4, "lateral": 0.7},
    "plateau_half_length_mm": 22.0,
    "extra_thickness_mm": 1.1,
    "femoral_arcs": [],
    "cam_and_post": None,
}
# The files' axes: x anterior, y superior, z lateral.
TO_FILE = np.array([-1.0, 1.0, -1.0])


def example_implant() -> Implant:
    """The implant that is meshed."""
    return build_parametric_implant(
        ParametricImplantSettings(**SHAPE), "Example", nominal_thickness=6.0
    )


def meshed(surface: Surface, n_u: int, n_v: int) -> TriangleMesh:
    """Regular triangulation of a patch, normals outward, vertices exactly on it."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(np.linspace(u0, u1, n_u), np.linspace(v0, v1, n_v), indexing="ij")
    number = np.arange(n_u * n_v).reshape(n_u, n_v)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.concatenate(
        [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)]
    )
    return TriangleMesh(surface.evaluate(u, v).reshape(-1, 3), faces)


def joined(meshes: list[TriangleMesh]) -> TriangleMesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([m.faces + start for m, start in zip(meshes, starts, strict=False)]),
    )


def example_meshes() -> dict[str, TriangleMesh]:
    """Meshes of insert and femoral component, mm, in the files' axes."""
    implant = example_implant()
    parts = {
        "insert": joined([meshed(implant.insert[side], 37, 41) for side in SIDES]),
        "femoral": joined([meshed(implant.femoral[side], 65, 37) for side in SIDES]),
    }
    # A half-turn about y keeps the triangles' orientation.
    return {name: TriangleMesh(part.vertices * TO_FILE, part.faces) for name, part in parts.items()}


def stl_bytes(mesh: TriangleMesh) -> bytes:
    """Binary STL of a mesh."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles = np.zeros(len(mesh.faces), dtype=record)
    length = np.linalg.norm(mesh.face_normals, axis=1, keepdims=True)
    triangles["normal"] = mesh.face_normals / length
    triangles["corners"] = mesh.vertices[mesh.faces]
    header = b"kneewear example, mm".ljust(80)
    return header + np.uint32(len(mesh.faces)).tobytes() + triangles.tobytes()


def gait_table() -> str:
    """Invented gait: clinical angles, deg, and position of the femoral origin, mm."""
    percent = np.linspace(0.0, 100.0, 51)
    turn = 2.0 * np.pi * percent / 100.0
    flexion = 25.0 - 18.0 * np.cos(2.0 * (turn - 0.5)) - 12.0 * np.cos(turn - 1.0)
    rotation = 1.0 + 4.0 * np.sin(turn)
    anterior = 2.0 - 3.0 * np.cos(turn)
    # A small gap, as measured cycles have, is led back by the reader.
    flexion += 0.004 * percent
    columns = {
        "percent": percent,
        "flexion_deg": flexion,
        "varus_deg": 0.0 * percent,
        "tibial_external_rotation_deg": rotation,
        "femur_anterior_mm": anterior,
        "femur_superior_mm": 37.1 + 0.0 * percent,
        "femur_lateral_mm": 0.0 * percent,
    }
    return _csv("# Invented motion for trying import; not measured.", columns)


def load_table() -> str:
    """Invented vertical ground reaction, N: two humps in stance, nothing in swing."""
    percent = np.linspace(0.0, 100.0, 51)
    stance = np.clip(percent / 62.0, 0.0, 1.0)
    force = 800.0 * (np.sin(np.pi * stance) + 0.4 * np.sin(3.0 * np.pi * stance))
    columns = {"percent": percent, "ground_reaction_n": np.abs(force)}
    return _csv("# Invented vertical ground reaction; not measured.", columns)


def _csv(title: str, columns: dict[str, np.ndarray]) -> str:
    rows = zip(*columns.values(), strict=True)
    # Adding zero turns -0.0 into 0.0.
    lines = [",".join(f"{round(value, 4) + 0.0:g}" for value in row) for row in rows]
    return "\n".join([title, ",".join(columns), *lines]) + "\n"


def write_example(folder: Path = FOLDER) -> None:
    """Write insert.stl, femoral.stl, gait.csv and load.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, mesh in example_meshes().items():
        (folder / f"{name}.stl").write_bytes(stl_bytes(mesh))
    (folder / "gait.csv").write_text(gait_table(), encoding="utf-8")
    (folder / "load.csv").write_text(load_table(), encoding="utf-8")


if __name__ == "__main__":
    write_example()
