"""The femoral component is a body of a system: the same forces and motion as one built by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kneewear.contact.pair import ContactPair
from kneewear.contact.traction import Friction
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.coordinates import COORDINATES, fit_periodic
from kneewear.mechanics.loads import FEMORAL, Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.mechanics.springs import Spring
from kneewear.mechanics.tension_laws import linear
from kneewear.motion.actions import Contact
from kneewear.motion.component import component_system, contact_model
from kneewear.motion.cycle import CycleBoundaryConditions
from kneewear.motion.dynamics import ModalDamping, Stepping, integrate_system
from kneewear.motion.equilibrium import solve_system
from kneewear.motion.forward import Integrator, solve_forward
from kneewear.motion.static import solve_static
from kneewear.motion.system import Body, System
from tests.physics.bodies import flat_implant, linear_layer, sphere

pytestmark = pytest.mark.compiled

POSE = np.array([0.4, 37.9, -0.3, 0.001, 0.03, -0.2])
RATES = np.array([30.0, -4.0, 12.0, 0.5, -1.5, 2.0])
SPRINGS = [Spring("x", 9.3, rest=0.1, gap=0.2), Spring("theta_2", 2e4, gap=0.01)]
BODY = solid_body(4e-4, [25.0] * 3, [1.0, 5.0, 0.0])
# Tendons so long, mm, pull along one axis: a pull of some newtons is this much stiffer aside, N/mm.
LONG = 1e6
ASIDE = 1e-4


@cache
def spheres(friction=None):
    """Two spheres on plates, their pairs and layers."""
    implant = flat_implant(sphere(30.0), thickness=8.0)
    grid = build_grid(implant, 24, 24)
    pairs = [
        ContactPair(grid, side, surface, tabulate_surface(surface, 61, 41), friction=friction)
        for side, surface in enumerate(implant.femoral.values())
    ]
    thickness = [grid.thickness[side].ravel()[pair.index] for side, pair in enumerate(pairs)]
    return pairs, [linear_layer(part) for part in thickness]


class Called:
    """A contact law that no kernel knows, so that a system calls it."""

    def __init__(self, pairs, layers):
        self.model = contact_model(pairs, layers)

    def evaluate(self, rotation, translation, velocity=None):
        return self.model.evaluate(rotation, translation, velocity)


class Axial:
    """Load straight down on a line of the insert, by the cross product."""

    def __init__(self, force, medial):
        self.force, self.medial = force, medial

    def on(self, bodies):
        return self

    def add(self, poses, total):
        force = np.array([0.0, -self.force(poses.time), 0.0])
        lever = np.array([0.0, 0.0, self.medial]) - poses.translation[1]
        total.wrench[6:9] += force
        total.wrench[9:] += np.cross(lever, force)
        # The lever shortens as the body moves: -(t x F).
        x, y, z = force
        total.stiffness[9:, 6:9] += np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def tendons(spring):
    """A spring with a gap along a translation: two tendons, slack over the gap."""
    way = np.eye(3)[COORDINATES.index(spring.coordinate)]
    ends = [np.where(way, spring.rest + sign * LONG, POSE[:3]) for sign in (1.0, -1.0)]
    paths = tuple((("insert", end), (FEMORAL, np.zeros(3))) for end in ends)
    law = linear(np.full(2, LONG + spring.gap), spring.stiffness)
    return Bundles(("ahead", "behind"), ("insert", FEMORAL), paths, law)


def by_hand(pairs, layers, force, medial, rated=False, springs=()):
    """The component of a wear study with actions of other kinds than the study's."""
    contact = Contact("insert", FEMORAL, Called(pairs, layers), rated)
    actions = {"contact": contact, "load": Axial(force, medial)}
    actions |= {spring.coordinate: tendons(spring) for spring in springs}
    return System("insert", (Body(FEMORAL, inertia=BODY),), actions)


