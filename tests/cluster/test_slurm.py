"""A hundred cases on a real SLURM give the results of one machine."""

from __future__ import annotations

import pytest

from tests.cluster.compare_slurm import TABLES, compare, why_not
from tests.cluster.one_node_slurm import one_node

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


def test_hundred_cases_on_slurm_equal_the_local_run_bit_for_bit(tmp_path):
    if reason := why_not():
        pytest.skip(reason)
    with one_node(tmp_path / "daemons"):
        found = compare("hundred", tmp_path, TABLES)
    assert found["jobs"] >= 10
    assert found["files"] > found["jobs"]
    assert found["differing"] == 0
