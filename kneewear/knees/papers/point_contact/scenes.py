"""Scenes of the knees with point contacts: their shapes, their ligaments and some of their poses.

Axes of a scene are x anterior, y superior, z lateral.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.meshes import TriangleMesh, joined, sphere_mesh, woven
from kneewear.knees.contact.point import SphereOnPlane
from kneewear.knees.papers.planar_knee.settings import ProfileSettings
from kneewear.knees.result import Scene
from kneewear.knees.tissue.bundles import Bundles
from kneewear.motion.system import System

Array = NDArray[np.float64]

# Poses in the animation.
POSES = 61
BODIES = ("femur", "tibia")
# Half the width of a profile's ribbon, mm.
HALF_WIDTH = 10.0


def moving_shapes(
    system: System,
    time: Array,
    coordinates: Array,
    flexion_deg: Array,
    meshes: tuple[TriangleMesh, TriangleMesh],
    shapes: str,
    axes: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
) -> Scene:
    """Femur, tibia and ligaments at even steps of time.

    Of times (n,), which are closer where bodies touch, coordinates (n, 6) and flexion (n,). `axes`
    turn the ground frame into that of a scene.
    """
    turn = np.asarray(axes)
    even = np.linspace(time[0], time[-1], POSES)
    chosen = np.unique(np.searchsorted(time, even).clip(max=len(time) - 1))
    poses = [system.poses(coordinates[number]) for number in chosen]
    ligaments = system.actions["ligaments"]
    assert isinstance(ligaments, Bundles)
    return Scene(
        bodies=BODIES,
        meshes=dict(zip(BODIES, meshes, strict=True)),
        rotation=np.array([turn @ pose.rotation for pose in poses]),
        translation=np.array([pose.translation @ turn.T for pose in poses]),
        labels=tuple(f"{round(angle)}°" for angle in flexion_deg[chosen].tolist()),
        lines=tuple(tuple(line @ turn.T for line in ligaments.lines(pose)) for pose in poses),
        shapes=shapes,
    )


def ribbon(profile: ProfileSettings) -> TriangleMesh:
    """A profile in the x-y plane as a ribbon."""
    angle, radius = profile.points
    place = radius * np.array([np.cos(angle), np.sin(angle)])
    return woven(
        np.stack(
            [np.stack([*place, np.full(angle.size, z)], -1) for z in (-HALF_WIDTH, HALF_WIDTH)]
        )
    )


def spheres(pairs: tuple[SphereOnPlane, ...]) -> TriangleMesh:
    """The spheres of some contacts."""
    return joined([sphere_mesh(pair.centre, pair.radius) for pair in pairs])


def planes(pairs: tuple[SphereOnPlane, ...], rotation: Array, translation: Array) -> TriangleMesh:
    """Squares of the planes of some contacts, under the spheres at a pose of the moving body."""
    squares = []
    for pair in pairs:
        normal = np.asarray(pair.normal)
        under = rotation.T @ (np.asarray(pair.centre) - translation) - np.asarray(pair.origin)
        middle = np.asarray(pair.origin) + under - (under @ normal) * normal
        # Rows after the first are the two directions within the plane.
        across = pair.radius * np.linalg.svd(normal[None])[2][1:]
        squares.append(
            woven(
                np.array(
                    [[middle + i * across[0] + j * across[1] for j in (-1, 1)] for i in (-1, 1)]
                )
            )
        )
    return joined(squares)
