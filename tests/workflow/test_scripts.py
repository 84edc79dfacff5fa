"""Rules and scripts have the same names and the same structure."""

from __future__ import annotations

import ast
import re

import pytest

from tests.workflow.conftest import CHECKOUT, Checkout

SCRIPTS = sorted((CHECKOUT / "scripts").glob("*.py"))
RULE_FILES = sorted((CHECKOUT / "workflow" / "rules").glob("*.smk"))
TARGETS = {"wear", "cases", "search", "fit", "parts"}
RULES = "\n".join(path.read_text() for path in RULE_FILES)


def name_of(rule):
    """Name of a rule from its text."""
    return rule.partition(":")[0]


def test_every_rule_has_the_script_of_its_name():
    rules = set(re.findall(r"^rule (\w+):", RULES, re.MULTILINE)) - TARGETS
    assert sorted(rules) == [path.stem for path in SCRIPTS]
    assert set(re.findall(r"\.\./scripts/(\w+)\.py", RULES)) == rules


def test_the_file_of_a_kind_ends_in_its_target():
    for kind in TARGETS:
        text = (CHECKOUT / "workflow" / "rules" / f"{kind}.smk").read_text()
        assert re.findall(r"^rule (\w+):", text, re.MULTILINE)[-1] == kind


# Rules of a loop have no name here.
@pytest.mark.parametrize(
    "rule", re.split(r"^ *rule ?(?=\w*:$)", RULES, flags=re.MULTILINE)[1:], ids=name_of
)
def test_every_rule_with_a_script_has_resources(rule):
    if name_of(rule) not in TARGETS:
        for directive in ("log", "benchmark", "resources", "script"):
            assert re.search(rf"^ +{directive}:", rule, re.MULTILINE), directive
    assert "    run:" not in rule


@pytest.mark.workflow
def test_every_job_has_a_log_and_a_benchmark(tmp_path):
    text = Checkout(tmp_path / "copy").snakemake("-n", "--forceall", "--printshellcmds")
    jobs = re.split(r"^(?:local)?rule ", text[: text.rindex("Job stats")], flags=re.MULTILINE)[1:]
    named = {name_of(job): job for job in jobs if not job.startswith("study:")}
    assert {"simulate_contact", "write_report"} <= set(named)
    for name, job in named.items():
        assert f"log: results/quick/logs/{name}" in job
        assert f"benchmark: results/quick/benchmarks/{name}" in job


def test_only_rules_that_compare_or_calibrate_read_the_published_tables():
    rules = re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", RULES, re.MULTILINE)
    readers = {name for name, text in rules if re.search(r"\bPUBLISHED\b", text)}
    assert readers == {"fit_constants", "tabulate_results"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_is_thin_and_logged(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert f"(rule {path.stem})" in ast.get_docstring(tree)
    assert "with job_log(snakemake.log[0]" in text
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.If)]
    assert len(text.splitlines()) <= 45
