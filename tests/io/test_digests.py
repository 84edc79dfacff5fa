"""Files are written whole or not at all, and what was changed afterwards is not read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import h5netcdf
import numpy as np
import pandas as pd
import pytest

from kneewear.errors import DamagedFileError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io.documents import load_json, load_table, save_json, save_table
from kneewear.io.result_files import atomic_path, read_checked
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.study.schema import RECORDS, StoredRecord, StoredVariable
from tests.io.test_round_trips import make_grid
from tests.refusals import refused_at

CHECKOUT = Path(__file__).parent.parent.parent


def kept(folder):
    """Files of a folder and those below it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def save_small_table(path):
    save_table(pd.DataFrame({"depth_mm": [0.25, 0.5]}), path)


SAVED = {
    "grid.nc": (lambda path: netcdf.save(make_grid(), path), partial(netcdf.load, ElementGrid)),
    "cases.csv": (save_small_table, load_table),
    "provenance.json": (lambda path: save_json({"seed": 1}, path), load_json),
}


@pytest.mark.parametrize("name", SAVED)
def test_every_damage_is_noticed_whatever_the_time_stamp(tmp_path, name):
    save, load = SAVED[name]
    path = tmp_path / name
    save(path)
    load(path)
    whole, stamp = path.read_bytes(), path.stat()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for damaged in (whole[: len(whole) // 2], bytes(flipped), b"", whole + b"\n"):
        path.write_bytes(damaged)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        with pytest.raises(DamagedFileError):
            load(path)


def test_file_copied_without_its_digest_is_read_with_a_warning(tmp_path, caplog):
    save_small_table(tmp_path / "cases.csv")
    shutil.copy(tmp_path / "cases.csv", tmp_path / "copy.csv")
    assert read_checked(tmp_path / "copy.csv") == (tmp_path / "cases.csv").read_bytes()
    assert "copy.csv" in caplog.text


def test_damaged_result_is_set_aside_by_the_job_that_meets_it(tmp_path):
    path = tmp_path / "cases.csv"
    save_small_table(path)
    path.write_text("depth_mm\n9\n")
    with (
        pytest.raises(SystemExit, match=r"cases\.csv\.damaged"),
        job_log(tmp_path / "job.log"),
    ):
        load_table(path)
    assert not path.exists()
    assert (tmp_path / "cases.csv.damaged").read_text() == "depth_mm\n9\n"
    assert refused_at(load_table, path) == "cases.csv"


def test_leftovers_of_killed_writers_are_removed_and_those_of_living_ones_kept(tmp_path):
    script = (
        "import os, signal, sys\n"
        "from kneewear.io.result_files import atomic_path\n"
        "with atomic_path(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "cases.csv"
    subprocess.run([sys.executable, "-c", script, str(path)], cwd=CHECKOUT, check=False)
    (left,) = kept(tmp_path)
    assert left.startswith(".cases.")
    with atomic_path(path) as mine:
        mine.write_text("living")
        save_small_table(path)
        assert mine.exists()
    assert kept(tmp_path) == [".digests/cases.csv.sha256", "cases.csv"]
    assert path.read_text() == "living"


def writing_fails(tmp_path, script, *arguments, **options):
    """Run a script that must fail to write into a folder; returns what it says."""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *arguments],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 1, done
    return done.stderr


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import numpy as np, pandas as pd
from matplotlib.figure import Figure
from kneewear.errors import OutputFileError
from kneewear.io.documents import save_table
from kneewear.io.documents import save_text
from kneewear.study import netcdf
from kneewear.io.documents import save_figures
from tests.io.test_round_trips import make_history

history = make_history(frames=500)
figure = Figure()
figure.subplots().imshow(np.random.default_rng(1).random((90, 90)))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
writers = {
    "b000.nc": lambda path: netcdf.save(history, path),
    "cases.csv": lambda path: save_table(pd.DataFrame({"a": np.arange(9999)}), path),
    "index.html": lambda path: save_text("x" * 50000, path),
    "map.svg": lambda path: save_figures({"map": figure}, path.parent),
}
for name, write in writers.items():
    try:
        write(Path(sys.argv[1], name))
    except OutputFileError as error:
        print(error, file=sys.stderr)
sys.exit(1)
"""


def test_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path, monkeypatch):
    # The coverage tool, too, could not write in whole what it counts.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    # A limit on the size of files acts like a full disk: the write calls fail alike.
    # HDF5 writing to the disk itself would crash the process here.
    said = writing_fails(tmp_path, FULL_DISK).splitlines()
    said = [line for line in said if "could not be written" in line]
    assert len(said) == 4
    for line, name in zip(said, ("b000.nc", "cases.csv", "index.html", "map.svg"), strict=True):
        assert f"{name}: " in line
    assert kept(tmp_path) == []


READ_ONLY = """
import os, sys
from pathlib import Path
from kneewear.io.documents import save_text
if os.getuid() == 0:
    os.setuid(65534)
try:
    save_text("x", Path(sys.argv[1], "locked", "index.html"))
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def test_read_only_folder_is_one_clear_error(tmp_path):
    (tmp_path / "locked").mkdir()
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    (tmp_path / "locked").chmod(0o555)
    said = writing_fails(tmp_path, READ_ONLY)
    assert "OutputFileError" in said
    assert "index.html" in said


@dataclass(frozen=True)
class Map:
    depth: np.ndarray


def test_file_that_announces_more_than_it_can_hold_takes_no_memory(tmp_path, monkeypatch):
    path = tmp_path / "huge.nc"
    with h5netcdf.File(path, "w") as file:
        file.attrs["kneewear_file"] = "map"
        file.dimensions = {"row": 10**6, "column": 10**6}
        file.create_variable("depth", ("row", "column"), "f8", chunks=(100, 100))
    record = StoredRecord("map", (StoredVariable("depth", "row column", "mm", "depth"),))
    monkeypatch.setitem(RECORDS, "Map", record)
    with pytest.raises(DamagedFileError):
        netcdf.load(Map, path)
