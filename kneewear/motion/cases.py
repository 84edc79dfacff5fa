"""Contact over one cycle for a batch of cases."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.load import GRAVITY
from kneewear.base.cases import COMMITTED, PLASTIC_MAPS, Case
from kneewear.base.checks import judge
from kneewear.base.progress import Progress
from kneewear.base.schemas import CONTACT
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import peak_columns
from kneewear.errors import ConvergenceError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.mechanics.rigid_body import RigidBody, solid_body
from kneewear.motion.coupling import refuse_steep
from kneewear.motion.cycle import CycleSolution, contact_histories, empty_histories, evaluate_cycle
from kneewear.motion.dwell_pose import refer_to_dwell_pose
from kneewear.motion.evaluation import build_layers, build_pairs, yielding_insert
from kneewear.motion.forward import Integrator, forward_solution, solve_forward
from kneewear.motion.history import (
    FRICTION_BEARS,
    Failure,
    case_coordinates,
    cases_of,
    failure_attribute,
    failures_of,
)
from kneewear.motion.quasi_static import (
    pairs_with_friction,
    share_of_plateaus,
    solve_quasi_static,
    solve_with_yield,
)
from kneewear.motion.settings import ForwardSettings, SimulationSettings
from kneewear.motion.yielding import (
    CommittedStrain,
    PlasticCycle,
    Solve,
    SolveElastic,
    committed_shape,
    run_cycle,
)

logger = logging.getLogger(__name__)
Array = NDArray[np.float64]

_DAMPED = (
    "Dampers and inertia carry the rest: set simulation.forward.damping_load_exponent to 0.25, "
    "lower simulation.forward.damping_ratio, or set simulation.analysis to quasi_static."
)
_NARROW = (
    "The largest pressure is not verified there: in one frame finite elements had nearly twice as "
    "much. See how it changes with more grid.columns, and judge by the mean pressure."
)


def simulate_cases(
    knee: KneeModel,
    activity: Activity,
    cases: Sequence[Case],
    settings: SimulationSettings,
    *,
    keep_going: bool = False,
    holding_level: int = logging.WARNING,
    pairs: tuple[ContactPair, ...] | None = None,
    before: xr.Dataset | None = None,
) -> xr.Dataset:
    """Contact over one cycle of an activity for each case, independent of the others.

    Quasi-static analysis solves an equilibrium per frame on the grid. Forward analysis solves these
    on the knee's coarse grid, if it has one, records the load line that shares the load between the
    sides, integrates the motion under that load from the first equilibrium on, and evaluates it on
    the fine grid (Bei 2003, sections 2.2.4 and 4.2.1).

    The dataset is of the schema CONTACT with the leading dimensions case and frame. With
    `keep_going` cases that do not converge are logged, and are among its failures instead of its
    cases; otherwise they raise a ConvergenceError with case, activity and frame. The
    largest force that holds a medial-lateral position is logged, at `holding_level` where friction
    would not bear it, and so are the largest part of the load that contact does not carry and, of a
    coupled layer, the fewest columns across the largest pressure of a case. `pairs`
    are those of `build_pairs` for this knee and these settings, if they are built. `before` is
    contact of another activity of the same cases, on whose insert each of them continues: its
    plastic strain is the state at the start. Cases that failed there are left out. InputDataError
    if a coupled layer is pressed on slopes that it does not represent. ValueError without a case,
    if `before` is of other cases or has no plastic strain, or if `settings.distance` is "table" and
    the knee has no distance tables of the requested accuracy.
    """
    if not cases:
        raise ValueError(f"found no case for activity {activity.name}; expected one or more")
    states = {} if before is None else _committed_states(before, cases, knee.grid)
    if before is not None:
        cases = [case for case in cases if case.name in states]
    activity = share_of_plateaus(
        refer_to_dwell_pose(activity, knee, settings), knee.grid.sides, settings
    )
    fine = coarse = _SidePairs(knee.grid, pairs or build_pairs(knee, settings))
    if settings.analysis == "forward" and knee.coarse_grid is not None:
        others = (pair.with_grid(knee.coarse_grid, side) for side, pair in enumerate(fine.pairs))
        coarse = _SidePairs(knee.coarse_grid, tuple(others))
    frames = activity.percent.size
    solved_frames = frames if settings.analysis == "quasi_static" else 2 * frames
    solved_frames *= 1 if settings.material_yield is None else 5
    progress = Progress(f"activity {activity.name}", len(cases), solved_frames)
    # Memory of elements that are never loaded is not touched: they are most of it.
    histories = empty_histories(knee.grid, frames, (len(cases),))
    if settings.material_yield is not None:
        shape = (len(cases), *knee.grid.area.shape)
        histories |= {name: np.zeros(shape, np.float32) for name in PLASTIC_MAPS}
        strain = shape[0], shape[1], *committed_shape(knee.grid)
        sizes = strain, (*strain[:2], *strain[3:]), strain[:2]
        types = np.float64, np.float64, np.int64
        histories |= {
            name: np.zeros(size, kind)
            for name, size, kind in zip(COMMITTED, sizes, types, strict=True)
        }
    holding: list[tuple[float, float, str]] = []
    carried: list[tuple[float, str]] = []
    done: list[Case] = []
    failures: list[Failure] = []
    for case in cases:
        arrays = {name: array[len(done)] for name, array in histories.items()}
        try:
            state = states.get(case.name, ())
            _simulate_case(
                fine, coarse, activity, case, settings, progress.frame_done, arrays, state
            )
            force = float(np.abs(arrays["reaction_force"][:, 2]).max())
            holding.append((force / float(arrays["load"].max()), force, case.name))
            lost, frame = load_not_carried(arrays["force"], arrays["load"])
            carried.append((lost, f"case {case.name}, activity {activity.name}, frame {frame}"))
        except ConvergenceError as error:
            named = error.named(f"Case {case.name}, activity {activity.name}")
            if not keep_going:
                raise named from error
            logger.error("%s", named)
            failures.append(Failure(case, str(named), named.frame, named.residual))
        else:
            done.append(case)
        progress.case_done()
    if holding and activity.load_line is None and settings.medial_lateral == "held":
        share, force, name = max(holding)
        level = holding_level if share > FRICTION_BEARS else logging.INFO
        logger.log(
            level,
            "case %s, activity %s: holding the medial-lateral position takes up to %.0f N",
            *(name, activity.name, force),
        )
    # The load of placed components has parts along the other axes.
    if carried and settings.analysis == "forward" and settings.alignment.is_neutral:
        finding = judge("motion.load_not_carried", *max(carried), remedy=_DAMPED)
        if finding is not None:
            logger.log(holding_level, "%s", finding)
    if done and settings.contact == "coupled_layer":
        columns, number, frame, side = min(
            _columns_of_peak(histories, number) for number in range(len(done))
        )
        at = f"case {done[number].name}, activity {activity.name}, frame {frame}"
        place = f"{at}, {knee.grid.sides[side]} side"
        finding = judge("contact.peak_columns", columns, place, _NARROW)
        if finding is not None:
            logger.log(holding_level, "%s", finding)
    return CONTACT.dataset(
        {
            **case_coordinates(done),
            "percent": activity.percent,
            "time": activity.duration * np.arange(frames) / frames,
            "side": knee.grid.sides,
            **{name: array[: len(done)] for name, array in histories.items()},
        },
        leading=("case", "frame"),
        activity=activity.name,
        analysis=settings.analysis,
        **failure_attribute(failures),
    )


def simulate_activities(
    knee: KneeModel,
    activities: Mapping[str, Activity],
    cases: Sequence[Case],
    settings: SimulationSettings,
    before: Mapping[str, str | None],
    **options: Any,
) -> dict[str, xr.Dataset]:
    """Contact over one cycle of each activity, on the insert that the activity before it left.

    Parameters
    ----------
    knee, cases, settings, **options
        See `simulate_cases`.
    activities : mapping of str to Activity
        Activities by name.
    before : mapping of str to str or None
        Of each activity, the activity whose insert it continues on, after which it is listed;
        None on a new insert.

    Returns
    -------
    dict
        Contact by activity, in the order of `before`.
    """
    contact: dict[str, xr.Dataset] = {}
    for name, earlier in before.items():
        state = None if earlier is None else contact[earlier]
        contact[name] = simulate_cases(
            knee, activities[name], cases, settings, before=state, **options
        )
    return contact


def load_not_carried(force: Array, load: Array) -> tuple[float, int]:
    """Largest fraction of the load that contact does not carry, and its frame.

    Parameters
    ----------
    force : array, shape (frame, side, 3)
        Contact force on the insert, N; the second component is superior.
    load : array, shape (frame,)
        Axial load, N.

    Returns
    -------
    float
        Difference over the load of the frame, never negative. Equilibria have none; in forward
        dynamics dampers and inertia carry it.
    int
        Number of the frame.
    """
    difference = np.abs(-force[:, :, 1].sum(axis=1, dtype=float) / load - 1.0)
    return float(difference.max()), int(difference.argmax())


def _columns_of_peak(
    histories: Mapping[str, NDArray[Any]], number: int
) -> tuple[int, int, int, int]:
    """Columns across the largest pressure of a case, and the numbers of case, frame and side."""
    largest = histories["max_pressure"][number]
    frame, side = map(int, np.unravel_index(int(largest.argmax()), largest.shape))
    return peak_columns(histories["pressure"][number, frame, side]), number, frame, side


@dataclass(frozen=True)
class _SidePairs:
    """A grid and the contact pair of each side."""

    grid: ElementGrid
    pairs: tuple[ContactPair, ...]

    def layers(self, case: Case, settings: SimulationSettings) -> tuple[ElasticLayer, ...]:
        """Layers of a case, after the pairs' searches are reset."""
        for pair in self.pairs:
            pair.reset()
        return build_layers(self.grid, self.pairs, case.thickness, settings)


