"""Memory and run time of the jobs of a study.

Both were measured over batches of 13 cases of 100 frames on 2 x 100 x 75 elements:
0.39 GB (0.22 GB for the interpreter and its libraries) and 11 s on one core. A job holds one case
at a time, 30 bytes per element and frame, and all cases as stored, 0.55 bytes. At least twice of
each is requested, so that a slower machine does not lose a job. `elements` counts both sides;
`attempt` is 1 at first, and each further one requests as much again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kneewear.study.files import count_cases
from kneewear.study.study import MAX_MAPS, Study

MIN_MEMORY_MB = 1000
BYTES_PER_ELEMENT_AND_FRAME = 80
STORED_BYTES_PER_ELEMENT_AND_FRAME = 3
# Of a map, which has no frames: wear, creep, damage, maximum pressure and more, also as drawn; 25
# cases of 15,000 elements were measured to take 140 bytes each.
BYTES_PER_ELEMENT_AND_CASE = 400
# Of a cycle on a layer that yields: it is solved once without yield and once or twice with it.
CYCLES_WITH_YIELD = 5
MIN_MINUTES = 10
ELEMENT_FRAMES_PER_MINUTE = 2.0e6
# As measured; ten times as fast as what is requested.
ELEMENT_FRAMES_PER_SECOND = 1.8e6


def batch_memory(elements: int, frames: int, cases: int, attempt: int = 1) -> int:
    """Memory of a job that holds the contact history of one of some cases at a time, MB."""
    history = BYTES_PER_ELEMENT_AND_FRAME + cases * STORED_BYTES_PER_ELEMENT_AND_FRAME
    maps = cases * BYTES_PER_ELEMENT_AND_CASE
    return attempt * (MIN_MEMORY_MB + math.ceil(elements * (frames * history + maps) / 1e6))


def batch_minutes(elements: int, frames: int, cases: int, blocks: int = 1, attempt: int = 1) -> int:
    """Run time of a job that simulates `blocks` cycles of some cases, or their wear, minutes."""
    work = elements * frames * cases * blocks
    return attempt * (MIN_MINUTES + math.ceil(work / ELEMENT_FRAMES_PER_MINUTE))


def study_memory(elements: int, cases: int, attempt: int = 1) -> int:
    """Memory of a job that holds the maps of all cases of a study, MB."""
    maps = elements * cases * BYTES_PER_ELEMENT_AND_CASE
    return attempt * (MIN_MEMORY_MB + math.ceil(maps / 1e6))


def describe_cost(study: Study, root: str | Path) -> str:
    """Sentence on the number of cases, and the time that they take; nothing without contact."""
    if not study.has_knee:
        return ""
    count = count_cases(study, root)
    elements = 2 * study.grid.rows * study.grid.columns * study.simulation.frames
    cycles = study.blocks * max(1, len(study.simulated_activities()))
    each = elements * cycles / ELEMENT_FRAMES_PER_SECOND
    seconds = count * each
    sizes = {"days": 86400.0, "hours": 3600.0, "min": 60.0, "s": 1.0}
    unit, size = next((one for one in sizes.items() if seconds >= 2.0 * one[1]), ("s", 1.0))
    whole = f"{seconds / size:.2g} {unit}"
    cases = f"{count:,} case{'s' if count != 1 else ''}"
    return f"{cases} of about {each:.2g} s each on one core: {whole}, without figures and samples."


class JobSizes:
    """Memory (MB) and run time (minutes) of the jobs of a study, more at every attempt.

    Methods are called by Snakemake with the wildcards and the number of the attempt.
    """

    def __init__(self, study: Study, root: str = ".") -> None:
        self.elements = 2 * study.grid.rows * study.grid.columns
        # A case without activities takes about as long as a cycle.
        self.activities = max(1, len(study.simulated_activities()))
        self.frames = study.simulation.frames
        self.cycles = study.simulation.forward.cycles
        if study.simulation.material_yield is not None:
            self.cycles *= CYCLES_WITH_YIELD
        self.blocks, count = study.blocks, count_cases(study, root)
        self.cases_per_job = study.job_size(study.cases.cases_at_once(count))
        self.batches: Mapping[str, Sequence[object]] = study.batches() if study.has_maps else {}
        self.cases = min(count, MAX_MAPS) if self.batches else count

    def simulation_mb(self, wildcards: Any, attempt: int) -> int:
        """Contact of one activity for a batch of cases."""
        return batch_memory(self.elements, self.frames, self._cases(wildcards), attempt)

    def simulation_minutes(self, wildcards: Any, attempt: int) -> int:
        """Contact of one activity for a batch of cases."""
        cases = self._cases(wildcards)
        return batch_minutes(self.elements, self.frames, cases, self.cycles, attempt)

    def wear_mb(self, wildcards: Any, attempt: int) -> int:
        """Wear of a batch of cases, which needs all its activities."""
        frames = self.frames * self.activities
        return batch_memory(self.elements, frames, self._cases(wildcards), attempt)

    def wear_minutes(self, wildcards: Any, attempt: int) -> int:
        """Wear of a batch of cases; every block after the first simulates contact again."""
        blocks = self.blocks * self.activities
        return batch_minutes(self.elements, self.frames, self._cases(wildcards), blocks, attempt)

    def sample_mb(self, wildcards: Any, attempt: int) -> int:
        """Contact and wear of one sample at a time."""
        return batch_memory(self.elements, self.frames * self.activities, 1, attempt)

    def sample_minutes(self, wildcards: Any, attempt: int) -> int:
        """Contact and wear of a batch of samples."""
        frames = self.frames * self.activities
        return batch_minutes(self.elements, frames, self.cases_per_job, attempt=attempt)

    def batch_mb(self, wildcards: Any, attempt: int) -> int:
        """Contact of all activities for the largest batch."""
        frames = self.frames * self.activities
        return batch_memory(self.elements, frames, self.cases_per_job, attempt)

    def maps_mb(self, wildcards: Any, attempt: int) -> int:
        """Maps of the cases that are drawn and exported."""
        return study_memory(self.elements, self.cases, attempt)

    def view_mb(self, wildcards: Any, attempt: int) -> int:
        """The same maps and contact of one batch."""
        return self.maps_mb(wildcards, attempt) + self.batch_mb(wildcards, attempt)

    def more(self, megabytes: int) -> Callable[[Any, int], int]:
        """Memory of a job whose size does not depend on the study."""
        return lambda wildcards, attempt: attempt * megabytes

    # Minutes grow from attempt to attempt as memory does.
    longer = more

    def _cases(self, wildcards: Any) -> int:
        return len(self.batches[wildcards.batch])
