"""How lives are divided: whole, in order, and in steps that wear and creep share."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kneewear.wear.creep import creep_development, minutes_of_life
from kneewear.wear.stints import block_ends, divide_life

MIXTURE = {"gait": 0.85, "rest": 0.0, "stairs": 0.15}


def test_one_block_is_the_whole_life(settings):
    (stint,) = divide_life(MIXTURE, settings())
    assert (stint.start, stint.end) == (0.0, 1.0)
    assert stint.shares == {"gait": 0.85, "stairs": 0.15}


@pytest.mark.parametrize("mixing", ["linear", "sequence"])
@pytest.mark.parametrize("creep_time", ["constant", "logarithm"])
@pytest.mark.parametrize("blocks", [1, 2, 7, 100])
def test_stints_cover_the_life_without_gap(settings, mixing, creep_time, blocks):
    chosen = settings(mixing=mixing, creep_time=creep_time, blocks=blocks)
    stints = divide_life(MIXTURE, chosen)
    assert stints[0].start == 0.0
    assert stints[-1].end == 1.0
    for one, following in pairwise(stints):
        assert one.start < one.end == following.start
    total = {"gait": 0.0, "stairs": 0.0}
    for stint in stints:
        for name, share in stint.shares.items():
            total[name] += share * (stint.end - stint.start)
    assert total == pytest.approx({"gait": 0.85, "stairs": 0.15}, rel=1e-12)


def test_in_sequence_activities_follow_each_other_in_every_block(settings):
    stints = divide_life(MIXTURE, settings(mixing="sequence", blocks=3))
    assert [list(stint.shares) for stint in stints] == [["gait"], ["stairs"]] * 3


def test_blocks_are_equal_when_creep_takes_no_time(settings):
    np.testing.assert_allclose(block_ends(settings(blocks=4)), [0.25, 0.5, 0.75, 1.0])


def test_blocks_share_wear_and_creep_when_creep_takes_time(settings):
    chosen = settings(blocks=10, creep_time="logarithm")
    ends = np.array(block_ends(chosen))
    life = minutes_of_life(chosen.months)
    creep = np.array([creep_development(end * life, life) for end in ends])
    # Every block after the first brings the same of both together.
    np.testing.assert_allclose(np.diff(0.5 * (ends + creep)), np.diff(0.5 * (ends + creep))[0])
    # Half of the blocks lie in the first sixth of the life, when most creep comes.
    assert ends[4] < 1.0 / 6.0
