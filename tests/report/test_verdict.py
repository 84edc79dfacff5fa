"""Badge, paper, terminal line and exit code follow the worst finding of a study."""

from __future__ import annotations

import re

import pytest

from kneewear import __main__ as command
from kneewear.base.findings import VALIDITY, WORDS, Reported, Verdict
from kneewear.errors import Finding
from kneewear.io.documents import save_json
from kneewear.report.summary import read_verdict
from kneewear.runs.finished import outcome
from tests.report.pages import written

ERROR, WARNING, NOTE = (Finding("one", level, "", "x", "", "") for level in WORDS)
OUTSIDE = Finding(VALIDITY, "warn", "", "x", "", "")


@pytest.mark.parametrize(
    ("findings", "severity", "words", "code"),
    [
        ([], "note", "no warnings", 0),
        ([NOTE], "note", "no warnings", 0),
        ([NOTE, WARNING], "warn", "with warnings", 0),
        ([OUTSIDE, NOTE, WARNING], "warn", "outside validity", 0),
        ([OUTSIDE, ERROR], "refuse", "with errors", 1),
    ],
)
def test_verdict_is_that_of_the_worst_finding(findings, severity, words, code):
    for order in (findings, findings[::-1]):
        verdict = Verdict.of(map(Reported, order))
        assert (verdict.severity, verdict.words, verdict.exit_code) == (severity, words, code)


@pytest.mark.parametrize("findings", [[], [NOTE], [WARNING], [OUTSIDE], [OUTSIDE, ERROR]])
def test_page_paper_terminal_and_exit_code_have_one_verdict(findings, whole, tmp_path, capsys):
    page = written("wear", whole.settings, whole.tables, findings=list(map(Reported, findings)))
    verdict = read_verdict(page.summary)
    assert page.summary["verdict"]["errors"] == verdict.errors
    for text in (page.page, page.appendix):
        severity, words = re.search(
            r'id="verdict" data-severity="(\w+)">[^<]*<span class="badge \w+">([^<]*)<', text
        ).groups()
        assert (severity, words) == (verdict.severity, verdict.words)
    (tmp_path / "report").mkdir()
    save_json(page.summary, tmp_path / "report/summary.json")
    lines, same = outcome(tmp_path)
    assert same == verdict
    assert verdict.text() in lines
    ended = 0
    try:
        command.main(["open", "--no-browser", str(tmp_path)])
    except SystemExit as error:
        ended = error.code
    assert ended == verdict.exit_code
    assert verdict.text() in capsys.readouterr().out.splitlines()


def test_no_result_of_a_study_with_errors_is_called_valid(whole):
    report = whole.settings["report"] | {"pressure_limit_mpa": 1e3, "avg_pressure_limit_mpa": 1e3}
    page = written(
        "wear", whole.settings | {"report": report}, whole.tables, findings=[Reported(ERROR)]
    )
    badges = re.findall(r'<span class="badge (\w+)">', page.page)
    assert badges == ["refuse"]
