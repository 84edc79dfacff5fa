"""Faults of a running study: what happens, and which test proves it.

`python -m tests.faults.fault_catalogue` prints the table of the documentation.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault, what happens after it, and the test (file and function) that shows it."""

    name: str
    what_happens: str
    test: str


_STUDY, _FILES = "tests/faults/test_faults.py", "tests/io/test_digests.py"
_AGAIN = "The same command, run again,"

FAULTS = (
    Fault(
        "kill -9 of a job",
        f"Snakemake reports the job. {_AGAIN} makes its results; what the killed writer left "
        "is removed.",
        f"{_STUDY}::test_killed_job_is_run_again",
    ),
    Fault(
        "kill -9 of Snakemake; its job goes on writing",
        "`snakemake --unlock`, then the same command with --rerun-incomplete; the orphan writes "
        "under a name of its own and renames a file of the same content.",
        f"{_STUDY}::test_killed_snakemake_and_its_orphan_do_no_harm",
    ),
    Fault(
        "job out of memory",
        "The job names the remedy: smaller batches, fewer jobs at once, or more memory. The "
        "profiles for clusters try it once more with twice the memory and time.",
        "tests/test_joblog.py::test_job_out_of_memory_ends_with_a_remedy",
    ),
    Fault(
        "job out of time on a cluster",
        "The scheduler kills it: see kill -9 of a job. It is tried again with twice the time.",
        "tests/test_job_sizes.py::test_lost_job_asks_for_more",
    ),
    Fault(
        "kill -9 in the middle of writing a file",
        "No reader sees half a file; the next writer removes the rest of the killed one, and "
        "keeps that of a living one.",
        f"{_FILES}::test_leftovers_of_killed_writers_are_removed_and_those_of_living_ones_kept",
    ),
    Fault(
        "result truncated, old time stamp",
        "The job that reads it compares its digest, names the file, sets it aside as *.damaged "
        f"and fails. {_AGAIN} creates it again.",
        f"{_STUDY}::test_damaged_result_is_reported_and_created_again",
    ),
    Fault(
        "one bit of a result flipped, new time stamp",
        "The same.",
        f"{_STUDY}::test_damaged_result_is_reported_and_created_again",
    ),
    Fault(
        "one bit of a table flipped, old time stamp",
        "The same.",
        f"{_STUDY}::test_damaged_result_is_reported_and_created_again",
    ),
    Fault(
        "result emptied, extended, truncated or flipped, old time stamp",
        "NetCDF, CSV and JSON are refused alike before any library parses them.",
        f"{_FILES}::test_every_damage_is_noticed_whatever_the_time_stamp",
    ),
    Fault(
        "digest damaged",
        "Its file is refused and created again.",
        f"{_FILES}::test_damaged_digest_refuses_the_file",
    ),
    Fault(
        "result copied without its digest",
        "Read, with a warning in the log; kind, dimensions and finite values are checked.",
        f"{_FILES}::test_file_copied_without_its_digest_is_read_with_a_warning",
    ),
    Fault(
        "result that announces more than the file can hold",
        "Refused before memory is taken for it.",
        f"{_FILES}::test_file_that_announces_more_than_it_can_hold_takes_no_memory",
    ),
    Fault(
        "result deleted between jobs",
        f"{_AGAIN} makes it and what depends on it.",
        f"{_STUDY}::test_deleted_files_are_created_again_and_a_second_run_is_locked_out",
    ),
    Fault(
        "two runs at once in one folder",
        "The second stops at Snakemake's lock; the first is not disturbed.",
        f"{_STUDY}::test_deleted_files_are_created_again_and_a_second_run_is_locked_out",
    ),
    Fault(
        "full disk",
        "The job names file, reason and remedy and leaves nothing. After making room "
        "the same command goes on.",
        f"{_STUDY}::test_full_disk_is_reported",
    ),
    Fault(
        "read-only folder",
        "Refused before the first job, with the folder's name.",
        f"{_STUDY}::test_read_only_folder_is_reported_before_the_first_job",
    ),
    Fault(
        "disk full while NetCDF, CSV, HTML or PNG is written",
        "One clear error each, nothing left; HDF5 writes to memory, or it would crash the process.",
        f"{_FILES}::test_full_disk_is_one_clear_error_and_leaves_nothing",
    ),
    Fault(
        "job that would write a value that is not finite",
        "It fails where the value arose; the file that was there stays.",
        f"{_FILES}::test_history_is_written_without_touching_what_is_there_on_failure",
    ),
)


def render_table() -> str:
    """Table of the documentation."""
    lines = ["| fault | what happens | proven by |", "|---|---|---|"]
    lines += [f"| {one.name} | {one.what_happens} | `{one.test}` |" for one in FAULTS]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(render_table())
