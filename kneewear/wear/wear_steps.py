"""Division of a life into steps between updates of the surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kneewear.wear.creep import FIRST_MINUTE, creep_development, minutes_of_life

if TYPE_CHECKING:
    from kneewear.settings.wear import WearSettings


@dataclass(frozen=True)
class WearStep:
    """Part of a life during which the surface does not change.

    Parameters
    ----------
    shares : mapping of activity to float
        Shares of its cycles; they sum to one.
    start, end : float
        Start and end, as fractions of the life's cycles.
    """

    shares: Mapping[str, float]
    start: float
    end: float


def divide_life(mixture: Mapping[str, float], settings: WearSettings) -> tuple[WearStep, ...]:
    """Steps of a life.

    Parameters
    ----------
    mixture : mapping of activity to float
        Shares of the activities in the life's cycles; activities without a share are omitted.
    settings : WearSettings
        Number of `blocks`, and `mixing`.

    Returns
    -------
    tuple of WearStep
        One per block when activities mix linearly; one per block and activity, in the order of the
        mapping, when they follow each other.
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

    Notes
    -----
    Wear grows with the cycles, creep with the logarithm of time: nine tenths of it may occur within
    the first tenth of a life. So that no block lowers the surface by much more than the others,
    blocks end at equal steps of (f + c) / 2, where f is the fraction of the cycles and c that of
    the creep. Without time-dependent creep all blocks have equal numbers of cycles.
    """
    count = settings.blocks
    if count == 1 or not settings.creep_takes_time:
        return tuple((number + 1) / count for number in range(count))
    from scipy.optimize import brentq  # noqa: PLC0415 - see kneewear.geometry.surface

    minutes = minutes_of_life(settings.months)

    def progress(decades: float) -> float:
        part = 10.0**decades
        return 0.5 * (part + creep_development(part * minutes, minutes))

    first = float(np.log10(FIRST_MINUTE / minutes))
    least = progress(first)
    ends = [
        brentq(lambda d, to=to: progress(d) - to, first, 0.0)
        for to in least + (1.0 - least) * np.arange(1, count) / count
    ]
    return (*(float(10.0**end) for end in ends), 1.0)
