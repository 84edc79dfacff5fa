"""Static study: the equilibrium of every material, flexion, position and load."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.geometry.coverage import Rectangle
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.settings.checks import judge
from kneewear.settings.implant import GridSettings
from kneewear.settings.static import Coordinate, StaticSettings
from kneewear.simulation.static import StaticEquilibrium, hold_pose, solve_static
from kneewear.studies.static.pairs import CellPairs, KneePairs
from kneewear.studies.static.record import Equilibria, StaticCase, StaticRecord
from kneewear.wear.summary import border_pressure

Array = NDArray[np.float64]

Record = TypeVar("Record", bound=Equilibria)

logger = logging.getLogger(__name__)

# Coordinates by the names settings use.
NAMED = dict(zip(get_args(Coordinate), COORDINATES, strict=True))
# The elements are changed until their number is this near to the wanted one, or so many times.
COUNT_MISS = 0.05
MOST_CHANGES = 6
# Largest number of alternations between layers and equilibrium for two layers.
MOST_ALTERNATIONS = 30
# Limits of the rows and columns of a bearing.
FEWEST, MOST = 4, 1000


@dataclass(frozen=True)
class StaticSolution:
    """A static case in equilibrium, and the elements it was solved on."""

    elements: CellPairs
    equilibrium: StaticEquilibrium

    @property
    def active(self) -> tuple[int, ...]:
        """Loaded elements of each pair."""
        return tuple(int((one.pressure > 0.0).sum()) for one in self.equilibrium.contacts)

    @property
    def pose(self) -> tuple[Array, Array]:
        """Position, mm, and body-three 1-2-3 angles, rad, of the femoral component."""
        return self.equilibrium.translation, self.equilibrium.rotation

    def miss(self, wanted: int) -> float:
        """Largest relative distance of any loaded pair's loaded elements from a wanted number."""
        return max(abs(count / wanted - 1.0) for count in self.active if count)


def list_static_cases(settings: StaticSettings) -> tuple[StaticCase, ...]:
    """Every case of a static study; the load varies fastest."""
    return tuple(
        StaticCase(*values)
        for values in product(
            settings.materials, settings.flexion_deg, settings.posterior_mm, settings.load_n
        )
    )


def solve_static_cases(
    knee: KneePairs, grid: GridSettings, settings: StaticSettings, poses: Array | None = None
) -> StaticRecord:
    """Find the equilibrium of the femoral component in every case of a static study.

    Parameters
    ----------
    knee : KneePairs
        Surfaces in contact.
    grid : GridSettings
        Rows and columns of every pair, at first.
    settings : StaticSettings
        Cases, free coordinates and materials.
    poses : array, shape (n, 6), optional
        Given poses, mm and body-three 1-2-3 angles, rad, instead of equilibria: contact is
        evaluated there and nothing is solved.

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
    line that is fixed in the insert's frame (Bei 2003, section 3.2.3). Where a number of loaded
    elements is wanted, the cells of each pair are made larger or smaller and the case is solved
    again, as the source did by hand.
    """
    cells = knee.cells(grid)
    if poses is not None:
        return _evaluate_poses(knee, cells, settings, poses)
    cases = list_static_cases(settings)
    found = []
    for case in cases:
        solution = _refined(knee, solve_case(knee, cells, case, settings), case, settings)
        found.append(solution)
        residual = solution.equilibrium.residual
        logger.info(
            "%s: active elements %s, residual %.1e of the load", case, solution.active, residual
        )
    return record_of(StaticRecord, cases, tuple(cells), found)


def _evaluate_poses(
    knee: KneePairs, cells: Mapping[str, Rectangle], settings: StaticSettings, poses: Array
) -> StaticRecord:
    """Contact at given poses; a warning names those with an implausible force."""
    cases, found = [], []
    flexion = np.degrees(clinical_angles(body_three_123(poses[:, 3:]))[:, 0])
    for material, law in settings.materials.items():
        elements = knee.with_cells(cells, law)
        for number, pose in enumerate(poses):
            pressed = knee.pressed_layers(elements, pose[:3], body_three_123(pose[3:]))
            held = hold_pose(pressed.pairs, pressed.layers, pose)
            case = StaticCase(
                material, float(flexion[number]), float(pose[0]), 0.0, pose=number + 1
            )
            cases.append(case)
            found.append(StaticSolution(pressed, held))
            total = float(np.linalg.norm(held.reaction[:3]))
            warning = judge("static.pose_force", total, str(case), "Check the pose.")
            if warning:
                logger.warning("%s", warning)
    return record_of(StaticRecord, tuple(cases), tuple(cells), found)


def solve_case(
    knee: KneePairs, cells: Mapping[str, Rectangle], case: StaticCase, settings: StaticSettings
) -> StaticSolution:
    """Equilibrium of one case on given cells, starting above the insert.

    ConvergenceError if there is none.
    """
    angles = np.radians([0.0, settings.tibial_external_rotation_deg, -case.flexion])
    height = knee.height_above(body_three_123(angles))
    start = np.array([case.posterior, height, settings.medial_mm])
    return _solve(knee, cells, (start, angles), case, settings)


def refine_cells(cells: Rectangle, factor: float) -> Rectangle:
    """The same rectangle with about `factor` times as many cells, as square as possible."""
    edge = math.sqrt(cells.cell_area / factor)
    rows, columns = (
        min(max(round(length / edge), FEWEST), MOST) for length in (cells.length, cells.width)
    )
    return replace(cells, rows=rows, columns=columns)


