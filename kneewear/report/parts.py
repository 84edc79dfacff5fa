"""Figures and views of models that are computed in parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from kneewear.evidence.fe_comparison.figures import draw_twin
from kneewear.evidence.verification.figures import draw_verification
from kneewear.knees.figures import draw_multibody_figures, scene_view
from kneewear.knees.replications import STUDY_MODELS, replication


def draw_parts(
    model: str,
    tables: Mapping[str, pd.DataFrame],
    records: Mapping[str, Mapping[str, Any]],
    files: Mapping[str, Path],
) -> dict[str, Figure]:
    """Figures of a model from its tables, records and further files by name."""
    if model in STUDY_MODELS:
        return dict(replication(model, "figures").draw_study(tables, files))
    if model == "multibody":
        return draw_multibody_figures(tables, records["scene"])
    if model == "fe_twin":
        return draw_twin(*(tables[name] for name in ("fe_twin", "fe_maps", "fe_profiles")))
    return draw_verification(tables)


def view_parts(
    model: str, records: Mapping[str, Mapping[str, Any]], files: Mapping[str, Path]
) -> dict[str, Any]:
    """View in space of the bodies of a model; empty where it has none."""
    if model in STUDY_MODELS:
        return dict(replication(model, "figures").view_study(files))
    return scene_view(records["scene"]) if "scene" in records else {}
