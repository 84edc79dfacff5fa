"""Settings: defaults are in one file, faults are reported in one clear message."""

from __future__ import annotations

from pathlib import Path

import pytest

from kneewear import default_study
from kneewear.study.settings import (
    apply_case,
    merge_settings,
    read_settings,
    read_study,
    validate_study,
)
from kneewear.wear.settings import PIN_WEAR_FACTOR, SURVIVING_LAW, USUAL_WEAR_FACTOR
from tests.overlays import AFTER
from tests.refusals import refusal, refused_at

FOLDER = Path(__file__).parent.parent / "config"
DEFAULT = read_settings(FOLDER / "defaults.yaml")


def test_the_study_that_is_run_without_a_file_is_the_default_one():
    own = read_study(FOLDER / "config.yaml", defaults=FOLDER / "defaults.yaml")
    assert own == validate_study(DEFAULT)
    assert len((FOLDER / "config.yaml").read_text(encoding="utf-8").splitlines()) <= 27


def changed(path, value):
    """Return the default settings with one key replaced."""
    overrides = value
    for key in reversed(path.split(".")):
        overrides = {key: overrides}
    return merge_settings(DEFAULT, overrides)


def test_regions_of_a_plateau_that_is_not_replaced_have_no_effect():
    """Neither pictures, nor the axis of the condyles' angles, are of what the settings have."""
    example = merge_settings(DEFAULT, read_settings(FOLDER / "example_meshes.yaml"))
    held = {"medial_share": 0.6, "medial_lateral": "held"}
    one = {"implant": {"bearings": ["medial"]}, "simulation": held}
    meshes = validate_study(merge_settings(example, one)).implant.meshes
    both = validate_study(example).implant.meshes
    for regions in ("insert_region_mm", "femoral_region_mm"):
        own, all_of = (getattr(block, regions).given for block in (meshes, both))
        assert own == {"medial": all_of["medial"]}
        assert set(all_of) == {"medial", "lateral"}


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.yaml")), ids=lambda file: file.stem)
def test_every_committed_study_is_valid(file):
    base = AFTER.get(file.relative_to(FOLDER.parent).as_posix())
    first = merge_settings(DEFAULT, read_settings(FOLDER.parent / base)) if base else DEFAULT
    validate_study(merge_settings(first, read_settings(file)), file.name)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("study: mine\npress:\n  medial_mm: 0.0\n", "line 2, key press"),
        ("model: press\nwear: {months: 12}\ncases: {}\n", "line 2, key wear"),
        ("model: statik\n", "line 1, key model"),
        ("model: press\n", "key press"),
        ("model: [wear]\n", "line 1, key model"),
    ],
)
def test_blocks_of_another_model_are_refused_at_their_line(tmp_path, text, place):
    (tmp_path / "mine.yaml").write_text(text)
    defaults = FOLDER / "defaults.yaml"
    assert (
        refused_at(read_study, tmp_path / "mine.yaml", defaults=defaults) == f"mine.yaml, {place}"
    )


def test_all_faults_come_in_one_message():
    settings = merge_settings(changed("grid.rows", 1), {"seed": -1, "sed": 2})
    wear = {name: value for name, value in settings["wear"].items() if name != "months"}
    text = refusal(validate_study, settings | {"wear": wear}).text()
    for key in ("grid.rows", "seed", "sed", "wear.months"):
        assert f"key {key}: " in text


def test_null_removes_an_inherited_activity_and_life():
    stairs = DEFAULT["activities"]["gait"]
    settings = merge_settings(
        DEFAULT,
        {
            "activities": {"gait": None, "stairs": stairs},
            "wear": {"lives": {"gait": None, "stairs": {"stairs": 1.0}}},
        },
    )
    study = validate_study(settings)
    assert list(study.activities) == ["stairs"]
    assert list(study.wear.lives) == ["stairs"]


@pytest.mark.parametrize(
    ("knee", "z", "fits"),
    [("right", "medial", True), ("right", "lateral", False), ("left", "lateral", True)],
)
def test_mesh_axes_are_right_handed_in_their_knee(knee, z, fits):
    meshes = read_settings(FOLDER / "dm_fluoroscopy.yaml")["implant"]["meshes"]
    axes = {"x": "posterior", "y": "superior", "z": z}
    implant = {"source": "meshes", "knee": knee, "meshes": meshes | {"axes": axes}}
    settings = merge_settings(DEFAULT, {"implant": implant})
    if fits:
        assert validate_study(settings).implant.meshes.axes.z == z
    else:
        refusal(validate_study, settings)


