"""Search by generations: dominance, known optima, constraints, and interruptions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("pymoo", reason="the extra 'optimisation' is not installed")

from kneewear.analysis.front import hypervolume, non_dominated
from kneewear.study.evolution import Generation, SearchProblem, propose_designs, survivors

OBJECTIVES = arrays(
    float,
    st.tuples(st.integers(1, 25), st.integers(1, 3)),
    elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan]),
)


def search(problem, function, count):
    """All generations of a search over a closed form."""
    done = []
    for _ in range(count):
        designs = propose_designs(problem, done)
        done.append(Generation(designs, *function(designs)))
    return done


def box(variables=1, objectives=1, constraints=0, population=20, seed=1):
    """Problem over a cube from 0 to 2."""
    low, high = np.zeros(variables), np.full(variables, 2.0)
    return SearchProblem(low, high, objectives, constraints, population, seed)


def none(designs):
    """No constraint."""
    return np.empty((len(designs), 0))


def dominates(one, other):
    """Dominance by its definition."""
    return bool(np.all(one <= other) and np.any(one < other))


@examples(max_examples=30)
@given(OBJECTIVES)
def test_front_is_what_nothing_dominates(objectives):
    front = non_dominated(objectives)
    known = np.isfinite(objectives).all(axis=1)
    assert front.any() == known.any()
    assert not front[~known].any()
    for number in np.flatnonzero(known):
        beaten = any(dominates(other, objectives[number]) for other in objectives[known])
        assert front[number] != beaten


def sum_of_parts(designs):
    """a / x + b x with a = 0.75 and b = 1: minimum at sqrt(a / b)."""
    x = np.maximum(designs[:, :1], 1e-6)
    return 0.75 / x + x, none(designs)


def parabolas(designs):
    """Squares of distances from (0.5, 1) and (1.5, 1): the front is the segment between them."""
    away = [np.sum((designs - np.array([x, 1.0])) ** 2, axis=1) for x in (0.5, 1.5)]
    return np.stack(away, axis=1), none(designs)


def test_front_of_two_parabolas_is_the_segment_between_their_minima():
    problem = box(2, 2, population=24)
    done = search(problem, parabolas, 25)
    best = np.concatenate([one.objectives for one in done])[survivors(problem, done)]
    # On the segment sqrt(f1) + sqrt(f2) = 1.
    assert np.sqrt(best).sum(axis=1) == pytest.approx(1.0, abs=0.03)
    assert best.min(axis=0) == pytest.approx(0.0, abs=0.01)


def test_constraint_moves_the_optimum_to_its_limit():
    def limited(designs):
        objectives, _ = sum_of_parts(designs)
        return objectives, 1.2 - designs[:, :1]

    problem = box(constraints=1, population=12)
    done = search(problem, limited, 15)
    every = np.concatenate([one.designs for one in done])
    best = every[survivors(problem, done)]
    assert (best >= 1.2).all()
    assert best[:, 0] == pytest.approx(1.2, rel=0.01)


def test_designs_without_results_never_count_and_the_search_continues():
    def broken(designs):
        objectives, violations = sum_of_parts(designs)
        objectives[designs[:, 0] < 0.8] = np.nan
        return objectives, violations

    problem = box(population=12)
    done = search(problem, broken, 12)
    every = np.concatenate([one.designs for one in done])
    assert np.isnan(np.concatenate([one.objectives for one in done])).any()
    assert (every[survivors(problem, done)] >= 0.8).all()
    assert every[survivors(problem, done)][:, 0] == pytest.approx(np.sqrt(0.75), rel=0.01)


def test_designs_stay_within_bounds_and_follow_from_seed_and_evaluations():
    problem = box(3, 2, population=10)

    def scales(designs):
        return np.stack([designs.sum(axis=1), (2.0 - designs).max(axis=1)], axis=1), none(designs)

    done = search(problem, scales, 6)
    for number, one in enumerate(done):
        assert ((one.designs >= 0.0) & (one.designs <= 2.0)).all()
        assert len(np.unique(one.designs, axis=0)) == 10
        # Asked again from the evaluations alone, as after an interruption.
        assert np.array_equal(propose_designs(problem, done[:number]), one.designs)
    other = search(box(3, 2, population=10, seed=2), scales, 2)
    assert not np.array_equal(other[0].designs, done[0].designs)


def test_hypervolume_is_the_area_of_a_staircase():
    steps = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0], [5.0, 5.0]])
    # To (3, 3): 3 x 1 + 2 x 1 + 1 x 1.
    assert hypervolume(steps, np.array([3.0, 3.0])) == pytest.approx(6.0)
    assert hypervolume(steps[-1:], np.array([3.0, 3.0])) == 0.0
