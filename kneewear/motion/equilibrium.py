"""Equilibrium of a system along its free coordinates, and over a motion of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import EXTRAPOLATION, weights
from kneewear.mechanics.descent import descend
from kneewear.motion.system import System, SystemForces

Array = NDArray[np.float64]

REMEDY = (
    "Check that start pose, loads, slack lengths and free coordinates belong together; a weak "
    "spring settles a coordinate that nothing restores."
)


class SystemEquilibrium(NamedTuple):
    """Coordinates (6 n,) at which forces balance along free ones, and the forces there.

    Forces along the other coordinates are the negative reactions of what prescribes them.
    """

    coordinates: Array
    forces: SystemForces
    residual: float
    evaluations: int


def solve_system(
    system: System,
    start: ArrayLike,
    free: Sequence[str],
    *,
    previous: tuple[Array, float] | None = None,
    dampers: ArrayLike = 0.0,
    tolerance: float = 1e-8,
    time: float = 0.0,
    frame: int = 0,
    what: str = "",
) -> SystemEquilibrium:
    """Find the stable equilibrium of a system from a start (6 n,), mm and rad.

    `free` names coordinates, or bodies of which all six are free; the others keep their values.
    `previous` are the coordinates (6 n,) a step started from and its duration, s: bodies then move
    to where they are found at constant rates, against friction, damping and `dampers` of the
    coordinates (6 n,), N s/mm and N mm s; without it they are at rest. `tolerance` is the largest
    force along a free coordinate relative to the largest one that acts. ConvergenceError, with
    `frame` and `what`, if none is reached; method of `kneewear.mechanics.descent`.
    """
    chosen = system.coordinates(*free)
    begin = np.array(start, dtype=float)
    resisting = np.broadcast_to(np.asarray(dampers, dtype=float), begin.shape)

    def forces(coordinates: Array) -> SystemForces:
        if previous is None:
            return system.forces(coordinates, time=time)
        before, duration = previous
        rates = (coordinates - before) / duration
        found = system.forces(coordinates, rates, time)
        return found._replace(
            force=found.force - resisting * rates,
            derivative=found.derivative + (found.resistance - np.diag(resisting)) / duration,
        )

    found = descend(forces, begin, chosen, weights(len(system.bodies)), tolerance)
    if not found.is_balanced(tolerance):
        named = what or f"Equilibrium of {', '.join(system.names[1:])}"
        raise ConvergenceError(named, frame, found.residual, "of the largest force", REMEDY)
    return SystemEquilibrium(*found)


def trace_equilibria(
    system: System,
    motion: ArrayLike,
    free: Sequence[str],
    *,
    step: float | None = None,
    dampers: ArrayLike = 0.0,
    tolerance: float = 1e-8,
    on_frame_done: Callable[[], None] = lambda: None,
) -> tuple[SystemEquilibrium, ...]:
    """Equilibria over a motion of the prescribed coordinates, (n_frames, 6 n), and over loads.

    The first frame starts from its own values of the free coordinates; later ones, whose values are
    not used, from an extrapolation of the frames before. With the time `step` between frames, s,
    later ones balance damping and `dampers` too, as of `solve_system`; inertia is left out.
    ConvergenceError, with the frame.
    """
    chosen = system.coordinates(*free)
    frames = np.asarray(motion, dtype=float)
    found: list[SystemEquilibrium] = []
    for number, start in enumerate(frames):
        begin = start.copy()
        before = [one.coordinates[chosen] for one in found[-3:]][::-1]
        if before:
            guess = sum(w * q for w, q in zip(EXTRAPOLATION[len(before)], before, strict=True))
            begin[chosen] = guess
        previous = (found[-1].coordinates, step) if found and step is not None else None
        found.append(
            solve_system(
                system.at(number),
                begin,
                free,
                previous=previous,
                dampers=dampers,
                tolerance=tolerance,
                frame=number,
            )
        )
        on_frame_done()
    return tuple(found)
