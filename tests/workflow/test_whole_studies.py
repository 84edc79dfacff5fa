"""The default study and the real implant, in full, against what they have to show."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from kneewear.contact import confined_modulus
from kneewear.io.grid import load_grid
from kneewear.io.history import load_history
from kneewear.reference.winkler import cylinder_force, peak_pressure

from .conftest import CHECKOUT, Checkout

DEPTHS = ["wear_depth", "creep_depth", "damage_depth"]
PRESSURES = ["max_pressure", "avg_pressure"]
DATA = Path(os.environ.get("KNEEWEAR_DATA", CHECKOUT.parent / "shared" / "data"))


@pytest.fixture(scope="module")
def default_results(tmp_path_factory):
    """Results of the default study."""
    checkout = Checkout(tmp_path_factory.mktemp("default"), "config/config.yaml")
    checkout.snakemake()
    return checkout.folder / "results" / "default"


@pytest.fixture(scope="module")
def real_results(tmp_path_factory):
    """Results of the real implant under its own fluoroscopic gait."""
    if not (DATA / "gc_dm").is_dir():
        pytest.skip(f"no real data in {DATA}; set KNEEWEAR_DATA")
    checkout = Checkout(tmp_path_factory.mktemp("real"), "config/dm_fluoroscopy.yaml")
    checkout.snakemake(overrides={"data_folder": str(DATA.resolve())})
    return checkout.folder / "results" / "dm_fluoroscopy"


def cases_by(results, quantity, side):
    """Value of a quantity over thickness (rows) and body mass (columns)."""
    cases = pd.read_csv(results / "tables" / "cases.csv")
    chosen = cases[(cases["quantity"] == quantity) & (cases["side"] == side)]
    return chosen.pivot(index="thickness_mm", columns="body_mass_kg", values="value").to_numpy()


def batches(results, folder):
    """Batch files of a results folder, in order."""
    return sorted((results / folder).glob("b*.nc"))


@pytest.mark.workflow
@pytest.mark.xdist_group("default")
class TestDefaultStudy:
    def test_comparison_covers_every_published_value(self, default_results):
        comparison = pd.read_csv(default_results / "tables" / "comparison.csv")
        assert len(comparison) == 350
        assert np.isfinite(comparison[["computed", "published", "relative_error"]]).all(axis=None)

    @pytest.mark.parametrize("side", ["medial", "lateral"])
    @pytest.mark.parametrize("quantity", [*DEPTHS, *PRESSURES, "damage_volume"])
    def test_rises_with_mass_and_falls_with_thickness(self, default_results, quantity, side):
        value = cases_by(default_results, quantity, side)
        assert (np.diff(value, axis=1) > 0).all()
        assert (np.diff(value, axis=0) < 0).all()

    @pytest.mark.parametrize("side", ["medial", "lateral"])
    def test_area_rises_with_mass_and_thickness(self, default_results, side):
        value = cases_by(default_results, "damage_area", side)
        assert (np.diff(value, axis=1) > 0).all()
        assert (np.diff(value, axis=0) > 0).all()

    def test_medial_volume_is_about_twice_the_lateral(self, default_results):
        medial, lateral = (
            cases_by(default_results, "damage_volume", side) for side in ("medial", "lateral")
        )
        assert (medial > 1.8 * lateral).all()

    def test_planes_fit_every_quantity(self, default_results):
        regression = pd.read_csv(default_results / "tables" / "regression.csv")
        assert len(regression) == 14
        assert (regression["r2"] >= 0.95).all()


def assert_balanced(results, activity, share):
    """Load balance at every frame of every case, from what was written."""
    history = load_history(batches(results, f"simulation/{activity}"))
    load = history.load[..., None]
    total = history.force.sum(axis=2)
    # On the insert: the load downwards, nothing sideways, each side its share.
    np.testing.assert_allclose(-total[..., 1], history.load, rtol=1e-6)
    assert (np.abs(total[..., 2] - history.spring_force) <= 1e-6 * history.load).all()
    shares = -history.force[..., 1] / load
    np.testing.assert_allclose(shares[..., 0], share, rtol=1e-6)
    np.testing.assert_allclose(shares[..., 1], 1.0 - share, rtol=1e-6)
    # Varus is free: contact and load have no moment about x through the femoral origin.
    torque = history.torque.sum(axis=2)
    about_origin = torque - np.cross(history.translation, total)
    lever = history.load_line - history.translation[..., 2]
    assert (np.abs(about_origin[..., 0] - lever * history.load) <= 1e-6 * history.load).all()
    return history


@pytest.mark.workflow
@pytest.mark.xdist_group("default")
def test_default_study_is_balanced_at_every_frame(default_results):
    assert_balanced(default_results, "gait", 0.7)


@pytest.mark.workflow
@pytest.mark.xdist_group("default")
def test_written_pressures_carry_the_written_force(default_results):
    grid = load_grid(default_results / "geometry" / "grid.nc")
    history = load_history(batches(default_results, "simulation/gait")[:1])
    # Pressures are stored in single precision; they act along the condyle's normal, which leans
    # from the element's by a few degrees at most, so vertical components agree to 1e-3.
    carried = np.nansum(
        history.pressure * (grid.area * grid.normal[..., 1])[None, None], axis=(-2, -1)
    )
    np.testing.assert_allclose(carried, -history.force[..., 1], rtol=2e-3)


@pytest.mark.workflow
@pytest.mark.slow
@pytest.mark.xdist_group("real")
class TestRealImplant:
    def test_every_frame_of_every_case_is_balanced_without_a_spring(self, real_results):
        history = assert_balanced(real_results, "fluoroscopic_gait", 0.7)
        assert len(history.cases) == 25
        assert (history.spring_force == 0.0).all()

    def test_centres_of_pressure_lie_on_the_flat_bearing_in_stance(self, real_results):
        history = load_history(batches(real_results, "simulation/fluoroscopic_gait"))
        stance = history.load > 0.5 * history.load.max(axis=1, keepdims=True)
        centre = np.abs(history.centre_of_pressure[..., 2])[stance]
        # The bearing is flat across for 19 < |z| < 33 mm.
        assert ((centre > 19.0) & (centre < 33.0)).all()

    def test_stance_peaks_are_those_of_a_cylinder_in_a_trough(self, real_results):
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
