"""What drives the moving body over a cycle: prescribed motion, loads and springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.mechanics.loads import Load, Spring
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.controlled import activity_loads
from kneewear.simulation.passage import Passage

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Drive:
    """What moves the body over one periodic cycle, at equally spaced frames.

    Parameters
    ----------
    motion : array, shape (n_frames, 6)
        Coordinates, mm and rad: followed where they are not free, and where the free ones start.
    duration : float
        Duration of the cycle, s.
    free : sequence of str
        Free coordinates, of `COORDINATES`.
    loads : sequence of Load
        Steady loads, or loads over the frames.
    springs : sequence of Spring
        Springs and dampers along coordinates.
    """

    motion: Array
    duration: float
    free: Sequence[str]
    loads: Sequence[Load] = ()
    springs: Sequence[Spring] = ()

    @property
    def n_frames(self) -> int:
        """Frames of the cycle."""
        return len(self.motion)


def recorded_drive(
    activity: Activity, still: Passage, weight: float, settings: SimulationSettings
) -> Drive:
    """Drive of an activity whose load line was recorded frame by frame.

    Parameters
    ----------
    activity : Activity
        Motion, control, load and springs.
    still : Passage
        Quasi-static passage of the same case: it places the axial load and starts the free
        coordinates.
    weight : float
        Body weight, N.
    settings : SimulationSettings
        Medial-lateral freedom and spring, where the activity does not say what is free.

    Returns
    -------
    Drive

    Notes
    -----
    A medial-lateral spring in proportion to the load gets the stiffness of the mean load.
    """
    motion = np.hstack([still.translation, still.rotation])
    if activity.load_line is not None:
        loads = activity_loads(activity, weight)
        return Drive(motion, activity.duration, activity.free, loads, activity.springs)
    load = weight * activity.load
    stiffness = settings.medial_lateral_spring_per_mm * float(np.mean(load))
    spring = Spring("z", stiffness, rest=float(np.mean(activity.translation[:, 2])))
    axial = axial_load(load, still.load_line, motion[:, 0])
    return Drive(motion, activity.duration, still.free, (axial,), (spring,) if stiffness else ())


def axial_load(load: Array, load_line: Array, place: Array) -> Load:
    """Axial load at its line.

    Parameters
    ----------
    load, load_line : array, shape (n_frames,)
        Load along the insert's -y, N, and its medial-lateral place, mm.
    place : array, shape (n_frames,)
        Anterior-posterior place, mm; usually that of the moving origin.

    Returns
    -------
    Load
    """
    none = np.zeros_like(load)
    force = np.stack([none, -load, none], axis=-1)
    return Load(force, point=np.stack([place, none, load_line], axis=-1), point_frame="fixed")


def applied_wrench(loads: Sequence[Load], translation: Array, rotation: Array) -> Array:
    """Loads of every frame about the moving origin.

    Parameters
    ----------
    loads : sequence of Load
        Steady loads, or loads over the frames.
    translation, rotation : array, shape (n_frames, 3)
        Pose: mm, and body-three 1-2-3 angles in rad.

    Returns
    -------
    array, shape (n_frames, 6)
        Force, N, and moment, N mm, in the fixed frame.
    """
    poses = enumerate(zip(translation, body_three_123(rotation), strict=True))
    return np.array(
        [sum((load.at(n).wrench(*pose)[0] for load in loads), np.zeros(6)) for n, pose in poses]
    )