@pytest.mark.parametrize("friction", [None, Friction(0.1, 0.05, 5.0)])
def test_forces_are_those_of_a_system_built_by_hand(friction):
    pairs, layers = spheres(friction)
    load = Load((0.0, -900.0, 0.0), point=(0.0, 0.0, 4.0), point_frame="fixed")
    study = component_system(pairs, layers, [load], SPRINGS[:1]).forces(POSE, RATES)
    system = by_hand(pairs, layers, lambda time: 900.0, 4.0, friction is not None, SPRINGS[:1])
    found = system.forces(POSE, RATES)
    assert study.parts["contact"]["wrench"][:, 1].min() > 10.0
    assert study.resistance.any() == (friction is not None)
    # Moments and their derivatives are up to 1e6: rounding.
    for name in ("force", "derivative", "resistance"):
        np.testing.assert_allclose(
            getattr(study, name), getattr(found, name), rtol=1e-9, atol=ASIDE
        )


def test_a_study_moves_as_a_system_built_by_hand():
    pairs, layers = spheres()
    frames, duration = 20, 0.1
    time = duration * np.arange(frames) / frames
    force = 900.0 + 300.0 * np.sin(2.0 * np.pi * time / duration)
    still = solve_static(
        pairs,
        layers,
        (POSE[:3], POSE[3:]),
        ["y", "theta_1"],
        loads=[Load((0.0, -900.0, 0.0), point=(0.0, 0.0, 4.0), point_frame="fixed")],
    )
    motion = np.tile(np.concatenate([still.translation, still.rotation]), (frames, 1))
    motion[:, 5] += 0.2 * np.sin(2.0 * np.pi * time / duration)
    vectors = np.outer(force, [0.0, -1.0, 0.0])
    load = Load(vectors, point=(0.0, 0.0, 4.0), point_frame="fixed")
    free = ["x", "y", "theta_1"]
    conditions = CycleBoundaryConditions(motion, duration, free, [load], SPRINGS[:1])
    study = solve_forward(pairs, layers, BODY, conditions, Integrator(1e-7, 0.3))
    size = fit_periodic(force[:, None], duration)
    path = fit_periodic(motion, duration)
    start, rates, _ = path(0.0)
    found = integrate_system(
        by_hand(pairs, layers, lambda time: size(time)[0][0], 4.0, springs=SPRINGS[:1]),
        time,
        start,
        [f"{FEMORAL}.{name}" for name in free],
        rates=rates,
        motion=path,
        damping=ModalDamping(0.3, time[np.argmax(force)]),
        stepping=Stepping(1e-7, duration / frames, 3),
    )
    assert np.ptp(study.coordinates[:, 0]) > 0.1
    # Both err by up to some hundred times 1e-7 of 0.1 mm; inertia by that times rates squared.
    np.testing.assert_allclose(study.coordinates, found.coordinates, atol=1e-5)
    largest = np.abs(study.reaction).max(axis=0).clip(1.0)
    np.testing.assert_allclose(study.reaction / largest, found.reaction / largest, atol=1e-3)
    assert found.energy_error < 1e-3


def test_springs_with_a_gap_hold_a_body_as_their_formula_says():
    """10 N beyond 0.2 mm about 0.1 mm, and 500 N mm beyond 0.01 rad; a gap holds nothing."""
    load = Load((18.6, 0.0, 0.0), moment=(0.0, -500.0, 0.0))
    for body in (None, BODY):
        system = component_system([], [], [load], SPRINGS, body)
        free = [f"{FEMORAL}.{name}" for name in ("x", "theta_2")]
        found = solve_system(system, np.full(6, 0.5) * [1, 0, 0, 0, 1, 0], free)
        # x = 0.1 + 0.2 + 18.6 / 9.3; theta_2 = -0.01 - 500 / 2e4.
        assert found.coordinates == pytest.approx([2.3, 0, 0, 0, -0.035, 0], abs=1e-6)
        assert found.forces.parts["spring 1"] == pytest.approx(-18.6, abs=1e-6)
        energy = 0.5 * 9.3 * 2.0**2 + 0.5 * 2e4 * 0.025**2 - 18.6 * 2.3
        assert found.forces.energy == pytest.approx(energy, rel=1e-6)
    inside = system.forces([0.25, 0.0, 0.0, 0.0, 0.005, 0.0]).parts
    assert (inside["spring 1"], inside["spring 2"]) == (0.0, 0.0)
