"""The index of finished studies, and studies packed to hand on."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

import kneewear as kw
from kneewear import __main__ as command
from kneewear.__main__ import main
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.errors import DamagedFileError, InputDataError
from kneewear.io import result_files
from kneewear.io.documents import load_json, load_table, save_json
from kneewear.io.result_files import atomic_path, damaged_files, digest_path
from kneewear.runs.finished import export_study, finished_studies, write_index
from kneewear.runs.results import load_finished
from kneewear.study import netcdf
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


STORED = Path(__file__).parent / "stored" / "schema_1"


def exchange(path):
    """Change the first digit of a file."""
    text = path.read_bytes()
    at = next(n for n, byte in enumerate(text) if chr(byte).isdigit())
    path.write_bytes(text[:at] + (b"1" if text[at : at + 1] != b"1" else b"2") + text[at + 1 :])


def halve(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


DOORS = {
    "open": lambda folder: main(["open", "--no-browser", str(folder)]),
    "export": lambda folder: export_study(folder, folder.with_suffix(".zip")),
}
RESULTS = ["tables/cases.csv", "report/summary.json", "provenance.json"]
MAPS = ["wear/b000.nc", "simulation/gait/b000.nc"]


@pytest.mark.parametrize("damage", [exchange, halve, empty])
@pytest.mark.parametrize(
    ("door", "file"),
    [
        *((DOORS[name], file) for name in DOORS for file in (*RESULTS, *MAPS)),
        *((load_finished, file) for file in MAPS),
    ],
    ids=str,
)
def test_edited_and_damaged_results_are_refused_whatever_their_time(door, file, damage, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(STORED, folder)
    path, stamp = folder / file, (folder / file).stat()
    assert digest_path(path).is_file()
    door(folder)
    damage(path)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    with pytest.raises((DamagedFileError, SystemExit)) as caught:
        door(folder)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.fixture
def two_batches(tmp_path):
    """The stored study, with each of its cases in a batch of its own."""
    folder = tmp_path / "study"
    shutil.copytree(STORED, folder)
    record = load_json(folder / "provenance.json")
    record["settings"]["cases_per_job"] = 1
    save_json(record, folder / "provenance.json")
    for schema, place in ((DAMAGE, "wear"), (CONTACT, "simulation/gait")):
        both = netcdf.load(schema, folder / place / "b000.nc")
        for number in range(2):
            netcdf.save(both.isel(case=[number]), folder / place / f"b00{number}.nc")
    return folder


@pytest.mark.parametrize("renewed", [False, True], ids=["its digest", "a digest of its name"])
@pytest.mark.parametrize("door", [kw.open_results, load_finished])
def test_a_batch_in_place_of_another_is_refused(door, renewed, two_batches):
    first, second = (two_batches / "wear" / name for name in ("b000.nc", "b001.nc"))
    door(two_batches)
    shutil.copy(first, second)
    shutil.copy(digest_path(first), digest_path(second))
    if renewed:
        with atomic_path(second) as temporary:
            shutil.copy(first, temporary)
    with pytest.raises(DamagedFileError) as caught:
        door(two_batches)
    assert caught.value.path == second


def test_damaged_results_are_set_aside_before_a_study_is_called_up_to_date(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(STORED, "results/mine")
    Path("mine.yaml").write_text("study: mine\n")
    monkeypatch.setattr(command, "run_workflow", lambda files, options: 3)
    main_exits(["run", "mine.yaml"])
    assert not list(Path("results").rglob("*.damaged"))
    for file in (RESULTS[0], MAPS[0]):
        exchange(Path("results/mine", file))
    main_exits(["run", "mine.yaml", "--", "-n"])
    assert not list(Path("results").rglob("*.damaged"))
    main_exits(["run", "mine.yaml"])
    said = capsys.readouterr().out
    for file in (RESULTS[0], MAPS[0]):
        assert Path("results/mine", f"{file}.damaged").is_file()
        assert f"{file}: " in said
    with pytest.raises(InputDataError) as caught:
        load_table(Path("results/mine", RESULTS[0]))
    assert f"{Path(RESULTS[0]).name}.damaged" in caught.value.finding.found


def main_exits(words):
    with pytest.raises(SystemExit):
        main(words)


def test_a_large_file_is_read_again_only_where_it_was_touched(tmp_path, monkeypatch):
    large, small = tmp_path / "large.nc", tmp_path / "small.nc"
    for path, size in ((large, 2_000_000), (small, 10)):
        with atomic_path(path) as temporary:
            temporary.write_bytes(bytes(size))
    read = []
    monkeypatch.setattr(result_files, "check_digest", read.append)
    assert damaged_files(tmp_path) == []
    assert read == [small]
    time.sleep(0.02)
    stamp = large.stat()
    os.utime(large, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    damaged_files(tmp_path)
    assert read == [small, large, small]
