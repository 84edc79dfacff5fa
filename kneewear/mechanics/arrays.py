"""Arrays of values that never change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def make_read_only(value: Any, names: Iterable[str]) -> None:
    """Replace arrays of a frozen dataclass by views of them that cannot be written to."""
    for name in names:
        view = np.asarray(getattr(value, name)).view()
        view.setflags(write=False)
        object.__setattr__(value, name, view)
