"""Invented base implants in mm and the axes of a right knee, as solids of any fineness."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kneewear.geometry.meshes import TriangleMesh, joined
from kneewear.io.shapes import load_shape
from tests.geometry.invented import rounded_femoral
from tests.geometry.solids import closed, closed_insert


class Base(NamedTuple):
    """Insert and femoral component, and the side of a single plateau."""

    insert: TriangleMesh
    femoral: TriangleMesh
    side: str | None = None


def insert_of_dishes(
    fineness: float, sagittal: float = 60.0, coronal: float = 150.0, least: float = 8.0
) -> TriangleMesh:
    """Insert with two dishes and a flat underside, without a notch; medially 4 mm longer."""
    counts = round(60 * fineness), round(88 * fineness)
    u, v = np.meshgrid(*(np.linspace(-1, 1, count) for count in counts), indexing="ij")
    x, z = (23.0 + 2.0 * v) * u, 38.0 * v
    dish = least + x**2 / (2.0 * sagittal) + (np.abs(z) - 21.0) ** 2 / (2.0 * coronal)
    upper, lower = (np.stack([x, y, z], axis=-1) for y in (dish, 0.0 * x))
    return closed(upper, lower)


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> TriangleMesh:
    """Box of twelve triangles, as CAD programs export it."""
    x, z = np.meshgrid([low[0], high[0]], [low[2], high[2]], indexing="ij")
    upper, lower = (np.stack([x, y + 0.0 * x, z], axis=-1) for y in (high[1], low[1]))
    return closed(upper, lower)


def cone(radius: float, length: float) -> TriangleMesh:
    """Cone below the insert, on which a platform rotates: one row of triangles about its tip."""
    angle = np.radians(np.arange(0.0, 360.0, 5.0))
    rim = np.column_stack([radius * np.cos(angle), 0.0 * angle, radius * np.sin(angle)])
    after = np.roll(np.arange(angle.size), -1)
    tip, middle = angle.size, angle.size + 1
    down = np.column_stack([after, np.arange(angle.size), np.full(angle.size, tip)])
    up = np.column_stack([np.arange(angle.size), after, np.full(angle.size, middle)])
    vertices = np.vstack([rim, [0.0, -length, 0.0], [0.0, 0.0, 0.0]])
    mesh = TriangleMesh(vertices, np.vstack([down, up]))
    volume = (mesh.vertices[mesh.faces[:, 0]] * mesh.face_normals).sum()
    return mesh if volume > 0 else TriangleMesh(vertices, mesh.faces[:, ::-1].copy())


def smooth_femoral(fineness: float, cam: bool = False) -> TriangleMesh:
    """Femoral component without a crease, which meshes of each fineness would round differently."""
    return rounded_femoral(n=round(70 * fineness), cam=cam, onset=2)


def cruciate_retaining(fineness: float) -> Base:
    """Dishes and a notch behind."""
    insert = closed_insert(n=round(80 * fineness))
    return Base(insert, smooth_femoral(fineness))


def ultracongruent(fineness: float) -> Base:
    """Dishes hardly wider than the condyles."""
    insert = insert_of_dishes(fineness, sagittal=40.0, coronal=60.0)
    return Base(insert, smooth_femoral(fineness))


def posterior_stabilised(fineness: float) -> Base:
    """A tall post of flat faces between the plateaus."""
    insert = insert_of_dishes(fineness)
    post = box((-9.0, 4.0, -6.0), (2.0, 34.0, 6.0))
    return Base(joined([insert, post]), smooth_femoral(fineness, cam=True))


def rotating_platform(fineness: float) -> Base:
    """Dishes on a flat underside with a cone."""
    insert = insert_of_dishes(fineness, sagittal=50.0, coronal=80.0)
    return Base(joined([insert, cone(9.0, 22.0)]), smooth_femoral(fineness))


def single_plateau(fineness: float) -> Base:
    """One shallow dish below the medial condyle."""
    counts = round(60 * fineness), round(36 * fineness)
    x, z = np.meshgrid(
        np.linspace(-22.0, 22.0, counts[0]), np.linspace(8.0, 34.0, counts[1]), indexing="ij"
    )
    dish = 8.0 + x**2 / 120.0 + (z - 21.0) ** 2 / 300.0
    upper, lower = (np.stack([x, y, z], axis=-1) for y in (dish, 0.0 * x))
    return Base(closed(upper, lower), smooth_femoral(fineness), "medial")


def meniscal_bearing(radius: float = 24.0, clearance: float = 0.1) -> Base:
    """A spherical condyle in a spherical dish of one side, wider by a clearance, mm."""
    x, z = np.meshgrid(np.linspace(-15.0, 15.0, 61), np.linspace(-10.0, 10.0, 41), indexing="ij")
    hollow = radius + clearance
    dish = 4.0 + hollow - np.sqrt(hollow**2 - x**2 - z**2)
    insert = closed(*(np.stack([x, y, z], axis=-1) for y in (dish, 0.0 * x)))
    angle, z = np.meshgrid(
        np.radians(np.linspace(-60.0, 110.0, 121)), np.linspace(-11.0, 11.0, 45), indexing="ij"
    )
    section = np.sqrt(radius**2 - z**2)
    outer, inner = (
        np.stack([r * np.sin(angle), -r * np.cos(angle), z], axis=-1)
        for r in (section, section - 6.0)
    )
    return Base(insert, closed(outer, inner), "medial")


def real(fineness: float) -> Base:
    """The implant of subject DM, whose files are not part of the project."""
    insert, femoral = (
        TriangleMesh(1e3 * mesh.vertices, mesh.faces)
        for mesh in map(load_shape, (FOLDER / "insert_solid.stl", FOLDER / "femoral_solid.stl"))
    )
    return Base(insert, femoral)


REAL = "real"
CHECKOUT = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("KNEEWEAR_DATA") or CHECKOUT / "../shared/data") / "gc_dm"
BASES: dict[str, Callable[[float], Base]] = {
    "cruciate-retaining": cruciate_retaining,
    "ultracongruent": ultracongruent,
    "posterior-stabilised": posterior_stabilised,
    "rotating platform": rotating_platform,
    "single plateau": single_plateau,
    **({REAL: real} if FOLDER.is_dir() else {}),
}
