"""Figures of a job of the rule plot_figures, and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from kneewear.io.documents import save_figures, save_json
from kneewear.report.picture import draw_view
from kneewear.report.views import STILL, VIEW


@dataclass(frozen=True)
class Drawing:
    """Figures by name, and the data of a view in space, if there is one."""

    figures: Mapping[str, Figure]
    view: Mapping[str, Any] = field(default_factory=dict)

    def save(self, folder: str, formats: Sequence[str], pictures: Sequence[str]) -> None:
        """Write the figures, and the view beside them."""
        still = {STILL: draw_view(self.view)} if self.view else {}
        save_figures(still | dict(self.figures), folder, formats, pictures)
        if self.view:
            save_json(self.view, Path(folder, VIEW))
