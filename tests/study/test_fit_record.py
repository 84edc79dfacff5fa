"""The committed record of what fewer constants cost belongs to the committed constants."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.evidence.calibration.fit import compute_cells
from kneewear.evidence.calibration.tables import error_rows, tidy_cells
from kneewear.evidence.published.comparison import compare_published
from kneewear.evidence.published.values import published_values
from kneewear.study.plan_settings import ResolutionSettings
from kneewear.study.settings import validate_study
from tests.study.studies import CONFIG, shipped

pytestmark = [pytest.mark.compiled, pytest.mark.slow]


def test_last_rows_of_the_record_are_those_of_the_default_study():
    record = pd.read_csv(CONFIG / "evidence/calibration/trade_off.csv", comment="#")
    study = validate_study(shipped("calibration.yaml"))
    numbers = sorted([*study.cases.trade_off, len(study.variables)])
    assert sorted(record["constants"].unique()) == numbers
    last = record[record["constants"] == numbers[-1]].drop(columns="constants")
    keys = published_values()[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    finest = ResolutionSettings(rows=100, columns=75, frames=100)
    cells = compute_cells(study, {}, list(keys.itertuples(index=False, name=None)), finest)
    rows = pd.DataFrame(error_rows(compare_published(tidy_cells(cells))))
    pd.testing.assert_frame_equal(rows, last.reset_index(drop=True), rtol=1e-3)
