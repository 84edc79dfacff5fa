"""Start the workflow from any folder: its files are those of the checkout or of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kneewear import checkout_folder


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
    """Exit code of Snakemake on the study of settings `files`, in the working directory."""
    snakefile = checkout_folder() / "Snakefile"
    named = ["--configfile", *files] if files else []
    return _snakemake(snakefile, ["--rerun-incomplete", *options, *named])


def _snakemake(snakefile: Path, options: Sequence[str]) -> int:
    """Exit code of Snakemake, whose jobs import this package."""
    checkout = checkout_folder()
    package = Path(__file__).resolve().parents[2]
    paths = [str(checkout / "workflow" / "terminal"), str(package)]
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    command = [sys.executable, "-m", "snakemake", "--snakefile", os.path.relpath(snakefile)]
    # Its linear programme starts a process for each choice, and finds the same priorities.
    command += ["--scheduler", "greedy"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run([*command, *options], env=environment, check=False).returncode
