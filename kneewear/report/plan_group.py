"""Step of the rule plot_figures of plans of cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.io.documents import load_computed, load_json
from kneewear.report.analyses import draw_cases
from kneewear.report.drawing import Drawing
from kneewear.report.views import VIEW
from kneewear.study.datasets import load_kept
from kneewear.study.files import design_implants
from kneewear.study.job_files import JobFiles
from kneewear.study.settings import study_of


def plot_plan(settings: Mapping[str, Any], given: JobFiles) -> Drawing:
    """Draw all analyses of a plan of cases; its settings are `study`."""
    study, knee = study_of(settings["study"]), given.knee
    figures = draw_cases(
        study=study,
        tables=load_computed(given.paths("tables")),
        kept=load_kept(given.paths("kept"), study.model),
        grid=None if knee is None else knee.grid,
        implants=design_implants(study, None if knee is None else knee.implant, given.root),
    )
    view = given.inside("jobs").get(VIEW)
    return Drawing(figures, {} if view is None else load_json(view))
