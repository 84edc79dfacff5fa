"""Fits of known constants, and the settings of the real one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kneewear
from kneewear.errors import ConvergenceError, InputDataError
from kneewear.reference.published import CALIBRATION_CASES, published_values
from kneewear.regression.comparison import compare_published
from kneewear.settings.calibration import CalibrationStudy, ResolutionSettings, StageSettings
from kneewear.settings.cases import location
from kneewear.settings.files import value_at
from kneewear.studies.calibration import trade_off
from kneewear.studies.calibration.cells import simulate_cells
from kneewear.studies.calibration.fitting import (
    Fit,
    fit_constants,
    part_of,
    plain_values,
    published_target,
    tabulate_constants,
    value_of,
)
from kneewear.studies.calibration.trade_off import calibrate, error_rows

FILE = Path(kneewear.__file__).parents[1] / "config" / "calibration.yaml"
# Coarser elements make the errors so jagged that a search may end early.
TINY = StageSettings(rows=80, columns=60, frames=12, steps=25)
COARSE = ResolutionSettings(rows=24, columns=18, frames=8)


def read(**overrides) -> CalibrationStudy:
    return kneewear.load_study(FILE, overrides)


@pytest.fixture(scope="module")
def study() -> CalibrationStudy:
    return read()


def test_cells_are_nine_of_25_and_the_others_stay_unused():
    cells = set(
        published_values()[["thickness_mm", "body_mass_kg"]].itertuples(index=False, name=None)
    )
    assert len(cells) == 25
    assert set(CALIBRATION_CASES) < cells
    assert len(set(CALIBRATION_CASES)) == 9


def test_constants_are_few_and_those_of_the_default_study_lie_within_bounds(study):
    constants = study.calibration.constants
    assert len(constants) <= 20
    content = study.model_dump(mode="json")
    for name, constant in constants.items():
        for key in (constant.key, *constant.also):
            assert constant.low <= value_at(content, location(key)) <= constant.high, name


@pytest.mark.slow
def test_plain_values_make_a_study(study):
    plain = plain_values(study.calibration.constants)
    assert np.isfinite(simulate_cells(study, plain, [(10.0, 75.0)], COARSE)).all()


@pytest.mark.slow
@pytest.mark.compiled
def test_known_constants_are_found_again(study):
    names = ["femoral sagittal radius", "wear factor", "creep constant"]
    chosen = {name: study.calibration.constants[name] for name in names}
    settings = study.calibration.model_copy(
        update={"constants": chosen, "exponent": 1.0, "stages": (TINY,), "trade_off": ()}
    )
    one = study.model_copy(update={"calibration": settings})
    truth = {
        chosen[name].key: value for name, value in zip(names, (33.0, 3e-7, 0.018), strict=True)
    }
    cells = ((10.0, 75.0), (6.0, 75.0))
    made = simulate_cells(one, truth, cells, TINY)
    target = published_target(cells, settings)
    fit = fit_constants(one, type(target)(cells, made, target.spread, 1.0))
    for key, value in truth.items():
        assert fit.overrides[key] == pytest.approx(value, rel=5e-3)
    table = tabulate_constants(one, fit).set_index("constant")
    # Wear depth is in proportion to the wear factor: a hundredth of its bounds' width of 4e-7.
    assert table["wear_depth_percent"]["wear factor"] == pytest.approx(100.0 * 4e-9 / 3e-7, rel=0.3)
    assert table["max_pressure_percent"]["wear factor"] == 0.0


@given(st.floats(0.0, 1.0))
def test_parts_and_values_are_inverse(study, part):
    for constant in study.calibration.constants.values():
        value = value_of(constant, part)
        assert part_of(constant, value) == pytest.approx(part, abs=1e-12)
        assert constant.low - 1e-9 <= value <= constant.high + 1e-9


def test_unknown_settings_are_refused(study):
    with pytest.raises(ValueError, match=r"no setting wear\.tear"):
        simulate_cells(study, {"wear.tear": 1.0}, [(10.0, 75.0)], COARSE)


def test_what_a_calibration_cannot_analyse_is_refused():
    with pytest.raises(InputDataError, match=r"a calibration with wear\.blocks: 4"):
        read(wear={"blocks": 4, "creep_time": "logarithm"})


def test_errors_are_told_of_fitted_and_other_cells_apart():
    values = published_values().rename(columns={"published": "value"}).assign(life="gait")
    cells = set(CALIBRATION_CASES)
    used = [
        cell in cells for cell in zip(values["thickness_mm"], values["body_mass_kg"], strict=True)
    ]
    values["value"] *= np.where(used, 1.02, 1.10)
    for row in error_rows(compare_published(values)):
        expected = 2.0 if row["cells"] == "fitted" else 10.0
        assert row["median_percent"] == pytest.approx(expected)
        assert row["largest_beyond_rounding_percent"] < expected


@pytest.mark.parametrize("failing", [8, 20])
def test_only_fits_of_fewer_constants_may_lack_an_equilibrium(study, monkeypatch, caplog, failing):
    def fit(study, target, number=20, near=None):
        error = np.full(target.values.shape, 0.1 / number)
        return Fit({}, np.zeros(number), {"number": number}, target, error)

    def simulate(study, values, resolution):
        if values["number"] == failing:
            raise ConvergenceError("equilibrium", 3, 0.7, "of the load", "Check the load.")
        return published_values().rename(columns={"published": "value"}).assign(life="gait")

    # `calibrate` changes the level of this logger: the original one is restored after the test.
    caplog.set_level("INFO", logger="kneewear.simulation")
    monkeypatch.setattr(trade_off, "fit_constants", fit)
    monkeypatch.setattr(trade_off, "simulate_published", simulate)
    monkeypatch.setattr(trade_off, "tabulate_constants", lambda study, fit: None)
    if failing == 20:
        with pytest.raises(ConvergenceError):
            calibrate(study)
    else:
        assert set(calibrate(study).trade_off["constants"]) == {12, 16, 20}
        assert "8 constants are left out" in caplog.text
