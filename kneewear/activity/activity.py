"""One cycle of an activity: prescribed motion and load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Activity:
    """Motion of the femoral component on the insert and axial load over one periodic cycle.

    A cycle of n frames has n intervals; frame n would be frame 0 again and is not stored.

    Parameters
    ----------
    name : str
        Name used in settings, file names and tables.
    percent : array, shape (n_frames,)
        Percent of the cycle, from 0, equally spaced, last value below 100.
    duration : float
        Duration of the cycle, s.
    translation : array, shape (n_frames, 3)
        Femoral origin in the insert's frame (x posterior, y superior, z medial), mm. x is
        prescribed; y and z only start the search of the equilibrium.
    rotation : array, shape (n_frames, 3)
        Body-three 1-2-3 angles of the femoral component, rad. The second (internal-external) and
        third (flexion, negative when flexed) are prescribed; the first (varus) starts the search.
    load : array, shape (n_frames,)
        Axial load along the insert's -y, in body weights, positive.
    notes : tuple of str
        What was done to the source data (resampling, closing of the cycle), for the report.

    Raises
    ------
    ValueError
        When the shapes disagree, a value is not finite or a load is not positive.
    """

    name: str
    percent: NDArray[np.float64]
    duration: float
    translation: NDArray[np.float64]
    rotation: NDArray[np.float64]
    load: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no simulation can use."""
        frames = np.shape(self.percent)
        shapes = {"translation": (*frames, 3), "rotation": (*frames, 3), "load": frames}
        for name, shape in shapes.items():
            values = np.asarray(getattr(self, name))
            if len(frames) != 1 or values.shape != shape:
                raise ValueError(
                    f"{name} of activity '{self.name}' has shape {values.shape}; with percent of "
                    f"shape {frames} expected {shape}"
                )
            if not np.isfinite(values).all():
                raise ValueError(f"{name} of activity '{self.name}' has values that are not finite")
        if np.min(self.load, initial=np.inf) <= 0:
            raise ValueError(
                f"load of activity '{self.name}' goes down to {np.min(self.load):g} body weights; "
                "it must be positive at every frame"
            )
