"""Credibility of a study for a question: evidence by factor, goals, gaps, and applicability.

The structure is that of ASME V&V 40: the risk of a decision follows from the influence of the model
and from the consequence of an error, goals follow from the risk, and a gap is a goal that the
evidence does not reach. Factors, their gradations and the evidence that each needs are in
`pages/factors.yaml`, and the categories of evidence of the FDA guidance, with the factors that
supply each, in `pages/categories.yaml`. What only a person can judge is a :class:`Judgements`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from kneewear.analysis.validity import UNUSUAL
from kneewear.base.faults import fault, fault_at
from kneewear.report.derived import Settings, Tables
from kneewear.report.specification import KeyResultPart, PagePart, Scalar, page_data
from kneewear.report.summary import KeyResult, key_results
from kneewear.report.tables import quantity_name, shown, unit_name

Gradation = Literal["a", "b", "c"]
Level = Literal["low", "medium", "high"]
LEVELS: tuple[Level, ...] = ("low", "medium", "high")
GRADATIONS: tuple[Gradation, ...] = ("a", "b", "c")
NOT_STATED = "not stated"
# Tables of a study with a row, or a row of each quantity, for each case.
CASE_TABLES = ("results", "cases", "contact")
# Tables of the record of a study.
RECORDS = ("settings", "variables", "versions", "inputs", "findings")


class EvidencePart(KeyResultPart):
    """A number (or word) of a table, as evidence.

    Tables are those of the study, without the ending, and `settings` (key, value), `variables`,
    `versions`, `inputs` and `findings`; or those of the repository, by their path in
    `docs/snapshot`. Evidence counts where the settings of the study have the values of `only`.
    """

    of: Literal["study", "repository"] = "study"
    only: dict[str, Scalar] = Field(default={})


class GradationPart(PagePart):
    """A gradation in words, and the names of the evidence without which it is not reached."""

    text: str
    needs: tuple[str, ...] = ()


class FactorPart(PagePart):
    """A factor of credibility: its gradations in ascending order, evidence and what is missing."""

    name: str
    label: str
    activity: str
    gradations: list[GradationPart]
    evidence: tuple[EvidencePart, ...] = ()
    missing: str = ""


class CategoryPart(PagePart):
    """A category of evidence: the factors that supply it, and what is absent without them."""

    name: str
    label: str
    factors: tuple[str, ...]
    absent: str


class Rating(PagePart):
    """A level with its reason."""

    level: Level
    reason: str = Field(min_length=1)


class FactorJudgement(PagePart):
    """Statement of the user on one factor.

    `goal` replaces the one that follows from the risk, `reached` the gradation that follows from
    the evidence, with a `reason`. `evidence` is the user's own, and `at_most` the largest
    acceptable magnitude of evidence by its name, in its unit.
    """

    goal: Gradation | None = None
    reached: Gradation | None = None
    reason: str = ""
    evidence: tuple[EvidencePart, ...] = ()
    at_most: dict[str, float] = Field(default={})

    @model_validator(mode="after")
    def _reasons_are_given(self) -> FactorJudgement:
        if self.reached and not self.reason:
            raise fault(f"reached: {self.reached} without a reason", "a reason", "Add reason.")
        return self


class RangeJudgement(PagePart):
    """Range of a quantity or variable of the cases for which there is evidence."""

    quantity: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    source: str = Field(min_length=1)


class Judgements(PagePart):
    """Statements that only a person can make: question, context of use, risk, goals and ranges.

    `results` are the quantities of interest, as tables of the study have them, and `decision` is
    what was decided from them.
    """

    question: str = Field(min_length=1)
    context_of_use: str = Field(min_length=1)
    model_influence: Rating
    decision_consequence: Rating
    judged_by: str = Field(min_length=1)
    decision: str = NOT_STATED
    results: tuple[EvidencePart, ...] = ()
    factors: dict[str, FactorJudgement] = Field(default={})
    applicability: tuple[RangeJudgement, ...] = ()

    @model_validator(mode="after")
    def _factors_are_known(self) -> Judgements:
        for name, judged in self.factors.items():
            known = {part.name: part for part in factor_parts()}
            if name not in known:
                expected = f"one of: {', '.join(known)}"
                remedy = "Correct the name."
                raise fault_at(("factors", name), "an unknown factor", expected, remedy)
            names = [one.name for one in (*known[name].evidence, *judged.evidence)]
            for limited in judged.at_most.keys() - set(names):
                expected = f"one of: {', '.join(names)}"
                at = ("factors", name, "at_most", limited)
                raise fault_at(at, "unknown evidence", expected, "Correct the name.")
        return self


def factor_parts() -> list[FactorPart]:
    """All factors in their order."""
    return [FactorPart(**one) for one in page_data("factors")]


def category_parts() -> list[CategoryPart]:
    """All categories of evidence in their order."""
    return [CategoryPart(**one) for one in page_data("categories")]


def model_risk(influence: Level, consequence: Level) -> Level:
    """Risk of a decision by influence of the model and consequence of an error.

    Low, medium and high count 0, 1 and 2: a sum of at most 1 is low, of 2 medium, above high. The
    matrix is this project's own; V&V 40 leaves it to the user.
    """
    total = LEVELS.index(influence) + LEVELS.index(consequence)
    return LEVELS[max(0, min(total - 1, 2))]


@dataclass(frozen=True)
class Sources:
    """Tables of the study and of the repository, and settings of the study by key path."""

    study: Tables
    repository: Tables
    settings: Mapping[str, str]

    def results(self, parts: Iterable[EvidencePart]) -> Iterator[tuple[EvidencePart, KeyResult]]:
        """Evidence that exists, with its value."""
        for part in parts:
            applies = all(self.settings.get(key) == str(one) for key, one in part.only.items())
            tables = self.study if part.of == "study" else self.repository
            if applies:
                for result in key_results([part], tables):
                    if result.value is not None:
                        yield part, result


def credibility_tables(sources: Sources, judgements: Judgements | None) -> dict[str, pd.DataFrame]:
    """Tables of a report on credibility.

    `factors` (a row each: goal, reached, gap and what is missing), `evidence`, `categories` (a row
    each: pieces of evidence, factors, and what is absent), `gradations`, `quantities`,
    `applicability` (a row for each range), `applicable_cases` (a row each) and `risk`. Without
    judgements goals and risk are not stated.
    """
    risk = NOT_STATED
    if judgements is not None:
        levels = judgements.model_influence.level, judgements.decision_consequence.level
        risk = model_risk(*levels)
    ranges, cases = _applicability(sources, judgements)
    # Applicability of the cases is evidence, too.
    known = {**sources.study.files, "applicability": ranges}
    own = replace(sources, study=Tables(known, sources.study.settings))
    rows, evidence = [], []
    for part in factor_parts():
        judged = judgements.factors.get(part.name) if judgements else None
        judged = judged or FactorJudgement()
        found = list(own.results([*part.evidence, *judged.evidence]))
        rows.append(_factor_row(part, judged, found, risk))
        evidence += [_evidence_row(part.label, one, result) for one, result in found]
    wanted = judgements.results if judgements else ()
    return {
        "risk": pd.DataFrame({"risk": [risk]}),
        "quantities": pd.DataFrame([_evidence_row("", *one) for one in own.results(wanted)]),
        "factors": pd.DataFrame(rows),
        "evidence": pd.DataFrame(evidence),
        "categories": _categories(pd.DataFrame(rows), evidence),
        "gradations": pd.DataFrame(
            {"factor": part.label}
            | {name: one.text for name, one in zip(GRADATIONS, part.gradations, strict=True)}
            for part in factor_parts()
        ),
        "applicability": ranges,
        "applicable_cases": cases,
    }


def _categories(factors: pd.DataFrame, evidence: list[dict[str, Any]]) -> pd.DataFrame:
    """Evidence by category: its number, its factors with their gradations, and what is absent."""
    labels = {part.name: part.label for part in factor_parts()}
    reached = dict(zip(factors["factor"], factors["reached"], strict=True))
    rows = []
    for part in category_parts():
        own = [labels[name] for name in part.factors]
        number = sum(row["factor"] in own for row in evidence)
        rows.append(
            {
                "category": part.label,
                "evidence": number,
                "factors": ", ".join(f"{label} ({reached[label]})" for label in own),
                "absent": "" if number else part.absent,
            }
        )
    return pd.DataFrame(rows)


def _evidence_row(factor: str, part: EvidencePart, result: KeyResult) -> dict[str, Any]:
    place = part.table if part.table in (*RECORDS, "applicability") else f"tables/{part.table}.csv"
    source = f"study, {place}" if part.of == "study" else f"docs/snapshot/{part.table}.csv"
    return {
        "factor": factor,
        "evidence": result.title,
        "value": result.value,
        "unit": result.unit,
        "amount": result.amount,
        "source": source,
    }


def _factor_row(
    part: FactorPart,
    judged: FactorJudgement,
    found: list[tuple[EvidencePart, KeyResult]],
    risk: str,
) -> dict[str, Any]:
    """Goal, gradation and gap of one factor."""
    goal = judged.goal or (GRADATIONS[LEVELS.index(risk)] if risk in LEVELS else NOT_STATED)
    reached = judged.reached or _reached(part, {one.name for one, _ in found})
    above = [
        f"{result.title} {result.amount}, above {shown(judged.at_most[one.name])} "
        f"{unit_name(result.unit)}".strip()
        for one, result in found
        if one.name in judged.at_most
        and isinstance(result.value, float)
        and abs(result.value) > judged.at_most[one.name]
    ]
    # Evidence with a limit but without a value does not meet it.
    above += [
        f"no value of {name}"
        for name in judged.at_most
        if name not in {one.name for one, _ in found}
    ]
    short = goal != NOT_STATED and GRADATIONS.index(reached) < GRADATIONS.index(goal)
    gap = "; ".join([*([f"gradation {reached}, goal {goal}"] if short else []), *above])
    return {
        "activity": part.activity,
        "factor": part.label,
        "goal": goal,
        "reached": reached,
        "reason": f"judged: {judged.reason}" if judged.reached else judged.reason,
        "gap": gap,
        "met": goal != NOT_STATED and not gap,
        "missing": part.missing,
    }


def _reached(part: FactorPart, names: set[str]) -> Gradation:
    """The highest gradation of which, and below which, all evidence exists."""
    reached: Gradation = "a"
    for name, gradation in zip(GRADATIONS, part.gradations, strict=True):
        if not set(gradation.needs) <= names:
            break
        reached = name
    return reached


def _applicability(
    sources: Sources, judgements: Judgements | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ranges with the number of cases inside, and each case with the ranges that it is outside."""
    study = sources.study
    own_limits = (study.settings.get("analyses") or {}).get("validity") is not None
    judged = [*(judgements.applicability if judgements else ())]
    rows, reasons = [], {}
    if own_limits and "results" in study:
        cases = list(map(str, study["results"]["case"]))
        reasons = dict.fromkeys(cases, "")
        beyond = _beyond_validity(study)
        rows.append(
            _range_row(
                "validity",
                None,
                None,
                "",
                len(cases),
                len(beyond),
                "limits of the model of each case",
            )
        )
        reasons |= beyond
    for one in judged if own_limits else [*_model_ranges(study), *judged]:
        values = case_values(study, one.quantity)
        if values is None:
            continue
        low = -np.inf if one.low is None else one.low
        high = np.inf if one.high is None else one.high
        outside = values[(values["min"] < low) | (values["max"] > high)]
        rows.append(
            _range_row(
                one.quantity, one.low, one.high, one.unit, len(values), len(outside), one.source
            )
        )
        for case in map(str, values.index):
            reasons.setdefault(case, "")
        for case, least, most in outside.itertuples():
            value = shown(most if most > high else least, "3")
            reason = f"{quantity_name(one.quantity)} {value} {unit_name(one.unit)}".strip()
            reasons[str(case)] = ", ".join(filter(None, [reasons[str(case)], reason]))
    ordered = sorted(reasons.items(), key=lambda item: not item[1])
    varied = _values_of_cases(study)
    table = pd.DataFrame(
        [
            (case, varied.get(case, ""), "outside" if reason else "inside", reason)
            for case, reason in ordered
        ],
        columns=["case", "values", "applicable", "reasons"],
    )
    return pd.DataFrame(rows), table


