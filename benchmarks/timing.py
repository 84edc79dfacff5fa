"""Durations of calls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def durations(function: Callable[[], Any], repeats: int) -> list[float]:
    """Durations of calls, s; one call before is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return times


def seconds(function: Callable[[], Any], repeats: int = 15) -> float:
    """Median duration of a call, s."""
    return statistics.median(durations(function, repeats))
