"""Mutated real files are refused with an InputDataError or read soundly; see also `fuzz.py`."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.readers import READERS, Outcome

EXAMPLES = {
    "mesh": 400,
    "points": 150,
    "curves": 150,
    "table": 150,
    "settings": 60,
    "result": 100,
    "damaged result": 100,
}


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_read(name, tmp_path):
    reader, outcome = READERS[name], Outcome()
    for file, content in reader.seeds().items():
        reader.execute(tmp_path / file, content, Random(1), outcome)
    assert outcome.refused == 0


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_refused_or_read_soundly(name, tmp_path):
    reader, outcome = READERS[name], Outcome()
    seeds = list(reader.seeds().items())

    @settings(
        max_examples=EXAMPLES[name],
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(seeds), st.integers(0, 2**32))
    def read(seed, number):
        file, content = seed
        random = Random(number)
        reader.execute(tmp_path / file, reader.mutate(content, random), random, outcome)

    with reader.watched(outcome):
        read()
    if name == "damaged result":
        # None but those whose bytes came out as they were.
        assert outcome.refused > 0.9 * outcome.executions
    else:
        assert outcome.past_head > outcome.executions / 10
