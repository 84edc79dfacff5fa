"""Knee, cycles and wear of the cases of a study, as its samples and trials need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.sources import build_activity
from kneewear.geometry.knee import KneeModel, build_knee
from kneewear.settings.activity import ParametricActivity
from kneewear.settings.base import Study, WearStudy
from kneewear.settings.cases import Case
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import ContactHistory, keep_common
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import DamageMaps, record_cycles
from kneewear.wear.summary import summarize_cases


def exact_knee(study: Study) -> KneeModel:
    """Knee of a built-in implant without distance tables, which cost more than a cycle."""
    knee, _ = build_knee(study.implant, study.grid, study.table, tabulate_distances=False)
    return knee


def with_exact_distances(study: WearStudy) -> WearStudy:
    """The study with distances from the surfaces instead of from tables."""
    simulation = study.simulation.model_copy(update={"distance": "exact"})
    return study.model_copy(update={"simulation": simulation})


def built_in_activities(study: Study) -> dict[str, Activity]:
    """Built-in activities of a study's lives, by name."""
    return {
        name: build_activity(name, block, study.simulation.frames)
        for name, block in study.simulated_activities().items()
        if isinstance(block, ParametricActivity)
    }


def simulate_cycles(
    study: WearStudy, knee: KneeModel, activities: Mapping[str, Activity], cases: Sequence[Case]
) -> dict[str, ContactHistory]:
    """Contact over one cycle of each activity for some cases of a study."""
    histories = [
        simulate_cases(knee, activity, cases, study.simulation) for activity in activities.values()
    ]
    return keep_common(histories)


def summarize_life(
    study: WearStudy, knee: KneeModel, histories: Mapping[str, ContactHistory]
) -> tuple[DamageMaps, pd.DataFrame]:
    """Damage maps and the tidy table of results of all cases."""
    maps = accumulate_wear(histories, knee.grid, study.wear)
    return maps, summarize_cases(maps, record_cycles(histories), knee.grid, study.wear)
