"""A design on the bench: its femoral component on the insert under an axial load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.pair import ContactPair
from kneewear.contact.traction import Friction
from kneewear.errors import ConvergenceError
from kneewear.geometry.implant import Implant
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.settings.implant import GridSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.equilibrium import approach
from kneewear.simulation.seat import above_the_middle
from kneewear.simulation.static import StaticEquilibrium, hold_pose, solve_static
from kneewear.studies.static.pairs import KneePairs
from kneewear.tissue.springs import Spring

Array = NDArray[np.float64]

# Springs toward the start, N/mm per N of load: they decide where the bearing restores nothing.
WEAK = 1e-4
# Slip velocity at which friction reaches its coefficient, mm/s: small against driven speeds.
TRANSITION = 1.0
# The medial share of the load is found to this, in at most so many equilibria.
SHARE_TOLERANCE, MOST_SHARES = 1e-4, 20


@dataclass(frozen=True)
class Axial:
    """Axial load, N, downwards on the line `medial` mm from the insert's origin.

    `slope`, deg, is that of the insert under it, posterior edge low.
    """

    force: float
    medial: float
    slope: float = 0.0

    @property
    def load(self) -> Load:
        """The load, fixed in the insert's frame as an actuator is."""
        slope = np.radians(self.slope)
        force = (self.force * float(np.sin(slope)), -self.force * float(np.cos(slope)), 0.0)
        return Load(force, point=(0.0, 0.0, self.medial), point_frame="fixed")


class Bench:
    """Contact pairs of one design, and poses in which it settles.

    Parameters
    ----------
    implant : Implant
        The design; a post makes a third pair.
    grid : GridSettings
        Rows and columns of every pair.
    table : TableSettings
        Samples of the femoral surfaces from which searches start.
    settings : SimulationSettings
        Material, pressure law, direction of pressure and tolerance.
    friction : Friction, optional
        Friction of every pair where poses change.
    """

    def __init__(
        self,
        implant: Implant,
        grid: GridSettings,
        table: TableSettings,
        settings: SimulationSettings,
        friction: Friction | None = None,
    ) -> None:
        knee = KneePairs(implant, table, settings, friction=friction)
        self.elements = knee.with_cells(knee.cells(grid), settings.pressure_law)
        self.tolerance = settings.tolerance
        middles = [np.average(pair.centre, axis=0, weights=pair.area) for pair in self.pairs[:2]]
        self.middles = float(middles[0][2]), float(middles[1][2])

    @property
    def pairs(self) -> tuple[ContactPair, ...]:
        """Contact pairs, medial and lateral first."""
        return self.elements.pairs

    def line(self, medial_share: float) -> float:
        """Line of a load of which a share acts in the middle of the medial plateau, mm."""
        medial, lateral = self.middles
        return medial_share * medial + (1.0 - medial_share) * lateral

    def start(self, flexion: float, external_rotation: float) -> Array:
        """Pose (6,) with the condyles touching the middle of the plateaus; angles in deg."""
        above = above_the_middle(self.pairs, *np.radians([flexion, external_rotation]))
        return approach(self.pairs[:2], above, 0)

    def settle(
        self, pose: Array, free: Sequence[str], axial: Axial, case: str,
        previous: tuple[Array, float] | None = None,
    ) -> StaticEquilibrium:  # fmt: skip
        """Equilibrium along free coordinates (of `COORDINATES`) under an axial load.

        `previous` as of `solve_system`. Without a free coordinate it is the pose itself.
        ConvergenceError, which names the case, if there is none.
        """
        if not free:
            return hold_pose(self.pairs, self.elements.layers, pose, [axial.load])
        springs = [
            Spring(name, WEAK * axial.force, rest=float(pose[COORDINATES.index(name)]))
            for name in ("x", "z")
            if name in free
        ]
        return solve_static(
            self.pairs, self.elements.layers, (pose[:3], pose[3:]), free,
            loads=[axial.load], springs=springs, previous=previous,
            tolerance=self.tolerance, case=case,
        )  # fmt: skip

    def settle_with_share(
        self, pose: Array, free: Sequence[str], axial: Axial, medial_share: float, case: str
    ) -> StaticEquilibrium:
        """Equilibrium in which the medial condyle carries a share of an axial load.

        The line of the load is moved until it does, by regula falsi between the middles of both
        plateaus. ConvergenceError if there is no such equilibrium.
        """
        low, high = (self.line(0.0), -medial_share), (self.line(1.0), 1.0 - medial_share)
        line = self.line(medial_share)
        for _ in range(MOST_SHARES):
            found = self.settle(pose, free, replace(axial, medial=line), case)
            pushes = [float(one.wrench[1]) for one in found.contacts[:2]]
            miss = pushes[0] / sum(pushes) - medial_share
            if abs(miss) < SHARE_TOLERANCE:
                return found
            low, high = ((line, miss), high) if miss < 0.0 else (low, (line, miss))
            line = low[0] - low[1] * (high[0] - low[0]) / (high[1] - low[1])
            pose = np.concatenate([found.translation, found.rotation])
        remedy = "Choose a share that both condyles can carry at this position."
        raise ConvergenceError(f"Medial share of {case}", 0, abs(miss), "of the load", remedy)


def coulomb(coefficient: float) -> Friction | None:
    """Friction of a pair in quasi-static sliding; none where the coefficient is zero."""
    return Friction(coefficient, coefficient, TRANSITION) if coefficient > 0.0 else None
