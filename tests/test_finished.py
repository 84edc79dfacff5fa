"""The index of finished studies, and studies packed to hand on."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from kneewear.__main__ import main
from kneewear.errors import InputDataError
from kneewear.io.documents import save_json
from kneewear.io.result_files import digest_path
from kneewear.runs.finished import export_study, finished_studies, write_index
from tests.finished import PROVENANCE, write_finished
from tests.refusals import refusal


@pytest.fixture
def results(tmp_path):
    for n, name in enumerate(["older", "newer"]):
        folder = write_finished(tmp_path / "results" / name, findings=n)
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


def graph_of(packed):
    """Entities of the metadata of an archive, by identifier."""
    graph = json.loads(packed.read("ro-crate-metadata.json"))["@graph"]
    return {one["@id"]: one for one in graph}


def test_an_export_holds_page_tables_and_metadata_of_every_file(results, monkeypatch):
    monkeypatch.chdir(results.parent)
    main(["export", "newer"])
    with zipfile.ZipFile("newer.zip") as packed:
        names = set(packed.namelist())
        graph = graph_of(packed)
        files = {unquote(one["@id"]): one for one in graph.values() if one["@type"] == "File"}
        for name, record in files.items():
            assert record["sha256"] == hashlib.sha256(packed.read(name)).hexdigest()
            assert record["contentSize"] == str(len(packed.read(name)))
    assert set(files) == names - {"ro-crate-metadata.json"}
    assert {"report/index.html", "tables/cases.csv", "figures/results/wear é.svg"} <= names
    assert not any(name.startswith("simulation") or "/." in name for name in names)
    assert {unquote(part["@id"]) for part in graph["./"]["hasPart"]} == set(files)
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
    shutil.rmtree(study / "figures")
    (study / "figures").symlink_to(secret)
    digest_path(study / "provenance.json").unlink()
    for name in ("provenance.json", "report/index.html"):
        (study / name).unlink()
        (study / name).symlink_to(secret / "secret.csv")
    (study / "tables" / "same.csv").symlink_to("cases.csv")
    monkeypatch.chdir(results.parent)
    main(["export", "newer"])
    named = {line.split(":")[0] for line in capsys.readouterr().out.splitlines()[:-1]}
    shown = ("provenance.json", "report/index.html")
    links = ("tables/file.csv", "tables/folder", "figures", *shown)
    assert named == {f"results/newer/{link}" for link in links}
    with zipfile.ZipFile("newer.zip") as packed:
        assert not any(packed.read(name) == b"secret" for name in packed.namelist())
        assert packed.read("tables/same.csv") == packed.read("tables/cases.csv")


def test_a_study_without_the_record_of_its_run_is_not_exported_but_a_comparison_is(results):
    record = results / "newer" / "provenance.json"
    record.unlink()
    digest_path(record).unlink()
    refused = refusal(export_study, results / "newer", results.parent / "newer.zip")
    assert refused.where == str(record)
    summary = results / "newer" / "report" / "summary.json"
    save_json(json.loads(summary.read_text()) | {"page": "comparison"}, summary)
    assert export_study(results / "newer", results.parent / "newer.zip").is_file()


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


def test_an_export_says_what_was_run_on_what_by_whom(results):
    named = {"license_name": "cc-by-4.0", "authors": ["A", "B"], "publisher": "C"}
    path = export_study(results / "newer", results.parent / "newer.zip", **named)
    with zipfile.ZipFile(path) as packed:
        graph = graph_of(packed)
        settings = yaml.safe_load(packed.read("settings.yaml"))
        packages = packed.read("requirements.txt").decode().splitlines()[1:]
    root, run, program = (graph[name] for name in ("./", "#run", "#kneewear"))
    assert settings == PROVENANCE["settings"]
    assert packages == ["kneewear==1.0.0", "numpy==2.0"]
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert root["mainEntity"] == {"@id": "report/index.html"}
    assert root["datePublished"] == "2001-09-09"
    assert run["endTime"] == "2001-09-09T01:46:41+00:00"
    assert [graph[one["@id"]]["name"] for one in run["agent"]] == ["A", "B"]
    assert graph[root["publisher"]["@id"]]["name"] == "C"
    assert program["softwareRequirements"] == {"@id": "requirements.txt"}
    inputs = [graph[one["@id"]] for one in run["object"]]
    assert inputs[0]["@id"] == "settings.yaml"
    assert {one["name"]: one["sha256"] for one in inputs[1:]} == PROVENANCE["inputs"]
    results_of_run = {unquote(one["@id"]) for one in run["result"]}
    assert {"report/index.html", "provenance.json"} <= results_of_run
    assert not {"settings.yaml", "requirements.txt"} & results_of_run


@pytest.mark.parametrize("name", ["CC-BY4", "MIT OR Apache-2.0", "LicenseRef-own", "my own"])
def test_a_licence_that_is_no_identifier_is_refused_before_anything_is_written(results, name):
    with pytest.raises(InputDataError) as refused:
        export_study(results / "newer", results.parent / "newer.zip", license_name=name)
    assert repr(name) in refused.value.finding.found
    assert not (results.parent / "newer.zip").exists()
