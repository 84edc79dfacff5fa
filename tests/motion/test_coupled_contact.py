"""`simulation.contact: coupled_layer`: cycles, rigs, and what it does not cover."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.base.checks import checks
from kneewear.base.files import read_settings
from kneewear.contact.foundation import CoupledLayer
from kneewear.contact.material import Elastic
from kneewear.contact.resultant import peak_columns
from kneewear.geometry.grid import build_grid
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.motion.coupling import refuse_steep
from kneewear.motion.evaluation import build_layers, build_pairs
from kneewear.motion.press import Rig, solve_press
from kneewear.motion.settings import CONTACT_LIMITS_MPA
from kneewear.study.inputs import exact_knee
from kneewear.study.settings import merge_settings, validate_study
from kneewear.wear.worn_contact import WornContact
from tests.physics.bodies import CASES, example_study, gait_study, pose_of
from tests.refusals import refusal, refused_at

COUPLED = {"contact": "coupled_layer"}
SNAPSHOT = Path(__file__).parents[2] / "docs/snapshot"


def coupled_study(*shape):
    return gait_study(*shape).with_settings(**COUPLED)


def test_columns_across_a_peak_are_those_above_half_of_it():
    pressure = np.zeros((3, 8))
    pressure[1] = [0.0, 6.0, 9.0, 4.0, 6.0, 2.0, 0.0, 0.0]
    assert peak_columns(pressure) == 2
    pressure[1, 3] = 5.0
    assert peak_columns(pressure) == 4
    pressure[2, 7] = 20.0  # alone, at the last column
    assert peak_columns(pressure) == 1
    assert peak_columns(np.zeros((3, 8))) == 0


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("contact", "columns", "noticed"),
    [
        ("foundation", 12, False),
        ("coupled_layer", 12, True),
        pytest.param("coupled_layer", 40, False, marks=pytest.mark.slow),
    ],
)
def test_largest_pressure_on_few_columns_is_noticed(caplog, contact, columns, noticed):
    study = gait_study(8, columns, 4).with_settings(contact=contact, medial_lateral="held")
    found = study.run(CASES[1])
    peaks = found["max_pressure"].values[0]
    frame, side = np.unravel_index(peaks.argmax(), peaks.shape)
    row = found["pressure"].values[0, frame, side].max(axis=0)
    is_few = np.count_nonzero(row > 0.5 * row.max()) < checks()["contact.peak_columns"].range.low
    names = [getattr(record.args[0], "check", "") for record in caplog.records if record.args]
    assert ("contact.peak_columns" in names) == noticed == (is_few and contact == "coupled_layer")


@pytest.mark.compiled
@pytest.mark.slow
def test_cycle_balances_the_load_and_is_the_same_in_any_batch():
    study = coupled_study()
    history = study.run(*CASES[:2])
    carried = -history["force"].values[..., 1].sum(axis=2)
    assert carried == pytest.approx(history["load"].values, rel=1e-6)
    # Nothing is pulled, and the medial side carries its share.
    assert history["pressure"].values.min() >= 0.0
    share = -history["force"].values[:, :, 0, 1] / carried
    assert share == pytest.approx(np.full(share.shape, study.settings.medial_share), abs=1e-6)
    alone = study.run(CASES[1])
    for name in ("pressure", "slip", "force", "translation", "rotation", "contact_area"):
        assert np.array_equal(alone[name].values[0], history[name].values[-1]), name


@pytest.mark.slow
@pytest.mark.compiled
def test_cycle_of_a_left_knee_is_that_of_the_right_one():
    study, shape = coupled_study(), example_study().implant
    left = build_parametric_implant(
        shape.parametric, "built in", shape.nominal_thickness_mm, left=True
    )
    grid = build_grid(left, *study.grid.valid.shape[1:])
    mirrored, right = (
        one.run(CASES[0]) for one in (replace(study, implant=left, grid=grid), study)
    )
    for name in ("pressure", "slip", "force", "translation", "rotation", "contact_area"):
        assert np.array_equal(mirrored[name].values, right[name].values), name


@pytest.mark.slow
@pytest.mark.compiled
def test_cycle_is_softer_than_the_foundation_and_its_area_that_of_the_pressure():
    soft, stiff = (one.run(CASES[1]) for one in (coupled_study(), gait_study()))
    sunk = stiff["translation"].values[0, :, 1] - soft["translation"].values[0, :, 1]
    assert (sunk > 0.0).all()
    pressure = soft["pressure"].values[0].astype(float)
    area = gait_study().grid.area
    force = (pressure * area).sum(axis=(2, 3))
    mean = soft["avg_pressure"].values[0] * soft["contact_area"].values[0]
    assert mean == pytest.approx(force, rel=1e-6)


@pytest.mark.slow
@pytest.mark.compiled
def test_forward_motion_follows_the_equilibria():
    # On 40 x 30 elements the lateral place of equilibrium jumps by 0.16 mm between frames, and
    # damping keeps the component 0.06 mm behind; on 60 x 45 both are down to 0.08 and 0.013 mm.
    study = coupled_study(60, 45)
    still = study.run(CASES[0])
    moving = study.with_settings(analysis="forward").run(CASES[0])
    assert np.abs(moving["translation"] - still["translation"]).max() < 0.02
    assert moving["max_pressure"].values == pytest.approx(still["max_pressure"].values, rel=0.05)


@pytest.mark.compiled
def test_modulus_scales_pressures_of_one_overlap():
    study = coupled_study()
    knee = study.knee()
    history = gait_study().run(CASES[0])
    rotation, translation = pose_of(history, 3)
    found = []
    for modulus in (463.0, 926.0):
        settings = study.settings.model_copy(update={"youngs_modulus_mpa": modulus})
        pairs = build_pairs(knee, settings)
        layer = build_layers(knee.grid, pairs, 6.0, settings)[0]
        assert isinstance(layer, CoupledLayer)
        found.append(pairs[0].evaluate(rotation, translation, layer))
    assert found[1].pressure == pytest.approx(2.0 * found[0].pressure, rel=1e-12)


@pytest.mark.compiled
def test_half_space_deflects_as_a_half_space_whatever_the_thickness():
    """Boussinesq far from a force (Johnson 1985, Eq. 3.22a)."""
    study = gait_study().with_settings(contact="half_space")
    settings = study.settings
    knee = study.knee()
    pairs = build_pairs(knee, settings)
    material = Elastic(settings.youngs_modulus_mpa, settings.poisson_ratio)
    layer = build_layers(knee.grid, pairs, 6.0, settings)[0]
    cell = knee.grid.cell_edges(0)
    shape = knee.grid.valid.shape[1:]
    softness = (1.0 - material.poisson_ratio**2) / (np.pi * material.youngs_modulus)
    # The deflection far from a force is softness / distance.
    middle, far = (shape[0] // 2, shape[1] // 2), (shape[0] // 2, 0)
    rows, columns = np.array([middle, far]).T
    found = layer.influence.matrix(rows, columns)
    distance = (middle[1] - far[1]) * cell[1]
    assert found[0, 1] == pytest.approx(softness / distance, rel=0.01)
    # Thickness does not matter, and it is softer than the insert.
    thick = build_layers(knee.grid, pairs, 12.0, settings)[0]
    assert np.array_equal(layer.influence.across, thick.influence.across)
    history = gait_study().run(CASES[0])
    rotation, translation = pose_of(history, 3)
    coupled = build_layers(knee.grid, pairs, 6.0, coupled_study().settings)[0]
    forces = [
        pairs[0].evaluate(rotation, translation, one).pressure.sum() for one in (layer, coupled)
    ]
    assert 0.1 < forces[0] / forces[1] < 1.0


@pytest.mark.slow
@pytest.mark.compiled
def test_rig_balances_its_load_on_a_coupled_layer():
    settings = read_settings("config/defaults.yaml")
    for layer in (
        read_settings("config/characterisation.yaml"),
        {"simulation": COUPLED, "grid": {"rows": 40, "columns": 30}},
    ):
        settings = merge_settings(settings, layer)
    study = validate_study(settings)
    contacts = solve_press(Rig(exact_knee(study).implant, study)).equilibrium.contacts
    forces = [one.wrench[1] for one in contacts]
    assert sum(forces) == pytest.approx(study.press.load_n, rel=1e-6)
    assert forces[0] == pytest.approx(0.5 * study.press.load_n, rel=1e-3)
    assert all(one.pressure.min() > 0.0 for one in contacts)


def test_other_contact_of_a_worn_insert_is_that_of_its_settings():
    settings = wear_study(contact="foundation").simulation
    worn = WornContact(knee=None, activities={}, settings=settings)
    other = worn.with_other_contact()
    assert [one.settings.contact for one in other.values()] == ["coupled_layer"]
    (back,) = next(iter(other.values())).with_other_contact().values()
    assert back.settings == settings
    law = settings.pressure_law.model_copy(update={"strain": "large"})
    large = settings.model_copy(update={"pressure_law": law})
    assert not replace(worn, settings=large).with_other_contact()


def test_force_on_steep_elements_is_refused():
    grid = gait_study().grid
    pressure = np.where(grid.valid, 1.0, 0.0)
    normal = np.broadcast_to([0.0, 1.0, 0.0], grid.normal.shape).copy()
    refuse_steep(replace(grid, normal=normal), pressure, "cycle")
    half = normal.shape[2] // 2
    # A slope of 25 deg of half of the lateral side.
    normal[1, :, :half] = [0.0, np.cos(np.radians(25.0)), np.sin(np.radians(25.0))]
    steep = replace(grid, normal=normal)
    assert refusal(refuse_steep, steep, pressure, "cycle").where == "cycle"
    pressure[1, :, :half] = 0.05
    refuse_steep(steep, pressure, "cycle")


def wear_study(**simulation):
    base = read_settings("config/defaults.yaml")
    return validate_study(merge_settings(base, {"simulation": COUPLED | simulation}))


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"pressure_law": {"strain": "large"}}, "simulation.pressure_law.strain"),
        ({"pressure_law": {"material": "polyethylene_23c"}}, "simulation.pressure_law.material"),
        ({"pressure_law": {"cap_mpa": 42.0}}, "simulation.pressure_law.cap_mpa"),
        ({"force_direction": "mid_surface"}, "simulation.force_direction"),
    ],
)
def test_other_laws_and_directions_are_refused(changes, key):
    assert refused_at(wear_study, **changes) == f"settings, key {key}"


def test_pressure_limits_follow_the_model_of_contact():
    peak, mean = CONTACT_LIMITS_MPA["foundation"]
    default = read_settings("config/defaults.yaml")["report"]
    assert (default["pressure_limit_mpa"], default["avg_pressure_limit_mpa"]) == (peak, mean)
    report = wear_study().report
    found = report.pressure_limit_mpa, report.avg_pressure_limit_mpa
    assert found == CONTACT_LIMITS_MPA["coupled_layer"]
    base = read_settings("config/defaults.yaml")
    own = {"simulation": COUPLED, "report": {"pressure_limit_mpa": 25.0}}
    report = validate_study(merge_settings(base, own)).report
    assert (report.pressure_limit_mpa, report.avg_pressure_limit_mpa) == (25.0, 17.0)


def test_pressure_limits_are_where_solids_that_yield_are_within_a_tenth():
    table = pd.read_csv(SNAPSHOT / "fe_twin_yield/tables/fe_twin.csv")
    quantities = ("max_pressure", "middle_pressure"), ("avg_pressure",)
    for names, limit in zip(quantities, CONTACT_LIMITS_MPA["coupled_layer"], strict=True):
        own = table[table["quantity"].isin(names)]
        inside = own["coupled_layer"] <= limit
        assert inside.sum() >= 8
        assert own.loc[inside, "layer_error_percent"].abs().max() < 10.0
        # They are not needlessly low.
        beyond = own["coupled_layer"].between(1.05 * limit, 1.5 * limit)
        assert own.loc[beyond, "layer_error_percent"].abs().max() > 10.0
