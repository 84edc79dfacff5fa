"""Per-frame record of the simulated cycles: what summaries and figures need of the histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory

FRAME_FIELDS = (
    "load",
    "load_line",
    "spring_force",
    "residual",
    "translation",
    "rotation",
    "force",
    "reaction_force",
    "reaction_moment",
    "max_pressure",
    "avg_pressure",
    "contact_area",
    "centre_of_pressure",
)


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
        What the drivers exert on the femoral component, N and N mm.
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
    """Return the first history after checking that all share cases, sides and frames.

    Raises
    ------
    ValueError
        If there is none, or if cases, sides or percent of the cycle differ.
    """
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
    """Keep the frame histories and the pressure map at the frame of largest load.

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
    stacked = {
        field: np.stack([getattr(history, field) for history in histories.values()])
        for field in FRAME_FIELDS
    }
    return CycleRecord(
        activities=tuple(histories),
        cases=first.cases,
        sides=first.sides,
        percent=first.percent,
        time=np.stack([history.time for history in histories.values()]),
        peak_load_pressure=np.stack([_peak_load_pressure(item) for item in histories.values()]),
        **stacked,
    )


def join_cycles(parts: Sequence[CycleRecord]) -> CycleRecord:
    """Put batches of cases one after another.

    Raises
    ------
    ValueError
        If there is no batch, or if activities, sides or frames differ.
    """
    if not parts:
        raise ValueError("no batch of cycle records to join")
    first = parts[0]
    for part in parts[1:]:
        same_names = (part.activities, part.sides) == (first.activities, first.sides)
        if not (same_names and np.array_equal(part.percent, first.percent)):
            raise ValueError("batches of cycle records differ in activities, sides or frames")
    joined: dict[str, Any] = {
        field: np.concatenate([getattr(part, field) for part in parts], axis=1)
        for field in (*FRAME_FIELDS, "peak_load_pressure")
    }
    return replace(first, cases=tuple(case for part in parts for case in part.cases), **joined)


def _peak_load_pressure(history: ContactHistory) -> NDArray[np.float32]:
    """Element pressures of every case at its frame of largest load."""
    peak_frames = np.argmax(history.load, axis=1)
    return history.pressure[np.arange(len(history.cases)), peak_frames]
