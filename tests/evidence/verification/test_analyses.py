"""Forward analysis compared with the quasi-static one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.base.cases import Case
from kneewear.evidence.verification.methods import compare_analyses
from tests.datasets import with_values
from tests.physics.bodies import SMALL, gait_study


def test_every_frame_and_side_is_compared():
    study = gait_study(*SMALL)
    cases = Case("one", 8.0, 75.0), Case("two", 10.0, 50.0)
    still = study.run(*cases)
    moved = with_values(
        still,
        analysis="forward",
        max_pressure=1.1 * still.max_pressure,
        translation=still.translation + [0.0, 1e-3, -0.02],
        inertia_force=np.full(still.inertia_force.shape, 3.0),
    )
    table = compare_analyses(still, moved)
    assert len(table) == 2 * SMALL[2] * 2
    ratio = table["max_pressure_mpa_forward"] / table["max_pressure_mpa_quasi_static"]
    assert ratio.to_numpy() == pytest.approx(1.1)
    assert table["height_shift_um"].to_numpy() == pytest.approx(1.0)
    assert table["medial_shift_um"].to_numpy() == pytest.approx(-20.0)
    one = table[(table["case"] == "two") & (table["side"] == "lateral")]
    assert one["percent"].to_numpy() == pytest.approx(still.percent)
    assert one["side_share_forward"].to_numpy() == pytest.approx(0.3, rel=1e-6)
    assert one["inertia"].to_numpy() == pytest.approx(np.sqrt(27.0) / still["load"][1])
    stance = still["load"][1] > 0.4 * still["load"][1].max()
    assert (one["stance"].to_numpy() == stance).all()
    # The histories state which is which, not the study's own analysis.
    pd.testing.assert_frame_equal(compare_analyses(moved, still), table)
    with pytest.raises(ValueError):
        compare_analyses(moved, moved)
