"""Contact on a layer that yields: closed forms, invariance, loading and unloading."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kneewear.contact import yielding
from kneewear.contact.influence import flat_influence
from kneewear.contact.material import Elastic, Hardening, PlasticState, return_stress
from kneewear.contact.slabs import MARGIN, SlabWindow
from kneewear.contact.yielding import PlasticSlabs, YieldingLayer

POLYETHYLENE = Elastic(463.0, 0.46)
# Points of config/evidence/fe_twin_yield.yaml.
CURVE = Hardening(
    (0.0, 0.00185, 0.00578, 0.01255, 0.02294, 0.03773, 0.07427, 0.12878),
    (5.0, 8.0, 11.0, 14.0, 17.0, 20.0, 25.0, 30.0),
)
NEVER = Hardening((0.0,), (1e6,))
RADIUS, THICKNESS, CELL = 30.0, 8.0, 0.5  # mm
LIBRARIES = "OMP", "OPENBLAS", "MKL"
SPHERE_BORDERS = (0.0, 0.25, 0.6, 1.1, 1.8, 2.8, 4.3, 6.5)
FINE_BORDERS = (
    *(0.0, 0.12, 0.25, 0.42, 0.6, 0.85, 1.1, 1.45, 1.8, 2.3, 2.8, 3.5, 4.3, 5.4),
    *(6.5, 7.1, 7.8),
)


class Sphere:
    """Rigid sphere above a wide layer."""

    def __init__(self, curve, half=5.5, cell=CELL, borders=SPHERE_BORDERS, margin=MARGIN):
        count = int(2.0 * half / cell) // 2 * 2
        x = (np.arange(count) - (count - 1) / 2.0) * cell
        radius = np.hypot(x[:, None], x)
        cells = np.argwhere(radius < half)
        influence = flat_influence((count, count), (cell, cell), THICKNESS, 463.0, 0.46)
        window = SlabWindow((count, count), (cell, cell), THICKNESS, POLYETHYLENE, borders, margin)
        self.layer = YieldingLayer(PlasticSlabs(window, curve), influence.matrix(*cells.T), cells)
        self.radius = radius[tuple(cells.T)]
        self.area = cell**2

    def press(self, load, state=None, steps=1, height=-0.3):
        """Equilibrium under a load, and the height of the sphere."""
        state = self.layer.fresh() if state is None else state
        for _ in range(3):
            distance = np.hypot(self.radius, RADIUS + height)
            pressed = self.layer.press(
                distance - RADIUS,
                (RADIUS + height) / distance,
                state,
                load=load,
                steps=steps,
            )
            height += pressed.lift
        return pressed, height

    def peak(self, *arguments, **options):
        return float(self.press(*arguments, **options)[0].force.max()) / self.area


def test_increment_returns_to_the_curve():
    trial, before = np.array([3.0, 9.0, 14.0, 60.0]), np.array([0.0, 0.001, 0.02, 0.1])
    more = CURVE.increment(trial, before, 300.0)
    level, _ = CURVE.yield_stress(before + more)
    flows = more > 0.0
    np.testing.assert_array_equal(flows, [False, True, False, True])
    np.testing.assert_allclose((trial - 300.0 * more)[flows], level[flows], rtol=1e-12)


@pytest.mark.slow
def test_wide_pressure_is_confined_compression():
    # Compressible, so that the middle is confined: nearly incompressible layers squeeze far.
    shape, pressure, material = (48, 48), 24.0, Elastic(463.0, 0.3)
    window = SlabWindow(shape, (1.5, 1.5), 4.0, material)
    cells = np.argwhere(np.ones(shape, dtype=bool))
    # Elements so soft that the force on each is that of its overlap, whatever its dent.
    soft = 1e6
    layer = YieldingLayer(PlasticSlabs(window, CURVE), soft * np.eye(len(cells)), cells)
    gap = np.full(len(cells), -soft * pressure * 1.5**2)
    found = layer.press(gap, np.ones(len(cells)), layer.fresh())

    def stress_at(strain):
        return return_stress(
            material,
            CURVE,
            np.array([[0.0, -strain, 0.0, 0.0, 0.0, 0.0]]),
            PlasticState(np.zeros((1, 6)), np.zeros(1)),
        )

    low, high = 0.0, 0.2
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if -stress_at(middle)[0][0, 1] < pressure else (low, middle)
    exact = stress_at(low)[1].equivalent[0]
    assert exact > 0.001
    assert found.state.equivalent[:, 24, 24] == pytest.approx(exact, rel=5e-3)


def test_layer_that_does_not_yield_is_the_elastic_one():
    sphere = Sphere(NEVER)
    pressed, _ = sphere.press(300.0)
    assert not pressed.state.strain.any()
    assert not pressed.dent.any()
    assert pressed.force.sum() == pytest.approx(300.0, rel=2e-3)  # vertical part of the normals


def test_pressure_does_not_depend_on_the_part_of_the_return(monkeypatch):
    peaks = []
    for share in (0.45, 0.65):
        monkeypatch.setattr(yielding, "_LOCAL_SHARE", share)
        peaks.append(Sphere(CURVE).peak(1000.0))
    assert peaks[0] == pytest.approx(peaks[1], rel=2e-3)


# Finite elements of the project at commit db697618: a sphere of 30 mm on a block of 64 x 64 x 8 mm,
# elements of 0.8 mm, three load steps. The elastic layer has 33.9 and 50.5 MPa.
@pytest.mark.parametrize(
    ("load", "peak", "sinking"), [(500.0, 27.6, 0.1977), (1500.0, 36.0, 0.3926)]
)
def test_sphere_is_that_of_finite_elements(load, peak, sinking):
    pressed, height = Sphere(CURVE).press(load, steps=3)
    assert pressed.force.max() / CELL**2 == pytest.approx(peak, rel=0.015)
    assert -height == pytest.approx(sinking, rel=0.015)
    assert Sphere(NEVER).peak(load) > 1.2 * peak


# Finite elements of scikit-fem, a library of others (benchmarks/outside_sphere.py): peak, MPa, and
# sinking of the sphere, mm.
@pytest.mark.parametrize(
    ("curve", "load", "peak", "sinking"),
    [
        (NEVER, 500.0, 33.97, 0.1865),
        (CURVE, 500.0, 27.30, 0.1982),
        (NEVER, 1500.0, 50.77, 0.3494),
        (CURVE, 1500.0, 35.82, 0.3929),
    ],
)
def test_sphere_is_that_of_an_outside_library(curve, load, peak, sinking):
    pressed, height = Sphere(curve).press(load, steps=3)
    assert pressed.force.max() / CELL**2 == pytest.approx(peak, rel=0.01)
    # The layer renews no distances at displaced points: 1.5 % under the largest load.
    assert -height == pytest.approx(sinking, rel=0.02)


# Slabs of wear studies (`kneewear.motion.yielding`), and the same half as high.
STUDY_BORDERS = (0.0, 0.15, 0.4, 0.8, 1.5, 2.6, 4.2, 6.5)
HALVED = tuple(
    sorted({*STUDY_BORDERS, *(0.5 * (low + high) for low, high in pairwise(STUDY_BORDERS))})
)


def test_slabs_and_margin_converge():
    def peak(borders, margin):
        sphere = Sphere(CURVE)
        window = replace(sphere.layer.slabs.window, borders=borders, margin=margin)
        sphere.layer = replace(sphere.layer, slabs=PlasticSlabs(window, CURVE))
        return sphere.peak(1500.0)

    peaks = [peak(STUDY_BORDERS, margin) for margin in (1.0, 2.0, 3.0, 4.0)]
    changes = -np.diff(peaks) / peaks[1]
    # 1.3, 0.5 and 0.2 %.
    assert changes[0] > 2.0 * changes[1] > 4.0 * changes[2] > 0.0
    assert changes[1] < 0.01
    # -0.6 %.
    assert peak(HALVED, 2.0) == pytest.approx(peaks[1], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("load", "sinking"), [(500.0, 0.1977), (1500.0, 0.3926)])
def test_refined_layer_carries_the_load_of_finite_elements_at_their_pose(load, sinking):
    # Slabs half as high and down to the base, and twice the unloaded surface around them.
    sphere = Sphere(CURVE, half=7.5, borders=FINE_BORDERS, margin=6.0)
    loads = np.array([load, 0.97 * load])
    heights = [sphere.press(part, steps=3)[1] for part in loads]
    slope = (loads[0] - loads[1]) / (heights[1] - heights[0])
    assert loads[0] + slope * (heights[0] + sinking) == pytest.approx(load, rel=0.015)


def test_load_steps_converge():
    peaks = [Sphere(CURVE, cell=0.7).peak(1500.0, steps=steps) for steps in (1, 2, 4)]
    changes = -np.diff(peaks)
    assert changes[0] > changes[1] > 0.0


def test_unloading_and_reloading_are_elastic():
    sphere = Sphere(CURVE)
    first, height = sphere.press(1000.0, steps=3)
    less, _ = sphere.press(250.0, first.state, height=height)
    again, _ = sphere.press(1000.0, less.state, height=height)
    np.testing.assert_allclose(again.state.equivalent, first.state.equivalent, atol=3e-4)
    assert again.force.max() == pytest.approx(first.force.max(), rel=0.01)
    # The dent spreads the smaller load: less pressure than on material that was never loaded.
    assert less.force.max() < 0.85 * sphere.press(250.0)[0].force.max()


def test_a_press_changes_no_state():
    sphere = Sphere(CURVE)
    first, _ = sphere.press(800.0)
    strain, equivalent = first.state.strain.copy(), first.state.equivalent.copy()
    sphere.press(1200.0, first.state)
    np.testing.assert_array_equal(first.state.strain, strain)
    np.testing.assert_array_equal(first.state.equivalent, equivalent)


def test_no_contact_without_load_gives_no_force():
    sphere = Sphere(CURVE)
    apart = np.full(sphere.radius.size, 0.1)
    found = sphere.layer.press(apart, np.ones(apart.size), sphere.layer.fresh())
    assert not found.force.any()


def digest_of_updates():
    """Digest of plastic strain after two updates on a wide window, and of the next iterate."""
    ends = ((2.0, np.inf), (4.0, 6.0))
    window = SlabWindow((96, 60), (0.75, 0.5), THICKNESS, POLYETHYLENE, ends=ends)
    slabs = PlasticSlabs(window, CURVE)
    pressure = np.random.default_rng(1).uniform(0.0, 40.0, (96, 60))
    strain, history = slabs.fresh().strain, []
    for _ in range(3):
        after = slabs.flow(pressure, strain, slabs.window.waves(strain), slabs.fresh())
        history.append((strain.ravel(), (after.strain - strain).ravel()))
        strain = yielding.accelerated(history).reshape(strain.shape)
    return hashlib.sha256(strain.tobytes()).hexdigest()


@pytest.mark.slow
def test_updates_do_not_depend_on_threads():
    program = "from tests.contact.test_yielding import digest_of_updates as found; print(found())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env=os.environ | {f"{name}_NUM_THREADS": str(count) for name in LIBRARIES},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for count in (1, 2)
    }
    assert len(digests) == 1
