"""Designs on the bench: variants of the built-in bearing."""

from __future__ import annotations

import pytest

from kneewear.geometry.implant_sources import build_implant
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.designs.bench import Bench, coulomb
from tests.workflow.conftest import CHECKOUT

DEFAULT = read_settings(CHECKOUT / "config/config.yaml")


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


@pytest.fixture(scope="session")
def bench():
    """Bench of the built-in bearing with other radii, modulus and friction."""

    def make(shape, modulus=None, friction=0.0):
        own = DEFAULT["simulation"]["youngs_modulus_mpa"]
        changes = {
            "implant": {"parametric": shape},
            "simulation": {"youngs_modulus_mpa": modulus or own},
        }
        study = load_study(merge_settings(DEFAULT, changes))
        implant, _ = build_implant(study.implant)
        return Bench(implant, study.grid, study.table, study.simulation, coulomb(friction))

    return make
