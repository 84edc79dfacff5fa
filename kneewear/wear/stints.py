"""How a life is divided: stretches of it between updates of the surface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kneewear.wear.creep import FIRST_MINUTE, creep_development, minutes_of_life

if TYPE_CHECKING:
    from kneewear.settings.wear import WearSettings


@dataclass(frozen=True)
class Stint:
    """Stretch of a life during which the surface stays as it is.

    Parameters
    ----------
    shares : mapping of activity to float
        Shares of its cycles; they sum to one.
    start, end : float
        Where it begins and ends, as parts of the life's cycles.
    """

    shares: Mapping[str, float]
    start: float
    end: float


def divide_life(mixture: Mapping[str, float], settings: WearSettings) -> tuple[Stint, ...]:
    """Stints of a life.

    Parameters
    ----------
    mixture : mapping of activity to float
        Shares of the activities in the life's cycles; those of zero are left out.
    settings : WearSettings
        Number of `blocks`, and `mixing`.

    Returns
    -------
    tuple of Stint
        One a block when activities mix linearly; one a block and activity, in the order of the
        mapping, when they follow each other.
    """
    used = {activity: share for activity, share in mixture.items() if share > 0.0}
    ends = block_ends(settings)
    blocks = zip((0.0, *ends[:-1]), ends, strict=True)
    if settings.mixing == "linear":
        return tuple(Stint(used, start, end) for start, end in blocks)
    return tuple(stint for start, end in blocks for stint in _in_sequence(used, start, end))


def _in_sequence(used: Mapping[str, float], start: float, end: float) -> Iterator[Stint]:
    """One stint an activity."""
    reached = start + (end - start) * np.cumsum(list(used.values()))
    borders = [start, *reached[:-1].tolist(), end]
    for activity, first, last in zip(used, borders[:-1], borders[1:], strict=True):
        yield Stint({activity: 1.0}, first, last)


def block_ends(settings: WearSettings) -> tuple[float, ...]:
    """Where the blocks of a life end, as parts of its cycles; the last is one.

    Parameters
    ----------
    settings : WearSettings
        Number of blocks, length of the life, and whether creep takes time.

    Returns
    -------
    tuple of float

    Notes
    -----
    Wear runs with the cycles, creep with the logarithm of time: nine tenths of it may come within
    the first tenth of a life. So that no block lowers the surface by much more than the others,
    blocks end at equal steps of (f + c) / 2, where f is the part of the cycles and c the part of
    the creep that is over. Creep that takes no time leaves equal numbers of cycles.
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
