"""Forward dynamics of the moving body over one or more cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import fit_periodic
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.rotations import turn_axes
from kneewear.motion._kernels import carried_parts
from kneewear.motion.component import CONTACT, component_system, free_coordinates
from kneewear.motion.cycle import CycleBoundaryConditions, CycleSolution
from kneewear.motion.dynamics import REMEDY, ModalDamping, Stepping, integrate_system
from kneewear.motion.quasi_static import medial_lateral_force

Array = NDArray[np.float64]

# A pair that carries less than this fraction of the load has lost contact.
LOST = 1e-3
# Formulas of order four and five are unstable for vibration damped by less than 0.29 and 0.62 of
# critical, where their steps collapse until it is resolved; order three is stable from 0.07 on.
HIGHEST_ORDER = 3


@dataclass(frozen=True)
class Integrator:
    """Accuracy and damping of forward dynamics.

    `relative_tolerance` is the largest local error relative to 0.1 mm of penetration and its rates,
    `damping_ratio` the damping of each mode at the frame of the largest load relative to critical
    damping, `cycles` the number of cycles simulated, of which the last is returned, and
    `damping_load_exponent` the power of the load over this frame's load by which dampers change.
    """

    relative_tolerance: float = 1e-4
    damping_ratio: float = 0.0
    cycles: int = 1
    damping_load_exponent: float = 0.0


@dataclass(frozen=True)
class Trajectory:
    """Motion over the last cycle, at `time` since its start, s, shape (n,).

    `coordinates`, `rates` and `accelerations` (n, 6) are in mm, rad and s; `reaction` (n, 6) are
    the forces that keep prescribed coordinates prescribed, N and N mm, zero along free ones;
    `inertia` (n, 6) the forces along the coordinates that accelerate the body; `contact` (n,
    n_pairs, 6) the wrench of each pair on the moving body about its origin. `gap` (6,) is the end
    of the cycle minus its start, `lost` the time since the start of the simulation, s, and number
    of each pair that lost contact, `evaluations` the number of right-hand sides over all cycles.
    """

    time: Array
    coordinates: Array
    rates: Array
    accelerations: Array
    reaction: Array
    inertia: Array
    contact: Array
    gap: Array
    lost: tuple[tuple[float, int], ...]
    evaluations: int


def solve_forward(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    body: RigidBody,
    conditions: CycleBoundaryConditions,
    integrator: Integrator,
    *,
    samples: int | None = None,
    case: str = "",
) -> Trajectory:
    """Integrate M q'' + b(q, q') = Q(q, q', t) + R under prescribed motion and loads.

    Bei (2003), section 2.2.4. The boundary conditions are interpolated by periodic cubic splines;
    the simulation starts at frame 0 with the rates of the motion. The step never exceeds a frame
    because a solver that starts in equilibrium could step over the whole cycle. Returned are
    `samples` equally spaced times, the frames by default. ConvergenceError, with `case` and frame,
    if all pairs lose contact, elements are too deep inside the moving body or the step collapses;
    its residual is the unbalanced force.
    """
    system = component_system(pairs, layers, conditions.loads, conditions.springs, body)
    frames, duration = conditions.n_frames, conditions.duration
    loads = [load.time_history(frames) for load in conditions.loads]
    motion = fit_periodic(np.concatenate([conditions.motion, *loads], axis=1), duration)
    start, rates, _ = (part[:6] for part in motion(0.0))
    size = sum((np.linalg.norm(load[:, :3], axis=1) for load in loads), np.zeros(frames))
    count = samples or frames
    first = (integrator.cycles - 1) * duration
    output = first + duration * np.arange(count + 1) / count
    what = f"Forward dynamics{f' of case {case}' if case else ''}"

    def margins(
        time: float, place: Array, speed: Array, parts: Callable[[], Any], values: Array
    ) -> None:
        parts()
        carried_parts(system.record, LOST, values)

    moved = integrate_system(
        system,
        np.concatenate([[0.0], output]) if first > 0.0 else output,
        start,
        free_coordinates(conditions.free),
        rates=rates,
        motion=motion,
        margins=margins,
        # Losing all contact ends the simulation, losing one pair does not.
        stops=(True,) + (False,) * len(pairs) if pairs else (),
        damping=ModalDamping(
            integrator.damping_ratio,
            duration * int(np.argmax(size)) / frames,
            integrator.damping_load_exponent,
        ),
        with_work=False,
        stepping=Stepping(integrator.relative_tolerance, duration / frames, HIGHEST_ORDER),
        what=what,
    )
    if moved.stop is not None:
        frame = int(moved.stop[0] / duration * frames) % frames
        load = float(np.linalg.norm(system.arrays.applied.sum(axis=0)[:3]))
        raise ConvergenceError(f"{what} (contact was lost)", frame, load, "N", REMEDY)
    last = slice(-count - 1, -1)
    contact = [one[CONTACT]["wrench"] for one in moved.parts[last] if CONTACT in one]
    return Trajectory(
        time=output[:-1] - first,
        coordinates=moved.coordinates[last],
        rates=moved.rates[last],
        accelerations=moved.accelerations[last],
        reaction=moved.reaction[last],
        inertia=moved.inertia[last],
        contact=np.array(contact or np.empty((count, 0, 6))),
        gap=moved.coordinates[-1] - moved.coordinates[-count - 1],
        lost=tuple((time, number - 1) for time, number in moved.events if number > 0),
        evaluations=moved.evaluations,
    )


def forward_solution(moved: Trajectory, equilibria: CycleSolution) -> CycleSolution:
    """Solution of a forward simulation that started from the equilibria of a cycle."""
    conditions = equilibria.conditions
    inertia = moved.inertia.copy()
    projection = turn_axes(moved.coordinates[:, 3:]).swapaxes(1, 2)
    inertia[:, 3:] = np.linalg.solve(projection, inertia[:, 3:, None])[..., 0]
    return replace(
        equilibria,
        coordinates=moved.coordinates,
        contact=moved.contact.sum(axis=1),
        inertia=inertia,
        spring_force=medial_lateral_force(conditions.springs, moved.coordinates),
        residual=np.zeros(conditions.n_frames),
        evaluations=equilibria.evaluations + moved.evaluations,
    )
