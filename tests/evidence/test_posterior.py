"""Hierarchical model of laws and laboratories against direct computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from scipy.stats import multivariate_normal

from kneewear.analysis.literature import published_rows
from kneewear.evidence.synthesis.law_space import CONSTANTS, LawSpace, log_factor
from kneewear.evidence.synthesis.measurements import WEAR, Measurements, read_measurements
from kneewear.evidence.synthesis.mixture import (
    UniformContact,
    evidences_of,
    fit_mixture,
    score_models,
)
from kneewear.evidence.synthesis.posterior import (
    LEVEL,
    Evidence,
    LawModel,
    log_normal,
    mixed_scores,
    sample_law,
    split_r_hat,
    stacking_weights,
)
from kneewear.evidence.synthesis.simulated import TRUTHS, calibrate, value_of_test

# Cross-shear and pressure of tests whose contact is uniform.
CROSS_SHEAR = np.array([0.5, 0.5, 0.0, 0.08, 0.02, 0.2])
PRESSURE = np.array([1.0, 10.0, 2.0, 3.0, 15.0, 5.0])
NODES = {
    "archard": [{}],
    "cross_shear_saturation": [
        {"straight_factor": 0.01, "saturation": at} for at in (0.03, 0.05, 0.1, 0.2, 0.5)
    ],
    "direction_memory": [
        {"straight_factor": 0.001, "memory_mm": at} for at in (0.5, 1.0, 3.0, 12.0)
    ],
    "pressure_power": [{"exponent": at} for at in (-0.84, -0.4)],
    "cross_shear_and_pressure": [
        {"cross_shear_exponent": one, "pressure_rate_per_mpa": other}
        for one in (0.0, 0.2, 0.5)
        for other in (-0.3, -0.1, 0.0)
    ],
    "contact_area": [{}],
}
LABORATORIES = np.array(["a", "a", "a", "b", "b", "c"])


def wear(law, values):
    """Wear of the tests by a law, of one row of constants."""
    repeated = np.repeat(np.atleast_2d(values), len(CROSS_SHEAR), axis=0)
    return np.exp(log_factor(law, repeated, CROSS_SHEAR, PRESSURE))


@pytest.fixture(scope="module")
def space():
    nodes = {}
    for law, own in NODES.items():
        names = [constant.name for constant in CONSTANTS[law]]
        rows = [(node, wear(law, np.array([[node[name] for name in names]]))) for node in own]
        nodes[law] = tuple(rows)
    return LawSpace(nodes)


@pytest.fixture(scope="module")
def rows():
    """Five rows of wear, and a straight path as a ratio to the first."""
    over = np.eye(6)
    over[2, 0] = -1.0
    absolute = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    measured = np.array([0.5, 0.7, -3.0, 0.1, -1.2, 0.9])
    error = np.array([0.05, 0.1, 0.3, 0.1, 0.2, 0.1])
    names = np.array(list("uvwxyz"))
    return Measurements(names, LABORATORIES, measured, error, over, over, absolute, absolute == 0.0)


@pytest.mark.parametrize("law", ["cross_shear_saturation", "direction_memory"])
def test_wear_is_exact_in_the_factor_of_straight_paths(space, law):
    for own in (0.005, 0.2, 1.0):
        values = np.array([[own, 3.0 if law == "direction_memory" else 0.1]])
        np.testing.assert_allclose(
            np.exp(space.log_wear(law, values))[0], wear(law, values), rtol=1e-9, atol=2e-6
        )


def test_wear_between_nodes_is_that_of_powers(space):
    """The logarithm of these laws is linear in their constants."""
    for law, values in (
        ("pressure_power", [-0.3]),
        ("cross_shear_and_pressure", [0.1, -0.17]),
        ("archard", []),
        ("contact_area", []),
    ):
        found = space.log_wear(law, np.array([values], dtype=float).reshape(1, -1))[0]
        expected = np.log(wear(law, np.array([values], dtype=float).reshape(1, -1)))
        moving = CROSS_SHEAR > 0.0
        np.testing.assert_allclose(found[moving], expected[moving], atol=1e-9)


def test_density_of_normal_vectors():
    random = np.random.default_rng(1)
    root = random.normal(size=(3, 4, 4))
    covariance = root @ root.transpose(0, 2, 1) + np.eye(4)
    rest = random.normal(size=(3, 4))
    expected = [
        multivariate_normal(cov=own).logpdf(value)
        for own, value in zip(covariance, rest, strict=True)
    ]
    np.testing.assert_allclose(log_normal(rest, covariance), expected)


def test_level_is_integrated_over_its_prior(space, rows):
    model = LawModel("archard", space, rows)
    spreads, constants = np.array([[0.6, 0.3, 1.2]]), np.empty((1, 0))
    rest = model.residual(constants)[0]
    own = model.covariance(spreads)[0] - LEVEL**2 * np.outer(rows.is_absolute, rows.is_absolute)
    levels = np.linspace(-12.0, 12.0, 4801)
    density = multivariate_normal(cov=own).pdf(rest - levels[:, None] * rows.is_absolute)
    density *= scipy.stats.norm(0.0, LEVEL).pdf(levels)
    whole = np.trapezoid(density, levels)
    assert model.log_likelihood(spreads, constants)[0] == pytest.approx(np.log(whole), rel=1e-6)
    drawn = model.draw_level(
        np.repeat(spreads, 20_000, axis=0), np.empty((20_000, 0)), np.random.default_rng(1)
    )
    mean = np.trapezoid(levels * density, levels) / whole
    spread = np.sqrt(np.trapezoid((levels - mean) ** 2 * density, levels) / whole)
    # Of 20,000 draws.
    assert drawn.mean() == pytest.approx(mean, abs=4.0 * spread / np.sqrt(20_000))
    assert drawn.std() == pytest.approx(spread, rel=0.03)


def test_ratio_of_a_laboratory_has_neither_level_nor_its_deviation(space, rows):
    model = LawModel("archard", space, rows)
    spreads = np.array([[2.0, 0.5, 1.0]])
    variance = model.covariance(spreads)[0, 2, 2]
    assert variance == pytest.approx(2.0 * 0.25 + 0.09)


@pytest.mark.parametrize("left_out", [[], [2], [0, 1, 2], [5]])
def test_density_of_chosen_rows_is_that_of_their_own_covariance(space, rows, left_out):
    model = LawModel("cross_shear_saturation", space, rows)
    evidence = Evidence(model, 16)
    chosen = ~np.isin(np.arange(6), left_out)
    spreads, constants = evidence.prior
    covariance = model.covariance(spreads)
    own, rest = covariance[:, chosen][:, :, chosen], model.residual(constants)[:, chosen]
    found = evidence.log_weights(rows.log_wear, chosen)
    np.testing.assert_allclose(found, log_normal(rest, own), rtol=1e-9, atol=1e-9)
    mean, spread = evidence.level(rows.log_wear, chosen)
    design = np.linalg.solve(own, np.tile(rows.is_absolute[chosen], (16, 1))[..., None])[..., 0]
    np.testing.assert_allclose(mean, LEVEL**2 * (design * rest).sum(axis=1), atol=1e-9)
    variance = LEVEL**2 - LEVEL**4 * (design @ rows.is_absolute[chosen])
    np.testing.assert_allclose(spread**2, variance, atol=1e-9)
    np.testing.assert_allclose(evidence.variance, np.diagonal(covariance, axis1=1, axis2=2))


@pytest.mark.slow
def test_sampler_and_weighted_draws_of_the_priors_agree(space, rows):
    model = LawModel("cross_shear_saturation", space, rows)
    chains = sample_law(model, steps=1500)
    assert chains.split_r_hat < 1.05
    assert chains.effective > 500
    evidence = Evidence(model)
    every = np.ones(len(rows.log_wear), bool)
    weights = np.exp(evidence.log_weights(rows.log_wear, every))
    weights /= weights.sum()
    # Effective numbers: standard errors of both means are below 5 % of the spread.
    assert 1.0 / (weights**2).sum() > 200
    for number in range(3):
        own = evidence.prior[0][:, number]
        mean = weights @ own
        spread = np.sqrt(weights @ (own - mean) ** 2)
        assert chains.sample.spreads[:, number].mean() == pytest.approx(mean, abs=0.25 * spread)
    level = weights @ evidence.level(rows.log_wear, every)[0]
    spread = chains.sample.log_level.std()
    assert chains.sample.log_level.mean() == pytest.approx(level, abs=0.25 * spread)


def test_split_r_hat_of_independent_and_of_drifting_chains():
    random = np.random.default_rng(1)
    chain = random.normal(size=(4000, 8, 2))
    assert split_r_hat(chain) == pytest.approx(1.0, abs=0.005)
    drifting = chain + np.linspace(0.0, 3.0, 4000)[:, None, None]
    assert split_r_hat(drifting) > 1.2


def test_weights_are_those_of_the_largest_score():
    scores = [{"a": -1.0, "b": -3.0}, {"a": -2.0, "b": -1.0}, {"a": -5.0, "b": -6.0}]
    weights = stacking_weights(scores)
    best = sum(mixed_scores(scores, weights).values())
    parts = np.linspace(0.0, 1.0, 101)
    others = [
        sum(mixed_scores(scores, np.array([part, 1.0 - part, 0.0])).values()) for part in parts
    ]
    assert best == pytest.approx(max(others), abs=1e-3)
    assert weights[2] < 1e-6


def test_law_of_the_measurements_has_the_weight(space, rows):
    """Wear by pressure alone is not taken for wear by cross-shear."""
    exact = np.log(wear("pressure_power", np.array([[-0.4]])))
    measured = rows.over_tests @ exact
    evidences = evidences_of(space, rows._replace(log_wear=measured), draws=512)
    mixture = fit_mixture(evidences)
    weights = dict(zip(CONSTANTS, mixture.weights, strict=True))
    assert max(weights, key=weights.get) == "pressure_power"
    points = mixture.points(UniformContact(0.02, 15.0))
    assert points[0] < np.log(15.0**-0.4) < points[2]


def test_scores_have_the_mixture_and_the_simple_interval(space, rows):
    scores = score_models(evidences_of(space, rows, draws=256)).set_index("model")
    assert set(CONSTANTS) < set(scores.index)
    assert (scores["below_best"] >= 0.0).all()
    assert scores["laboratories"].eq(3).all()


def test_a_knee_test_makes_the_interval_of_the_laws_narrower(space, rows):
    knee = UniformContact(0.02, 15.0)
    value = value_of_test(space, rows, knee, [knee], 5, 0.1, outcomes=10)
    assert value["laws_factor"] < value["laws_factor_before"]
    assert value["interval_factor"] < value["interval_factor_before"]


def test_coverage_is_counted_for_every_truth(space, rows):
    table = calibrate(space, rows, UniformContact(0.02, 15.0), 8)
    assert set(table["truth"]) == set(TRUTHS)
    assert table["covered"].between(0.0, 100.0).all()
    wide = table[table["nominal"] == 90.0].set_index("truth")["covered"]
    narrow = table[table["nominal"] == 50.0].set_index("truth")["covered"]
    assert (wide >= narrow).all()


def test_rows_are_the_independent_values_of_six_laboratories():
    known = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    names = list(dict.fromkeys([*known["test"], *known.loc[known["over"] != "", "over"]]))
    rows = read_measurements([(name, quantity) for quantity in WEAR for name in names])
    assert len(rows.log_wear) == 11
    assert len(set(rows.laboratory)) == 6
    # The ratio of two hips says nothing beside both hips.
    assert "hip of 28 over hip of 22 mm" not in rows.names
    straight = list(rows.names).index("straight over elliptic motion of discs")
    elliptic = list(rows.names).index("disc, ISO 18192-1, activ L")
    assert rows.over_conditions[straight, elliptic] == -1.0
