"""What a finished study came to, in a few lines for a terminal."""

from __future__ import annotations

from pathlib import Path
from textwrap import TextWrapper

from kneewear.base.findings import Verdict
from kneewear.errors import InputDataError
from kneewear.io.documents import load_record
from kneewear.report.summary import read_findings, read_key_results, read_verdict

# How many of them a terminal shows; the page has all.
RESULTS, FINDINGS = 6, 8


def outcome(folder: Path) -> tuple[list[str], Verdict]:
    """Lines on a study from its summary: key results, verdict, findings, path of its page.

    `folder` is `results/<study>`. Findings about settings are counted but not listed: they are
    shown before a study runs. Raises InputDataError if the study has no summary.
    """
    file = folder / "report" / "summary.json"
    if not file.is_file():
        expected = "the summary of a finished study"
        raise InputDataError(file, "no such file", expected, "Run the study.")
    summary = load_record(file)
    results = [result.text() for result in read_key_results(summary)]
    findings = [
        f"{one.level}{f' ({one.job})' if one.job else ''}: {one.text()}"
        for one in read_findings(summary)
        if one.job != "settings"
    ]
    beyond = len(findings) - FINDINGS
    more = [f"{beyond} more: see the page."] if beyond > 0 else []
    wrapper = TextWrapper(100, subsequent_indent="  ", break_long_words=False)
    verdict = read_verdict(summary)
    lines = [*results[:RESULTS], verdict.text(), *findings[:FINDINGS], *more]
    wrapped = [part for line in lines for part in wrapper.wrap(line)]
    return [*wrapped, f"Report: {folder / 'report' / 'index.html'}"], verdict
