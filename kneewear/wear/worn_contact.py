"""Contact on a worn insert."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from kneewear.activity.activity import Activity
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import ContactHistory

# Simulates the cycle of one case on the fresh insert again on the elements of a worn one.
Resimulation = Callable[[ElementGrid, ContactHistory], ContactHistory]


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
        knee = replace(self.knee, grid=worn, coarse_grid=None)
        return simulate_cases(knee, activity, fresh.cases, settings)
