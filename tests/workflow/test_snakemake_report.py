"""`snakemake --report` has every table and figure, with category and caption."""

from __future__ import annotations

import re

import pytest

from tests.workflow.conftest import CHECKOUT

CAPTIONS = {path.stem for path in (CHECKOUT / "workflow/report/tables").glob("*.rst")}
RULES = "\n".join(path.read_text() for path in (CHECKOUT / "workflow/rules").glob("*.smk"))


def test_every_caption_is_of_a_table_and_every_table_in_a_report_has_one():
    methods = {"monte_carlo", "one_at_a_time", "variance_based"}
    unused = {name for name in CAPTIONS - methods if f'"{name}"' not in RULES}
    assert not unused
    assert set(re.findall(r'table\(\s*"(\w+)"', RULES)) <= CAPTIONS
    # Of no rule of a study's kind is a table left out.
    assert set(re.findall(r'RESULTS}/\w*tables/(\w+)\.csv"', RULES)) <= {"{name}"}


@pytest.mark.workflow
@pytest.mark.slow
def test_report_of_the_quick_study(finished):
    finished.snakemake("--report", "report.html")
    page = (finished.folder / "report.html").read_text(encoding="utf-8")
    results = finished.folder / "results" / "quick"
    for table in results.glob("tables/*.csv"):
        assert f'"name": "{table.name}"' in page or table.name in page, table.name
        caption = (CHECKOUT / f"workflow/report/tables/{table.stem}.rst").read_text().split(",")[0]
        assert caption.split("\n")[0][:30] in page, table.stem
    for word in ("Figures", "Tables", "Page", "Regression", "Results", "Method", "Contact"):
        assert f'"{word}"' in page, word
