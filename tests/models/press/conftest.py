"""Studies of model press, computed in this process."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import pytest
import xarray as xr

from kneewear.motion.press import Rig
from kneewear.study.inputs import CaseInputs, exact_knee
from kneewear.study.models import MODELS
from kneewear.study.plans import plan_cases
from kneewear.study.run import run_cases
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.workflow.conftest import CHECKOUT

DEFAULT = read_settings(CHECKOUT / "config/defaults.yaml")


def both(value):
    """A value of both sides."""
    return {"medial": value, "lateral": value}


# Spherical condyles in spherical dishes.
SPHERES = {
    "femoral_sagittal_radius_mm": 25.0,
    "femoral_coronal_radius_mm": both(25.0),
    "plateau_sagittal_radius_mm": 50.0,
    "plateau_coronal_radius_mm": both(50.0),
}
SETTLING = ("superior_inferior", "varus_valgus", "anterior_posterior", "medial_lateral")


class Computed(NamedTuple):
    """Results of all cases of a study, and their datasets as one."""

    results: pd.DataFrame
    data: xr.Dataset


def compute(study, reader=None):
    """All cases of a study; none may fail."""
    meshes = reader.shapes(study) if reader else None
    inputs = CaseInputs(study, exact_knee(study, meshes), {}, exact=True, reader=reader)
    kept = MODELS["press"].collect(study, inputs)
    results = run_cases(study, plan_cases(study), inputs, kept.add)
    assert not results["failure"].any(), results["failure"].tolist()
    return Computed(results, kept.total)


def press_study(shape, modulus=None, variables=None, analyses=None, **press):
    """Study of the built-in bearing with other radii; lists of values become variables."""
    levels = {
        name: {"settings": [f"press.{name}"], "values": list(value)}
        for name, value in press.items()
        if isinstance(value, list)
    }
    fixed = {name: value for name, value in press.items() if not isinstance(value, list)}
    own = DEFAULT["simulation"]["youngs_modulus_mpa"]
    changes = {
        "model": "press",
        "implant": {"parametric": shape},
        "simulation": {"youngs_modulus_mpa": modulus or own},
        "press": {"free": list(SETTLING), "centring_per_mm": 1e-4, "load_n": 710.0} | fixed,
        "variables": (variables or {}) | levels,
        "analyses": analyses or {},
    }
    return validate_study(merge_settings(DEFAULT, changes))


@pytest.fixture(scope="session")
def rig():
    """Rig of the built-in bearing with other radii."""

    def make(shape, **changes):
        study = press_study(shape, **changes)
        return Rig(exact_knee(study).implant, study)

    return make
