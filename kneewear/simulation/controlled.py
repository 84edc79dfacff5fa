"""Quasi-static cycle of a knee whose coordinates are driven one by one, as in a simulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.simulation.static import StaticEquilibrium, solve_static

Array = NDArray[np.float64]


def activity_loads(activity: Activity, weight: float) -> tuple[Load, ...]:
    """Loads of an activity on the femoral component, over its frames.

    Parameters
    ----------
    activity : Activity
        With a load line.
    weight : float
        Body weight, N.

    Returns
    -------
    tuple of Load
        The axial load, down the insert's y at its load line, and the further force and moment,
        along the insert's axes at the femoral origin.

    Raises
    ------
    ValueError
        If the activity has no load line.
    """
    if activity.load_line is None:
        raise ValueError(f"activity '{activity.name}' does not place its axial load")
    down = np.zeros((activity.load.size, 3))
    down[:, 1] = -weight * activity.load
    return (
        Load(force=down, point=(0.0, 0.0, activity.load_line), point_frame="fixed"),
        Load(force=weight * activity.wrench[:, :3], moment=weight * activity.wrench[:, 3:]),
    )


def solve_controlled_cycle(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    weight: float,
    tolerance: float,
) -> list[StaticEquilibrium]:
    """Equilibrium at every frame along the coordinates that the activity does not prescribe.

    Parameters
    ----------
    pairs : sequence of ContactPair
        Contact pairs of the femoral component with the insert.
    layers : sequence of Layer
        Layer of each pair.
    activity : Activity
        Motion, control, load and springs.
    weight : float
        Body weight, N.
    tolerance : float
        Largest residual relative to what acts.

    Returns
    -------
    list of StaticEquilibrium
        One a frame.

    Raises
    ------
    ConvergenceError
        If a frame has no stable equilibrium.

    Notes
    -----
    The cycle is entered at the frame of largest load and followed from there; each frame starts
    from the one before, going on as it went, and from the motion file's own pose where that fails.
    """
    loads = activity_loads(activity, weight)
    free = [COORDINATES.index(name) for name in activity.free]
    count = activity.load.size
    first = int(np.argmax(activity.load))
    found: dict[int, StaticEquilibrium] = {}
    for step in range(count):
        frame = (first + step) % count
        start = activity.coordinates[frame]
        places = [start]
        if step > 0:
            places.insert(
                0, _followed(start, free, [found.get((frame - n) % count) for n in (1, 2)])
            )
        found[frame] = _solve_frame(
            pairs, layers, activity, [load.at(frame) for load in loads], places, tolerance, frame
        )
    return [found[frame] for frame in range(count)]


def _followed(
    start: Array, free: Sequence[int], before: Sequence[StaticEquilibrium | None]
) -> Array:
    """The start with its free coordinates where the frames before lead."""
    last, one_more = (
        None if frame is None else np.concatenate([frame.translation, frame.rotation])
        for frame in before
    )
    place = start.copy()
    if last is not None:
        place[free] = last[free] if one_more is None else 2.0 * last[free] - one_more[free]
    return place


def _solve_frame(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    loads: Sequence[Load],
    places: Sequence[Array],
    tolerance: float,
    frame: int,
) -> StaticEquilibrium:
    """Equilibrium of one frame from the first start that leads to one."""
    for number, place in enumerate(places):
        try:
            return solve_static(
                pairs,
                layers,
                (place[:3], place[3:]),
                activity.free,
                loads=loads,
                springs=activity.springs,
                tolerance=tolerance,
                frame=frame,
            )
        except ConvergenceError:
            if number == len(places) - 1:
                raise
    raise AssertionError("a frame has at least one start")
