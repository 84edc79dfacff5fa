"""A ball that bounces on a plane, by closed form and by lookup tables with storage windows.

References
----------
Machado thesis, sections 6.2, 6.3 and 6.5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import computed_rows, judge_number, published_rows
from kneewear.geometry.table import SurfaceTable
from kneewear.knees.contact.point import ImpactLaw, PointContact, Shapes, SphereOnPlane
from kneewear.knees.impacts import ImpactMotion, integrate_impacts
from kneewear.knees.papers.bouncing_ball.settings import BouncingBallSettings, WindowSettings
from kneewear.knees.papers.point_contact.table_window import StorageWindow
from kneewear.knees.papers.point_contact.tabulated import (
    TabulatedPair,
    plane_table,
    sphere_table,
    window_on,
)
from kneewear.knees.result import MultibodyResult, curves
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.motion.actions import Contact
from kneewear.motion.system import Body, System

Array = NDArray[np.float64]

# Output times within an impact.
WITHIN = 41
FREE = ("ball",)
SPHERE = "sphere on a plane"
# Places of the impacts of Figure 6.13 along u, in blocks; chosen within the blocks that it shows.
NINE_IMPACTS = (3.5, 3.6, 3.8, 4.0, 4.2, 4.4, 4.6, 4.9, 5.3)


class Bounces(NamedTuple):
    """A motion of the ball, its processor time, s, and windows (ground, ball) of tables."""

    solution: ImpactMotion
    seconds: float
    windows: tuple[StorageWindow, StorageWindow] | None = None

    def contact(self, quantity: str) -> Array:
        """Overlap `depth`, mm, or `force`, N, at all times."""
        return np.array([getattr(part["contact"], quantity) for part in self.solution.motion.parts])

    @property
    def path(self) -> Array:
        """Place of the ball's centre, mm, (n_times, 3)."""
        return self.solution.motion.coordinates[:, :3]


def solve(parts: None, settings: BouncingBallSettings) -> MultibodyResult:
    """Motions by closed form, by tables of every fineness, and with every window."""
    first = bounce(settings, np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s))
    times = impact_times(settings, first)
    exact = bounce(settings, times)
    whole = WindowSettings(ball=(settings.ball_blocks,) * 2, ground=(settings.ground.samples,) * 2)
    tables = {
        f"{samples**2} points": bounce(settings, times, samples, whole)
        for samples in settings.samples
    }
    usual = next(iter(tables.values()))
    windows = [bounce(settings, times, settings.samples[0], window) for window in settings.windows]
    return MultibodyResult(
        kinematics=pd.concat(_kinematics(exact, usual, tables, windows[-1]), ignore_index=True),
        forces=pd.concat(
            [
                curves(
                    "6.16b force",
                    "indentation (mm)",
                    run.contact("depth")[touching],
                    "N",
                    {name: run.contact("force")[touching]},
                )
                for name, run in {SPHERE: exact, "lookup tables": usual}.items()
                for touching in [run.contact("depth") > 0.0]
            ],
            ignore_index=True,
        ),
        literature=_compare(exact, tables, windows),
    )


