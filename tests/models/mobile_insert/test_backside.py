"""The backside of an insert on its tray: closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.errors import ConvergenceError
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.models.mobile_insert.backside import build_backside
from kneewear.models.mobile_insert.settings import BacksideSettings, FaceFriction
from kneewear.study.settings import validate_study
from kneewear.wear.accumulation import accumulate_wear
from tests.study.studies import COARSE

INNER = 6.0
OUTER = 24.0
LOAD = 2000.0
AREA = math.pi * (OUTER**2 - INNER**2)
RING = {"shape": "ring", "inner_radius_mm": INNER, "outer_radius_mm": OUTER}


def face(**changes):
    settings = {
        "face": RING,
        "movement": {"motion": "micromotion", "rotation_deg": 2.0},
        "element_mm": 1.0,
        "wear_law": "archard",
        "wear_factor_mm3_per_n_m": 1e-7,
    }
    block = BacksideSettings.model_validate(settings | changes)
    implant = validate_study(COARSE).implant
    return build_backside(block, build_parametric_implant(implant.parametric, "", 6.0), 10.0)


@pytest.fixture(scope="module")
def ring():
    return face()


def pushed(posterior=0.0, medial=0.0, force=LOAD):
    """Wrench of a vertical force at a position about the pivot."""
    return np.array([0.0, -force, 0.0, force * medial, 0.0, -force * posterior])


def test_ring_under_a_central_force_has_uniform_pressure(ring):
    np.testing.assert_allclose(ring.pressure(pushed()), LOAD / AREA, rtol=1e-3)
    assert ring.grid.thickness[0][ring.grid.valid[0]] == pytest.approx(10.0)


def test_ring_under_an_eccentric_force_has_the_pressure_of_a_beam(ring):
    inertia = math.pi * (OUTER**4 - INNER**4) / 4.0
    arm = ring.centre - ring.pivot
    expected = LOAD / AREA + LOAD * (2.0 * arm[:, 0] + 3.0 * arm[:, 2]) / inertia
    # Areas and second moments of the elements are those of the ring to 1e-3.
    np.testing.assert_allclose(ring.pressure(pushed(2.0, 3.0)), expected, rtol=5e-3)


def test_force_outside_the_kern_lifts_a_part_of_the_face_and_is_balanced(ring):
    pressure = ring.pressure(pushed(posterior=12.0))
    arm = ring.centre - ring.pivot
    assert (pressure == 0.0).any()
    assert (pressure >= 0.0).all()
    assert pressure @ ring.area == pytest.approx(LOAD, rel=1e-10)
    assert (pressure * arm[:, 0]) @ ring.area == pytest.approx(12.0 * LOAD, rel=1e-10)
    assert (pressure * arm[:, 2]) @ ring.area == pytest.approx(0.0, abs=1e-6 * LOAD)


@pytest.mark.parametrize("wrench", [pushed(posterior=25.0), pushed(force=-100.0)])
def test_insert_that_tips_or_lifts_off_is_refused(ring, wrench):
    with pytest.raises(ConvergenceError) as error:
        ring.pressure(wrench, 7)
    assert error.value.frame == 7


def test_friction_moment_of_a_ring(ring):
    pressure = ring.pressure(pushed())
    coulomb = ring.friction_moment(pressure, FaceFriction(coefficient=0.1))
    arm = 2.0 / 3.0 * (OUTER**3 - INNER**3) / (OUTER**2 - INNER**2)
    assert coulomb == pytest.approx(0.1 * LOAD * arm, rel=2e-3)
    # At the reference pressure an exponent has no effect, at 2^3 times it halves the third root.
    law = {"coefficient": 0.1, "exponent": 1.0 / 3.0, "reference_pressure_mpa": LOAD / AREA}
    reduced = FaceFriction.model_validate(law)
    assert ring.friction_moment(pressure, reduced) == pytest.approx(coulomb, rel=1e-3)
    heavy = ring.pressure(pushed(force=8.0 * LOAD))
    assert ring.friction_moment(heavy, reduced) == pytest.approx(4.0 * coulomb, rel=1e-3)


def turned(ring, amplitude, frames=200):
    """Wear of one million cycles of a rotation through an angle and back, factor 1e-7."""
    phase = 2.0 * np.pi * np.arange(frames) / frames
    path = np.column_stack([np.zeros((frames, 2)), 0.5 * amplitude * np.cos(phase)])
    pressure = np.tile(ring.pressure(pushed()), (frames, 1))
    cycle = ring.cycle("gait", pressure, path, Case("one", 10.0, 70.0), 1.0)
    wear = validate_study(COARSE).wear.model_copy(
        update={"wear_factor_mm3_per_n_m": 1e-7, "creep_mm_per_mpa": 0.0, "months": 12.0}
    )
    return accumulate_wear({"gait": cycle}, ring.grid, wear)


def test_wear_of_a_ring_under_rotation_is_the_closed_form(ring):
    """Depth k p 2 A r, volume 4 pi k p A (b^3 - a^3) / 3, of a rotation by A and back."""
    amplitude = math.radians(2.0)
    maps = turned(ring, amplitude)
    depth = maps.wear_depth.values[0, 0, 0]
    per_mm = 1e6 * 1e-10 * LOAD / AREA * 2.0 * amplitude
    valid = ring.grid.valid[0]
    # Chords of the sinusoid at 200 frames: (2 pi / 200)^2 / 6 is 1.6e-4; areas: 1e-3.
    np.testing.assert_allclose(depth[valid], per_mm * ring.radius, rtol=2e-3)
    volume = float(np.sum(depth * ring.grid.area[0]))
    exact = per_mm * 2.0 * math.pi * (OUTER**3 - INNER**3) / 3.0
    assert volume == pytest.approx(exact, rel=2e-3)


def test_rectangle_has_its_area_without_the_hole_about_the_pivot():
    plan = {
        "shape": "rectangle",
        "half_length_mm": 20.0,
        "half_width_mm": 30.0,
        "hole_radius_mm": 5.0,
    }
    plate = face(face=plan, pivot_mm=[3.0, -4.0])
    assert plate.area.sum() == pytest.approx(2400.0 - 25.0 * math.pi, rel=1e-6)
    # An insert 4 mm thicker reaches 4 mm further down.
    np.testing.assert_allclose(plate.pivot, [3.0, -4.0, -4.0])
    middle = np.average(plate.centre, axis=0, weights=plate.area)
    np.testing.assert_allclose(middle[[0, 2]], [3.0, -4.0], atol=1e-6)


@pytest.mark.parametrize("ratio", [12.0, -12.0])
def test_an_insert_that_turns_and_glides_rests_at_its_instantaneous_centre(ring, ratio):
    """Turning as a femoral component does takes the medial side back; a glide adds to it."""
    angle = math.radians(0.5) * np.cos(2.0 * np.pi * np.arange(60) / 60)
    path = np.column_stack([ratio * angle, 0.0 * angle, angle])
    pressure = np.tile(ring.pressure(pushed()), (60, 1))
    cycle = ring.cycle("gait", pressure, path, Case("one", 10.0, 70.0), 1.0)
    slip = cycle["slip"].values[0, :, 0][:, ring.grid.valid[0]].astype(float)
    way = np.linalg.norm(slip, axis=-1).sum(axis=0)
    arm = ring.centre - ring.pivot
    middle = arm[way.argmin()]
    assert middle[0] == pytest.approx(0.0, abs=1.0)
    assert middle[2] == pytest.approx(-ratio, abs=1.0)
    # Elsewhere sliding is proportional to the distance from there.
    away = np.hypot(arm[:, 0], arm[:, 2] + ratio)
    far = away > 5.0
    np.testing.assert_allclose(
        way[far] / away[far], np.abs(np.diff(angle)).sum() * 60 / 59, rtol=0.05
    )
