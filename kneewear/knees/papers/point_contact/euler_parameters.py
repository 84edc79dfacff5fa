"""Motion of free bodies whose rotations are Euler parameters, which have no singular pose."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from kneewear.errors import ConvergenceError
from kneewear.mechanics.bodies import BodyForces, BodyPoses
from kneewear.mechanics.loads import Load
from kneewear.mechanics.springs import Spring
from kneewear.motion.system import System

Array = NDArray[np.float64]


class EulerMotion(NamedTuple):
    """Places and rotations of the n moving bodies at m times.

    `translation` (m, n, 3), mm; `parameters` (m, n, 4), whose norm is one up to the error of the
    integration; `rotation` (m, n, 3, 3) from them.
    """

    translation: Array
    parameters: Array
    rotation: Array


def rotations_of(parameters: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of Euler parameters (..., 4), which are divided by their norm.

    e = (cos(angle / 2), axis sin(angle / 2)); Machado thesis, Equations 6.1 and 6.3, with the
    factor of two that is missing in print.
    """
    parameters = np.asarray(parameters, dtype=float)
    matrices = Rotation.from_quat(parameters.reshape(-1, 4), scalar_first=True).as_matrix()
    return matrices.reshape(*parameters.shape[:-1], 3, 3)


def parameter_rates(parameters: ArrayLike, spin: ArrayLike) -> Array:
    """Rates (..., 4) of Euler parameters at an angular velocity (..., 3) in fixed axes, rad/s.

    e' = (-v . w, e0 w + w x v) / 2 with e = (e0, v): orthogonal to e, so that its norm stays.
    """
    e, spin = np.asarray(parameters, dtype=float), np.asarray(spin, dtype=float)
    first, vector = e[..., :1], e[..., 1:]
    along = -np.sum(vector * spin, axis=-1, keepdims=True)
    return 0.5 * np.concatenate([along, first * spin + np.cross(spin, vector)], axis=-1)


def integrate_euler_parameters(
    system: System, times: ArrayLike, start: ArrayLike, relative_tolerance: float = 1e-9
) -> EulerMotion:
    """Motion of a system from rest at a start (6 n,), all bodies free.

    Notes
    -----
    States are the place of each centre of mass, the Euler parameters e, velocity and angular
    velocity w along the axes of the ground: e' = E(e)' w / 2, m v' = F and I w' = M - w x I w.
    An explicit Runge-Kutta method of order eight (DOP853); |e| = 1 is kept by the equations and not
    enforced. A second formulation beside the angles of `kneewear.motion.dynamics`, for checks:
    steps are as short as the fastest vibration, and forces that jump or depend on the rate at which
    a contact began are not followed.

    Raises
    ------
    ValueError
        If a body has no inertia or its centre of mass is off its origin, or a spring acts along a
        coordinate.
    ConvergenceError
        If the integration ends early.

    References
    ----------
    Machado thesis, section 6.2.1, Equations 6.1 to 6.8.
    """
    times, count = np.asarray(times, dtype=float), len(system.bodies)
    inertia = []
    for body in system.bodies:
        if body.inertia is None or np.any(body.inertia.centre_of_mass):
            raise ValueError(f"body {body.name}: expected an inertia about the body's origin")
        inertia.append(body.inertia.arrays)
    if any(isinstance(action, Spring) for action in system.actions.values()):
        raise ValueError("springs act along angles, which Euler parameters replace")
    mass = np.array([one.mass for one in inertia])
    about = np.array([one.inertia for one in inertia])

    def rates(time: float, state: Array) -> Array:
        place, velocity, spin = (
            state[part].reshape(count, 3)
            for part in (slice(3 * count), slice(7 * count, 10 * count), slice(10 * count, None))
        )
        e = state[3 * count : 7 * count].reshape(count, 4)
        turn = rotations_of(e)
        poses = BodyPoses(
            np.concatenate([np.eye(3)[None], turn]),
            np.concatenate([np.zeros((1, 3)), place]),
            np.concatenate([np.zeros((1, 6)), np.hstack([velocity, spin])]),
            time,
        )
        wrench = _wrenches(system, poses)
        full = turn @ about @ np.swapaxes(turn, 1, 2)
        turning = wrench[:, 3:] - np.cross(spin, np.einsum("nij,nj->ni", full, spin))
        return np.concatenate(
            [
                velocity.ravel(),
                parameter_rates(e, spin).ravel(),
                (wrench[:, :3] / mass[:, None]).ravel(),
                np.linalg.solve(full, turning[..., None]).ravel(),
            ]
        )

    first = system.poses(start)
    turns = Rotation.from_matrix(first.rotation[1:])
    begin = np.concatenate(
        [
            first.translation[1:].ravel(),
            turns.as_quat(scalar_first=True).ravel(),
            np.zeros(6 * count),
        ]
    )
    found = scipy.integrate.solve_ivp(
        rates,
        (times[0], times[-1]),
        begin,
        "DOP853",
        times,
        rtol=relative_tolerance,
        atol=1e-2 * relative_tolerance,
    )
    if not found.success:
        raise ConvergenceError(
            f"Euler parameters at {found.t[-1]:g} s",
            found.t.size - 1,
            float("nan"),
            "N",
            "Check masses, loads and units; a smaller tolerance may help.",
        )
    place, e = (
        found.y.T[:, part].reshape(times.size, count, -1)
        for part in (slice(3 * count), slice(3 * count, 7 * count))
    )
    return EulerMotion(place, e, rotations_of(e))


def _wrenches(system: System, poses: BodyPoses) -> Array:
    """Force and moment (n, 6) of all actions on each moving body, about its origin."""
    total = BodyForces.zero(len(poses.translation))
    for action in system.actions.values():
        if isinstance(action, Load):
            number = system.names.index(action.body)
            place, turn = poses.translation[number], poses.rotation[number]
            force = action.force(poses.time) if callable(action.force) else action.force
            load = replace(action, force=force)
            total.wrench[6 * number : 6 * number + 6] += load.wrench(place, turn)[0]
        elif not isinstance(action, Spring):
            action.add(poses, total)
    return total.wrench.reshape(-1, 6)[1:]
