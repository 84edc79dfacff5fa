"""The femoral component on the insert, or femur on tibia, under an axial load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.pair import ContactPair
from kneewear.contact.traction import Friction
from kneewear.errors import ConvergenceError
from kneewear.geometry.coverage import Rectangle
from kneewear.geometry.implant import Implant
from kneewear.geometry.settings import GridSettings, TableSettings
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import body_three_123
from kneewear.mechanics.springs import Spring
from kneewear.motion.dwell_pose import above_the_middle
from kneewear.motion.frame_equilibrium import approach
from kneewear.motion.knee_pairs import CellPairs, KneePairs
from kneewear.motion.rig_settings import Coordinate, PressSettings
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.static import StaticEquilibrium, hold_pose, solve_static

Array = NDArray[np.float64]

# Coordinates by the names settings use.
NAMED = dict(zip(get_args(Coordinate), COORDINATES, strict=True))
# Slip velocity at which friction reaches its coefficient, mm/s: small against driven speeds.
TRANSITION = 1.0
# The medial share of the load is solved to this, in at most so many equilibria.
SHARE_TOLERANCE = 1e-4
MAX_SHARES = 20
# The elements are changed until their number is this near to the wanted one, or so many times.
COUNT_ERROR = 0.05
MAX_CHANGES = 6
# Largest number of alternations between layers and equilibrium for two layers.
MAX_ALTERNATIONS = 30
# Limits of the rows and columns of a bearing.
MIN_CELLS = 4
MAX_CELLS = 1000


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


@dataclass(frozen=True)
class PressSolution:
    """An equilibrium, and the elements it was solved on."""

    elements: CellPairs
    equilibrium: StaticEquilibrium

    @property
    def active(self) -> tuple[int, ...]:
        """Loaded elements of each pair."""
        return tuple(int((contact.pressure > 0.0).sum()) for contact in self.equilibrium.contacts)

    @property
    def pose(self) -> Array:
        """Position, mm, and body-three 1-2-3 angles, rad, of the femoral component, shape (6,)."""
        return np.concatenate([self.equilibrium.translation, self.equilibrium.rotation])

    def count_error(self, wanted: int) -> float:
        """Largest relative error of any loaded pair's number of loaded elements."""
        return max(abs(count / wanted - 1.0) for count in self.active if count)


class Pressed(Protocol):
    """Settings of an implant under an axial load: a study, or a bearing of another one."""

    @property
    def press(self) -> PressSettings:
        """Position, load, free coordinates and path."""

    @property
    def simulation(self) -> SimulationSettings:
        """Material and numerics of contact."""

    @property
    def table(self) -> TableSettings:
        """Lookup tables of the condyles."""

    @property
    def grid(self) -> GridSettings:
        """Elements on each plateau."""


class PressedBearing(NamedTuple):
    """The bearing of any study under an axial load (`Pressed`)."""

    press: PressSettings
    simulation: SimulationSettings
    table: TableSettings
    grid: GridSettings


