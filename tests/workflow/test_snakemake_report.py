"""`snakemake --report` has every table and figure, with category and caption."""

from __future__ import annotations

import re

import pytest

from tests.workflow.conftest import CHECKOUT

RULES = "\n".join(path.read_text() for path in (CHECKOUT / "workflow/rules").glob("*.smk"))


def test_every_table_of_a_rule_is_in_the_report():
    assert set(re.findall(r'RESULTS}/\w*tables/(\w+)\.csv"', RULES)) <= {"{name}"}


@pytest.mark.workflow
@pytest.mark.slow
def test_report_of_the_quick_study(finished):
    finished.snakemake("--report", "report.html")
    page = (finished.folder / "report.html").read_text(encoding="utf-8")
    results = finished.folder / "results" / "quick"
    for table in results.glob("tables/*.csv"):
        assert table.name in page
    for word in ("Figures", "Tables", "Page", "Regression", "Results", "Method", "Contact"):
        assert f'"{word}"' in page, word
