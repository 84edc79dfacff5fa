"""A real implant under its own fluoroscopic gait, in full, against a hand calculation."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from kneewear.contact import confined_modulus
from kneewear.io.history import load_history
from kneewear.reference.winkler import cylinder_force, peak_pressure

from .balance import assert_balanced, batches
from .conftest import CHECKOUT, Checkout

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

DATA = Path(os.environ.get("KNEEWEAR_DATA") or CHECKOUT.parent / "shared" / "data")


@pytest.fixture(scope="module")
def real_results(tmp_path_factory):
    """Results of the real implant under its own fluoroscopic gait."""
    if not (DATA / "gc_dm").is_dir():
        pytest.skip(f"no real data in {DATA}; set KNEEWEAR_DATA")
    checkout = Checkout(tmp_path_factory.mktemp("real"), "config/dm_fluoroscopy.yaml")
    checkout.snakemake(overrides={"data_folder": str(DATA.resolve())})
    return checkout.folder / "results" / "dm_fluoroscopy"


def test_every_frame_of_every_case_is_balanced_without_a_spring(real_results):
    history = assert_balanced(real_results, "fluoroscopic_gait", 0.7)
    assert len(history.cases) == 25
    assert (history.spring_force == 0.0).all()


def test_centres_of_pressure_lie_on_the_flat_bearing_in_stance(real_results):
    history = load_history(batches(real_results, "simulation/fluoroscopic_gait"))
    stance = history.load > 0.5 * history.load.max(axis=1, keepdims=True)
    centre = np.abs(history.centre_of_pressure[..., 2])[stance]
    # The bearing is flat across for 19 < |z| < 33 mm.
    assert ((centre > 19.0) & (centre < 33.0)).all()


def test_stance_peaks_are_those_of_a_cylinder_in_a_trough(real_results):
    """Hand calculation: a level cylinder is the least, a wedge over the flat width the most."""
    cases = pd.read_csv(real_results / "tables" / "cases.csv")
    peaks = cases[(cases["quantity"] == "max_pressure") & (cases["side"] == "medial")]
    for row in peaks.itertuples():
        force = 0.7 * 3.0 * row.body_mass_kg * 9.81
        # Femoral radii of 39 mm near extension and 27 mm beyond, in a trough of 57.8 mm, over
        # the 14 mm where both are flat across.
        least = level_cylinder_peak(force, 14.0, 39.0, 57.8, row.thickness_mm)
        most = 2.0 * level_cylinder_peak(force, 14.0, 27.1, 57.8, row.thickness_mm)
        assert least < row.value < most


def level_cylinder_peak(force, width, radius, trough, thickness):
    """Peak pressure of a cylinder that lies level in a trough (elastic foundation)."""
    modulus = confined_modulus(463.0, 0.46)
    relative = 1.0 / (1.0 / radius - 1.0 / trough)
    depth = brentq(
        lambda d: width * cylinder_force(relative, d, modulus, thickness) - force, 1e-6, 2.0
    )
    return peak_pressure(depth, modulus, thickness)
