"""Motions and settings the tests of activities share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import TypeAdapter

from kneewear.activity.settings import FileActivity, LoadSettings, Motion, MotionSettings
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.shipped import find_study

ROOT = Path(__file__).parents[2]
COLUMNS = {
    "percent": "pct",
    "flexion": "flex",
    "varus": "var",
    "rotation": "rot",
    "anterior_posterior": "ap",
    "superior_inferior": "si",
    "medial_lateral": "ml",
}


def study(name: str):
    """A study of the folder config."""
    return validate_study(
        merge_settings(
            read_settings(ROOT / "config/defaults.yaml"),
            read_settings(find_study(name)),
        )
    )


def motion_settings(convention: str = "grood-suntay", leave_out=(), **changed) -> MotionSettings:
    columns = {name: column for name, column in COLUMNS.items() if name not in leave_out}
    settings = {"file": "gait.csv", "convention": convention, "columns": columns, **changed}
    return TypeAdapter(Motion).validate_python(settings)


def iso_settings(edition: str = "2014", **changed) -> MotionSettings:
    leave_out = ("varus", "superior_inferior", "medial_lateral")
    changed = {"reference_posterior_mm": 0.0, **changed}
    return motion_settings(f"iso14243-3:{edition}", leave_out, **changed)


def load_settings(kind: str = "axial_load", **changed) -> LoadSettings:
    columns = {"percent": "pct", "load": "newton"}
    settings = {"file": "load.csv", "columns": columns, "kind": kind, **changed}
    return LoadSettings.model_validate(settings)


def file_activity(motion: MotionSettings | None = None, **changed) -> FileActivity:
    settings = {
        "source": "file",
        "motion": (motion or motion_settings()).model_dump(),
        "load": load_settings().model_dump(),
        "duration_s": 1.2,
        "closing_percent": 5.0,
        **changed,
    }
    return FileActivity.model_validate(settings)


def motion(n: int = 41, **changed) -> pd.DataFrame:
    percent = np.linspace(0, 100, n)
    turn = 2 * np.pi * percent / 100
    columns = {
        "percent": percent,
        "flexion": 25 - 20 * np.cos(turn),
        "varus": 1.0 * np.sin(turn),
        "rotation": 6.0 * np.cos(turn),
        "anterior_posterior": 4 * np.sin(turn),
        "superior_inferior": 40 + np.cos(turn),
        "medial_lateral": 0.5 * np.cos(turn),
    }
    return pd.DataFrame({**columns, **changed})


def load(values=(1.0, 1.0, 1.0, 1.0, 1.0)) -> pd.DataFrame:
    return pd.DataFrame({"percent": np.linspace(0, 100, len(values)), "load": values})
