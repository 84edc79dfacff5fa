"""Searches over closed forms, and small optimisation studies."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.optimisation.search import Generation, Problem, propose_designs
from tests.workflow.conftest import CHECKOUT

DEFAULT = read_settings(CHECKOUT / "config/config.yaml")
OPTIMISATION = read_settings(CHECKOUT / "config/optimisation.yaml")
# Few elements and frames: laws hold on any.
COARSE = {
    "grid": {"rows": 24, "columns": 18},
    "simulation": {"analysis": "quasi_static", "frames": 8},
    "optimisation": {
        "population": 4, "generations": 2, "search_grid": {"rows": 16, "columns": 12}
    },
}  # fmt: skip


@pytest.fixture(scope="session")
def settings():
    """Settings of the shipped optimisation on few elements, with changes."""

    def make(changes=None):
        base = merge_settings(DEFAULT, merge_settings(OPTIMISATION, COARSE))
        return merge_settings(base, changes or {})

    return make


@pytest.fixture(scope="session")
def study(settings):
    """Checked study of `settings`."""
    return lambda changes=None: load_study(settings(changes))


@pytest.fixture(scope="session")
def search():
    """All generations of a search over a closed form."""

    def run(problem: Problem, function, generations: int) -> list[Generation]:
        done: list[Generation] = []
        for _ in range(generations):
            designs = propose_designs(problem, done)
            objectives, violations = function(designs)
            done.append(Generation(designs, objectives, violations))
        return done

    return run


@pytest.fixture
def box():
    """Problem over a cube from 0 to 2."""

    def make(variables=1, objectives=1, constraints=0, population=20, seed=1):
        low, high = np.zeros(variables), np.full(variables, 2.0)
        return Problem(low, high, objectives, constraints, population, seed)

    return make
