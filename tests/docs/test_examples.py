"""Every block of code in the documentation is run as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from docs.generators import results
from docs.generators.notebooks import run_notebook
from docs.generators.results import MARKER, TWIN_ERRORS, error_summary, filled, twin_summary
from kneewear.settings.study import load_study, merge_settings, read_settings
from tests.workflow.conftest import Checkout

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
TUTORIAL = DOCS / "tutorial.md"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path != TUTORIAL)
# Its Python reads the results of the quick study.
HAND_ON = DOCS / "how-to" / "hand-on.md"
OVER = re.compile(r"^# over (config/\S+\.yaml)$", re.MULTILINE)
STUDY = re.compile(r"make study(?: CONFIG=([\w/]+\.yaml))?")


def blocks(path, language):
    """Blocks of one language on a page, without the indent of a list they stand in."""
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [
        re.sub(f"^{indent}", "", code, flags=re.M)
        for indent, kind, code in found
        if kind == language
    ]


def named(pages, language):
    """Pages that hold a block of a language."""
    return [
        pytest.param(page, id=str(page.relative_to(DOCS)))
        for page in pages
        if blocks(page, language)
    ]


def studies(text):
    """Settings named by the `make study` lines of a text; None for the default study."""
    return [match[1] for match in STUDY.finditer(text)]


@pytest.mark.compiled
@pytest.mark.parametrize("path", named([page for page in PAGES if page != HAND_ON], "python"))
def test_python_of_a_guide_runs(path):
    names = {"__name__": "__main__"}
    for code in blocks(path, "python"):
        # As a module of its own would: dataclasses look for theirs.
        exec(compile(code, str(path), "exec"), names)


@pytest.mark.parametrize("path", named([*PAGES, TUTORIAL], "yaml"))
def test_settings_of_a_guide_are_accepted(path, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    default = read_settings("config/config.yaml")
    for number, text in enumerate(blocks(path, "yaml")):
        file = f"{path.stem}_{number}.yaml"
        over = OVER.search(text)
        base = merge_settings(default, read_settings(over[1])) if over else default
        study = load_study(merge_settings(base, settings(text)), file)
        assert study.study


def settings(text):
    """Settings in a block, read as a file's."""
    return yaml.safe_load(text)


def test_only_languages_that_are_run_are_used():
    kinds = {
        kind
        for path in [*PAGES, TUTORIAL]
        for _, kind, _ in BLOCK.findall(path.read_text(encoding="utf-8"))
    }
    # The Snakefile is run by tests/workflow/test_environments.py.
    assert kinds == {"python", "yaml", "bash", "snakemake"}


@pytest.mark.parametrize("path", [*named([*PAGES, TUTORIAL], "bash"), CHECKOUT / "README.md"])
def test_studies_named_exist(path):
    text = path.read_text(encoding="utf-8")
    found = studies(text)
    assert found
    for config in set(found) - {None, "config/mine.yaml", "my.yaml"}:
        assert (CHECKOUT / config).is_file(), config
    # What the tests run in its place is what make runs.
    recipe = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    assert "snakemake --cores $(CORES) --rerun-incomplete" in recipe
    assert '--configfile "$${files[@]}"' in recipe


@pytest.mark.workflow
def test_worn_insert_of_the_guide_is_written(finished, monkeypatch):
    monkeypatch.chdir(finished.folder)
    names: dict[str, object] = {}
    exec(compile(blocks(HAND_ON, "python")[0], str(HAND_ON), "exec"), names)
    assert all(Path(file).is_file() for file in names["files"])


