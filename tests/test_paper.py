"""Figures and tables of the source documents from finished studies."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from kneewear.__main__ import main
from kneewear.api import load_study
from kneewear.evidence.paper import own
from kneewear.evidence.paper.command import (
    FORMATS,
    OWN,
    as_printed,
    missing_studies,
    source_items,
    write_paper,
)
from kneewear.io.documents import load_table, save_json
from kneewear.knees.result import curves
from kneewear.report.specification import figure_text, figure_texts
from kneewear.runs.chains import chain_of
from kneewear.runs.finished import redraw_group
from kneewear.runs.workflow import block_settings
from kneewear.study.shipped import find_study

ROOT = Path(__file__).parents[1]
ITEMS = source_items()


def numbered(start, last):
    return [f"Figure {start}{number}" for number in range(1, last + 1)]


# Counted in the lists of figures and tables of the documents; those with letters are their parts.
PRINTED = {
    "Bei 2003": {
        *numbered("2-", 8),
        *(f"Figure 3-{part}" for part in ("1A", "1B", "1C", "1D", "2", "3A", "3B", "4")),
        *(f"Figure 4-{part}" for part in ("1", "2A", "2B", "2C", "3", "4")),
        *(f"Table {number}" for number in ("2-1", "2-2", "3-1", "4-1", "A-1", "B-1", "C-1")),
        # Not an item of the document: numbers of its text, and of the axes of its figures.
        "Axes and text",
    },
    "Machado": {
        *numbered("5.", 28),
        *numbered("6.", 24),
        *(f"Table {chapter}.{number}" for chapter in (5, 6) for number in range(1, 6)),
    },
    "Caruntu and Hefzy 2004": set(numbered("", 12)),
    "Sander et al. 2012": {*numbered("", 12), "Table 1", "Table 2"},
    "Vondrák et al.": set(numbered("", 4)),
}


def test_every_printed_figure_and_table_is_listed_once():
    names = [one.name for one in ITEMS]
    assert len(names) == len(set(names))
    found = {document: set() for document in PRINTED}
    for one in ITEMS:
        found[one.document].add(one.item)
    assert found == PRINTED


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.name)
def test_an_item_names_a_study_and_what_shows_it_or_why_not(one):
    assert one.remark
    assert bool(one.study) == bool(one.figure or one.table)
    assert not (one.figure and one.table)
    assert bool(one.panels) <= bool(one.table)
    assert bool(one.layout) <= bool(one.table)
    if one.study not in ("", "benchmarks", "default", OWN):
        assert find_study(one.study) is not None
    if one.study == OWN:
        assert one.figure in own.FIGURES or one.table in own.TABLES
    elif one.figure:
        assert any(one.figure.startswith(start) for start in figure_texts())


def test_a_table_has_the_rows_and_columns_that_are_printed():
    rows = [
        ("medial", thickness, mass, "wear_depth", "mm", 0.01 * mass, thickness)
        for thickness in (6.0, 8.0)
        for mass in (50.0, 75.0, 100.0)
    ]
    columns = ["side", "thickness_mm", "body_mass_kg", "quantity", "unit", "computed", "published"]
    found = as_printed(pd.DataFrame(rows, columns=columns), "body_mass_kg", "thickness_mm")
    assert found.shape == (3, 6)
    assert found.iloc[2].tolist() == ["medial", "wear_depth", "mm", 100.0, "1 (6)", "1 (8)"]


def small_results(folder):
    """One study with the curves of Figs 6.16 and 6.18, and a table."""
    tables = folder / "bouncing_ball" / "tables"
    tables.mkdir(parents=True)
    at = [0.0, 1.0]
    kinematics = [
        curves(f"6.16{letter} place", "time (s)", at, "mm", {"one": [1.0, 2.0]}) for letter in "ca"
    ]
    pd.concat(kinematics).to_csv(tables / "kinematics.csv", index=False)
    force = curves("6.16b force", "mm", at, "N", {"one": [3.0, 4.0]})
    force.to_csv(tables / "forces.csv", index=False)
    rows = {"quantity": ["updates of the ball's window", "other"], "computed": [0.0, 7.0]}
    pd.DataFrame(rows).to_csv(tables / "literature.csv", index=False)


def small_scene():
    """A sphere's two triangles at one pose, and a line."""
    return {
        "bodies": ["femur"],
        "labels": ["0 deg"],
        "rotation": [[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]],
        "translation": [[[0.0, 0.0, 0.0]]],
        "shapes": "Bones",
        "most_points": 4,
        "meshes": {
            "femur": {
                "points": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                "triangles": [[0, 1, 2], [0, 2, 3]],
            }
        },
        "bones": {},
        "lines": [[[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]]],
    }


