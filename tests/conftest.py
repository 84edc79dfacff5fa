"""Settings of all tests, and those of runs in which kernels are not compiled."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from kneewear.contact import search
from kneewear.geometry import distance_table, distance_tabulation
from tests.physics.bodies import IS_COMPILED

# No example fails because the machine is busy. Kernels that are not compiled take a hundred times
# as long; a few examples cover their lines.
settings.register_profile("kneewear", deadline=None)
settings.register_profile("interpreted", deadline=None, max_examples=10)
settings.load_profile("kneewear" if IS_COMPILED else "interpreted")

if not IS_COMPILED:
    # The bounds of a coarse distance map are valid as well. The error of a table that is measured
    # at few points may exceed its stated error: tests of that error are marked compiled.
    search.VOXELS = 300
    distance_tabulation.LINES, distance_tabulation.POINTS = 30, 200
    distance_table.RASTER = 30


def pytest_configure(config: pytest.Config) -> None:
    """Give each process of several one thread of linear algebra: more wait for each other."""
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the JIT off leave out tests that take too long, and those that start processes.

    Slow ones that start processes come first: they take minutes, for which at the end one process
    would wait for the other.
    """
    first = "slow", "workflow"
    items.sort(key=lambda item: not all(map(item.get_closest_marker, first)))
    if not IS_COMPILED:
        marks = "compiled", "slow", "workflow"
        others = [item for item in items if any(map(item.get_closest_marker, marks))]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]
