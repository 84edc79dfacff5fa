"""Strings over the bones of a hinge: lengths and moment arms of muscles over flexion.

References
----------
Vondrak, V., Dostal, Z., Damsgaard, M. and Rasmussen, J. (2004), Programs and Algorithms of
Numerical Mathematics 12:284-289.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import (
    ENERGY,
    ComparedNumber,
    computed_rows,
    judge_number,
    judge_numbers,
    published_rows,
    rms_number,
)
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.papers.muscle_string.settings import (
    MuscleStringSettings,
    StringEndSettings,
    StringMuscleSettings,
)
from kneewear.knees.papers.muscle_string.string import (
    MeshObstacle,
    Obstacle,
    StringPath,
    stretch_string,
)
from kneewear.knees.papers.rotation_vectors import exponential
from kneewear.knees.result import MultibodyResult, Scene, curves

Array = NDArray[np.float64]
Meshes = Mapping[str, TriangleMesh]

OVER = "flexion (deg)"
# Grid of the source's sphere: 686 points and 1368 triangles.
MERIDIANS = 36
RINGS = 19
# Poses in the animation.
POSES = 31
# The source's string: nodes; ends and initial height over a sphere of radius 1 are chosen.
SOURCE_NODES = 20
SOURCE_END = 1.7818
SOURCE_HEIGHT = 1.3
SOURCE_FINAL_LENGTH = "length of the source's string at the end"


@dataclass(frozen=True)
class PlacedObstacle:
    """An obstacle at a pose of its body."""

    obstacle: Obstacle
    rotation: Array
    translation: Array

    def closest(self, points: Array) -> tuple[Array, Array, Array]:
        """Closest points, directions outward and gaps, as the obstacle returns them."""
        found, outward, gap = self.obstacle.closest((points - self.translation) @ self.rotation)
        return found @ self.rotation.T + self.translation, outward @ self.rotation.T, gap


class StringMotion(NamedTuple):
    """Paths of a muscle at all flexions, and its moment arm about the hinge, mm, by its forces."""

    paths: tuple[StringPath, ...]
    moment_arm: Array

    @property
    def length(self) -> Array:
        """Length at all flexions, mm."""
        return np.array([path.length for path in self.paths])


def solve(parts: Meshes | None, settings: MuscleStringSettings) -> MultibodyResult:
    """Strings of all muscles over the flexion."""
    meshes = body_meshes(parts or {}, settings)
    sweep = settings.flexion_deg
    flexion = np.linspace(sweep.first, sweep.last, sweep.frames)
    rotation, translation = hinge_poses(settings, flexion)
    moving = list(settings.bodies)[1]
    motions = {
        name: string_motion(name, muscle, meshes, settings, rotation, translation)
        for name, muscle in settings.muscles.items()
    }
    virtual = {
        # A muscle that shortens with flexion flexes.
        name: -np.gradient(one.length, np.radians(flexion))
        for name, one in motions.items()
    }
    arms = {"by its forces": {n: one.moment_arm for n, one in motions.items()}}
    arms["by virtual work"] = virtual
    lengths = {name: one.length for name, one in motions.items()}
    pressing = {
        name: [float(np.linalg.norm(path.pressing.sum(axis=0))) for path in one.paths]
        for name, one in motions.items()
    }
    return MultibodyResult(
        kinematics=pd.concat(
            [
                curves("length", OVER, flexion, "mm", lengths),
                *(
                    curves(
                        f"moment arm, {name}",
                        OVER,
                        flexion,
                        "mm",
                        {kind: values[name] for kind, values in arms.items()},
                    )
                    for name in motions
                ),
            ],
            ignore_index=True,
        ),
        forces=curves("force on the bones over tension", OVER, flexion, "1", pressing),
        literature=pd.concat(
            [judge_numbers(_checks(motions, virtual)), compare_source_string()], ignore_index=True
        ),
        scene=string_scene(meshes, motions, flexion, rotation, translation, moving),
    )


def body_meshes(meshes: Meshes, settings: MuscleStringSettings) -> dict[str, TriangleMesh]:
    """Meshes of files and spheres, by body."""
    spheres = {
        name: source_sphere(body.sphere_radius_mm)
        for name, body in settings.bodies.items()
        if body.sphere_radius_mm is not None
    }
    return {
        name: one
        for name in settings.bodies
        for one in [{**meshes, **spheres}.get(name)]
        if one is not None
    }


def hinge_poses(settings: MuscleStringSettings, flexion_deg: Array) -> tuple[Array, Array]:
    """Rotation (n, 3, 3) and translation (n, 3) of the second body in the first."""
    axis = np.array(settings.hinge.direction) / np.linalg.norm(settings.hinge.direction)
    point = np.array(settings.hinge.point_mm)
    rotation = np.array([exponential(angle * axis) for angle in np.radians(flexion_deg)])
    return rotation, point - rotation @ point


def string_motion(
    name: str,
    muscle: StringMuscleSettings,
    meshes: Meshes,
    settings: MuscleStringSettings,
    rotation: Array,
    translation: Array,
) -> StringMotion:
    """A muscle at all poses of the second body, each found from the last one.

    The moment arm is the moment about the hinge of unit tension on the second body: of the pull at
    an attachment to it, and of the string on its bone.
    """
    moving = list(settings.bodies)[1]
    shapes = {one: MeshObstacle(mesh, settings.margin_mm) for one, mesh in meshes.items()}
    owners = list(shapes)
    axis = np.array(settings.hinge.direction) / np.linalg.norm(settings.hinge.direction)
    point = np.array(settings.hinge.point_mm)
    attachments = muscle.origin, muscle.insertion
    begin: Array | None = None
    paths, arms = [], []
    for turn, place in zip(rotation, translation, strict=True):
        start, end = (_placed(attachment, moving, turn, place) for attachment in attachments)
        if begin is None and muscle.through_mm is not None:
            begin = _through((start, end), np.array(muscle.through_mm), settings.nodes)
        obstacles = [
            PlacedObstacle(shapes[owner], turn, place) if owner == moving else shapes[owner]
            for owner in owners
        ]
        path = stretch_string(start, end, obstacles, nodes=settings.nodes, begin=begin, muscle=name)
        begin = path.nodes[1:-1]
        paths.append(path)
        forces = [
            (at, pull)
            for one, at, pull in zip(attachments, (start, end), path.pulls, strict=True)
            if one.body == moving
        ]
        forces += [
            (node, -force)
            for node, force, number in zip(begin, path.pressing, path.touched, strict=True)
            if number >= 0 and owners[number] == moving
        ]
        arms.append(sum(float(axis @ np.cross(at - point, force)) for at, force in forces))
    return StringMotion(tuple(paths), np.array(arms))


def _placed(end: StringEndSettings, moving: str, rotation: Array, translation: Array) -> Array:
    place = np.array(end.point_mm)
    return rotation @ place + translation if end.body == moving else place


def _through(ends: Sequence[Array], point: Array, nodes: int) -> Array:
    """Nodes on the two lines from the ends to a point."""
    share = np.linspace(0.0, 2.0, nodes + 2)[1:-1, None]
    first = ends[0] + share * (point - ends[0])
    return np.where(share <= 1.0, first, point + (share - 1.0) * (ends[1] - point))


def _checks(
    motions: Mapping[str, StringMotion], virtual: Mapping[str, Array]
) -> list[ComparedNumber]:
    """Residuals, penetrations, and moment arms by both ways.

    A node that begins or ceases to touch is a kink of the length: its steps are left out at both
    ends, where the difference is one-sided.
    """
    rows = []
    for name, one in motions.items():
        residual = max(path.residual for path in one.paths)
        inside = max(0.0, -min(float(path.gap.min()) for path in one.paths))
        rows += [
            ComparedNumber("residual over spacing", name, residual, "1", "optimality", high=1e-6),
            ComparedNumber("largest penetration", name, inside, "mm", "optimality", high=0.01),
            rms_number(
                "rms difference of moment arms by forces and by virtual work",
                name,
                one.moment_arm[1:-1],
                virtual[name][1:-1],
                "mm",
                ENERGY,
                0.5,
            ),
        ]
    return rows


def source_string() -> tuple[Array, StringPath]:
    """Initial string (n, 3) and final path of the source's problem, over a sphere of radius 1."""
    end = np.array([SOURCE_END, 0.0, 0.0])
    turn = np.linspace(0.0, np.pi, SOURCE_NODES + 2)[1:-1]
    arc = np.column_stack([-SOURCE_END * np.cos(turn), 0.0 * turn, SOURCE_HEIGHT * np.sin(turn)])
    path = stretch_string(-end, end, [MeshObstacle(source_sphere(1.0))], begin=arc)
    return np.vstack([-end, arc, end]), path


