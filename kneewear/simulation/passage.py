"""Poses of the moving body over one cycle, and what acts on it besides contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.resultant import Resultant

Array = NDArray[np.float64]
# Contact of each pair at every frame.
Contacts = tuple[tuple[Resultant, ...], ...]


@dataclass(frozen=True)
class Passage:
    """One cycle of a case, frame by frame.

    Parameters
    ----------
    free : tuple of str
        Free coordinates.
    translation, rotation : array, shape (n_frames, 3)
        Pose: mm, and body-three 1-2-3 angles in rad.
    load : array, shape (n_frames,)
        Axial load along -y, N.
    contact : array, shape (n_frames, 6)
        Force of all contact on the moving body, N, and moment about its origin, N mm, as they were
        when the pose was solved.
    applied : array, shape (n_frames, 6)
        Loads' force, N, and moment about the moving origin, N mm, on the moving body.
    inertia : array, shape (n_frames, 6)
        Force and moment about the moving origin that its acceleration takes, N and N mm; zero in a
        quasi-static passage.
    load_line : array, shape (n_frames,)
        Medial-lateral place of the axial load, mm.
    spring_force : array, shape (n_frames,)
        Medial-lateral spring force on the moving body, N.
    residual : array, shape (n_frames,)
        Largest unbalanced force when the pose was solved, relative to the load.
    evaluations : int
        Evaluations of the contact it took.
    """

    free: tuple[str, ...]
    translation: Array
    rotation: Array
    load: Array
    contact: Array
    applied: Array
    inertia: Array
    load_line: Array
    spring_force: Array
    residual: Array
    evaluations: int
