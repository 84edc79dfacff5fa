"""Element and frame histories of contact for a batch of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.settings.cases import Case


@dataclass(frozen=True)
class Failure:
    """A case that could not be simulated.

    `reason` states what did not converge, and the remedy; `frame` counts from 0; `residual` is in
    the unit that the reason names, NaN if there is none.
    """

    case: Case
    reason: str
    frame: int
    residual: float


@dataclass(frozen=True)
class ContactHistory:
    """Contact over one cycle of one activity for a batch of cases.

    Axes are always in the order case, frame, side, row, column, component; arrays omit those that
    do not apply. Forces and torques are those on the insert, in its frame; the femoral component
    feels the opposite.

    Parameters
    ----------
    activity : str
        Name of the activity.
    cases : tuple of Case
        Cases along the first axis, without those that failed.
    sides : tuple of str
        ("medial", "lateral").
    percent : array, shape (n_frames,)
        Percent of the cycle.
    time : array, shape (n_frames,)
        Time, s.
    pressure : float32 array, shape (case, frame, side, row, column)
        Contact pressure, MPa, zero where the surfaces are apart.
    slip : float32 array, shape (case, frame, side, row, column, 2)
        Tangential displacement of the femoral surface over the element during one frame interval,
        mm, along the element's row and column tangents; zero where the surfaces are apart.
    translation, rotation : array, shape (case, frame, 3)
        Pose: mm, and body-three 1-2-3 angles in rad.
    load : array, shape (case, frame)
        Applied load along -y, N.
    load_line : array, shape (case, frame)
        Medial-lateral position (insert z) of the load, mm.
    force, torque : array, shape (case, frame, side, 3)
        Resultant on the insert, N, and its torque about the insert's origin, N mm.
    reaction_force, reaction_moment : array, shape (case, frame, 3)
        Force and moment on the femoral component that keep its prescribed motion (with that of a
        medial-lateral spring, if any), N and N mm about its origin. The load acts at the origin's
        x, so the moment about z depends on the position of the femoral origin.
    inertia_force, inertia_moment : array, shape (case, frame, 3)
        Force and moment that accelerate the femoral component, N and N mm about its origin; zero in
        quasi-static analysis.
    spring_force : array, shape (case, frame)
        Medial-lateral spring force on the femoral component, N; zero without a spring.
    max_pressure, avg_pressure, contact_area, max_penetration : array, shape (case, frame, side)
        Largest and mean non-zero element pressure, MPa; loaded area, mm2; penetration, mm.
    active_elements : int array, shape (case, frame, side)
        Number of loaded elements.
    centre_of_pressure : array, shape (case, frame, side, 3)
        Pressure-weighted mean of element centres, mm; NaN where a side is unloaded.
    residual : array, shape (case, frame)
        Largest unbalanced force along a free coordinate relative to the load, moments divided by a
        lever of 23 mm. In forward analysis it is the difference between the two grids.
    analysis : {"quasi_static", "forward"}
        Whether the motion consists of equilibria or follows from forward dynamics on a coarser
        grid.
    failures : tuple of Failure
        Cases that failed.
    """

    activity: str
    cases: tuple[Case, ...]
    sides: tuple[str, ...]
    percent: NDArray[np.float64]
    time: NDArray[np.float64]
    pressure: NDArray[np.float32]
    slip: NDArray[np.float32]
    translation: NDArray[np.float64]
    rotation: NDArray[np.float64]
    load: NDArray[np.float64]
    load_line: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]
    reaction_force: NDArray[np.float64]
    reaction_moment: NDArray[np.float64]
    inertia_force: NDArray[np.float64]
    inertia_moment: NDArray[np.float64]
    spring_force: NDArray[np.float64]
    max_pressure: NDArray[np.float64]
    avg_pressure: NDArray[np.float64]
    contact_area: NDArray[np.float64]
    max_penetration: NDArray[np.float64]
    active_elements: NDArray[np.int64]
    centre_of_pressure: NDArray[np.float64]
    residual: NDArray[np.float64]
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
        shared = ("activity", "cases", "analysis", "failures", "sides", "percent", "time")
        return replace(
            self,
            cases=tuple(self.cases[number] for number in chosen),
            **{
                field.name: getattr(self, field.name)[chosen]
                for field in fields(self)
                if field.name not in shared
            },
        )


def keep_common(histories: Sequence[ContactHistory]) -> dict[str, ContactHistory]:
    """Histories by activity, without the cases that failed in any of them."""
    finished = [{case.name for case in history.cases} for history in histories]
    common = list(set.intersection(*finished)) if finished else []
    return {history.activity: history.select(common) for history in histories}


def tabulate_failures(histories: Sequence[ContactHistory]) -> pd.DataFrame:
    """Cases that failed, with activity, case, frame, residual and reason; may have no row."""
    rows = [
        {
            "activity": history.activity,
            "case": failure.case.name,
            "thickness_mm": failure.case.thickness,
            "body_mass_kg": failure.case.body_mass,
            "frame": failure.frame,
            "residual": failure.residual,
            "reason": failure.reason,
        }
        for history in histories
        for failure in history.failures
    ]
    columns = ["activity", "case", "thickness_mm", "body_mass_kg", "frame", "residual", "reason"]
    return pd.DataFrame(rows, columns=columns)
