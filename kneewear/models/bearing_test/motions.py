"""Motion and load of a test over one period."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.mechanics.rotations import body_three_123
from kneewear.models.bearing_test.settings import (
    AngleSpan,
    BearingLoad,
    Circle,
    CylinderOnFlat,
    Hypotrochoid,
    PatellarMotion,
    RandomPath,
    RectanglePath,
    Rocking,
    Rotations,
    Spin,
    Straight,
)

Array = NDArray[np.float64]

# Points from which paths of uniform speed are interpolated.
_FINE = 20_000
# Part of the period with both peaks of a double-peaked load.
_STANCE = 0.6


def uniform_speed(points: Array, frames: int) -> Array:
    """Positions (frames, 2), mm, at equal distances along a closed path through points (n, 2)."""
    closed = np.vstack([points, points[:1]])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = np.arange(frames) / frames * way[-1]
    return np.column_stack([np.interp(at, way, closed[:, axis]) for axis in range(2)])


def straight(motion: Straight, frames: int) -> Array:
    """Sinusoidal reciprocation."""
    phase = 2.0 * np.pi * np.arange(frames) / frames
    return np.column_stack([0.5 * motion.stroke_mm * np.cos(phase), np.zeros(frames)])


def circle(motion: Circle, frames: int) -> Array:
    """Circle at uniform speed."""
    phase = 2.0 * np.pi * np.arange(frames) / frames
    return 0.5 * motion.diameter_mm * np.column_stack([np.cos(phase), np.sin(phase)])


def rectangle(motion: RectanglePath, frames: int) -> Array:
    """Rectangle at uniform speed."""
    x, z = 0.5 * motion.length_mm, 0.5 * motion.width_mm
    return uniform_speed(np.array([[-x, -z], [x, -z], [x, z], [-x, z]]), frames)


def random(motion: RandomPath, frames: int) -> Array:
    """Sum of oscillations of random amplitude and phase, mapped into the circle.

    Each coordinate is a Fourier series of `turns` frequencies. The Gaussian radius r of standard
    deviation s is mapped to R sqrt(1 - exp(-r^2 / (2 s^2))), by which positions are equally
    probable over the circle of radius R.
    """
    generator = np.random.default_rng([motion.number, motion.turns])
    phase = 2.0 * np.pi * np.arange(frames) / frames
    order = np.arange(1, motion.turns + 1)
    waves = np.stack([np.cos(order[:, None] * phase), np.sin(order[:, None] * phase)])
    amplitude = generator.normal(size=(2, motion.turns, 2))
    points = np.einsum("pok,poc->kc", waves.reshape(2, motion.turns, frames), amplitude)
    points /= points.std(axis=0)
    radius = np.linalg.norm(points, axis=1)
    mapped = 0.5 * motion.diameter_mm * np.sqrt(-np.expm1(-0.5 * radius**2))
    return points * (mapped / np.where(radius > 0.0, radius, 1.0))[:, None]


def hypotrochoid(motion: Hypotrochoid, frames: int) -> Array:
    """Hypotrochoid at uniform speed."""
    angle = 2.0 * np.pi * motion.turns * np.arange(_FINE) / _FINE
    centre = motion.fixed_mm - motion.rolling_mm
    own = angle * centre / motion.rolling_mm
    points = np.column_stack(
        [
            centre * np.cos(angle) + motion.arm_mm * np.cos(own),
            centre * np.sin(angle) - motion.arm_mm * np.sin(own),
        ]
    )
    return uniform_speed(points, frames)


_PATHS: Mapping[str, Callable[[Any, int], Array]] = {
    "straight": straight,
    "circle": circle,
    "rectangle": rectangle,
    "random": random,
    "hypotrochoid": hypotrochoid,
    "spin": lambda motion, frames: np.zeros((frames, 2)),
}


def planar_poses(motion: Any, bearing: Any, frames: int) -> Array:
    """Poses (frames, 6) of the moving body on a flat, mm and rad, at height zero.

    Positive x of the motion moves the metal over the polyethylene. A cylinder that rolls turns
    about z by x / radius against its motion.
    """
    path = _PATHS[motion.path](motion, frames)
    poses = np.zeros((frames, 6))
    poses[:, [0, 2]] = path
    phase = 2.0 * np.pi * np.arange(frames) / frames
    if isinstance(motion, Spin):
        poses[:, 4] = phase
    if isinstance(motion, Straight):
        poses[:, 4] = np.radians(motion.rotation_deg) * np.cos(phase)
    if isinstance(bearing, CylinderOnFlat):
        poses[:, 5] = -bearing.rolling * path[:, 0] / bearing.radius_mm
    return poses


def _angle(span: AngleSpan, phase: Array) -> Array:
    middle, half = 0.5 * (span.low_deg + span.high_deg), 0.5 * (span.high_deg - span.low_deg)
    return np.radians(middle + half * np.cos(phase - np.radians(span.phase_deg)))


def ball_rotations(motion: Rocking | Rotations, frames: int) -> Array:
    """Rotation matrices (frames, 3, 3) of the moving body of a ball and socket.

    Rotations of extremes follow each other as body-three 1-2-3 angles about x, y and z.
    """
    phase = 2.0 * np.pi * np.arange(frames) / frames
    if isinstance(motion, Rocking):
        axis = np.stack([np.cos(phase), np.zeros(frames), np.sin(phase)], axis=-1)
        turned: Array = scipy.spatial.transform.Rotation.from_rotvec(
            np.radians(motion.angle_deg) * axis
        ).as_matrix()
        return turned
    spans = motion.abduction, motion.rotation, motion.flexion
    return body_three_123(np.stack([_angle(span, phase) for span in spans], axis=-1))


def patellar_cycle(
    curves: pd.DataFrame, motion: PatellarMotion, frames: int
) -> tuple[Array, Array]:
    """Poses (frames, 6), mm and rad, of a trochlea on a button, and forces (frames,), N.

    `curves` are the columns of the file by their quantities, percent from 0 on; what is missing is
    zero. The cycle is periodic. Of the button x is proximal, y towards the trochlea and z lateral;
    the trochlea turns about x by the tilt, about y, and by flexion about its own axis. The force is
    that of the quadriceps times the ratio at the flexion.
    """
    at = 100.0 * np.arange(frames) / frames
    percent = curves["percent"].to_numpy(dtype=float)

    def sampled(name: str) -> Array:
        if name not in curves:
            return np.zeros(frames)
        return np.interp(at, percent, curves[name].to_numpy(dtype=float), period=100.0)

    poses = np.zeros((frames, 6))
    poses[:, 0], poses[:, 2] = sampled("proximal_mm"), sampled("lateral_mm")
    for number, name in enumerate(("varus", "rotation", "flexion")):
        poses[:, 3 + number] = np.radians(sampled(name))
    ratio = np.interp(sampled("flexion"), *np.array(motion.force_ratio).T)
    return poses, ratio * sampled("quadriceps_n")


def loads(load: BearingLoad, frames: int) -> Array:
    """Load of each frame, N."""
    part = np.arange(frames) / frames * load.cycles - load.phase_deg / 360.0
    part = part - np.floor(part)
    if load.course == "sinusoidal":
        share = 0.5 * (1.0 + np.cos(2.0 * np.pi * part))
    else:
        share = np.where(part < _STANCE, np.sin(2.0 * np.pi * part / _STANCE) ** 2, 0.0)
    return load.low_n + (load.high_n - load.low_n) * share
