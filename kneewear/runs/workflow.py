"""What rule files need: the study of a run and the sizes of jobs.

Memory and run time were measured over batches of 13 cases of 100 frames on 2 x 100 x 75 elements:
0.39 GB (0.22 GB for the interpreter and its libraries) and 11 s on one core. A job holds one case
at a time, 30 bytes per element and frame, and all cases as stored, 0.55 bytes. At least twice of
each is requested, so that a slower machine does not lose a job. `elements` counts both sides;
`attempt` is 1 at first, and each further one requests as much again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from os.path import relpath
from pathlib import Path
from typing import Any

from kneewear.base.files import read_settings_file, unfiled_settings
from kneewear.base.findings import Reported, gather
from kneewear.io.result_files import check_writable, file_hash
from kneewear.runs.environment import OWN_SETTINGS
from kneewear.study.files import check_inputs, count_cases
from kneewear.study.settings import merge_settings, validate_study
from kneewear.study.study import MOST_MAPS, Study

MIN_MEMORY_MB = 1000
BYTES_PER_ELEMENT_AND_FRAME = 80
STORED_BYTES_PER_ELEMENT_AND_FRAME = 3
# Of a map, which has no frames: wear, creep, damage, maximum pressure and more, also as drawn; 25
# cases of 15,000 elements were measured to take 140 bytes each.
BYTES_PER_ELEMENT_AND_CASE = 400
MIN_MINUTES = 10
ELEMENT_FRAMES_PER_MINUTE = 2.0e6


def study_of_run(
    own: Mapping[str, Any],
    files: Sequence[str | Path],
    root: str,
    check_files: bool,
    typed: Mapping[str, Any] | None = None,
) -> tuple[Study, tuple[str, ...]]:
    """Study of a run of the workflow, and notes for the user.

    `files` and `typed`, the settings of the option `--config`, override the default study; without
    files it is the study of `OWN_SETTINGS`. `own` are the settings of another workflow, used
    instead. `check_files` also checks the data files and the folder of the results. Raises
    InputDataError and OutputFileError.
    """
    default = relpath(f"{root}/config/defaults.yaml")
    if not files and (typed or not own):
        files = [f"{root}/{OWN_SETTINGS}"]
    read = [read_settings_file(path) for path in (default, *map(relpath, files))]
    if typed:
        read.append(unfiled_settings(typed, "option --config of the command line"))
    # Not as Snakemake merges files: some blocks are replaced as a whole.
    further = [file.content for file in read[1:]] or [dict(own)]
    settings = reduce(merge_settings, further, read[0].content)
    study = validate_study(settings, " + ".join(file.path for file in read), read)
    notes: tuple[str, ...] = ()
    if check_files:
        findings = [finding for file in read for finding in file.findings]
        findings += check_inputs(study, root)
        notes = tuple(one.text() for one in gather(map(Reported, findings)))
        check_writable(f"results/{study.study}")
    return study, notes


def input_digests(files: Iterable[str]) -> list[str]:
    """SHA-256 of data files, in their order: a rule parameter, so that a changed one is noticed.

    Snakemake compares times, and a file that replaces another one may be older. It leaves
    parameters that are functions of its `input` out of the comparison.
    """
    return [file_hash(file) if Path(file).is_file() else "" for file in files]


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
        self.blocks, count = study.blocks, count_cases(study, root)
        self.cases_per_job = study.job_size(study.cases.cases_at_once(count))
        self.batches: Mapping[str, Sequence[object]] = study.batches() if study.has_maps else {}
        self.cases = min(count, MOST_MAPS) if self.batches else count

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
