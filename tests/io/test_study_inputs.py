"""Data files are checked before the first job, and messages name the folder in use."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from kneewear.study.files import check_inputs, measured_activities
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.refusals import refusal

ROOT = Path(__file__).parents[2]
DEFAULT = read_settings(ROOT / "config/defaults.yaml")
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
    return validate_study(merge_settings(EXAMPLE, changes))


def curves(folder, load=None, motion=None):
    """Checkout with the example's curves, some of their columns replaced."""
    target = folder / "config" / "example_meshes"
    target.mkdir(parents=True)
    for name, changed in (("load", load), ("gait", motion)):
        table = pd.read_csv(ROOT / f"config/example_meshes/{name}.csv", comment="#")
        table.assign(**changed or {}).to_csv(target / f"{name}.csv", index=False)
    return folder


def test_outliers_are_reported_before_the_first_job(tmp_path):
    path = ROOT / "config/example_meshes/gait.csv"
    wild = pd.read_csv(path, comment="#")["femur_anterior_mm"].to_numpy().copy()
    wild[20] += 9.0
    found = check_inputs(example(), curves(tmp_path, motion={"femur_anterior_mm": wild}))
    note = next(one for one in found if one.check == "motion.spike")
    assert note.where.endswith("gait.csv, column 'femur_anterior_mm', data row 21")


def test_missing_file_names_the_folder_in_use(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remedy = refusal(check_inputs, example(data_folder="nowhere"), tmp_path).remedy
    assert f"{tmp_path}/nowhere" in remedy
    assert "$KNEEWEAR_DATA" in remedy
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    assert f"{tmp_path}." in refusal(check_inputs, example(), tmp_path / "checkout").remedy


def test_files_of_the_checkout_are_named_when_the_data_folder_does_not_exist(tmp_path, monkeypatch):
    root = curves(tmp_path / "checkout")
    (note,) = check_inputs(example(data_folder="nowhere"), root)
    assert note.check == "files.checkout"
    assert "config/example_meshes/gait.csv" in note.text()
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path / "unplugged"))
    (note,) = check_inputs(example(), root)
    assert f"{tmp_path}/unplugged" in note.text()


def write_measured(folder):
    """Data folder with curve files of the names that the settings of measured activities give."""
    for name in ("gc_dm/fluoro_gait_dm", "waveforms/dm_treadmill_gait_load"):
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True)
        path.write_text("")


def test_measured_activities_are_those_with_files(tmp_path):
    study = validate_study(merge_settings(DEFAULT, {"data_folder": str(tmp_path)}))
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
