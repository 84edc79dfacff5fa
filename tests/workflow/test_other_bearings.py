"""One plateau, and both faces of an insert, from end to end at small size."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.study.shipped import find_study
from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

SMALL = {
    "grid": {"rows": 20, "columns": 15},
    "coarse_grid": {"rows": 20, "columns": 15},
    "table": {"u_points": 31, "v_points": 21},
    "simulation": {"frames": 10},
    "report": {"spread": {"blocks": 1, "samples": 0}},
}


def results_of(name, finished, tmp_path_factory, **changes):
    copy = Checkout(
        tmp_path_factory.mktemp(name),
        str(find_study(name).resolve().relative_to(CHECKOUT)),
        origin=finished.folder,
    )
    copy.snakemake(overrides=SMALL | changes)
    return copy.folder / "results" / name


def test_page_of_one_plateau_has_no_other_side(finished, tmp_path_factory):
    variables = {"thickness_mm": [6, 10], "body_mass_kg": [60, 80]}
    results = results_of("unicompartmental", finished, tmp_path_factory, variables=variables)
    assert set(pd.read_csv(results / "tables/cases.csv")["side"]) == {"medial", "both"}
    assert set(pd.read_csv(results / "tables/regression.csv")["side"]) == {"medial"}
    assert (results / "report/index.html").stat().st_size > 10_000


def test_page_of_a_rotating_platform_shows_rotation_and_backside(finished, tmp_path_factory):
    friction = {
        "settings": ["backside.movement.lower_friction.coefficient"],
        "values": [0.05, 0.16],
    }
    results = results_of(
        "rotating_platform",
        finished,
        tmp_path_factory,
        variables={"lower_friction": friction},
        backside={"element_mm": 4.0},
    )
    rows = pd.read_csv(results / "tables/results.csv")
    assert rows["failure"].isna().all()
    assert rows["insert_rotation_range"][0] > rows["insert_rotation_range"][1]
    figures = {path.stem for path in (results / "figures").glob("*.svg")}
    assert figures == {"insert_rotation", "lower_face"}
    placement = pd.read_csv(results / "simulation/gait/placement.csv", comment="#")
    assert not (placement["verdict"] == "fail").any()
    assert (results / "report/index.html").stat().st_size > 10_000
