"""Time the strings of one time step: 150 muscles wrapped over a bone (Vondrak et al. 2004)."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import seconds
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.papers.muscle_string.string import MeshObstacle, stretch_string

MUSCLES = 150
NODES = 20


def ball(count: int) -> TriangleMesh:
    """Sphere of radius 1 mm from equally spread points."""
    from scipy.spatial import ConvexHull  # noqa: PLC0415

    number = np.arange(count)
    height = 1.0 - (2.0 * number + 1.0) / count
    around = np.pi * (3.0 - np.sqrt(5.0)) * number
    wide = np.sqrt(1.0 - height**2)
    points = np.column_stack([wide * np.cos(around), wide * np.sin(around), height])
    hull = ConvexHull(points)
    faces = hull.simplices
    outward = (
        np.cross(*(points[faces[:, k]] - points[faces[:, 0]] for k in (1, 2))) * points[faces[:, 0]]
    ).sum(-1) > 0
    return TriangleMesh(points, np.where(outward[:, None], faces, faces[:, ::-1]))


def main() -> dict[str, float]:
    """Durations of a step of all strings, from straight lines and from the last step, ms."""
    bone = MeshObstacle(ball(686))
    rng = np.random.default_rng(0)
    ends = np.array([[-1.5, 0.1, 0.1], [1.4, 0.2, 0.5]]) + rng.uniform(-0.1, 0.1, (MUSCLES, 2, 3))
    first = [stretch_string(*pair, [bone], nodes=NODES) for pair in ends]

    def again() -> None:
        for pair, last in zip(ends + 0.002, first, strict=True):
            stretch_string(*pair, [bone], nodes=NODES, begin=last.nodes[1:-1])

    def straight() -> None:
        for pair in ends:
            stretch_string(*pair, [bone], nodes=NODES)

    return {
        "strings": float(MUSCLES),
        "straight_start_ms": 1e3 * seconds(straight, 3),
        "last_step_start_ms": 1e3 * seconds(again, 3),
    }
