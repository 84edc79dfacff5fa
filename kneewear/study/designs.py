"""Designs of a search that are shown and exported, each as a wear study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import save_settings
from kneewear.study.inputs import CaseInputs
from kneewear.study.job_files import JobFiles
from kneewear.study.plan_settings import BASELINE
from kneewear.study.settings import apply_case
from kneewear.study.study import WearStudy
from kneewear.study.wear import compute_wear


@dataclass(frozen=True)
class FullDesign:
    """One design in full: the values of its variables, its knee, cycles and damage."""

    values: Mapping[str, float]
    knee: KneeModel
    histories: Mapping[str, xr.Dataset]
    damage: xr.Dataset


def chosen_study(study: WearStudy, chosen: pd.Series) -> WearStudy:
    """Wear study of a chosen design (a row of `tables/chosen_designs.csv`), called after it."""
    unchanged = chosen["chosen"] == BASELINE
    values = {} if unchanged else {name: float(chosen[name]) for name in study.variables}
    design = apply_case(study, study.case(values, str(chosen["chosen"])))
    return design.model_copy(update={"study": f"{study.study}_{chosen['chosen']}"})


def simulate_design(study: WearStudy, inputs: CaseInputs, chosen: pd.Series) -> FullDesign:
    """Simulate a chosen design (a row of `tables/chosen_designs.csv`) in full."""
    design = chosen_study(study, chosen)
    values = {name: float(chosen[name]) for name in study.variables}
    damage = compute_wear(design, inputs).maps
    return FullDesign(values, inputs.knee(design), inputs.cycles(design), damage)


def write_design(settings: Mapping[str, Any], given: JobFiles, path: str) -> None:
    """Write a chosen design, by the name of the file, as a wear study of its own."""
    (chosen,) = given.tables("chosen")
    (row,) = (one for _, one in chosen.iterrows() if str(one["chosen"]) == Path(path).stem)
    save_settings(chosen_study(WearStudy(**settings), row).model_dump(mode="json"), path)
