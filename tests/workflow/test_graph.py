"""Rules that a change re-runs, and those that it leaves alone."""

from __future__ import annotations

import os
from itertools import pairwise

import pytest

from docs.generators.rulegraph import rule_edges
from kneewear.study.shipped import find_study
from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


def test_second_run_does_nothing(finished):
    assert finished.planned() == {}


def test_wear_setting_reruns_wear_and_what_follows_but_not_contact(finished):
    planned = finished.planned({"wear": {"months": 60}})
    assert planned["accumulate_wear"] == 2
    assert {"analyse_cases", "plot_figures", "write_report"} <= set(planned)
    assert not {"build_geometry", "prepare_activity", "simulate_contact"} & set(planned)


def test_contact_code_reruns_contact_but_not_geometry(finished):
    with finished.edited(
        "kneewear/contact/foundation.py",
        "def confined_modulus(",
        "SPARE = 1\n\n\ndef confined_modulus(",
    ):
        planned = finished.planned()
    assert planned["simulate_contact"] == 2
    assert not {"build_geometry", "prepare_activity"} & set(planned)


def test_docstring_and_comment_rerun_nothing(finished):
    path = "kneewear/contact/foundation.py"
    with finished.edited(path, '"""', '"""Said otherwise: '):
        assert finished.planned() == {}
    with finished.edited(path, "\nimport ", "\n# A remark.\nimport "):
        assert finished.planned() == {}


def test_report_setting_reruns_tables_and_page_but_no_computation(finished):
    planned = finished.planned({"report": {"pressure_limit_mpa": 30.0}})
    assert "analyse_cases" in planned
    assert not {"simulate_contact", "accumulate_wear", "evaluate_cases"} & set(planned)


def test_input_replaced_by_an_older_file_is_noticed(tmp_path):
    copy = Checkout(tmp_path / "copy", "config/example_meshes.yaml")
    copy.snakemake("--until", "prepare_activity")
    assert "prepare_activity" not in copy.planned()
    motion = copy.folder / "config/example_meshes/gait.csv"
    motion.write_text(motion.read_text().replace("8.7909", "8.8000"))
    os.utime(motion, (1e9, 1e9))
    assert copy.planned()["prepare_activity"] == 1


STUB = """
from pathlib import Path

for path in map(Path, snakemake.output):
    folder = path.parts[0] == "results" and not path.suffix
    path.mkdir(exist_ok=True) if folder else path.touch()
"""


@pytest.mark.parametrize(
    ("config", "rules"),
    [
        ("monte_carlo.yaml", {"plan_cases", "evaluate_cases"}),
        ("calibration.yaml", {"evaluate_cases"}),
    ],
)
def test_report_setting_reruns_only_the_page_of_another_kind(tmp_path, config, rules):
    copy = Checkout(
        tmp_path / "copy", str(find_study(f"config/{config}").resolve().relative_to(CHECKOUT))
    )
    for script in (copy.folder / "scripts").glob("*.py"):
        script.write_text(STUB)
    few = {"cases": {"plan": "monte_carlo", "samples": 20}} if config == "monte_carlo.yaml" else {}
    copy.snakemake(overrides=few)
    assert copy.planned(few) == {}
    report = {"report": {"pressure_limit_mpa": 30.0}}
    assert set(copy.planned(few | report)) == {"write_report"}
    assert rules <= set(copy.planned(few | {"simulation": {"poisson_ratio": 0.4}}))
    if config == "monte_carlo.yaml":
        found = copy.planned(few | {"analyses": {"intervals": {"level_percent": 90}}})
        assert {"analyse_cases", "write_report"} <= set(found)
        assert "evaluate_cases" not in found


def test_changed_cases_rerun_their_batch_only(finished):
    # The second of two batches holds the cases of 10 mm, the centre case among them.
    planned = finished.planned({"variables": {"thickness_mm": [6, 11], "body_mass_kg": [50, 75]}})
    assert planned["simulate_contact"] == 1
    assert planned["accumulate_wear"] == 1


def test_geometry_setting_reruns_all_but_the_kernels(finished):
    planned = finished.planned({"grid": {"rows": 41}})
    assert planned["build_geometry"] == 1
    assert planned["prepare_activity"] == 1
    assert planned["simulate_contact"] == 2
    assert "compile_kernels" not in planned


CHAIN = (
    "build_geometry",
    "prepare_activity",
    "simulate_contact",
    "accumulate_wear",
    "analyse_cases",
    "plot_figures",
    "write_report",
)


def test_chain_is_in_the_graph_of_the_rules_in_order():
    after = {}
    for first, second in rule_edges():
        after.setdefault(first, set()).add(second)

    def reached(rule):
        found = after.get(rule, set())
        return found.union(*map(reached, found))

    for first, second in pairwise(CHAIN):
        assert second in reached(first)
        assert first not in reached(second)


PAGE = {"write_report"}
FIGURES = PAGE | {"plot_figures"}
TABLES = FIGURES | {"analyse_cases"}
WEAR = TABLES | {"accumulate_wear", "evaluate_cases", "export_files"}
CONTACT = WEAR | {"simulate_contact"}
CODE = "from __future__ import annotations\n", "from __future__ import annotations\n\nSPARE = 1\n"
# What an edit is of, the file, a text in it and what replaces it, and the rules that run again.
EDITS = {
    "caption": ("kneewear/report/pages/figures.yaml", "Damage depth", "Depth of damage", PAGE),
    "citation": ("kneewear/motion/settings.py", "Pressures differ by", "They differ by", set()),
    "docstring": ("kneewear/contact/foundation.py", '"""', '"""Said otherwise: ', set()),
    "key of a patella": ("kneewear/models/bearing_test/settings.py", *CODE, set()),
    "wear law": ("kneewear/wear/laws.py", *CODE, WEAR),
    "kernel": ("kneewear/contact/_kernels.py", *CODE, CONTACT | {"compile_kernels"}),
    "geometry": (
        "kneewear/geometry/implant_sources.py",
        *CODE,
        CONTACT | {"build_geometry", "prepare_activity"},
    ),
    "figure": ("kneewear/report/wear.py", *CODE, FIGURES),
    "analysis": ("kneewear/analysis/regression_tables.py", *CODE, TABLES),
    # This study is not compared with printed results.
    "table": ("kneewear/evidence/published/table_c_1_area.csv", "0", "1", set()),
    # Named by `report.spread.constants`: the samples of the centre case.
    "file of settings": (
        "config/monte_carlo.yaml",
        "standard_deviation: 0.04",
        "standard_deviation: 0.05",
        TABLES | {"evaluate_cases"},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edit_reruns_what_depends_on_it(finished, edit):
    path, old, new, rules = EDITS[edit]
    with finished.edited(path, old, new):
        assert set(finished.planned()) == rules