def bounce(
    settings: BouncingBallSettings,
    times: Array,
    samples: int | None = None,
    window: WindowSettings | None = None,
) -> Bounces:
    """Motion at some times; by tables of the ball with some samples if they are given."""
    ball, ground = settings.ball, settings.ground
    law = ImpactLaw(settings.stiffness_n_per_mm1_5)
    windows = None
    if samples is None or window is None:
        shapes: Shapes = SphereOnPlane((0.0,) * 3, ball.radius_mm, (0.0,) * 3, (0.0, 0.0, 1.0))
        contact = Contact("ball", "ground", PointContact(shapes, law), has_rate=True)
    else:
        plane, sphere = tabulate(settings, samples)
        windows = (
            window_on(plane, ground.block, window.ground),
            window_on(sphere, -(-samples // settings.ball_blocks), window.ball),
        )
        shapes = TabulatedPair(plane, sphere, windows)
        contact = Contact("ground", "ball", PointContact(shapes, law), has_rate=True)
    mass = 1e-3 * ball.mass_kg
    body = RigidBody(mass, 1e3 * ball.inertia_kg_m2 * np.eye(3), np.zeros(3))
    weight = Load((0.0, 0.0, -mass * settings.gravity_mm_per_s2), body="ball")
    system = System("ground", (Body("ball", inertia=body),), {"contact": contact, "weight": weight})
    start = np.array([0.0, 0.0, ball.radius_mm + ball.gap_mm, 0.0, 0.0, 0.0])
    rates = np.array([0.0, ball.speed_mm_per_s, 0.0, 0.0, 0.0, 0.0])
    began = process_time()
    solution = integrate_impacts(
        system, times, start, FREE, rates=rates, relative_tolerance=1e-9, case="of the ball"
    )
    return Bounces(solution, process_time() - began, windows)


def tabulate(settings: BouncingBallSettings, samples: int) -> tuple[SurfaceTable, SurfaceTable]:
    """Tables of the ground and of the ball."""
    ground = settings.ground
    before = 0.1 * ground.length_mm
    low = -0.5 * ground.width_mm, -before
    high = 0.5 * ground.width_mm, ground.length_mm - before
    return (
        plane_table(low, high, ground.samples),
        sphere_table(settings.ball.radius_mm, samples),
    )


def impact_times(settings: BouncingBallSettings, run: Bounces) -> Array:
    """Even times, and more of them within each impact of a motion."""
    even = np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s)
    within = [
        # Not at its ends, where motions by tables may differ by rounding.
        np.linspace(contact.begin, contact.end, WITHIN + 2)[1:-1]
        for contact in run.solution.contacts
        if np.isfinite(contact.end)
    ]
    return np.unique(np.concatenate([even, *within]))


def _kinematics(
    exact: Bounces, usual: Bounces, tables: Mapping[str, Bounces], windowed: Bounces
) -> Iterator[pd.DataFrame]:
    approaches = {SPHERE: exact, "lookup tables": usual}
    for name, run in approaches.items():
        yield curves("6.16a ball, z over y", "y (mm)", run.path[:, 1], "mm", {name: run.path[:, 2]})
    for panels, runs in ((("6.16c", "6.16d"), approaches), (("6.18a", "6.18b"), tables)):
        for panel, first in zip(panels, (False, True), strict=True):
            for name, run in runs.items():
                yield _over_time(panel, name, run, first)
    yield from window_of_nine_impacts()
    if windowed.windows is None:
        return
    touching = windowed.contact("depth") > 0.0
    points = np.array([part["contact"].point for part in windowed.solution.motion.parts])[touching]
    panel, over = "6.19 windows of the ground, x over y", "y (mm)"
    yield curves(panel, over, points[:, 1], "mm", {"contacts": points[:, 0]})
    yield from _window_outlines(panel, over, windowed.windows[0], (1, 0))


def window_of_nine_impacts() -> Iterator[pd.DataFrame]:
    """Figure 6.13: eight impacts in the inner blocks of a window, and one beside them.

    A square of 81 by 81 samples in blocks of 9, of which 5 by 5 are in memory.
    """
    block = 9 / 80
    window = window_on(plane_table((0.0, 0.0), (1.0, 1.0), 81), 9, (5, 5))
    impacts = block * np.array([(place, 4.0) for place in NINE_IMPACTS])
    for impact in impacts:
        window.look_up(*impact)
    panel, over = "6.13 impacts and windows, v over u", "u (mm)"
    yield curves(panel, over, impacts[:, 0], "mm", {"impacts": impacts[:, 1]})
    yield from _window_outlines(panel, over, window, (0, 1))


def _window_outlines(
    panel: str, over: str, window: StorageWindow, axes: tuple[int, int]
) -> Iterator[pd.DataFrame]:
    """Outline of every place of a window, along two of its parameters."""
    for number, (low, high) in enumerate(window.extents, start=1):
        across, up = (np.array([low[axis], high[axis]]) for axis in axes)
        yield curves(
            panel, over, across[[0, 1, 1, 0, 0]], "mm", {f"window {number}": up[[0, 0, 1, 1, 0]]}
        )


def _over_time(panel: str, name: str, run: Bounces, first: bool) -> pd.DataFrame:
    """Indentation over time, zero while apart, of all impacts or the first one."""
    time = run.solution.motion.time
    one = run.solution.contacts[0]
    shown = (time >= one.begin) & (time <= one.end) if first else np.ones(time.size, bool)
    what = f"{panel} indentation{', first impact' if first else ''}"
    values = np.maximum(run.contact("depth"), 0.0)
    return curves(what, "time (s)", time[shown], "mm", {name: values[shown]})


def _compare(exact: Bounces, tables: Mapping[str, Bounces], windows: list[Bounces]) -> pd.DataFrame:
    first = next(iter(tables.values()))
    deepest = [_deepest(exact, contact.begin, contact.end) for contact in exact.solution.contacts]
    moved = [tuple(window.updates for window in run.windows) for run in windows if run.windows]
    cases = {f"window {number}": count for number, count in enumerate(moved, start=1)}
    names, last = list(cases), list(cases)[-1]
    values: dict[str, float | dict[str, float]] = {
        "number of impacts": float(len(exact.solution.contacts)),
        "largest over smallest indentation of the impacts": max(deepest) / min(deepest),
        "difference of the ball's path from that of a sphere on a plane": {
            name: float(np.abs(run.path - exact.path).max()) for name, run in tables.items()
        },
        "difference of the indentation from that of the first table": {
            name: _gap(run, first) for name, run in tables.items()
        },
        "difference of the ball's path from that without a window": {
            name: float(np.abs(run.path - first.path).max())
            for name, run in zip(names, windows, strict=True)
        },
        "updates of the ball's window": {name: float(cases[name][1]) for name in names},
        "updates of the ground's window": {name: float(cases[name][0]) for name in names[:-1]},
        "updates of the ground's smallest window": {last: float(cases[last][0])},
        **{
            f"processor time with window {number} over that with window 1": (
                one.seconds / windows[0].seconds
            )
            for number, one in enumerate(windows[1:], start=2)
        },
        "energy error over the largest kinetic energy": max(
            run.solution.motion.energy_error for run in (exact, *tables.values(), *windows)
        ),
    }
    return judge_number(published_rows(__package__), computed_rows(values))


def _deepest(run: Bounces, begin: float, end: float) -> float:
    time = run.solution.motion.time
    return float(run.contact("depth")[(time >= begin) & (time <= end)].max())


def _gap(run: Bounces, other: Bounces) -> float:
    depths = (np.maximum(one.contact("depth"), 0.0) for one in (run, other))
    return float(np.abs(np.subtract(*depths)).max())
