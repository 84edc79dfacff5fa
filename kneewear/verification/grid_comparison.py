"""How exact fixed grids and adaptive ones are, from a light touch to full load."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.foundation import Layer, PressureLaw
from kneewear.contact.resultant import Resultant
from kneewear.geometry.bearing import Bearing
from kneewear.geometry.grid import build_elements
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.verification.adaptive import AdaptivePair, AdaptiveResultant

Array = NDArray[np.float64]
Evaluation = Callable[[Array], Resultant | AdaptiveResultant]

# Elements a region of the solution that stands for the exact one.
REFERENCE = (120, 120)
# Greatest penetrations from a light touch to full load, mm.
DEPTHS = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
QUANTITIES = ("force", "peak", "mean", "area")
# Poses are let down to within this part of the depth, in at most so many steps.
_SETTLED, _MOST_STEPS = 1e-3, 200


@dataclass(frozen=True)
class Joint:
    """Two surfaces let down on each other.

    Parameters
    ----------
    bearing : Bearing
        Bearing of the fixed body, facing up.
    indenter : Surface
        Surface of the moving body.
    table : SurfaceTable
        Its lookup table.
    law : PressureLaw
        Pressure law of the layer.
    rotation : array, shape (3, 3)
        Orientation of the moving body.
    """

    bearing: Bearing
    indenter: Surface
    table: SurfaceTable
    law: PressureLaw
    rotation: Array

    @cached_property
    def _pair(self) -> AdaptivePair:
        return AdaptivePair(self.bearing, self.indenter, self.table, 2, 2)

    def adaptive(self, rows: int, columns: int) -> Evaluation:
        """Contact as a function of the translation, with so many elements a region."""
        pair = self._pair.with_elements(rows, columns)
        return lambda translation: pair.evaluate(self.rotation, translation, self.law)

    def fixed(self, rows: int, columns: int) -> Evaluation:
        """Contact as a function of the translation, with so many elements on the whole bearing."""
        grid = build_elements(self.bearing, self.bearing.rectangle(rows, columns))
        pair = self._pair.fixed_pair.over(grid, 0)
        layer = Layer(self.law, grid.thickness[grid.valid])

        def evaluate(translation: Array) -> Resultant:
            pair.forget()
            return pair.evaluate(self.rotation, translation, layer)

        return evaluate


def compare_grids(
    joint: Joint,
    depths: Sequence[float],
    *,
    adaptive: Sequence[tuple[int, int]] = ((20, 15),),
    fixed: Sequence[tuple[int, int]] = ((20, 15), (100, 75)),
    places: int = 9,
    timed: bool = False,
) -> pd.DataFrame:
    """Errors of force, peak and mean pressure and contact area over the depth of the contact.

    Parameters
    ----------
    joint : Joint
        The surfaces.
    depths : sequence of float
        Greatest penetrations, mm.
    adaptive, fixed : sequence of (rows, columns)
        Grids to compare.
    places : int
        Number of positions, within half a cell of the coarsest fixed grid, over which errors are
        taken together: where a contact falls among the cells is chance.
    timed : bool
        Whether to tell the time as well, which no two runs agree on.

    Returns
    -------
    DataFrame
        One row a depth and grid: `depth_mm`, `kind` ("fixed" or "adaptive"), `elements` (a region
        of an adaptive one), `active` (mean number under load), `force_error`, `peak_error`,
        `mean_error`, `area_error` (root mean square over the places, relative to a region of
        120 x 120 elements); if timed, `time_ms` (median of an evaluation that knows no pose before
        it).

    Raises
    ------
    ValueError
        If the surfaces do not meet when let down.
    """
    grids = [("fixed", *size, joint.fixed(*size)) for size in fixed]
    grids += [("adaptive", *size, joint.adaptive(*size)) for size in adaptive]
    reference = joint.adaptive(*REFERENCE)
    cells = joint.bearing.rectangle(*min(fixed, default=(20, 15)))
    span = np.array([cells.length / cells.rows, 0.0, cells.width / cells.columns])
    shifts = np.random.default_rng(0).uniform(-0.5, 0.5, (places, 3)) * span
    rows = []
    for depth in depths:
        poses = [let_down(joint, shift, depth) for shift in shifts]
        exact = np.array([_measures(reference(pose)) for pose in poses])
        for kind, row_count, column_count, evaluate in grids:
            found, seconds = zip(*(_timed(evaluate, pose) for pose in poses), strict=True)
            measures = np.array([_measures(result) for result in found])
            error = np.sqrt(np.mean((measures / exact - 1.0) ** 2, axis=0))
            rows.append(
                {
                    "depth_mm": depth,
                    "kind": kind,
                    "elements": row_count * column_count,
                    "active": float(np.mean([(result.pressure > 0).sum() for result in found])),
                    **{f"{name}_error": e for name, e in zip(QUANTITIES, error, strict=True)},
                    **({"time_ms": 1e3 * float(np.median(seconds))} if timed else {}),
                }
            )
    return pd.DataFrame(rows)


def let_down(joint: Joint, translation: Array, depth: float) -> Array:
    """Translation, straight below or above the given one, at which contact is so deep.

    Parameters
    ----------
    joint : Joint
        The surfaces.
    translation : array, shape (3,)
        Position of the moving body's origin, mm; its height is of no account.
    depth : float
        Greatest penetration, mm.

    Returns
    -------
    array, shape (3,)
        mm.

    Raises
    ------
    ValueError
        If the surfaces do not meet.
    """
    pose = np.array(translation, dtype=float)
    turned = joint.indenter.sample_points @ joint.rotation.T
    pose[1] = joint.bearing.surface.sample_points[:, 1].max() - turned[:, 1].min() + 1.0
    evaluate = joint.adaptive(40, 40)
    for _ in range(_MOST_STEPS):
        gap = _gap(joint, pose)
        if not 0.0 < gap < np.inf:
            break
        # Never longer than the way down.
        pose[1] -= gap + depth
    for _ in range(_MOST_STEPS if gap <= 0.0 else 0):
        reached = float(evaluate(pose).penetration.max(initial=0.0))
        if abs(reached - depth) < _SETTLED * depth:
            return pose
        pose[1] += reached - depth
    raise ValueError(f"the {joint.bearing.name} surfaces do not meet when let down")


def _gap(joint: Joint, pose: Array) -> float:
    """Smallest distance of a sample of the bearing from the indenter, mm; inf if none faces it."""
    points = (joint.bearing.surface.sample_points - pose) @ joint.rotation
    _, _, distance, _, interior = joint.indenter.closest_points(points)
    return float(np.where(interior, distance, np.inf).min())


def _measures(result: Resultant | AdaptiveResultant) -> tuple[float, float, float, float]:
    """Force, N, peak and mean pressure, MPa, and contact area, mm2."""
    on = result.pressure > 0.0
    if not on.any():
        return 0.0, 0.0, 0.0, 0.0
    pressure = result.pressure[on]
    force = float(np.linalg.norm(result.wrench[:3]))
    return force, float(pressure.max()), float(pressure.mean()), float(result.area[on].sum())


def _timed(evaluate: Evaluation, pose: Array) -> tuple[Resultant | AdaptiveResultant, float]:
    start = time.perf_counter()
    result = evaluate(pose)
    return result, time.perf_counter() - start
