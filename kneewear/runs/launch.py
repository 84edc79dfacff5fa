"""Start the workflow from any folder, once settings, folders and machine are found to be right.

Files of the workflow are those of the checkout or of the package.
"""

from __future__ import annotations

import getpass
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kneewear import checkout_folder
from kneewear.base.files import read_settings_file
from kneewear.base.kernel_cache import require_writable
from kneewear.base.search_path import without_folder
from kneewear.errors import Finding, InputDataError
from kneewear.io.result_files import atomic_path
from kneewear.study.shipped import find_study, moved_finding


def study_folder(files: Sequence[str]) -> Path:
    """Folder in which a study is run, and its `results/` are written.

    The folder of the first file of settings, so that results are beside it; the working directory
    without a file, or for settings of the checkout.
    """
    if not files:
        return Path()
    folder, checkout = Path(files[0]).resolve().parent, checkout_folder()
    return Path() if folder == checkout or checkout in folder.parents else folder


def enter_study_folder(files: Sequence[str]) -> list[str]:
    """Change to the folder of a study; returns the files of settings as seen from there."""
    folder = study_folder(files)
    if folder.resolve() == Path.cwd():
        return list(files)
    files = [str(Path(file).resolve()) for file in files]
    os.chdir(folder)
    return files


def run_workflow(files: Sequence[str], options: Sequence[str]) -> int:
    """Exit code of Snakemake on the study of settings `files`, in the working directory.

    `STOPPED` after Ctrl-C or a request to end: Snakemake and its jobs have ended then, and no lock
    is left.
    """
    snakefile = checkout_folder() / "Snakefile"
    named = ["--configfile", *files] if files else []
    return _snakemake(snakefile, ["--rerun-incomplete", *options, *named])


def _snakemake(snakefile: Path, options: Sequence[str]) -> int:
    """Exit code of Snakemake, whose jobs import this package and no file of the study's folder.

    Profiles of the user's surroundings and of the folder are left out; `options` may name one.
    """
    checkout = checkout_folder()
    package = Path(__file__).resolve().parents[2]
    paths = [str(checkout / "workflow" / "terminal"), str(package)]
    paths += without_folder(os.environ.get("PYTHONPATH", "").split(os.pathsep), os.curdir)
    command = [sys.executable, *_SNAKEMAKE, "--snakefile", os.path.relpath(snakefile)]
    command += ["--workflow-profile", "none"]
    # Its linear programme starts a process for each choice, and finds the same priorities.
    command += ["--scheduler", "greedy"]
    environment = {name: text for name, text in os.environ.items() if name not in _SURROUNDINGS}
    environment |= {"PYTHONPATH": os.pathsep.join(paths), **SAFE_PATH}
    # Snakemake and its jobs inherit that they ignore Ctrl-C, and are stopped in order.
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen([*command, *options], env=environment)
    finally:
        signal.signal(signal.SIGINT, interrupt)
    end = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return process.wait()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _stop(process)
        return STOPPED
    finally:
        signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGTERM, end)


