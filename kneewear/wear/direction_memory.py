"""Cross-shear against the directions of sliding that an element remembers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.wear.history import History

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
# Parts of an interval between which the direction turns. On a circle of 25 frames each turns by 1.8
# degrees.
PARTS = 8


class RememberedSliding(NamedTuple):
    """Features of laws with a memory of the direction of sliding."""

    work: Array  # sum_t p_t |s_t|
    crossed: Array  # the same, weighted by twice the cross-shear


def circle_cross_shear(memory: ArrayLike, radius: ArrayLike) -> Array:
    """Cross-shear on a circle, 1/2 - 1/2 / (1 + (2 L / R)^2) with memory L and radius R."""
    ratio = 2.0 * np.asarray(memory, dtype=np.float64) / np.asarray(radius, dtype=np.float64)
    return np.asarray(0.5 - 0.5 / (1.0 + ratio**2))


def remember_directions(history: History, memory: float) -> RememberedSliding:
    """Sum sliding and its cross-shear against remembered directions over a steady cycle.

    Parameters
    ----------
    history : History
        One cycle, which repeats without end.
    memory : float
        Length of sliding L within which the memory fades to 1/e, mm.

    Returns
    -------
    RememberedSliding
        Work sum p |s|, and the same weighted by twice the cross-shear c, MPa mm.

    Notes
    -----
    With the direction a of sliding, the memory is m = <exp(2 i a)> over the path slid before,
    weighted by exp(-l / L) of the distance l since: dm/ds = (exp(2 i a) - m) / L. The cross-shear
    is the mean square of the sine between the present direction and the remembered ones,
    c = (1 - Re(m exp(-2 i a))) / 2: zero on straight paths, and up to 1 where directions alternate
    at right angles over more than L.

    Limits of long paths, L much smaller: zero but near corners. Limits of short ones, L much longer
    than the cycle: (1 - |D|^2) / 2 with D the mean of exp(2 i a) over the sliding of the cycle. The
    ratio of :func:`kneewear.wear.laws.frictional_work` is (1 - |D|) / 2 with D weighted by work.

    Within the interval of a frame the velocity is linear between the frame and the middles to its
    neighbours, and the direction with it; neighbours out of contact are left out. The
    distance is the one of the frame, so that all laws have one work. Only sliding in contact is
    remembered: nothing rubs the surface while it is unloaded, so its memory stays. The memory at
    the start of the cycle is that at its end.
    """
    steps = list(_steps(history))
    count = int(np.prod(history.shape, dtype=np.int64))
    distance = np.bincount(history.loaded.element, history.distance, count)
    memory_at_start, _ = _walk(steps, np.zeros(count, complex), memory)
    faded = -np.expm1(-distance / memory)
    start = memory_at_start / np.where(faded > 0.0, faded, 1.0)
    _, crossed = _walk(steps, start, memory)
    work, _ = history.frictional_work
    return RememberedSliding(work, crossed.reshape(history.shape))


class _Step(NamedTuple):
    """Elements in contact in a frame, with the parts of its interval."""

    element: NDArray[np.intp]
    pressure: Array
    distance: Array  # (part, n), mm
    double_angle: Complex  # (part, n), exp(2 i a)


def _steps(history: History) -> list[_Step]:
    """Directions and distances within the interval of every frame."""
    pressure, (along, aside), _, element = history.loaded
    velocity = along + 1j * aside
    parts = list(history.of_frames())
    dense = np.zeros(int(np.prod(history.shape, dtype=np.int64)), complex)
    touching = np.zeros(dense.size, bool)
    # Middles of the parts, from -1/2 to 1/2 of an interval.
    middles = (np.arange(PARTS) + 0.5) / PARTS - 0.5
    steps = []
    for number, part in enumerate(parts):
        at, now = element[part], velocity[part]
        own = np.repeat(now[None], PARTS, axis=0)
        for other, half in (
            (number - 1, middles < 0.0),
            ((number + 1) % len(parts), middles > 0.0),
        ):
            beside = parts[other]
            dense[element[beside]], touching[element[beside]] = velocity[beside], True
            change = np.where(touching[at], dense[at] - now, 0.0)
            own[half] += np.abs(middles[half])[:, None] * change
            touching[element[beside]] = False
        steps.append(_step(at, pressure[part], np.abs(now), own))
    return steps


def _step(element: NDArray[np.intp], pressure: Array, distance: Array, velocity: Complex) -> _Step:
    """Directions of the parts of an interval, and what each has of the distance of its frame."""
    speed = np.abs(velocity)
    moving, total = np.where(speed > 0.0, speed, 1.0), speed.sum(axis=0)
    share = speed / np.where(total > 0.0, total, 1.0)
    directions = np.where(speed > 0.0, velocity / moving, 1.0) ** 2
    return _Step(element, pressure, share * distance, directions)


def _walk(
    steps: list[_Step], start: NDArray[np.complex128], length: float
) -> tuple[NDArray[np.complex128], Array]:
    """Memory after a cycle, and twice the cross-shear times pressure and sliding."""
    memory, crossed = start.copy(), np.zeros(start.size)
    for step in steps:
        now, found = memory[step.element], np.zeros(step.element.size)
        for distance, target in zip(step.distance, step.double_angle, strict=True):
            faded = -np.expm1(-distance / length)
            # The cross-shear decays while the direction lasts; its integral is in closed form.
            apart = 1.0 - (now * target.conj()).real
            found += apart * faded * length
            now += (target - now) * faded
        memory[step.element] = now
        crossed[step.element] += step.pressure * found
    return memory, crossed