class Rig:
    """Contact pairs of an implant or natural knee, and poses in which it balances a load.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee; a post makes a third pair.
    study : Pressed
        Elements, material, and the settings of friction and distance.
    """

    def __init__(self, implant: Implant, study: Pressed) -> None:
        press = study.press
        self.press = press
        self.law = study.simulation.pressure_law
        self.knee = KneePairs(
            implant,
            study.table,
            study.simulation,
            distance=press.distance,
            force_direction=press.force_direction,
            friction=coulomb(press.friction),
        )
        self.elements = self.with_cells(self.knee.cells(study.grid))
        self.middles = tuple(
            float(np.average(pair.centre[:, 2], weights=pair.area)) for pair in self.plateaus
        )

    @property
    def pairs(self) -> tuple[ContactPair, ...]:
        """Contact pairs, plateaus first."""
        return self.elements.pairs

    @property
    def plateaus(self) -> tuple[ContactPair, ...]:
        """Contact pairs of the plateaus, medial and lateral."""
        return self.pairs[: len(self.knee.plateaus)]

    def with_cells(self, cells: Mapping[str, Rectangle]) -> CellPairs:
        """Contact pairs over given cells."""
        return self.knee.with_cells(cells, self.law)

    def line(self, medial_share: float) -> float:
        """Line of a load that is shared between the middles of the plateaus, mm.

        A single plateau has it in its middle.
        """
        medial, lateral = self.middles[0], self.middles[-1]
        return medial_share * medial + (1.0 - medial_share) * lateral

    @property
    def axial(self) -> Axial:
        """The load; on the line of the settings, or that of the medial share, or midway."""
        press = self.press
        if press.load_n is None:
            raise ValueError("a load is needed")
        line = press.load_line_mm
        if line is None:
            line = self.line(0.5 if press.medial_share is None else press.medial_share)
        return Axial(press.load_n, line, press.posterior_slope_deg)

    @property
    def free(self) -> list[str]:
        """Free coordinates, of `COORDINATES`."""
        return [NAMED[name] for name in self.press.free]

    def start(self) -> Array:
        """Pose (6,) from which the search starts.

        Above the insert at the position of the settings; without one, with the condyles touching
        the middle of the plateaus.
        """
        press = self.press
        flexion, rotation = np.radians([press.flexion_deg, press.tibial_external_rotation_deg])
        if press.posterior_mm is None or press.medial_mm is None:
            return approach(self.plateaus, above_the_middle(self.plateaus, flexion, rotation), 0)
        angles = np.array([0.0, rotation, -flexion])
        height = self.knee.height_above(body_three_123(angles))
        return np.array([press.posterior_mm, height, press.medial_mm, *angles])

    def springs(self, pose: Array, free: Sequence[str], axial: Axial) -> list[Spring]:
        """Springs that hold free translations at a pose (6,), if the settings have some."""
        stiffness = self.press.centring_per_mm * axial.force
        return [
            Spring(name, stiffness, rest=float(pose[COORDINATES.index(name)]))
            for name in ("x", "z")
            if name in free and stiffness > 0.0
        ]

    def settle(
        self,
        pose: Array,
        free: Sequence[str],
        axial: Axial,
        elements: CellPairs | None = None,
        previous: tuple[Array, float] | None = None,
    ) -> PressSolution:
        """Equilibrium along free coordinates (of `COORDINATES`) under an axial load.

        `previous` as of `solve_system`. Without a free coordinate it is the pose itself.
        ConvergenceError if there is none.

        Notes
        -----
        Where the femur has cartilage too, the thickness under an element depends on the pose:
        layers and equilibrium are solved in turn until the thickness under load does not change.
        """
        elements = elements or self.elements
        springs = self.springs(pose, free, axial)
        change = math.inf
        for _ in range(MAX_ALTERNATIONS):
            pressed = self.knee.pressed_layers(elements, pose[:3], body_three_123(pose[3:]))
            if not free:
                held = hold_pose(pressed.pairs, pressed.layers, pose, [axial.load])
                return PressSolution(pressed, held)
            equilibrium = solve_static(
                pressed.pairs,
                pressed.layers,
                (pose[:3], pose[3:]),
                free,
                loads=[axial.load],
                springs=springs,
                previous=previous,
                tolerance=self.knee.tolerance,
            )
            solution = PressSolution(pressed, equilibrium)
            if not self.knee.natural:
                return solution
            change = self._thickness_change(elements, solution)
            if change < self.knee.tolerance:
                return solution
            pose = solution.pose
        raise ConvergenceError(
            "Thickness of both layers",
            0,
            change,
            "of the thickness",
            "Check that the cartilage of both bodies is smooth where they touch.",
        )

    def _thickness_change(self, elements: CellPairs, solution: PressSolution) -> float:
        """Largest relative change of the thickness of loaded elements from the one solved with."""
        pose = solution.pose
        now = self.knee.pressed_layers(elements, pose[:3], body_three_123(pose[3:]))
        changes = [
            np.abs(after.thickness / before.thickness - 1.0)[
                contact.element[contact.pressure > 0.0]
            ]
            for before, after, contact in zip(
                solution.elements.layers, now.layers, solution.equilibrium.contacts, strict=True
            )
        ]
        return float(np.max(np.concatenate(changes), initial=0.0))

    def settle_with_share(
        self,
        pose: Array,
        free: Sequence[str],
        axial: Axial,
        medial_share: float | None,
        elements: CellPairs | None = None,
    ) -> PressSolution:
        """Equilibrium in which the medial condyle carries a share of an axial load.

        The line of the load is moved until it does, by regula falsi between the middles of both
        plateaus; without a share it stays. ConvergenceError if there is no such equilibrium.
        """
        if medial_share is None:
            return self.settle(pose, free, axial, elements)
        low, high = (self.line(0.0), -medial_share), (self.line(1.0), 1.0 - medial_share)
        line, error = self.line(medial_share), math.inf
        for _ in range(MAX_SHARES):
            solution = self.settle(pose, free, replace(axial, medial=line), elements)
            medial, lateral = (
                float(contact.wrench[1]) for contact in solution.equilibrium.contacts[:2]
            )
            error = medial / (medial + lateral) - medial_share
            if abs(error) < SHARE_TOLERANCE:
                return solution
            low, high = ((line, error), high) if error < 0.0 else (low, (line, error))
            line = low[0] - low[1] * (high[0] - low[0]) / (high[1] - low[1])
            pose = solution.pose
        remedy = "Choose a share that both condyles can carry at this position."
        raise ConvergenceError("Medial share", 0, abs(error), "of the load", remedy)

    def hold(self, pose: Array) -> PressSolution:
        """Contact at a given pose (6,)."""
        pressed = self.knee.pressed_layers(self.elements, pose[:3], body_three_123(pose[3:]))
        return PressSolution(pressed, hold_pose(pressed.pairs, pressed.layers, pose))


