"""Arrays of values that never change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

Record = TypeVar("Record", bound=tuple[Any, ...])


def make_read_only(value: Any, names: Iterable[str]) -> None:
    """Replace arrays of a frozen dataclass by views of them that cannot be written to."""
    for name in names:
        view = np.asarray(getattr(value, name)).view()
        view.setflags(write=False)
        object.__setattr__(value, name, view)


def read_only_record(record: Record) -> Record:
    """The same named tuple with views of its arrays that cannot be written to."""
    views = [np.asarray(one).view() for one in record]
    for view in views:
        view.setflags(write=False)
    return type(record)(*views)
