"""Equilibrium of a system along its free coordinates, and over a motion of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics.descent import descend
from kneewear.multibody.system import System, SystemForces, weights

Array = NDArray[np.float64]

REMEDY = (
    "Check that start pose, loads and slack lengths belong together, and that something restores "
    "every free coordinate."
)
# Weights of the frames before, the latest first, that extrapolate the next.
_EXTRAPOLATION = {1: (1.0,), 2: (2.0, -1.0), 3: (3.0, -3.0, 1.0)}


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
    tolerance: float = 1e-8,
    time: float = 0.0,
    frame: int = 0,
) -> SystemEquilibrium:
    """Find the stable equilibrium of a system from a start (6 n,), mm and rad.

    `free` names coordinates, or bodies of which all six are free; the others keep their values.
    `tolerance` is the largest force along a free coordinate relative to the largest one that acts.
    ConvergenceError, with `frame`, if none is reached; method of `kneewear.mechanics.descent`.
    """
    chosen = system.coordinates(*free)
    begin = np.array(start, dtype=float)
    found = descend(
        lambda q: system.forces(q, time=time), begin, chosen, weights(system.size), tolerance
    )
    if not found.is_balanced(tolerance):
        what = f"Equilibrium of {', '.join(system.names[1:])}"
        raise ConvergenceError(what, frame, found.residual, "of the largest force", REMEDY)
    return SystemEquilibrium(*found)


def trace_equilibria(
    system: System,
    motion: ArrayLike,
    free: Sequence[str],
    *,
    tolerance: float = 1e-8,
    on_frame_done: Callable[[], None] = lambda: None,
) -> tuple[SystemEquilibrium, ...]:
    """Equilibria over a motion of the prescribed coordinates, (n_frames, 6 n).

    The first frame starts from its own values of the free coordinates; later ones, whose values are
    not used, from an extrapolation of the frames before. ConvergenceError, with the frame.
    """
    chosen = system.coordinates(*free)
    frames = np.asarray(motion, dtype=float)
    found: list[SystemEquilibrium] = []
    for number, start in enumerate(frames):
        begin = start.copy()
        before = [one.coordinates[chosen] for one in found[-3:]][::-1]
        if before:
            guess = sum(w * q for w, q in zip(_EXTRAPOLATION[len(before)], before, strict=True))
            begin[chosen] = guess
        found.append(solve_system(system, begin, free, tolerance=tolerance, frame=number))
        on_frame_done()
    return tuple(found)
