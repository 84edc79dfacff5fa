"""Forward dynamics beside the row of equilibria it comes from."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.simulation.history import ContactHistory

# Frames with more than this part of the largest load count as stance.
STANCE = 0.4


def compare_analyses(one: ContactHistory, other: ContactHistory) -> pd.DataFrame:
    """Contact of the same cases by both analyses, frame by frame.

    Parameters
    ----------
    one, other : ContactHistory
        The same cases of one activity, one quasi-static and one by forward dynamics: each tells
        which, so that their order does not matter.

    Returns
    -------
    DataFrame
        One row a case, frame and side: activity, case, percent, stance (whether the load exceeds 40
        per cent of its largest), side; for q in max_pressure_mpa, avg_pressure_mpa,
        contact_area_mm2 and side_share the columns q_quasi_static and q_forward; medial_shift_um,
        height_shift_um (forward minus quasi-static); inertia and mismatch, parts of the load: what
        acceleration takes, and what the finer grid adds to the contact of the grid the motion was
        found with.

    Raises
    ------
    ValueError
        If both are of the same analysis, or cases or frames differ.
    """
    by_analysis = {one.analysis: one, other.analysis: other}
    if by_analysis.keys() != {"quasi_static", "forward"}:
        raise ValueError(f"both histories are of the analysis {one.analysis!r}")
    quasi_static, forward = by_analysis["quasi_static"], by_analysis["forward"]
    same = quasi_static.cases == forward.cases and quasi_static.sides == forward.sides
    if not same or not np.array_equal(quasi_static.percent, forward.percent):
        raise ValueError("the two analyses are of other cases, sides or frames")
    shape = forward.max_pressure.shape
    case, frame, side = (axis.ravel() for axis in np.indices(shape))

    def whole(values: NDArray) -> NDArray:
        """One value a frame, on every side."""
        return np.broadcast_to(values[..., None], shape).ravel()

    largest = forward.load.max(axis=1, keepdims=True)
    shift = 1e3 * (forward.translation - quasi_static.translation)
    columns: dict[str, NDArray] = {
        "activity": np.full(case.size, forward.activity),
        "case": np.array([one.name for one in forward.cases], dtype=object)[case],
        "percent": forward.percent[frame],
        "stance": whole(forward.load > STANCE * largest),
        "side": np.array(forward.sides, dtype=object)[side],
    }
    for history, analysis in ((quasi_static, "quasi_static"), (forward, "forward")):
        share = -history.force[..., 1] / history.load[..., None]
        for name, values in (
            ("max_pressure_mpa", history.max_pressure),
            ("avg_pressure_mpa", history.avg_pressure),
            ("contact_area_mm2", history.contact_area),
            ("side_share", share),
        ):
            columns[f"{name}_{analysis}"] = values.ravel()
    inertia = np.linalg.norm(forward.inertia_force, axis=-1)
    columns |= {
        "medial_shift_um": whole(shift[..., 2]),
        "height_shift_um": whole(shift[..., 1]),
        "inertia": whole(inertia / forward.load),
        "mismatch": whole(forward.residual),
    }
    return pd.DataFrame(columns)
