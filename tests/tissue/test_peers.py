"""Tension of bundles beside that of OpenSim's Blankevoort1991Ligament."""

from __future__ import annotations

import numpy as np
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
