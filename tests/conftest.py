"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: no example fails for its time.
settings.register_profile("kneewear", deadline=None)
settings.load_profile("kneewear")

NEED_COMPILED_KERNELS = ("full_size", "workflow", "slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the JIT off only tests on small grids are run; `make coverage` does so."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0":
        return
    large = [item for item in items if any(map(item.get_closest_marker, NEED_COMPILED_KERNELS))]
    config.hook.pytest_deselected(items=large)
    items[:] = [item for item in items if item not in set(large)]
