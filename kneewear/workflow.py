"""Settings of a run of the workflow: default study, files, command line, and what they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

from kneewear.io.atomic import check_writable
from kneewear.io.study_inputs import check_inputs
from kneewear.report.captions import figure_texts
from kneewear.settings.base import Study
from kneewear.settings.files import read_settings_file
from kneewear.settings.study import load_study, merge_settings


def checked_study(
    own: Mapping[str, Any], files: Sequence[str | Path], root: str, check_files: bool
) -> tuple[Study, tuple[str, ...]]:
    """Study of a run of the workflow.

    Parameters
    ----------
    own : mapping
        Settings that override the default study, merged by Snakemake.
    files : sequence of str or Path
        Files they were merged from, so that messages can name file and line.
    root : str
        The checkout.
    check_files : bool
        Whether to check the data files and the folder of the results too.

    Returns
    -------
    Study
        Settings.
    tuple of str
        Notes for the user.

    Raises
    ------
    InputDataError
        When settings or data files are faulty.
    OutputFileError
        When the results cannot be written.
    """
    default = relpath(f"{root}/config/config.yaml")
    read = [read_settings_file(path) for path in (default, *map(relpath, files))]
    settings = merge_settings(read[0].content, own)
    study = load_study(settings, " + ".join(file.path for file in read), read)
    notes: tuple[str, ...] = ()
    if check_files:
        notes = check_inputs(study, root)
        check_writable(f"results/{study.study}")
    return study, notes


def caption_texts() -> dict[str, str]:
    """Title and caption of every figure, by the name of its file."""
    return {name: f"{text.title}. {text.caption}" for name, text in figure_texts().items()}
