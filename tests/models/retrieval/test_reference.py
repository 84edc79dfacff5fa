"""Unworn shapes that are reconstructed from unworn surface."""

import numpy as np
import pytest

from kneewear.models.retrieval.reference import reconstructed
from kneewear.models.retrieval.surfaces import Raster, normals_of


@pytest.mark.parametrize(("length", "width", "depth"), [(36.0, 21.0, 9.0), (40.0, 20.0, 7.5)])
def test_form_of_a_dish_below_its_middle_is_within_its_error(
    length: float, width: float, depth: float
) -> None:
    raster = Raster(np.arange(-19.0, 19.1, 0.5), np.arange(-15.0, 15.1, 0.5))
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    dish = depth * (1.0 - np.sqrt(1.0 - (x / length) ** 2 - (z / width) ** 2))
    heights = -1.2 * np.log(np.exp(-dish / 1.2) + np.exp(-5.0 / 1.2))
    inside = (x / 19.0) ** 2 + (z / 15.0) ** 2 < 1.0
    middle = (x / 19.0) ** 2 + (z / 15.0) ** 2 < 0.3
    regions = np.where(inside, 0, -1)
    shape, drifts = reconstructed(raster, heights, regions, ~middle)
    chosen = inside.ravel()
    points = np.column_stack([x.ravel(), heights.ravel(), z.ravel()])[chosen]
    normals = normals_of(heights).reshape(-1, 3)[chosen]
    deviation = (heights - shape).ravel()[chosen] * normals[:, 1]
    worn = middle.ravel()[chosen]
    dish_of_others = drifts(points, normals, np.zeros(len(points), dtype=np.int64))[1]
    # Best linear prediction of the middle with noise of a micrometre.
    columns = dish_of_others.columns / 1e-3
    inverse = np.linalg.inv(columns[~worn].T @ columns[~worn] + np.diag(dish_of_others.prior))
    coefficients = inverse @ (columns[~worn].T @ deviation[~worn] / 1e-3)
    mean = dish_of_others.columns[worn].mean(axis=0)
    # Departures up to the sixth order alone had an error of two standard deviations.
    error = mean @ coefficients - deviation[worn].mean()
    assert abs(error) < np.sqrt(mean @ inverse @ mean)
