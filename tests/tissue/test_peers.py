"""Tension of bundles and of muscles beside that of OpenSim's ligament and muscle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.tissue.laws import quadratic_to_linear

osim = pytest.importorskip("opensim", reason="needs the extra 'peers'")

STIFFNESS, SLACK = 2000.0, 40.0


def tension_of_opensim(length_mm):
    """Spring force of a ligament between the ground and a body on a slider, N."""
    model = osim.Model()
    body = osim.Body("tibia", 1.0, osim.Vec3(0), osim.Inertia(1.0))
    slider = osim.SliderJoint("slider", model.getGround(), body)
    model.addBody(body)
    model.addJoint(slider)
    ends = (model.getGround(), osim.Vec3(0)), (body, osim.Vec3(0))
    ligament = osim.Blankevoort1991Ligament("MCL", *ends[0], *ends[1], STIFFNESS, 1e-3 * SLACK)
    model.addForce(ligament)
    state = model.initSystem()
    slider.getCoordinate().setValue(state, 1e-3 * length_mm)
    model.realizePosition(state)
    return ligament.getSpringForce(state)


def test_tension_is_that_of_opensim():
    lengths = SLACK * (1.0 + np.array([-0.05, 0.0, 0.01, 0.03, 0.0599, 0.0601, 0.08, 0.15]))
    law = quadratic_to_linear(SLACK, STIFFNESS)
    own = [law.tension(length)[0] for length in lengths]
    theirs = [tension_of_opensim(length) for length in lengths]
    np.testing.assert_allclose(own, theirs, rtol=1e-9, atol=1e-9)


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
    folder = Path(__file__).parents[2] / "config/dm_muscles"
    muscles = pd.read_csv(folder / "muscles.csv", comment="#").drop_duplicates("muscle")
    tensions = pd.read_csv(folder / "tensions.csv", comment="#")
    columns = ["max_isometric_force_n", "optimal_fibre_length_mm", "tendon_slack_length_mm",
               "pennation_rad"]  # fmt: skip
    for name, *numbers in muscles[["muscle", *columns]].itertuples(index=False):
        table = tensions[tensions["muscle"] == name]
        lengths, own = table["length_mm"].to_numpy(), table["tension_n"].to_numpy()
        # Lengths have three digits after the point.
        slope = np.abs(np.gradient(own, lengths))
        difference = np.abs(own - tensions_of_opensim(numbers, lengths))
        assert (difference <= 5e-3 * own + 1e-3 * slope + 0.01).all(), name
