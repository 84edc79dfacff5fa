"""The worked examples of CONTRIBUTING.md work, with no more files than they state."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.workflow.conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

BLOCK = re.compile(
    r"^```\w+\n(?:#|\{#) ([\w./]+)(?:, (before|after) \"([^\n]*)\")?(?: #\})?\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(title: str) -> list[tuple[str, ...]]:
    """File, position and text of each block of a section."""
    text = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.split(r"^### ", text, flags=re.MULTILINE)
    return BLOCK.findall(next(part for part in section if part.startswith(title)))


def apply(found: list[tuple[str, ...]], folder: Path) -> set[str]:
    """Insert blocks into their files; return the files that were changed or added."""
    for name, where, line, text in found:
        path = folder / name
        if not where:
            assert not path.exists(), f"{name} exists: state where the block is inserted"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            continue
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        numbers = [count for count, one in enumerate(lines) if one.rstrip("\n") == line]
        assert len(numbers) == 1, (name, line)
        start = numbers[0] + (where == "after")
        path.write_text("".join([*lines[:start], text, *lines[start:]]), encoding="utf-8")
    return {name for name, *_ in found}


def existing(files: set[str], folder: Path) -> set[str]:
    """Files that a checkout has without the example."""
    return {name for name in files if (folder / name).exists()}


def test_a_wear_law_is_one_class_in_one_file(finished, tmp_path):
    checkout = Checkout(tmp_path / "copy", origin=finished.folder)
    found = blocks("A wear law")
    files = apply(found, checkout.folder) - {"config/mine.yaml"}
    assert files == {"kneewear/wear/law_settings.py"}
    before = pd.read_csv(checkout.folder / "results/quick/tables/cases.csv")
    mine = yaml.safe_load((checkout.folder / "config/mine.yaml").read_text(encoding="utf-8"))
    said = checkout.snakemake("results/quick/tables/cases.csv", overrides=mine)
    assert "accumulate_wear" in said
    after = pd.read_csv(checkout.folder / "results/quick/tables/cases.csv")
    wear = before["quantity"] == "wear_volume"
    assert (after.value[wear] < before.value[wear]).all()
    assert (after.value[wear] > 0.0).all()


def test_a_figure_is_a_function_and_a_place_on_a_page(finished, tmp_path):
    checkout = Checkout(tmp_path / "copy", origin=finished.folder)
    files = apply(blocks("A figure"), checkout.folder) - {"config/mine.yaml"}
    assert files == {"kneewear/report/wear_over_mass.py", "kneewear/report/pages/wear.yaml"}
    assert existing(files, finished.folder) == {"kneewear/report/pages/wear.yaml"}
    checkout.snakemake()
    folder = checkout.folder / "results/quick"
    assert (folder / "figures/results/wear_over_mass.svg").is_file()
    assert "wear_over_mass" in (folder / "report/index.html").read_text(encoding="utf-8")


def test_an_analysis_is_a_function_and_its_options(finished, tmp_path):
    checkout = Checkout(tmp_path / "copy", "config/mine.yaml", origin=finished.folder)
    files = apply(blocks("An analysis"), checkout.folder) - {"config/mine.yaml"}
    assert len(existing(files, finished.folder)) == 2
    checkout.snakemake()
    table = pd.read_csv(checkout.folder / "results/mine/tables/spans.csv")
    own = table[(table["quantity"] == "max_pressure") & (table["side"] == "both")].iloc[0]
    assert 0.0 < own["low"] < own["high"]


def test_a_model_is_one_folder(tmp_path):
    checkout = Checkout(tmp_path / "copy", "config/mine.yaml")
    files = apply(blocks("A model"), checkout.folder) - {"config/mine.yaml"}
    assert {Path(name).parent.as_posix() for name in files} == {"kneewear/models/surfaces"}
    checkout.snakemake()
    summary = json.loads((checkout.folder / "results/mine/report/summary.json").read_text())
    assert [one["name"] for one in summary["key_results"]] == ["largest_extent"]
    assert summary["heading"] == "Surfaces of a knee"
    message = checkout.snakemake(overrides={"press": {"medial_mm": 0.0}}, fails=True)
    assert "a block of model press in a study of model surfaces" in message
