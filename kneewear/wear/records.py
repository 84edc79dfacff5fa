"""Cycles of several activities as one dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from kneewear.base.cases import COMMITTED
from kneewear.base.schemas import CONTACT
from kneewear.motion.history import sides_of

# Neither histories of elements are kept, nor what only the next activity reads.
_LEFT_OUT = ("pressure", "slip", *COMMITTED)


def check_same_cases(histories: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """First history, after a check that there is one and all share cases, sides and frames."""
    if not histories:
        raise ValueError("no contact history given")
    first = next(iter(histories.values()))
    for name, history in histories.items():
        same = all(
            np.array_equal(history[label], first[label])
            for label in ("case", "thickness", "body_mass", "overrides")
        )
        if not same or sides_of(history) != sides_of(first):
            raise ValueError(f"activity {name!r} was simulated for other cases or sides")
        if not np.array_equal(history["percent"], first["percent"]):
            activity = first.attrs["activity"]
            raise ValueError(f"activity {name!r} has other frames than {activity!r}")
    return first


def record_cycles(histories: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Frame histories of several activities, with the leading dimensions activity, case and frame.

    `histories` are those of each activity; ValueError unless all share cases, sides and frames.
    """
    first = check_same_cases(histories)
    labels = ("case", "thickness", "body_mass", "overrides", "percent", "side")
    stacked: dict[str, Any] = {
        str(name): np.stack([history[name].values for history in histories.values()])
        for name in first.data_vars
        if name not in _LEFT_OUT
    }
    return CONTACT.dataset(
        {**{name: first[name].values for name in labels}, "activity": list(histories), **stacked},
        leading=("activity", "case", "frame"),
    )
