"""Folders that a finished study is handed on in: files for a paper, and solids."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from kneewear.report.journal import WIDTHS_MM
from kneewear.report.journal_files import KINDS
from kneewear.report.placed_solids import place_solids, write_solids
from kneewear.runs.finished import export_journal
from tests.refusals import refusal

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


def test_every_figure_is_there_at_the_width_of_a_page(results, tmp_path):
    here = Path.cwd()
    files = export_journal(results, tmp_path / "paper")
    assert Path.cwd() == here
    figures = {path.stem for path in (results / "figures").rglob("*.svg")}
    for name in figures:
        wide = [tmp_path / "paper" / "figures" / f"{name}_two_columns.{kind}" for kind in KINDS]
        assert set(wide) <= set(files)
    for ending, width in WIDTHS_MM.items():
        pictures = list((tmp_path / "paper" / "figures").glob(f"*_{ending}.png"))
        assert len(pictures) > len(figures) / 2
        for picture in pictures:
            with Image.open(picture) as image:
                assert image.width == pytest.approx(500 * width / 25.4, abs=1)


def test_study_without_contact_histories_has_no_figures(results, tmp_path):
    copy = tmp_path / "results" / "quick"
    shutil.copytree(results, copy)
    shutil.rmtree(copy / "simulation")
    assert "simulation" in refusal(export_journal, copy, tmp_path / "paper").where


def test_paper_is_not_written_into_the_study(results):
    assert "paper" in refusal(export_journal, results, results / "paper").where


def test_solids_differ_by_the_damage_volume(results, tmp_path):
    write_solids(results, tmp_path)
    table = pd.read_csv(tmp_path / "solids.csv").set_index("solid")
    worn = table.loc["insert_worn"]
    # Both are sums over the same elements.
    assert worn["removed_mm3"] == pytest.approx(worn["damage_volume_mm3"], rel=1e-9)
    assert (table["volume_mm3"] > 0.0).all()
    assert (table["bodies"] == 2).all()


def test_solids_touch_where_they_are_placed(results):
    meshes = place_solids(results, "6mm_75kg", None, None).meshes
    depth = meshes["insert_fresh"].vertices[:, 1].max() - meshes["femoral"].vertices[:, 1].min()
    assert 0.0 < depth < 8.0


@pytest.mark.parametrize(
    "choice", [("5mm_75kg", None, None), (None, "stairs", None), (None, None, 25)]
)
def test_unknown_choices_are_refused(results, choice):
    assert refusal(place_solids, results, *choice).expected