def _values_of_cases(study: Tables) -> dict[str, str]:
    """Values of the variables of each case as text."""
    frame = study.get("results", pd.DataFrame())
    names = [name for name in study.settings.get("variables") or () if name in frame]
    if not names:
        return {}
    return {
        str(case): ", ".join(shown(row[name]) for name in names)
        for case, row in zip(frame["case"], frame.to_dict("records"), strict=True)
    }


def _range_row(
    quantity: str,
    low: float | None,
    high: float | None,
    unit: str,
    cases: int,
    outside: int,
    source: str,
) -> dict[str, Any]:
    """Row of the table `applicability`."""
    return {
        "quantity": quantity,
        "low": low,
        "high": high,
        "unit": unit,
        "inside": cases - outside,
        "outside": outside,
        "of": cases,
        "source": source,
    }


def _beyond_validity(study: Tables) -> dict[str, str]:
    """Reasons of the cases that the analysis of validity has as outside."""
    if "outside" not in study:
        return {}
    frame = study["outside"]
    frame = frame[frame["reason"] != UNUSUAL]
    rows = frame.groupby(frame["case"].astype(str), sort=False)
    return {
        str(case): ", ".join(
            " ".join(filter(None, [one["reason"], _with_limit(one)]))
            for one in own.to_dict("records")
        )
        for case, own in rows
    }