def _simulate_case(
    fine: _SidePairs,
    coarse: _SidePairs,
    activity: Activity,
    case: Case,
    settings: SimulationSettings,
    on_frame_done: Callable[[], None],
    arrays: dict[str, NDArray[Any]],
    before: Sequence[CommittedStrain],
) -> None:
    """Write contact of one case into its arrays, without the case axis."""
    start, name = time.perf_counter(), f"case {case.name}, activity {activity.name}"
    solved = coarse if settings.analysis == "forward" else fine
    layers, weight = solved.layers(case, settings), case.body_mass * GRAVITY
    if settings.material_yield is None:
        solution, contacts = solve_quasi_static(
            solved.pairs, layers, activity, weight, settings, on_frame_done
        )
    else:
        yielding = partial(_run_yielding, solved.grid, case, settings, before)
        solution, contacts, plastic = solve_with_yield(
            solved.pairs, layers, activity, weight, settings, yielding, on_frame_done
        )
        for variable in PLASTIC_MAPS:
            arrays[variable][:] = getattr(plastic, variable)
        for side, committed in enumerate(plastic.committed):
            for variable, values in zip(COMMITTED, committed, strict=True):
                arrays[variable][side] = values
        logger.info(
            "%s: largest plastic strain %.2g, dent of up to %.2g mm; the strain grows by %.2g %% "
            "in the reported cycle",
            name,
            *(plastic.plastic_strain.max(), plastic.dent.max(), 100.0 * plastic.growth),
        )
    if settings.analysis == "forward":
        pairs = pairs_with_friction(coarse.pairs, activity)
        sides = coarse.grid.sides
        solution = _integrate_motion(pairs, sides, layers, solution, settings.forward, name)
        layers = fine.layers(case, settings)
        contacts = evaluate_cycle(fine.pairs, layers, solution, on_frame_done)
    contact_histories(fine.pairs, fine.grid, solution, contacts, arrays)
    if settings.contact != "foundation":
        refuse_steep(fine.grid, arrays["pressure"], name)
    logger.info(
        "%s: %d frames in %.2f s, %d evaluations of contact",
        name,
        solution.load.size,
        time.perf_counter() - start,
        solution.evaluations,
    )


