"""Memory and run time a job requests from a cluster.

Measured over batches of 7 cases of 100 frames on 2 x 100 x 75 elements: 0.22 GB for the
interpreter and its libraries, 30 bytes per element, frame and case, and 6 s on one core. At least
twice of each is requested, so that a slower machine does not lose a job.

`elements` counts both sides; `attempt` is 1 at first, and each further one requests as much again.
"""

from __future__ import annotations

import math

MIN_MEMORY_MB = 1000
BYTES_PER_ELEMENT_FRAME_AND_CASE = 80
# Of a map, which has no frames: wear, creep, damage, maximum pressure and more, also as drawn.
BYTES_PER_ELEMENT_AND_CASE = 2000
MIN_MINUTES = 10
ELEMENT_FRAMES_PER_MINUTE = 2.0e6


def batch_memory(elements: int, frames: int, cases: int, attempt: int = 1) -> int:
    """Memory of a job that holds the contact histories of some cases, MB."""
    history = elements * frames * cases * BYTES_PER_ELEMENT_FRAME_AND_CASE
    return attempt * (MIN_MEMORY_MB + math.ceil(history / 1e6))


def batch_minutes(elements: int, frames: int, cases: int, blocks: int = 1, attempt: int = 1) -> int:
    """Run time of a job that simulates `blocks` cycles of some cases, or their wear, minutes."""
    work = elements * frames * cases * blocks
    return attempt * (MIN_MINUTES + math.ceil(work / ELEMENT_FRAMES_PER_MINUTE))


def study_memory(elements: int, cases: int, attempt: int = 1) -> int:
    """Memory of a job that holds the maps of all cases of a study, MB."""
    maps = elements * cases * BYTES_PER_ELEMENT_AND_CASE
    return attempt * (MIN_MEMORY_MB + math.ceil(maps / 1e6))
