"""Rows of the verification table on the methods of Machado's thesis."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.verification.engine import (
    compare_common_normals,
    compare_impacts,
    compare_storage_window,
)


@pytest.mark.parametrize(
    ("comparisons", "count", "bound"),
    [
        # Newton's method ends within rounding of 60 mm; the indentation is 0.05 mm.
        (lambda: compare_common_normals(3, poses=5), 3, 1e-8),
        (compare_impacts, 16, 1e-4),
        (compare_storage_window, 2, 1e-9),
    ],
)
def test_exact_values_are_reproduced(comparisons, count, bound):
    table = pd.DataFrame(comparisons())
    assert len(table) == count
    assert table["worst_error_percent"].max() < bound
