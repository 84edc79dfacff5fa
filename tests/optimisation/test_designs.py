"""Designs of an optimisation: their results, failures, and bad settings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pymoo", reason="the extra 'optimisation' is not installed")

from kneewear.errors import InputDataError
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.study import load_study, read_settings
from kneewear.studies.life import built_in_activities, exact_knee
from kneewear.studies.optimisation.designs import (
    design_case,
    evaluate_designs,
    evaluate_generation,
    generations,
    minimised,
    search_problem,
    values_as_set,
    violations,
)
from kneewear.studies.optimisation.front import (
    NUMBER_AS_SET,
    chosen_study,
    evaluate_front,
    find_front,
    shown_designs,
    tabulate_front,
)
from tests.workflow.conftest import CHECKOUT

SPHERE = {"medial": 25.0, "lateral": 25.0}
LAXITY = read_settings(CHECKOUT / "config/laxity.yaml")["laxity"]
RADIUS = "implant.parametric.femoral_sagittal_radius_mm"
# Both sides alike, without rotation: mirror images in the plane between them.
SYMMETRIC = {
    "implant": {"parametric": {"plateau_coronal_radius_mm": {"medial": 340.0, "lateral": 340.0}}},
    "activities": {"gait": {"tibial_external_rotation_deg": {"base": 0.0, "bumps": []}}},
}


def variables(**own):
    """Settings of these variables instead of the shipped ones."""
    shipped = ("femoral_sagittal_radius", "femoral_coronal_radius", "plateau_coronal_radius")
    return {"optimisation": {"variables": dict.fromkeys(shipped) | own}}


def whole_search(study, count):
    """Tables of all generations."""
    knee, activities = exact_knee(study), built_in_activities(study)
    tables = []
    for number in range(count):
        parts = study.batches().values()
        tables += [
            evaluate_generation(study, knee, activities, number, part, list(tables))
            for part in parts
        ]
    return tables


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            variables(radius={"settings": [RADIUS], "low": 30.0, "high": 20.0}),
            r"variables\.radius: found low: 30, high: 20; expected low below high",
        ),
        (
            variables(radius={"settings": [RADIUS]}),
            r"variables\.radius: found no bounds; expected low and high",
        ),
        (
            variables(radius={"settings": [RADIUS + "s"], "low": 20.0, "high": 30.0}),
            r"variables\.radius\.settings: found implant\.parametric\.femoral_sagittal_radius_mms, "
            r"of which there is no 'femoral_sagittal_radius_mms'; expected the path of a number",
        ),
        (
            variables(radius={"settings": [RADIUS], "low": -1.0, "high": 30.0}),
            r"variables\.radius\.low: found -1, for which .*femoral_sagittal_radius_mm is refused",
        ),
        (
            variables(
                one={"settings": [RADIUS], "low": 20.0, "high": 30.0},
                two={"settings": [RADIUS], "low": 20.0, "high": 30.0},
            ),
            r"variables\.two: found .*femoral_sagittal_radius_mm, which one changes too",
        ),
        (
            variables(steps={"settings": ["wear.blocks"], "low": 1, "high": 4}),
            r"variables\.steps\.settings: found wear\.blocks, which updates the surface",
        ),
        (
            {"optimisation": {"constraints": {"damage_depth": {"at_least": 2, "at_most": 1}}}},
            r"constraints\.damage_depth: found at_least: 2, at_most: 1; .* no design fulfils both",
        ),
        (
            {"optimisation": {"objectives": {"wear_volum": "minimise"}}},
            r"objectives\.wear_volum: found 'wear_volum'; .*Did you mean 'wear_volume'\?",
        ),
        (
            {"optimisation": {"objectives": {"varus_valgus_stiffness": "maximise"}}},
            r"found varus_valgus_stiffness without the test varus_valgus; expected optimisation\."
            r"laxity",
        ),
        ({"cases": {"thickness_mm": [8, 10]}}, r"found an optimisation with 2 cases; expected one"),
    ],
)
def test_settings_that_no_search_can_have_are_refused_in_one_message(settings, changes, message):
    with pytest.raises(InputDataError, match=message) as caught:
        load_study(settings(changes))
    assert "faults" not in str(caught.value)


def test_own_settings_are_a_design_of_the_search(study):
    ratio = {
        "settings": ["implant.parametric.plateau_coronal_radius_mm.*"], "change": "multiply",
        "of": "implant.parametric.femoral_coronal_radius_mm.medial", "low": 1.05, "high": 2.0,
    }  # fmt: skip
    own = study(
        variables(
            radius={"settings": [RADIUS], "low": 15.0, "high": 30.0},
            turn={
                "settings": ["activities.gait.tibial_external_rotation_deg.base"],
                "change": "add", "low": -2.0, "high": 2.0,
            },
            ratio=ratio,
        )
    )  # fmt: skip
    values = values_as_set(own)
    assert values["radius"] == own.implant.parametric.femoral_sagittal_radius_mm
    assert values["turn"] == 0.0
    # Plateaus of the two sides differ.
    assert np.isnan(values["ratio"])
    case = design_case(own, {"design": 3, "radius": 20.0, "turn": 1.0, "ratio": 1.5})
    assert case.overrides[RADIUS] == 20.0
    for side in ("medial", "lateral"):
        assert case.overrides[f"implant.parametric.plateau_coronal_radius_mm.{side}"] == 426.0


def test_design_that_cannot_be_built_is_reported_and_the_search_continues(study):
    # Below half of the condyles' width there is no arc.
    wide = {"settings": ["implant.parametric.femoral_coronal_radius_mm.*"], "low": 8, "high": 40}
    with pytest.raises(InputDataError, match=r"variables\.coronal\.low: found 8, for which"):
        study(variables(coronal=wide))
    # Neither bound of the sagittal radius is impossible, but some combinations are.
    pair = {
        name: {"settings": [f"implant.parametric.plateau_{setting}_mm"], "low": low, "high": high}
        for name, setting, low, high in (
            ("length", "half_length", 15, 30), ("radius", "sagittal_radius", 20, 60)
        )
    }  # fmt: skip
    own = study(variables(**pair))
    knee, activities = exact_knee(own), built_in_activities(own)
    rows = [(0, 18.0, 600.0), (1, 29.0, 22.0), (2, 18.0, 600.0)]
    designs = pd.DataFrame(rows, columns=["design", "length", "radius"]).assign(generation=0)
    found = evaluate_designs(own.searched(), knee, activities, designs)
    assert found["failure"].ne("").tolist() == [False, True, False]
    assert (
        "found 22 with plateau_half_length_mm: 29; expected a radius above it"
        in (found["failure"][1])
    )
    assert np.isnan(found["wear_volume"][1])
    assert found["wear_volume"][0] == found["wear_volume"][2] > 0.0
    done = generations(own.optimisation, found)
    assert done[0].feasible.tolist() == [True, False, True]


@pytest.mark.compiled
def test_stiffness_of_spheres_in_dishes_is_load_over_the_difference_of_radii(study):
    """The constraint of a design, as an objective and as a limit."""
    shape = {"femoral_sagittal_radius_mm": 25.0, "femoral_coronal_radius_mm": SPHERE}
    dish = ["implant.parametric.plateau_sagittal_radius_mm",
            "implant.parametric.plateau_coronal_radius_mm.*"]  # fmt: skip
    changes = variables(dish={"settings": dish, "low": 40.0, "high": 70.0})
    changes["implant"] = {"parametric": shape}
    changes["optimisation"] |= {
        "objectives": {
            "anterior_posterior_stiffness": "maximise", "wear_volume": None, "max_pressure": None
        },
        "constraints": {"medial_lateral_stiffness": {"at_most": 20.0}},
        "laxity": {
            **LAXITY, "flexion_deg": [0], "steps": 8, "friction": [0.0],
            "anterior_posterior": {"amplitude": 2.0, "end_load": 50.0},
            "medial_lateral": {"amplitude": 2.0, "end_load": 50.0},
        },
    }  # fmt: skip
    own = study(changes | {"grid": {"rows": 100, "columns": 75}})
    designs = pd.DataFrame({"generation": 0, "design": [0, 1], "dish": [50.0, 65.0]})
    found = evaluate_designs(own, exact_knee(own), built_in_activities(own), designs)
    assert found["failure"].tolist() == ["", ""]
    expected = LAXITY["load_n"] / (found["dish"] - 25.0)
    # The layer gives way by 0.3 mm, which adds to the distance of the centres; elements of the
    # patch: 1 %.
    for name in ("anterior_posterior_stiffness", "medial_lateral_stiffness"):
        assert found[name].tolist() == pytest.approx(expected.tolist(), rel=0.02), name
    stiff = found["anterior_posterior_stiffness"].to_numpy()
    assert minimised(own.optimisation, found)[:, 0].tolist() == (-stiff).tolist()
    assert (violations(own.optimisation, found)[:, 0] > 0.0).tolist() == [True, False]


def test_search_without_any_result_stops_with_its_first_reason(study):
    own = study()
    failed = pd.DataFrame(
        {"generation": 0, "design": [0, 1], "failure": ["too steep", "too thin"]}
    ).assign(**dict.fromkeys([*own.optimisation.variables, *OUTPUTS], np.nan))
    with pytest.raises(InputDataError, match=r"no design of the first 2 with results.*too steep"):
        generations(own.optimisation, failed)


def test_limits_are_violated_on_their_far_side_in_parts_of_them(study):
    own = study(
        {"optimisation": {"constraints": {"max_pressure": {"at_most": 20.0, "at_least": 10.0}}}}
    )
    table = pd.DataFrame({"max_pressure": [5.0, 15.0, 25.0]})
    found = violations(own.optimisation, table)
    assert found.tolist() == [[0.5, -0.75], [-0.5, -0.25], [-1.5, 0.25]]
    assert search_problem(own).constraints == 2


def test_constraints_that_no_design_fulfils_are_named(study):
    own = study({"optimisation": {"constraints": {"max_pressure": {"at_most": 20.0}}}})
    values = dict.fromkeys([*own.optimisation.variables, *OUTPUTS], 30.0)
    one = pd.DataFrame({"generation": 0, "design": [0, 1], "failure": "", **values})
    one["max_pressure"] = [30.0, 25.0]
    with pytest.raises(InputDataError, match=r"none of 2 designs.*design 1 violates one by 25 %"):
        find_front(own, [one])


@pytest.fixture(scope="module")
def finished(study):
    """A study, all tables of its search, and the tables of its front."""
    own = study()
    tables = whole_search(own, 2)
    designs = find_front(own, tables)
    knee, activities = exact_knee(own), built_in_activities(own)
    full = [evaluate_front(own, knee, activities, designs, part, 2) for part in range(2)]
    return own, tables, designs, tabulate_front(own, designs, full), full


@pytest.mark.compiled
def test_parts_of_a_generation_are_the_generation_in_any_order(finished):
    own, tables, designs, _, _ = finished
    assert sorted(designs["design"]) == list(range(8))
    again = find_front(own, tables[::-1])
    pd.testing.assert_frame_equal(again, designs)


@pytest.mark.compiled
def test_front_in_full_has_every_design_of_the_search_and_the_own_settings(finished):
    own, _, designs, tables, full = finished
    assert set(tables.front["design"]) == set(designs.loc[designs["front"], "design"])
    assert sum((one["design"] == NUMBER_AS_SET).sum() for one in full) == 1
    best = tables.front[~tables.front["dominated"]]
    chosen = tables.chosen.set_index("chosen")
    assert list(chosen.index) == list(own.optimisation.chosen)
    assert chosen.loc["lowest_wear_volume", "wear_volume"] == best["wear_volume"].min()
    assert chosen.loc["lowest_max_pressure", "max_pressure"] == best["max_pressure"].min()
    # On twice as many elements along each axis.
    assert (tables.search_error["largest_percent"] > 0.0).all()
    assert (tables.convergence["with_results"] == 4).all()
    assert tables.convergence["hypervolume"].is_monotonic_increasing
    assert tables.convergence["hypervolume"].iloc[-1] == 1.0


@pytest.mark.compiled
def test_chosen_designs_are_wear_studies_of_their_own(finished):
    own, _, _, tables, _ = finished
    for _, row in tables.chosen.iterrows():
        one = chosen_study(own, row)
        assert load_study(one.model_dump(mode="json")) == one
        radius = one.implant.parametric.femoral_sagittal_radius_mm
        assert radius == pytest.approx(row["femoral_sagittal_radius"])


def test_shown_designs_are_spread_along_the_front(study):
    own = study({"optimisation": {"shown": 6}})
    # A straight front of 101 designs, crowded at its end; the last one is dominated.
    wear = np.append(np.linspace(0.0, 1.0, 101) ** 3, 2.0)
    front = pd.DataFrame({"design": np.arange(102), "dominated": wear > 1.0})
    front = front.assign(wear_volume=wear, max_pressure=10.0 * (1.0 - wear))
    chosen = front[["design", "wear_volume", "max_pressure"]].iloc[[0, 100]]
    chosen = pd.concat([chosen.assign(design=NUMBER_AS_SET).iloc[:1], chosen], ignore_index=True)
    chosen.insert(0, "chosen", ["as_set", "lowest_wear_volume", "lowest_max_pressure"])
    found = shown_designs(own.optimisation, front, chosen)
    assert found["chosen"][:3].tolist() == chosen["chosen"].tolist()
    assert found["chosen"][3:].tolist() == [f"design_{number}" for number in found["design"][3:]]
    # The middle first, then the middles of both halves.
    assert found["wear_volume"][3:].to_numpy() == pytest.approx([0.25, 0.5, 0.75], abs=0.02)
    few = study({"optimisation": {"shown": 0}})
    assert len(shown_designs(few.optimisation, front, chosen)) == 3
    # How many are shown does not run a search again.
    assert few.search_settings() == own.search_settings()


@pytest.mark.slow
def test_pressure_of_a_symmetric_bearing_is_least_with_an_equal_share(study):
    # Mirror images: the larger of two equal pressures is least where both carry the same.
    share = {"settings": ["simulation.medial_share"], "low": 0.3, "high": 0.8}
    changes = SYMMETRIC | variables(share=share)
    changes["optimisation"] |= {
        "objectives": {"max_pressure": "minimise", "wear_volume": None},
        "population": 8, "generations": 12,
    }  # fmt: skip
    own = study(changes)
    designs = find_front(own, whole_search(own, 12))
    best = designs.loc[designs["max_pressure"].idxmin(), "share"]
    assert best == pytest.approx(0.5, rel=0.01)
