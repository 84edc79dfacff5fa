"""Wear and creep of a batch of cases over lives of mixed activities."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import Case
from kneewear.base.schemas import DAMAGE
from kneewear.errors import ConvergenceError, InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import (
    FRICTION_BEARS,
    Failure,
    case_coordinates,
    cases_of,
    failure_attribute,
    only_case,
)
from kneewear.wear.creep import (
    FIRST_MINUTE,
    creep_development,
    creep_strain_per_pressure,
    minutes_of_life,
    recovered_part,
)
from kneewear.wear.history import History, cross_shear_ratio
from kneewear.wear.laws import AnyLaw, Law, choose_wear_law, cycles_of_life, over_histories
from kneewear.wear.records import check_same_cases
from kneewear.wear.superposition import ContactResponse, relaxed_pressure, superposed_creep
from kneewear.wear.worn_surface import lower_surface

if TYPE_CHECKING:
    from kneewear.wear.settings import WearSettings

Array = NDArray[np.float64]
# Simulates the cycle of one case on the fresh insert again on the elements of a worn one.
Resimulation = Callable[[ElementGrid, xr.Dataset], xr.Dataset]

logger = logging.getLogger(__name__)

SHARE_TOLERANCE = 1.0e-9
# Depths oscillate from step to step if a step lowers elements by more than this times penetration.
LARGEST_LOWERING = 2.0


def accumulate_wear(
    histories: Mapping[str, xr.Dataset],
    grid: ElementGrid,
    settings: WearSettings,
    resimulate: Resimulation | None = None,
    law: Law | AnyLaw | None = None,
) -> xr.Dataset:
    """Extrapolate one cycle of each activity to the lives of a study.

    Parameters
    ----------
    histories : mapping of activity name to Dataset
        Cycles on the fresh insert, the same cases in every activity; activities that no life uses
        have no influence.
    grid : ElementGrid
        The element grid of the histories.
    settings : WearSettings
        Laws and constants of wear and creep, lives, and blocks between which the surface is
        updated.
    resimulate : callable, optional
        Simulates a cycle again on a worn grid, such as `WornContact`; needed when the surface is
        updated.
    law : Law or AnyLaw, optional
        A wear law instead of the one that the settings name.

    Returns
    -------
    xarray.Dataset
        Of the schema DAMAGE: depths normal to the insert's surface after each life, and the
        pressures of its cycles.

    Raises
    ------
    ValueError
        If the histories do not share cases and frames, if a life names an activity that was not
        simulated or its shares do not sum to 1, or if the surface is to be updated without
        `resimulate`.
    ConvergenceError
        If a cycle has no equilibrium on a worn surface.
    InputDataError
        If damage reaches the local thickness of the insert.

    Notes
    -----
    A life is divided into steps (`divide_life`) during which the surface does not change. Within a
    step activities mix linearly by their shares, as in Bei (2003), section 4.2.1 ("linear
    rules-of-mixture"): depth = sum_a share_a depth_a, for wear and creep alike. One step is the
    dissertation's extrapolation of the fresh surface's cycle.

    Between steps the surface is lowered by wear and creep. Creep is the superposition of the creep
    law over the history of each element's largest pressure of a cycle (`superposed_creep`), so it
    relaxes where the pressure falls. The pressure of a step is that at its end
    (`relaxed_pressure`). Where activities follow each other instead of mixing, creep follows the
    largest pressure of any activity.
    """
    first = check_same_cases(histories)
    cases = (
        {activity: only_case(history, name) for activity, history in histories.items()}
        for name in first["case"].values.tolist()
    )
    return accumulate_cases(cases, tuple(histories), grid, settings, resimulate=resimulate, law=law)


def accumulate_cases(
    cases: Iterable[Mapping[str, xr.Dataset]],
    activities: tuple[str, ...],
    grid: ElementGrid,
    settings: WearSettings,
    *,
    resimulate: Resimulation | None = None,
    law: Law | AnyLaw | None = None,
    keep_going: bool = False,
) -> xr.Dataset:
    """Damage of `accumulate_wear` from histories of one case after the other.

    `cases` has the history of each of the `activities` for every case. With `keep_going` cases that
    wear through, or that do not converge on a worn surface, are logged and listed in `failures`.
    """
    shares = _share_matrix(settings.lives, activities)
    law = over_histories(law or choose_wear_law(settings))
    updates, done, ends = _Updates(), [], []
    failures: list[Failure] = []
    for histories in cases:
        (case,) = cases_of(check_same_cases(histories))
        mixtures = [dict(zip(activities, row.tolist(), strict=True)) for row in shares]
        lives = [_Life(case, mixture, law, grid, settings) for mixture in mixtures]
        try:
            given = histories, resimulate, updates
            ends.append([list(_simulate_life(life, *given))[-1][1] for life in lives])
            done.append(case)
        except (ConvergenceError, InputDataError) as error:
            if not keep_going:
                raise
            logger.error("%s", error)
            found = getattr(error, "frame", None), getattr(error, "residual", float("nan"))
            failures.append(Failure(case, str(error), *found))
    updates.warn()
    # A batch may have no case.
    stacked = {
        name: np.array([[getattr(end, name) for end in case] for case in ends])
        .reshape(len(done), len(shares), *array.shape)
        .swapaxes(0, 1)
        for name, array in vars(_fresh_insert(grid)).items()
        if isinstance(array, np.ndarray)
    }
    creep = (1.0 - recovered_part(settings.recovery_minutes)) * stacked["creep"]
    return DAMAGE.dataset(
        {
            **case_coordinates(done),
            "life": list(settings.lives),
            "activity": activities,
            "side": grid.sides,
            "shares": shares,
            "wear_depth": stacked["wear"],
            "creep_depth": creep,
            "damage_depth": stacked["wear"] + creep,
            "max_pressure": stacked["max_pressure"],
            "avg_pressure": stacked["avg_pressure"],
            "cross_shear": cross_shear_ratio(stacked["work"], stacked["cross_work"]),
        },
        **failure_attribute(failures),
    )


def depths_of_blocks(
    histories: Mapping[str, xr.Dataset],
    grid: ElementGrid,
    settings: WearSettings,
    resimulate: Resimulation,
    law: Law,
) -> dict[str, list[tuple[float, Array]]]:
    """Fraction of the cycles, and largest depth of wear of each side (mm), after every block.

    Of each life of the only case; parameters as in `accumulate_wear`. A life ends early where its
    surface is worn through or has no equilibrium.
    """
    (case,) = cases_of(check_same_cases(histories))
    shares, ends = _share_matrix(settings.lives, tuple(histories)), block_ends(settings)
    depths: dict[str, list[tuple[float, Array]]] = {}
    for name, row in zip(settings.lives, shares, strict=True):
        mixture = dict(zip(histories, row.tolist(), strict=True))
        life, reached = _Life(case, mixture, law, grid, settings), depths.setdefault(name, [])
        try:
            for end, insert in _simulate_life(life, histories, resimulate, _Updates()):
                if np.isclose(end, ends).any():
                    reached.append((end, insert.wear.max(axis=(1, 2))))
        except (ConvergenceError, InputDataError) as error:
            logger.info("worn-in depth: life %s ends early: %s", name, error)
    return depths


def _share_matrix(
    lives: Mapping[str, Mapping[str, float]], activities: tuple[str, ...]
) -> NDArray[np.float64]:
    """Shares as an array (life, activity)."""
    if not lives:
        raise ValueError("no life given: name at least one mixture of activities")
    for life, mixture in lives.items():
        missing = sorted(set(mixture) - set(activities))
        if missing:
            raise ValueError(f"life {life!r} names activities that were not simulated: {missing}")
        if abs(sum(mixture.values()) - 1.0) > SHARE_TOLERANCE or min(mixture.values()) < 0.0:
            raise ValueError(f"shares of life {life!r} must be positive and sum to 1: {mixture}")
    return np.array([[mix.get(name, 0.0) for name in activities] for mix in lives.values()])


@dataclass(frozen=True)
class _Life:
    """Constant data of one life of one case."""

    case: Case
    mixture: Mapping[str, float]
    law: Law
    grid: ElementGrid
    settings: WearSettings


@dataclass
class _Updates:
    """Lowering by each update over the penetration; forces of holding, over the load and in N."""

    lowering: list[tuple[float, str]] = field(default_factory=list)
    holding: list[tuple[float, float, str]] = field(default_factory=list)

    def warn(self) -> None:
        """Warn once, with the largest value, of depths that may oscillate and of holding."""
        count = sum(ratio > LARGEST_LOWERING for ratio, _ in self.lowering)
        if count:
            ratio, text = max(self.lowering)
            logger.warning(
                "%d of %d updates lower the surface by more than %g times the penetration, by up "
                "to %.1f times (case %s); depths oscillate when they do: take more blocks",
                *(count, len(self.lowering), LARGEST_LOWERING, ratio, text),
            )
        if self.holding:
            share, force, name = max(self.holding)
            logger.log(
                logging.WARNING if share > FRICTION_BEARS else logging.INFO,
                "case %s, worn insert: holding the medial-lateral position takes up to %.0f N",
                *(name, force),
            )


@dataclass(frozen=True)
class WearStep:
    """Part of a life during which the surface does not change.

    Shares of the activities, which sum to one; start and end as fractions of the life's cycles.
    """

    shares: Mapping[str, float]
    start: float
    end: float


@dataclass
class _Sums:
    """Wear (mm), frictional work (MPa mm), largest pressure (MPa) and penetration (mm) of a cycle.

    Per element (side, row, column), but `avg_pressure` and `max_penetration` per side.
    """

    wear: Array
    work: Array
    cross_work: Array
    max_pressure: Array
    avg_pressure: Array
    max_penetration: Array


@dataclass
class _Insert(_Sums):
    """The same of a life so far; creep, mm; latest largest pressure of a cycle by activity, MPa.

    `starts` and `history` are starts and pressures, MPa, of the steps that creep superposes.
    """

    creep: Array
    pressures: dict[str, Array] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)
    history: list[Array] = field(default_factory=list)


def _fresh_insert(grid: ElementGrid) -> _Insert:
    elements, sides = np.zeros(grid.area.shape), np.zeros(len(grid.sides))
    return _Insert(elements, elements, elements, elements, sides, sides, creep=elements)


def _simulate_life(
    life: _Life,
    fresh: Mapping[str, xr.Dataset],
    resimulate: Resimulation | None,
    updates: _Updates,
) -> Iterator[tuple[float, _Insert]]:
    """Yield the fraction of the cycles and the insert at the end of every step of a life.

    `fresh` holds the cycles of this case on the fresh surface.
    """
    steps = divide_life(life.mixture, life.settings)
    if len(steps) > 1 and resimulate is None:
        raise ValueError("updating the surface needs a way to simulate contact again")
    update, surface = life.settings.surface_update, life.grid
    insert = _fresh_insert(surface)
    if len(steps) > 1:
        names = {name for step in steps for name in step.shares}
        insert.pressures = {name: _largest_pressure(fresh[name]) for name in names}
    for number, step in enumerate(steps):
        cycles = {name: fresh[name] for name in step.shares}
        if number and resimulate is not None:
            cycles = {name: resimulate(surface, cycle) for name, cycle in cycles.items()}
            if update.medial_lateral == "held":
                for cycle in cycles.values():
                    force = float(np.abs(cycle.reaction_force.values[..., 2]).max())
                    share = force / float(cycle["load"].values.max())
                    updates.holding.append((share, force, life.case.name))
        sums = {name: _sum_cycle(cycle, life.law) for name, cycle in cycles.items()}
        before = insert.wear + insert.creep
        _add_wear(insert, step, sums, life)
        _update_creep(insert, step, cycles, before, life)
        _check_thickness(insert.wear + insert.creep, step, life)
        yield step.end, insert
        if number + 1 < len(steps):
            damage = insert.wear + insert.creep
            depth = np.max([cycle.max_penetration for cycle in sums.values()], axis=0)
            ratio = (damage - before).max(axis=(1, 2)) / np.where(depth > 0.0, depth, np.inf)
            text = f"{life.case.name}, from {step.start:.3g} to {step.end:.3g} of the life"
            updates.lowering.append((float(ratio.max()), text))
            surface = lower_surface(
                life.grid, damage, insert.wear, update.smoothing_mm, update.thins_layer
            )


def _check_thickness(damage: Array, step: WearStep, life: _Life) -> None:
    """Refuse damage that reaches the local thickness: nothing is left to carry the load."""
    left = life.grid.case_thickness(life.case.thickness) - damage
    worn = np.isfinite(left) & (damage > 0.0) & (left <= 0.0)
    if not worn.any():
        return
    at = np.unravel_index(int(np.argmin(np.where(worn, left, np.inf))), left.shape)
    x, _, z = life.grid.centre[at]
    months = step.end * life.settings.months
    raise InputDataError(
        f"case {life.case.name}",
        f"damage of {damage[at]:.3g} mm after {months:.4g} months at x {x:.1f}, z {z:.1f} mm, "
        f"{worn.sum()} elements worn through",
        f"less than the local thickness of {damage[at] + left[at]:.3g} mm",
        "Shorten wear.months or wear.cycles_per_year, or correct wear.wear_factor_mm3_per_n_m "
        "and wear.creep_mm_per_mpa; leave out cases this thin or heavy.",
    )


def divide_life(mixture: Mapping[str, float], settings: WearSettings) -> tuple[WearStep, ...]:
    """Steps of a life with these shares of activities in its cycles.

    One per block when activities mix linearly; one per block and activity, in the order of the
    mapping, when they follow each other. Activities without a share are omitted.
    """
    used = {activity: share for activity, share in mixture.items() if share > 0.0}
    ends = block_ends(settings)
    steps: list[WearStep] = []
    for start, end in zip((0.0, *ends[:-1]), ends, strict=True):
        if settings.mixing == "linear":
            steps.append(WearStep(used, start, end))
            continue
        reached = start + (end - start) * np.cumsum(list(used.values()))
        borders = [start, *reached[:-1].tolist(), end]
        steps += [
            WearStep({activity: 1.0}, first, last)
            for activity, first, last in zip(used, borders[:-1], borders[1:], strict=True)
        ]
    return tuple(steps)


def block_ends(settings: WearSettings) -> tuple[float, ...]:
    """Ends of the blocks of a life, as fractions of its cycles; the last is one.

    Wear grows with the cycles, creep with the logarithm of time: nine tenths of it may occur within
    the first tenth of a life. So that no block lowers the surface by much more than the others,
    blocks end at equal steps of (f + c) / 2, where f is the fraction of the cycles and c that of
    the creep. Without time-dependent creep all blocks have equal numbers of cycles.
    """
    count = settings.blocks
    if count == 1 or not settings.creep_takes_time:
        return tuple((number + 1) / count for number in range(count))
    minutes = minutes_of_life(settings.months)

    def progress(decades: float) -> float:
        part = 10.0**decades
        return 0.5 * (part + creep_development(part * minutes, minutes))

    first = float(np.log10(FIRST_MINUTE / minutes))
    least = progress(first)
    ends = [
        scipy.optimize.brentq(lambda d, to=to: progress(d) - to, first, 0.0)
        for to in least + (1.0 - least) * np.arange(1, count) / count
    ]
    return (*(float(10.0**end) for end in ends), 1.0)


def _sum_cycle(history: xr.Dataset, law: Law) -> _Sums:
    """Sum the cycle of one case over its frames, in double precision and in their order."""
    pressure, slip = history.pressure.values[0], history.slip.values[0]
    cycle = History(pressure, slip)
    work, cross_work = cycle.frictional_work
    return _Sums(
        wear=law.depth(law.features(cycle)),
        work=work,
        cross_work=cross_work,
        max_pressure=_largest_pressure(history),
        avg_pressure=history.avg_pressure.values[0].max(axis=0),
        max_penetration=history.max_penetration.values[0].max(axis=0),
    )


def _largest_pressure(history: xr.Dataset) -> Array:
    """Largest pressures of the elements in a cycle of one case, MPa."""
    return history.pressure.values[0].max(axis=0).astype(np.float64)


def _add_wear(insert: _Insert, step: WearStep, sums: Mapping[str, _Sums], life: _Life) -> None:
    """Add a step's wear, and update the largest pressures."""
    settings = life.settings
    cycles = cycles_of_life(settings.cycles_per_year, settings.months) * (step.end - step.start)
    for name, share in step.shares.items():
        cycle = sums[name]
        insert.wear = insert.wear + share * (cycles * cycle.wear)
        insert.work = insert.work + share * (cycles * cycle.work)
        insert.cross_work = insert.cross_work + share * (cycles * cycle.cross_work)
        insert.max_pressure = np.maximum(insert.max_pressure, cycle.max_pressure)
        insert.avg_pressure = np.maximum(insert.avg_pressure, cycle.avg_pressure)
        insert.pressures[name] = cycle.max_pressure


def _update_creep(
    insert: _Insert,
    step: WearStep,
    cycles: Mapping[str, xr.Dataset],
    before: Array,
    life: _Life,
) -> None:
    """Superpose the creep of a step; `before` is the damage at its start."""
    law = _creep_compliance(life)
    if life.settings.mixing == "sequence":
        pressure = np.max(list(insert.pressures.values()), axis=0)
        weights = {name: 1.0 * (insert.pressures[name] == pressure) for name in cycles}
    else:
        pressure = sum(
            (share * insert.pressures[name] for name, share in step.shares.items()),
            start=np.zeros(life.grid.area.shape),
        )
        weights = dict(step.shares)
    insert.starts.append(step.start)
    insert.history.append(pressure)

    def creep() -> Array:
        return superposed_creep(insert.starts, insert.history, step.end, law)

    if (step.start, step.end) != (0.0, 1.0):
        insert.history[-1] = relaxed_pressure(
            pressure,
            insert.wear + creep() - before,
            law(step.end - step.start),
            life.grid.area,
            [
                ContactResponse(cycle.pressure.values[0], _stiffness(cycle), weights[name])
                for name, cycle in cycles.items()
            ],
        )
    insert.creep = creep()


def _stiffness(cycle: xr.Dataset) -> Array:
    """Largest pressure over largest penetration of each side, MPa/mm; zero without contact."""
    depth = cycle.max_penetration.values[0].max(axis=0)
    return cycle.max_pressure.values[0].max(axis=0) / np.where(depth > 0.0, depth, np.inf)


def _creep_compliance(life: _Life) -> Callable[[float], Array | float]:
    """Creep depth for each MPa, mm/MPa, a part of the life after loading, by the settings' law."""
    settings = life.settings
    minutes = minutes_of_life(settings.months)
    if settings.creep_law == "pressure":
        if settings.creep_time == "constant":
            return lambda part: settings.creep_mm_per_mpa
        reference = minutes_of_life(settings.creep_months)
        return lambda part: settings.creep_mm_per_mpa * creep_development(part * minutes, reference)
    if settings.creep_law == "strain":
        thickness = life.grid.case_thickness(life.case.thickness)
        # Elements outside the bearing may have no thickness; they carry no pressure either.
        solid = np.where(np.isfinite(thickness), thickness, 0.0)
        return lambda part: creep_strain_per_pressure(max(part * minutes, FIRST_MINUTE)) * solid
    raise ValueError(f"creep_law must be 'pressure' or 'strain', got {settings.creep_law!r}")
