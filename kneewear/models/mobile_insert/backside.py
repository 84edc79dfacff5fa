"""The flat backside of an insert on its tray: pressure, friction and sliding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import Case
from kneewear.base.schemas import CONTACT
from kneewear.contact import _kernels
from kneewear.errors import ConvergenceError
from kneewear.geometry.coverage import Coverage, polygon_coverage, rectangle_plan, ring
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.implant import Implant
from kneewear.geometry.primitives import plate
from kneewear.mechanics.rotations import body_three_123
from kneewear.models.mobile_insert.settings import (
    AnyFace,
    BacksideSettings,
    FaceFriction,
    OutlineFace,
    RingFace,
)
from kneewear.motion.cycle import empty_histories
from kneewear.motion.history import case_coordinates, failure_attribute

Array = NDArray[np.float64]

LOWER = "lower"
# Rounds in which elements without pressure are left out.
MAX_ROUNDS = 100
UP = 1


@dataclass(frozen=True)
class Backside:
    """Elements of the backside, as seen from above, with the pivot.

    `grid` has one side, `pivot` (3,), mm, is the point of the axis of rotation in the face.
    """

    grid: ElementGrid
    pivot: Array

    @cached_property
    def area(self) -> Array:
        """Areas of the elements that there are, mm2, shape (n,)."""
        return self.grid.area[0][self.grid.valid[0]]

    @cached_property
    def centre(self) -> Array:
        """Centres of these elements, mm, shape (n, 3)."""
        return self.grid.centre[0][self.grid.valid[0]]

    @cached_property
    def radius(self) -> Array:
        """Distances of these elements from the axis of rotation, mm, shape (n,)."""
        arm = self.centre - self.pivot
        return np.hypot(arm[:, 0], arm[:, 2])

    def pressure(self, wrench: Array, frame: int = 0) -> Array:
        """Pressure on the elements that balances a wrench on the insert, MPa, shape (n,).

        Parameters
        ----------
        wrench : array, shape (6,)
            Force of the femoral component on the insert, N, and its moment about the pivot, N mm.
        frame : int
            Named in messages.

        Raises
        ------
        ConvergenceError
            If the force does not push the insert on its tray, or acts beyond its edge.

        Notes
        -----
        The insert is rigid against the flat tray, so that the pressure is linear over the part of
        the face that touches, p = a + b x + c z, and zero elsewhere. Force and both moments about
        horizontal axes give a, b and c. Horizontal forces act on the post at the pivot.
        """
        arm = self.centre - self.pivot
        base = np.column_stack([np.ones(len(arm)), arm[:, 0], arm[:, 2]])
        target = np.array([-wrench[UP], -wrench[5], wrench[3]])
        touching = np.ones(len(arm), dtype=bool)
        for _ in range(MAX_ROUNDS):
            part = base[touching]
            matrix = part.T @ (part * self.area[touching, None])
            if touching.sum() < len(target) or np.linalg.matrix_rank(matrix) < len(target):
                break
            pressed: Array = base @ np.linalg.solve(matrix, target)
            now = pressed > 0.0
            if (now == touching).all():
                return np.where(touching, pressed, 0.0)
            touching = now
        line = -target[1:] / wrench[UP] if wrench[UP] else np.full(2, np.nan)
        raise ConvergenceError(
            f"The insert on its tray, pushed {-wrench[UP]:.3g} N down at {line[0]:.3g} mm "
            f"posterior and {line[1]:.3g} mm medial of the pivot, tips and",
            frame,
            float(touching.mean()),
            "of the face touching",
            "Enlarge backside.face, or correct backside.pivot_mm.",
        )

    def friction_moment(self, pressure: Array, friction: FaceFriction) -> float:
        """Largest moment about the axis of rotation that friction resists with, N mm."""
        traction = friction_stress(pressure, friction)
        return float(np.sum(traction * self.radius * self.area))

    def cycle(
        self, activity: str, pressure: Array, path: Array, case: Case, duration: float
    ) -> xr.Dataset:
        """Contact over a cycle, of the schema CONTACT with one case.

        Parameters
        ----------
        activity : str
            Name of the activity.
        pressure : array, shape (frame, n)
            Pressures, MPa.
        path : array, shape (frame, 3)
            Posterior and medial displacement, mm, and rotation, rad, of the insert on its tray.
        case : Case
            Case of the dataset.
        duration : float
            Time of the cycle, s.
        """
        frames, valid = len(path), self.grid.valid[0]
        arrays = empty_histories(self.grid, frames)
        arrays["pressure"][:, 0, valid] = pressure
        turns = body_three_123(np.column_stack([0.0 * path[:, 2], -path[:, 2], 0.0 * path[:, 2]]))
        # The tray in the frame of the insert, whose elements wear.
        moved = np.column_stack([path[:, 0], 0.0 * path[:, 0], path[:, 1]])
        shift = self.pivot - np.einsum("fij,fj->fi", turns, self.pivot + moved)
        rows, columns = (
            np.ascontiguousarray(part[0][valid])
            for part in (self.grid.tangent_row, self.grid.tangent_column)
        )
        slip = np.empty((valid.sum(), 2))
        for frame in range(frames):
            poses = [
                part
                for number in (frame, frame - 1, (frame + 1) % frames)
                for part in (turns[number], shift[number])
            ]
            _kernels.slide(np.ascontiguousarray(self.centre), rows, columns, *poses, slip)
            arrays["slip"][frame, 0, valid] = np.where(pressure[frame, :, None] > 0.0, slip, 0.0)
        area = (pressure > 0.0) @ self.area
        arrays["force"][:, 0, UP] = -(pressure @ self.area)
        arrays["max_pressure"][:, 0] = pressure.max(axis=1)
        arrays["avg_pressure"][:, 0] = pressure @ self.area / area
        arrays["contact_area"][:, 0] = area
        arrays["active_elements"][:, 0] = (pressure > 0.0).sum(axis=1)
        arrays["load"][:] = pressure @ self.area
        part = np.arange(frames) / frames
        return CONTACT.dataset(
            {
                **case_coordinates([case]),
                "percent": 100.0 * part,
                "time": duration * part,
                "side": self.grid.sides,
                **{name: array[None] for name, array in arrays.items()},
            },
            leading=("case", "frame"),
            activity=activity,
            analysis="quasi_static",
            **failure_attribute([]),
        )


def friction_stress(pressure: Array, friction: FaceFriction) -> Array:
    """Largest shear stress of friction under a pressure, MPa; zero where there is none."""
    relative = np.maximum(pressure, 0.0) / friction.reference_pressure_mpa
    reduced: Array = friction.reference_pressure_mpa * relative ** (1.0 - friction.exponent)
    return friction.coefficient * reduced


def build_backside(settings: BacksideSettings, implant: Implant, thickness: float) -> Backside:
    """Elements of the backside of an insert of a thickness, mm, at its flat underside."""
    underside = implant.underside
    height = float(underside) if isinstance(underside, int | float) else 0.0
    more = thickness - implant.nominal_thickness
    posterior, medial = settings.pivot_mm
    # The bearing stays where it is, so a thicker insert reaches further down.
    pivot = np.array([posterior, height - more, medial])
    cover = _plan(settings.face)
    cover = Coverage(cover.edges + np.array([posterior, medial]))
    low, high = cover.edges.min(axis=(0, 1)) - 1.0, cover.edges.max(axis=(0, 1)) + 1.0
    surface = plate((low[0], high[0]), (low[1], high[1]), pivot[UP])
    bearing = Bearing(LOWER, surface, thickness, coverage=cover)
    rows, columns = (
        max(4, math.ceil(width / settings.element_mm)) for width in (high - low - 2.0).tolist()
    )
    cells = bearing.rectangle(rows, columns)
    return Backside(build_elements(bearing, cells, nominal_thickness=thickness), pivot)


def _plan(face: AnyFace) -> Coverage:
    """Plan of a face about the pivot."""
    if isinstance(face, RingFace):
        return ring(face.outer_radius_mm, face.inner_radius_mm)
    if isinstance(face, OutlineFace):
        outline = polygon_coverage(np.array(face.corners_mm))
    else:
        outline = rectangle_plan(face.half_length_mm, face.half_width_mm)
    if not face.hole_radius_mm:
        return outline
    hole = ring(face.hole_radius_mm).edges[:, ::-1]
    return Coverage(np.concatenate([outline.edges, hole]))


def moment_about(point: Array, wrenches: Sequence[Array], origin: Array) -> Array:
    """Force, N, and moment about a point, N mm, of wrenches about another origin, shape (6,)."""
    total = np.sum(wrenches, axis=0)
    moment = total[3:] + np.cross(origin - point, total[:3])
    return np.concatenate([total[:3], moment])
