"""Designs of a search: their results, failures and front, and bad settings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pymoo", reason="the extra 'optimisation' is not installed")

from kneewear.analysis.design_intervals import intervals_of_designs
from kneewear.analysis.front import analyse_front
from kneewear.errors import InputDataError
from kneewear.runs.chains import chain_of
from kneewear.study.designs import chosen_study, simulate_design
from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.run import run_cases
from kneewear.study.search import (
    BASELINE_NUMBER,
    design_table,
    generations,
    mark_front,
    minimised,
    plan_front,
    plan_generation,
    search_problem,
    searched,
    violations,
    with_grid,
)
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.wear import bearing_surfaces
from kneewear.wear.posterior import intervals_of_laws
from tests.study.studies import CONFIG, shipped

SPHERE = {"medial": 25.0, "lateral": 25.0}
LAXITY = read_settings(CONFIG / "laxity.yaml")["press"]
RADIUS = "implant.parametric.femoral_sagittal_radius_mm"
OPTIMISATION = shipped("optimisation.yaml")
# Few elements and frames: laws hold on any.
COARSE = {
    "grid": {"rows": 24, "columns": 18},
    "simulation": {"analysis": "quasi_static", "frames": 8},
}
FEW = {"population": 4, "generations": 2, "search_grid": {"rows": 16, "columns": 12}}
# Both sides alike, without rotation: mirror images in the plane between them.
SYMMETRIC = {
    "implant": {"parametric": {"plateau_coronal_radius_mm": {"medial": 340.0, "lateral": 340.0}}},
    "activities": {"gait": {"tibial_external_rotation_deg": {"base": 0.0, "bumps": []}}},
}


def settings(variables=None, changes=None, **plan):
    """Settings of the shipped search on few elements, with changes."""
    blocks = {"cases": OPTIMISATION["cases"] | FEW | plan}
    blocks |= {} if variables is None else {"variables": variables}
    return merge_settings(merge_settings(OPTIMISATION, COARSE | blocks), changes or {})


def small_search(*args, **plan):
    """Checked study of `settings`."""
    return validate_study(settings(*args, **plan))


def computed(study, table, knee=None):
    """Results of some designs on the elements of a study."""
    knee = with_grid(study, knee or exact_knee(study))
    return run_cases(study, table, CaseInputs(study, knee, built_in_activities(study), exact=True))


def labelled(**columns):
    """Table of designs of the first generation."""
    table = pd.DataFrame(columns)
    numbers = np.arange(len(table))
    names = [f"design {number}" for number in numbers]
    return table.assign(case=names, generation=0, design=numbers, in_full=False)


def whole_search(study):
    """Results of all generations and of the front in full."""
    results = pd.DataFrame()
    knee = exact_knee(study)
    for number in range(study.cases.generations):
        plan = plan_generation(study, number, results)
        parts = [computed(searched(study), plan[part::2], knee) for part in range(2)]
        results = pd.concat([results, *parts], ignore_index=True)
    return pd.concat([results, computed(study, plan_front(study, results), knee)])


@pytest.mark.parametrize(
    ("variables", "plan", "message"),
    [
        ({"r": {"settings": [RADIUS], "low": 30.0, "high": 20.0}}, {}, r"variables\.r: .*low: 30"),
        ({"r": {"settings": [RADIUS]}}, {}, r"variables\.r: .*no low and no high"),
        ({"r": {"settings": [RADIUS], "low": -1.0, "high": 30.0}}, {}, r"variables\.r\.low: .*-1"),
        (
            None,
            {"constraints": {"damage_depth": {"at_least": 2, "at_most": 1}}},
            r"cases\.constraints\.damage_depth: .*at_least: 2, at_most: 1",
        ),
        (
            None,
            {"objectives": {"wear_volum": "minimise"}},
            r"cases\.objectives\.wear_volum: .*'wear_volume'",
        ),
        (
            None,
            {"objectives": {"varus_valgus_stiffness": "maximise"}},
            r"cases\.objectives\.varus_valgus_stiffness: .*cases\.stiffness",
        ),
        (None, {"maps": True}, r"cases\.maps: "),
        ({"thickness_mm": [8, 10]}, {}, r"variables\.thickness_mm: .*no low"),
        ({}, {}, r"variables: "),
    ],
)
def test_settings_that_no_search_can_have_are_refused_in_one_message(variables, plan, message):
    with pytest.raises(InputDataError, match=message) as caught:
        small_search(variables, **plan)
    assert "faults" not in str(caught.value)


def test_design_that_cannot_be_built_is_reported_and_the_search_continues():
    # Neither bound is impossible, but some combinations are.
    pair = {
        name: {"settings": [f"implant.parametric.plateau_{setting}_mm"], "low": low, "high": high}
        for name, setting, low, high in (
            ("length", "half_length", 15, 30),
            ("radius", "sagittal_radius", 20, 60),
        )
    }
    study = small_search(pair)
    table = labelled(length=[18.0, 29.0, 18.0], radius=[600.0, 22.0, 600.0])
    results = computed(searched(study), table)
    designs = design_table(study, results, in_full=False)
    assert designs["failure"].ne("").tolist() == [False, True, False]
    assert "radius" in designs["failure"][1]
    assert np.isnan(designs["wear_volume"][1])
    assert designs["wear_volume"][0] == designs["wear_volume"][2] > 0.0
    assert generations(study, results)[0].feasible.tolist() == [True, False, True]


@pytest.mark.slow
@pytest.mark.compiled
def test_stiffness_of_spheres_in_dishes_is_load_over_the_difference_of_radii():
    """The constraint of a design, as an objective and as a limit."""
    dish = [
        "implant.parametric.plateau_sagittal_radius_mm",
        "implant.parametric.plateau_coronal_radius_mm.*",
    ]
    shape = {"femoral_sagittal_radius_mm": 25.0, "femoral_coronal_radius_mm": SPHERE}
    stiffness = {
        "press": LAXITY | {"path": None},
        "flexion_deg": [0],
        "paths": {
            test: LAXITY["path"] | {"coordinate": test, "amplitude": 2.0, "steps": 8}
            for test in ("anterior_posterior", "medial_lateral")
        },
    }
    study = small_search(
        {"dish": {"settings": dish, "low": 40.0, "high": 70.0}},
        {"implant": {"parametric": shape}, "grid": {"rows": 100, "columns": 75}},
        objectives={"anterior_posterior_stiffness": "maximise"},
        constraints={"medial_lateral_stiffness": {"at_most": 20.0}},
        stiffness=stiffness,
    )
    results = computed(study, labelled(dish=[50.0, 65.0]))
    designs = design_table(study, results, in_full=False)
    assert designs["failure"].tolist() == ["", ""]
    expected = LAXITY["load_n"] / (designs["dish"] - 25.0)
    # The layer gives way by 0.3 mm, which adds to the distance of the centres; elements of the
    # patch: 1 %.
    for name in ("anterior_posterior_stiffness", "medial_lateral_stiffness"):
        assert designs[name].tolist() == pytest.approx(expected.tolist(), rel=0.02), name
    stiff = designs["anterior_posterior_stiffness"].to_numpy()
    assert minimised(study.cases, designs)[:, 0].tolist() == (-stiff).tolist()
    assert (violations(study.cases, designs)[:, 0] > 0.0).tolist() == [True, False]


def test_limits_are_violated_on_their_far_side_in_parts_of_them():
    study = small_search(constraints={"max_pressure": {"at_most": 20.0, "at_least": 10.0}})
    table = pd.DataFrame({"max_pressure": [5.0, 15.0, 25.0]})
    parts = violations(study.cases, table)
    assert parts.tolist() == [[0.5, -0.75], [-0.5, -0.25], [-1.5, 0.25]]
    assert search_problem(study).constraints == 2


def test_reciprocal_scale_searches_evenly_in_the_reciprocal():
    radius = {"settings": [RADIUS], "low": 20.0, "high": 40.0, "scale": "reciprocal"}
    values = plan_generation(small_search({"radius": radius}), 0, pd.DataFrame())["radius"]
    parts = (1.0 / 20.0 - 1.0 / values) / (1.0 / 20.0 - 1.0 / 40.0)
    assert sorted(np.floor(4.0 * parts)) == [0, 1, 2, 3]


@pytest.fixture(scope="module")
def finished():
    """A study, results of its search and of its front, and its tables."""
    study = small_search()
    results = whole_search(study)
    return study, results, analyse_front(results, study, study.analyses.front)


@pytest.mark.compiled
def test_front_in_full_has_every_design_of_the_search_and_the_settings(finished):
    study, results, tables = finished
    designs, front = tables["designs"], tables["front"]
    assert set(front["design"]) == set(designs.loc[designs["front"], "design"])
    assert (results["design"] == BASELINE_NUMBER).sum() == 1
    best = front[~front["dominated"]]
    chosen = tables["chosen_designs"].set_index("chosen")
    assert tuple(chosen.index) == study.cases.chosen
    assert chosen.loc["lowest_wear_volume", "wear_volume"] == best["wear_volume"].min()
    assert chosen.loc["lowest_max_pressure", "max_pressure"] == best["max_pressure"].min()
    # On twice as many elements along each axis.
    assert (tables["search_error"]["largest_percent"] > 0.0).all()
    progress = tables["search_progress"]
    assert (progress["with_results"] == 4).all()
    assert progress["hypervolume"].is_monotonic_increasing
    assert progress["hypervolume"].iloc[-1] == 1.0


@pytest.mark.compiled
def test_chosen_designs_are_wear_studies_with_the_same_results(finished):
    study, _, tables = finished
    knee = with_grid(study, exact_knee(study))
    inputs = CaseInputs(study, knee, built_in_activities(study), exact=True)
    for _, row in tables["chosen_designs"].iterrows():
        design = chosen_study(study, row)
        assert validate_study(design.model_dump(mode="json")) == design
        radius = design.implant.parametric.femoral_sagittal_radius_mm
        assert radius == pytest.approx(row["femoral_sagittal_radius"])
        depth = simulate_design(study, inputs, row).damage.damage_depth.max()
        assert depth == pytest.approx(row["damage_depth"], rel=1e-9)


@pytest.mark.slow
def test_pressure_of_a_symmetric_bearing_is_least_with_an_equal_share():
    # Mirror images: the larger of two equal pressures is least where both carry the same.
    share = {"settings": ["simulation.medial_share"], "low": 0.3, "high": 0.8}
    study = small_search(
        {"share": share},
        SYMMETRIC,
        objectives={"max_pressure": "minimise"},
        population=8,
        generations=12,
    )
    designs = mark_front(study, whole_search(study))
    best = designs.loc[designs["max_pressure"].idxmin(), "share"]
    assert best == pytest.approx(0.5, rel=0.01)


def test_interval_of_a_design_is_that_of_its_study():
    study = small_search({"radius": {"settings": [RADIUS], "low": 18.0, "high": 32.0}})
    inputs = CaseInputs(study, exact_knee(study), built_in_activities(study), exact=True)
    chosen = pd.DataFrame({"chosen": ["baseline", "knee_point"], "radius": [0.0, 22.0]})
    table = intervals_of_designs(study, chosen, inputs).set_index("chosen")
    surfaces, wear = bearing_surfaces(chosen_study(study, chosen.iloc[1]), inputs)
    own = table.loc["knee_point"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, intervals_of_laws(surfaces, wear))
    assert (table.loc["baseline", "median"].to_numpy() != own["median"].to_numpy()).all()


def test_studies_of_searches_have_a_table_of_intervals():
    chain = chain_of(small_search(), str(CONFIG.parent))
    assert "wear_intervals" in {name for names in chain.copied.values() for name in names}
