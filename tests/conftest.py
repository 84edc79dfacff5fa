"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
NEED_COMPILED_KERNELS = ("full_size", "workflow", "slow")

# A busy machine is no fault of the code: no example fails for its time. Kernels that are not
# compiled take a hundred times as long, and show their lines in a few examples.
settings.register_profile("kneewear", deadline=None)
settings.register_profile("interpreted", deadline=None, max_examples=10)
settings.load_profile("kneewear" if IS_COMPILED else "interpreted")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the JIT off only tests on small grids are run; `make coverage` does so."""
    if IS_COMPILED:
        return
    large = [item for item in items if any(map(item.get_closest_marker, NEED_COMPILED_KERNELS))]
    config.hook.pytest_deselected(items=large)
    items[:] = [item for item in items if item not in set(large)]
