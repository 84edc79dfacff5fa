"""Memory and run time a job asks a cluster for.

Measured over batches of 7 cases of 100 frames on 2 x 100 x 75 elements: 0.22 GB for the
interpreter and its libraries, 30 bytes an element, frame and case, and 6 s on one core; the double
or more of each is asked for, so that a slower machine does not lose a job.
"""

from __future__ import annotations

import math

MEMORY_AT_LEAST_MB = 1000
BYTES_PER_ELEMENT_FRAME_AND_CASE = 80
# Of a map, which has no frames: wear, creep, damage, largest pressure and more, also as drawn.
BYTES_PER_ELEMENT_AND_CASE = 2000
MINUTES_AT_LEAST = 10
ELEMENT_FRAMES_PER_MINUTE = 2.0e6


def batch_memory(elements: int, frames: int, cases: int, attempt: int = 1) -> int:
    """Memory of a job that holds the contact histories of some cases.

    Parameters
    ----------
    elements : int
        Elements of both sides.
    frames : int
        Frames of a cycle.
    cases : int
        Cases held at a time.
    attempt : int
        1 at first; every further attempt asks for as much again.

    Returns
    -------
    int
        MB.
    """
    history = elements * frames * cases * BYTES_PER_ELEMENT_FRAME_AND_CASE
    return attempt * (MEMORY_AT_LEAST_MB + math.ceil(history / 1e6))


def batch_minutes(elements: int, frames: int, cases: int, blocks: int = 1, attempt: int = 1) -> int:
    """Run time of a job that simulates contact of some cases, or their wear.

    Parameters
    ----------
    elements, frames, cases, attempt : int
        As in `batch_memory`.
    blocks : int
        How often a cycle is simulated.

    Returns
    -------
    int
        Minutes.
    """
    work = elements * frames * cases * blocks
    return attempt * (MINUTES_AT_LEAST + math.ceil(work / ELEMENT_FRAMES_PER_MINUTE))


def study_memory(elements: int, cases: int, attempt: int = 1) -> int:
    """Memory of a job that holds the maps of all cases of a study, MB.

    Parameters
    ----------
    elements, cases, attempt : int
        As in `batch_memory`, but for all cases.
    """
    maps = elements * cases * BYTES_PER_ELEMENT_AND_CASE
    return attempt * (MEMORY_AT_LEAST_MB + math.ceil(maps / 1e6))
