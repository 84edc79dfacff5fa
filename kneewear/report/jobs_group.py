"""Step of the rule plot_figures of models whose tables are computed by jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.io.documents import load_json, load_table
from kneewear.report.drawing import Drawing
from kneewear.report.parts import draw_parts, view_parts
from kneewear.study.job_files import JobFiles


def plot_jobs(settings: Mapping[str, Any], given: JobFiles) -> Drawing:
    """Draw the tables of all jobs of a study; its settings are `model` and `tables`."""
    files = given.inside("jobs")
    records = {file.stem: load_json(file) for file in files.values() if file.suffix == ".json"}
    paths = zip(settings["tables"], given.paths("tables"), strict=True)
    tables = {name: load_table(path) for name, path in paths}
    # Empty where a job failed without which the study is complete.
    drawn = {name: table for name, table in tables.items() if len(table)}
    figures = draw_parts(settings["model"], drawn, records, files)
    return Drawing(figures, view_parts(settings["model"], records, files))
