"""The decision tool predicts by the model with the smaller leave-one-out error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.models import PLANE, POWER_LAW, compare_models
from kneewear.analysis.regression import fit_regression
from kneewear.report.chart_data import limit_fits

THICKNESS, MASS = (grid.ravel() for grid in np.meshgrid([6.0, 8.0, 10.0], [50.0, 75.0, 100.0]))
LAWS = {
    PLANE: 5.0 - 0.1 * THICKNESS + 0.01 * MASS,
    POWER_LAW: 3.0 * THICKNESS**-0.8 * MASS**0.5,
    # Almost a plane: the plane errs by less than 2 % and the power law by less than that.
    "nearly a plane": 3.0 * THICKNESS**-0.08 * MASS**0.05,
}


@pytest.mark.parametrize("law", LAWS)
def test_decision_uses_the_model_with_the_smaller_leave_one_out_error(law):
    rows = [
        {
            "case": f"{h:g}_{m:g}",
            "life": "gait",
            "thickness_mm": h,
            "body_mass_kg": m,
            "side": side,
            "quantity": "max_pressure",
            "value": value,
            "unit": "MPa",
        }
        for side in ("medial", "lateral")
        for h, m, value in zip(THICKNESS, MASS, LAWS[law], strict=True)
    ]
    cases = pd.DataFrame(rows)
    models = compare_models(cases)
    fits = limit_fits(cases, fit_regression(cases), models)
    error = models.set_index(["side", "model"])["leave_one_out_rmse"]
    for fit in fits["fits"]:
        side = fit["side"]
        better = error[side, POWER_LAW] < error[side, PLANE]
        assert better == (law != PLANE)
        assert (fit["power"] is not None) == better
    if law == "nearly a plane":
        assert models["plane_is_enough"].all()
