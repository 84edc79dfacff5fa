"""Data with which bearing regions of an insert are drawn by hand on the page of the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kneewear.base.sides import SIDES
from kneewear.geometry.meshes import TriangleMesh
from kneewear.report.derived import Settings

# Spacing of the heights that are drawn, mm.
SPACING = 1.0


def tabulate_heights(insert: TriangleMesh) -> pd.DataFrame:
    """Heights of an insert's sheet in knee axes: the highest point of each square of `SPACING`.

    Columns are the middle of the square, `x_mm` (posterior) and `z_mm` (medial), and the height
    `y_mm`.
    """
    corners = insert.vertices[insert.faces]
    # Vertices alone leave squares of coarse meshes empty.
    middles = [0.5 * (corners + np.roll(corners, 1, axis=1)), corners.mean(axis=1)]
    points = np.vstack([insert.vertices, *(middle.reshape(-1, 3) for middle in middles)])
    squares = np.floor(points[:, [0, 2]] / SPACING).astype(int)
    heights = pd.DataFrame({"x": squares[:, 0], "z": squares[:, 1], "y_mm": points[:, 1]})
    highest = heights.groupby(["x", "z"], as_index=False)["y_mm"].max()
    places = {f"{axis}_mm": (highest[axis] + 0.5) * SPACING for axis in "xz"}
    return pd.DataFrame({**places, "y_mm": highest["y_mm"]})


def regions_data(tables: Mapping[str, pd.DataFrame], settings: Settings) -> dict[str, Any] | None:
    """Data of the tool that draws regions; None without the heights of an insert from files."""
    if "insert_heights" not in tables:
        return None
    regions = settings["implant"]["meshes"]["insert_region_mm"]
    return {
        "spacing": SPACING,
        "heights": tables["insert_heights"].round(3).values.tolist(),
        "corners": {side: _corners(regions[side]) for side in SIDES if regions[side]},
    }


def _corners(region: Mapping[str, Any]) -> list[list[float]]:
    """Corners [x, z] of an outline, or of the window."""
    if region["outline"] is not None:
        return [list(corner) for corner in region["outline"]]
    (anterior, posterior), (lateral, medial) = region["x"], region["z"]
    return [[anterior, medial], [anterior, lateral], [posterior, lateral], [posterior, medial]]