def compare_source_string() -> pd.DataFrame:
    """The source's problem beside its numbers; its ends are chosen for the final length."""
    start, path = source_string()
    computed = {
        "renewals of the contact of the source's string": float(path.iterations),
        "length of the source's string at the start": float(
            np.linalg.norm(np.diff(start, axis=0), axis=1).sum()
        ),
        SOURCE_FINAL_LENGTH: path.length,
    }
    values = computed_rows(computed)
    return judge_number(published_rows(__package__), values, aims=[SOURCE_FINAL_LENGTH])


def string_scene(
    meshes: Meshes,
    motions: Mapping[str, StringMotion],
    flexion: Array,
    rotation: Array,
    translation: Array,
    moving: str,
) -> Scene:
    """Bones and strings at even steps of flexion."""
    chosen = np.unique(np.linspace(0, len(flexion) - 1, POSES).round().astype(int)).tolist()
    turns, places = (np.zeros((len(chosen), len(meshes), *size)) for size in ((3, 3), (3,)))
    turns[:] = np.eye(3)
    for number, name in enumerate(meshes):
        if name == moving:
            turns[:, number], places[:, number] = rotation[chosen], translation[chosen]
    return Scene(
        bodies=tuple(meshes),
        meshes=dict(meshes),
        rotation=turns,
        translation=places,
        labels=tuple(f"{flexion[number]:.0f}°" for number in chosen),
        lines=tuple(
            tuple(motion.paths[number].nodes for motion in motions.values()) for number in chosen
        ),
        shapes="Bones",
    )


def source_sphere(radius: float) -> TriangleMesh:
    """Sphere about the origin with the numbers of points and triangles of the source."""
    polar = np.pi * np.arange(1, RINGS + 1) / (RINGS + 1)
    around = 2.0 * np.pi * np.arange(MERIDIANS) / MERIDIANS
    ring = [
        (np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)) for a in polar for b in around
    ]
    faces = []
    last = 1 + (RINGS - 1) * MERIDIANS
    for c in range(MERIDIANS):
        d = (c + 1) % MERIDIANS
        faces.append((0, 1 + c, 1 + d))
        faces.append((1 + RINGS * MERIDIANS, last + d, last + c))
        for r in range(RINGS - 1):
            a = 1 + r * MERIDIANS
            faces.append((a + c, a + MERIDIANS + c, a + d))
            faces.append((a + d, a + MERIDIANS + c, a + MERIDIANS + d))
    points = radius * np.array([(0, 0, 1), *ring, (0, 0, -1)], dtype=float)
    return TriangleMesh(points, np.array(faces))
