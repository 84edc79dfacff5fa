"""Frame histories of the simulated cycles, for summaries and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory


@dataclass(frozen=True)
class CycleRecord:
    """Frame histories of a batch of cases in every simulated activity, without the element ones.

    Axes are in the order activity, case, frame, side, row, column, component. Meaning, units and
    signs of the arrays are those of :class:`kneewear.simulation.history.ContactHistory`.

    Parameters
    ----------
    activities : tuple of str
        Activities along the first axis.
    cases : tuple of Case
        Cases along the second axis.
    sides : tuple of str
        ("medial", "lateral").
    percent : array, shape (frame,)
        Percent of the cycle.
    time : array, shape (activity, frame)
        Time, s.
    load, load_line, spring_force, residual : array, shape (activity, case, frame)
        Load, N; its insert z, mm; medial-lateral spring force, N; largest relative residual.
    translation, rotation : array, shape (activity, case, frame, 3)
        Pose, mm and rad.
    force : array, shape (activity, case, frame, side, 3)
        Resultant on the insert, N.
    reaction_force, reaction_moment : array, shape (activity, case, frame, 3)
        Force and moment that keep the prescribed motion, N and N mm.
    max_pressure, avg_pressure, contact_area : array, shape (activity, case, frame, side)
        MPa, MPa and mm2.
    centre_of_pressure : array, shape (activity, case, frame, side, 3)
        Insert frame, mm; NaN where a side is unloaded.
    peak_load_pressure : float32 array, shape (activity, case, side, row, column)
        Element pressures at the frame of largest load, MPa.
    """

    activities: tuple[str, ...]
    cases: tuple[Case, ...]
    sides: tuple[str, ...]
    percent: NDArray[np.float64]
    time: NDArray[np.float64]
    load: NDArray[np.float64]
    load_line: NDArray[np.float64]
    spring_force: NDArray[np.float64]
    residual: NDArray[np.float64]
    translation: NDArray[np.float64]
    rotation: NDArray[np.float64]
    force: NDArray[np.float64]
    reaction_force: NDArray[np.float64]
    reaction_moment: NDArray[np.float64]
    max_pressure: NDArray[np.float64]
    avg_pressure: NDArray[np.float64]
    contact_area: NDArray[np.float64]
    centre_of_pressure: NDArray[np.float64]
    peak_load_pressure: NDArray[np.float32]


def check_same_cases(histories: Mapping[str, ContactHistory]) -> ContactHistory:
    """First history, after a check that there is one and all share cases, sides and frames."""
    if not histories:
        raise ValueError("no contact history given")
    first = next(iter(histories.values()))
    for name, history in histories.items():
        if history.cases != first.cases or history.sides != first.sides:
            raise ValueError(f"activity {name!r} was simulated for other cases or sides")
        if not np.array_equal(history.percent, first.percent):
            raise ValueError(f"activity {name!r} has other frames than {first.activity!r}")
    return first


def record_cycles(histories: Mapping[str, ContactHistory]) -> CycleRecord:
    """Frame histories, and the pressure map at the frame of largest load.

    Parameters
    ----------
    histories : mapping of activity name to ContactHistory
        The same cases in every activity.

    Returns
    -------
    CycleRecord
        Stacked along the activities, in the order of the mapping.

    Raises
    ------
    ValueError
        If the histories do not share cases, sides and frames.
    """
    first = check_same_cases(histories)
    items = list(histories.values())
    own = ("activities", "cases", "sides", "percent", "peak_load_pressure")
    frame_histories = [field.name for field in fields(CycleRecord) if field.name not in own]
    peak = [
        item.pressure[np.arange(len(item.cases)), np.argmax(item.load, axis=1)] for item in items
    ]
    return CycleRecord(
        activities=tuple(histories),
        cases=first.cases,
        sides=first.sides,
        percent=first.percent,
        peak_load_pressure=np.stack(peak),
        **{name: np.stack([getattr(item, name) for item in items]) for name in frame_histories},
    )
