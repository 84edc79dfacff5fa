"""Credibility: gradations follow from evidence, gaps from goals, and cases are judged by ranges."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from pydantic import ValidationError

from kneewear import __version__, checkout_folder
from kneewear.__main__ import main
from kneewear.errors import InputDataError
from kneewear.evidence.credibility.command import read_judgements, write_credibility
from kneewear.evidence.credibility.report import (
    GRADATIONS,
    LEVELS,
    FactorJudgement,
    Judgements,
    Sources,
    category_parts,
    credibility_tables,
    factor_parts,
    model_risk,
)
from kneewear.io.documents import save_json, save_table
from kneewear.report.derived import Tables
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary

SHIPPED = checkout_folder() / "examples/size_ranking_judgements.yaml"
SETTINGS = {
    "study": "made_up",
    "implant": {"name": "an implant"},
    "variables": {"load_n": {}},
    "simulation": {"contact": "foundation", "tolerance": 1e-8},
    "report": {"pressure_limit_mpa": 35.0, "avg_pressure_limit_mpa": 14.0},
}
RESULTS = pd.DataFrame(
    {
        "case": ["one", "two", "three"],
        "load_n": [500.0, 1000.0, 2000.0],
        "medial_max_pressure": [20.0, 30.0, 34.0],
        "lateral_max_pressure": [10.0, 36.0, 20.0],
        "medial_avg_pressure": [7.0, 9.0, 13.0],
        "lateral_avg_pressure": [7.0, 9.0, 13.9],
    }
)
STATED = {
    "question": "Which?",
    "context_of_use": "To choose.",
    "judged_by": "me",
    "model_influence": {"level": "medium", "reason": "a test follows"},
    "decision_consequence": {"level": "medium", "reason": "a delay"},
}


def judged(**changes):
    return Judgements.model_validate(STATED | changes)


def tables_of(judgements, settings=SETTINGS, **tables):
    sources = Sources(
        Tables({"results": RESULTS} | tables, settings),
        Tables({}, {}),
        {"simulation.contact": settings["simulation"]["contact"]},
    )
    return credibility_tables(sources, judgements)


def row_of(frames, name):
    label = next(part.label for part in factor_parts() if part.name == name)
    frame = frames["factors"].set_index("factor")
    return frame.loc[label]


@pytest.mark.parametrize(
    ("influence", "consequence", "risk"),
    [
        ("low", "low", "low"),
        ("low", "medium", "low"),
        ("high", "low", "medium"),
        ("medium", "medium", "medium"),
        ("medium", "high", "high"),
        ("high", "high", "high"),
    ],
)
def test_risk_grows_with_influence_and_consequence(influence, consequence, risk):
    assert model_risk(influence, consequence) == model_risk(consequence, influence) == risk


def test_a_gradation_needs_the_evidence_of_those_below_it():
    discretisation = pd.DataFrame({"difference_percent": [0.2, -0.6]})
    frames = tables_of(judged(), discretisation=discretisation)
    # Without the evidence of the repository, which gradation b needs.
    assert row_of(frames, "discretization_error")["reached"] == "a"
    values = frames["evidence"].set_index("evidence")["value"]
    assert -0.6 in set(values)
    own = {"name": "reference_case", "table": "discretisation", "value": "difference_percent"}
    factors = {"discretization_error": {"evidence": [own]}}
    frames = tables_of(judged(factors=factors), discretisation=discretisation)
    assert row_of(frames, "discretization_error")["reached"] == "c"
    assert row_of(frames, "discretization_error")["met"]


def test_a_judged_gradation_has_a_reason_and_replaces_that_of_the_evidence():
    factor = {"reached": "c", "reason": "an audit of 2026"}
    name = "software_quality_assurance"
    assert row_of(tables_of(judged()), name)["reached"] == "a"
    assert row_of(tables_of(judged(factors={name: factor})), name)["reached"] == "c"
    with pytest.raises(ValidationError):
        FactorJudgement(reached="c")


def test_cases_are_judged_by_limits_of_the_model_and_by_ranges_of_the_user():
    ranges = [{"quantity": "load_n", "low": 600.0, "high": 2000.0, "unit": "N", "source": "a test"}]
    frames = tables_of(judged(applicability=ranges))
    counts = frames["applicability"].set_index("quantity")["outside"].to_dict()
    # Case two by its peak, case one by its load.
    assert counts == {"max_pressure": 1, "avg_pressure": 0, "load_n": 1}
    outside = frames["applicable_cases"].set_index("case")["applicable"].to_dict()
    assert outside == {"one": "outside", "two": "outside", "three": "inside"}
    # Where a study judges each case by the limits of its own model, these count.
    rows = {"case": "three", "reason": "peak pressure", "value": 34.0, "limit": 20.0, "unit": "MPa"}
    settings = SETTINGS | {"analyses": {"validity": {}}}
    frames = tables_of(judged(), settings, outside=pd.DataFrame([rows]))
    outside = frames["applicable_cases"].set_index("case")["applicable"].to_dict()
    assert outside == {"one": "inside", "two": "inside", "three": "outside"}


def test_every_factor_has_three_gradations_and_evidence_that_it_knows():
    parts = factor_parts()
    assert len(parts) == len({part.name for part in parts}) == 13
    root = checkout_folder() / "docs/snapshot"
    for part in parts:
        assert len(part.gradations) == len(GRADATIONS) == len(LEVELS)
        for one in part.evidence:
            if one.of == "repository":
                frame = pd.read_csv(root / f"{one.table}.csv", comment="#")
                assert {one.value, *one.where} <= set(frame)


def test_each_factor_but_those_of_applicability_supplies_one_of_eight_categories():
    parts = category_parts()
    assert len(parts) == 8
    supplied = [name for part in parts for name in part.factors]
    assert sorted(supplied) == sorted(
        part.name for part in factor_parts() if part.activity != "Applicability"
    )


@pytest.mark.parametrize("name", ["size_ranking", "peak_pressure"])
def test_shipped_judgements_are_read_and_name_their_own_evidence(name):
    judgements = read_judgements(checkout_folder() / f"examples/{name}_judgements.yaml")
    for factor in judgements.factors.values():
        assert factor.reason or factor.at_most
        assert set(factor.at_most) <= {part.name for part in factor.evidence} | {"outside"}


def test_categories_count_the_evidence_of_their_factors():
    discretisation = pd.DataFrame({"difference_percent": [0.2, -0.6]})
    frame = tables_of(judged(), discretisation=discretisation)["categories"]
    counts = dict(zip([part.name for part in category_parts()], frame["evidence"], strict=True))
    assert counts["calculation"] == 1
    assert counts["in_vivo"] == counts["bench"] == 0
    assert (frame["absent"] == "").tolist() == (frame["evidence"] > 0).tolist()


@pytest.fixture
def finished(tmp_path):
    """Folder of a made-up finished study."""
    folder = tmp_path / "results" / "made_up"
    settings = SETTINGS | {"page": "press"}
    summary = build_summary("press", load_page("press"), Tables({}, settings), (), __version__)
    save_json(summary, folder / "report/summary.json")
    record = {"versions": {"kneewear": __version__}, "inputs": {}, "settings": settings}
    save_json(record, folder / "provenance.json")
    save_table(RESULTS, folder / "tables/results.csv")
    return folder


def test_the_command_writes_page_paper_and_data(finished, monkeypatch, capsys):
    monkeypatch.chdir(finished.parents[1])
    text = "\n".join(f"{key}: {json.dumps(value)}" for key, value in STATED.items())
    file = finished.parents[1] / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    main(["credibility", "made_up", "--judgements", "mine.yaml"])
    assert "credibility.pdf" in capsys.readouterr().out
    own = finished / "credibility"
    assert (own / "credibility.pdf").read_bytes().startswith(b"%PDF")
    page = (own / "index.html").read_text(encoding="utf-8")
    assert STATED["question"] in page
    data = json.loads((own / "credibility.json").read_text(encoding="utf-8"))
    rows = {row["factor"]: row for row in data["data"]["factors"]}
    # Of the tables of the repository: the package brings them.
    assert rows["Numerical code verification"]["reached"] == "b"
    gaps = {one["where"] for one in data["findings"] if one["check"] == "credibility"}
    assert gaps == {name for name, row in rows.items() if not row["met"]}


def test_faults_of_judgements_are_refused_with_their_line(tmp_path, finished):
    text = SHIPPED.read_text(encoding="utf-8")
    for old, new, line in (
        ("  model_form:", "  model_from:", "model_from"),
        ("level: medium", "level: middling", "model_influence.level"),
        ("{own_case: 1.0", "{own_cases: 1.0", "own_cases"),
    ):
        file = tmp_path / "faulty.yaml"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InputDataError, match=rf"faulty.yaml, line \d+, key .*{line}"):
            read_judgements(file)
    assert read_judgements(SHIPPED).judged_by
    # Its tables are not those of this study; nor is a quantity that no case has.
    with pytest.raises(InputDataError):
        write_credibility(finished, read_judgements(SHIPPED))
    with pytest.raises(InputDataError):
        write_credibility(finished, judged(applicability=[{"quantity": "no", "source": "none"}]))
    with pytest.raises(InputDataError):
        write_credibility(finished / "nothing")
