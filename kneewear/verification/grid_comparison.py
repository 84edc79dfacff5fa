"""Accuracy of fixed and adaptive grids, from light contact to full load."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.foundation import Layer, PressureLaw
from kneewear.contact.resultant import Resultant
from kneewear.geometry.grid import build_elements
from kneewear.verification.adaptive import AdaptivePair, AdaptiveResultant

Array = NDArray[np.float64]
Cells = tuple[int, int]  # rows and columns
Evaluation = Callable[[Array], Resultant | AdaptiveResultant]  # from the translation, mm

# Elements per region of the reference solution.
REFERENCE = (120, 120)
# Largest penetrations from light contact to full load, mm.
DEPTHS = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
QUANTITIES = ("force", "peak", "mean", "area")
# Tolerance of the depth of a pose, relative to the depth, and maximum number of steps.
_DEPTH_TOLERANCE, _MAX_STEPS = 1e-3, 200


def compare_grids(
    pair: AdaptivePair,
    law: PressureLaw,
    depths: Sequence[float] = DEPTHS,
    *,
    adaptive: Sequence[Cells] = ((20, 15), (40, 30)),
    fixed: Sequence[Cells] = ((50, 38), (100, 75)),
    positions: int = 5,
) -> pd.DataFrame:
    """Errors of force, peak and mean pressure and contact area over the depth of the contact.

    The surfaces are moved along y with their axes parallel, to the given largest penetrations (mm),
    at random positions within a cell of the coarsest fixed grid. One row per depth and grid:
    `depth_mm`, `kind`, `elements` (of one region if adaptive), `active` (mean number of loaded
    elements) and errors (root mean square over the positions) relative to `REFERENCE`.
    """

    def adaptive_grid(cells: Cells) -> Evaluation:
        on_cells = pair.with_elements(*cells)
        return lambda translation: on_cells.evaluate(np.eye(3), translation, law)

    def fixed_grid(cells: Cells) -> Evaluation:
        grid = build_elements(pair.bearing, pair.bearing.rectangle(*cells))
        on_grid, layer = pair.on(grid), Layer(law, grid.thickness[grid.valid])
        return lambda translation: on_grid.evaluate(np.eye(3), translation, layer)

    grids = [("fixed", cells, fixed_grid(cells)) for cells in fixed]
    grids += [("adaptive", cells, adaptive_grid(cells)) for cells in adaptive]
    reference = adaptive_grid(REFERENCE)
    coarsest = pair.bearing.rectangle(*min(fixed, default=(20, 15)))
    span = np.array([coarsest.length / coarsest.rows, 0.0, coarsest.width / coarsest.columns])
    shifts = np.random.default_rng(0).uniform(-0.5, 0.5, (positions, 3)) * span
    rows = []
    for depth in depths:
        poses = [lower_to_depth(pair, law, shift, depth) for shift in shifts]
        exact = np.array([_quantities(reference(pose)) for pose in poses])
        for kind, cells, evaluate in grids:
            results = [evaluate(pose) for pose in poses]
            found = np.array([_quantities(result) for result in results])
            error = np.sqrt(np.mean((found / exact - 1.0) ** 2, axis=0))
            rows.append(
                {
                    "depth_mm": depth,
                    "kind": kind,
                    "elements": cells[0] * cells[1],
                    "active": float(np.mean([(result.pressure > 0).sum() for result in results])),
                    **{f"{name}_error": e for name, e in zip(QUANTITIES, error, strict=True)},
                }
            )
    return pd.DataFrame(rows)


def lower_to_depth(
    pair: AdaptivePair,
    law: PressureLaw,
    translation: Array,
    depth: float,
    rotation: Array | None = None,
) -> Array:
    """Translation, mm, at which the largest penetration is `depth`, mm, moving along y only.

    Raises ValueError if the surfaces do not meet.
    """
    rotation = np.eye(3) if rotation is None else rotation
    points, indenter = pair.bearing.surface.sample_points, pair.search.indenter
    pose = np.array(translation, dtype=float)
    pose[1] = points[:, 1].max() - (indenter.sample_points @ rotation.T)[:, 1].min() + 1.0
    for _ in range(_MAX_STEPS):
        _, _, distance, _, interior = indenter.closest_points((points - pose) @ rotation)
        gap = float(np.where(interior, distance, np.inf).min())
        if not 0.0 < gap < np.inf:
            break
        # The gap is never larger than the remaining distance along y.
        pose[1] -= gap + depth
    finer = pair.with_elements(40, 40)
    for _ in range(_MAX_STEPS if gap <= 0.0 else 0):
        reached = float(finer.evaluate(rotation, pose, law).penetration.max(initial=0.0))
        if abs(reached - depth) < _DEPTH_TOLERANCE * depth:
            return pose
        pose[1] += reached - depth
    raise ValueError(f"the {pair.bearing.name} surfaces do not meet when lowered")


def _quantities(result: Resultant | AdaptiveResultant) -> tuple[float, float, float, float]:
    """Force, N, peak and mean pressure, MPa, and contact area, mm2."""
    loaded = result.pressure > 0.0
    if not loaded.any():
        return 0.0, 0.0, 0.0, 0.0
    pressure = result.pressure[loaded]
    force = float(np.linalg.norm(result.wrench[:3]))
    return force, float(pressure.max()), float(pressure.mean()), float(result.area[loaded].sum())
