"""Wear of the subjects of a cohort with each design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.errors import KneewearError
from kneewear.geometry.knee import KneeModel
from kneewear.settings.checks import setting_warnings
from kneewear.settings.cohort import SIDE, SIZE, SUBJECT, CohortStudy, Subject
from kneewear.settings.study import apply_case
from kneewear.studies.cases import CaseRunner, ReadActivity, evaluate_cases

DESIGN, WARNINGS = "design", "warnings"
Pair = tuple[str, Subject]


def list_pairs(study: CohortStudy, subjects: Sequence[Subject]) -> list[Pair]:
    """Every design with every subject, in the order of the cases: subjects vary fastest."""
    return [(design, subject) for design in study.design_names for subject in subjects]


def evaluate_subjects(
    study: CohortStudy,
    pairs: Sequence[Pair],
    knees: Mapping[str, KneeModel],
    activities: Mapping[str, Activity],
    read_activity: ReadActivity | None = None,
) -> pd.DataFrame:
    """Results of some subjects with their designs.

    Parameters
    ----------
    study : CohortStudy
        Settings.
    pairs : sequence of (str, Subject)
        Designs and subjects, of `list_pairs`.
    knees : mapping of name to KneeModel
        Knee of each implant, by the names of `CohortStudy.implants`; only those that the pairs
        need.
    activities : mapping of name to Activity
        Cycles of the study's settings.
    read_activity : callable, optional
        Reads the activity of a subject with files of its own.

    Returns
    -------
    DataFrame
        One row per pair: subject, design, side, size, the subject's numbers, the results of
        `evaluate_cases`, and `warnings` about settings of the subject that are unusual.
    """
    implants = study.implants()
    runners: dict[str, CaseRunner] = {}
    parts = []
    for design, subject in pairs:
        name = study.implant_of(subject, design)
        if name not in runners:
            runners[name] = CaseRunner(
                implants[name],
                knees[name],
                activities,
                exact=not study.reads_distance_tables,
                read_activity=read_activity,
            )
        case = study.case_of(subject, design)
        found = evaluate_cases(runners[name], [case]).drop(columns="case")
        labels = {SUBJECT: subject.name, DESIGN: design, SIDE: subject.side, SIZE: subject.size}
        values = {**labels, **subject.numbers}
        found = pd.concat([pd.DataFrame([values]), found], axis=1)
        parts.append(found.assign(**{WARNINGS: "; ".join(_own_warnings(study, design, subject))}))
    return pd.concat(parts, ignore_index=True)


def _own_warnings(study: CohortStudy, design: str, subject: Subject) -> Iterator[str]:
    """Warnings about a subject's settings that are not of the study itself."""
    try:
        own = apply_case(study, study.case_of(subject, design))
    except KneewearError:
        return  # said as the failure of the case
    general = set(setting_warnings(study))
    yield from (warning for warning in setting_warnings(own) if warning not in general)
