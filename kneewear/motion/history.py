"""Contact over cycles for a batch of cases: labels of the cases, failures, and choices of cases.

Histories are datasets of the schema CONTACT with the leading dimensions case and frame. Forces and
torques are those on the insert, in its frame; the femoral component feels the opposite. Pressure
and slip are zero where the surfaces are apart; slip is along the element's row and column tangents.
Reactions keep the prescribed motion, with that of a medial-lateral spring, about the femoral
origin; the load acts at that origin's x. Inertia is what accelerates the femoral component, zero in
quasi-static analysis; the residual of forward analysis is the difference between the two grids. The
attributes are `activity`, `analysis` ("quasi_static" or "forward") and the failures.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from kneewear.base.cases import Case
from kneewear.base.schemas import FAILURES, concatenate_cases

# A larger part of the load that holds a position is a warning. Friction bears this at least: 0.04
# to 0.16 of UHMWPE on CoCr at 3 to 9 MPa (BioMed Research International 2015:185142, table 5).
FRICTION_BEARS = 0.04


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


def case_coordinates(cases: Sequence[Case]) -> dict[str, list[Any]]:
    """Labels of a dataset's cases."""
    return {
        "case": [case.name for case in cases],
        "thickness": [case.thickness for case in cases],
        "body_mass": [case.body_mass for case in cases],
        "overrides": [json.dumps(case.overrides) for case in cases],
    }


def cases_of(dataset: xr.Dataset) -> tuple[Case, ...]:
    """Cases of a dataset, without those that failed."""
    labels = [dataset[name].values.tolist() for name in case_coordinates(())]
    return tuple(
        Case(name, thickness, body_mass, json.loads(overrides))
        for name, thickness, body_mass, overrides in zip(*labels, strict=True)
    )


def case_of(dataset: xr.Dataset) -> Case:
    """Case of a dataset that has one, with or without a dimension of cases."""
    name, thickness, body_mass, overrides = (dataset[one].item() for one in case_coordinates(()))
    return Case(name, thickness, body_mass, json.loads(overrides))


def failures_of(dataset: xr.Dataset) -> tuple[Failure, ...]:
    """Cases of a dataset that have no result."""
    return tuple(
        Failure(Case(**load.pop("case")), **load)
        for load in json.loads(dataset.attrs.get(FAILURES, "[]"))
    )


def failure_attribute(failures: Iterable[Failure]) -> dict[str, str]:
    """Attribute of a dataset with its cases that have no result."""
    return {FAILURES: json.dumps([asdict(failure) for failure in failures])}


def sides_of(dataset: xr.Dataset) -> tuple[str, ...]:
    """Sides along the axis of sides."""
    return tuple(dataset["side"].values.tolist())


def select_cases(dataset: xr.Dataset, names: Collection[str]) -> xr.Dataset:
    """The dataset of the named cases, in its own order; those that failed are ignored."""
    chosen = np.flatnonzero(np.isin(dataset["case"].values, list(names)))
    if len(chosen) == dataset.sizes["case"]:
        return dataset  # a copy of all elements would cost more than summing them
    return dataset.isel(case=chosen)


def only_case(dataset: xr.Dataset, name: str) -> xr.Dataset:
    """The dataset of one case, with a case axis of length one; ValueError if it is unknown."""
    names = dataset["case"].values.tolist()
    if name not in names:
        raise ValueError(f"no case {name!r} among {', '.join(names)}")
    return select_cases(dataset, [name])


def first_cases(histories: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Cycles of the first case of every activity."""
    return {
        name: only_case(history, history["case"].values[0]) for name, history in histories.items()
    }


def keep_common(histories: Sequence[xr.Dataset]) -> dict[str, xr.Dataset]:
    """Histories by activity, joined, without the cases that failed in any activity."""
    parts: dict[str, list[xr.Dataset]] = {}
    for history in histories:
        parts.setdefault(history.attrs["activity"], []).append(history)
    joined = {name: concatenate_cases(batches) for name, batches in parts.items()}
    finished = [set(history["case"].values.tolist()) for history in joined.values()]
    common = set.intersection(*finished) if finished else set()
    return {name: select_cases(history, common) for name, history in joined.items()}


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
