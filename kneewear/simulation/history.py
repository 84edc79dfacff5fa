"""Element and frame histories of contact for a batch of cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.settings.cases import Case

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Failure:
    """A case that has no result.

    `reason` states what did not converge or was worn through, and the remedy; `frame` counts from
    0, None where it is no frame's; `residual` is in the unit that the reason names, NaN if there is
    none.
    """

    case: Case
    reason: str
    frame: int | None
    residual: float


@dataclass(frozen=True, kw_only=True)
class ContactResults:
    """Contact at some poses; the first axes of all arrays are those of the poses.

    Axes are always in the order case, frame, side, row, column, component; arrays omit those that
    do not apply. Forces and torques are those on the insert, in its frame; the femoral component
    feels the opposite. Lengths are in mm, angles in rad, pressures in MPa, forces in N and moments
    in N mm.
    """

    sides: tuple[str, ...]  # "medial", "lateral" and, in static studies with a post, "post"
    translation: Array
    rotation: Array  # body-three 1-2-3 angles
    force: Array  # resultant of each side
    torque: Array  # its torque about the insert's origin
    max_pressure: Array  # of each side, as the following
    avg_pressure: Array  # over the contact area
    contact_area: Array  # mm2
    max_penetration: Array
    active_elements: NDArray[np.int64]  # number of loaded elements
    centre_of_pressure: Array  # NaN where a side is unloaded


@dataclass(frozen=True, kw_only=True)
class CycleResults(ContactResults):
    """Contact, loads and reactions over one cycle for a batch of cases.

    `percent` and `time` are those of the frames, in % and s. Reactions are about the femoral
    origin; the load acts at that origin's x, so the reaction about z depends on its position.
    """

    cases: tuple[Case, ...]  # along the case axis, without those that failed
    percent: Array
    time: Array
    load: Array  # along -y
    load_line: Array  # medial-lateral position of the load
    spring_force: Array  # medial-lateral, on the femoral component
    # What keeps the femoral component's prescribed motion, with that of a medial-lateral spring.
    reaction_force: Array
    reaction_moment: Array
    # Largest unbalanced force along a free coordinate relative to the load, moments divided by a
    # lever of 23 mm. In forward analysis it is the difference between the two grids.
    residual: Array


@dataclass(frozen=True, kw_only=True)
class ContactHistory(CycleResults):
    """Contact over one cycle of one activity for a batch of cases."""

    activity: str
    pressure: NDArray[np.float32]  # zero where the surfaces are apart
    # Tangential displacement of the femoral surface over the element during one frame interval,
    # along the element's row and column tangents; zero where the surfaces are apart.
    slip: NDArray[np.float32]
    # What accelerates the femoral component, about its origin; zero in quasi-static analysis.
    inertia_force: Array
    inertia_moment: Array
    # "quasi_static" or "forward": motion of equilibria, or of dynamics on a coarser grid.
    analysis: str = "quasi_static"
    failures: tuple[Failure, ...] = ()

    def only(self, name: str) -> ContactHistory:
        """The history of one case, with a case axis of length one; ValueError if it is unknown."""
        names = [case.name for case in self.cases]
        if name not in names:
            raise ValueError(f"no case {name!r} among {', '.join(names)}")
        return self.select([name])

    def select(self, names: Sequence[str]) -> ContactHistory:
        """The history of the named cases, in its own order; those that failed are ignored."""
        chosen = [number for number, case in enumerate(self.cases) if case.name in set(names)]
        if len(chosen) == len(self.cases):
            return self  # a copy of all elements would cost more than summing them
        arrays = {name: getattr(self, name)[chosen] for name in _case_arrays()}
        return replace(self, cases=tuple(self.cases[number] for number in chosen), **arrays)


def _case_arrays() -> list[str]:
    """Names of the arrays whose first axis is the case."""
    shared = ("activity", "cases", "analysis", "failures", "sides", "percent", "time")
    return [field.name for field in fields(ContactHistory) if field.name not in shared]


def join_histories(histories: Sequence[ContactHistory]) -> ContactHistory:
    """One history of the cases and failures of several of the same activity, knee and frames."""
    if len(histories) == 1:
        return histories[0]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(history, name) for history in histories])
        for name in _case_arrays()
    }
    joined["cases"] = tuple(case for history in histories for case in history.cases)
    joined["failures"] = tuple(one for history in histories for one in history.failures)
    return replace(histories[0], **joined)


def keep_common(histories: Sequence[ContactHistory]) -> dict[str, ContactHistory]:
    """Histories by activity, joined, without the cases that failed in any activity."""
    parts: dict[str, list[ContactHistory]] = {}
    for history in histories:
        parts.setdefault(history.activity, []).append(history)
    joined = {name: join_histories(own) for name, own in parts.items()}
    finished = [{case.name for case in history.cases} for history in joined.values()]
    common = list(set.intersection(*finished)) if finished else []
    return {name: history.select(common) for name, history in joined.items()}


def tabulate_failures(failures: Iterable[tuple[str, Failure]]) -> pd.DataFrame:
    """Cases that failed, each with the activity, or "wear", it failed in; may have no row."""
    rows = [
        {
            "activity": activity,
            "case": failure.case.name,
            "thickness_mm": failure.case.thickness,
            "body_mass_kg": failure.case.body_mass,
            "frame": failure.frame,
            "residual": failure.residual,
            "reason": failure.reason,
        }
        for activity, failure in failures
    ]
    columns = ["activity", "case", "thickness_mm", "body_mass_kg", "frame", "residual", "reason"]
    return pd.DataFrame(rows, columns=columns).astype({"frame": "Int64"})
