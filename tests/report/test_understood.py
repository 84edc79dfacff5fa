"""The screen of what was understood: shapes, motion in words, and every column of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kneewear as kw
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.source_tables import motion_sources
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary
from kneewear.report.tables import words
from kneewear.report.understood import (
    activity_tables,
    tabulate_columns,
    understood_shapes,
    unused_columns,
)
from kneewear.report.understood_figures import draw_directions
from kneewear.study.files import load_activity

ROOT = Path(__file__).parents[2]
NAME = "example_gait"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The example study with a file that has further columns, and its path."""
    source = kw.load_study(ROOT / "config/example_meshes.yaml")
    block = source.activities[NAME]
    table = pd.read_csv(ROOT / block.motion.file, comment="#")
    file = tmp_path_factory.mktemp("understood") / "recorded.csv"
    table.assign(hip_flexion_deg=1.0, thing=2.0).to_csv(file, index=False)
    change = {"activities": {NAME: {"motion": {"file": str(file)}}}}
    return kw.load_study(ROOT / "config/example_meshes.yaml", change), str(file)


def test_every_column_of_a_file_is_listed_with_its_use_and_key(recorded):
    study, file = recorded
    settings = study.model_dump(mode="json")
    load = str(ROOT / study.activities[NAME].load.file)
    table = tabulate_columns(settings, {NAME: {"motion": file, "load": load}, "built_in": {}})
    motion = table[table["file"] == Path(file).name].set_index("column")
    assert set(motion.index) == set(pd.read_csv(file).columns)
    for quantity, column in study.activities[NAME].motion.columns.given().items():
        assert motion.loc[column.lstrip("-"), "quantity"] == quantity
        assert motion.loc[column.lstrip("-"), "key"].endswith(f"motion.columns.{quantity}")
    assert motion.loc["hip_flexion_deg", "use"] == "not used"
    assert motion.loc["thing", "use"] == "not understood"
    assert motion.loc["thing", "key"]
    assert (motion.loc[motion["use"] != "used", "reason"] != "").all()


def test_a_terminal_has_one_line_for_columns_that_are_unused_for_one_reason():
    unused = [
        {"column": f"hip_{axis}", "file": "all.sto", "use": "not used", "reason": "other joint",
         "key": ""} for axis in range(70)
    ]  # fmt: skip
    varus = {"column": "varus", "file": "all.sto", "use": "not used", "reason": "solved",
             "key": "activities.gait.motion.columns.varus"}  # fmt: skip
    used = {**varus, "column": "flexion", "use": "used"}
    many, single = unused_columns(pd.DataFrame([*unused, varus, used]))
    assert "'hip_0'" in many
    assert "67" in many
    assert varus["key"] in single
    assert unused_columns(pd.DataFrame([used])) == []


def test_motion_in_words_stands_with_sizes_beside_the_load(recorded):
    study, _ = recorded
    activity = load_activity(study, NAME, ROOT)
    table = activity_tables([activity])["understood_motion"].set_index("curve")
    flexion = np.degrees(-activity.rotation[:, 2])
    assert table.loc["flexion", "maximum"] == pytest.approx(flexion.max(), abs=0.5)
    assert table.loc["flexion", "use"] == "prescribed"
    assert table.loc["axial load", "maximum"] == pytest.approx(activity.load.max(), rel=0.01)
    given = (table["use"] == "prescribed").sum()
    assert len(draw_directions(activity).axes) == given


def test_shapes_have_their_files_axes_and_windows(recorded):
    study, _ = recorded
    table = understood_shapes(study.model_dump(mode="json")).set_index("component")
    meshes = study.implant.meshes
    assert table["file"].tolist() == [meshes.insert, meshes.femoral]  # relative
    for axis, word in meshes.axes:
        assert f"+{axis} {word}" in table.loc["insert", "axes"]
    assert understood_shapes(kw.default_study().model_dump(mode="json")).empty


@pytest.mark.parametrize("name", ["preflight", "wear"])
def test_inputs_page_and_report_show_what_was_understood(name, recorded):
    study, file = recorded
    settings = study.model_dump(mode="json")
    frames = activity_tables([load_activity(study, NAME, ROOT)])
    load = str(ROOT / study.activities[NAME].load.file)
    frames["understood_columns"] = tabulate_columns(
        settings, {NAME: {"motion": file, "load": load}}
    )
    page, tables = load_page(name), Tables(frames, settings)
    html = render_page(page, build_summary(name, page, tables, []), tables, {})
    assert 'id="understood"' in html
    # Names may break after underscores.
    assert "hip_flexion_deg" in html.replace("<wbr>", "")
    ids = [section.id for section in page.sections]
    assert "understood" in ids
    assert name == "wear" or ids[:2] == ["assumed", "understood"]


@pytest.mark.parametrize(("assumed", "recorded"), [(True, False), (False, True)])
def test_a_gait_that_is_assumed_is_not_called_a_file_of_curves(assumed, recorded):
    """`kneewear new` writes the built-in gait into a file where no motion is given."""
    entry = {
        "name": "gait",
        "key": "activities.walk.motion.file",
        "value": "built_in_gait.csv",
        "found": "an invented gait",
    }
    settings = {
        "activities": {"walk": {"source": "file", "motion": {"file": "built_in_gait.csv"}}},
        "wear": {"lives": {"gait": {"walk": 1.0}}},
        "assumed": [entry] if assumed else [],
    }
    source = motion_sources(settings)["source"].item()
    assert (source == words("source_file")) == recorded
    assert (source == words("source_parametric")) == assumed
    entry |= {"name": "load", "key": "activities.walk.load.file"}
    settings["activities"]["walk"]["load"] = {"file": "built_in_gait.csv"}
    source = motion_sources(settings)["source"].item()
    assert (source == words("source_built_in_load")) == assumed
