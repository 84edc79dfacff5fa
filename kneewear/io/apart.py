"""Meshes read by libraries of compiled code, in a process of their own.

A damaged file may crash such a library, and Snakemake with it, keep it busy for ever, or make it
ask for any amount of memory. Its processor time and memory are limited.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from kneewear.base.search_path import without_folder
from kneewear.errors import InputDataError
from kneewear.io.data_file import cut_off

# Real parts take seconds of processor time. On a busy machine these may be minutes on the clock,
# which limits libraries that wait.
_PATIENCE_S = 300
_CLOCK_S = 3600


def read_apart(path: str | Path, module: str, library: str, complete: str, room: int) -> Any:
    """Return what a function of a module returns for a file.

    Parameters
    ----------
    path : str or Path
        The file.
    module : str
        Full names of a module and its function of a path, "kneewear.io.polydata:read_polydata".
    library : str
        Name of the library in messages.
    complete : str
        What the file should be, "a complete STEP or IGES file".
    room : int
        Memory that it may take, bytes, the library apart.

    Raises
    ------
    InputDataError
        Of the function; or if the library refuses the file, crashes, needs too long or more memory.
    """
    paths = [str(Path(__file__).parents[2])]
    paths += without_folder(os.environ.get("PYTHONPATH", "").split(os.pathsep), os.curdir)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.pickle")
        words = [module, library, complete, str(room), str(path), str(answer)]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "kneewear.io.apart", *words],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
                capture_output=True,
                text=True,
                timeout=_CLOCK_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            state = f"content {library} is busy with for {_CLOCK_S} s"
            raise cut_off(path, state, complete) from None
        if done.returncode == -signal.SIGXCPU:
            state = f"content {library} is busy with for {_PATIENCE_S} s of processor time"
            raise cut_off(path, state, complete)
        if done.returncode < 0:
            raise cut_off(path, f"content {library} crashes on", complete)
        if not answer.exists():
            raise RuntimeError(f"{library} could not be run on {path}:\n{done.stderr}")
        given = pickle.loads(answer.read_bytes())
    if isinstance(given, InputDataError):
        raise given
    return given


def answer_request(*words: str) -> None:
    """Store what a module reads of a file, or its error, in a file for `read_apart`."""
    module, library, complete, room, path, answer = words
    name, _, function = module.partition(":")
    read = getattr(import_module(name), function)
    limit_memory(int(room))
    limit_time(_PATIENCE_S)
    try:
        given: Any = read(Path(path))
    except InputDataError as error:
        given = error
    except MemoryError:
        given = cut_off(path, f"content for which {library} needs too much memory", complete)
    except Exception as error:  # bindings raise errors of the library's own
        state = f"content {library} cannot use ({type(error).__name__}: {error})"
        given = cut_off(path, state, complete)
    Path(answer).write_bytes(pickle.dumps(given))


def limit_memory(room: int) -> None:
    """Limit what this process adds to its address space, bytes, where the system can."""
    limit = psutil.Process().memory_info().vms + room
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def limit_time(seconds: int) -> None:
    """End this process when it has used so much processor time, s, from now on."""
    used = int(sum(os.times()[:2])) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or used + seconds < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, hard))


if __name__ == "__main__":
    answer_request(*sys.argv[1:])