def study_with_svg_only(results):
    """A finished study of strings whose figures were written as SVG alone."""
    study = load_study(find_study("muscle_string"))
    step = chain_of(study, ".").drawn["figures"]
    small = curves("length", "flexion (deg)", [0.0, 1.0], "mm", {"one": [1.0, 2.0]})
    for path in step.inputs["tables"]:
        file = results.parent / path
        file.parent.mkdir(parents=True, exist_ok=True)
        small.to_csv(file, index=False)
    save_json(small_scene(), results.parent / step.inputs["jobs"][0] / "scene.json")
    folder = results / "muscle_string"
    save_json({"settings": block_settings(study)}, folder / "provenance.json")
    drawn = folder / "figures" / "figures" / "multibody_poses.svg"
    drawn.parent.mkdir(parents=True)
    drawn.write_text("<svg/>")


def linked_files(page):
    """Files that a page links or shows."""
    return re.findall(r'(?:href|src)="([^"#:]+)"', page.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_every_link_of_the_page_is_a_file_in_each_format(tmp_path):
    results = tmp_path / "results"
    small_results(results)
    study_with_svg_only(results)
    page, _ = write_paper(results, redraw_group)
    links = linked_files(page)
    assert [link for link in links if not (page.parent / link).is_file()] == []
    for name in ("machado_figure_6-16", "vondrak_figure_4"):
        files = [page.parent / f"{name}.{suffix}" for suffix in FORMATS]
        assert {file.name for file in files} <= set(links)
        assert all(file.stat().st_size > 1000 for file in files)
    assert figure_text("multibody_poses").caption in page.read_text(encoding="utf-8")


def test_a_figure_whose_results_are_gone_is_listed_as_it_is_there(tmp_path):
    results = tmp_path / "results"
    study_with_svg_only(results)
    (results / "muscle_string" / "tables" / "kinematics.csv").unlink()
    page, lines = write_paper(results, redraw_group)
    assert {link for link in linked_files(page) if link.startswith("vondrak")} == {
        "vondrak_figure_4.svg"
    }
    assert any("config/papers/muscle_string.yaml" in line for line in lines[5:])


def test_finished_studies_are_drawn_and_the_others_named(tmp_path, capsys, monkeypatch):
    small_results(tmp_path / "results")
    page, lines = write_paper(tmp_path / "results", redraw_group)
    assert (page.parent / "machado_figure_6-16.svg").is_file()
    # Fig. 6.18 has no panels in these curves.
    assert not (page.parent / "machado_figure_6-18.svg").exists()
    listed = load_table(page.parent / "machado_table_6-3.csv")
    assert listed["computed"].tolist() == [0.0]
    assert 'src="machado_figure_6-16.svg"' in page.read_text()
    links = linked_files(page)
    assert len(links) > 3
    assert [link for link in links if not (page.parent / link).is_file()] == []
    # Three items need no study.
    assert any(line.startswith("Machado: 5 of ") for line in lines)
    assert any("config/papers/planar_knee.yaml" in line for line in lines)
    monkeypatch.chdir(tmp_path)
    main(["paper", "--missing"])
    assert capsys.readouterr().out.split() == missing_studies(Path("results"))
