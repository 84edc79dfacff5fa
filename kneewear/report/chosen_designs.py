"""Chosen designs of a search in full: their knees, and the view of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.analysis.front import shown_designs
from kneewear.report.design_view import build_design_view
from kneewear.study.designs import simulate_design
from kneewear.study.inputs import CaseInputs
from kneewear.study.job_files import JobFiles
from kneewear.study.jobs import JobResult
from kneewear.study.search import search_plan, with_grid
from kneewear.study.study import WearStudy


def evaluate_chosen(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Simulate the chosen designs of a search in full; its settings are `study`."""
    study = WearStudy(**settings["study"])
    knee = with_grid(study, given.the_knee)
    inputs = CaseInputs(study, knee, given.activities, exact=not study.reads_distance_tables)
    (front,), (chosen,) = given.tables("front"), given.tables("chosen")
    designs = {
        row["chosen"]: simulate_design(study, inputs, row)
        for _, row in shown_designs(search_plan(study), front, chosen).iterrows()
    }
    variables = study.model_dump(mode="json")["variables"]
    knees = {str(name): designs[name].knee for name in chosen["chosen"]}
    return JobResult({}, {"view": build_design_view(variables, designs)}, knees=knees)
