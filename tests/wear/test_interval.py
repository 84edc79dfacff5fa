"""Interval of wear from one factor a class and the spread between laboratories."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.wear import interval
from kneewear.wear.interval import factor_interval, known_classes


@pytest.fixture
def rows(monkeypatch):
    """Set the factors of laboratories of a class."""

    def of(factors):
        found = tuple(
            {
                "law": "archard",
                "material_class": "own",
                "laboratory": str(number),
                "factor_mm3_per_n_m": str(value),
                "measurements": "1",
            }
            for number, value in enumerate(factors)
        )
        monkeypatch.setattr(interval, "laboratory_factors", lambda: found)

    return of


def test_interval_of_three_laboratories_is_students(rows):
    rows([1e-6, np.e * 1e-6, np.e**2 * 1e-6])
    found = factor_interval("own", 0.9)
    assert found.median == pytest.approx(np.e * 1e-6)
    assert found.log_sd == pytest.approx(1.0)
    # Student's 95 % quantile with two degrees of freedom is 2.920.
    half = 2.919986 * np.sqrt(4.0 / 3.0)
    assert np.log(found.high / found.median) == pytest.approx(half, rel=1e-6)
    assert np.log(found.low / found.median) == pytest.approx(-half, rel=1e-6)


def test_interval_covers_further_laboratories_as_often_as_it_says(rows):
    random = np.random.default_rng(3)
    within = []
    for drawn in np.exp(random.normal(-14.0, 0.6, (2000, 6))):
        rows(drawn[:5])
        found = factor_interval("own", 0.9)
        within.append(found.low <= drawn[5] <= found.high)
    # Three standard errors of 2000 draws.
    assert np.mean(within) == pytest.approx(0.9, abs=3.0 * np.sqrt(0.09 / 2000))


def test_interval_has_a_factor_of_both_ends_in_the_unit_of_the_table():
    found = factor_interval("conventional")
    assert found.low < 1.63e-6 < found.high
    assert found.laboratories >= 5


def test_classes_that_no_laboratory_measured_are_refused():
    assert known_classes() == ("conventional",)
    with pytest.raises(InputDataError, match="crosslinked"):
        factor_interval("crosslinked")
