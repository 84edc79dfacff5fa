"""A small study ends with its report on any machine, in any folder, after any end of a run.

Where rights are needed (a mount, another user, a network taken away) a test is skipped without.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kneewear.base.kernel_cache import kernel_folder
from kneewear.runs.launch import LOCKS, STOPPED
from tests.workflow.conftest import CHECKOUT, contents

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

PATIENCE = 1200
SETTINGS = """
study: mine
grid: {rows: 24, columns: 18}
coarse_grid: {rows: 24, columns: 18}
table: {u_points: 41, v_points: 21}
variables: {thickness_mm: [8], body_mass_kg: [60, 75]}
cases: {plan: factorial}
cases_per_job: 1
simulation: {frames: 25}
analyses: {}
report: {compare_with_published: false, spread: {blocks: 1, samples: 0}}
"""
RUN = [sys.executable, "-m", "kneewear", "run", "mine.yaml", "--cores", "2"]
REPORT = Path("results/mine/report/index.html")
# Rules at whose jobs a run is killed, in the order in which they run.
PLACES = (
    "build_geometry",
    "simulate_contact",
    "accumulate_wear",
    "plot_figures",
    "write_report",
)


def environment(**further):
    own = {name: text for name, text in os.environ.items() if name != "KNEEWEAR_DATA"}
    # Kernels that are compiled stay so.
    kernels = {"NUMBA_CACHE_DIR": str(kernel_folder().parent)}
    return own | kernels | {"PYTHONPATH": str(CHECKOUT)} | further


def run(folder, *before, code=None, **options):
    """Run the study in a folder; returns what it says. A warning is no failure."""
    done = subprocess.run(
        [*before, *options.pop("command", RUN)],
        cwd=folder,
        env=options.pop("env", environment()),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode in ((0, 1) if code is None else (code,)), said
    assert "Traceback" not in said
    return said


def start(folder):
    """Start the study as the leader of processes that can be signalled together."""
    return subprocess.Popen(
        RUN,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Tests that run in the background ignore Ctrl-C, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def wait_for(folder, rule, run_of):
    """Wait until a job of a rule runs in a folder, as long as the run goes on."""
    while run_of.poll() is None:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                here = (process / "cwd").resolve() == folder.resolve()
                if here and f"{rule}.py".encode() in (process / "cmdline").read_bytes():
                    return
            except OSError:
                continue
        time.sleep(0.02)
    raise RuntimeError(f"the run ended before {rule}: {run_of.stdout.read()}")


def require(*enter):
    """Skip where a command does not work on this machine."""
    if not shutil.which(enter[0]) or subprocess.run([*enter, "true"], check=False).returncode:
        pytest.skip(f"needs {enter[0]} and the rights for it")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Folder in which the study was run."""
    folder = settle(tmp_path_factory.mktemp("undisturbed"))
    run(folder)
    assert (folder / REPORT).is_file()
    return folder


def settle(folder):
    """Make a folder of the study's settings."""
    folder.mkdir(exist_ok=True)
    (folder / "mine.yaml").write_text(SETTINGS)
    return folder


def results(folder):
    """Digests of the results of a study that has its report."""
    assert (folder / REPORT).is_file()
    return contents(folder / REPORT.parents[1])


def test_a_run_that_is_stopped_or_killed_goes_on(undisturbed, tmp_path):
    """Stopped once and killed at each place in an odd folder, a study has the same results."""
    folder = settle(tmp_path / 'OneDrive - Bob\'s "$studies" {one}')
    with start(folder) as process:
        wait_for(folder, "simulate_contact", process)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == STOPPED
    assert "Traceback" not in said
    assert "FAILED" not in said
    assert not list((folder / LOCKS).glob("*"))
    shutil.rmtree(folder / "results")
    for number, rule in enumerate(PLACES):
        with start(folder) as process:
            wait_for(folder, rule, process)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if number == 0:
            assert str(LOCKS) in run(folder, code=1)
        run(folder, command=[sys.executable, "-m", "kneewear", "unlock"], code=0)
    run(folder)
    assert results(folder) == results(undisturbed)


