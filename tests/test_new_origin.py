"""The origin of a femoral file: motion turns the component about its condyles wherever that is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import kneewear as kw
from kneewear.base.checks import checks
from kneewear.geometry.knee import find_first_contact, middle_of_condyles
from kneewear.geometry.meshes import to_knee_axes
from kneewear.geometry.segmentation import middle_of_axis
from kneewear.io.mesh_formats import save_ply
from kneewear.io.shapes import load_shape
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.placement import check_placement
from kneewear.setup.implant import create_study
from kneewear.setup.shapes import recognise_shapes
from tests.geometry.invented import rounded_femoral, write_invented
from tests.geometry.solids import closed_insert
from tests.motion.test_dwell_pose import CASE, UPRIGHT, dished_implant, held_at, study_of
from tests.recordings import write_turning_gait

pytestmark = pytest.mark.compiled

# mm, along the axes of the files: posterior, superior, medial.
ORIGINS = {
    "as given": (0.0, 0.0, 0.0),
    "beside the other condyle": (0.0, 0.0, 38.0),
    "of an assembly": (0.0, 200.0, 0.0),
}


@pytest.fixture(scope="module")
def moved_studies(tmp_path_factory):
    """Settings of one implant whose femoral file has each of some origins, and their folder."""
    folder = tmp_path_factory.mktemp("origins")
    insert, femoral = closed_insert(n=60), rounded_femoral(n=50)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # A name that a copy would have.
        save_ply(insert.vertices, insert.faces, "moved0_insert.ply")
        write_turning_gait("gait.csv", 4.0)
        created = {}
        for number, (name, origin) in enumerate(ORIGINS.items()):
            save_ply(femoral.vertices + origin, femoral.faces, f"femoral{number}.ply")
            created[name] = create_study(
                f"moved{number}",
                ["moved0_insert.ply"],
                [f"femoral{number}.ply"],
                motion="gait.csv",
                load="gait.csv",
                knee="right",
            )
    return folder, created


@pytest.mark.slow
def test_settings_and_shapes_do_not_depend_on_the_origin_of_the_file(moved_studies):
    folder, created = moved_studies
    blocks, copies = [], []
    for one in created.values():
        settings = yaml.safe_load((folder / one.settings).read_text())["implant"]
        copies.append(load_shape(folder / settings["meshes"].pop("femoral")).vertices)
        assert settings["meshes"].pop("insert") != "moved0_insert.ply"
        blocks.append(settings | {"name": ""})
    assert blocks[1:] == blocks[:-1]
    # Files of the user are never written.
    kept, given = load_shape(folder / "moved0_insert.ply"), closed_insert(n=60)
    assert len(kept.vertices) == len(given.vertices)
    np.testing.assert_allclose(kept.extent, given.extent)
    for other in copies[1:]:
        # Readers may subdivide triangles.
        np.testing.assert_allclose(other.min(axis=0), copies[0].min(axis=0), atol=1e-4)
        np.testing.assert_allclose(other.max(axis=0), copies[0].max(axis=0), atol=1e-4)


@pytest.mark.slow
def test_wear_does_not_depend_on_the_origin_of_the_file(moved_studies):
    folder, created = moved_studies
    few = {"variables": {"thickness_mm": [8.0]}, "accuracy": "draft"}
    wear = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for one in created.values():
            study = kw.load_study(one.settings, few).at({"body_mass_kg": 75})
            cycles = kw.simulate(kw.build_knee(study), study)
            table = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)
            table = table.set_index(["quantity", "side"])["value"]
            wear.append(table[["wear_volume", "max_wear_depth"]].to_numpy())
    # Tolerance of the integration: 0.002 % were found.
    for other in wear[1:]:
        np.testing.assert_allclose(other, wear[0], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("knee", ["ultracongruent", "left_ps"])
def test_copies_of_left_and_right_knees_have_their_origin_between_the_condyles(
    knee, tmp_path, monkeypatch
):
    files = write_invented(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    inserts, femoral = files[knee]
    created = create_study("copied", list(map(str, inserts)), [str(femoral)])
    implant = kw.load_study(created.settings).implant
    assert implant.meshes.femoral == "copied_femoral.ply"
    copy = load_shape(implant.meshes.femoral)
    component = to_knee_axes(copy, "mm", implant.meshes.axes.model_dump(), implant.knee)
    middle = middle_of_axis(component, implant.meshes.femoral_form)
    np.testing.assert_allclose(middle, 0.0, atol=0.01)


@pytest.mark.slow
def test_insert_in_the_coordinates_of_a_scanner_gets_an_origin_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    insert, femoral = closed_insert(n=40), rounded_femoral(n=40)
    away = np.array([-30.0, -410.0, 55.0])
    save_ply(insert.vertices + away, insert.faces, "insert.ply")
    save_ply(femoral.vertices + away + [0.0, 38.0, 0.0], femoral.faces, "femoral.ply")
    shapes = recognise_shapes("far", ["insert.ply"], ["femoral.ply"], "right")
    for part in ("insert", "femoral"):
        np.testing.assert_allclose(
            load_shape(shapes.files[part]).vertices.min(axis=0),
            shapes.parts[part].vertices.min(axis=0),
            atol=1e-3,
        )
    vertices = shapes.parts["insert"].vertices
    assert vertices[:, 1].min() == pytest.approx(0.0, abs=1e-3)
    middle = vertices.min(axis=0) + vertices.max(axis=0)
    np.testing.assert_allclose(middle[[0, 2]], 0.0, atol=1e-3)


@pytest.mark.parametrize(
    ("arm", "zero", "verdict"),
    [
        ((0.0, 0.0, 0.0), np.nan, "pass"),
        ((4.0, 0.0, 0.0), np.nan, "warning"),
        pytest.param((0.0, 0.0, 38.0), np.nan, "fail", marks=pytest.mark.slow),
        ((0.0, -25.0, 0.0), np.nan, "fail"),
        # Positions that count from the origin of the file are those of this origin.
        ((0.0, 0.0, 38.0), 0.0, None),
    ],
)
def test_an_origin_beside_the_condyles_fails_where_positions_count_from_the_dwell_pose(
    arm, zero, verdict
):
    plain = dished_implant()
    femoral = {s: one.transformed(UPRIGHT, arm) for s, one in plain.femoral.items()}
    implant = replace(plain, femoral=femoral)
    activity = held_at(0.0, zero=zero)
    study = study_of(implant, activity)
    found = check_placement(study.knee(), activity, [CASE], study.settings)
    rows = found.table.set_index("quantity")
    quantity = checks()["placement.origin"].quantity
    if verdict is None:
        assert quantity not in rows.index
        return
    assert rows.loc[quantity, "verdict"] == verdict
    assert rows.loc[quantity, "value"] == pytest.approx(np.linalg.norm(arm), abs=1.0)
    # The remedy names the middle of the condyles, to which the origin is moved.
    middle = middle_of_condyles(femoral)
    centred = {s: one.transformed(UPRIGHT, -middle) for s, one in femoral.items()}
    again = study_of(replace(plain, femoral=centred), activity)
    obeyed = check_placement(again.knee(), activity, [CASE], again.settings)
    assert obeyed.table.set_index("quantity").loc[quantity, "verdict"] == "pass"
    # A position that is solved does not depend on what its curve counts from.
    free = replace(activity, prescribed=("theta_3",), load_line=0.0)
    solved = check_placement(study.knee(), free, [CASE], study.settings)
    assert quantity not in set(solved.table["quantity"])


@pytest.mark.parametrize(
    ("fraction", "verdict"),
    [(1.0, "pass"), (0.1, "warning"), (1 / 25.4, "warning"), (0.001, "warning"), (0.0, None)],
)
def test_heights_in_another_unit_are_noticed_and_those_from_rest_are_not(fraction, verdict):
    activity = held_at(0.0)
    study = study_of(dished_implant(), activity)
    knee = study.knee()
    pose = body_three_123(activity.rotation[0])
    first = find_first_contact(knee.grid, knee.implant.femoral, pose, activity.translation[0])
    translation = activity.translation.copy()
    translation[:, 1] = fraction * first.translation[1] + (0.2 if verdict is None else 0.0)
    moved = replace(activity, translation=translation)
    rows = check_placement(knee, moved, [CASE], study.settings).table.set_index("quantity")
    row = rows.loc[checks()["placement.overlap"].quantity]
    assert row["verdict"] == (verdict or "pass")


def test_a_corner_of_a_patch_beyond_the_bearing_does_not_move_the_axis():
    """One of 400 points, 20 mm off the condyle, moved the middle of a circle by 2 mm."""
    angle, z = np.meshgrid(np.radians(np.linspace(-30, 70, 40)), np.linspace(10, 34, 10))
    radius = 30.0 + 0.5 * np.cos(3.0 * angle)
    points = np.stack([radius * np.sin(angle), -radius * np.cos(angle), z], axis=-1).reshape(-1, 3)
    middles = []
    for stray in ([], [[-60.0, -20.0, 30.0]]):
        sampled = np.vstack([points, *stray])
        down = np.tile([0.0, -1.0, 0.0], (len(sampled), 1))
        surface = SimpleNamespace(
            sample_parameters=(0.0, 0.0),
            sample_points=sampled,
            normal=lambda u, v, down=down: down,
        )
        middles.append(middle_of_condyles({"medial": surface}))
    np.testing.assert_allclose(middles[1], middles[0], atol=0.1)
