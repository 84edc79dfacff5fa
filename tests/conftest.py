"""What holds for all tests, and how they are held short where kernels are not compiled."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"

# A busy machine is no fault of the code: no example fails for its time. Kernels that are not
# compiled take a hundred times as long, and show their lines in a few examples.
settings.register_profile("kneewear", deadline=None)
settings.register_profile("interpreted", deadline=None, max_examples=10)
settings.load_profile("kneewear" if IS_COMPILED else "interpreted")

# Processor seconds of a test whose kernels are not compiled. Tests on large grids end there, as
# skipped; what they would cover, smaller ones must.
LONGEST = 1.0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the JIT off leave out tests that start processes of their own."""
    if not IS_COMPILED:
        others = [item for item in items if item.get_closest_marker("workflow")]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """With the JIT off end a test after its time."""
    if IS_COMPILED:
        return (yield)
    signal.signal(signal.SIGPROF, _end_test)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _end_test(*_: object) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    pytest.skip("too large for kernels that are not compiled")
