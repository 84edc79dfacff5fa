"""Resources of jobs grow with their data, and cover what was measured."""

from __future__ import annotations

import re
from pathlib import Path

from kneewear import default_study
from kneewear.study.job_sizes import JobSizes, batch_memory, batch_minutes, study_memory

RULES = Path(__file__).parent.parent / "workflow" / "rules"
DEFAULT = {"elements": 2 * 100 * 75, "frames": 100, "cases": 7}


def test_default_batch_gets_at_least_twice_what_it_was_measured_to_take():
    assert batch_memory(**DEFAULT) > 2 * 525
    # Jobs of large studies fit on any node.
    assert batch_memory(**DEFAULT | {"cases": 200}) < 4000
    assert batch_minutes(**DEFAULT) > 10
    # A hundred cases stay below what a node has.
    assert study_memory(DEFAULT["elements"], 100) < 8000


def test_jobs_of_every_rule_ask_for_more_at_every_attempt():
    sizes = JobSizes(default_study())
    assert sizes.more(1500)(None, 2) == 2 * sizes.more(1500)(None, 1) == 3000
    rules = "".join(path.read_text() for path in RULES.glob("*.smk"))
    assert not re.findall(r"(?:mem_mb|runtime)=\d+", rules)
