"""Variables: values, what they change, and faults by their place."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from kneewear.base.variables import Variable
from kneewear.study.settings import apply_case, validate_study
from tests.study.studies import coarse_study, shipped

MASS = {"settings": ["patient.body_mass_kg"]}


def test_values_reach_their_settings():
    study = validate_study(shipped("sweep.yaml"))
    values = {"femoral_coronal_radius": 260.0, "coronal_ratio": 1.2, "body_mass": 61.0}
    changed = apply_case(study, study.case(values))
    shape = changed.implant.parametric
    assert shape.femoral_coronal_radius_mm.lateral == 260.0
    assert shape.plateau_coronal_radius_mm.medial == pytest.approx(1.2 * 260.0)
    assert changed.patient.body_mass_kg == 61.0
    assert shape.femoral_half_width_mm == study.implant.parametric.femoral_half_width_mm


def test_later_variables_act_on_what_earlier_ones_left():
    variables = {
        "mass": {**MASS, "values": [60, 80]},
        "obesity": {**MASS, "change": "multiply", "values": [1.0, 1.5]},
    }
    masses = [case.body_mass for case in coarse_study(variables).case_list()]
    assert masses == [60.0, 90.0, 80.0, 120.0]


def test_blocks_are_merged_before_numbers_change_them():
    variables = {
        "radius": {
            "settings": ["implant.parametric.femoral_sagittal_radius_mm"],
            "change": "multiply",
            "values": [2.0],
        },
        "design": {
            "settings": ["implant"],
            "blocks": {"small": {"parametric": {"femoral_sagittal_radius_mm": 20.0}}},
        },
    }
    study = coarse_study(variables)
    changed = apply_case(study, study.case({"radius": 1.2, "design": "small"}))
    assert changed.implant.parametric.femoral_sagittal_radius_mm == pytest.approx(24.0)


def test_quantiles_are_those_of_the_distributions():
    part = np.linspace(0.0, 1.0, 2001)
    uniform = Variable(settings=("a",), uniform=(-1.0, 3.0))
    np.testing.assert_allclose(uniform.quantiles(part), -1.0 + 4.0 * part)
    normal = Variable(settings=("a",), normal={"mean": 2.0, "standard_deviation": 0.5})
    cut = stats.truncnorm(-3.0, 3.0, loc=2.0, scale=0.5)
    np.testing.assert_allclose(normal.quantiles(part), cut.ppf(part), atol=1e-12)
    assert normal.standard_deviation == pytest.approx(cut.std())
    assert uniform.standard_deviation == pytest.approx(stats.uniform(-1, 4).std())
    words = Variable(settings=("a",), values=("x", "y"))
    assert list(words.quantiles([0.0, 0.49, 0.5, 1.0])) == ["x", "x", "y", "y"]
