"""Contact over one cycle for a batch of cases."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kneewear.activity.activity import Activity
from kneewear.activity.load import GRAVITY
from kneewear.contact.foundation import Layer, SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.mechanics.rigid_body import RigidBody, solid_body
from kneewear.progress import Progress
from kneewear.settings.cases import Case
from kneewear.settings.simulation import ForwardSettings, SimulationSettings
from kneewear.simulation.drive import recorded_drive
from kneewear.simulation.forward import Integrator, forward_passage, solve_forward
from kneewear.simulation.history import ContactHistory, Failure
from kneewear.simulation.inverse import contact_arrays, replay
from kneewear.simulation.layers import build_layers
from kneewear.simulation.passage import Contacts, Passage
from kneewear.simulation.quasi_static import solve_quasi_static

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Bench:
    """A grid and its contact pairs."""

    grid: ElementGrid
    pairs: tuple[ContactPair, ...]

    def layers(self, case: Case, settings: SimulationSettings) -> tuple[Layer, ...]:
        """Layers of a case; what pairs remember of another one is forgotten."""
        for pair in self.pairs:
            pair.forget()
        return build_layers(self.grid, self.pairs, case.thickness, settings)


@dataclass(frozen=True)
class _Model:
    """What the cases of a batch share."""

    fine: _Bench
    coarse: _Bench
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
    coarse_grid: ElementGrid | None = None,
    keep_going: bool = False,
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
        Analysis, material, load line, force direction, source of distances and tolerance.
    distance_tables : mapping of side to DistanceTable, optional
        Smooth tables of the distance; needed, and used, when `settings.distance` is "table".
    coarse_grid : ElementGrid, optional
        Elements for forward dynamics; those of the grid by default.
    keep_going : bool
        True to leave out cases that do not converge: they are logged, and listed in the history's
        `failures`.

    Returns
    -------
    ContactHistory

    Raises
    ------
    ConvergenceError
        If a case does not converge; the message names case, activity and frame.
    ValueError
        If distance tables are needed and not given, or miss the error that was asked for.

    Notes
    -----
    Quasi-static analysis is a row of equilibria on the grid. Forward analysis finds those on the
    coarse grid, records where the load must act to be shared between the sides as wanted, lets the
    component move under that load from the first equilibrium on, and replays its motion on the
    fine grid (Bei 2003, sections 2.2.4 and 4.2.1).
    """
    pairs = _build_pairs(grid, surfaces, tables, settings, distance_tables or {})
    fine = coarse = _Bench(grid, pairs)
    if coarse_grid is not None:
        others = (pair.over(coarse_grid, number) for number, pair in enumerate(pairs))
        coarse = _Bench(coarse_grid, tuple(others))
    model = _Model(fine, coarse, activity, settings)
    n_frames = activity.percent.size
    progress = Progress(f"activity {activity.name}", len(cases), _frames_of_case(model))
    parts: dict[Case, dict[str, Any]] = {}
    failures = []
    for case in cases:
        try:
            parts[case] = _simulate_case(model, case, progress.frame_done)
        except ConvergenceError as error:
            named = error.named(f"Case {case.name}, activity {activity.name}")
            if not keep_going:
                raise named from error
            logger.error("%s", named)
            failures.append(Failure(case, str(named), named.frame, named.residual))
        progress.case_done()
    shapes = next(iter(parts.values())) if parts else _nothing(model)
    return ContactHistory(
        activity=activity.name,
        analysis=settings.analysis,
        cases=tuple(parts),
        failures=tuple(failures),
        sides=grid.sides,
        percent=activity.percent,
        time=activity.duration * np.arange(n_frames) / n_frames,
        **{
            name: np.stack([part[name] for part in parts.values()] or [array])[: len(parts)]
            for name, array in shapes.items()
        },
    )


def _build_pairs(
    grid: ElementGrid,
    surfaces: Mapping[str, Surface],
    tables: Mapping[str, SurfaceTable],
    settings: SimulationSettings,
    distance_tables: Mapping[str, DistanceTable],
) -> tuple[ContactPair, ...]:
    smooth: Mapping[str, DistanceTable] = {}
    if settings.distance == "table":
        smooth = distance_tables
        missing = sorted(set(grid.sides) - set(smooth))
        if missing:
            raise ValueError(f"distance: table needs the distance tables; none of {missing}")
        for side, table in smooth.items():
            if table.quality.excess() > 1.0:
                raise ValueError(
                    f"the {side} distance table misses its wanted error by a factor of "
                    f"{table.quality.excess():.3g}; allow more (table.distance_error_um) or set "
                    "simulation.distance to exact"
                )
    return tuple(
        ContactPair(
            grid,
            number,
            surfaces[side],
            tables[side],
            correction="mid_surface" if settings.force_direction == "mid_surface" else "none",
            direction=settings.force_direction,
            distance_table=smooth.get(side),
        )
        for number, side in enumerate(grid.sides)
    )


