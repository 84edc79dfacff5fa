"""Contact on worn inserts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from pydantic import ValidationError

from kneewear.activity.activity import Activity
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.motion.alignment import given_coordinates
from kneewear.motion.cases import simulate_cases
from kneewear.motion.dwell_pose import refer_to_dwell_pose
from kneewear.motion.history import cases_of
from kneewear.motion.settings import SimulationSettings


@dataclass(frozen=True)
class WornContact:
    """Simulates cycles again on worn inserts.

    Parameters
    ----------
    knee : KneeModel
        The knee with the fresh insert.
    activities : mapping of name to Activity
        Prescribed motions and loads.
    settings : SimulationSettings
        Settings of the fresh insert's simulation.
    medial_lateral : {"held", "as_simulated"}
        Whether every frame keeps the medial-lateral position it had on the fresh insert.

    Notes
    -----
    Holding matters where only the insert restores the medial-lateral position. If its dish is
    hundredths of a millimetre deep, it no longer restores once creep is deeper than that; without
    friction and ligaments the femoral component then moves off sideways. The force that holds the
    position is in the histories' reactions, and in the log. In the default study's case of 10 mm
    and 100 kg it is up to 16 N under a load of 2943 N, a seventh of what friction with a
    coefficient of 0.04 would bear.
    """

    knee: KneeModel
    activities: Mapping[str, Activity]
    settings: SimulationSettings
    medial_lateral: str = "held"

    def __call__(self, worn: ElementGrid, fresh: xr.Dataset) -> xr.Dataset:
        """The activity and case of a fresh insert's cycle on the elements of a worn one.

        ConvergenceError if a frame has no equilibrium.
        """
        settings = self.settings
        # The dwell pose is that of the fresh insert.
        activity = refer_to_dwell_pose(
            self.activities[fresh.attrs["activity"]], self.knee, settings
        )
        if self.medial_lateral == "held":
            translation = activity.translation.copy()
            poses = np.hstack([fresh.translation.values[0], fresh.rotation.values[0]])
            translation[:, 2] = given_coordinates(poses, settings)[:, 2]
            activity = replace(activity, translation=translation)
            settings = settings.model_copy(update={"medial_lateral": "held"})
        knee = replace(self.knee, grid=worn, coarse_grid=None)
        return simulate_cases(knee, activity, cases_of(fresh), settings, holding_level=logging.INFO)

    def with_other_contact(self) -> dict[str, WornContact]:
        """The same with the other model of contact, by its name; none if settings exclude it."""
        if any(activity.friction > 0.0 for activity in self.activities.values()):
            return {}
        name = "coupled_layer" if self.settings.contact == "foundation" else "foundation"
        try:
            settings = type(self.settings)(**self.settings.model_dump() | {"contact": name})
        except ValidationError:
            return {}
        return {name.replace("_", " "): replace(self, settings=settings)}
