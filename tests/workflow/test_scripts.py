"""Rules and scripts have the same names and the same structure."""

from __future__ import annotations

import ast
import re

import pytest

from tests.workflow.conftest import CHECKOUT

SCRIPTS = sorted((CHECKOUT / "scripts").glob("*.py"))
RULE_FILES = sorted((CHECKOUT / "workflow" / "rules").glob("*.smk"))
RULES = "\n".join(path.read_text() for path in RULE_FILES)


def name_of(rule):
    """Name of a rule from its text."""
    return rule.partition(":")[0]


def test_every_rule_has_the_script_of_its_name():
    rules = re.findall(r"^rule (\w+):", RULES, re.MULTILINE)
    assert sorted(set(rules)) == [path.stem for path in SCRIPTS]
    assert sorted(re.findall(r"scripts/(\w+)\.py", RULES)) == sorted(rules)
    assert set(re.findall(r'fingerprint\("(\w+)"\)', RULES)) == set(rules)


@pytest.mark.parametrize("rule", re.split(r"^rule ", RULES, flags=re.MULTILINE)[1:], ids=name_of)
def test_every_rule_has_log_benchmark_resources_and_threads(rule):
    for directive in ("log", "benchmark", "resources", "threads", "params", "script"):
        assert re.search(rf"^    {directive}:", rule, re.MULTILINE), directive
    assert "    run:" not in rule


def test_only_rules_that_compare_or_calibrate_read_the_published_tables():
    rules = re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", RULES, re.MULTILINE)
    readers = {name for name, text in rules if re.search(r"\bPUBLISHED\b", text)}
    assert readers == {"calibrate", "compare_published", "compare_materials"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_is_thin_and_logged(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert f"(rule {path.stem})" in ast.get_docstring(tree)
    assert "with job_log(snakemake.log[0]" in text
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.If)]
    assert len(text.splitlines()) <= 45
