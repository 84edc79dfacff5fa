"""The committed record of what fewer constants cost belongs to the committed constants."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import kneewear
from kneewear.regression.comparison import compare_published
from kneewear.settings.calibration import ResolutionSettings
from kneewear.studies.calibration.trade_off import error_rows, simulate_published

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

RECORD = Path(__file__).parents[2] / "config" / "calibration" / "trade_off.csv"


def test_last_rows_of_the_record_are_those_of_the_default_study():
    record = pd.read_csv(RECORD, comment="#")
    study = kneewear.load_study(RECORD.parents[1] / "calibration.yaml")
    calibration = study.calibration
    numbers = sorted([*calibration.trade_off, len(calibration.constants)])
    assert sorted(record["constants"].unique()) == numbers
    last = record[record["constants"] == numbers[-1]].drop(columns="constants")
    last = last.reset_index(drop=True)
    cells = simulate_published(study, {}, ResolutionSettings(rows=100, columns=75, frames=100))
    found = pd.DataFrame(error_rows(compare_published(cells)))
    pd.testing.assert_frame_equal(found, last, rtol=1e-3)