def _refined(
    knee: KneePairs, solution: StaticSolution, case: StaticCase, settings: StaticSettings
) -> StaticSolution:
    """The case on cells of a size that gives about the wanted number of loaded elements."""
    wanted = settings.active_elements
    if wanted is None:
        return solution
    best = solution
    for _ in range(MOST_CHANGES):
        if best.miss(wanted) <= COUNT_MISS:
            break
        parts = zip(solution.elements.cells.items(), solution.active, strict=True)
        cells = {
            side: refine_cells(part, wanted / count) if count else part
            for (side, part), count in parts
        }
        solution = _solve(knee, cells, solution.pose, case, settings)
        best = min(best, solution, key=lambda one: one.miss(wanted))
    return best


def _solve(
    knee: KneePairs,
    cells: Mapping[str, Rectangle],
    pose: tuple[Array, Array],
    case: StaticCase,
    settings: StaticSettings,
) -> StaticSolution:
    """Equilibrium of a case from a start pose.

    Where the femur has cartilage too, the thickness under an element depends on the pose: layers
    and equilibrium are found in turn until the thickness under load does not change.
    """
    elements = knee.with_cells(cells, settings.materials[case.material])
    load = Load(
        force=(0.0, -case.load, 0.0),
        point=(0.0, 0.0, settings.load_line_mm),
        point_frame="fixed",
    )
    free = [NAMED[name] for name in settings.free]
    change = math.inf
    for _ in range(MOST_ALTERNATIONS):
        pressed = knee.pressed_layers(elements, pose[0], body_three_123(pose[1]))
        equilibrium = solve_static(
            pressed.pairs,
            pressed.layers,
            pose,
            free,
            loads=[load],
            tolerance=knee.tolerance,
            case=str(case),
        )
        solution = StaticSolution(pressed, equilibrium)
        pose = solution.pose
        if not knee.natural:
            return solution
        change = _thickness_change(knee, elements, solution)
        if change < knee.tolerance:
            return solution
    raise ConvergenceError(
        f"Thickness of both layers in {case}",
        0,
        change,
        "of the thickness",
        "Check that the cartilage of both bodies is smooth where they touch.",
    )


def _thickness_change(knee: KneePairs, elements: CellPairs, solution: StaticSolution) -> float:
    """Largest relative change of the thickness of loaded elements from the one solved with."""
    translation, rotation = solution.pose
    now = knee.pressed_layers(elements, translation, body_three_123(rotation))
    changes = [
        np.abs(after.thickness / before.thickness - 1.0)[contact.element[contact.pressure > 0.0]]
        for before, after, contact in zip(
            solution.elements.layers, now.layers, solution.equilibrium.contacts, strict=True
        )
    ]
    return float(np.max(np.concatenate(changes), initial=0.0))


def record_of(
    kind: Callable[..., Record],
    cases: tuple[Any, ...],
    sides: tuple[str, ...],
    found: Sequence[StaticSolution],
) -> Record:
    """All cases as arrays."""
    equilibria = [one.equilibrium for one in found]
    pairs = [(case, number) for case in range(len(cases)) for number in range(len(sides))]
    parts = [_pair_results(found[case], number) for case, number in pairs]
    resultants, loaded = [part[0] for part in parts], [part[1] for part in parts]
    counts = [part["element_pressure"].size for part in loaded]
    arrays: dict[str, Any] = {
        name: np.array([one[name] for one in resultants]).reshape(
            len(cases), len(sides), *np.shape(resultants[0][name])
        )
        for name in resultants[0]
    }
    arrays |= {name: np.concatenate([part[name] for part in loaded]) for name in loaded[0]}
    return kind(
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


def _pair_results(
    solution: StaticSolution, number: int
) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Resultant of one pair on the insert with its extremes, and its loaded elements."""
    elements, equilibrium = solution.elements, solution.equilibrium
    pair, contact = elements.pairs[number], equilibrium.contacts[number]
    cells = list(elements.cells.values())[number]
    loaded = contact.pressure > 0.0
    pressure, area = contact.pressure[loaded], contact.area[loaded]
    local = contact.element[loaded]
    centre, carried = pair.centre[local], pressure * area
    touches = bool(loaded.any())
    boneless = elements.without_bone[number].ravel()[pair.index[local]]
    # Elements are numbered along rows of the joined grid, which may be wider than the pair's cells.
    row, column = np.divmod(pair.index[local], elements.grid.area.shape[2])
    corners = [cells.at(row + i, column + j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
    force = -contact.wrench[:3]
    valid = elements.grid.valid[number]
    plan = np.zeros(valid.shape)
    plan.ravel()[pair.index[local]] = pressure
    resultant = {
        "force": force,
        "torque": np.cross(equilibrium.translation, force) - contact.wrench[3:],
        "max_pressure": pressure.max(initial=0.0),
        "avg_pressure": contact.avg_pressure,
        "contact_area": contact.contact_area,
        "max_penetration": contact.penetration.max(initial=0.0),
        "active_elements": int(loaded.sum()),
        "border_pressure": border_pressure(plan, valid),
        "elements_without_bone": int(elements.without_bone[number].sum()),
        "boneless_force_share": float(carried[boneless].sum() / carried.sum()) if touches else 0.0,
        "rows": cells.rows,
        "columns": cells.columns,
        "centre_of_pressure": carried @ centre / carried.sum() if touches else np.full(3, np.nan),
    }
    return resultant, {
        "element_pressure": pressure,
        "element_area": area,
        "element_centre": centre,
        "element_corners": np.stack(corners, axis=1).reshape(local.size, 4, 2),
    }
