"""Report on the credibility of a finished study: page, PDF, and the data behind them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pydantic import ValidationError

from kneewear import checkout_folder
from kneewear.base.faults import refusal
from kneewear.base.files import read_settings_file, settings_leaves
from kneewear.base.findings import Verdict
from kneewear.base.renamed_keys import present_settings
from kneewear.errors import InputDataError
from kneewear.evidence.credibility.report import (
    CASE_TABLES,
    NOT_STATED,
    EvidencePart,
    Judgements,
    Sources,
    case_values,
    credibility_tables,
    factor_parts,
)
from kneewear.io.documents import load_computed, load_record, save_bytes, save_json, save_text
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.pdf import write_pdf
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary, read_findings, read_verdict

FOLDER = "credibility"


class CredibilityReport(NamedTuple):
    """Files of a report on credibility, and what it came to."""

    page: Path
    paper: Path
    data: Path
    verdict: Verdict


def read_judgements(path: str | Path) -> Judgements:
    """Judgements in a YAML file; InputDataError, with the line, for what they do not allow."""
    file = read_settings_file(path)
    try:
        return Judgements.model_validate(file.content)
    except ValidationError as error:
        raise refusal(error, Judgements, file.content, str(path), [file]) from None


def write_credibility(folder: Path, judgements: Judgements | None = None) -> CredibilityReport:
    """Write a report on the credibility of a finished study to `credibility/` in its folder.

    Parameters
    ----------
    folder : Path
        `results/<study>`.
    judgements : Judgements, optional
        Question, context of use, risk and goals, which are not stated without them.

    Returns
    -------
    CredibilityReport
        `index.html`, `credibility.pdf` and `credibility.json` with every table unrounded.

    Raises
    ------
    InputDataError
        When the study is not finished, or evidence names a table that does not exist.
    """
    for name in ("report/summary.json", "provenance.json"):
        if not (folder / name).is_file():
            expected = "the record of a finished study"
            raise InputDataError(folder / name, "no such file", expected, "Run the study.")
    summary, record = (
        load_record(folder / "report/summary.json"),
        load_record(folder / "provenance.json"),
    )
    tables = load_computed(map(str, sorted(folder.glob("tables/*.csv"))))
    parts = [*_own_evidence(judgements), *(p for one in factor_parts() for p in one.evidence)]
    settings = present_settings(record["settings"], str(folder / "provenance.json"))
    keys = settings_leaves(settings)
    records = {
        "settings": pd.DataFrame(keys.items(), columns=["key", "value"]),
        "variables": pd.DataFrame({"variable": list(settings.get("variables") or ())}),
        "versions": pd.DataFrame(record["versions"].items(), columns=["name", "value"]),
        "inputs": pd.DataFrame(record["inputs"].items(), columns=["name", "value"]),
        "findings": pd.DataFrame(
            [(finding.level, finding.text()) for finding in read_findings(summary)],
            columns=["level", "value"],
        ),
    }
    sources = Sources(Tables(tables | records, settings), _repository(parts), keys)
    _check_evidence(folder, sources, judgements)
    frames = credibility_tables(sources, judgements)
    shown = Tables(frames, _statements(summary, judgements, frames))
    page = load_page("credibility")
    dossier = build_summary("credibility", page, shown, (), str(summary["version"]))
    own = folder / FOLDER
    files = CredibilityReport(
        own / "index.html", own / "credibility.pdf", own / "credibility.json", read_verdict(dossier)
    )
    save_text(render_page(page, dossier, shown, {}), files.page)
    save_bytes(write_pdf(dossier, page, {}), files.paper)
    save_json(dossier | {"data": {name: _rows(one) for name, one in frames.items()}}, files.data)
    return files


def _own_evidence(judgements: Judgements | None) -> list[EvidencePart]:
    """Evidence of the user."""
    if judgements is None:
        return []
    return [*judgements.results, *(p for one in judgements.factors.values() for p in one.evidence)]


def _check_evidence(folder: Path, sources: Sources, judgements: Judgements | None) -> None:
    """Refuse evidence of the user without a value, and ranges of what no case has."""
    for part in _own_evidence(judgements):
        if not part.only and not list(sources.results([part])):
            found = f"no value of evidence '{part.name}'"
            expected = f"rows of table {part.table} of the {part.of} with a column {part.value}"
            remedy = "Correct table, where or value in the judgements."
            raise InputDataError(folder, found, expected, remedy)
    for one in judgements.applicability if judgements else ():
        if case_values(sources.study, one.quantity) is None:
            found = f"no quantity or variable '{one.quantity}' with numbers"
            tables = " or ".join(CASE_TABLES)
            expected = f"one of the tables of cases, {tables}"
            raise InputDataError(folder, found, expected, "Correct applicability.")


def _repository(parts: Iterable[EvidencePart]) -> Tables:
    """Tables of the repository that evidence names, as far as there are."""
    root = checkout_folder() / "docs" / "snapshot"
    names = {part.table for part in parts if part.of == "repository"}
    files = {name: root / f"{name}.csv" for name in sorted(names)}
    return Tables(
        {name: pd.read_csv(file, comment="#") for name, file in files.items() if file.is_file()}, {}
    )


def _statements(
    summary: dict[str, Any], judgements: Judgements | None, frames: dict[str, pd.DataFrame]
) -> dict[str, Any]:
    """Statements that the texts of the page quote."""
    rating = {"level": NOT_STATED, "reason": NOT_STATED}
    names = ("question", "context_of_use", "judged_by", "decision")
    stated = judgements.model_dump() if judgements else {}
    return {
        "study": summary["study"],
        "subject": summary["subject"],
        "version": summary["version"],
        "verdict": read_verdict(summary).text(),
        "risk": frames["risk"]["risk"].iloc[0],
        **{name: stated.get(name, NOT_STATED) for name in names},
        **{name: stated.get(name, rating) for name in ("model_influence", "decision_consequence")},
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as plain builtins; None for what is no number."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
