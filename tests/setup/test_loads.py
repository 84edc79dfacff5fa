"""Loads of recordings by their values, where titles do not say what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.setup.columns import find_load, read_recording

TIME = np.linspace(0.0, 1.1, 101)
BUMP = np.sin(np.pi * np.minimum(TIME / 0.7, 1.0))


@pytest.mark.parametrize(
    ("force", "kind"),
    [
        # The foot of the other leg is on the ground while this one swings.
        (800.0 * BUMP, "ground_reaction"),
        (-800.0 * BUMP, "ground_reaction"),
        (800.0 * BUMP + 2.0 * (TIME > 0.7), "ground_reaction"),
        # Muscles press the joint of a leg that swings.
        (2000.0 * BUMP + 150.0, "axial_force_n"),
        (2000.0 * BUMP + 150.0 * (TIME > 0.05), "axial_force_n"),
    ],
)
def test_a_force_that_is_zero_while_the_leg_swings_is_of_the_ground(
    force, kind, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"Time(s)": TIME, "Fz(N)": force}).to_csv("plate.csv", index=False)
    found = find_load(read_recording("plate.csv", "right", {}))
    assert found.kind == kind
    assert found.columns["load"] == ("-Fz(N)" if force.mean() < 0.0 else "Fz(N)")
