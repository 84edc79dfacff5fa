"""Tension of bundles and of muscles beside that of OpenSim's ligament and muscle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.ligament_law import compare_laws

osim = pytest.importorskip("opensim", reason="needs the extra 'peers'")


def test_tension_is_that_of_opensim():
    table = compare_laws()
    assert table["tension_n"].max() > 200.0
    np.testing.assert_allclose(table["tension_n"], table["opensim_n"], rtol=1e-9, atol=1e-9)


def tensions_of_opensim(numbers, lengths_mm):
    """Tendon forces, N, of a muscle at an activation of 0.02 that keeps its length."""
    model = osim.Model()
    body = osim.Body("tibia", 1.0, osim.Vec3(0), osim.Inertia(1.0))
    slider = osim.SliderJoint("slider", model.getGround(), body)
    slider.updCoordinate().setRangeMax(2.0)
    model.addBody(body)
    model.addJoint(slider)
    force, fibre, slack, pennation = numbers
    muscle = osim.Millard2012EquilibriumMuscle("m", force, 1e-3 * fibre, 1e-3 * slack, pennation)
    muscle.addNewPathPoint("origin", model.getGround(), osim.Vec3(0))
    muscle.addNewPathPoint("insertion", body, osim.Vec3(0))
    active = osim.ActiveForceLengthCurve()
    active.set_minimum_value(0.0)
    muscle.set_ActiveForceLengthCurve(active)
    model.addForce(muscle)
    state = model.initSystem()
    found = []
    for length in lengths_mm:
        slider.getCoordinate().setValue(state, 1e-3 * length, False)
        muscle.setActivation(state, 0.02)
        model.realizeVelocity(state)
        muscle.computeFiberEquilibrium(state)
        model.realizeDynamics(state)
        found.append(muscle.getTendonForce(state))
    return np.array(found)


def test_tables_of_muscles_are_those_of_opensim():
    osim.Logger.setLevelString("Error")
    folder = Path(__file__).parents[3] / "config/evidence/dm_muscles"
    muscles = pd.read_csv(folder / "muscles.csv", comment="#").drop_duplicates("muscle")
    tensions = pd.read_csv(folder / "tensions.csv", comment="#")
    columns = [
        "max_isometric_force_n",
        "optimal_fibre_length_mm",
        "tendon_slack_length_mm",
        "pennation_rad",
    ]
    for name, *numbers in muscles[["muscle", *columns]].itertuples(index=False):
        table = tensions[tensions["muscle"] == name]
        lengths, own = table["length_mm"].to_numpy(), table["tension_n"].to_numpy()
        # Lengths have three digits after the point.
        slope = np.abs(np.gradient(own, lengths))
        difference = np.abs(own - tensions_of_opensim(numbers, lengths))
        assert (difference <= 5e-3 * own + 1e-3 * slope + 0.01).all(), name
