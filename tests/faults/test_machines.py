"""The quick study ends with its report on any machine, in any folder, after any end of a run.

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
from kneewear.io.cad import SYSTEM_LIBRARIES
from kneewear.runs.launch import LOCKS, STOPPED
from tests.workflow.conftest import CHECKOUT, contents, finished  # noqa: F401 - a fixture

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

PATIENCE = 1200
RUN = [sys.executable, "-m", "kneewear", "run", "quick", "--cores", "2"]
REPORT = Path("results/quick/report/index.html")
# Rules at whose jobs a run is killed.
PLACES = [
    "build_geometry",
    "simulate_contact",
    "accumulate_wear",
    "plot_figures",
    "write_report",
]


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


def test_a_folder_with_blanks_and_a_run_that_is_stopped(finished, tmp_path):  # noqa: F811
    folder = tmp_path / 'OneDrive - Bob\'s "$studies" {one}'
    folder.mkdir()
    with start(folder) as process:
        wait_for(folder, "simulate_contact", process)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == STOPPED
    assert "Traceback" not in said
    assert "FAILED" not in said
    assert not list((folder / LOCKS).glob("*"))
    run(folder)
    assert (folder / REPORT).is_file()
    assert contents(folder / REPORT.parents[1]) == contents(finished.folder / "results/quick")


@pytest.mark.parametrize("rule", PLACES)
def test_a_run_that_is_killed_goes_on_after_unlock(rule, finished, tmp_path):  # noqa: F811
    folder = tmp_path / "killed"
    folder.mkdir()
    with start(folder) as process:
        wait_for(folder, rule, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    said = run(folder, code=1)
    assert str(LOCKS) in said
    run(folder, command=[sys.executable, "-m", "kneewear", "unlock"], code=0)
    run(folder)
    assert (folder / REPORT).is_file()
    assert contents(folder / REPORT.parents[1]) == contents(finished.folder / "results/quick")


def test_a_second_run_in_the_folder_is_refused_and_the_first_ends(tmp_path):
    with start(tmp_path) as process:
        wait_for(tmp_path, "simulate_contact", process)
        said = run(tmp_path, code=1)
        assert "process" in said
        process.communicate(timeout=PATIENCE)
    assert (tmp_path / REPORT).is_file()


def test_a_full_disk_is_named_and_the_run_goes_on_with_room(finished, tmp_path):  # noqa: F811
    require("unshare", "--mount", "--map-root-user")
    folder = tmp_path / "small"
    folder.mkdir()
    mount = f"mount -t tmpfs -o size=1m none {folder} && cd {folder} && exec "
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", mount + " ".join(RUN)]
    said = run(tmp_path, command=command, code=1)
    assert "No space left on device" in said
    run(folder)
    assert contents(folder / REPORT.parents[1]) == contents(finished.folder / "results/quick")


def test_a_user_without_name_and_home(tmp_path):
    user = ["--reuid=1234", "--regid=1234", "--clear-groups"]
    require("setpriv", *user)
    # In a process of its own: the first one keeps rights.
    trial = f"{sys.executable} {CHECKOUT / 'kneewear' / '__init__.py'}; exit $?"
    readable = subprocess.run(
        ["setpriv", *user, "sh", "-c", trial], check=False, capture_output=True
    )
    if readable.returncode:
        pytest.skip("needs a checkout and a Python that other users may read")
    # The folders of pytest are of its user alone.
    folder = Path("/tmp") / f"kneewear-{os.getpid()}"
    shutil.copytree(kernel_folder(), folder / "kernels" / kernel_folder().name)
    try:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 1234, 1234)
        own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "HOME": "/"}
        own |= {"NUMBA_CACHE_DIR": str(folder / "kernels")}
        run(folder, "setpriv", *user, env=own)
        assert (folder / REPORT).is_file()
        del own["HOME"]
        said = run(folder, "setpriv", *user, env=own)
        assert "up to date" in said
    finally:
        shutil.rmtree(folder)


def test_a_server_without_the_libraries_of_a_screen(tmp_path):
    places = [
        path
        for name in SYSTEM_LIBRARIES
        for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
        for path in Path(folder).glob(f"{name.partition('.so')[0]}.so*")
    ]
    if places:
        require("unshare", "--mount", "--map-root-user")
    lines: list[str] = []
    folders = {path.parent for path in places}
    for number, folder in enumerate(sorted(folders)):
        upper, work = tmp_path / f"upper{number}", tmp_path / f"work{number}"
        upper.mkdir()
        work.mkdir()
        options = f"lowerdir={folder},upperdir={upper},workdir={work}"
        lines.append(f"mount -t overlay overlay -o {options} {folder}")
    lines += [f"rm -f {path}" for path in places]
    inner = " && ".join([*lines, "exec " + " ".join(RUN)])
    if places:
        mounts = " && ".join(lines)
        tried = ["unshare", "--mount", "--map-root-user", "sh", "-c", mounts]
        if subprocess.run(tried, check=False, capture_output=True).returncode:
            pytest.skip("needs an overlay over the libraries of the system")
        for path in tmp_path.glob("upper*"):
            shutil.rmtree(path)
            path.mkdir()
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", inner] if places else RUN
    run(tmp_path, command=command)
    assert (tmp_path / REPORT).is_file()


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
