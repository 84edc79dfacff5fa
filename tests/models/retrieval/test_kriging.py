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


@pytest.mark.slow
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


def test_length_between_those_of_the_first_search_is_resolved() -> None:
    rng = np.random.default_rng(5)
    points = rng.uniform(-22.0, 22.0, (300, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    # Gaussian correlation over 15 mm, between 12.7 and 19.0 mm, with a noise of a tenth.
    covariance = 0.03**2 * (correlation(distance, 15.0, "gaussian") + 0.01 * np.eye(300))
    values = np.linalg.cholesky(covariance) @ rng.standard_normal(300)
    fields = likely_fields(distance, values, Drift(np.ones((300, 1))))
    mean = sum(item.weight * item.length for item in fields)
    spread = np.sqrt(sum(item.weight * (item.length - mean) ** 2 for item in fields))
    assert abs(mean - 15.0) < 2.6 * spread
    assert 0.1 < spread < 1.5
    assert max(item.weight for item in fields) < 0.9


def test_surface_without_a_field_has_none() -> None:
    rng = np.random.default_rng(6)
    points = rng.uniform(-22.0, 22.0, (200, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    fields = likely_fields(distance, 0.003 * rng.standard_normal(200), Drift(np.ones((200, 1))))
    noise = sum(item.weight * item.sd * np.sqrt(item.nugget) for item in fields)
    assert noise == pytest.approx(0.003, rel=0.2)
    assert sum(item.weight * item.sd for item in fields) < 0.003
