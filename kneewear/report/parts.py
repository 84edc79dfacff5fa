"""Figures and views of models whose tables are computed by jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from kneewear.study.models import MODELS


def draw_parts(
    model: str,
    tables: Mapping[str, pd.DataFrame],
    records: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, Path],
) -> dict[str, Figure]:
    """Figures of a model from its tables, records and further files by name."""
    return dict(MODELS[model].draw(tables, records, files))


def view_parts(
    model: str, records: Mapping[str, Mapping[str, Any]], files: Mapping[str, Path]
) -> dict[str, Any]:
    """View in space of the bodies of a model; empty where it has none."""
    return dict(MODELS[model].view(records, files))
