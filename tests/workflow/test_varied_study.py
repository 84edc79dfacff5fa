"""A wear study whose factorial design varies a wear constant and a setting of the motion."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from .conftest import Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

FACTOR = "wear.wear_factor_mm3_per_n_m"
ROTATION = "activities.gait.tibial_external_rotation_deg.base"
VARIED = {
    "simulation": {"analysis": "quasi_static"},
    "cases": {"body_mass_kg": [75], "overrides": {FACTOR: [1e-7, 2e-7], ROTATION: [-2.0, 2.0]}},
    "report": {"compare_with_published": False},
}


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    """Return a checkout in which the varied study is complete."""
    checkout = Checkout(tmp_path_factory.mktemp("varied") / "copy")
    checkout.snakemake(overrides=VARIED)
    return checkout


def test_every_case_has_its_own_settings(varied):
    tables = varied.folder / "results/quick/tables"
    cases = pd.read_csv(tables / "cases.csv")
    assert cases["case"].nunique() == 8
    assert pd.read_csv(tables / "failures.csv").empty
    medial = cases[(cases["quantity"] == "wear_volume") & (cases["side"] == "medial")]
    volume = medial.pivot(
        index=["thickness_mm", "body_mass_kg", ROTATION], columns=FACTOR, values="value"
    )
    np.testing.assert_allclose(volume[2e-7], 2.0 * volume[1e-7], rtol=1e-12)
    turned = volume[1e-7].unstack(ROTATION)
    # A constant offset of the rotation changes the sliding little, but more than rounding does.
    assert (abs(turned[2.0] / turned[-2.0] - 1.0) > 1e-5).all()
    regression = pd.read_csv(tables / "regression.csv")
    # The file of the study's settings has its keys in alphabetical order.
    assert {f"a3_{ROTATION}", f"a4_{FACTOR}"} <= set(regression)
    page = (varied.folder / "results/quick/report/appendix.html").read_text(encoding="utf-8")
    assert "8 cases: insert thickness 6 and 10 mm" in page
