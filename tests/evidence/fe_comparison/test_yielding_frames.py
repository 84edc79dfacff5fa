"""The yielding layer beside finite elements with ten load steps, at poses of two studies.

`yielding_frames.csv` has the finite elements: `comparison` are poses and loads of the
finite-element comparison, `wear` those of a wear study whose insert yields, which finds its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear import build_knee, default_settings_file
from kneewear.base.checks import checks
from kneewear.contact.material import Elastic, Hardening
from kneewear.evidence.fe_comparison import frames
from kneewear.evidence.fe_comparison.frames import SideAtFrame
from kneewear.evidence.fe_comparison.yielding import SideYielding
from kneewear.geometry.grid import bearing_of, build_grid
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion import cases, yielding
from kneewear.motion.evaluation import build_layers, build_pairs
from kneewear.motion.settings import MaterialYieldSettings
from kneewear.study.inputs import built_in_activities, exact_knee
from kneewear.study.settings import read_study
from tests.evidence.fe_comparison.conftest import CONFIG

TABLE = pd.read_csv(Path(__file__).with_name("yielding_frames.csv"), comment="#")
POSE = ["x_mm", "y_mm", "z_mm", "x_rad", "y_rad", "z_rad"]
LOAD_STEPS = 10
# Largest errors against finite elements, %.
MIDDLE = 3.0
MAXIMUM = {75: 15.0, 150: 10.0}
pytestmark = pytest.mark.compiled


CYCLED = "fe_twin_yield"
# Settings of the studies beside those of the comparison, by name in the table.
STUDIES = {name: [CONFIG.parent / f"{name}.yaml"] for name in set(TABLE["study"])}
STUDIES["unicompartmental"] = [
    CONFIG.parents[1] / "unicompartmental.yaml",
    {"model": "fe_comparison", "variables": {"thickness_mm": [8], "body_mass_kg": [80]}},
]


@cache
def comparison_study(name=CYCLED):
    # Distance tables cost more than a pose; only one study is solved over a cycle.
    distance = "table" if name == CYCLED else "exact"
    chosen = *STUDIES[name], {"simulation": {"distance": distance}}
    return read_study(CONFIG, *chosen, defaults=default_settings_file())


@cache
def knee(name=CYCLED):
    study = comparison_study(name)
    return build_knee(study) if name == CYCLED else exact_knee(study)


def curve():
    points = comparison_study().fe_comparison.plasticity
    return Hardening(points.plastic_strain, points.yield_stress_mpa)


def material():
    simulation = comparison_study().simulation
    return Elastic(simulation.youngs_modulus_mpa, simulation.poisson_ratio)


def side_of(row):
    """Side and its number at the pose and load of a row."""
    simulation = comparison_study(row["study"]).simulation
    own, pose = knee(row["study"]), row[POSE].to_numpy(dtype=float)
    number = own.grid.sides.index(row["side"])
    pairs = build_pairs(own, simulation)
    layers = build_layers(own.grid, pairs, row["thickness_mm"], simulation)
    plan = own.grid.centre[number][own.grid.valid[number]][:, [0, 2]]
    side = SideAtFrame(
        label=f"{row['case']}, {row['side']}",
        bearing=bearing_of(own.implant, row["side"]),
        plan=(plan.min(axis=0), plan.max(axis=0)),
        condyle=own.implant.femoral[row["side"]],
        pose=pose,
        pair=pairs[number],
        contact=pairs[number].evaluate(body_three_123(pose[3:]), pose[:3], layers[number]),
        more_thickness=row["thickness_mm"] - own.implant.nominal_thickness,
        given_load=float(row["load_n"]),
    )
    return side, number


@cache
def grid(name, columns):
    return build_grid(knee(name).implant, knee(name).grid.valid.shape[1], columns)


def errors(row, columns):
    """Errors of the yielding layer at the pose and load of a row, %."""
    side, number = side_of(row)
    own = grid(row["study"], columns)
    layer = SideYielding.of(side, own, number, row["thickness_mm"], material(), curve())
    values = layer.values(LOAD_STEPS)
    parts = {name: 100.0 * (values[name] / row[name] - 1.0) for name in values if name in row}
    return parts | {"peak_columns": values["peak_columns"]}


def check(row, columns):
    found = errors(row, columns)
    assert found["peak_columns"] >= checks()["contact.peak_columns"].range.low
    assert abs(found["middle_pressure"]) <= MIDDLE
    assert abs(found["max_pressure"]) <= MAXIMUM[columns]


def test_layer_is_near_finite_elements_on_a_frame_of_a_wear_study():
    check(TABLE[(TABLE["poses"] == "wear") & (TABLE["case"] == "10mm_100kg")].iloc[0], 75)


@pytest.mark.slow
@pytest.mark.parametrize("columns", MAXIMUM)
@pytest.mark.parametrize("number", range(len(TABLE)))
def test_layer_is_near_finite_elements_on_all_frames(number, columns):
    check(TABLE.iloc[number], columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(TABLE.loc[TABLE["poses"] == "wear", "case"])))
def test_frames_of_wear_studies_are_near_finite_elements_at_their_own_pose(name, monkeypatch):
    own = TABLE[(TABLE["poses"] == "wear") & (TABLE["case"] == name)].set_index("side")
    frame, kept = int(own["percent"].iloc[0]), []

    def run(elastic, order, *arguments):
        # Material that was never loaded, in six load steps.
        first = [frame, *(one for one in order if one != frame)]
        kept.append(yielding.run_cycle(elastic, first, *arguments, passes=0))
        return kept[-1]

    monkeypatch.setattr(cases, "run_cycle", run)
    study = comparison_study()
    points = study.fe_comparison.plasticity
    simulation = study.simulation.model_copy(
        update={
            "contact": "coupled_layer",
            "material_yield": MaterialYieldSettings(
                plastic_strain=points.plastic_strain,
                yield_stress_mpa=points.yield_stress_mpa,
                source=points.source,
                permanent_share=1.0,
            ),
        }
    )
    case = next(case for case in study.compared_cases() if case.name == name)
    gait = built_in_activities(study)["gait"]
    cases.simulate_cases(knee(), gait, [case], simulation)
    found = kept[0].frames[frame]
    pose = own[POSE].iloc[0].to_numpy(dtype=float)
    # Poses of the finite elements, to a tenth of a column: the frame is pressed again from its own
    # strain, and its medial-lateral position is nearly neutral. Of the peak, that is 0.4 %.
    np.testing.assert_allclose(found.pose[:3], pose[:3], atol=0.05)
    for side, contact in zip(knee().grid.sides, found.contacts, strict=True):
        error = 100.0 * (contact.max_pressure / own.loc[side, "max_pressure"] - 1.0)
        assert abs(error) <= MAXIMUM[75]


@pytest.mark.slow
def test_finite_elements_of_a_stored_frame_are_reproduced():
    rows = TABLE[(TABLE["poses"] == "wear") & (TABLE["case"] == "10mm_100kg")]
    row = rows.set_index("side", drop=False).loc["lateral"]
    settings = comparison_study().fe_comparison
    steps = settings.plasticity.model_copy(update={"load_steps": LOAD_STEPS})
    settings = settings.model_copy(update={"plasticity": steps})
    side, _ = side_of(row)
    values, _, _ = frames._compute(
        side, material(), settings, float(row["mesh"]), np.full((2, 2), 1.0)
    )
    for name in ("max_pressure", "middle_pressure", "avg_pressure", "contact_area"):
        assert values[name] == pytest.approx(row[name], rel=1e-5)


SEQUENCES = pd.read_csv(Path(__file__).with_name("yielding_sequences.csv"), comment="#")
UNLOADED = 1.5  # largest error of the middle pressure at 60 % of the load, %


def in_turn(case, columns):
    """A stored sequence with the middle pressure of the layer, MPa, at each of its loads."""
    loads = SEQUENCES[SEQUENCES["case"] == case]
    poses = (TABLE["study"] == CYCLED) & (TABLE["poses"] == "comparison")
    row = TABLE[poses & (TABLE["case"] == case) & (TABLE["side"] == "medial")].iloc[0]
    side, number = side_of(row)
    elements = grid(row["study"], columns)
    poses = [side.pose + shift * np.eye(6)[0] for shift in set(loads["shift_mm"])]
    own = SideYielding.of(
        side, elements, number, row["thickness_mm"], material(), curve(), further=poses
    )
    area, middle = elements.area[number][tuple(own.cells.T)], side.box.in_middle(own.centre[:, 2])
    heights, state, pressures = {}, own.layer.fresh(), []
    for shift, load in zip(loads["shift_mm"], loads["load_n"], strict=True):
        moved = replace(own, side=replace(side, pose=side.pose + shift * np.eye(6)[0]))
        height = heights.get(shift, 0.0)
        for _ in range(2):  # gaps change by the lift times their descent, to first order
            pressed = own.layer.press(*moved.gaps(height), state, load=load)
            height += pressed.lift
        heights[shift], state = height, pressed.state
        pressures.append((pressed.force / area)[middle].max())
    return loads.assign(layer=pressures)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(set(SEQUENCES["case"])))
def test_unloading_and_another_pose_are_near_finite_elements(case):
    loads = in_turn(case, 75)
    full = loads["load_n"].max()
    error = 100.0 * (loads["layer"] / loads["middle_pressure"] - 1.0)
    # Up, down and up again at the first pose, up at the second one, and the first one again.
    up, again, moved, back = np.flatnonzero(loads["load_n"] == full)
    assert error.iloc[[up, again, moved, back]].abs().max() <= MIDDLE
    assert abs(error.iloc[up + 1]) <= UNLOADED
    for column in ("middle_pressure", "layer"):
        pressure = loads[column].to_numpy()
        assert pressure[again] == pytest.approx(pressure[up], rel=1e-3)
        # The dent of one pose raises the pressure of another.
        assert pressure[moved] > 1.08 * pressure[up]
