"""The default study in full: the published trends, and balance at every frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.base.schemas import CONTACT
from kneewear.geometry.element_grid import ElementGrid
from kneewear.study import netcdf
from tests.datasets import plain

from .balance import assert_balanced, assert_equilibria_balance, batches
from .conftest import Checkout
from .pinned_results import CASES, QUANTITIES, chosen_results, pinned_results

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

DEPTHS = ["creep_depth_at_deepest_damage", "damage_depth"]
PRESSURES = ["max_pressure", "avg_pressure"]


@pytest.fixture(scope="module")
def default_checkout(finished, tmp_path_factory):
    """Checkout in which the default study has its tables; the quick study has its figures."""
    folder = tmp_path_factory.mktemp("default")
    checkout = Checkout(folder, "config/defaults.yaml", origin=finished.folder)
    tables = ("cases", "comparison", "regression")
    checkout.snakemake(*(f"results/default/tables/{name}.csv" for name in tables))
    return checkout


@pytest.fixture(scope="module")
def default_results(default_checkout):
    """Results of the default study."""
    return default_checkout.folder / "results" / "default"


def cases_by(results, quantity, side):
    """Value of a quantity over thickness (rows) and body mass (columns)."""
    cases = pd.read_csv(results / "tables" / "cases.csv")
    chosen = cases[(cases["quantity"] == quantity) & (cases["side"] == side)]
    return chosen.pivot(index="thickness_mm", columns="body_mass_kg", values="value").to_numpy()


def test_comparison_covers_every_published_value(default_results):
    comparison = pd.read_csv(default_results / "tables" / "comparison.csv")
    assert len(comparison) == 350
    assert np.isfinite(comparison[["computed", "published", "relative_error"]]).all(axis=None)


@pytest.mark.parametrize("side", ["medial", "lateral"])
@pytest.mark.parametrize("quantity", [*DEPTHS, *PRESSURES, "damage_volume"])
def test_rises_with_mass_and_falls_with_thickness(default_results, quantity, side):
    value = cases_by(default_results, quantity, side)
    assert (np.diff(value, axis=1) > 0).all()
    assert (np.diff(value, axis=0) < 0).all()


@pytest.mark.parametrize("side", ["medial", "lateral"])
def test_wear_depth_rises_with_mass_and_is_smaller_in_the_thickest_insert(default_results, side):
    # Not from each thickness to the next: wider contacts of stance and swing overlap more, which at
    # 150 kg makes the medial wear depth of 14 mm 0.2 % larger than that of 12 mm.
    value = cases_by(default_results, "wear_depth_at_deepest_damage", side)
    assert (np.diff(value, axis=1) > 0).all()
    assert (value[-1] < 0.9 * value[0]).all()


@pytest.mark.parametrize("side", ["medial", "lateral"])
def test_area_rises_with_mass_and_thickness(default_results, side):
    value = cases_by(default_results, "damage_area", side)
    assert (np.diff(value, axis=1) > 0).all()
    assert (np.diff(value, axis=0) > 0).all()


def test_medial_volume_is_about_twice_the_lateral(default_results):
    medial, lateral = (
        cases_by(default_results, "damage_volume", side) for side in ("medial", "lateral")
    )
    assert (medial > 1.8 * lateral).all()


def test_planes_fit_every_quantity(default_results):
    regression = pd.read_csv(default_results / "tables" / "regression.csv")
    assert len(regression) == 16
    assert (regression["r2"] >= 0.95).all()


def test_results_are_the_pinned_ones(default_results):
    pinned, found = pinned_results(), chosen_results(default_results)
    # Of both sides.
    assert len(pinned) == len(CASES) * 2 * len(QUANTITIES)
    assert list(pinned.index) == list(found.index)
    error = (found["value"] / pinned["value"] - 1.0).abs()
    assert not error[error > pinned["relative_tolerance"]].to_dict()


def test_default_study_is_balanced_at_every_frame(default_results):
    assert_balanced(default_results, "gait", 0.7)


def test_equilibria_of_the_default_study_balance_at_every_frame(default_checkout):
    assert_equilibria_balance(default_checkout, "gait", 0.7, {})


def test_written_pressures_carry_the_written_force(default_results):
    grid = netcdf.load(ElementGrid, default_results / "geometry" / "knee.nc", "grid")
    history = plain(netcdf.load(CONTACT, batches(default_results, "simulation/gait")[:1]))
    # Pressures are stored in single precision; they act along the condyle's normal, which leans
    # from the element's by a few degrees at most, so vertical components agree to 1e-3.
    carried = np.nansum(
        history.pressure * (grid.area * grid.normal[..., 1])[None, None], axis=(-2, -1)
    )
    np.testing.assert_allclose(carried, -history.force[..., 1], rtol=2e-3)
