"""Separation of wear and creep on depths of known origin."""

from dataclasses import replace

import numpy as np
import pytest

from kneewear.models.retrieval.lives import LifeTrial
from kneewear.models.retrieval.settings import SplitSettings
from kneewear.models.retrieval.split import (
    Measured,
    fit_lives,
    fit_table,
    judge_split,
    split_table,
)

_X, _Z = (item.ravel() for item in np.meshgrid(np.linspace(-15, 15, 31), np.linspace(5, 35, 31)))


def _depths(trial: LifeTrial):
    """Wear spread by the amplitude, creep over a larger area, both moved by the offset."""
    x, z = _X - trial.posterior, _Z - 20.0 - trial.medial
    wear = np.exp(-0.5 * (x / (6.0 * trial.amplitude)) ** 2 - 0.5 * (z / 4.0) ** 2)
    creep = np.exp(-0.5 * (x / 9.0) ** 2 - 0.5 * (z / 6.0) ** 2)
    return 0.2 * np.exp(trial.log_wear) * wear, 0.1 * np.exp(trial.log_creep) * creep


def _measured(trial: LifeTrial) -> tuple[Measured, float]:
    wear, creep = _depths(trial)
    area, side = np.ones(_X.size), np.zeros(_X.size, dtype=np.int64)
    volume = np.array([(wear + creep).sum(), 0.0])
    sd = np.full(_X.size, 0.002)
    return Measured(wear + creep, sd, area, side, volume, 0.01 * volume), wear.sum()


def test_wear_is_found_with_the_creep_constant_known_to_10_percent() -> None:
    truth = LifeTrial("archard", 0.8, np.log(1.5), np.log(0.9), 1.0)
    measured, true = _measured(truth)
    fits = fit_lives(measured, _depths, 0.1, ["archard"])
    (row,) = split_table(measured, fits, SplitSettings(creep_constant_sd=0.1)).to_dict("records")
    # Acceptance of the method: 20 %, and 10 points of the share.
    assert row["wear_mm3"] == pytest.approx(true, rel=0.2)
    assert row["share"] == pytest.approx(true / measured.volume.sum(), abs=0.1)
    assert row["low_mm3"] < true < row["high_mm3"]


def test_offset_to_medial_is_found_where_it_has_an_effect() -> None:
    measured, _ = _measured(LifeTrial("archard", medial=1.0))
    for fixed, expected in (((), 1.0), (("medial",), 0.0)):
        (fit,) = fit_lives(measured, _depths, 0.1, ["archard"], [1.0], fixed)
        # Two steps of at most 0.5 mm, and a prior distribution about zero.
        assert fit.trial.medial == pytest.approx(expected, abs=0.2)


def test_the_surface_alone_has_a_range_and_no_value() -> None:
    measured, true = _measured(LifeTrial("archard", 1.2, 0.0, np.log(1.4), -1.0))
    fits = fit_lives(measured, _depths, None, ["archard"])
    (row,) = split_table(measured, fits, SplitSettings()).to_dict("records")
    assert np.isnan(row["wear_mm3"])
    assert row["low_mm3"] < true < row["high_mm3"]


def test_mass_loss_states_wear_without_a_study() -> None:
    measured, _ = _measured(LifeTrial("archard"))
    known = SplitSettings(mass_loss_mg=9.0, soak_gain_mg=0.3, density_mg_per_mm3=0.93)
    (row,) = split_table(measured, [], known).to_dict("records")
    assert row["wear_mm3"] == pytest.approx(10.0)
    assert row["high_mm3"] == pytest.approx(10.0 * (1.0 + 1.645 * 0.05))
    assert row["share"] == pytest.approx(10.0 / measured.volume.sum())


def test_wear_that_the_creep_constant_leaves_open_is_reported() -> None:
    # 10 % of the creep volume is 20 % of wear at a share of a third, and 25 % at two sevenths.
    for wear, warned, stated in ((1.5, False, True), (0.5, True, True), (0.1, True, False)):
        measured, _ = _measured(LifeTrial("archard", 1.0, np.log(wear)))
        fits = fit_lives(measured, _depths, 0.1, ["archard"], [1.0])
        table = split_table(measured, fits, SplitSettings(creep_constant_sd=0.1))
        lives = fit_table(measured, fits)
        assert bool(judge_split(table, lives, "insert")) == warned
        assert table["wear_mm3"].notna().all() == stated
        assert table["sd_mm3"].notna().all() == stated
        assert table["high_mm3"].notna().all()
    weighed = split_table(measured, fits, SplitSettings(creep_constant_sd=0.1, mass_loss_mg=5.0))
    assert judge_split(weighed, lives, "insert") == []


def test_standard_deviation_of_wear_is_that_of_its_creep_constant() -> None:
    measured, true = _measured(LifeTrial("archard"))
    fits = fit_lives(measured, _depths, 0.1, ["archard"], [1.0])
    (row,) = split_table(measured, fits, SplitSettings(creep_constant_sd=0.1)).to_dict("records")
    creep = measured.volume.sum() - true
    # One fit alone: 10 % of its creep volume.
    assert row["sd_mm3"] == pytest.approx(0.1 * creep, rel=0.05)


def test_mass_loss_that_contradicts_the_creep_constant_is_reported() -> None:
    measured, _ = _measured(LifeTrial("archard"))
    fits = fit_lives(measured, _depths, 0.1, ["archard"], [1.0])
    table = split_table(measured, fits, SplitSettings(creep_constant_sd=0.1, mass_loss_mg=0.5))
    checks = [item.check for item in judge_split(table, fit_table(measured, fits), "insert")]
    assert checks == ["retrieval.contradiction"]


def test_lives_that_do_not_fit_are_reported() -> None:
    measured, _ = _measured(LifeTrial("archard", 1.0, np.log(1.5)))
    rough = replace(
        measured, depth=measured.depth + 0.05 * (np.indices((31, 31)).sum(0).ravel() % 2)
    )
    fits = fit_lives(rough, _depths, 0.1, ["archard"], [1.0])
    table = split_table(rough, fits, SplitSettings(mass_loss_mg=9.0))
    checks = [item.check for item in judge_split(table, fit_table(rough, fits), "insert")]
    assert "retrieval.lives" in checks
