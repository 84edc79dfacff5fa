"""Figures (`figures/*.svg`, `.png`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kneewear.io.atomic import atomic_path

# Room round a figure's ink, inches.
_MARGIN = 0.1


def save_figures(
    figures: Mapping[str, Any], folder: str | Path, suffixes: tuple[str, ...] = ("svg", "png")
) -> None:
    """Write figures, each in every format.

    Parameters
    ----------
    figures : mapping of name to matplotlib Figure
        The figures; their names become those of the files.
    folder : str or Path
        Folder of the files.
    suffixes : tuple of str
        Formats.
    """
    for name, figure in figures.items():
        # The layout is computed once for all formats: it costs more than drawing.
        layout = figure.get_layout_engine()
        if layout is not None:
            layout.execute(figure)
        ink = figure.get_tightbbox().padded(_MARGIN)
        # Matplotlib's "none" keeps a placeholder, for which every figure is drawn twice.
        figure.set_layout_engine(None)
        for suffix in suffixes:
            _save(figure, ink, Path(folder, f"{name}.{suffix}"))


def _save(figure: Any, ink: Any, path: Path, resolution: int = 150) -> None:
    # Without a date equal figures are equal files. Flat areas pack well at the lowest level.
    options: dict[str, dict[str, Any]] = {
        ".svg": {"metadata": {"Date": None}},
        ".png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 1}},
    }
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=resolution, bbox_inches=ink, **options[path.suffix])
