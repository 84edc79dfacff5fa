"""Tendon that wraps on patches of the femur in one plane (Eqs 5 to 9 of the source).

References
----------
Caruntu and Hefzy 2004, doi:10.1115/1.1644565.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.knees.papers.knee_extension.patches import CoonsPatches
from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.motion.actions import add_between, skew

Array = NDArray[np.float64]

ANTERIOR = np.array([1.0, 0.0, 0.0])
# Places per patch at which the section of the femur is searched, and steps of Newton's method.
_PER_PATCH = 4
_STEPS = 20
_ACCURACY = 1e-10
_REMEDY = "Check the attachments of the quadriceps, or make the patches of the femur smaller."


class Tangent(NamedTuple):
    """Where a tendon touches the femur, mm, and its derivative over the insertion (3, 3).

    `turn` is the angle, rad, by which it is turned to anterior from the straight line to the
    origin: where it is not positive the tendon is straight.
    """

    point: Array
    derivative: Array
    turn: float


@dataclass(frozen=True)
class PatchTendon:
    """A tendon of 1 N from an `origin` on the femur to an `insertion` on the patella, mm.

    It leaves the femur at a point w in the plane through both ends and along the anterior axis of
    the femur (Eq. 7), in which it is tangent to the patches (Eq. 8); of several such points the one
    furthest to anterior counts. The pull on the patella is along the line to w (Eq. 6), or to the
    origin where w is behind the straight line (Eq. 5).
    """

    origin: Array
    insertion: Array
    patches: CoonsPatches
    numbers: tuple[int, int] = (0, 1)

    def on(self, bodies: Sequence[str]) -> PatchTendon:
        """The same tendon for poses of these bodies."""
        one, other = (body_number("quadriceps", name, bodies) for name in ("femur", "patella"))
        return replace(self, numbers=(one, other))

    def end(self, poses: BodyPoses) -> Array:
        """Insertion in the femur's frame, mm."""
        a, b = self.numbers
        place = poses.rotation[b] @ self.insertion + poses.translation[b] - poses.translation[a]
        return np.asarray(place @ poses.rotation[a], dtype=float)

    def tangent(self, end: Array) -> Tangent | None:
        """Tangent point for an insertion (3,) in the femur's frame; None if no patch is ahead.

        ConvergenceError if Newton's method does not find it from the nearest of some places.
        """
        surface = self.patches.surface
        straight = self.origin - end
        across = np.cross(ANTERIOR, straight)
        ahead = np.cross(across, ANTERIOR)
        rows, columns = self.patches.kept.shape
        u = np.linspace(0.0, rows, _PER_PATCH * rows + 1)
        v = np.full(u.size, 0.5 * columns)
        for _ in range(_STEPS):
            point, _, along, *_ = surface.derivatives(u, v)
            moved = np.clip(v - (point - end) @ across / (along @ across), 0.0, columns)
            found, v = np.abs(moved - v).max() < _ACCURACY, moved
            if found:
                break
        line = surface.evaluate(u, v) - end
        turn = _turn(line, straight, ahead)
        turn[~self.patches.covers(u, v) | (line @ ahead <= 0.0)] = -np.inf
        best = int(turn.argmax())
        if turn[best] == -np.inf:
            return None
        held = best in (0, u.size - 1) or bool(np.isinf(turn[[best - 1, best + 1]]).any())
        point, slope = self._touch(end, across, np.array([u[best], v[best]]), held)
        return Tangent(point, slope, float(_turn(point - end, straight, ahead)))

    def _touch(self, end: Array, across: Array, at: Array, held: bool) -> tuple[Array, Array]:
        """Point that Eqs 7 and 8 give, or Eq. 7 at the edge of the patches if `held`; its slope."""
        for _ in range(_STEPS):
            point, p_u, p_v, p_uu, p_uv, p_vv = self.patches.surface.derivatives(*at)
            line = point - end
            one, other = (p_u, p_uu, p_u, p_uv, p_u), (p_v, p_v, p_uv, p_v, p_vv)
            normal, *bend = np.cross(one, other)
            value = np.array([line @ across, line @ normal])
            turned = line @ (bend[0] + bend[1]), line @ (bend[2] + bend[3])
            matrix = np.array([[p_u @ across, p_v @ across], turned])
            over_end = -np.array([across + np.cross(line, ANTERIOR), normal])
            if held:
                value[1], matrix[1], over_end[1] = 0.0, (1.0, 0.0), 0.0
            step = np.linalg.solve(matrix, value)
            if np.abs(step).max() < _ACCURACY:
                slope = -np.stack([p_u, p_v], axis=1) @ np.linalg.solve(matrix, over_end)
                return point, slope
            at = np.clip(at - step, 0.0, self.patches.kept.shape)
        what = "Tangent of the quadriceps to the patches of the femur"
        raise ConvergenceError(what, 0, float(np.abs(step).max()), "patches", _REMEDY)

    def turn(self, poses: BodyPoses) -> float:
        """Angle, rad, by which the tendon is turned; -1 where no patch is ahead."""
        found = self.tangent(self.end(poses))
        return -1.0 if found is None else found.turn

    def lines(self, poses: BodyPoses) -> tuple[Array]:
        """Ends of the tendon and, if it wraps, the tangent point between, in the ground, mm."""
        end = self.end(poses)
        found = self.tangent(end)
        middle = [found.point] if found is not None and found.turn > 0.0 else []
        turn, place = poses.rotation[self.numbers[0]], poses.translation[self.numbers[0]]
        return (np.array([self.origin, *middle, end]) @ turn.T + place,)

    def add(self, poses: BodyPoses, total: BodyForces) -> Array:
        """Add the pull of 1 N and its derivatives; returns the point it pulls to, mm."""
        a, b = self.numbers
        frame, end = poses.rotation[a], self.end(poses)
        found = self.tangent(end)
        point, slope = self.origin, np.zeros((3, 3))
        if found is not None and found.turn > 0.0:
            point, slope = found.point, found.derivative
        length = float(np.linalg.norm(point - end))
        unit = (point - end) / length
        over = (np.eye(3) - np.outer(unit, unit)) @ (slope - np.eye(3)) / length
        over, force = frame @ over @ frame.T, frame @ unit
        lever = skew(poses.rotation[b] @ self.insertion)
        stiffness = np.empty((6, 6))
        stiffness[:3, :3], stiffness[:3, 3:] = over, -over @ lever
        stiffness[3:] = lever @ stiffness[:3]
        stiffness[3:, 3:] += skew(force) @ lever
        add_between(a, b, poses, np.concatenate([force, lever @ force]), stiffness, total)
        return point


def _turn(line: Array, straight: Array, ahead: Array) -> Array:
    """Angle, rad, to anterior of lines (..., 3) from the straight one, in their plane."""
    high = ahead / np.linalg.norm(ahead)
    angles = [np.arctan2(one @ ANTERIOR, one @ high) for one in (line, straight)]
    return np.asarray(angles[0] - angles[1])
