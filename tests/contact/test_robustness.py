"""No pose makes a result infinite or a pressure negative; the benchmark runs a million of them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.robustness import KINDS, build_models, check, random_poses, touching_height

pytestmark = pytest.mark.compiled

COUNT = 800


@pytest.fixture(scope="module")
def models():
    return build_models()


@pytest.mark.parametrize("name", ["table", "search", "ray"])
def test_random_poses_give_possible_results(models, name):
    velocity = np.array([30.0, -20.0, 5.0, 1.0, -2.0, 0.5]) if name == "ray" else None
    height = touching_height(models[name])
    seen, touching = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for kind, rotation, position in random_poses(COUNT, height, seed=11):
        seen[kind] += 1
        touching[kind] += check(models[name].evaluate(rotation, position, velocity))
    assert min(seen.values()) > 25
    assert sum(touching.values()) > COUNT / 3
    # Not only where contact is gentle.
    assert min(touching[kind] for kind in ("contact", "deep", "edge", "tilted")) > 25
