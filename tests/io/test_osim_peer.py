"""Imported models beside OpenSim: poses, path lengths, ligament tensions and moment arms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.knees.composed import compose_system
from kneewear.knees.inputs import load_parts
from kneewear.knees.opensim import import_model
from kneewear.mechanics.rotations import angles_312
from kneewear.study.settings import read_study
from tests.io.leg import model

osim = pytest.importorskip("opensim", reason="needs the extra 'peers'")
ROOT = Path(__file__).parents[2]
STEP = 1e-4
# Poses with wrapped and with straight paths: coordinates flex, add, rot, tx, ty, tz; p_flex.
STATES = (
    (0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1),
    (0.5, 0.04, -0.05, 0.004, -0.003, 0.001, 0.4),
    (1.1, -0.03, 0.1, -0.002, 0.002, -0.001, 0.9),
    (1.6, 0.02, 0.2, 0.001, -0.004, 0.002, 1.3),
)


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Import a leg, and open it in OpenSim."""

    def make(knee):
        monkeypatch.chdir(tmp_path)
        Path("leg.osim").write_text(model(knee), encoding="utf-8")
        import_model("leg.osim", "leg", activation=0.5)
        study = read_study("leg.yaml", defaults=ROOT / "config/defaults.yaml")
        settings = study.multibody
        parts = load_parts(settings, settings.files)
        osim.Logger.setLevelString("Error")
        peer = osim.Model("leg.osim")
        return peer, peer.initSystem(), parts, compose_system(parts, settings)

    return make


def pose(peer, state, name):
    """Six coordinates, mm and rad, of a body in the femur."""
    moved = (
        peer.getBodySet().get(name).findTransformBetween(state, peer.getBodySet().get("femur_r"))
    )
    turn = np.array([[moved.R().get(i, j) for j in range(3)] for i in range(3)])
    z, x, y = angles_312(turn)
    return np.array([*(1e3 * moved.p().get(i) for i in range(3)), -z, x, y])


def coordinates(peer, state, values):
    """Set coordinates of the joints by name, and return the six of each body."""
    for name, value in values.items():
        peer.getCoordinateSet().get(name).setValue(state, float(value), False)
    peer.realizePosition(state)
    return np.concatenate([pose(peer, state, name) for name in ("tibia_r", "patella_r")])


def lengths(peer, state):
    found = {}
    for force in range(peer.getForceSet().getSize()):
        name = peer.getForceSet().get(force).getName()
        one = osim.Blankevoort1991Ligament.safeDownCast(peer.getForceSet().get(force))
        one = one or osim.Muscle.safeDownCast(peer.getForceSet().get(force))
        found[name] = 1e3 * one.getLength(state)
    return found


@pytest.mark.parametrize("values", STATES)
def test_lengths_tensions_and_moment_arms_are_those_of_opensim(both, values):
    peer, state, parts, system = both("six")
    names = ["flex", "add", "rot", "tx", "ty", "tz", "p_flex"]
    given = dict(zip(names, values, strict=True))
    at = coordinates(peer, state, given)
    found, expected = system.forces(at).parts, lengths(peer, state)
    tables = {**parts.ligaments, **parts.muscles}
    own = {
        name: (table, number, found[table].length[number], found[table].tension[number])
        for table, bundles in tables.items()
        for number, name in enumerate(bundles.names)
    }
    assert set(own) == {"MCL1", "CAP1", "vasint", "gasmed"}
    for name, (table, number, length, tension) in own.items():
        assert length == pytest.approx(expected[name], rel=1e-6)
        force = peer.getForceSet().get(name)
        ligament = osim.Blankevoort1991Ligament.safeDownCast(force)
        path = (ligament or osim.Muscle.safeDownCast(force)).getPath()
        coordinates(peer, state, given)
        if ligament:
            peer.realizeDynamics(state)
            theirs = ligament.getSpringForce(state)
            assert tension == pytest.approx(theirs, rel=1e-6, abs=1e-4)
        # Lengths of both change alike with each coordinate of the knee: moment arms, mm.
        alone = tables[table].chosen([number])
        for joint in ("flex", "add", "rot", "tx"):
            coordinates(peer, state, given)
            theirs = path.computeMomentArm(state, peer.getCoordinateSet().get(joint))
            ends = [
                alone.evaluate(
                    system.poses(
                        coordinates(peer, state, given | {joint: given[joint] + sign * STEP})
                    )
                ).length[0]
                for sign in (1.0, -1.0)
            ]
            ours = -(ends[0] - ends[1]) / (2.0 * STEP)
            assert ours == pytest.approx(1e3 * theirs, rel=1e-6, abs=2e-5)


def test_motion_of_one_coordinate_is_that_of_opensim(both):
    peer, state, _, _ = both("one")
    tables = [pd.read_csv(f"leg_{body}_motion.csv") for body in ("tibia_r", "patella_r")]
    for row in (0, 7, 18, 30):
        flexion = np.radians(tables[0].iloc[row, 0])
        at = coordinates(peer, state, {"flex": flexion, "beta": -0.7 * flexion}).reshape(2, 6)
        at[:, 3:] = np.degrees(at[:, 3:])
        for own, table in zip(at, tables, strict=True):
            np.testing.assert_allclose(table.iloc[row, 1:].astype(float), own, atol=1e-6)
