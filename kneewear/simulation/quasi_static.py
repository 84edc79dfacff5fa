"""Equilibrium frame by frame over one cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.config import SimulationSettings
from kneewear.contact import ContactPair, Layer, Resultant
from kneewear.errors import ConvergenceError
from kneewear.simulation.equilibrium import Equilibrium, Loading, approach, solve_equilibrium
from kneewear.simulation.passage import Passage

Array = NDArray[np.float64]


def solve_quasi_static(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    activity: Activity,
    load: Array,
    settings: SimulationSettings,
    tell: Callable[[], None],
) -> tuple[Passage, tuple[tuple[Resultant, ...], ...]]:
    """Equilibrium at every frame of a cycle.

    Parameters
    ----------
    pairs, layers : sequence
        Medial and lateral contact pair, and the elastic layer of each.
    activity : Activity
        Prescribed motion.
    load : array, shape (n_frames,)
        Axial load, N.
    settings : SimulationSettings
        Load line, medial-lateral freedom and tolerance.
    tell : callable
        Called after every frame.

    Returns
    -------
    passage : Passage
        Poses and loads.
    contacts : tuple of tuple of Resultant
        Contact of each pair at every frame.

    Raises
    ------
    ConvergenceError
        If a frame has no equilibrium; the message names it.

    Notes
    -----
    Flexion, internal-external rotation and anterior-posterior translation are prescribed;
    superior-inferior, varus-valgus and medial-lateral follow from frictionless equilibrium at each
    frame (Bei 2003, section 4.2.1, without inertia). The cycle is entered at the frame of largest
    load, where the equilibrium is best determined, and followed from there.
    """
    n_frames = load.size
    first = int(np.argmax(load))
    frames: dict[int, Equilibrium] = {}
    rest = float(np.mean(activity.translation[:, 2]))
    for step in range(n_frames):
        frame = (first + step) % n_frames
        loading = Loading(
            force=float(load[frame]),
            medial_share=settings.medial_share,
            load_line=settings.fixed_load_line_mm if settings.load_line == "fixed" else None,
            spring=settings.medial_lateral_spring_per_mm,
            spring_rest=rest,
            held=settings.medial_lateral == "held",
        )
        solve = partial(
            solve_equilibrium,
            pairs,
            layers,
            loading=loading,
            tolerance=settings.tolerance,
            frame=frame,
        )
        frames[frame] = _solve_frame(solve, pairs, activity, frames, frame, loading.held)
        tell()
    ordered = [frames[frame] for frame in range(n_frames)]
    return _passage(ordered, load), tuple(frame.sides for frame in ordered)


def _solve_frame(
    solve: Callable[..., Equilibrium],
    pairs: Sequence[ContactPair],
    activity: Activity,
    frames: dict[int, Equilibrium],
    frame: int,
    held: bool,
) -> Equilibrium:
    """Equilibrium of a frame, started from those before it, or from above where that fails."""
    start = activity.translation[frame], activity.rotation[frame]
    if frames:
        try:
            return solve(*_continued(activity, frames, frame, held))
        except ConvergenceError:
            # The frame before may be a poor start, as when the origin lies far off the axis.
            start = _continued(activity, frames, frame, held)
    return solve(*approach(pairs, *start, frame))


def _continued(
    activity: Activity, frames: dict[int, Equilibrium], frame: int, held: bool
) -> tuple[Array, Array]:
    """Start pose of a frame: prescribed coordinates of its own, height and varus carried on."""
    count = activity.load.size
    translation, rotation = activity.translation[frame].copy(), activity.rotation[frame].copy()
    last = frames[(frame - 1) % count]
    before = frames.get((frame - 2) % count, last)
    translation[1] = 2.0 * last.translation[1] - before.translation[1]
    rotation[0] = 2.0 * last.rotation[0] - before.rotation[0]
    if not held:
        translation[2] = last.translation[2]
    return translation, rotation


def _passage(frames: Sequence[Equilibrium], load: Array) -> Passage:
    translation = np.stack([frame.translation for frame in frames])
    load_line = np.array([frame.load_line for frame in frames])
    return Passage(
        translation=translation,
        rotation=np.stack([frame.rotation for frame in frames]),
        applied=axial_wrench(load, load_line, translation),
        inertia=np.zeros((load.size, 6)),
        load_line=load_line,
        spring_force=np.array([frame.spring_force for frame in frames]),
        residual=np.array([frame.residual for frame in frames]),
        evaluations=sum(frame.iterations for frame in frames),
    )


def axial_wrench(load: Array, load_line: Array, translation: Array) -> Array:
    """Axial load as a wrench about the moving origin.

    Parameters
    ----------
    load, load_line : array, shape (n_frames,)
        Load along -y, N, and its medial-lateral place, mm; it hangs at the moving origin's x.
    translation : array, shape (n_frames, 3)
        Position of the moving origin, mm.

    Returns
    -------
    array, shape (n_frames, 6)
        Force, N, and moment, N mm: -F y and (line - z) F about x.
    """
    wrench = np.zeros((load.size, 6))
    wrench[:, 1] = -load
    wrench[:, 3] = (load_line - translation[:, 2]) * load
    return wrench
