"""Contact from the smooth distance table beside contact by search on the surfaces."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.contact.pair import ContactPair
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases
from tests.physics.bodies import CASES, energy, gait_study, linear_layer, pose_of

pytestmark = pytest.mark.compiled

# The bounds: force within 0.1 %, moments within 0.1 % of the force times 1 mm.
FORCE = 1e-3
MOMENT = 1e-3


@cache
def tables():
    femoral = gait_study().implant.femoral
    return {side: build_distance_table(surface, 5e-5) for side, surface in femoral.items()}


@cache
def history():
    return gait_study().arrays(CASES[1])


@cache
def contacts(side):
    """Contact by search and from the table, and the layer."""
    study, name = gait_study(), SIDES[side]
    condyle = study.implant.femoral[name]
    nodes = tabulate_surface(condyle, 61, 31)
    exact = ContactPair(study.grid, side, condyle, nodes)
    smooth = ContactPair(study.grid, side, condyle, nodes, distance_table=tables()[name])
    thickness = study.grid.case_thickness(CASES[1].thickness)
    return exact, smooth, linear_layer(thickness[side].ravel()[exact.index])


@pytest.mark.parametrize("side", [0, 1])
def test_forces_and_moments_of_a_whole_cycle_agree(side):
    exact, smooth, layer = contacts(side)
    for frame in range(history().percent.size):
        pose = pose_of(history(), frame)
        one, other = exact.evaluate(*pose, layer), smooth.evaluate(*pose, layer)
        force = np.linalg.norm(one.wrench[:3])
        assert np.linalg.norm(other.wrench[:3] - one.wrench[:3]) < FORCE * force
        assert np.linalg.norm(other.wrench[3:] - one.wrench[3:]) < MOMENT * force
        # Stiffness follows curvature, which the table smooths over a few cells at joints of arcs.
        assert other.stiffness == pytest.approx(
            one.stiffness, abs=1e-3 * np.abs(one.stiffness).max()
        )


@pytest.mark.parametrize("side", [0, 1])
def test_forces_are_the_slope_of_the_energy_to_the_last_digit(side):
    _, smooth, layer = contacts(side)
    frame = int(np.argmax(history().load[0]))
    rotation, translation = pose_of(history(), frame)
    wrench = smooth.evaluate(rotation, translation, layer).wrench
    step = 1e-5
    for axis in range(6):
        energies = []
        for sign in (1.0, -1.0):
            twist = sign * step * np.eye(6)[axis]
            # About the femoral origin; axes add up for turns this small.
            turned = body_three_123(np.array([twist[3], twist[4], twist[5]])) @ rotation
            result = smooth.evaluate(turned, translation + twist[:3], layer)
            energies.append(energy(result, layer))
        slope = -(energies[0] - energies[1]) / (2 * step)
        scale = np.linalg.norm(wrench[3:] if axis > 2 else wrench[:3])
        # Elements that touch or part within the step make the difference quotient kink.
        assert wrench[axis] == pytest.approx(slope, abs=2e-6 * scale)


@pytest.mark.parametrize("side", [0, 1])
def test_deeper_than_the_band_the_surface_is_asked(side):
    exact, smooth, layer = contacts(side)
    rotation, translation = pose_of(history(), 0)
    lowered = translation - np.array([0.0, 1.0, 0.0])
    one, other = (c.evaluate(rotation, lowered, layer) for c in (exact, smooth))
    assert one.penetration.max() > 0.9
    force = np.linalg.norm(one.wrench[:3])
    assert force > 10_000.0
    assert other.wrench == pytest.approx(one.wrench, abs=1e-4 * force)


def test_a_simulated_cycle_agrees_frame_by_frame():
    study = gait_study().with_settings(distance="table")
    nodes = {side: tabulate_surface(f, 61, 31) for side, f in study.implant.femoral.items()}
    knee = KneeModel(study.implant, study.grid, nodes, tables())
    smooth = simulate_cases(knee, study.activity, [CASES[1]], study.settings)
    exact = history()
    # Medial-lateral equilibrium is soft: forces of some 1e-6 shift it by less than a micrometre.
    assert smooth.translation.values == pytest.approx(exact.translation, abs=1e-3)
    assert smooth.max_pressure.values == pytest.approx(exact.max_pressure, rel=2e-3)
    assert smooth.force.values == pytest.approx(
        exact.force, abs=1e-3 * float(np.abs(exact.force).max())
    )
    assert bool((smooth.residual < study.settings.tolerance).all())


def test_a_band_of_any_width_serves():
    exact, _, layer = contacts(0)
    study = gait_study()
    condyle = study.implant.femoral["medial"]
    narrow = ContactPair(
        study.grid,
        0,
        condyle,
        tabulate_surface(condyle, 61, 31),
        distance_table=build_distance_table(condyle, 5e-5, outside=0.05),
    )
    for frame in (0, 5):
        pose = pose_of(history(), frame)
        one, other = exact.evaluate(*pose, layer).wrench, narrow.evaluate(*pose, layer).wrench
        assert other == pytest.approx(one, abs=FORCE * np.linalg.norm(one[:3]))
