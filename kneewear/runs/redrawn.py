"""Figures of finished studies, drawn again from their results."""

from __future__ import annotations

from contextlib import chdir
from os.path import relpath
from pathlib import Path

from matplotlib.figure import Figure

from kneewear import checkout_folder
from kneewear.base.renamed_keys import present_settings
from kneewear.io.documents import load_record
from kneewear.runs.chains import chain_of
from kneewear.study.job_files import JobFiles
from kneewear.study.models import Lazy
from kneewear.study.settings import validate_study


def redraw_group(folder: Path, group: str) -> dict[str, Figure]:
    """Draw a group of the figures of a finished study again.

    Parameters
    ----------
    folder : Path
        `results/<study>`, with its record.
    group : str
        Folder of the figures below `figures/`.

    Returns
    -------
    dict of str to Figure
        Figures by name; empty if the study no longer has the results that they show.
    """
    record = folder.resolve() / "provenance.json"
    if not record.is_file():
        return {}
    settings = present_settings(load_record(record)["settings"], str(record))
    # Paths of results are relative to the folder in which the study was run.
    with chdir(record.parents[2]):
        chain = chain_of(validate_study(settings, str(record)), relpath(checkout_folder()))
        step = chain.drawn.get(group)
        shown = [path for paths in step.inputs.values() for path in paths] if step else []
        if step is None or not all(Path(path).exists() for path in shown):
            return {}
        drawing = Lazy(step.name)(step.settings, JobFiles(step.inputs, root=chain.root))
        return dict(drawing.figures)
