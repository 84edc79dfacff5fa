"""Contact on an insert that is no longer fresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from kneewear.activity.activity import Activity
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import ContactHistory


class Resimulation(Protocol):
    """Simulates one cycle of one case again on another surface."""

    def __call__(self, worn: ElementGrid, fresh: ContactHistory) -> ContactHistory:
        """The cycle of `fresh` (one case on the fresh insert) on the worn one."""


@dataclass(frozen=True)
class WornContact:
    """Simulates cycles again on worn inserts.

    Parameters
    ----------
    surfaces, tables : mapping of side to Surface and SurfaceTable
        Femoral condyles and their lookup tables.
    activities : mapping of name to Activity
        Prescribed motions and loads.
    settings : SimulationSettings
        Settings of the fresh insert's simulation.
    distance_tables : mapping of side to DistanceTable, optional
        Needed when `settings.distance` is "table".
    medial_lateral : {"held", "as_simulated"}
        Whether every frame keeps the medial-lateral position it had on the fresh insert.

    Notes
    -----
    Holding matters where the insert alone keeps the condyles in place. A bearing that is dished by
    hundredths of a millimetre loses its hold as creep digs deeper than that; without friction and
    ligaments the femoral component then slides off sideways. The force that holding takes is in
    the histories' reactions, and in the log. In the default study's case of 10 mm and 100 kg it is
    up to 16 N under a load of 2943 N, a seventh of what a friction of 0.04 would bear.
    """

    surfaces: Mapping[str, Surface]
    tables: Mapping[str, SurfaceTable]
    activities: Mapping[str, Activity]
    settings: SimulationSettings
    distance_tables: Mapping[str, DistanceTable] | None = None
    medial_lateral: str = "held"

    def __call__(self, worn: ElementGrid, fresh: ContactHistory) -> ContactHistory:
        """Simulate one cycle again.

        Parameters
        ----------
        worn : ElementGrid
            Elements of the worn insert.
        fresh : ContactHistory
            The cycle of one case on the fresh insert.

        Returns
        -------
        ContactHistory
            The same activity and case on the worn insert.

        Raises
        ------
        ConvergenceError
            If a frame has no equilibrium.
        """
        activity, settings = self.activities[fresh.activity], self.settings
        if self.medial_lateral == "held":
            translation = activity.translation.copy()
            translation[:, 2] = fresh.translation[0, :, 2]
            activity = replace(activity, translation=translation)
            settings = settings.model_copy(update={"medial_lateral": "held"})
        return simulate_cases(
            worn,
            self.surfaces,
            self.tables,
            activity,
            fresh.cases,
            settings,
            self.distance_tables,
        )
