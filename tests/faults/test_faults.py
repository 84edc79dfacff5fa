"""After every fault the same command, run again, ends with the results of an undisturbed run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workflow.conftest import Checkout, contents, finished  # noqa: F401 - a fixture

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

RESULTS = Path("results/quick")
HISTORY = RESULTS / "simulation/gait/b000.nc"
DAMAGE = RESULTS / "wear/b000.nc"
OTHER_DAMAGE = RESULTS / "wear/b001.nc"
CASES = RESULTS / "tables/cases.csv"
PAGE = RESULTS / "report/index.html"
PATIENCE = 300


@pytest.fixture
def copy(finished, tmp_path):  # noqa: F811
    """A finished quick study of its own for one test."""
    return Checkout(tmp_path / "copy", origin=finished.folder)


def strays(checkout):
    """Hidden files that no run should leave."""
    hidden = {path.name for path in (checkout.folder / RESULTS).rglob(".*")}
    return hidden - {".digests", ".snakemake_timestamp"}


def command(*arguments):
    study = ("--configfile", "config/quick.yaml")
    return [sys.executable, "-m", "snakemake", "--cores", "2", *map(str, arguments), *study]


def start(checkout, *arguments):
    """Start snakemake and do not wait for it."""
    return subprocess.Popen(
        command(*arguments),
        cwd=checkout.folder,
        env=os.environ | {"PYTHONPATH": str(checkout.folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def job_of(checkout, rule):
    """Process that runs the script of a rule in this checkout, once there is one."""
    if not Path("/proc/self/cwd").exists():
        pytest.skip("needs /proc to find the job")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                here = (process / "cwd").resolve() == checkout.folder.resolve()
                if here and f"{rule}.py".encode() in (process / "cmdline").read_bytes():
                    return int(process.name)
            except OSError:
                continue
        time.sleep(0.02)
    raise TimeoutError(rule)


def flip(path):
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def truncate(path):
    """Cut a file in half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def keeping_its_time_stamp(change):
    """The same change behind Snakemake's back."""

    def hidden(path):
        stamp = path.stat()
        change(path)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    return hidden


@pytest.mark.parametrize(
    ("damaged", "change", "lost", "target"),
    [
        # Readers notice either with either time stamp (tests/io/test_digests.py).
        (HISTORY, keeping_its_time_stamp(truncate), DAMAGE, DAMAGE),
        (CASES, keeping_its_time_stamp(flip), PAGE, PAGE),
    ],
    ids=["truncated array", "flipped table"],
)
def test_damaged_result_is_reported_and_created_again(copy, damaged, change, lost, target):
    undisturbed = contents(copy.folder / RESULTS)
    change(copy.folder / damaged)
    (copy.folder / lost).unlink()
    said = copy.snakemake(str(target), fails=True)
    assert f"{damaged}: " in said
    assert f"{damaged.name}.damaged" in said
    assert "Traceback" not in said
    copy.snakemake(str(target))
    (copy.folder / f"{damaged}.damaged").unlink()
    assert contents(copy.folder / RESULTS) == undisturbed
    assert not strays(copy)


def test_deleted_files_are_created_again_and_a_second_run_is_locked_out(copy):
    undisturbed = contents(copy.folder / RESULTS)
    for lost in (HISTORY, DAMAGE, CASES):
        (copy.folder / lost).unlink()
    first = start(copy, CASES)
    job = job_of(copy, "simulate_contact")
    os.kill(job, signal.SIGSTOP)  # so that the first run is not over too soon
    # As make study does; without it, what the first run has not finished is refused before.
    said = copy.snakemake("--rerun-incomplete", str(CASES), fails=True)
    os.kill(job, signal.SIGCONT)
    assert "LockException" in said
    assert "--unlock" in said
    assert first.wait(PATIENCE) == 0
    assert contents(copy.folder / RESULTS) == undisturbed


def test_killed_job_is_run_again(copy):
    undisturbed = contents(copy.folder / RESULTS)
    for lost in (HISTORY, DAMAGE):
        (copy.folder / lost).unlink()
    run = start(copy, DAMAGE)
    os.kill(job_of(copy, "simulate_contact"), signal.SIGKILL)
    assert run.wait(PATIENCE) != 0
    copy.snakemake(str(DAMAGE))
    assert contents(copy.folder / RESULTS) == undisturbed
    assert not strays(copy)


def test_killed_snakemake_and_its_orphan_do_no_harm(copy):
    undisturbed = contents(copy.folder / RESULTS)
    for lost in (HISTORY, DAMAGE):
        (copy.folder / lost).unlink()
    run = start(copy, DAMAGE)
    orphan = job_of(copy, "simulate_contact")
    run.kill()
    run.wait()
    assert Path(f"/proc/{orphan}").exists()
    copy.snakemake("--unlock")
    copy.snakemake("--rerun-incomplete", str(DAMAGE))
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{orphan}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert contents(copy.folder / RESULTS) == undisturbed
    assert not strays(copy)


def in_a_mount(checkout, mount, target):
    """Run snakemake where a folder is mounted otherwise; returns what it says.

    The folder needs a file: Snakemake removes an empty one, and stumbles over the mount.
    """
    script = f"{mount} && exec {' '.join(command(target))}"
    enter = ["unshare", "--mount", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], check=False).returncode:
        pytest.skip("needs a mount namespace of its own (unshare)")
    done = subprocess.run(
        [*enter, "sh", "-c", script],
        cwd=checkout.folder,
        env=os.environ | {"PYTHONPATH": str(checkout.folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    return done.stdout + done.stderr


def test_full_disk_is_reported(copy):
    undisturbed = contents(copy.folder / RESULTS)
    folder = (copy.folder / DAMAGE).parent
    for path in folder.glob("*.nc"):
        path.unlink()
    shutil.rmtree(folder / ".digests")
    mount = f"mount -t tmpfs -o size=16k none {folder} && touch {folder}/kept"
    said = in_a_mount(copy, mount, DAMAGE)
    assert f"{DAMAGE}: " in said
    assert "No space left on device" in said
    assert "Traceback" not in said
    assert not strays(copy)
    copy.snakemake(str(DAMAGE), str(OTHER_DAMAGE))
    assert contents(copy.folder / RESULTS) == undisturbed


def test_read_only_folder_is_reported_before_the_first_job(finished):  # noqa: F811
    folder = (finished.folder / DAMAGE).parent
    said = in_a_mount(
        finished, f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}", DAMAGE
    )
    assert f"{DAMAGE.parent}: " in said
    assert "Building DAG" not in said
    assert "Traceback" not in said
