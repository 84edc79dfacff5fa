"""Activities of a standard: the curves are the user's, the rest follows from the standard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.activity.standards import AXIAL, COLUMNS
from kneewear.io.curves import read_activity
from kneewear.study.settings import merge_settings, validate_study
from tests.activity.motions import ROOT, read_settings, study
from tests.refusals import refusal, refused_at

FOLDER = ROOT / "config/standards"


def standards(**changed):
    """The committed study with keys of its displacement control replaced."""
    settings = merge_settings(
        read_settings(ROOT / "config/defaults.yaml"), read_settings(ROOT / "config/standards.yaml")
    )
    own = {key: value for key, value in changed.items() if value is not None}
    left = {key for key, value in changed.items() if value is None}
    block = settings["activities"]["displacement_control"] | own
    settings["activities"]["displacement_control"] = {
        key: value for key, value in block.items() if key not in left
    }
    return validate_study(settings)


def built(settings, curves, tmp_path):
    path = tmp_path / "curves.csv"
    curves.to_csv(path, index=False)
    return read_activity("machine", settings, {"motion": path, "load": path}, 40, "right")


@pytest.fixture
def curves():
    """The invented curves of the example simulator under the names of the templates."""
    table = pd.read_csv(ROOT / "config/example_simulator/curves.csv", comment="#")
    return table.rename(columns={"rotation_torque_n_m": "tibial_torque_n_m"})


@pytest.mark.parametrize("name", ["displacement_control", "force_control"])
def test_they_are_the_activities_of_the_example_simulator(name, curves, tmp_path):
    mine = built(standards().activities[name], curves, tmp_path)
    example = study("example_simulator").activities[name]
    settings = example.model_copy(update={"closing_percent": 0.0})
    original = ROOT / "config/example_simulator/curves.csv"
    files = {"motion": original, "load": original}
    other = read_activity("machine", settings, files, 40, "right")
    for quantity in ("translation", "rotation", "load", "wrench"):
        np.testing.assert_array_equal(getattr(mine, quantity), getattr(other, quantity))
    assert mine.prescribed == other.prescribed
    assert mine.load_line == other.load_line
    assert len(mine.springs) == len(other.springs)


@pytest.mark.parametrize(
    ("key", "value", "quantity", "column"),
    [
        ("positive_anterior_posterior", "tibia_posterior", "translation", 0),
        ("positive_rotation", "tibia_external", "rotation", 1),
    ],
)
def test_the_other_sign_is_the_mirrored_curve(key, value, quantity, column, curves, tmp_path):
    one = built(standards().activities["displacement_control"], curves, tmp_path)
    other = built(standards(**{key: value}).activities["displacement_control"], curves, tmp_path)
    mine = getattr(one, quantity)[:, column]
    assert np.ptp(mine) > 0.01
    np.testing.assert_allclose(getattr(other, quantity)[:, column], -mine, atol=1e-3)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"source": "astm-f3141"}, "settings, key activities.displacement_control"),
        ({"control": "force"}, "settings, key activities.displacement_control"),
        (
            {"positive_rotation": None},
            "settings, key activities.displacement_control.positive_rotation",
        ),
        ({"curve": "mine.csv"}, "settings, key activities.displacement_control.curve"),
        (
            {"rotation_springs": [{"stiffness_n_m_per_deg": 1.0, "gap_deg": 0.0}]},
            "settings, key activities.displacement_control",
        ),
    ],
)
def test_faults_of_settings_are_told(changed, place):
    assert refused_at(standards, **changed) == place


@pytest.mark.parametrize("name", ["displacement_control", "force_control"])
def test_a_template_without_rows_is_refused(name):
    settings = standards().activities[name]
    path = ROOT / settings.motion.file
    refusal(read_activity, name, settings, {"motion": path, "load": path}, 40, "right")


def test_templates_have_the_columns_that_are_read():
    heads = {}
    for path in FOLDER.glob("*.csv"):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        heads[path.stem] = lines[0].split(",")
    for name, way in (("iso14243-3", "displacement"), ("iso14243-1", "force")):
        assert set(heads[name]) == {"percent", AXIAL, *COLUMNS[way].values()}
        assert set(heads[name]) <= set(heads["astm-f3141"])
