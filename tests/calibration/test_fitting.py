"""Fits of known constants, and the settings of the real one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kneewear
from kneewear import default_study
from kneewear.reference.published import CALIBRATION_CELLS, published_values
from kneewear.regression.comparison import compare_published
from kneewear.settings.calibration import CalibrationSettings
from kneewear.settings.files import read_settings, value_at
from kneewear.settings.study import load_study, merge_settings
from kneewear.studies.calibration.closed_form import Resolution, simulate_cells
from kneewear.studies.calibration.constants import Constants, apply_overrides, plain_values
from kneewear.studies.calibration.fitting import fit_constants, published_target, tabulate_constants
from kneewear.studies.calibration.trade_off import error_rows

FILE = Path(kneewear.__file__).parents[1] / "config" / "calibration.yaml"
STUDY = default_study()
# Coarser elements make the errors so jagged that a search may end early.
TINY = {"rows": 80, "columns": 60, "frames": 12, "steps": 25}


@pytest.fixture(scope="module")
def calibration() -> CalibrationSettings:
    merged = merge_settings(read_settings(kneewear.default_settings_file()), read_settings(FILE))
    return load_study(merged).calibration


def test_cells_are_nine_of_25_and_the_others_stay_unused():
    cells = set(
        published_values()[["thickness_mm", "body_mass_kg"]].itertuples(index=False, name=None)
    )
    assert len(cells) == 25
    assert set(CALIBRATION_CELLS) < cells
    assert len(set(CALIBRATION_CELLS)) == 9


def test_constants_are_few_and_those_of_the_default_study_lie_within_bounds(calibration):
    assert len(calibration.constants) <= 20
    content = STUDY.model_dump(mode="json")
    for name, constant in calibration.constants.items():
        for key in (constant.key, *constant.also):
            steps = tuple(int(step) if step.isdigit() else step for step in key.split("."))
            value = value_at(content, steps)
            assert constant.low <= value <= constant.high, name


@pytest.mark.slow
def test_plain_values_make_a_study(calibration):
    plain = apply_overrides(STUDY, plain_values(calibration.constants))
    tiny = Resolution(24, 18, 8)
    assert np.isfinite(simulate_cells(plain, "gait", [(10.0, 75.0)], tiny)).all()


@pytest.mark.compiled
def test_known_constants_are_found_again(calibration):
    names = ["femoral sagittal radius", "wear factor", "creep constant"]
    chosen = {name: calibration.constants[name] for name in names}
    settings = calibration.model_copy(
        update={
            "constants": chosen,
            "exponent": 1.0,
            "stages": CalibrationSettings.model_validate(
                calibration.model_dump() | {"stages": [TINY], "trade_off": []}
            ).stages,
        }
    )
    truth = {
        chosen[name].key: value for name, value in zip(names, (33.0, 3e-7, 0.018), strict=True)
    }
    cells = ((10.0, 75.0), (6.0, 75.0))
    made = simulate_cells(apply_overrides(STUDY, truth), "gait", cells, Resolution(80, 60, 12))
    target = published_target(cells, settings)
    fit = fit_constants(STUDY, settings, type(target)(cells, made, target.spread, 1.0))
    for key, value in truth.items():
        assert fit.overrides[key] == pytest.approx(value, rel=5e-3)
    table = tabulate_constants(fit).set_index("constant")
    # Wear depth is in proportion to the wear factor: a hundredth of its bounds' width of 4e-7.
    assert table["wear_depth_percent"]["wear factor"] == pytest.approx(100.0 * 4e-9 / 3e-7, rel=0.3)
    assert table["max_pressure_percent"]["wear factor"] == 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=20, max_size=20))
def test_places_and_values_are_inverse(calibration, places):
    constants = Constants(calibration.constants)
    values = constants.values(np.array(places))
    np.testing.assert_allclose(constants.places(values), places, atol=1e-12)
    assert all(
        one.low - 1e-9 <= value <= one.high + 1e-9
        for one, value in zip(calibration.constants.values(), values, strict=True)
    )


def test_unknown_keys_are_refused():
    with pytest.raises(ValueError, match=r"no key wear\.tear"):
        apply_overrides(STUDY, {"wear.tear": 1.0})


def test_errors_are_told_of_fitted_and_other_cells_apart():
    values = published_values().rename(columns={"published": "value"}).assign(life="gait")
    cells = set(CALIBRATION_CELLS)
    used = [
        cell in cells for cell in zip(values["thickness_mm"], values["body_mass_kg"], strict=True)
    ]
    values["value"] *= np.where(used, 1.02, 1.10)
    for row in error_rows(compare_published(values)):
        expected = 2.0 if row["cells"] == "fitted" else 10.0
        assert row["median_percent"] == pytest.approx(expected)
        assert row["largest_beyond_rounding_percent"] < expected
