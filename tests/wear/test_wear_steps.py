"""Division of lives: complete, in order, and in steps of equal wear and creep."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kneewear.wear.accumulation import block_ends, divide_life
from kneewear.wear.creep import creep_development, minutes_of_life

MIXTURE = {"gait": 0.85, "rest": 0.0, "stairs": 0.15}


@pytest.mark.parametrize("mixing", ["linear", "sequence"])
@pytest.mark.parametrize("creep_time", ["constant", "logarithm"])
@pytest.mark.parametrize("blocks", [1, 2, 7, 100])
def test_steps_cover_the_life_without_gap(settings, mixing, creep_time, blocks):
    chosen = settings(mixing=mixing, creep_time=creep_time, blocks=blocks)
    steps = divide_life(MIXTURE, chosen)
    assert steps[0].start == 0.0
    assert steps[-1].end == 1.0
    for one, following in pairwise(steps):
        assert one.start < one.end == following.start
    total = {"gait": 0.0, "stairs": 0.0}
    for step in steps:
        for name, share in step.shares.items():
            total[name] += share * (step.end - step.start)
    assert total == pytest.approx({"gait": 0.85, "stairs": 0.15}, rel=1e-12)


def test_in_sequence_activities_follow_each_other_in_every_block(settings):
    steps = divide_life(MIXTURE, settings(mixing="sequence", blocks=3))
    assert [list(step.shares) for step in steps] == [["gait"], ["stairs"]] * 3


def test_blocks_are_equal_when_creep_is_immediate(settings):
    np.testing.assert_allclose(
        block_ends(settings(blocks=4, creep_time="constant")), [0.25, 0.5, 0.75, 1.0]
    )


def test_blocks_share_wear_and_creep_when_creep_is_time_dependent(settings):
    chosen = settings(blocks=10, creep_time="logarithm")
    ends = np.array(block_ends(chosen))
    life = minutes_of_life(chosen.months)
    creep = np.array([creep_development(end * life, life) for end in ends])
    # Every block after the first has the same sum of both.
    np.testing.assert_allclose(np.diff(0.5 * (ends + creep)), np.diff(0.5 * (ends + creep))[0])
    # Half of the blocks are in the first sixth of the life, when most creep occurs.
    assert ends[4] < 1.0 / 6.0
