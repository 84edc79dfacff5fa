"""Quasi-static contact over one cycle for a batch of cases."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.config import SimulationSettings
from kneewear.contact import ContactPair, Layer, _kernels
from kneewear.errors import ConvergenceError
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.mechanics import body_three_123
from kneewear.simulation.equilibrium import Equilibrium, Loading, approach, solve_equilibrium
from kneewear.simulation.history import Case, ContactHistory
from kneewear.simulation.layers import build_layers

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Standard gravity as orthopaedics rounds it, m/s2.
GRAVITY = 9.81


@dataclass(frozen=True)
class _Model:
    """What the cases of a batch share."""

    grid: ElementGrid
    contacts: tuple[ContactPair, ...]
    activity: Activity
    settings: SimulationSettings


def simulate_cases(
    grid: ElementGrid,
    surfaces: Mapping[str, Surface],
    tables: Mapping[str, SurfaceTable],
    activity: Activity,
    cases: Sequence[Case],
    settings: SimulationSettings,
    distance_tables: Mapping[str, DistanceTable] | None = None,
) -> ContactHistory:
    """Contact over one cycle of an activity for each case, one after the other.

    Parameters
    ----------
    grid : ElementGrid
        Elements of the insert.
    surfaces, tables : mapping of side to Surface and SurfaceTable
        Femoral condyles and their lookup tables.
    activity : Activity
        Prescribed motion and load.
    cases : sequence of Case
        Cases; each starts from its own settled pose, so the result of one does not depend on the
        others.
    settings : SimulationSettings
        Material, load line, force direction, source of distances and tolerance.
    distance_tables : mapping of side to DistanceTable, optional
        Smooth tables of the distance; needed, and used, when `settings.distance` is "table".

    Returns
    -------
    ContactHistory

    Raises
    ------
    ConvergenceError
        If a frame has no equilibrium; the message names case and frame.
    ValueError
        If distance tables are needed and not given, or miss the error that was asked for.

    Notes
    -----
    Flexion, internal-external rotation and anterior-posterior translation are prescribed;
    superior-inferior, varus-valgus and medial-lateral follow from frictionless equilibrium at each
    frame (Bei 2003, section 4.2.1, without inertia). The cycle is entered at the frame of largest
    load, where the equilibrium is best determined, and followed from there.
    """
    smooth: Mapping[str, DistanceTable] = {}
    if settings.distance == "table":
        if distance_tables is None:
            raise ValueError("distance: table needs the distance tables")
        for side, table in distance_tables.items():
            if table.quality.excess() > 1.0:
                raise ValueError(
                    f"the {side} distance table misses its wanted error by a factor of "
                    f"{table.quality.excess():.3g}; allow more (table.distance_error_um) or set "
                    "simulation.distance to exact"
                )
        smooth = distance_tables
    contacts = tuple(
        ContactPair(
            grid,
            n,
            surfaces[side],
            tables[side],
            direction=settings.force_direction,
            distance_table=smooth.get(side),
        )
        for n, side in enumerate(grid.sides)
    )
    model = _Model(grid, contacts, activity, settings)
    parts = []
    for case in cases:
        try:
            parts.append(_simulate_case(model, case))
        except ConvergenceError as error:
            raise ConvergenceError(
                f"Case {case.name}, activity {activity.name}: {error.what}",
                error.frame,
                error.residual,
                error.unit,
                error.remedy,
            ) from error
        logger.info("case %s, activity %s: %d frames", case.name, activity.name, len(activity.load))
    n_frames = activity.percent.size
    return ContactHistory(
        activity=activity.name,
        cases=tuple(cases),
        sides=grid.sides,
        percent=activity.percent,
        time=activity.duration * np.arange(n_frames) / n_frames,
        **{name: np.stack([part[name] for part in parts]) for name in parts[0]},
    )


def _simulate_case(model: _Model, case: Case) -> dict[str, Any]:
    """Arrays of ContactHistory for one case, without the case axis."""
    settings, activity = model.settings, model.activity
    layers = build_layers(model.grid, model.contacts, case.thickness, settings)
    for contact in model.contacts:
        contact.forget()
    weight = case.body_mass * GRAVITY
    frames = _solve_cycle(model, layers, activity.load * weight)
    histories = _collect(model, frames, activity.load * weight)
    if settings.medial_lateral == "held":
        logger.warning(
            "case %s, activity %s: holding the medial-lateral position takes up to %.0f N",
            case.name,
            activity.name,
            np.abs(histories["reaction_force"][:, 2]).max(),
        )
    return histories


def _solve_cycle(model: _Model, layers: Sequence[Layer], load: Array) -> list[Equilibrium]:
    """Equilibrium at every frame, entered at the frame of largest load."""
    settings, activity = model.settings, model.activity
    n_frames = load.size
    first = int(np.argmax(load))
    frames: dict[int, Equilibrium] = {}
    rest = float(np.mean(activity.translation[:, 2]))
    held = settings.medial_lateral == "held"
    for step in range(n_frames):
        frame = (first + step) % n_frames
        translation, rotation = activity.translation[frame].copy(), activity.rotation[frame].copy()
        if step == 0:
            translation, rotation = approach(model.contacts, translation, rotation, frame)
        else:
            last = frames[(frame - 1) % n_frames]
            translation[1], rotation[0] = last.translation[1], last.rotation[0]
            if not held:
                translation[2] = last.translation[2]
        if step > 1:
            before = frames[(frame - 2) % n_frames]
            translation[1] += last.translation[1] - before.translation[1]
            rotation[0] += last.rotation[0] - before.rotation[0]
        loading = Loading(
            force=float(load[frame]),
            medial_share=settings.medial_share,
            load_line=settings.fixed_load_line_mm if settings.load_line == "fixed" else None,
            spring=settings.medial_lateral_spring_per_mm,
            spring_rest=rest,
            held=held,
        )
        solve = partial(
            solve_equilibrium,
            model.contacts,
            layers,
            loading=loading,
            tolerance=settings.tolerance,
            frame=frame,
        )
        try:
            frames[frame] = solve(translation=translation, rotation=rotation)
        except ConvergenceError:
            # The frame before may be a poor start, as when the origin lies far off the axis.
            translation, rotation = approach(model.contacts, translation, rotation, frame)
            frames[frame] = solve(translation=translation, rotation=rotation)
    return [frames[frame] for frame in range(n_frames)]


def _collect(model: _Model, frames: Sequence[Equilibrium], load: Array) -> dict[str, Any]:
    """Element and frame histories of a solved cycle."""
    n_frames, (n_sides, n_rows, n_columns) = len(frames), model.grid.area.shape
    n_elements = n_rows * n_columns
    translation = np.stack([frame.translation for frame in frames])
    rotation = np.stack([frame.rotation for frame in frames])
    matrix = body_three_123(rotation)
    pressure = np.zeros((n_frames, n_sides, n_elements), dtype=np.float32)
    slip = np.zeros((n_frames, n_sides, n_elements, 2), dtype=np.float32)
    per_side = {
        name: np.zeros((n_frames, n_sides))
        for name in ("max_pressure", "avg_pressure", "contact_area", "max_penetration")
    }
    active = np.zeros((n_frames, n_sides), dtype=np.int64)
    centre = np.full((n_frames, n_sides, 3), np.nan)
    force, torque = np.zeros((n_frames, n_sides, 3)), np.zeros((n_frames, n_sides, 3))
    for number, frame in enumerate(frames):
        before, after = (number - 1) % n_frames, (number + 1) % n_frames
        for side, contact in enumerate(model.contacts):
            result = frame.sides[side]
            force[number, side] = -result.wrench[:3]
            torque[number, side] = -(
                result.wrench[3:] + np.cross(frame.translation, result.wrench[:3])
            )
            loaded = result.penetration > 0
            if not loaded.any():
                continue
            local = result.element[loaded]
            place = contact.index[local]
            value, area = result.pressure[loaded], result.area[loaded]
            sliding = np.empty((local.size, 2))
            _kernels.slide(
                contact.centre[local],
                contact.tangent_row[local],
                contact.tangent_column[local],
                matrix[number],
                translation[number],
                matrix[before],
                translation[before],
                matrix[after],
                translation[after],
                sliding,
            )
            pressure[number, side, place] = value
            slip[number, side, place] = sliding
            active[number, side] = local.size
            per_side["max_pressure"][number, side] = value.max()
            per_side["avg_pressure"][number, side] = value.mean()
            per_side["contact_area"][number, side] = area.sum()
            per_side["max_penetration"][number, side] = result.penetration.max()
            carried = value * area
            centre[number, side] = carried @ contact.centre[local] / carried.sum()
    wrench = np.stack([sum(side.wrench for side in frame.sides) for frame in frames])
    load_line = np.array([frame.load_line for frame in frames])
    spring_force = np.array([frame.spring_force for frame in frames])
    # What drivers and spring exert balances contact and load on the femoral component.
    reaction_force = -wrench[:, :3]
    reaction_force[:, 1] += load
    reaction_moment = -wrench[:, 3:]
    reaction_moment[:, 0] -= (load_line - translation[:, 2]) * load
    shape = (n_frames, n_sides, n_rows, n_columns)
    return {
        "pressure": pressure.reshape(shape),
        "slip": slip.reshape(*shape, 2),
        "translation": translation,
        "rotation": rotation,
        "load": load,
        "load_line": load_line,
        "force": force,
        "torque": torque,
        "reaction_force": reaction_force,
        "reaction_moment": reaction_moment,
        "spring_force": spring_force,
        **per_side,
        "active_elements": active,
        "centre_of_pressure": centre,
        "residual": np.array([frame.residual for frame in frames]),
    }
