"""Tension laws: zero when slack, continuous, the derivative of their energy; refused numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.mechanics.tension_laws import (
    TRANSITION_STRAIN,
    linear,
    quadratic,
    quadratic_to_linear,
    slack_length,
    tabulated,
)

LENGTH = 40.0
LAWS = {
    "quadratic": quadratic(LENGTH, 35.0),
    "quadratic_to_linear": quadratic_to_linear(LENGTH, 2000.0),
    "linear": linear(LENGTH, 200.0),
}


def of(law, name, lengths):
    return np.array([getattr(law, name)(length)[0] for length in lengths])


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_slack_bundle_does_not_pull(law):
    for length in (1.0, 39.0, LENGTH):
        assert law.tension(length) == law.stiffness(length) == law.energy(length) == 0.0


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_tension_is_the_slope_of_the_energy_and_stiffness_that_of_tension(law):
    lengths, step = np.array([40.3, 41.0, 42.3, 42.5, 44.0, 48.0]), 1e-5
    for name, slope in (("energy", "tension"), ("tension", "stiffness")):
        rise = of(law, name, lengths + step) - of(law, name, lengths - step)
        np.testing.assert_allclose(of(law, slope, lengths), rise / (2 * step), rtol=1e-7)


@pytest.mark.parametrize("name", ["quadratic", "quadratic_to_linear"])
def test_tension_and_stiffness_are_continuous_at_slack_and_transition(name):
    law = LAWS[name]
    steepest = law.stiffness(LENGTH * 1.07)[0]
    for length in (LENGTH, LENGTH * (1.0 + TRANSITION_STRAIN)):
        below, above = length - 1e-9, length + 1e-9
        assert abs(law.tension(above) - law.tension(below))[0] < 3e-9 * steepest
        assert abs(law.stiffness(above) - law.stiffness(below))[0] < 1e-8 * steepest


def test_the_quadratic_law_is_that_of_the_source():
    # Machado thesis, Eq. 5.23 with the ACL of Table 5.2: 43.8 mm and 35 N/mm2.
    assert quadratic(43.8, 35.0).tension(45.8) == pytest.approx(35.0 * 4.0)


@pytest.mark.parametrize(("strain", "tension"), [(0.03, 15.0), (0.06, 60.0), (0.1, 140.0)])
def test_the_law_with_a_toe_region_is_that_of_the_source(strain, tension):
    # k e^2 / 0.12 and k (e - 0.03), 2000 N per unit strain (Blankevoort et al. 1991).
    law = quadratic_to_linear(LENGTH, 2000.0)
    assert law.tension(LENGTH * (1.0 + strain)) == pytest.approx(tension)
    assert law.strain(LENGTH * (1.0 + strain)) == pytest.approx(strain)


MUSCLE = ([300.0, 310.0, 330.0, 340.0], [2.0, 8.0, 9.0, 60.0])


def test_a_muscle_has_the_tensions_of_its_table_and_constant_ones_outside():
    # A shorter table beside it must not change either.
    law = tabulated([MUSCLE, ([200.0, 230.0], [5.0, 1.0])])
    for length, tension in zip(*MUSCLE, strict=True):
        assert law.tension(length)[0] == pytest.approx(tension, rel=1e-12)
    assert law.tension(200.0)[1] == 5.0
    np.testing.assert_allclose(law.tension([250.0, 400.0]), [2.0, 1.0])
    np.testing.assert_allclose(law.tension([400.0, 100.0]), [60.0, 5.0])
    assert not law.stiffness([250.0, 400.0]).any()


def test_a_muscle_is_monotone_between_its_rows_and_has_a_potential():
    law, step = tabulated([MUSCLE]), 1e-4
    lengths = np.linspace(290.0, 350.0, 241) + 0.05
    tension = of(law, "tension", lengths)
    inside = (lengths > 300.0) & (lengths < 340.0)
    assert (np.diff(tension[inside]) > 0.0).all()
    energy = of(law, "energy", lengths + step) - of(law, "energy", lengths - step)
    np.testing.assert_allclose(energy / (2 * step), tension, rtol=1e-6)
    rise = of(law, "tension", lengths + step) - of(law, "tension", lengths - step)
    np.testing.assert_allclose(rise / (2 * step), of(law, "stiffness", lengths), atol=1e-5)
    # Work along the table is the integral of the tension.
    work = law.energy(340.0)[0] - law.energy(300.0)[0]
    fine = np.linspace(300.0, 340.0, 4001)
    assert work == pytest.approx(np.trapezoid(of(law, "tension", fine), fine), rel=1e-6)


@pytest.mark.parametrize(
    "table",
    [
        ([300.0], [1.0]),
        ([300.0, 310.0], [1.0]),
        ([300.0, 300.0], [1.0, 2.0]),
        ([300.0, 310.0], [1.0, -2.0]),
    ],
)
def test_a_table_that_is_no_curve_is_refused(table):
    with pytest.raises(ValueError):
        tabulated([MUSCLE, table])


def test_slack_length_is_the_length_without_the_reference_strain():
    length, strain = np.array([50.0, 80.0, 30.0]), np.array([0.05, -0.1, 0.0])
    slack = slack_length(length, strain)
    np.testing.assert_allclose(slack, [50.0 / 1.05, 80.0 / 0.9, 30.0])
    np.testing.assert_allclose(length / slack - 1.0, strain, atol=1e-15)
