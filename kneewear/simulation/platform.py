"""A rotating platform: friction of both faces decides how the insert rotates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact import _kernels
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.backside import RotatingPlatform
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.alignment import build_alignment, neutral_alignment
from kneewear.simulation.cycle import (
    CycleBoundaryConditions,
    CycleSolution,
    axial_forces,
)
from kneewear.simulation.equilibrium import Equilibrium
from kneewear.simulation.lower_face import LowerFace, friction_stress, moment_about
from kneewear.simulation.quasi_static import solve_placed_frame, solve_quasi_static

Array = NDArray[np.float64]

VERTICAL = 4
# Sliding of the bearing in a frame, mm, below which its friction is not fully developed.
FULL_FRICTION = 1e-4
# The rotation is found to this, rad; the first step of its search, and the largest rotation.
ANGLE_ERROR, FIRST_STEP, LARGEST = 1e-9, 1e-3, 1.5
# A cycle is repeated until the insert ends it where it began, rad, or so many times.
CLOSED, MOST_CYCLES = 1e-6, 8


class _Frame(NamedTuple):
    """The insert at one rotation: moments about its axis, N mm, and what they come from."""

    angle: float
    pose: Array  # (6,) of the femoral component on the insert, mm and rad
    equilibrium: Equilibrium
    pressure: Array  # of the lower face, MPa
    driving: float  # of the femoral component on the insert
    resistance: float  # the largest of the lower face


@dataclass(frozen=True)
class PlatformMotion:
    """Rotation of the insert on its tray over a cycle, and contact of the bearing.

    Parameters
    ----------
    angle : array, shape (frame,)
        Rotation of the insert on the tray, rad, positive as tibial external rotation.
    solution : CycleSolution
        Motion of the femoral component on the insert.
    frames : tuple of Equilibrium
        Contact of the bearing.
    pressure : array, shape (frame, n)
        Pressures of the lower face, MPa.
    driving, resistance : array, shape (frame,)
        Moment of the femoral component on the insert about its axis, and the largest that friction
        of the lower face resists with, N mm.
    slides : array, shape (frame,)
        Whether the lower face slides.
    closure : float
        Change of the rotation over the last cycle, rad.
    """

    angle: Array
    solution: CycleSolution
    frames: tuple[Equilibrium, ...]
    pressure: Array
    driving: Array
    resistance: Array
    slides: NDArray[np.bool_]
    closure: float


@dataclass(frozen=True)
class Platform:
    """An insert that rotates on its tray about the pivot, under an activity and a body weight.

    Notes
    -----
    Inertia is neglected: the moment T of the femoral component on the insert about its axis, of
    the contact pressure and of friction along the sliding of the bearing, and the moment of the
    lower face balance at every frame. The lower face resists with at most C = sum mu p r dA, so

        |T| <= C where the insert rests on the tray, T = C sign(rotation) where it turns.

    T decreases with the rotation of the insert: conforming surfaces turn it back to the femoral
    component, and friction acts along the sliding that is left to the bearing. So the rotation of
    a frame is unique. It depends on that of the frame before; a cycle is repeated until it closes.
    Friction does not act on the equilibrium of the femoral component.
    """

    pairs: Sequence[ContactPair]
    layers: Sequence[ElasticLayer]
    activity: Activity
    weight: float
    settings: SimulationSettings
    platform: RotatingPlatform
    lower: LowerFace

    @cached_property
    def _fixed(self) -> Array:
        """Poses (frame, 6) on an insert that is fixed, from which searches start."""
        return solve_quasi_static(
            self.pairs, self.layers, self.activity, self.weight, self.settings
        )[0].coordinates

    def solve(self) -> PlatformMotion:
        """Rotation of the insert over a cycle; ConvergenceError if a frame has no equilibrium."""
        count = self.activity.percent.size
        before: _Frame | None = None
        last = np.full(count, np.inf)
        for _ in range(MOST_CYCLES):
            found: list[_Frame] = []
            slides = []
            for number in range(count):
                before, slid = self._next(number, before)
                found.append(before)
                slides.append(slid)
            angle = np.array([one.angle for one in found])
            closure = float(np.abs(angle - last).max())
            if closure < CLOSED:
                break
            last = angle
        return PlatformMotion(
            angle,
            self._solution(found),
            tuple(one.equilibrium for one in found),
            np.array([one.pressure for one in found]),
            np.array([one.driving for one in found]),
            np.array([one.resistance for one in found]),
            np.array(slides),
            closure,
        )

    def _next(self, number: int, before: _Frame | None) -> tuple[_Frame, bool]:
        """Frame that follows another one, and whether the insert turns on the tray to it."""
        rest = self._at(number, 0.0 if before is None else before.angle, before)
        if before is None or abs(rest.driving) <= rest.resistance:
            return rest, False
        sense = float(np.sign(rest.driving))

        def excess(frame: _Frame) -> float:
            return sense * frame.driving - frame.resistance

        low, step = rest, FIRST_STEP
        while True:
            high = self._at(number, low.angle + sense * step, before)
            if excess(high) <= 0.0:
                break
            low, step = high, 2.0 * step
            if abs(low.angle) > LARGEST:
                raise ConvergenceError(
                    "Rotation of the insert on its tray", number, excess(low), "N mm",
                    "Nothing stops it: raise backside.movement.lower_friction.",
                )  # fmt: skip
        return self._balanced(number, before, low, high, excess), True

    def _balanced(
        self,
        number: int,
        before: _Frame,
        low: _Frame,
        high: _Frame,
        excess: Callable[[_Frame], float],
    ) -> _Frame:
        """Frame between two at which the moments balance, by Illinois' regula falsi."""
        ends = [low, high]
        values = [excess(low), excess(high)]
        kept = -1
        while abs(ends[1].angle - ends[0].angle) > ANGLE_ERROR:
            part = values[0] / (values[0] - values[1])
            at = ends[0].angle + part * (ends[1].angle - ends[0].angle)
            middle = self._at(number, at, before)
            value = excess(middle)
            if abs(value) <= self.settings.tolerance * middle.resistance:
                return middle
            side = 0 if value > 0.0 else 1
            ends[side], values[side] = middle, value
            if kept == side:
                values[1 - side] *= 0.5
            kept = side
        return ends[1]

    def _at(self, number: int, angle: float, before: _Frame | None) -> _Frame:
        """The insert at a rotation, with friction of the bearing along its way from a frame."""
        placed = build_alignment(self.settings.alignment) or neutral_alignment()
        found = solve_placed_frame(
            self.pairs, self.layers, self.activity, self.weight, self.settings, number,
            placed.with_insert_turned(angle, self.lower.pivot),
            self._fixed[number],
        )  # fmt: skip
        pose = np.concatenate([found.translation, found.rotation])
        wrenches = [contact.wrench for contact in found.contacts]
        # What the femoral component does to the insert.
        on_insert = -moment_about(self.lower.pivot, wrenches, found.translation)
        pressure = self.lower.pressure(on_insert, number)
        driving = float(on_insert[VERTICAL])
        if before is not None:
            driving += self._friction_of_bearing(found, pose, before.pose)
        resistance = self.lower.friction_moment(pressure, self.platform.lower_friction)
        return _Frame(angle, pose, found, pressure, driving, resistance)

    def _friction_of_bearing(self, found: Equilibrium, pose: Array, before: Array) -> float:
        """Moment about the axis of the friction of the bearing on the insert, N mm."""
        total = 0.0
        now, last = body_three_123(pose[3:]), body_three_123(before[3:])
        for pair, contact in zip(self.pairs, found.contacts, strict=True):
            local = contact.element
            if local.size == 0:
                continue
            half = np.empty((local.size, 2))
            rows, columns = pair.tangent_row[local], pair.tangent_column[local]
            centre = pair.centre[local]
            _kernels.slide(
                centre, rows, columns, now, pose[:3], last, before[:3], now, pose[:3], half
            )
            way = 2.0 * half
            length = np.sqrt(np.sum(way**2, axis=1) + FULL_FRICTION**2)
            stress = friction_stress(contact.pressure, self.platform.upper_friction)
            part = (stress * pair.area[local] / length)[:, None] * way
            force = part[:, :1] * rows + part[:, 1:] * columns
            arm = centre - self.lower.pivot
            total += float(np.sum(arm[:, 2] * force[:, 0] - arm[:, 0] * force[:, 2]))
        return total

    def _solution(self, found: Sequence[_Frame]) -> CycleSolution:
        """Motion of the femoral component on the insert, and its loads."""
        coordinates = np.array([one.pose for one in found])
        contact = np.array([sum(part.wrench for part in one.equilibrium.contacts) for one in found])
        load = self.weight * self.activity.load
        line = coordinates[:, 2] - contact[:, 3] / load
        free = ["y", "z", "theta_1"]
        loads = (axial_forces(load, line, coordinates[:, 0]),)
        return CycleSolution(
            CycleBoundaryConditions(coordinates, self.activity.duration, free, loads),
            coordinates,
            load,
            line,
            np.zeros(load.size),
            contact,
            np.zeros((load.size, 6)),
            np.array([one.equilibrium.residual for one in found]),
            sum(one.equilibrium.iterations for one in found),
        )
