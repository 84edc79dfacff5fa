"""Folder of the figures, tables and texts of a finished study for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from kneewear.errors import InputDataError
from kneewear.io.documents import save_bytes, save_sized_figure, save_text
from kneewear.report.journal import NARROW, WIDTHS_MM, Manuscript, manuscript_files
from kneewear.report.picture import draw_view
from kneewear.report.print_layout import fit_texts, is_legible
from kneewear.report.style import JOURNAL, printed_at
from kneewear.report.views import STILL
from kneewear.study.job_files import JobFiles
from kneewear.study.models import Lazy

# Formats of each figure.
KINDS = ("pdf", "png")


class DrawingStep(Protocol):
    """Step that draws a group of figures: its function, settings, and files by lists."""

    @property
    def name(self) -> str:
        """Function, "module:attribute"."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its settings."""

    @property
    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Paths by the names of their lists."""


def write_sized_figures(steps: Sequence[DrawingStep], root: str, output: Path) -> list[Path]:
    """Draw all figures of a study at the widths of journals; return the files.

    Parameters
    ----------
    steps : sequence of DrawingStep
        Steps that draw the groups of figures.
    root : str
        Checkout, relative to the working directory, as are the paths of the steps.
    output : Path
        Folder that is written, at the width of a column only where no text overlaps there.

    Raises
    ------
    InputDataError
        When a file that a figure shows is missing, as contact histories are in an archive.
    """
    for step in steps:
        for path in map(Path, (file for files in step.inputs.values() for file in files)):
            if not path.exists():
                remedy = "Export where the study was computed, or run it again."
                raise InputDataError(path, "no such file", "results that a figure shows", remedy)
    written: list[Path] = []
    for ending, width in WIDTHS_MM.items():
        # The style counts until a figure is saved.
        with printed_at(width):
            for name, figure in _drawn(steps, root):
                fit_texts(figure)
                if ending == NARROW and not is_legible(figure):
                    continue
                files = [output / f"{name}_{ending}.{kind}" for kind in KINDS]
                save_sized_figure(figure, files)
                written += files
    return written


def write_manuscript(manuscript: Manuscript, output: Path) -> list[Path]:
    """Write a manuscript and the style of its figures; return the files."""
    written = [output / JOURNAL.name]
    save_text(JOURNAL.read_text(encoding="utf-8"), written[0])
    for name, content in manuscript_files(manuscript).items():
        written.append(output / name)
        save_bytes(content, written[-1])
    return written


def _drawn(steps: Sequence[DrawingStep], root: str) -> Iterator[tuple[str, Any]]:
    """Figures of all groups by name."""
    for step in steps:
        drawing = Lazy(step.name)(step.settings, JobFiles(step.inputs, root=root))
        if drawing.view:
            yield STILL, draw_view(drawing.view)
        yield from drawing.figures.items()
