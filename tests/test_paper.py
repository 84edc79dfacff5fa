"""Figures and tables of the source documents from finished studies."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from kneewear.__main__ import main
from kneewear.evidence.paper.command import missing_studies, source_items, write_paper
from kneewear.io.documents import load_table
from kneewear.knees.result import curves
from kneewear.report.specification import figure_texts
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
        *numbered("4-", 4),
        *(f"Table {number}" for number in ("2-1", "2-2", "3-1", "4-1", "A-1", "B-1", "C-1")),
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
    if one.study not in ("", "benchmarks", "default"):
        assert find_study(one.study) is not None
    if one.figure:
        assert any(one.figure.startswith(start) for start in figure_texts())


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


def test_finished_studies_are_drawn_and_the_others_named(tmp_path, capsys, monkeypatch):
    small_results(tmp_path / "results")
    page, lines = write_paper(tmp_path / "results")
    assert (page.parent / "machado_figure_6-16.svg").is_file()
    # Fig. 6.18 has no panels in these curves.
    assert not (page.parent / "machado_figure_6-18.svg").exists()
    listed = load_table(page.parent / "machado_table_6-3.csv")
    assert listed["computed"].tolist() == [0.0]
    assert 'src="machado_figure_6-16.svg"' in page.read_text()
    links = re.findall(r'(?:href|src)="([^"#:]+)"', page.read_text())
    assert len(links) > 3
    assert [link for link in links if not (page.parent / link).is_file()] == []
    assert any(line.startswith("Machado: 2 of ") for line in lines)
    assert any("config/papers/planar_knee.yaml" in line for line in lines)
    monkeypatch.chdir(tmp_path)
    main(["paper", "--missing"])
    assert capsys.readouterr().out.split() == missing_studies(Path("results"))
