"""What holds for all tests, and how they are held short where kernels are not compiled."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import settings

from kneewear.contact import proximity
from kneewear.geometry import distance_table_errors, distance_tabulation
from tests.physics.bodies import IS_COMPILED

# A busy machine is no fault of the code: no example fails for its time. Kernels that are not
# compiled take a hundred times as long, and show their lines in a few examples.
settings.register_profile("kneewear", deadline=None)
settings.register_profile("interpreted", deadline=None, max_examples=10)
settings.load_profile("kneewear" if IS_COMPILED else "interpreted")

if not IS_COMPILED:
    # A map of the space round a surface bounds distances however coarse it is. A table that is
    # measured at few places may err by more than it says: tests of its error are left out.
    proximity.VOXELS = 300
    distance_tabulation.LINES, distance_tabulation.POINTS = 30, 200
    distance_table_errors.RASTER = 30

# Processor seconds of a test whose kernels are not compiled. Tests on large grids end there, as
# skipped; what they would cover, smaller ones must.
LONGEST = 30.0
OWN = tuple(str(Path(__file__).parents[1] / part) for part in ("kneewear", "tests"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the JIT off leave out tests of large grids, and such that start other processes."""
    if not IS_COMPILED:
        marks = "compiled", "slow", "workflow"
        others = [item for item in items if any(map(item.get_closest_marker, marks))]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """With the JIT off give a test its time, and ask again and again once it is over."""
    if not IS_COMPILED:
        signal.signal(signal.SIGPROF, _end_test)
        signal.setitimer(signal.ITIMER_PROF, LONGEST, 0.01)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """What was set up is always taken down in full."""
    if not IS_COMPILED:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _end_test(_: int, frame: FrameType | None) -> None:
    # Only in our own code: the coverage tool ended half-way keeps its lock or stops to count.
    code = frame.f_code if frame else None
    if code and code.co_filename.startswith(OWN) and code.co_name != "<module>":
        pytest.skip("too large for kernels that are not compiled")
