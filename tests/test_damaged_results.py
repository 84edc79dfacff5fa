"""Results that were edited, damaged or exchanged are refused or computed again."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

import kneewear as kw
from kneewear import __main__ as command
from kneewear.__main__ import main
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.errors import DamagedFileError, InputDataError
from kneewear.io import result_files
from kneewear.io.documents import load_json, load_table, save_json
from kneewear.io.result_files import atomic_path, damaged_files, digest_path
from kneewear.runs.finished import export_study
from kneewear.runs.results import load_finished
from kneewear.study import netcdf

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


def exchange_for_a_pipe(path):
    """Reading a pipe never ends."""
    path.unlink()
    os.mkfifo(path)


DOORS = {
    "open": lambda folder: main(["open", "--no-browser", str(folder)]),
    "export": lambda folder: export_study(folder, folder.with_suffix(".zip")),
}
RESULTS = ["tables/cases.csv", "report/summary.json", "provenance.json"]
MAPS = ["wear/b000.nc", "simulation/gait/b000.nc"]


@pytest.mark.parametrize("damage", [exchange, halve, empty, exchange_for_a_pipe])
@pytest.mark.parametrize(
    ("door", "file"),
    [
        *(
            pytest.param(DOORS[name], file, id=f"{name}-{file}")
            for name in DOORS
            for file in (*RESULTS, *MAPS)
        ),
        *(pytest.param(load_finished, file, id=f"load_finished-{file}") for file in MAPS),
    ],
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


@pytest.mark.parametrize("words", [["open", "--no-browser"], ["export"]])
def test_results_without_a_digest_are_named_as_nobody_can_check_them(
    words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(STORED, "kept")
    for path in Path("kept").rglob("*.nc"):
        digest_path(path).parent.mkdir(exist_ok=True)
        digest_path(path).write_text(f"{result_files.file_hash(path)}  {path.name}\n")
    main([*words, "kept"])
    quiet = capsys.readouterr().out.splitlines()
    digest_path(Path("kept", RESULTS[0])).unlink()
    exchange(Path("kept", RESULTS[0]))
    assert result_files.unchecked_files("kept") == [Path("kept", RESULTS[0])]
    main([*words, "kept"])
    said, *others = capsys.readouterr().out.splitlines()
    assert len(others) == len(quiet)
    assert RESULTS[0] in said
    assert RESULTS[1] not in said


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
@pytest.mark.parametrize(
    "door", [kw.open_results, pytest.param(load_finished, marks=pytest.mark.slow)]
)
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


def test_results_without_their_record_are_opened_with_a_warning(tmp_path, caplog):
    folder = tmp_path / "kept"
    shutil.copytree(STORED, folder, dirs_exist_ok=True)
    study = next(path.parent for path in folder.rglob("provenance.json"))
    kw.open_results(study)
    assert not caplog.records
    (study / "provenance.json").unlink()
    kw.open_results(study)
    assert [Path(record.args[0]).name for record in caplog.records] == ["provenance.json"]
