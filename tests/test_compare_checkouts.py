"""Results of two checkouts are compared by bytes, then by value, through a table of renames."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from benchmarks import compare_checkouts as compare
from benchmarks.compared_files import Renames, compare_folders
from kneewear import checkout_folder

TOLERANCE = 1e-9
ROWS = [("a", 1.0), ("b", 2.0)]
KEY = {"value": 3.0, "words": ["x"]}
RECORD = {"key": KEY}


def write(folder, rows=tuple(ROWS), depth=(1.0, 2.0), record=RECORD, unit="mm", column="value"):
    """Results with a table, a dataset and a record."""
    (folder / "tables").mkdir(parents=True)
    lines = [f"name,{column}", *(f"{name},{value!r}" for name, value in rows)]
    (folder / "tables" / "one.csv").write_text("\n".join(lines) + "\n")
    dataset = xr.Dataset({"depth": ("element", np.array(depth), {"unit": unit})})
    dataset.to_netcdf(folder / "wear.nc", engine="h5netcdf")
    (folder / "record.json").write_text(json.dumps(record))
    (folder / "logs").mkdir()
    (folder / "logs" / "log.json").write_text(json.dumps(str(folder)))
    return folder


def verdicts(old, new, renames=()):
    return {one.path: one for one in compare_folders(old, new, TOLERANCE, Renames(renames))}


def row(kind, old, new):
    return {"kind": kind, "old": old, "new": new, "reason": "a test"}


@pytest.fixture
def old(tmp_path):
    return write(tmp_path / "old")


def test_equal_bytes_and_what_is_excepted(old, tmp_path):
    found = verdicts(old, write(tmp_path / "new"))
    assert {path: one.verdict for path, one in found.items()} == {
        "logs/log.json": "excepted",
        "record.json": "bytes",
        "tables/one.csv": "bytes",
        "wear.nc": "bytes",
    }


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("tables/one.csv", lambda error: {"rows": [("a", 1.0), ("b", 2.0 * (1 + error))]}),
        ("wear.nc", lambda error: {"depth": (1.0, 2.0 * (1 + error))}),
        ("record.json", lambda error: {"record": {"key": KEY | {"value": 3 + 3 * error}}}),
    ],
)
def test_a_number_is_equal_within_the_tolerance_and_different_beyond(old, tmp_path, part, change):
    near = verdicts(old, write(tmp_path / "near", **change(1e-10)))[part]
    assert near.verdict == "value"
    assert near.largest == pytest.approx(1e-10, rel=1e-3)
    far = verdicts(old, write(tmp_path / "far", **change(1e-6)))[part]
    assert far.verdict == "different"
    assert far.largest == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("tables/one.csv", {"rows": [("a", 1.0), ("c", 2.0)]}),
        ("tables/one.csv", {"rows": [("b", 2.0), ("a", 1.0)]}),
        ("tables/one.csv", {"rows": [("a", 1.0)]}),
        ("tables/one.csv", {"rows": [("a", 1.0), ("b", float("nan"))]}),
        ("tables/one.csv", {"column": "number"}),
        ("wear.nc", {"depth": (1.0, np.nan)}),
        ("wear.nc", {"depth": (1.0, 2.0, 3.0)}),
        ("wear.nc", {"unit": "um"}),
        ("record.json", {"record": {"key": {"value": 3.0, "words": ["y"]}}}),
        ("record.json", {"record": {"key": {"value": 3.0, "words": []}}}),
        ("record.json", {"record": {"key": {"value": 3.0}}}),
    ],
)
def test_texts_shapes_orders_and_names_are_compared(old, tmp_path, part, change):
    assert verdicts(old, write(tmp_path / "new", **change))[part].verdict == "different"


def test_numbers_of_rows_with_times_are_excepted(old, tmp_path):
    timed = "processor time of a over b"
    first = write(tmp_path / "first", [(timed, 1.0), ("b", 2.0)], record=[[timed, "1"]])
    second = write(tmp_path / "second", [(timed, 1.5), ("b", 2.0)], record=[[timed, "2"]])
    assert all(one.equal for one in verdicts(first, second).values())
    third = write(tmp_path / "third", [(timed, 1.0), ("b", 2.5)], record=[["a", "1"]])
    assert {path for path, one in verdicts(first, third).items() if not one.equal} == {
        "record.json",
        "tables/one.csv",
    }


def test_files_of_one_side_are_missing_unless_dropped_or_added(old, tmp_path):
    new = write(tmp_path / "new")
    (new / "wear.nc").rename(new / "damage.nc")
    found = verdicts(old, new)
    assert {found[name].verdict for name in ("wear.nc", "damage.nc")} == {"missing"}
    assert verdicts(old, new, [row("file", "wear.nc", "damage.nc")])["damage.nc"].equal
    found = verdicts(old, new, [row("file", "wear.nc", ""), row("file", "", "damage.nc")])
    assert (found["wear.nc"].verdict, found["damage.nc"].verdict) == ("dropped", "added")
    assert all(one.equal for one in found.values())
    (new / "tables").rename(new / "numbers")
    renames = [row("file", "wear.nc", "damage.nc"), row("file", "tables/", "numbers/")]
    found = verdicts(old, new, renames)
    assert found["numbers/one.csv"].verdict == "bytes"


def test_a_file_without_content_says_as_much_as_none(old, tmp_path):
    new = write(tmp_path / "new")
    (old / "view.json").write_text("{}")
    (new / "signs.csv").write_text("activity\n")
    (new / "rows.csv").write_text("activity\ngait\n")
    found = verdicts(old, new)
    assert {found[name].verdict for name in ("view.json", "signs.csv")} == {"empty", "added"}
    assert found["rows.csv"].verdict == "missing"


def test_renamed_columns_keys_values_and_orders_are_followed(old, tmp_path):
    record = {"item": {"value": 3.0, "words": ["y"]}, "more": 1}
    changed = {"rows": [("c", 2.0), ("a", 1.0)], "column": "number", "record": record}
    new = write(tmp_path / "new", **changed)
    renames = [
        row("column", "tables/*.csv:value", "number"),
        row("value", "tables/*.csv:b", "c"),
        row("order", "tables/one.csv", ""),
        row("key", "key", "item"),
        row("value", "record.json:x", "y"),
        row("key", "", "more"),
    ]
    assert all(one.equal for one in verdicts(old, new, renames).values())
    for left_out in renames:
        rest = [one for one in renames if one is not left_out]
        assert not all(one.equal for one in verdicts(old, new, rest).values()), left_out


def test_a_star_stands_for_the_same_text_in_both_names_and_added_rows_are_left_out(old, tmp_path):
    rows = [("large_a", 1.0), ("largest_a", 7.0), ("large_b", 2.0)]
    before = write(tmp_path / "before", [("big_a", 1.0), ("big_b", 2.0)], column="both_depth")
    new = write(tmp_path / "new", rows, column="both_length")
    renames = [
        row("column", "*_depth", "*_length"),
        row("value", "tables/*.csv:big_*", "large_*"),
        row("row", "", "tables/*.csv:largest_*"),
    ]
    assert all(one.equal for one in verdicts(before, new, renames).values())
    for left_out in renames:
        rest = [one for one in renames if one is not left_out]
        assert not all(one.equal for one in verdicts(before, new, rest).values()), left_out
    rows[0] = ("large_a", 3.0)
    other = write(tmp_path / "other", rows, column="both_length")
    assert not all(one.equal for one in verdicts(before, other, renames).values())


def test_rename_without_reason_or_of_no_kind_is_refused():
    for bad in ({"kind": "colour"}, {"reason": ""}, {"old": "", "new": ""}):
        with pytest.raises(ValueError, match="renames"):
            Renames([row("column", "a", "b") | bad])
    assert Renames.read(compare.RENAMES)


def test_listed_studies_are_files_of_the_checkout_through_the_renames():
    renames = Renames.read(compare.RENAMES)
    studies = compare.read_studies()
    assert len(studies) >= 16
    for study in studies:
        new = study.renamed(renames)
        for name in (*new.files, *new.rows):
            assert (checkout_folder() / name).is_file(), (study.name, name)


def test_settings_that_make_a_study_small_are_renamed():
    study = compare.SmallStudy("a", ("x.yaml",), {"one": {"two": 3, "four": 5}}, {"six": [7]})
    renames = Renames(
        [
            row("setting", "one.two", "eight.nine"),
            row("setting", "one.four", ""),
            row("study", "x.yaml", "y.yaml"),
            row("variable", "six", "seven"),
        ]
    )
    new = study.renamed(renames)
    assert new.settings == {"one": {}, "eight": {"nine": 3}}
    assert (new.files, new.levels) == (("y.yaml",), {"seven": [7]})
    assert study.settings == {"one": {"two": 3, "four": 5}}
    assert new.digest != study.digest


# Writes a record whose number is in the checkout, or fails.
PROGRAM = """
import json, sys
from pathlib import Path
number = (Path(__file__).parent / "number.txt").read_text()
assert number != "none"
folder = Path("results/a/report")
folder.mkdir(parents=True)
(folder / "summary.json").write_text(json.dumps({"number": float(number)}))
"""


@pytest.fixture
def make(tmp_path):
    """Writes a checkout whose study comes to a number."""

    def checkout(name, number):
        folder = tmp_path / name / "kneewear"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "__main__.py").write_text(PROGRAM)
        (folder / "number.txt").write_text(number)
        (tmp_path / name / "x.yaml").write_text("study: a\n")
        for words in (
            ["init"],
            ["add", "."],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "a"],
        ):
            compare._git(tmp_path / name, *words)
        return str(tmp_path / name)

    return checkout


@pytest.mark.workflow
def test_two_checkouts_are_run_and_a_changed_number_is_noticed(make, tmp_path, capsys):
    first, second, third, fourth = (
        make(name, number)
        for name, number in [("a", "1"), ("b", "1"), ("c", "1.001"), ("d", "none")]
    )
    studies = [compare.SmallStudy("tiny", ("x.yaml",))]

    def equal(old, new, keep=None):
        found = compare.compare_checkouts(
            old, new, studies, TOLERANCE, 1, keep, compare.sys.executable, Renames()
        )
        return found, capsys.readouterr().out

    assert equal(first, second)[0]
    found, text = equal(first, third)
    assert not found
    assert re.search(r"tiny: 1 files compared, 0 .* 0 .* 1 different", text)
    found, text = equal(first, fourth)
    assert not found
    assert "AssertionError" in text
    keep = tmp_path / "keep"
    assert equal(first, second, keep)[0]
    assert len(list(keep.glob("*/tiny-*/results/report/summary.json"))) == 1
    # Of the old side the kept results are taken; the new side is always run.
    (kept,) = keep.glob("*/tiny-*/results/report/summary.json")
    kept.write_text(json.dumps({"number": 5.0}))
    assert not equal(first, second, keep)[0]
    # A checkout that was changed is not of its commit.
    Path(first, "kneewear", "number.txt").write_text("1.0")
    assert equal(first, second, keep)[0]
