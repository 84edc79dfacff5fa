"""Stress below the bearing at the load peaks."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact.layer_stress import layer_stress
from kneewear.contact.material import von_mises
from kneewear.wear.subsurface import subsurface_stress
from tests.physics.bodies import CASES, gait_study


@pytest.mark.compiled
def test_stress_is_that_of_the_pressures_at_the_largest_load_of_each_case():
    study = gait_study()  # pressures of any model of contact
    history = study.run(*CASES[:2])
    found = subsurface_stress(history, study.grid, 0.46, yield_stress=20.0)
    assert found["case"].values.tolist() == [case.name for case in CASES[:2]]
    for case in range(2):
        frame = int(history["load"].values[case].argmax())
        assert found["percent"].values[case] == history["percent"].values[frame]
        for side in range(2):
            stress, depth = (found[name].values[case, side] for name in ("von_mises", "depth"))
            at = np.unravel_index(stress.argmax(), stress.shape)
            pressure = history["pressure"].values[case, frame, side]
            # A quarter to nine tenths of the largest pressure, below the surface.
            assert 0.25 < stress[at] / pressure.max() < 0.9
            assert 0.2 < depth[at] < 3.0
            local = study.grid.case_thickness(CASES[case].thickness)[side]
            thickness = float(np.average(np.nan_to_num(local), weights=pressure))
            edges = study.grid.cell_edges(side)
            direct = von_mises(layer_stress(pressure, edges, float(depth[at]), thickness, 0.46))
            assert direct[at] == pytest.approx(stress[at], rel=1e-12)
    index = found["delamination_index"].values
    assert index == pytest.approx(found["von_mises"].values / 20.0)