@pytest.mark.workflow
@pytest.mark.slow
def test_tutorial_runs_as_printed(finished, tmp_path, monkeypatch, capsys):
    commands = "\n".join(blocks(TUTORIAL, "bash"))
    assert studies(commands) == ["config/quick.yaml", "config/mine.yaml", None]
    first = finished.snakemake()
    assert "Nothing to be done" in first
    monkeypatch.chdir(finished.folder)
    reading, maps, own = blocks(TUTORIAL, "python")
    names: dict[str, object] = {}
    for code in (reading, maps):
        exec(compile(code, str(TUTORIAL), "exec"), names)
    printed = capsys.readouterr().out
    assert "medial" in printed
    assert re.search(r"\d\.\d\d mm, -?\d+ mm posterior, -?\d+ mm medial", printed)
    exec(compile(own, str(TUTORIAL), "exec"), names)
    depth, unit = capsys.readouterr().out.split()[:2]
    assert unit == "mm"
    assert 0.0 < float(depth) < 8.0


@pytest.mark.workflow
@pytest.mark.slow
def test_study_of_the_tutorial_runs(finished, tmp_path):
    (text,) = blocks(TUTORIAL, "yaml")
    checkout = Checkout(tmp_path / "copy", "config/mine.yaml", origin=finished.folder)
    (checkout.folder / "config" / "mine.yaml").write_text(text)
    checkout.snakemake()
    assert (checkout.folder / "results" / "mine" / "report" / "index.html").is_file()


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook_runs(path):
    cells = run_notebook(path)
    assert sum(bool(printed) for _, printed, _ in cells) >= 2
    assert sum(len(figures) for _, _, figures in cells) == 1
    # Kept without output: what a page shows is what has just been computed.
    assert not any(cell.get("outputs") for cell, _, _ in cells)


def test_validation_page_has_a_copy_of_each_table_or_says_how_to_make_it(tmp_path, monkeypatch):
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    markers = list(MARKER.finditer(page))
    assert len(markers) >= 6
    for marker in markers:
        _, name, _ = marker.groups()
        assert filled(marker, tmp_path).startswith("| ")
        if not name.startswith("config/"):
            command = "benchmark" if name.startswith("benchmarks/") else "make study"
            with monkeypatch.context() as patch:
                patch.setattr(results, "SNAPSHOT", tmp_path)
                assert command in filled(marker, tmp_path)


def test_errors_of_a_twin_are_ranges_over_its_frames():
    quantities = [*TWIN_ERRORS, "effective_modulus"]
    table = pd.DataFrame(
        {
            "case": "6mm_50kg", "side": "medial", "percent": percent, "quantity": name,
            "finite_elements": 275.4, "foundation_error_percent": error,
            "mesh_error_percent": 1.14,
        }
        for percent, error in ((15, -0.4), (46, 12.3)) for name in quantities
    )  # fmt: skip
    row = twin_summary(table).iloc[0]
    assert row["case"] == "6 mm, 50 kg"
    assert row["area (%)"] == "0 to +12"
    assert row["modulus of equal force (MPa)"] == "275"
    assert row["mesh error of maximum and middle pressure (%)"] == "1.1, 1.1"


def test_validation_page_is_filled_from_results(tmp_path):
    (tmp_path / "x").mkdir()
    table = pd.DataFrame({"quantity": ["a"] * 4, "relative_error": [0.1, -0.1, 0.02, 0.02]})
    table.to_csv(tmp_path / "x" / "errors.csv", index=False)
    marker = MARKER.search("<!-- errors: x/errors.csv error=relative_error by=quantity -->")
    header, _, row = filled(marker, tmp_path).splitlines()
    assert header.count("|") == row.count("|")
    assert row == "| a | 4 | 1 | 6 | 10 | 10 |"
    summary = error_summary(table, "relative_error", ["quantity"])
    assert summary["largest size %"].item() == pytest.approx(10.0)
    marker = MARKER.search("<!-- table: x/errors.csv columns=quantity rows=2 -->")
    *rows, _, rest = filled(marker, tmp_path).splitlines()
    assert rows == ["| quantity |", "|---|", "| a |", "| a |"]
    assert rest == "*The first 2 of 4 rows.*"
    table.head(0).to_csv(tmp_path / "x" / "errors.csv", index=False)
    assert "x/errors.csv` had no rows" in filled(marker, tmp_path)
