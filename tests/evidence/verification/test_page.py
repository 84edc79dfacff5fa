"""Figures and page of a verification study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.base.cases import Case
from kneewear.errors import NOT_COMPUTED
from kneewear.evidence.verification.analytical_contacts import contacts_by_shape
from kneewear.evidence.verification.engine import (
    compare_sphere_models,
    compared_value,
    vary_active_elements,
)
from kneewear.evidence.verification.figures import draw_verification
from kneewear.evidence.verification.methods import compare_analyses, correct_distances
from kneewear.report.tables import words
from kneewear.study.settings import read_study
from tests.datasets import with_values
from tests.physics.bodies import SMALL, gait_study
from tests.report.pages import written

CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture(scope="module")
def tables():
    study = gait_study(*SMALL)
    still = study.run(Case("one", 8.0, 75.0))
    moved = with_values(still, analysis="forward", max_pressure=1.02 * still.max_pressure)
    comparisons = (
        compared_value("sphere", "force", "N", 100.0, np.array([1e-4]), "elastic foundation", 0.05),
        compared_value(
            "sphere", "area", "mm2", 100.0, np.array([0.013]), "elastic foundation", 1.0
        ),
        compared_value("punch", "force", "N", 100.0, np.array([0.025]), "elastic foundation"),
    )
    refinement = [
        {"contact": contact.name, "quantity": name, "rows": n, "worst_error_percent": 9 / n}
        for contact in contacts_by_shape()
        for name in ("force", "area")
        for n in (10, 20)
    ]
    variants = [
        {
            "variant": "distance: exact",
            "case": "one",
            "life": "gait",
            "side": side,
            "unit": "mm",
            "quantity": "damage_depth",
            "value": 1.0,
            "changed": changed,
            "relative_difference": changed - 1.0,
        }
        for side, changed in (("medial", 1.001), ("lateral", 0.997))
    ]
    accuracy = [
        {
            "accuracy": name,
            "elements": 300,
            "frames": 100,
            "life": "gait",
            "side": "medial",
            "quantity": "damage_depth",
            "error_percent": error,
            "bound_percent": bound,
        }
        for name, error, bound in (
            ("as configured", 4.5, np.nan),
            ("draft", -2.5, 3.0),
            ("standard", 0.8, 1.0),
            ("fine", 0.2, 0.3),
        )
    ]
    return {
        "accuracy": pd.DataFrame(accuracy),
        "verification": pd.DataFrame(comparisons),
        "sphere_models": compare_sphere_models(),
        "refinement": pd.DataFrame(refinement),
        "active_elements": vary_active_elements(1, counts=(25, 50), offsets=5),
        "distance_correction": correct_distances(study.grid, study.implant.femoral, still),
        "analyses": compare_analyses(still, moved),
        "variants": pd.DataFrame(variants),
    }


def test_every_comparison_has_its_figure(tables):
    figures = draw_verification(tables)
    assert list(figures) == [
        "sphere_models",
        "refinement",
        "active_elements",
        "distance_correction",
        "analyses_gait",
    ]
    # Every shape and quantity the legends name has its line.
    for name in ("sphere_models", "refinement", "active_elements"):
        for axes in figures[name].axes:
            assert all(len(line.get_xdata()) > 0 for line in axes.get_lines())


@pytest.mark.parametrize(
    "missing",
    [
        ["verification", "refinement", "active_elements", "sphere_models"],
        ["distance_correction", "variants", "analyses"],
        ["accuracy"],
    ],
    ids=["engine", "methods", "accuracy"],
)
def test_page_states_what_was_not_computed_and_shows_the_rest(tables, missing):
    study = read_study(CONFIG / "evidence/verification.yaml", defaults=CONFIG / "defaults.yaml")
    failed = pd.DataFrame({NOT_COMPUTED: ["ValueError: no contact."]})
    known = {name: table for name, table in tables.items() if name not in missing}
    figures = dict.fromkeys(draw_verification(known), b"<svg/>")
    given = known | dict.fromkeys(missing, failed)
    page = written("verification", study.model_dump(mode="json"), given, figures)
    (finding,) = (one for one in page.findings if one.finding.check == "side_study")
    assert finding.finding.where.split(", ") == [words(name) for name in missing]
    assert page.page.count("<img") == len(figures)


def test_page_counts_targets_and_names_the_largest_differences(tables):
    study = read_study(CONFIG / "evidence/verification.yaml", defaults=CONFIG / "defaults.yaml")
    figures = dict.fromkeys(draw_verification(tables), b"<svg/>")
    page = written("verification", study.model_dump(mode="json"), tables, figures)
    assert page.results["met",].value == pytest.approx(50.0)
    assert page.results["force_error",].value == pytest.approx(1e-2)
    assert page.results["method_difference",].value == pytest.approx(-0.3)
    assert page.results["discretisation_error", "as configured"].value == 4.5
    assert [one.finding.check for one in page.findings] == ["verification_target"]
    assert page.page.count("<img") == len(figures)