def _run_yielding(
    grid: ElementGrid,
    case: Case,
    settings: SimulationSettings,
    before: Sequence[CommittedStrain],
    elastic: SolveElastic,
    order: Sequence[int],
    solve: Solve,
    pairs: Sequence[ContactPair],
) -> PlasticCycle:
    """A cycle of a case with the curve of the settings, from what solves its elastic equilibria."""
    insert, thickness = yielding_insert(grid, case.thickness, settings)
    return run_cycle(elastic, order, solve, pairs, grid, thickness, insert, before)


def _committed_states(
    before: xr.Dataset, cases: Sequence[Case], grid: ElementGrid
) -> dict[str, list[CommittedStrain]]:
    """Plastic strain of each side that another activity left, by case; of those it finished.

    ValueError if the activity was not computed for these cases, or leaves no strain on this grid.
    """
    name = before.attrs["activity"]
    computed = [*cases_of(before), *(failure.case for failure in failures_of(before))]
    known, asked = (
        set(zip(*case_coordinates(some).values(), strict=True)) for some in (computed, cases)
    )
    if missing := sorted(label[0] for label in asked - known):
        raise ValueError(
            f"contact of the activity before, {name}: found no case {', '.join(missing)}; "
            "expected the cases of this activity with the same values"
        )
    return {
        str(case): committed_strain(before.isel(case=number), grid)
        for number, case in enumerate(before["case"].values)
    }