def test_a_second_run_in_the_folder_is_refused_and_the_first_ends(undisturbed, tmp_path):
    folder = tmp_path / "twice"
    shutil.copytree(undisturbed, folder)
    for name in ("figures", "report"):  # long enough for the second run to begin
        shutil.rmtree(folder / REPORT.parents[1] / name)
    with start(folder) as process:
        wait_for(folder, "plot_figures", process)
        said = run(folder, code=1)
        assert "process" in said
        process.communicate(timeout=PATIENCE)
    assert results(folder) == results(undisturbed)


@pytest.mark.parametrize("lost", ["", "tables/cases.csv"], ids=["from the start", "late"])
def test_a_full_disk_is_named_and_the_run_goes_on_with_room(lost, undisturbed, tmp_path):
    """The disk fills with the first results, or with what is made of those that are there."""
    require("unshare", "--mount", "--map-root-user")
    folder, disk = settle(tmp_path / "small"), tmp_path / "disk"
    disk.mkdir()
    size = 400_000
    if lost:
        shutil.copytree(undisturbed, folder, dirs_exist_ok=True)
        shutil.rmtree(folder / REPORT.parent)
        (folder / REPORT.parents[1] / lost).unlink()
        files = [path for path in folder.rglob("*") if path.is_file()]
        # The report is larger than what is left.
        size += sum(4096 * (1 + path.stat().st_size // 4096) for path in files)
    # The folder is moved to the disk and back; what the run left there is kept.
    words = f"""mount -t tmpfs -o size={size} none {disk} && cp -a {folder}/. {disk} && cd {disk} &&
        {" ".join(RUN)}; code=$?; cd / && cp -a {disk}/. {folder}; exit $code"""
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", words]
    said = run(tmp_path, command=command, code=1)
    assert "No space left on device" in said
    assert not (folder / REPORT).exists()
    hidden = {path.name for path in (folder / "results").rglob(".*") if path.is_file()}
    assert hidden <= {".snakemake_timestamp"}
    run(folder)
    assert results(folder) == results(undisturbed)


# Surroundings of other machines, which a shell sets before it runs the study.
SURROUNDINGS = {
    "strict and small": "umask 077; ulimit -n 128; ulimit -v 6000000; ulimit -f 40000;",
    "another place": "export LC_ALL=C LANG=C TZ=Pacific/Kiritimati COLUMNS=1 TERM=dumb;",
    "nowhere to write at home": "unset USER LOGNAME TMPDIR; export HOME=/proc;",
}


def test_surroundings_of_other_machines_change_no_bit(undisturbed, tmp_path):
    """All at once, for a user without a name, under make 3.81, which ignores its flags."""
    user = ["unshare", "--user", "--map-user=1234", "--map-group=1234"]
    require(*user)
    assert subprocess.run([*user, "id", "-un"], check=False, capture_output=True).returncode != 0
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("Makefile", "requirements.lock"):
        shutil.copy(CHECKOUT / name, checkout)
    (checkout / ".venv").symlink_to(sys.prefix)
    folder = settle(tmp_path / "mine")
    words = "".join(SURROUNDINGS.values())
    make = f"{words} exec make .SHELLFLAGS=-c study CONFIG={folder}/mine.yaml"
    run(checkout, *user, command=["bash", "-c", make])
    assert results(folder) == results(undisturbed)
    assert (folder / REPORT).stat().st_mode & 0o077 == 0


def test_make_that_ignores_its_flags_of_the_shell_stops_without_a_network(tmp_path):
    require("unshare", "--net", "--map-root-user")
    for name in ("Makefile", "requirements.lock"):
        shutil.copy(CHECKOUT / name, tmp_path / name)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    done = subprocess.run(
        ["unshare", "--net", "--map-root-user", "make", ".SHELLFLAGS=-c", "study"],
        cwd=tmp_path,
        env={name: text for name, text in os.environ.items() if not name.startswith("PIP_FIND")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    assert "https_proxy" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / ".venv" / ".installed").exists()
