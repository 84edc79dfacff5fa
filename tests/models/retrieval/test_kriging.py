"""Prediction of unworn surface below a scar."""

import numpy as np
import pytest

from kneewear.models.retrieval.kriging import Drift, UnwornSurface, correlation, likely_fields


def _surface(seed: int, sd: float, length: float) -> tuple[UnwornSurface, np.ndarray, np.ndarray]:
    """Unworn points about a hole, and points and true deviations in the hole."""
    rng = np.random.default_rng(seed)
    x, z = np.meshgrid(np.arange(-15.0, 15.1, 2.0), np.arange(-15.0, 15.1, 2.0))
    points = np.column_stack([x.ravel(), z.ravel()])
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    covariance = sd**2 * correlation(distance, length, "matern_3_2") + 1e-9 * np.eye(len(points))
    values = 0.02 + np.linalg.cholesky(covariance) @ rng.standard_normal(len(points))
    values += 0.001 * rng.standard_normal(len(points))
    hole = np.linalg.norm(points, axis=1) < 7.0
    surface = UnwornSurface(points[~hole], values[~hole], Drift(np.ones(((~hole).sum(), 1))))
    return surface, points[hole], values[hole]


def test_drift_alone_is_found_exactly() -> None:
    points = np.random.default_rng(0).uniform(-10.0, 10.0, (60, 2))
    drift = np.column_stack([np.ones(60), points])
    surface = UnwornSurface(points, drift @ [0.1, 0.01, -0.02], Drift(drift)).fitted()
    found = surface.predict(np.zeros((1, 2)), Drift(np.array([[1.0, 0.0, 0.0]])), np.ones((1, 1)))
    assert found.mean[0] == pytest.approx(0.1, abs=1e-9)


def test_sum_over_hole_is_within_its_standard_deviations() -> None:
    scores = []
    for seed in range(20):
        surface, points, values = _surface(seed, 0.03, 12.0)
        found = surface.fitted().predict(
            points, Drift(np.ones((len(points), 1))), np.ones((1, len(points)))
        )
        scores.append((found.total[0] - values.sum()) / found.total_sd[0])
    # SD of 20 normal scores is between 0.68 and 1.37 with a probability of 99 %.
    assert 0.68 < np.std(scores) < 1.4
    assert abs(np.mean(scores)) < 2.6 / np.sqrt(20)


def test_length_of_correlation_is_found() -> None:
    surface, *_ = _surface(3, 0.05, 6.0)
    distance = np.linalg.norm(surface.points[:, None] - surface.points, axis=-1)
    best = likely_fields(distance, surface.values, surface.drift)[0]
    assert 2.5 <= best.length <= 13.0
    assert 0.02 < best.sd < 0.12


def test_sources_add_to_the_variance_of_a_sum() -> None:
    surface, points, _ = _surface(1, 0.02, 9.0)
    found = surface.fitted().predict(
        points, Drift(np.ones((len(points), 1))), np.ones((1, len(points)))
    )
    parts = (found.drift_sd, found.field_sd, found.noise_sd, found.choice_sd)
    assert sum(one**2 for one in parts) == pytest.approx(found.total_sd**2)
