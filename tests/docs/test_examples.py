"""Every block of code in the documentation is run as printed."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from docs.generators.notebooks import run_notebook
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.wear.law_settings import WEAR_LAWS

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
TUTORIAL = DOCS / "tutorial.md"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path != TUTORIAL)
# Its Python reads the results of the quick study.
HAND_ON = DOCS / "how-to" / "hand-on.md"
OVER = re.compile(r"^# over (config/\S+\.yaml)$", re.MULTILINE)


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


@pytest.mark.compiled
@pytest.mark.parametrize("path", named([page for page in PAGES if page != HAND_ON], "python"))
def test_python_of_a_guide_runs(path):
    names = {"__name__": "__main__"}
    # A guide adds a wear law, which no other test knows.
    with patch.dict(WEAR_LAWS):
        for code in blocks(path, "python"):
            # As a module of its own would: dataclasses look for theirs.
            exec(compile(code, str(path), "exec"), names)


@pytest.mark.parametrize("path", named([*PAGES, TUTORIAL], "yaml"))
def test_settings_of_a_guide_are_accepted(path, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    default = read_settings("config/defaults.yaml")
    for number, text in enumerate(blocks(path, "yaml")):
        file = f"{path.stem}_{number}.yaml"
        over = OVER.search(text)
        base = merge_settings(default, read_settings(over[1])) if over else default
        study = validate_study(merge_settings(base, settings(text)), file)
        assert study.study


def settings(text):
    """Settings in a block, read as a file's."""
    return yaml.safe_load(text)


@pytest.mark.workflow
@pytest.mark.slow
def test_worn_insert_of_the_guide_is_written(finished, monkeypatch):
    monkeypatch.chdir(finished.folder)
    names: dict[str, object] = {}
    exec(compile(blocks(HAND_ON, "python")[0], str(HAND_ON), "exec"), names)
    assert all(Path(file).is_file() for file in names["files"])


@pytest.mark.workflow
@pytest.mark.slow
def test_tutorial_runs_as_printed(finished, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(finished.folder)
    reading, maps, own = blocks(TUTORIAL, "python")
    names: dict[str, object] = {}
    for code in (reading, maps):
        exec(compile(code, str(TUTORIAL), "exec"), names)
    assert capsys.readouterr().out
    exec(compile(own, str(TUTORIAL), "exec"), names)
    depth, unit = capsys.readouterr().out.split()[:2]
    assert unit == "mm"
    assert 0.0 < float(depth) < 8.0


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook_runs(path):
    cells = run_notebook(path)
    assert sum(bool(printed) for _, printed, _ in cells) >= 2
    assert sum(len(figures) for _, _, figures in cells) == 1
    # Kept without output: what a page shows is what has just been computed.
    assert not any(cell.get("outputs") for cell, _, _ in cells)
