"""Static study: the equilibrium of every material, flexion, position and load."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError
from kneewear.geometry.coverage import Rectangle
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.implant import GridSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.static import Coordinate, StaticSettings
from kneewear.simulation.static import StaticEquilibrium, solve_static
from kneewear.studies.static.joint import Joint, LaidPairs
from kneewear.studies.static.record import StaticCase, StaticRecord

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Coordinates by the names settings use.
NAMED = dict(zip(get_args(Coordinate), COORDINATES, strict=True))
# Elements are laid anew until their number is this near to the one wanted, or so many times.
COUNT_MISS = 0.05
MOST_LAYINGS = 6
# Turns of layers and equilibrium after which two layers are given up.
MOST_TURNS = 30
# Rows and columns no bearing is cut into less or more than.
FEWEST, MOST = 4, 1000


@dataclass(frozen=True)
class Settled:
    """A static case in equilibrium, on the elements it was solved on.

    Parameters
    ----------
    laid : LaidPairs
        Pairs and their elements.
    equilibrium : StaticEquilibrium
        Pose and resultants.
    """

    laid: LaidPairs
    equilibrium: StaticEquilibrium

    @property
    def active(self) -> tuple[int, ...]:
        """Loaded elements of each pair."""
        return tuple(int((one.pressure > 0.0).sum()) for one in self.equilibrium.contacts)


def list_static_cases(settings: StaticSettings) -> tuple[StaticCase, ...]:
    """Every case of a static study; the load varies fastest.

    Parameters
    ----------
    settings : StaticSettings
        The `static` block of the settings.

    Returns
    -------
    tuple of StaticCase
    """
    return tuple(
        StaticCase(*values)
        for values in product(
            settings.materials, settings.flexion_deg, settings.posterior_mm, settings.load_n
        )
    )


def solve_static_cases(
    joint: Joint, grid: GridSettings, settings: StaticSettings, simulation: SimulationSettings
) -> StaticRecord:
    """Settle the femoral component in every case of a static study.

    Parameters
    ----------
    joint : Joint
        Surfaces in contact.
    grid : GridSettings
        Rows and columns of every pair, at first.
    settings : StaticSettings
        Cases, free coordinates and materials.
    simulation : SimulationSettings
        Tolerance of the equilibrium.

    Returns
    -------
    StaticRecord

    Raises
    ------
    ConvergenceError
        If a case has no equilibrium; the message names it.

    Notes
    -----
    Each case starts above the insert, so none depends on the others. Loads act straight down on a
    line that stands still in the insert's frame (Bei 2003, section 3.2.3). Where a number of loaded
    elements is wanted, the cells of each pair are made larger or smaller and the case is solved
    again, as the source did by hand.
    """
    cells = joint.cells(grid)
    cases = list_static_cases(settings)
    found = []
    for case in cases:
        settled = settle(joint, cells, case, settings, simulation.tolerance)
        settled = _refined(joint, settled, case, settings, simulation.tolerance)
        found.append(settled)
        logger.info(
            "%s: active elements %s, residual %.1e of the load",
            _name(case),
            settled.active,
            settled.equilibrium.residual,
        )
    return _recorded(cases, tuple(cells), found)


def settle(
    joint: Joint,
    cells: Mapping[str, Rectangle],
    case: StaticCase,
    settings: StaticSettings,
    tolerance: float,
) -> Settled:
    """Settle the femoral component from above in one case on given cells.

    Parameters
    ----------
    joint : Joint
        Surfaces in contact.
    cells : mapping of side to Rectangle
        Cells of each pair.
    case : StaticCase
        The case.
    settings : StaticSettings
        Free coordinates, held ones and materials.
    tolerance : float
        Largest residual, as part of the load.

    Returns
    -------
    Settled

    Raises
    ------
    ConvergenceError
        If there is no equilibrium.
    """
    angles = np.radians([0.0, settings.tibial_external_rotation_deg, -case.flexion])
    height = joint.height_above(body_three_123(angles))
    start = np.array([case.posterior, height, settings.medial_mm])
    laid = joint.lay(cells, settings.materials[case.material])
    return _balanced(joint, laid, (start, angles), case, settings, tolerance)


def _refined(
    joint: Joint, settled: Settled, case: StaticCase, settings: StaticSettings, tolerance: float
) -> Settled:
    """The case again on cells of a size that gives about the wanted number of loaded elements."""
    wanted = settings.active_elements
    if wanted is None:
        return settled
    best = settled
    for _ in range(MOST_LAYINGS):
        if _miss(best, wanted) <= COUNT_MISS:
            break
        cells = {
            side: recut(part, wanted / count) if count else part
            for (side, part), count in zip(settled.laid.cells.items(), settled.active, strict=True)
        }
        laid = joint.lay(cells, settings.materials[case.material])
        pose = (settled.equilibrium.translation, settled.equilibrium.rotation)
        settled = _balanced(joint, laid, pose, case, settings, tolerance)
        best = min(best, settled, key=lambda one: _miss(one, wanted))
    return best


def recut(cells: Rectangle, factor: float) -> Rectangle:
    """The same rectangle cut into about so many times as many cells, as square as can be.

    Parameters
    ----------
    cells : Rectangle
        Cells.
    factor : float
        Cells wanted for each one there is.

    Returns
    -------
    Rectangle
    """
    edge = math.sqrt(cells.cell_area / factor)
    rows, columns = (
        min(max(round(length / edge), FEWEST), MOST) for length in (cells.length, cells.width)
    )
    return replace(cells, rows=rows, columns=columns)


def _miss(settled: Settled, wanted: int) -> float:
    """How far the loaded elements of any loaded pair are from the wanted number, as part of it."""
    return max(abs(count / wanted - 1.0) for count in settled.active if count)


def _balanced(
    joint: Joint,
    laid: LaidPairs,
    pose: tuple[Array, Array],
    case: StaticCase,
    settings: StaticSettings,
    tolerance: float,
) -> Settled:
    """Equilibrium of a case from a start pose.

    Where the femur carries cartilage too, the thickness an element presses depends on the pose:
    layers and equilibrium are found in turn until the thickness under load stands still.
    """
    load = Load(
        force=(0.0, -case.load, 0.0),
        point=(0.0, 0.0, settings.load_line_mm),
        point_frame="fixed",
    )
    change = math.inf
    for _ in range(MOST_TURNS):
        pressed = joint.pressed_layers(laid, pose[0], body_three_123(pose[1]))
        equilibrium = solve_static(
            pressed.pairs,
            pressed.layers,
            pose,
            [NAMED[name] for name in settings.free],
            loads=[load],
            tolerance=tolerance,
            case=_name(case),
        )
        settled = Settled(pressed, equilibrium)
        pose = (equilibrium.translation, equilibrium.rotation)
        if not joint.natural:
            return settled
        change = _thickness_change(joint, laid, settled)
        if change < tolerance:
            return settled
    raise ConvergenceError(
        f"Thickness of both layers in {_name(case)}",
        0,
        change,
        "of the thickness",
        "Check that the cartilage of both bodies is smooth where they touch.",
    )


def _thickness_change(joint: Joint, laid: LaidPairs, settled: Settled) -> float:
    """How far the thickness of loaded elements is from the one they were pressed with."""
    equilibrium = settled.equilibrium
    now = joint.pressed_layers(laid, equilibrium.translation, body_three_123(equilibrium.rotation))
    changes = [
        np.abs(after.thickness / before.thickness - 1.0)[contact.element[contact.pressure > 0.0]]
        for before, after, contact in zip(
            settled.laid.layers, now.layers, equilibrium.contacts, strict=True
        )
    ]
    return float(np.max(np.concatenate(changes), initial=0.0))


def _name(case: StaticCase) -> str:
    """A case as messages call it."""
    return (
        f"{case.material}, {case.flexion:g} deg, {case.posterior:g} mm posterior, {case.load:g} N"
    )


def _recorded(
    cases: tuple[StaticCase, ...], sides: tuple[str, ...], found: Sequence[Settled]
) -> StaticRecord:
    """All cases as arrays."""
    equilibria = [one.equilibrium for one in found]
    pairs = [(case, number) for case in range(len(cases)) for number in range(len(sides))]
    resultants = [_resultant(found[case], number) for case, number in pairs]
    loaded = [_loaded(found[case], number) for case, number in pairs]
    counts = [part["element_pressure"].size for part in loaded]
    arrays: dict[str, Any] = {
        name: np.array([one[name] for one in resultants]).reshape(
            len(cases), len(sides), *np.shape(resultants[0][name])
        )
        for name in resultants[0]
    }
    arrays |= {name: np.concatenate([part[name] for part in loaded]) for name in loaded[0]}
    return StaticRecord(
        cases=cases,
        sides=sides,
        translation=np.stack([one.translation for one in equilibria]),
        rotation=np.stack([one.rotation for one in equilibria]),
        reaction=np.stack([one.reaction for one in equilibria]),
        residual=np.array([one.residual for one in equilibria]),
        element_case=np.repeat([case for case, _ in pairs], counts),
        element_side=np.repeat([number for _, number in pairs], counts),
        **arrays,
    )


def _resultant(settled: Settled, number: int) -> dict[str, Any]:
    """Resultant of one pair on the insert, and its extremes."""
    equilibrium, contact = settled.equilibrium, settled.equilibrium.contacts[number]
    cells = list(settled.laid.cells.values())[number]
    force = -contact.wrench[:3]
    loaded = contact.pressure > 0.0
    pressure, area = contact.pressure[loaded], contact.area[loaded]
    carried = pressure * area
    centre = settled.laid.pairs[number].centre[contact.element[loaded]]
    touches = bool(loaded.any())
    return {
        "force": force,
        "torque": np.cross(equilibrium.translation, force) - contact.wrench[3:],
        "max_pressure": pressure.max(initial=0.0),
        "avg_pressure": pressure.mean() if touches else 0.0,
        "contact_area": area.sum(),
        "max_penetration": contact.penetration.max(initial=0.0),
        "active_elements": int(loaded.sum()),
        "rows": cells.rows,
        "columns": cells.columns,
        "centre_of_pressure": carried @ centre / carried.sum() if touches else np.full(3, np.nan),
    }


def _loaded(settled: Settled, number: int) -> dict[str, NDArray]:
    """Loaded elements of one pair."""
    contact: Resultant = settled.equilibrium.contacts[number]
    pair, cells = settled.laid.pairs[number], list(settled.laid.cells.values())[number]
    loaded = contact.pressure > 0.0
    local = contact.element[loaded]
    # Elements count along rows of the joined grid, which may be wider than the pair's own cells.
    row, column = np.divmod(pair.index[local], settled.laid.grid.area.shape[2])
    corners = [cells.at(row + i, column + j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return {
        "element_pressure": contact.pressure[loaded],
        "element_area": contact.area[loaded],
        "element_centre": pair.centre[local],
        "element_corners": np.stack(corners, axis=1).reshape(local.size, 4, 2),
    }
