"""Load balance of written results."""

from __future__ import annotations

import shutil

import numpy as np
import yaml

from kneewear.base.schemas import CONTACT
from kneewear.study import netcdf
from tests.datasets import plain


def batches(results, folder):
    """Batch files of a results folder, in order."""
    return sorted((results / folder).glob("b*.nc"))


def assert_balanced(results, activity, share):
    """Load balance at every frame of every case, from what was written.

    Forward dynamics balances the coarse grid: the fine one, and what moves the component, may take
    some of the load. Equilibria balance to the last digit (`assert_equilibria_balance`).
    """
    history = plain(netcdf.load(CONTACT, batches(results, f"simulation/{activity}")))
    assert not history.failures
    if history.analysis == "quasi_static":
        _assert_equilibrium(history, share)
        return history
    stance = history.load > 0.4 * history.load.max(axis=1, keepdims=True)
    assert history.residual[stance].max() < 0.02
    carried = -history.force[..., 1]
    assert np.abs(carried[..., 0] / history.load - share)[stance].max() < 0.02
    # The adduction torque mirrors the load.
    torque = history.torque.sum(axis=2)[..., 0]
    for case in range(len(history.cases)):
        assert np.corrcoef(torque[case], history.load[case])[0, 1] > 0.99
    return history


def assert_equilibria_balance(checkout, activity, share, overrides):
    """Load balance of one case of a study, simulated as a sequence of equilibria."""
    one_case = overrides | {
        "study": "equilibria",
        "variables": {"thickness_mm": [10], "body_mass_kg": [100]},
        "simulation": {"analysis": "quasi_static"},
    }
    results = checkout.folder / "results"
    finished = yaml.safe_load((checkout.folder / checkout.study).read_text())["study"]
    # Geometry and motion do not depend on the analysis.
    for part in ("geometry", "activity"):
        shutil.copytree(results / finished / part, results / "equilibria" / part)
    history = f"results/equilibria/simulation/{activity}/b000.nc"
    checkout.snakemake(history, overrides=one_case)
    _assert_equilibrium(plain(netcdf.load(CONTACT, checkout.folder / history)), share)


def _assert_equilibrium(history, share):
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