def test_a_batch_has_cases_that_differ_in_thickness_and_mass_only():
    variables = {
        "factor": {"settings": ["wear.wear_factor_mm3_per_n_m"], "values": [1e-7, 2e-7]},
        "thickness_mm": [6, 8, 10],
    }
    report = {"compare_with_published": False}
    changes = {"variables": variables, "cases_per_job": 4, "report": report}
    study = validate_study(merge_settings(DEFAULT, changes))
    assert [len(batch) for batch in study.batches().values()] == [3, 3]
    last = study.case_list()[-1]
    expected = {"thickness_mm": 10.0, "body_mass_kg": 75.0, "factor": 2e-7}
    assert last.settings == expected
    assert apply_case(study, last).wear.wear_factor_mm3_per_n_m == 2e-7


def test_data_folder_follows_the_environment(tmp_path, monkeypatch):
    study = default_study()
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    (tmp_path / "checkout").mkdir()
    expected = tmp_path / "shared" / "data" / "a.stl"
    assert study.data_path("a.stl", tmp_path / "checkout") == expected
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path / "mine"))
    assert study.data_path("a.stl", tmp_path / "checkout") == tmp_path / "mine" / "a.stl"
    assert study.data_path("/a.stl") == Path("/a.stl")
    (tmp_path / "checkout" / "b.stl").touch()
    assert study.data_path("b.stl", tmp_path / "checkout") == tmp_path / "checkout" / "b.stl"
    # Files of `kneewear new` are beside their settings, whatever the data folder is.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.stl").touch()
    assert study.data_path("c.stl", tmp_path / "checkout") == Path("c.stl")


def test_accuracy_selects_elements_and_frames():
    study = validate_study(merge_settings(DEFAULT, {"accuracy": "standard"}))
    assert (study.grid.rows, study.grid.columns, study.simulation.frames) == (200, 150, 300)
    assert default_study().grid.rows == 100
    same = study.model_dump() | {"accuracy": None}
    assert validate_study(same).computed() == study.computed()


def test_jobs_follow_from_the_size_of_the_study():
    assert [len(cases) for cases in default_study().batches().values()] == [13, 12]
    masses = [50.0 + 0.1 * number for number in range(1000)]
    variables = {"thickness_mm": [*range(6, 16)], "body_mass_kg": masses}
    own = {"variables": variables, "report": {"compare_with_published": False}}
    study = validate_study(merge_settings(DEFAULT, own))
    assert [len(study.batches()), study.job_size(1000)] == [50, 200]
    # Maps of the corners and the centre only.
    assert study.cases_with_maps() == [
        *("6mm_50kg", "6mm_149.9kg", "11mm_50kg", "15mm_50kg", "15mm_149.9kg")
    ]
    assert validate_study(merge_settings(DEFAULT, own | {"cases_per_job": 7})).job_size(10_000) == 7


def test_an_implant_from_files_does_not_inherit_the_calibrated_wear_factor():
    base = DEFAULT
    example = read_settings(FOLDER / "example_meshes.yaml")
    assert "wear_factor_mm3_per_n_m" not in example["wear"]
    assert base["wear"]["wear_factor_mm3_per_n_m"] != USUAL_WEAR_FACTOR
    own = merge_settings(base, example)
    for given, law, factor in (
        ({}, SURVIVING_LAW, PIN_WEAR_FACTOR),
        ({"wear_law": "archard"}, "archard", USUAL_WEAR_FACTOR),
        ({"wear_law": SURVIVING_LAW}, SURVIVING_LAW, PIN_WEAR_FACTOR),
        # A factor was given for the law that it was written with.
        ({"wear_factor_mm3_per_n_m": 1e-7}, base["wear"]["wear_law"], 1e-7),
    ):
        found = merge_settings(base, example | {"wear": given})["wear"]
        assert (found["wear_law"], found["wear_factor_mm3_per_n_m"]) == (law, factor)
    assert merge_settings(own, {"study": "next"})["wear"] == own["wear"]
