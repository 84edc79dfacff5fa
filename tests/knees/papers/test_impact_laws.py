"""Machado's Table 5.4: each contact law in a free impact, against the exact and the printed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from kneewear.contact.hertz import contact_modulus
from kneewear.knees.contact.impact_laws import (
    FACTORS,
    effective_radius,
    hertz_stiffness,
    hysteresis_factor,
    impact_force,
)
from tests.knees.papers.restitution import delivered_restitution, largest_indentation
from tests.physics.machado import PER_METRE, elastic_duration, published

CARTILAGE = contact_modulus(24.0, 0.38, 24.0, 0.38)  # of two layers
RESTITUTIONS = (0.616, 0.79)
LAWS = tuple(FACTORS)
# Reduced mass, t, speed, mm/s, and stiffness, N/mm^1.5; the restitution does not depend on them.
MASS = 0.002
SPEED = 300.0
STIFFNESS = 100.0


class FreeImpact(NamedTuple):
    """Free impact from first contact to separation."""

    duration: float  # s
    restitution: float
    largest_indentation: float  # mm
    loss: float  # work of the force over the indentation, N mm
    indentation: np.ndarray  # at the time steps, mm
    force: np.ndarray  # N


def simulate_impact(
    factor: float,
    mass: float = MASS,
    speed: float = SPEED,
    stiffness: float = STIFFNESS,
    exponent: float = 1.5,
) -> FreeImpact:
    """Impact of two bodies without other forces, integrated in time; see `impact_force`."""
    # In units of the largest elastic indentation, the speed and the energy.
    depth = largest_indentation(mass, speed, stiffness, exponent=exponent)

    def force(d: np.ndarray, rate: np.ndarray) -> np.ndarray:
        return impact_force(depth * d, speed * rate, speed, stiffness, factor, exponent)

    def rates(_: float, state: np.ndarray) -> list[float]:
        push = float(force(state[0], state[1])) * depth / (mass * speed**2)
        return [state[1], -push, push * state[1]]

    def separation(_: float, state: np.ndarray) -> float:
        return float(state[0])

    def reversal(_: float, state: np.ndarray) -> float:
        return float(state[1])

    separation.terminal, separation.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        rates,
        (0.0, 20.0),
        [0.0, 1.0, 0.0],
        method="DOP853",
        rtol=1e-10,
        atol=1e-13,
        events=(separation, reversal),
        max_step=0.05,
    )
    return FreeImpact(
        run.t[-1] * depth / speed,
        -run.y[1, -1],
        depth * run.y_events[1][0][0],
        run.y[2, -1] * mass * speed**2,
        depth * run.y[0],
        force(run.y[0], run.y[1]),
    )


@pytest.mark.parametrize("law", LAWS)
def test_factors_are_those_of_table_5_4(law):
    printed = published("table_5_4_contact_laws").factor_0_616[law]
    assert hysteresis_factor(law, 0.616) == pytest.approx(printed, abs=5e-5)  # four decimals


@pytest.mark.parametrize("restitution", RESTITUTIONS)
@pytest.mark.parametrize("law", LAWS)
def test_delivered_restitution_is_that_of_the_phase_plane(law, restitution):
    factor = hysteresis_factor(law, restitution)
    exact = delivered_restitution(factor)
    assert simulate_impact(factor).restitution == pytest.approx(exact, rel=1e-7)
    column = f"delivered_{restitution:g}".replace(".", "_")
    assert exact == pytest.approx(published("table_5_4_contact_laws")[column][law], abs=5e-5)


@pytest.mark.parametrize("factor", [1e-3, 0.288, 1.0074, 5.0])
def test_exact_restitution_satisfies_the_energy_equation(factor):
    # Integrals of v / (1 + c v) from rest to approach and from rest to parting are equal.
    restitution = delivered_restitution(factor)
    approach, _ = quad(lambda v: v / (1 + factor * v), 0.0, 1.0, epsabs=0, epsrel=1e-12)
    parting, _ = quad(lambda v: v / (1 - factor * v), 0.0, restitution, epsabs=0, epsrel=1e-12)
    # Near a factor of zero rounding grows as 1e-16 / c^2.
    assert parting == pytest.approx(approach, rel=1e-12 + 1e-15 / factor**2)
    assert factor * restitution < 1.0  # so the bracket of the force stays positive


@pytest.mark.parametrize(
    "case",
    [
        {"mass": 0.05},
        {"speed": 3.0},
        {"stiffness": 1e5},
        {"exponent": 1.0},
        {"mass": 1e-4, "speed": 2000.0, "stiffness": 7.0, "exponent": 2.0},
    ],
)
def test_restitution_depends_on_the_factor_only(case):
    found = simulate_impact(0.7545, **case).restitution
    assert found == pytest.approx(delivered_restitution(0.7545), rel=1e-7)


@pytest.mark.parametrize("law", LAWS)
def test_largest_indentation_and_loop_are_exact(law):
    factor = hysteresis_factor(law, 0.616)
    impact = simulate_impact(factor)
    assert impact.largest_indentation == pytest.approx(
        largest_indentation(0.002, 300.0, 100.0, factor), rel=1e-7
    )
    energy = 0.5 * 0.002 * 300.0**2
    lost = energy * (1.0 - delivered_restitution(factor) ** 2)
    assert impact.loss == pytest.approx(lost, abs=1e-7 * energy)


@pytest.mark.parametrize("law", LAWS)
def test_loop_is_closed_and_never_tensile(law):
    impact = simulate_impact(hysteresis_factor(law, 0.616))
    assert impact.force[0] == 0.0 and impact.force.min() >= 0.0
    assert abs(impact.indentation[-1]) < 1e-12 * impact.largest_indentation
    assert impact.force[-1] < 1e-12 * impact.force.max()


def test_for_little_loss_lee_and_wang_lose_half_of_what_is_asked():
    def lost(law):
        return 1.0 - delivered_restitution(hysteresis_factor(law, 0.999))

    assert lost("lee_wang") == pytest.approx(0.0005, rel=2e-3)
    for law in ("hunt_crossley", "herbert_mcwhannell", "lankarani_nikravesh", "zhiying_qishao"):
        assert lost(law) == pytest.approx(0.001, rel=4e-3)


def test_elastic_impact_lasts_as_long_as_hertz_says():
    depth = largest_indentation(0.002, 300.0, 100.0)
    assert simulate_impact(0.0).duration == pytest.approx(elastic_duration(depth, 300.0), rel=1e-7)
    assert elastic_duration(1.0, 1.0) == pytest.approx(2.943, abs=5e-4)  # Johnson


def test_stiffness_of_the_sphere_on_a_plane_is_the_printed_one():
    printed = published("table_5_3_stiffness").stiffness_n_per_m1_5["convex_plane"]
    stiffness = hertz_stiffness(effective_radius(30.4), CARTILAGE)
    assert stiffness / PER_METRE == pytest.approx(printed, abs=0.5)  # no decimals


@pytest.mark.parametrize(
    ("pair", "other", "sign"),
    [("convex_convex", "convex_concave", 1.0), ("convex_concave", "convex_convex", -1.0)],
)
def test_the_other_stiffnesses_are_printed_beside_each_other_s_radii(pair, other, sign):
    table = published("table_5_3_stiffness")
    radius, second = table.radius_mm[other], sign * abs(table.other_radius_mm[other])
    stiffness = hertz_stiffness(effective_radius(radius, second), CARTILAGE)
    assert stiffness / PER_METRE == pytest.approx(table.stiffness_n_per_m1_5[pair], abs=0.5)
    own = hertz_stiffness(
        effective_radius(table.radius_mm[pair], table.other_radius_mm[pair]), CARTILAGE
    )
    assert abs(own / PER_METRE / table.stiffness_n_per_m1_5[pair] - 1) > 0.15


def test_every_law_is_that_of_hertz_when_nothing_is_lost():
    for law in LAWS:
        assert hysteresis_factor(law, 1.0) == 0.0
