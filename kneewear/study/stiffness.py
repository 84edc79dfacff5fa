"""Stiffness of the bearing of a case in laxity tests, beside the results of a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kneewear.geometry.implant_sources import build_implant
from kneewear.motion.laxity import drive_path, tabulate_path
from kneewear.motion.press import PressedBearing, Rig
from kneewear.study.inputs import CaseInputs
from kneewear.study.models import MODELS, Model
from kneewear.study.plan_settings import STIFFNESS, Search
from kneewear.study.study import Study, WearStudy
from kneewear.study.wear import WearResult


def case_model(study: Study) -> Model:
    """Model of the cases of a study, with the stiffnesses that a search asks for."""
    model, plan = MODELS[study.model], study.cases
    if not isinstance(plan, Search) or not plan.stiffnesses:
        return model

    def compute(case: WearStudy, inputs: CaseInputs) -> WearResult:
        return replace(model.compute(case, inputs), further=measure_stiffness(case, plan))

    def further(study: Study) -> tuple[str, ...]:
        return (*model.further(study), *plan.stiffnesses)

    return replace(model, compute=compute, further=further)


def measure_stiffness(study: WearStudy, plan: Search) -> dict[str, float]:
    """Mean stiffness over the flexions of the laxity tests of a search.

    Parameters
    ----------
    study : WearStudy
        Study of a single case.
    plan : Search
        Objectives, constraints and laxity tests.

    Returns
    -------
    dict of str to float
        N/mm or N m/deg, by the names of :data:`kneewear.study.plan_settings.STIFFNESS`.

    Raises
    ------
    ConvergenceError
        If a test has no neutral position.
    """
    options = plan.stiffness
    if options is None:
        return {}
    implant, _ = build_implant(study.implant)
    values: dict[str, float] = {}
    for name in plan.stiffnesses:
        path, slopes = options.paths[STIFFNESS[name]], []
        for flexion in options.flexion_deg:
            press = options.press.model_copy(update={"flexion_deg": flexion, "path": path})
            bearing = PressedBearing(press, study.simulation, study.table, study.grid)
            loop = drive_path(Rig(implant, bearing), path)
            slopes.append(float(tabulate_path(loop, path)["stiffness"]))
        values[name] = float(np.mean(slopes))
    return values
