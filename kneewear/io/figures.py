"""Figures (`figures/*.svg`, `.png`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kneewear.io.atomic import atomic_path


def save_figure(figure: Any, path: str | Path, resolution: int = 150) -> None:
    """Write a figure.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure.
    path : str or Path
        File to write; its suffix chooses the format.
    resolution : int
        Dots per inch of pixel formats.
    """
    suffix = Path(path).suffix
    # Without a date equal figures are equal files.
    metadata = {".svg": {"Date": None}, ".png": {"Software": None}}.get(suffix, {})
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=resolution, bbox_inches="tight", metadata=metadata)
    # The places of all parts stay for the next format: finding them costs more than drawing.
    figure.set_layout_engine("none")
