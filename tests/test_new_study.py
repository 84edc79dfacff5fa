"""Settings that are written from the files of invented implants."""

from __future__ import annotations

import copy
import os
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from kneewear import default_settings_file
from kneewear.base.assumptions import unconfirmed
from kneewear.base.checks import drop_ignored, setting_findings
from kneewear.errors import InputDataError, OutputFileError
from kneewear.geometry.dish import Dish, medial_lateral_restoring, room_around, sagittal_arc
from kneewear.geometry.fitting import FitSettings
from kneewear.geometry.segmentation import PlateauRegion
from kneewear.io.mesh_formats import save_ply
from kneewear.io.shapes import load_shape
from kneewear.setup.implant import (
    create_study,
    grades,
    hold_medial_lateral,
    ignored_block,
    ignored_tolerances,
)
from kneewear.study.files import load_activity
from kneewear.study.settings import merge_settings, read_settings, read_study, validate_study
from tests.geometry.invented import write_invented
from tests.refusals import refusal

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data")
DEFAULT = read_settings(default_settings_file())

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_invented(tmp_path_factory.mktemp("invented"))


# Side, form, least thickness (mm), boundary conditions, and what else is assumed.
EXPECTED = {
    "ultracongruent": ("right", "sheet", 6.0, "settled_ap_rotation", {"side", "thickness"}),
    # Dishes of 150 mm restore a condyle of 28 mm less than friction bears.
    "left_ps": ("left", "solid", 9.0, "prescribed", {"post", "medial_lateral"}),
    "two_files": ("right", "sheet", 7.1, "prescribed", {"side", "thickness"}),
    "worn_scan": ("right", "solid", 7.6, "settled_ap_rotation", set()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_settings_follow_from_the_files(name, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    inserts, femoral = files[name]
    created = create_study(name, list(map(str, inserts)), [str(femoral)])
    study = read_study(created.settings, defaults=default_settings_file())
    knee, form, thickness, way, further = EXPECTED[name]
    implant, (activity,) = study.implant, study.simulated_activities().values()
    # Origins are beside the condyles' axis: the copies are in mm.
    assert (implant.knee, implant.meshes.unit) == (knee, "mm")
    assert implant.meshes.insert_form == implant.meshes.femoral_form == form
    assert implant.nominal_thickness_mm == pytest.approx(thickness, abs=0.05)
    assert activity.boundary_conditions == way
    assert created.settles == (way == "settled_ap_rotation")
    if created.settles:
        # The load acts between the plateaus, wherever the origin of the file is.
        regions = implant.meshes.insert_region_mm
        middle = np.mean([regions.medial.z, regions.lateral.z])
        assert activity.control.load_line_mm == pytest.approx(middle, abs=2.0)
    assert study.wear.polyethylene == "conventional"
    assert study.wear.creep_law == "strain"
    wear = grades()["conventional"]["wear"]
    assert {key: getattr(study.wear, key) for key in wear} == wear
    assumed = {one.name: one for one in created.assumed}
    assert assumed.keys() == {"gait", "duration", "grade", "creep"} | further
    assert study.assumed == created.assumed == unconfirmed(study.model_dump(mode="json"))
    assert assumed["gait"].value == activity.motion.file
    name_of_gait = activity_name(study)
    scale = f"activities.{name_of_gait}.motion.scale"
    assert assumed["gait"].covers == (scale,)
    quarter = merge_settings(
        study.model_dump(mode="json"),
        {"activities": {name_of_gait: {"motion": {"scale": {"rotation": 0.25}}}}},
    )
    # Nothing has a warning that `new` wrote itself, whatever share of the gait designs agree on.
    for written in (study, validate_study(quarter)):
        shown = drop_ignored(setting_findings(written), study.checks.ignore)
        warned = [finding.check for finding in shown if finding.severity == "warn"]
        assert all(check.startswith("assumed.") for check in warned)
    checks = {one.check for one in created.findings}
    # Where the bearing decides position and rotation, there is no travel to share.
    assert ("new.gait_share" in checks) == (way == "prescribed")
    assert {"new.unit", "new.axes", "new.plateau", "new.condyle", "new.fit", "new.copy"} <= checks
    with pytest.raises(OutputFileError):
        create_study(name, list(map(str, inserts)), [str(femoral)])
    assert created.holds == ("medial_lateral" in further)
    assert study.simulation.medial_lateral == ("held" if created.holds else "solved")
    if not created.holds:
        held = hold_medial_lateral(created.settings)
        again = read_study(created.settings, defaults=default_settings_file())
        assert set(again.assumed) == {held, *study.assumed}
        assert again.simulation.medial_lateral == "held"


@pytest.mark.slow
def test_strides_of_a_recording_are_found_and_averaged(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    begins = np.array([0.35, 1.45, 2.6, 3.7])
    time = np.arange(0.0, 4.2, 0.01)
    turn = np.interp(time, [-0.75, *begins, 4.8], np.arange(-1.0, 5.0))
    load = 200.0 + 1500.0 * np.clip(np.sin(2.0 * np.pi * turn), 0.0, None)
    table = pd.DataFrame(
        {
            "time_s": time,
            "flexion_deg": 30.0 - 25.0 * np.cos(2.0 * np.pi * turn),
            "Fz [N]": -load,
            "tibial_external_rotation_deg": 3.0 * np.sin(2.0 * np.pi * turn),
            "femur_anterior_mm": 2.0 * np.cos(2.0 * np.pi * turn),
        }
    )
    table.to_csv("walk.csv", index=False)
    inserts, femoral = files["two_files"]
    created = create_study(
        "walk", list(map(str, inserts)), [str(femoral)], motion="walk.csv", load="walk.csv"
    )
    study = read_study(created.settings, defaults=default_settings_file())
    (activity,) = study.simulated_activities().values()
    assert activity.motion.strides_s == pytest.approx(begins, abs=0.02)
    assert activity.load.columns.load == "-Fz [N]"
    found = load_activity(study, activity_name(study), ROOT)
    assert found.load.max() * 75.0 * 9.81 == pytest.approx(1700.0, rel=0.02)
    assert len([note for note in found.notes if "3 strides" in note]) == 2


def activity_name(study):
    (name,) = study.simulated_activities()
    return name


@pytest.mark.parametrize("radius", [25.0, 60.0, 400.0])
def test_sagittal_arcs_are_found_on_strips_that_are_inclined_and_bent_across(radius):
    x, z = np.meshgrid(np.linspace(-9.0, 9.0, 31), np.linspace(-2.0, 2.0, 9))
    y = 7.0 + radius - np.sqrt(radius**2 - (x - 3.0) ** 2) + z**2 / 70.0 + 0.1 * z
    height, found = sagittal_arc(np.stack([x + 50.0, y, z - 20.0], -1).reshape(-1, 3))
    assert found == pytest.approx(radius, rel=0.02)
    assert height == pytest.approx(7.0 + radius, rel=0.02)


def test_a_bearing_ends_where_its_outline_does_within_the_width_of_contact():
    # 20 mm to either end in the middle, 11 mm behind at 12 mm to the outer side.
    corners = [[-20.0, 2.0], [20.0, 2.0], [20.0, 22.0], [8.0, 38.0], [-20.0, 38.0]]
    region = PlateauRegion(
        (-20.0, 20.0), (2.0, 38.0), np.array(corners), 1300.0, np.array([0.0, 8.0, 22.0])
    )
    assert room_around(region) == pytest.approx(20.0 - 12.0 * 12.0 / 16.0)


@pytest.mark.parametrize(
    ("dish", "condyle", "expected"),
    [(200.0, 28.0, 1 / 172), (60.0, 28.0, 1 / 32), (np.inf, 28.0, 0.0), (20.0, 28.0, np.inf)],
)
def test_a_dish_restores_a_condyle_by_the_difference_of_their_coronal_radii(
    dish, condyle, expected
):
    x, z = np.meshgrid(np.linspace(-2.0, 2.0, 5), np.linspace(-9.0, 9.0, 25), indexing="ij")
    strips = [
        np.stack([x, 5.0 + x**2 / 80.0 + z**2 / (2.0 * radius), z + 20.0], -1).reshape(-1, 3)
        for radius in (dish, condyle)
    ]
    assert medial_lateral_restoring(*strips) == pytest.approx(expected, rel=0.1, abs=1e-4)


@pytest.mark.slow
def test_unrelated_origins_hide_no_dish(files, tmp_path, monkeypatch):
    """Components that are 45 mm beside each other in their files."""
    monkeypatch.chdir(tmp_path)
    (insert,), femoral = files["ultracongruent"]
    mesh = load_shape(femoral)
    moved = mesh.vertices + 0.045 * np.array([0.6, 0.0, 0.8])
    save_ply(moved, mesh.faces, tmp_path / "moved.ply")
    found = {
        name: create_study(name, [str(insert)], [str(file)], knee="right")
        for name, file in (("near", femoral), ("far", tmp_path / "moved.ply"))
    }
    assert found["near"].settles
    assert found["far"].settles
    texts = [
        next(one.found for one in study.findings if one.check == "new.boundary_conditions")
        for study in found.values()
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("ratio", [1.6, 2.0, 4.0])
def test_contact_of_the_kept_travel_ends_where_the_bearing_does(ratio):
    radius, room, travel = 30.0, 15.0, 20.0
    kept = travel * Dish(ratio, radius, room).kept_travel(travel)
    # The condyle, moved by as much and pressed 0.1 mm into the dish, by the gap of two circles.
    wide = ratio * radius
    x = np.linspace(-29.0, 29.0, 20001)
    dish = wide - np.sqrt(wide**2 - x**2)
    condyle = radius - np.sqrt(np.maximum(radius**2 - (x - kept) ** 2, 0.0))
    normal = np.sqrt(1.0 - (x / wide) ** 2)  # from the vertical gap to that along the normal
    gap = (condyle - dish) * normal
    inside = x[gap < gap.min() + 0.1]
    # Beyond small angles the formula is short by some percent.
    assert inside.max() == pytest.approx(room, rel=0.08)


@pytest.mark.slow
def test_the_grade_of_polyethylene_is_stated(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    inserts, femoral = files["two_files"]
    named = list(map(str, inserts)), [str(femoral)]
    created = create_study("linked", *named, grade="highly_cross_linked")
    study = read_study(created.settings, defaults=default_settings_file())
    own = grades()["highly_cross_linked"]
    assert study.wear.wear_factor_mm3_per_n_m == own["wear"]["wear_factor_mm3_per_n_m"]
    assert study.simulation.youngs_modulus_mpa == own["simulation"]["youngs_modulus_mpa"]
    assert "grade" not in {one.name for one in created.assumed}
    assert refusal(create_study, "other", *named, grade="wood").where == "--grade"


def test_a_tray_in_place_of_the_insert_is_refused(tmp_path, monkeypatch):
    tray, femoral = (DATA / f"jtml_kneel_1/KR_right_{one}.stl" for one in ("6_tib", "7_fem"))
    if not tray.is_file():
        pytest.skip(f"no {tray} (set KNEEWEAR_DATA)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputDataError) as raised:
        create_study("tray", [str(tray)], [str(femoral)])
    assert raised.value.finding.check == "new.tray"
    assert not list(tmp_path.iterdir())


def with_conditions(**changes):
    own = copy.deepcopy(read_settings(ROOT / "config" / "example_meshes.yaml"))
    own["activities"]["example_gait"] |= changes
    return merge_settings(DEFAULT, own)


def test_boundary_conditions_are_named_controls():
    def control(**changes):
        return validate_study(with_conditions(**changes)).activities["example_gait"].control

    assert control(boundary_conditions="prescribed") is None
    settled = control(boundary_conditions="settled_ap_rotation")
    assert (settled.anterior_posterior, settled.rotation) == ("force", "force")
    assert (settled.varus, settled.medial_lateral) == ("free", "free")
    line = control(boundary_conditions="settled_ap_rotation", control={"load_line_mm": 4.0})
    assert line == settled.model_copy(update={"load_line_mm": 4.0})
    alone = with_conditions(boundary_conditions="prescribed", control={"load_line_mm": 4.0})
    assert "activities.example_gait" in refusal(validate_study, alone).where
    simulator = control(boundary_conditions="simulator")
    assert (simulator.anterior_posterior, simulator.medial_lateral) == ("prescribed", "held")
    # Settings that were read once before have both, alike.
    study = validate_study(with_conditions(boundary_conditions="settled_ap_rotation"))
    assert validate_study(study.model_dump(mode="json")) == study
    other = {
        "anterior_posterior": "held",
        "rotation": "force",
        "varus": "free",
        "medial_lateral": "free",
        "load_line_mm": 0.0,
    }
    found = refusal(
        validate_study, with_conditions(boundary_conditions="settled_ap_rotation", control=other)
    )
    assert "activities.example_gait" in str(found)


@pytest.mark.parametrize(
    "given",
    [
        {"load": "load.csv"},
        {"motion": "motion.csv"},
        {"thickness": float("nan")},
        {"thickness": 0.006},
        # Refused after shapes were recognised and copied.
        {"motion": "motion.csv", "load": "motion.csv"},
    ],
)
def test_options_that_would_be_left_out_or_are_in_metres_are_refused(
    given, files, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("motion.csv").write_text("percent,colour\n0,1\n50,2\n100,1\n")
    inserts, femoral = files["two_files"]
    with pytest.raises(InputDataError):
        create_study("one", list(map(str, inserts)), [str(femoral)], **given)
    # Nothing is left half written.
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["motion.csv"]


@pytest.mark.parametrize("tolerance", [0.05, 0.22, 0.7])
def test_tolerances_that_the_noise_of_a_scan_needs_are_no_findings(tolerance):
    keys = ignored_tolerances(FitSettings(3, 1.5, 0.6, tolerance))
    ignored = yaml.safe_load(ignored_block(keys))
    settings = read_settings(ROOT / "config/example_meshes.yaml")
    own = {"implant": {"meshes": {"tolerance_mm": tolerance}}}
    study = validate_study(reduce(merge_settings, (DEFAULT, settings, own, ignored or {})))
    warned, shown = (
        [one.check for one in findings if one.severity == "warn"]
        for findings in (
            setting_findings(study),
            drop_ignored(setting_findings(study), study.checks.ignore),
        )
    )
    key = "implant.meshes.tolerance_mm"
    assert (key in warned) == (tolerance > 0.2)
    assert key not in shown