def _with_limit(row: Mapping[Any, Any]) -> str:
    """Pressure and limit of a row of the table `outside`."""
    if pd.isna(row["value"]):
        return ""
    return f"{shown(row['value'], '3')} (limit {shown(row['limit'])}) {row['unit']}"


def _model_ranges(study: Tables) -> Iterator[RangeJudgement]:
    """Ranges up to which the model itself is taken to be valid."""
    limits: Settings = study.settings.get("report") or {}
    for quantity, key in (
        ("max_pressure", "pressure_limit_mpa"),
        ("avg_pressure", "avg_pressure_limit_mpa"),
    ):
        if limits.get(key) is not None:
            source = f"settings of the study, report.{key}"
            yield RangeJudgement(quantity=quantity, high=limits[key], unit="MPa", source=source)


def case_values(tables: Mapping[str, pd.DataFrame], quantity: str) -> pd.DataFrame | None:
    """Smallest (`min`) and largest (`max`) value of a quantity or variable over each case.

    None where no table of cases has it.
    """
    for name in CASE_TABLES:
        frame = tables.get(name)
        if frame is None or "case" not in frame:
            continue
        columns = [str(one) for one in frame if str(one).endswith(f"_{quantity}")]
        if "quantity" in frame and quantity in set(frame["quantity"]):
            frame, columns = frame[frame["quantity"] == quantity], ["value"]
        elif quantity in frame:
            columns = [quantity]
        if not columns or not all(frame[column].dtype.kind in "iuf" for column in columns):
            continue
        values = frame[columns].agg(["min", "max"], axis=1)
        by_case = values.groupby(frame["case"], sort=False).agg({"min": "min", "max": "max"})
        return by_case.dropna()
    return None
