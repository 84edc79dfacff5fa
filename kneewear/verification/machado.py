"""Common-normal search, impact laws and storage window against analytical results.

References
----------
Machado thesis, sections 5.1 and 6.2, Table 5.4 and Fig. 6.13.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.primitives import plate, sphere
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference import impact as exact_impact
from kneewear.reference.impact import (
    conformal_indentation,
    convex_indentation,
    plane_indentation,
)
from kneewear.verification.common_normal import (
    find_common_normal,
    frame_patch,
    guess_common_normal,
)
from kneewear.verification.comparison import Comparison
from kneewear.verification.impact import FACTORS, hysteresis_factor, impact_force
from kneewear.verification.table_window import BlockLayout, StorageWindow

Array = NDArray[np.float64]

# Radii of the ball, of the other sphere and of the cup, and indentation, mm (Table 5.3).
BALL, OTHER, CUP, INDENTATION = 26.4, 36.02, 75.0, 0.05
# Coefficient of restitution of cartilage.
RESTITUTION = 0.616
# Reduced mass, t, speed, mm/s, and stiffness, N/mm^1.5; the restitution does not depend on them.
MASS, SPEED, STIFFNESS = 0.002, 300.0, 100.0
# Impacts of a ball that bounces along u, in blocks: the ninth is in a border block of the window.
IMPACTS = (3.5, 3.6, 3.8, 4.0, 4.2, 4.4, 4.6, 4.9, 5.3, 5.6, 6.2, 6.8)


def compare_common_normals(seed: int, poses: int = 20) -> Iterator[Comparison]:
    """Indentation of a ball in a sphere, a cup and a plane at random poses."""
    random = np.random.default_rng(seed)
    ball = sphere(BALL)
    upside_down = np.diag([-1.0, -1.0, 1.0])
    pairs = {
        "sphere": sphere(OTHER).transformed(upside_down, np.zeros(3)),
        "cup": sphere(CUP).reversed_normal(),
        "plane": plate((-60.0, 60.0), (-60.0, 60.0)),
    }
    for name, fixed in pairs.items():
        errors = []
        samples = tabulate_surface(fixed, 25, 25), tabulate_surface(ball, 25, 25)
        frames = frame_patch(fixed), frame_patch(ball)
        for _ in range(poses):
            angles, tilt = random.uniform(-0.3, 0.3, 3), random.uniform(-0.3, 0.3, 2)
            up = np.array([tilt[0], 1.0, tilt[1]]) / math.hypot(1.0, *tilt)
            if name == "sphere":
                centre = (BALL + OTHER - INDENTATION) * up
                expected = convex_indentation(float(np.linalg.norm(centre)), BALL, OTHER)
            elif name == "cup":
                centre = -(CUP - BALL + INDENTATION) * up
                expected = conformal_indentation(float(np.linalg.norm(centre)), BALL, CUP)
            else:
                centre = np.array([40.0 * tilt[0], BALL - INDENTATION, 40.0 * tilt[1]])
                expected = plane_indentation(float(centre[1]), BALL)
            pose = body_three_123(angles), centre
            found = find_common_normal(*frames, *pose, guess_common_normal(*samples, *pose))
            errors.append(-found.gap / expected - 1.0)
        subject = f"common normal, ball on {name}"
        source = "spheres in contact"
        yield Comparison(subject, "indentation", "mm", INDENTATION, np.array(errors), source)


class FreeImpact(NamedTuple):
    """Free impact from first contact to separation."""

    duration: float  # s
    restitution: float
    largest_indentation: float  # mm
    loss: float  # work of the force over the indentation, N mm
    indentation: Array  # at the time steps, mm
    force: Array  # N


def simulate_impact(
    factor: float,
    mass: float = MASS,
    speed: float = SPEED,
    stiffness: float = STIFFNESS,
    exponent: float = 1.5,
) -> FreeImpact:
    """Impact of two bodies without other forces, integrated in time; see `impact_force`."""
    from scipy.integrate import solve_ivp  # noqa: PLC0415 - see kneewear.geometry.surface

    # In units of the largest elastic indentation, the speed and the energy.
    depth = exact_impact.largest_indentation(mass, speed, stiffness, exponent=exponent)

    def force(d: Array, rate: Array) -> Array:
        return impact_force(depth * d, speed * rate, speed, stiffness, factor, exponent)

    def rates(_: float, state: Array) -> list[float]:
        push = float(force(state[0], state[1])) * depth / (mass * speed**2)
        return [state[1], -push, push * state[1]]

    def separation(_: float, state: Array) -> float:
        return float(state[0])

    def reversal(_: float, state: Array) -> float:
        return float(state[1])

    separation.terminal, separation.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        rates,
        (0.0, 20.0),
        [0.0, 1.0, 0.0],
        method="DOP853",
        rtol=1e-10,
        atol=1e-13,
        events=(separation, reversal),
        max_step=0.05,
    )
    return FreeImpact(
        run.t[-1] * depth / speed,
        -run.y[1, -1],
        depth * run.y_events[1][0][0],
        run.y[2, -1] * mass * speed**2,
        depth * run.y[0],
        force(run.y[0], run.y[1]),
    )


def compare_impacts() -> Iterator[Comparison]:
    """Restitution and largest indentation of a free impact by each law of Table 5.4."""
    for law in FACTORS:
        factor = hysteresis_factor(law, RESTITUTION)
        found = simulate_impact(factor)
        restitution = exact_impact.delivered_restitution(factor)
        depth = exact_impact.largest_indentation(MASS, SPEED, STIFFNESS, factor)
        for quantity, unit, computed, expected in (
            ("restitution", "1", found.restitution, restitution),
            ("largest indentation", "mm", found.largest_indentation, depth),
        ):
            errors = np.array([computed / expected - 1.0])
            subject = f"impact, {law.replace('_', ' ')}"
            yield Comparison(subject, quantity, unit, expected, errors, "phase plane")


def compare_storage_window() -> Iterator[Comparison]:
    """Updates of the storage window by the impacts of Fig. 6.13, and the values it interpolates."""
    block = 9
    table = tabulate_surface(sphere(6.0), block * block, block * block)
    rows = table.rows()
    step = (rows[-1, -1, :2] - rows[0, 0, :2]) / (block * block - 1)
    first, steps = (float(rows[0, 0, 0]), float(rows[0, 0, 1])), (float(step[0]), float(step[1]))
    layout = BlockLayout((block * block, block * block), (block, block), first, steps)
    window = StorageWindow(layout, lambda a, b, c, d: rows[a:b, c:d], (5, 5))
    errors = []
    for position in IMPACTS:
        u, v = rows[0, 0, :2] + step * block * np.array([position, 4.0])
        points = [source.interpolate(u, v)[..., 2:5] for source in (window, table)]
        errors.append(float(np.linalg.norm(points[0]) / np.linalg.norm(points[1])) - 1.0)
    subject, distance = "storage window, 5 x 5 of 9 x 9 blocks", float(np.linalg.norm(points[1]))
    yield Comparison(subject, "updates", "1", 1.0, np.array([window.updates - 1.0]), "Fig. 6.13")
    yield Comparison(subject, "distance", "mm", distance, np.array(errors), "whole table")