def solve_press(rig: Rig) -> PressSolution:
    """Equilibrium of the settings of a rig.

    Parameters
    ----------
    rig : Rig
        Knee with its settings.

    Returns
    -------
    PressSolution

    Raises
    ------
    ConvergenceError
        If there is no equilibrium.

    Notes
    -----
    The search starts at the position of the settings, so no case depends on another one. Along a
    coordinate with an offset the component is then held so far from the settled position, and
    the others settle again; held in varus, the sides carry what follows instead of their shares.
    The load acts on a line that is fixed in the insert's frame (Bei 2003, section 3.2.3). Where a
    number of loaded elements is wanted, the cells of each pair are made larger or smaller and the
    equilibrium is solved again, as the source did by hand.
    """
    press, axial, free = rig.press, rig.axial, rig.free
    share = press.medial_share
    solution = rig.settle_with_share(rig.start(), free, axial, share)
    offsets = {
        "x": press.posterior_offset_mm,
        "z": press.medial_offset_mm,
        NAMED["varus_valgus"]: float(np.radians(press.varus_offset_deg)),
    }
    if any(offsets.values()):
        pose = solution.pose
        for name, offset in offsets.items():
            pose[COORDINATES.index(name)] += offset
        free = [name for name in free if not offsets.get(name)]
        share = None if press.varus_offset_deg else share
        solution = rig.settle_with_share(pose, free, axial, share)
    if press.active_elements is None:
        return solution
    return _refined(rig, solution, free, press.active_elements)


def _refined(rig: Rig, solution: PressSolution, free: Sequence[str], wanted: int) -> PressSolution:
    """The equilibrium on cells of a size that gives about the wanted number of loaded elements."""
    share = None if rig.press.varus_offset_deg else rig.press.medial_share
    best = solution
    for _ in range(MAX_CHANGES):
        if best.count_error(wanted) <= COUNT_ERROR:
            break
        parts = zip(solution.elements.cells.items(), solution.active, strict=True)
        cells = {
            side: refine_cells(part, wanted / count) if count else part
            for (side, part), count in parts
        }
        elements = rig.with_cells(cells)
        solution = rig.settle_with_share(solution.pose, free, rig.axial, share, elements)
        best = min(best, solution, key=lambda one: one.count_error(wanted))
    return best


def refine_cells(cells: Rectangle, factor: float) -> Rectangle:
    """The same rectangle with about `factor` times as many cells, as square as possible."""
    edge = math.sqrt(cells.cell_area / factor)
    rows, columns = (
        min(max(round(length / edge), MIN_CELLS), MAX_CELLS)
        for length in (cells.length, cells.width)
    )
    return replace(cells, rows=rows, columns=columns)


def coulomb(coefficient: float) -> Friction | None:
    """Friction of a pair in quasi-static sliding; none where the coefficient is zero."""
    return Friction(coefficient, coefficient, TRANSITION) if coefficient > 0.0 else None
