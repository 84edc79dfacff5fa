"""Rules and scripts have the same names and the same structure."""

from __future__ import annotations

import ast
import re

import pytest

from kneewear.api import load_study
from kneewear.runs.chains import chain_of
from kneewear.study.shipped import find_study
from tests.workflow.conftest import CHECKOUT, Checkout

SCRIPTS = sorted((CHECKOUT / "scripts").glob("*.py"))
RULE_FILES = sorted((CHECKOUT / "workflow" / "rules").glob("*.smk"))
RULES = "\n".join(path.read_text() for path in RULE_FILES)


def name_of(rule):
    """Name of a rule from its text."""
    return rule.partition(":")[0]


def test_every_rule_has_the_script_of_its_name():
    rules = re.findall(r"^rule (\w+):", RULES, re.MULTILINE)
    assert sorted(rules) == [path.stem for path in SCRIPTS]
    assert re.findall(r"\.\./scripts/(\w+)\.py", RULES) == rules


@pytest.mark.parametrize("rule", re.split(r"^rule ", RULES, flags=re.MULTILINE)[1:], ids=name_of)
def test_every_rule_has_log_benchmark_and_resources(rule):
    for directive in ("log", "benchmark", "resources", "script"):
        assert re.search(rf"^ +{directive}:", rule, re.MULTILINE), directive
    assert "    run:" not in rule


@pytest.mark.workflow
@pytest.mark.slow
def test_every_job_has_a_log_and_a_benchmark(tmp_path):
    text = Checkout(tmp_path / "copy").snakemake("-n", "--forceall", "--printshellcmds")
    jobs = re.split(r"^(?:local)?rule ", text[: text.rindex("Job stats")], flags=re.MULTILINE)[1:]
    named = {name_of(job): job for job in jobs if not job.startswith("study:")}
    assert {"simulate_contact", "write_report"} <= set(named)
    for name, job in named.items():
        assert f"log: results/quick/logs/{name}" in job
        assert f"benchmark: results/quick/benchmarks/{name}" in job


def readers(config):
    """Jobs of a study that are given printed results."""
    own = load_study(find_study(f"config/{config}"))
    chain = chain_of(own, str(CHECKOUT))
    jobs = {"analyse_cases": chain.analysis, "export_files": chain.export}
    for rule, steps in (
        ("evaluate", chain.evaluated),
        ("evaluate", chain.variants),
        ("plot", chain.drawn),
    ):
        jobs |= {f"{rule} {name}": step for name, step in steps.items()}
    given = {
        job: [path for one in step.inputs.values() for path in one] for job, step in jobs.items()
    }
    return {job for job, paths in given.items() if set(paths) & set(chain.published)}


def test_only_jobs_that_compare_or_calibrate_read_the_published_tables():
    assert not re.findall(r"\bpublished\b", RULES)
    assert readers("config.yaml") == {"analyse_cases"}
    assert readers("calibration.yaml") == {"evaluate fit"}
    assert readers("quick.yaml") == set()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script_is_thin_and_logged(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert f"(rule {path.stem})" in ast.get_docstring(tree)
    assert "with job_log(snakemake.log[0]" in text
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.If)]
    assert len(text.splitlines()) <= 45