def name_interpreter() -> str:
    """Path of this interpreter that a shell takes for one word.

    Snakemake writes it into commands without quotes. Where blanks or quotes are in the path, it is
    the path of a script that starts the interpreter, in the folder of a run.
    """
    if shlex.quote(sys.executable) == sys.executable:
        return sys.executable
    script = LOCKS.parent / "python"
    content = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n'
    if not script.is_file() or script.read_text(encoding="utf-8") != content:
        with atomic_path(script) as temporary:
            temporary.write_text(content, encoding="utf-8")
            temporary.chmod(0o755)
    return str(script)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End Snakemake and its jobs; it removes what they have half written."""
    import psutil  # noqa: PLC0415 - after interruptions only

    def below() -> set[psutil.Process]:
        """Processes that Snakemake has started, and theirs."""
        with suppress(psutil.Error):
            return set(psutil.Process(process.pid).children(recursive=True))
        return set()

    def end_jobs(kill: bool = False) -> bool:
        """Ask the jobs to end; True while some are left."""
        jobs.update(below())
        for job in list(jobs):
            try:
                job.kill() if kill else job.terminate()
                ended = job.status() == psutil.STATUS_ZOMBIE
            except psutil.Error:
                ended = True
            if ended:
                jobs.remove(job)
        return bool(jobs)

    # Before it ends, after which they have no parent.
    jobs, deadline = below(), time.monotonic() + _PATIENCE_S
    # Its logger for the terminal (workflow/terminal) takes the signal.
    process.send_signal(signal.SIGUSR1)
    while end_jobs() or process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            end_jobs(kill=True)
            break
        time.sleep(0.1)
    unlock(Path())


# Variables with which a user's other workflows are set up.
_SURROUNDINGS = ("SNAKEMAKE_PROFILE",)
# Exit code of a run that was stopped, as of shells.
STOPPED = 130
# Variable of the environment with which Python imports no file of the working directory.
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
_SNAKEMAKE = ("-m", "snakemake")
# How long Snakemake may take to stop.
_PATIENCE_S = 30.0
# The study that is run when no file is named, from the checkout.
OWN_SETTINGS = "config/config.yaml"
# Where Snakemake notes the files of its runs.
LOCKS = Path(".snakemake", "locks")
# Job scripts of Snakemake and compiled code need about as much.
_ROOM_BYTES = 1_000_000


def settings_files(words: Sequence[str]) -> list[str]:
    """Files of settings that were named on a command line, perhaps split at blanks.

    As many words as possible that name a file together are taken as one name; without any it is
    `OWN_SETTINGS`, where there is one. A word that names no file may be the name of a study (see
    `find_study`). InputDataError as `read_settings_file` if one cannot be read or is no YAML.
    """
    parts = [part for word in words for part in word.split(" ") if part]
    files = []
    while parts:
        sizes = range(len(parts), 0, -1)
        size = next((n for n in sizes if Path(" ".join(parts[:n])).is_file()), 1)
        name = " ".join(parts[:size])
        files.append(str(find_study(name) or name))
        parts = parts[size:]
    if not files and Path(OWN_SETTINGS).is_file():
        files = [OWN_SETTINGS]
    for file in files:
        read_settings_file(file)
    return files


def moved_settings(words: Sequence[str]) -> tuple[Finding, ...]:
    """Findings about files of settings that were named on a command line by a former place."""
    found = (moved_finding(part) for word in words for part in word.split(" ") if part)
    return tuple(filter(None, found))


def check_locks(folder: Path) -> None:
    """Refuse a folder in which a run has left its locks, or is going on.

    Snakemake removes its locks when it ends, however it ends, unless it is killed: this is for
    after a run that ended with an error. InputDataError with what happened and what to type.
    """
    if not any((folder / LOCKS).glob("*.lock")):
        return
    running = _running(folder)
    if running:
        found = f"locks of a run that is going on (process {running[0]})"
        remedy = "Wait until it has ended, then type the command again."
    else:
        found = "locks of a run that was killed or lost its power"
        remedy = "Type make unlock, then the command again: it goes on where that run ended."
    raise InputDataError(folder / LOCKS, found, "none", remedy, check="run.locked")


def unlock(folder: Path) -> int:
    """Remove the locks of runs in a folder that were killed; returns how many there were.

    InputDataError if a run is going on there.
    """
    running = _running(folder)
    if running:
        raise InputDataError(
            folder / LOCKS,
            f"a run that is going on (process {running[0]})",
            "none",
            "Wait until it has ended, or end it.",
            check="run.locked",
        )
    locks = list((folder / LOCKS).glob("*.lock"))
    for lock in locks:
        lock.unlink(missing_ok=True)
    return len(locks)


def _running(folder: Path) -> list[int]:
    """Processes of Snakemake in a folder, the ones above this process left out."""
    import psutil  # noqa: PLC0415 - after errors only

    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        command, place = process.info["cmdline"] or [], process.info["cwd"]
        named = any(Path(word).name == "snakemake" for word in command[:4])
        if named and place and Path(place) == folder.resolve() and process.pid not in own:
            found.append(process.pid)
    return found


def complete_environment() -> None:
    """Set what libraries take from the environment, where the user has not set it.

    Containers and clusters run programs as a number that no list of users has: it gets a name and
    a home folder. Linear algebra has one thread, as in the jobs of Snakemake: systems of a few
    hundred unknowns are slower with more. NumPy reads this once, so it is called before NumPy is
    imported.
    """
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["USER"] = f"user{os.getuid()}"
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = str(LOCKS.parent.resolve())


def check_machine() -> None:
    """Refuse a machine on which Snakemake cannot start.

    Caches are kept with the study where the home folder takes none. InputDataError if the temporary
    folder takes no file of a megabyte, or a folder of caches can neither be written nor created.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR")) as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
    except OSError as error:
        raise InputDataError(
            "temporary folder " + os.environ.get("TMPDIR", "/tmp"),
            (error.strerror or str(error)).lower(),
            "a folder with room for a file of 1 MB",
            "Make room there, or name another folder: TMPDIR=folder make study.",
        ) from None
    named = os.environ.get("XDG_CACHE_HOME")
    folder = Path(named) if named else Path.home() / ".cache"
    reason = _reason_unwritable(folder / "snakemake")
    if reason and not named:
        folder = LOCKS.parent.resolve() / "cache"
        os.environ |= {"XDG_CACHE_HOME": str(folder), "MPLCONFIGDIR": str(folder / "matplotlib")}
        reason = _reason_unwritable(folder / "snakemake")
    if reason:
        raise InputDataError(
            f"cache folder {folder}",
            reason,
            "a folder that can be written, which Snakemake needs",
            "Name another one: XDG_CACHE_HOME=folder make study.",
        )


def _reason_unwritable(folder: Path) -> str:
    """Why a folder cannot be written; nothing where it can be, or could be created."""
    try:
        require_writable(folder)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""