def _frames_of_case(model: _Model) -> int:
    """Frames that are told of for one case: forward analysis solves and replays each."""
    frames = model.activity.percent.size
    return frames if model.settings.analysis == "quasi_static" else 2 * frames


def _simulate_case(model: _Model, case: Case, tell: Callable[[], None]) -> dict[str, Any]:
    """Arrays of ContactHistory for one case, without the case axis."""
    settings, activity = model.settings, model.activity
    weight = case.body_mass * GRAVITY
    layers = model.fine.layers(case, settings)
    start = time.perf_counter()
    contacts: Contacts
    if settings.analysis == "quasi_static":
        passage, contacts = solve_quasi_static(
            model.fine.pairs, layers, activity, weight, settings, tell
        )
    else:
        passage = _move_forward(model, case, weight, tell)
        contacts = replay(model.fine.pairs, layers, passage, tell)
    arrays = contact_arrays(model.fine.pairs, model.fine.grid.area.shape[1:], passage, contacts)
    logger.info(
        "case %s, activity %s: %d frames in %.2f s, %d evaluations of contact",
        case.name,
        activity.name,
        passage.load.size,
        time.perf_counter() - start,
        passage.evaluations,
    )
    if activity.load_line is None and settings.medial_lateral == "held":
        logger.warning(
            "case %s, activity %s: holding the medial-lateral position takes up to %.0f N",
            case.name,
            activity.name,
            np.abs(arrays["reaction_force"][:, 2]).max(),
        )
    return arrays


def _move_forward(model: _Model, case: Case, weight: float, tell: Callable[[], None]) -> Passage:
    """Passage of the coarse grid by forward dynamics, with the load line of its equilibria."""
    settings, activity, pairs = model.settings, model.activity, model.coarse.pairs
    layers = model.coarse.layers(case, settings)
    still, _ = solve_quasi_static(pairs, layers, activity, weight, settings, tell)
    drive = recorded_drive(activity, still, weight, settings)
    body = moving_body(settings.forward)
    integrator = Integrator(
        settings.forward.relative_tolerance, settings.forward.damping_ratio, settings.forward.cycles
    )
    moved = solve_forward(pairs, layers, body, drive, integrator)
    passage = forward_passage(moved, drive, still)
    for moment, number in moved.lost:
        logger.warning(
            "case %s, activity %s: the %s side loses contact after %.4g s",
            case.name,
            activity.name,
            model.coarse.grid.sides[number],
            moment,
        )
    apart = np.abs(moved.place - drive.motion)
    logger.info(
        "case %s, activity %s: inertia and damping move the component by at most %.2g um down, "
        "%.2g um sideways and %.2g mrad in varus from its equilibria",
        case.name,
        activity.name,
        *(1e3 * apart.max(axis=0)[[1, 2, 3]]),
    )
    return passage


def moving_body(settings: ForwardSettings) -> RigidBody:
    """Inertia of the femoral component.

    Parameters
    ----------
    settings : ForwardSettings
        Mass, radius of gyration and centre of mass.

    Returns
    -------
    RigidBody
    """
    radii = np.full(3, settings.radius_of_gyration_mm)
    return solid_body(1e-3 * settings.mass_kg, radii, settings.centre_of_mass_mm)


def _nothing(model: _Model) -> dict[str, Any]:
    """Arrays of a case that never touches, for their shapes."""
    frames, pairs = model.activity.percent.size, model.fine.pairs
    nowhere = np.full(3, 1e6)
    apart = tuple(
        pair.evaluate(np.eye(3), nowhere, Layer(SmallStrain(1.0), np.ones(pair.index.size)))
        for pair in pairs
    )
    wrench, place, one = np.zeros((frames, 6)), np.zeros((frames, 3)), np.ones(frames)
    passage = Passage(
        ("y",), place, place, one, wrench, wrench, wrench, one, one, one, evaluations=0
    )
    return contact_arrays(pairs, model.fine.grid.area.shape[1:], passage, (apart,) * frames)
