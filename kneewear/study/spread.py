"""Variants of the centre case of a wear study by other choices of its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.base.schemas import CONTACT
from kneewear.motion.settings import SimulationSettings
from kneewear.study import netcdf
from kneewear.study.job_files import JobFiles
from kneewear.study.jobs import JobResult
from kneewear.wear.draws import law_draws, measured_works
from kneewear.wear.interval import WearingSurface
from kneewear.wear.posterior import intervals_of_laws
from kneewear.wear.settings import WearSettings
from kneewear.wear.spread import vary_models
from kneewear.wear.worn_contact import WornContact
from kneewear.wear.worn_in import worn_in_depths


def evaluate_spread(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Compute the centre case with other choices of the model, on its stored contact."""
    knee, wear = given.the_knee, WearSettings(**settings["wear"])
    only = {"case": [settings["case"]]}
    histories = netcdf.load_all(CONTACT, given.paths("histories"), only=only)
    worn = WornContact(
        knee,
        activities=given.rebuilt_activities(settings["activities"]),
        settings=SimulationSettings(**settings["simulation"]),
        medial_lateral=wear.surface_update.medial_lateral,
    )
    cycles = {history.activity: history for history in histories}
    table = vary_models(
        cycles,
        knee.grid,
        wear,
        worn,
        # On a surface that follows its wear the other model may need another smoothing.
        contacts=worn.with_other_contact() if wear == wear.without_updates() else {},
        **settings["spread"],
    )
    surfaces = [WearingSurface(cycles, knee.grid)]
    follows = max(wear.blocks, settings["spread"]["blocks"]) > 1
    worn_in = worn_in_depths(cycles, knee.grid, wear, worn) if follows else {}
    draws = [law_draws(cycles, knee.grid, wear), measured_works(surfaces, wear)]
    return JobResult(
        {
            "model_spread": table,
            "wear_intervals": intervals_of_laws(surfaces, wear, worn_in),
            "wear_draws": pd.concat([part for part in draws if len(part)], ignore_index=True),
        }
    )
