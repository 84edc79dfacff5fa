"""Search path of Python in the command line: files in the folder of a study are never imported.

Imported before any other module: `python -m kneewear` searches the working directory first, as does
an empty entry in `PYTHONPATH`, and a folder that somebody sent may hold a `yaml.py`. Only modules
that Python itself reads before the package are beyond its reach; `python -P -m kneewear` leaves the
folder out from the start.
"""

import os
import sys


def without_folder(entries: list[str], folder: str) -> list[str]:
    """Entries of a search path that name neither a folder nor what is relative to one."""
    own = os.path.realpath(folder)
    return [path for path in entries if os.path.isabs(path) and os.path.realpath(path) != own]


def is_command(words: list[str], started: list[str]) -> bool:
    """True if a process runs `kneewear`, or a module of it by `python -m`.

    Parameters
    ----------
    words : list of str
        `sys.argv`, whose first word is "-m" while a package is imported for `python -m`.
    started : list of str
        `sys.orig_argv`, which names the module.
    """
    name = os.path.basename(started[-len(words)]) if 0 < len(words) <= len(started) else ""
    return name.split(".")[0] == "kneewear"


if is_command(sys.argv, sys.orig_argv):
    sys.path[:] = without_folder(sys.path, os.curdir)