def committed_strain(contact: xr.Dataset, grid: ElementGrid) -> list[CommittedStrain]:
    """Plastic strain of each side that an activity left in one case.

    ValueError if `contact` has several cases, or no strain on this grid.
    """
    name = contact.attrs.get("activity", "")
    if contact.sizes.get("case", 1) != 1:
        raise ValueError(
            f"contact of activity {name}: found {contact.sizes['case']} cases; "
            "expected one, as by .isel(case=0)"
        )
    contact = contact.squeeze("case") if "case" in contact.dims else contact
    expected = len(grid.sides), *committed_shape(grid)
    shape = contact[COMMITTED[0]].shape if COMMITTED[0] in contact else "no plastic strain"
    if shape != expected:
        raise ValueError(
            f"contact of activity {name}: found {shape}; expected plastic strain of "
            f"shape {expected}, from the same grid with simulation.material_yield"
        )
    strain, equivalent, row = (contact[variable].values for variable in COMMITTED)
    return [
        CommittedStrain(strain[side], equivalent[side], int(row[side]))
        for side in range(len(grid.sides))
    ]


def _integrate_motion(
    pairs: Sequence[ContactPair],
    sides: Sequence[str],
    layers: Sequence[ElasticLayer],
    equilibria: CycleSolution,
    settings: ForwardSettings,
    name: str,
) -> CycleSolution:
    """Forward dynamics with the load line of the equilibria."""
    integrator = Integrator(
        settings.relative_tolerance,
        settings.damping_ratio,
        settings.cycles,
        settings.damping_load_exponent,
    )
    body = moving_body(settings)
    moved = solve_forward(pairs, layers, body, equilibria.conditions, integrator)
    for moment, number in moved.lost:
        side = sides[number]
        logger.warning("%s: the %s side loses contact after %.4g s", name, side, moment)
    deviation = np.abs(moved.coordinates - equilibria.coordinates)
    logger.info(
        "%s: inertia and damping move the component by at most %.2g um down, %.2g um sideways and "
        "%.2g mrad in varus from its equilibria",
        name,
        *(1e3 * deviation.max(axis=0)[[1, 2, 3]]),
    )
    return forward_solution(moved, equilibria)


def moving_body(settings: ForwardSettings) -> RigidBody:
    """Inertia of the femoral component, with equal radii of gyration about all axes."""
    radii = np.full(3, settings.radius_of_gyration_mm)
    return solid_body(1e-3 * settings.mass_kg, radii, settings.centre_of_mass_mm)
