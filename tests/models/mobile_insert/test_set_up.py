"""A mobile insert set up from its files: lower face, settings, and its trial before a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kneewear.api as kw
from kneewear.base.checks import checks
from kneewear.geometry.coverage import polygon_coverage
from kneewear.geometry.refinement import subdivided
from kneewear.geometry.segmentation import find_lower_face
from kneewear.motion.placement import check_placement
from kneewear.setup.implant import create_study
from kneewear.study.files import load_shapes
from kneewear.study.trials import build_trial
from tests.geometry.solids import closed
from tests.transformations.changes import Files
from tests.transformations.implants import rotating_platform, single_plateau, smooth_femoral

pytestmark = pytest.mark.compiled


def test_lower_face_has_the_outline_of_the_insert_and_the_hole_of_its_cone():
    face = find_lower_face(subdivided(rotating_platform(1.0).insert))
    assert polygon_coverage(face.outline).area == pytest.approx(46.0 * 76.0, rel=0.03)
    np.testing.assert_allclose(face.pivot, 0.0, atol=0.1)
    # The cone is 9 mm wide at the face, less below.
    assert face.hole == pytest.approx(9.0, abs=1.0)


def test_lower_face_of_a_single_plateau_has_no_hole():
    face = find_lower_face(subdivided(single_plateau(1.0).insert))
    (left, low), (right, high) = face.outline.min(axis=0), face.outline.max(axis=0)
    np.testing.assert_allclose([left, right, low, high], [-22.0, 22.0, 8.0, 34.0], atol=0.3)
    assert face.hole == 0.0


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    """Settings of a rotating platform that were written from its files."""
    folder = tmp_path_factory.mktemp("platform")
    implant = rotating_platform(1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("KNEEWEAR_DATA", str(folder))
        names = Files({"insert": implant.insert, "femoral": implant.femoral}).write(folder)
        files = [names["insert"]], [names["femoral"]]
        created = create_study("platform", *files, gait_share=0.5, set_up="mobile")
        yield created.settings


@pytest.mark.slow
def test_settings_of_a_mobile_insert_have_the_face_that_was_found(platform):
    study = kw.load_study(platform)
    assert study.model == "backside"
    backside = study.backside
    assert backside.movement.free == ("rotation",)
    corners = np.array(backside.face.corners_mm)
    assert polygon_coverage(corners).area == pytest.approx(46.0 * 76.0, rel=0.03)
    np.testing.assert_allclose(backside.pivot_mm, 0.0, atol=0.1)


@pytest.mark.slow
def test_a_mobile_insert_is_tried_with_an_insert_that_rotates(platform):
    """One that is held by the femoral component turns with it."""
    held = {"backside": {"movement": {"held": "upper"}}}
    study = kw.load_study(platform, held)
    trial = build_trial(study, ".", load_shapes(study, "."))
    (activity,) = trial.activities
    cases = trial.cases[:1]
    moving = replace(trial, cases=cases).place(activity, advises=False)
    fixed = check_placement(trial.knee, activity, cases, study.simulation, advises=False)
    assert np.ptp(fixed.poses[:, 4]) > 0.04
    # Clinical angles are followed to 1e-8 rad; of body-three angles varus turns the axis.
    np.testing.assert_allclose(moving.poses[:, 4], 0.0, atol=1e-5)


@pytest.mark.slow
def test_a_dish_that_holds_its_condyle_has_the_whole_motion_if_it_moves(tmp_path, monkeypatch):
    """Fixed, contact leaves it; a dish of 34 mm on condyles of 30 mm follows them otherwise."""
    x, z = np.meshgrid(np.linspace(-17.0, 17.0, 60), np.linspace(10.0, 32.0, 40), indexing="ij")
    dish = 38.0 - np.sqrt(34.0**2 - x**2) + 36.0 - np.sqrt(36.0**2 - (z - 21.0) ** 2)
    insert = closed(*(np.stack([x, y, z], axis=-1) for y in (dish, 0.0 * x)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    names = Files({"insert": insert, "femoral": smooth_femoral(1.0)}).write(tmp_path)
    verdicts = {}
    for set_up in (None, "mobile"):
        created = create_study(
            f"{set_up}", [names["insert"]], [names["femoral"]], side="medial", gait_share=1.0,
            set_up=set_up,
        )  # fmt: skip
        study = kw.load_study(created.settings)
        trial = build_trial(study, ".", load_shapes(study, "."))
        (activity,) = trial.activities
        table = trial.place(activity, advises=set_up is None).table.set_index("quantity")
        quantity = checks()["placement.insert_border_force"].quantity
        verdicts[set_up] = table.loc[quantity, "verdict"]
    assert verdicts[None] == "fail"
    assert verdicts["mobile"] != "fail"
