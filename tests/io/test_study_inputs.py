"""Data files are checked before the first job, and messages name the folder in use."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.io.study_inputs import check_inputs, measured_activities
from kneewear.settings.study import load_study, merge_settings, read_settings

ROOT = Path(__file__).parents[2]
DEFAULT = read_settings(ROOT / "config/config.yaml")
EXAMPLE = merge_settings(DEFAULT, read_settings(ROOT / "config/example_meshes.yaml"))


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)


def example(kind="ground_reaction", limits=(0.25, 3.0), **overrides):
    """Settings of the example's activity with the built-in implant."""
    load = {"kind": kind, "load_range_body_weights": limits}
    activity = merge_settings(
        EXAMPLE["activities"]["example_gait"], {"load": load, **overrides.pop("activity", {})}
    )
    changes = {
        "implant": {"source": "parametric"},
        "activities": {"example_gait": activity},
        **overrides,
    }
    return load_study(merge_settings(EXAMPLE, changes))


def curves(folder, load=None, motion=None):
    """Checkout with the example's curves, some of their columns replaced."""
    target = folder / "config" / "example_meshes"
    target.mkdir(parents=True)
    for name, changed in (("load", load), ("gait", motion)):
        table = pd.read_csv(ROOT / f"config/example_meshes/{name}.csv", comment="#")
        table.assign(**changed or {}).to_csv(target / f"{name}.csv", index=False)
    return folder


def test_committed_example_passes_without_a_note():
    assert check_inputs(load_study(EXAMPLE), ROOT) == ()


@pytest.mark.parametrize(
    ("study", "load", "message"),
    [
        (
            example("axial_load", None),
            0.0,
            r"load.csv, column .*, data row 1: found a load of 0 .*positive",
        ),
        (example("axial_load", None), -1.0, "found a load of -1"),
        (example("axial_load", None), 700.0, "looks like newtons"),
        (example(), 700.0, "found a constant ground reaction of 700"),
    ],
)
def test_unusable_load_stops_the_run(tmp_path, study, load, message):
    root = curves(tmp_path, load={"ground_reaction_n": load})
    with pytest.raises(InputDataError, match=message):
        check_inputs(study, root)


def test_unusable_motion_stops_the_run(tmp_path):
    root = curves(tmp_path, motion={"varus_deg": 90.0})
    with pytest.raises(InputDataError, match=r"gait\.csv.*found varus of 90"):
        check_inputs(example(), root)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"flexion_deg": 0.0, "varus_deg": "NaN"}, "column 'varus_deg', data row 1: found 'NaN'"),
        ({"percent": 50.0}, "column 'percent', data row 2: found 50 after 50"),
    ],
)
def test_faulty_cells_stop_the_run(tmp_path, changed, message):
    with pytest.raises(InputDataError, match=message):
        check_inputs(example(), curves(tmp_path, motion=changed))


def test_outliers_are_reported_before_the_first_job(tmp_path):
    path = ROOT / "config/example_meshes/gait.csv"
    wild = pd.read_csv(path, comment="#")["femur_anterior_mm"].to_numpy().copy()
    wild[20] += 9.0
    (note,) = check_inputs(example(), curves(tmp_path, motion={"femur_anterior_mm": wild}))
    assert "gait.csv, column 'femur_anterior_mm', data row 21: found" in note


def test_motion_of_the_other_knee_stops_the_run(tmp_path):
    root = curves(tmp_path, motion={"flexion_l": 20.0})
    named = {"activity": {"motion": {"columns": {"flexion": "flexion_l"}}}}
    with pytest.raises(InputDataError, match="looks like that of a left knee"):
        check_inputs(example(**named), root)


def test_built_in_load_that_vanishes_stops_the_run():
    faulty = {"activities": {"gait": {"load_body_weights": {"base": -1.0}}}}
    with pytest.raises(InputDataError, match=r"activities\.gait\.load_body_weights: found"):
        check_inputs(load_study(merge_settings(DEFAULT, faulty)), ROOT)


def test_missing_file_names_the_folder_of_the_settings(tmp_path):
    study = example(data_folder="nowhere")
    with pytest.raises(InputDataError) as caught:
        check_inputs(study, tmp_path)
    assert f"data_folder, which points to {tmp_path}/nowhere (no such folder)" in str(caught.value)
    assert "or set $KNEEWEAR_DATA" in str(caught.value)


def test_missing_file_names_the_folder_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    with pytest.raises(InputDataError) as caught:
        check_inputs(example(), tmp_path / "checkout")
    assert f"correct $KNEEWEAR_DATA, which points to {tmp_path}." in str(caught.value)
    assert "set $KNEEWEAR_DATA" not in str(caught.value)


def test_files_of_the_checkout_are_named_when_the_data_folder_does_not_exist(tmp_path, monkeypatch):
    root = curves(tmp_path / "checkout")
    (note,) = check_inputs(example(data_folder="nowhere"), root)
    assert f"Read from the checkout ({root}): config/example_meshes/gait.csv, " in note
    assert f"data_folder, which points to {root}/nowhere (no such folder)" in note
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path / "unplugged"))
    (note,) = check_inputs(example(), root)
    assert f"$KNEEWEAR_DATA, which points to {tmp_path}/unplugged (no such folder)" in note


def write_measured(folder):
    """Data folder with curve files of the names that the settings of measured activities give."""
    for name in ("gc_dm/fluoro_gait_dm", "waveforms/dm_treadmill_gait_load"):
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True)
        path.write_text("")


def test_measured_activities_are_those_with_files(tmp_path):
    study = load_study(merge_settings(DEFAULT, {"data_folder": str(tmp_path)}))
    assert measured_activities(study, ROOT) == []
    write_measured(tmp_path)
    (found,) = measured_activities(study, ROOT)
    assert (found["beside"], found["knee"]) == ("gait", "right")
    assert found["files"]["motion"] == str(tmp_path / "gc_dm/fluoro_gait_dm.csv")
    assert found["settings"]["load"]["columns"]["load"] == "axial_BW_Fregly_style"
    (tmp_path / "waveforms/gc_dm_measured_gait_load_mean.csv").write_text("")
    _, second = measured_activities(study, ROOT)
    assert second["settings"]["motion"] == found["settings"]["motion"]
    assert second["settings"]["load"]["columns"]["medial"] == "medial_N"


def test_measured_activities_are_drawn_beside_built_in_ones_only(tmp_path):
    write_measured(tmp_path)
    study = example(data_folder=str(tmp_path))
    assert "gait" not in study.simulated_activities()
    assert measured_activities(study, ROOT) == []
