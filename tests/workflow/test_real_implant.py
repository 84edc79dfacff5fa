"""A real implant under its own fluoroscopic gait against a hand calculation.

A few of the study's cases at full size; `make study CONFIG=config/dm_fluoroscopy.yaml` runs all.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from kneewear.base.schemas import CONTACT
from kneewear.contact.foundation import confined_modulus
from kneewear.evidence.verification.winkler import LinearLayer, linear_cylinder_force
from kneewear.study import netcdf
from tests.datasets import plain

from .balance import assert_balanced, assert_equilibria_balance, batches
from .conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

DATA = Path(os.environ.get("KNEEWEAR_DATA") or CHECKOUT.parent / "shared" / "data")


@pytest.fixture(scope="module")
def real_study(finished, tmp_path_factory):
    """Checkout with the real implant under its own fluoroscopic gait, and what overrides it."""
    if not (DATA / "gc_dm").is_dir():
        pytest.skip(f"no real data in {DATA}; set KNEEWEAR_DATA")
    folder = tmp_path_factory.mktemp("real")
    checkout = Checkout(folder, "config/dm_fluoroscopy.yaml", origin=finished.folder)
    overrides = {
        "data_folder": str(DATA.resolve()),
        "variables": {"thickness_mm": [6, 8], "body_mass_kg": [50, 150]},
        "cases_per_job": 2,
    }
    checkout.snakemake("results/dm_fluoroscopy/tables/cases.csv", overrides=overrides)
    return checkout, overrides


@pytest.fixture(scope="module")
def real_results(real_study):
    """Results of the real implant under its own fluoroscopic gait."""
    return real_study[0].folder / "results" / "dm_fluoroscopy"


def test_equilibria_balance_at_every_frame(real_study):
    checkout, overrides = real_study
    assert_equilibria_balance(checkout, "fluoroscopic_gait", 0.7, overrides)


def test_every_frame_of_every_case_is_balanced_without_a_spring(real_results):
    history = assert_balanced(real_results, "fluoroscopic_gait", 0.7)
    assert len(history.cases) == 4
    assert (history.spring_force == 0.0).all()


def test_contact_stays_within_the_windows(real_results):
    table = pd.read_csv(real_results / "tables/cases.csv")
    border = table[table["quantity"] == "border_pressure"]
    assert len(border) == 8
    assert (border["value"] == 0.0).all()


def test_centres_of_pressure_lie_on_the_flat_bearing_in_stance(real_results):
    history = plain(netcdf.load(CONTACT, batches(real_results, "simulation/fluoroscopic_gait")))
    stance = history.load > 0.5 * history.load.max(axis=1, keepdims=True)
    centre = np.abs(history.centre_of_pressure[..., 2])[stance]
    # The bearing is flat across for 19 < |z| < 33 mm.
    assert ((centre > 19.0) & (centre < 33.0)).all()


@pytest.mark.parametrize("side", [0, 1])
def test_stance_peaks_lie_between_a_level_cylinder_and_a_wedge(real_results, side):
    """Hand calculation for a cylinder in a trough, level at least and tilted at most.

    Femoral radii are 39 mm near extension and 27 mm beyond, the trough's is 57.8 mm, and both are
    flat across 14 mm (17 mm with the rounded edges). The offset of the femoral axis from the lowest
    line of the trough (4 mm) and the skew of both (up to 0.1 rad) tilt the gap by up to 13 mrad.
    """
    history = plain(netcdf.load(CONTACT, batches(real_results, "simulation/fluoroscopic_gait")))
    stance = history.load > 0.5 * history.load.max(axis=1, keepdims=True)
    for number, case in enumerate(history.cases):
        force = -history.force[number, stance[number], side, 1]
        peak = history.max_pressure[number, stance[number], side]
        for one_force, one_peak in zip(force, peak, strict=True):
            least = level_cylinder_peak(one_force, 17.0, 39.0, 57.8, case.thickness)
            most = wedge_peak(one_force, 0.013, 27.1, 57.8, case.thickness)
            assert least < one_peak < most


def level_cylinder_peak(force, width, radius, trough, thickness):
    """Peak pressure of a cylinder that lies level in a trough (elastic foundation)."""
    layer = LinearLayer(confined_modulus(463.0, 0.46), thickness)
    relative = 1.0 / (1.0 / radius - 1.0 / trough)
    depth = brentq(lambda d: width * linear_cylinder_force(relative, d, layer) - force, 1e-6, 2.0)
    return layer.pressure(depth)


def wedge_peak(force, tilt, radius, trough, thickness):
    """Peak pressure of a cylinder tilted along its axis, deepest at the end of the flat.

    The line's depth falls as D - tilt s, so the force is that of a level cylinder,
    (4/3) (K/h) sqrt(2 R) d^1.5 a length, integrated to (8/15) (K/h) sqrt(2 R) D^2.5 / tilt.
    """
    modulus = confined_modulus(463.0, 0.46)
    relative = 1.0 / (1.0 / radius - 1.0 / trough)
    stiffness = 8.0 / 15.0 * modulus / thickness * np.sqrt(2.0 * relative) / tilt
    return LinearLayer(modulus, thickness).pressure((force / stiffness) ** 0.4)
