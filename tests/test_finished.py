"""The index of finished studies, and studies packed to hand on."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path

import pytest

from kneewear.__main__ import main
from kneewear.base.findings import Reported
from kneewear.errors import Finding
from kneewear.io.documents import save_json
from kneewear.runs.finished import export_study, finished_studies, write_index
from tests.refusals import refusal


@pytest.fixture
def results(tmp_path):
    key = {
        "name": "wear_volume",
        "label": "Wear volume",
        "value": 12.5,
        "unit": "mm3",
        "of": {},
        "form": "3",
        "low": None,
        "high": None,
        "meaning": "",
        "limit": None,
        "null_model": None,
    }
    for n, name in enumerate(["older", "newer"]):
        folder = tmp_path / "results" / name
        (folder / "report").mkdir(parents=True)
        (folder / "tables").mkdir()
        (folder / "simulation").mkdir()
        summary = {
            "study": name,
            "page": "wear",
            "heading": "Wear",
            "subject": "an <implant>",
            "version": "0.1.0",
            "key_results": [key],
            "named_values": [],
            "tables": [],
            "findings": [Reported(Finding("one", "warn", "", "found", "", "")).record()][:n],
        }
        save_json(summary, folder / "report" / "summary.json")
        (folder / "report" / "index.html").write_text("<p>page</p>", encoding="utf-8")
        (folder / "tables" / "cases.csv").write_text("a\n1\n", encoding="utf-8")
        (folder / "simulation" / "b0.nc").write_bytes(bytes(1000))
        os.utime(folder / "report" / "summary.json", (1e9 + n, 1e9 + n))
    return tmp_path / "results"


def test_the_index_lists_studies_the_latest_first(results, monkeypatch, capsys):
    listed = list(finished_studies(results))
    assert [one.study for one in listed] == ["newer", "older"]
    page, lines = write_index(results)
    text = page.read_text(encoding="utf-8")
    assert text.index("newer/report/index.html") < text.index("older/report/index.html")
    assert listed[0].headline in text
    assert listed[0].verdict != listed[1].verdict
    assert all(one.verdict in line for one, line in zip(listed, lines, strict=True))
    monkeypatch.chdir(results.parent)
    main(["open", "--no-browser"])
    assert lines[0] in capsys.readouterr().out


def test_an_export_holds_page_tables_and_metadata_of_every_file(results, monkeypatch):
    monkeypatch.chdir(results.parent)
    main(["export", "newer"])
    with zipfile.ZipFile("newer.zip") as packed:
        names = set(packed.namelist())
        crate = json.loads(packed.read("ro-crate-metadata.json"))["@graph"]
        files = {one["@id"]: one for one in crate if one["@type"] == "File"}
        for name, record in files.items():
            assert record["sha256"] == hashlib.sha256(packed.read(name)).hexdigest()
    assert set(files) == names - {"ro-crate-metadata.json"}
    assert {"report/index.html", "tables/cases.csv"} <= names
    assert not any(name.startswith("simulation") for name in names)
    root = next(one for one in crate if one["@id"] == "./")
    assert {part["@id"] for part in root["hasPart"]} == set(files)
    first = (results.parent / "newer.zip").read_bytes()
    export_study(results / "newer", results.parent / "again.zip")
    assert (results.parent / "again.zip").read_bytes() == first


def test_an_export_follows_no_link_out_of_the_study(results, monkeypatch, capsys, tmp_path):
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "secret.csv").write_text("secret")
    study = results / "newer"
    (study / "tables" / "file.csv").symlink_to(secret / "secret.csv")
    (study / "tables" / "folder").symlink_to(secret)
    (study / "figures").symlink_to(secret)
    (study / "provenance.json").symlink_to(secret / "secret.csv")
    (study / "tables" / "same.csv").symlink_to("cases.csv")
    monkeypatch.chdir(results.parent)
    main(["export", "newer"])
    named = {line.split(":")[0] for line in capsys.readouterr().out.splitlines()[:-1]}
    links = ("tables/file.csv", "tables/folder", "figures", "provenance.json")
    assert named == {f"results/newer/{link}" for link in links}
    with zipfile.ZipFile("newer.zip") as packed:
        assert not any(packed.read(name) == b"secret" for name in packed.namelist())
        assert packed.read("tables/same.csv") == packed.read("tables/cases.csv")


@pytest.mark.parametrize(
    "output",
    [
        "results/newer/report/index.html",
        "results/newer/report/summary.json",
        "results/newer/newer.zip",
        "results/../results/newer/tables/newer.zip",
        "linked/newer.zip",
        "newer.html",
        "newer",
    ],
)
def test_an_export_replaces_no_result(results, monkeypatch, output):
    monkeypatch.chdir(results.parent)
    (results.parent / "linked").symlink_to(results / "newer" / "tables")
    before = {file: file.read_bytes() for file in results.rglob("*") if file.is_file()}
    assert refusal(export_study, results / "newer", Path(output)).where == output
    assert {file: file.read_bytes() for file in results.rglob("*") if file.is_file()} == before
    assert not Path("newer").exists()
