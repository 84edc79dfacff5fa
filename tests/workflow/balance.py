"""Load balance of written results."""

from __future__ import annotations

import numpy as np

from kneewear.io.history import load_history


def batches(results, folder):
    """Batch files of a results folder, in order."""
    return sorted((results / folder).glob("b*.nc"))


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
