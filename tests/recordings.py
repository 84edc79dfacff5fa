"""Invented recordings that tests give to `kneewear new`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def write_turning_gait(file: str | Path, rotation_deg: float) -> None:
    """Write curves of a cycle that turn the tibia to either side and move the femur by 4 mm."""
    percent = np.linspace(0.0, 100.0, 51)
    turn = 2.0 * np.pi * percent / 100.0
    table = pd.DataFrame(
        {
            "percent": percent,
            "flexion_deg": 25.0 - 22.0 * np.cos(turn),
            "tibial_external_rotation_deg": rotation_deg * np.sin(turn),
            "femur_anterior_mm": 2.0 * np.cos(turn),
            "load_body_weights": 1.4 + 1.2 * np.cos(turn),
        }
    )
    table.to_csv(file, index=False)
