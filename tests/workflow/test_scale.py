"""Plans of ten thousand cases: time, memory and files."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.workflow.conftest import CHECKOUT, Checkout

DEFAULT = read_settings(CHECKOUT / "config/defaults.yaml")
MANY = 10_000
# A process starts with the largest memory of the one that forked it, pytest here: a small process
# in between runs the command and prints its processor time (s) and largest memory (kB).
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
# Of a job: its table, sums of maps and their digests; logs are gathered into one file.
FILES_OF_A_JOB = 4


@pytest.mark.parametrize("count", [1000, MANY])
def test_few_files_per_thousand_cases(count):
    changes = read_settings(CHECKOUT / "config/sweep.yaml")
    plan = {"cases": {"plan": "latin_hypercube", "samples": count}}
    study = validate_study(merge_settings(merge_settings(DEFAULT, changes), plan))
    batches = study.batch_ranges(count)
    assert FILES_OF_A_JOB * len(batches) <= 20 * count / 1000
    assert [first for first, _ in batches.values()][1:] == [last for _, last in batches.values()][
        :-1
    ]
    assert list(batches.values())[-1][1] == count


@pytest.mark.workflow
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sweep", "cohort"])
def test_ten_thousand_cases_are_planned_within_a_minute_and_two_gigabytes(tmp_path, kind):
    changes = {"study": "many", "cases": {"plan": "latin_hypercube", "samples": MANY}}
    name = "config/sweep.yaml"
    if kind == "cohort":
        labels = ["subject", "side", "age_years", "body_mass_index"]
        name = "config/cohort_example.yaml"
        changes = {"cases": {"plan": "table", "file": "many.csv", "labels": labels}}
    copy = Checkout(tmp_path / "copy", name)
    head, *rows = (CHECKOUT / "config/cohort/synthetic.csv").read_text().splitlines()[1:]
    many = [f"s{n},{rows[n % len(rows)].partition(',')[2]}" for n in range(MANY // 2)]
    (copy.folder / "many.csv").write_text("\n".join([head, *many]) + "\n")
    command, environment = copy.command("-n", "--quiet", overrides=changes)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *command],
        cwd=copy.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, kilobytes = map(float, done.stdout.split())
    # Processor time, which other programs on the machine do not lengthen much: 4 s.
    assert seconds < 60.0
    # 0.3 GB.
    assert kilobytes < 2e6
