"""Stiff integration of first-order equations with output at given times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest number of steps between two output times.
MAX_STEPS = 20000
# Status of CVODE at an event.
EVENT = 2
STOPPED = "stopped by an event"


class FirstOrderEquations(Protocol):
    """First-order equations y' = f(t, y); each method fills its last argument.

    `relative_tolerance` is the largest local error relative to state and `scale` (n_states,), the
    magnitude at which each state becomes significant; `largest_step` is in s.
    """

    relative_tolerance: float
    scale: Array
    largest_step: float

    def slope(self, time: float, state: Array, slope: Array) -> None:
        """Right-hand side f."""

    def jacobian(self, time: float, state: Array, slope: Array, matrix: Array) -> None:
        """Derivative df/dy."""

    def margins(self, time: float, state: Array, margins: Array) -> None:
        """Functions that fall through zero at an event."""


@dataclass(frozen=True)
class Integrated:
    """States (n, n_states) at the output times that the integration reached.

    `events` are the time of each event, s, and the number of its margin; `evaluations` counts
    right-hand sides; `failure` states why the integration ended early, empty if it did not, and
    `stop` the time and state where an event stopped it.
    """

    time: Array
    state: Array
    events: tuple[tuple[float, int], ...]
    evaluations: int
    failure: str
    stop: tuple[float, Array] | None = None


def integrate(
    problem: FirstOrderEquations,
    times: Array,
    start: Array,
    stops: tuple[bool, ...] = (),
    highest_order: int = 5,
    on_output: Callable[[float, Array], None] = lambda time, state: None,
) -> Integrated:
    """Integrate stiff equations with variable order and step from `start` at the first of `times`.

    `stops` states for each margin whether its fall through zero ends the integration; `on_output`
    is called with each output time and its state as soon as it is reached. The solver is
    CVODE of SUNDIALS: backward differentiation formulas of order one to `highest_order` with
    Newton's method and the analytic Jacobian (Hindmarsh et al. 2005,
    doi:10.1145/1089014.1089020), the family of the DASSL that Bei (2003) used. Errors raised by the
    problem are passed on.
    """
    from sksundae.cvode import CVODE  # noqa: PLC0415 - half a second, which most jobs do not need

    times = np.asarray(times, dtype=float)
    start = np.array(start)
    options: dict[str, object] = {}
    if stops:

        def margins(time: float, state: Array, values: Array) -> None:
            problem.margins(time, state, values)

        # The solver returns at every event; whether to stop is decided below.
        margins.terminal = [False] * len(stops)  # type: ignore[attr-defined]
        margins.direction = [-1] * len(stops)  # type: ignore[attr-defined]
        options = {"eventsfn": margins, "num_events": len(stops)}
    solver = CVODE(
        problem.slope,
        jacfn=problem.jacobian,
        rtol=problem.relative_tolerance,
        atol=problem.relative_tolerance * problem.scale,
        max_step=problem.largest_step,
        max_num_steps=MAX_STEPS,
        max_order=highest_order,
        **options,
    )
    result = solver.init_step(times[0], start)
    states: list[Array] = [start]
    on_output(float(times[0]), start)
    events: list[tuple[float, int]] = []
    failure = ""
    while len(states) < times.size and not failure:
        result = solver.step(times[len(states)])
        if result.status == EVENT:
            numbers = np.flatnonzero(result.i_events[-1])
            events += [(float(result.t), int(number)) for number in numbers]
            failure = STOPPED if any(stops[number] for number in numbers) else ""
        elif result.status < 0:
            failure = str(result.message).rstrip(".").lower()
        else:
            states.append(result.y)
            on_output(float(times[len(states) - 1]), result.y)
    reached = len(states)
    stop = (float(result.t), np.array(result.y)) if failure == STOPPED else None
    return Integrated(
        times[:reached], np.array(states), tuple(events), int(result.nfev), failure, stop
    )
