"""Assumptions of `kneewear new`: data of the settings that every output repeats until confirmed."""

from __future__ import annotations

import json

import pytest

from kneewear import default_settings_file
from kneewear.base.assumptions import unconfirmed
from kneewear.base.checks import setting_findings
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.pdf import write_pdf
from kneewear.report.specification import load_page, page_names
from kneewear.report.summary import build_summary
from kneewear.runs.provenance import reported_findings
from kneewear.study.files import check_inputs
from kneewear.study.settings import merge_settings, read_settings, validate_study

DEFAULT = read_settings(default_settings_file())
# Of settings that the default study has.
ENTRIES = [
    {"name": "side", "key": "implant.knee", "value": "right", "found": "symmetric shapes"},
    {"name": "duration", "key": "activities.gait.duration_s", "value": 1.22, "found": "usual"},
    {"name": "creep", "key": "wear.creep_law", "value": "strain", "found": "upper estimate"},
]


def study_with(*changes):
    settings = DEFAULT
    for change in ({"assumed": ENTRIES, "wear": {"creep_law": "strain"}}, *changes):
        settings = merge_settings(settings, change)
    return validate_study(settings)


def names(study):
    return {
        one.check.removeprefix("assumed.")
        for one in setting_findings(study)
        if one.check.startswith("assumed.")
    }


def test_assumptions_are_warnings_until_they_are_deleted_or_their_setting_is_another():
    study = study_with()
    assert names(study) == {"side", "duration", "creep"}
    assert {one.severity for one in setting_findings(study)} == {"warn"}
    assert names(study_with({"assumed": ENTRIES[1:]})) == {"duration", "creep"}
    assert names(study_with({"activities": {"gait": {"duration_s": 1.0}}})) == {"side", "creep"}
    assert names(study_with({"assumed": []})) == set()


@pytest.mark.parametrize(
    "stated",
    [
        {"key": "activities.gait.duration_s", "value": 0.3},
        {"key": "implant.knee", "value": "right", "covers": ["activities.gait"]},
    ],
)
def test_what_an_assumption_states_has_no_warning_of_its_own(stated):
    unusual = {"activities": {"gait": {"duration_s": 0.3}}}
    entry = {"name": "stated", "found": "a guess", **stated}

    def findings(*assumed):
        study = study_with({"assumed": list(assumed)}, unusual)
        return {finding.check: finding.where for finding in setting_findings(study)}

    assert "key activities.gait.duration_s" in findings().values()
    assert set(findings(entry)) == {"assumed.stated"}


def test_results_do_not_depend_on_assumptions():
    assert study_with().computed() == study_with({"assumed": []}).computed()


def test_check_and_run_report_assumptions(tmp_path):
    study = study_with()
    expected = {f"assumed.{entry['name']}" for entry in ENTRIES}
    assert expected <= {finding.check for finding in check_inputs(study, "")}
    settings = study.model_dump(mode="json")
    found = {one.finding.check for one in reported_findings(settings, tmp_path)}
    assert expected <= found


@pytest.mark.parametrize("name", page_names())
def test_every_page_its_summary_and_its_paper_have_the_assumptions(name):
    settings = study_with().model_dump(mode="json")
    page, tables = load_page(name), Tables({}, settings)
    summary = build_summary(name, page, tables, reported_findings(settings, "no logs"))
    (table,) = [one for one in summary["tables"] if "upper estimate" in json.dumps(one["rows"])]
    assert len(table["rows"]) == len(ENTRIES)
    html = render_page(page, summary, tables, {})
    for entry in ENTRIES:
        assert entry["key"] in html
    assert len(write_pdf(summary, page, {})) > len(write_pdf(summary | {"tables": []}, page, {}))


def test_settings_without_the_block_have_no_assumptions():
    assert unconfirmed({}) == ()
    assert unconfirmed({"assumed": [ENTRIES[0]]}) == ()
