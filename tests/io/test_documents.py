"""Tables: text that a spreadsheet would run is none in the file and the same when read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.io.documents import load_table, save_table
from kneewear.runs.results import study_folders
from tests.refusals import refusal

TEXTS = [
    "=1+1",
    "+HYPERLINK(0)",
    "-cmd|' /C calc'!A0",
    "@SUM(A1)",
    "'quoted'",
    "-1.5e3",
    "+0.3",
    "plain",
    "",
    "a=b",
]


def test_no_text_of_a_table_is_a_formula(tmp_path):
    table = pd.DataFrame({"name": TEXTS, "=value": np.arange(len(TEXTS)) - 5.5})
    save_table(table, tmp_path / "t.csv")
    cells = [
        cell for line in (tmp_path / "t.csv").read_text().splitlines() for cell in line.split(",")
    ]
    starts = [cell.strip('"') for cell in cells if cell.strip('"')[:1] in {"=", "+", "-", "@"}]
    assert all(np.isfinite(float(one)) for one in starts)
    back = load_table(tmp_path / "t.csv")
    assert back.columns.tolist() == ["name", "=value"]
    assert back["name"].fillna("").tolist() == TEXTS
    np.testing.assert_array_equal(back["=value"], table["=value"])


@pytest.mark.parametrize("name", ["../default", "/nowhere", "a/b", "...", "a b", "a\n"])
def test_compared_studies_are_in_results_or_folders(name, tmp_path):
    assert str(study_folders(["default"])[0]) == "results/default"
    for names in ([], [name]):
        assert refusal(study_folders, names).check == "compare.studies"
    assert study_folders([str(tmp_path)]) == [tmp_path]
