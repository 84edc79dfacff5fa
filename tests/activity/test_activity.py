"""An activity that no simulation can use cannot be made."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear import default_study
from kneewear.activity.settings import BumpCurve
from kneewear.activity.sources import build_activity
from tests.refusals import refused_at


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ({"base": 0.0, "bumps": []}, r"found a load of 0 body weights at 0 percent; expected a"),
        (
            {"base": 1.0, "bumps": [{"height": -3, "centre_percent": 40, "width_percent": 20}]},
            r"found a load of -2 body weights at 40 percent; .* above 0.*Raise its base",
        ),
        ({"base": 700.0, "bumps": []}, "found a load of 700 .* looks like newtons"),
    ],
)
def test_parametric_load_is_positive_and_in_body_weights(load, message):
    gait = default_study().activities["gait"]
    faulty = gait.model_copy(update={"load_body_weights": BumpCurve.model_validate(load)})
    assert (
        refused_at(build_activity, "gait", faulty, 100) == "key activities.gait.load_body_weights"
    )


def test_bump_has_half_its_height_half_a_width_away():
    gait = default_study().activities["gait"]
    bump = {"height": 2.0, "centre_percent": 50, "width_percent": 20}
    curve = BumpCurve.model_validate({"base": 1.0, "bumps": [bump]})
    found = build_activity("gait", gait.model_copy(update={"load_body_weights": curve}), 100).load
    np.testing.assert_allclose(found[[30, 40, 50, 60, 70]], [1, 2, 3, 2, 1])
