"""A cycle on polyethylene that yields: equilibria whose plastic strain is kept frame by frame.

Notes
-----
Each frame is an equilibrium of the coupled layer on a surface that is dented by plastic strain:
elements are moved by the deflection that the strain causes. Equilibrium and return of the stress to
the yield surface alternate, until the dent no longer changes. Only an accepted frame changes the
state.

The elastic cycle is solved before, in every second frame of a cycle that yields at its largest
load. It gives the starts of all frames, and the part of each plateau below which stress is
computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.contact.material import Elastic, Hardening, von_mises
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.contact.slabs import SlabWindow, StrainWaves
from kneewear.contact.yielding import MEMORY, PlasticFields, PlasticSlabs, accelerated
from kneewear.errors import ConvergenceError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.coupling import end_distances
from kneewear.motion.frame_equilibrium import Equilibrium

Array = NDArray[np.float64]
# Equilibrium of a frame on the surfaces as they are: from a start, else from the elastic pose,
# under a share of its load, to a residual that is this part of the load at most.
Solve = Callable[[int, Array, Array, float, float], Equilibrium]
# Equilibria without yield, of frames that are so many apart, from the frame of the largest load on:
# to the residual of the study, or where some are left out, starts to this part of the load.
SolveElastic = Callable[[int, float], Mapping[int, Equilibrium]]

# Load steps in which the first frame of the cycle is reached, and cycles that are run before the
# one that is reported.
ENTRY_STEPS = 6
PASSES = 1
# Deepest dent that elements are moved by, mm: several times the largest of the compared inserts.
DEEPEST_DENT = 0.5
# Rows of elements are joined to rows of slabs of at most this length, mm.
_ROW_LENGTH = 0.75
_BORDERS = (0.0, 0.15, 0.4, 0.8, 1.5, 2.6, 4.2, 6.5)
_MARGIN = 2.0
# Surface around the elements that are pressed in the elastic cycle, mm. Where a frame leaves it,
# the whole plateau is taken.
_BESIDE = 3.0
# Frames between elastic equilibria where they are starts only.
_APART = 2
# Residual of load steps and of passes that are not reported, far below what `_TOLERANCE` of the
# dent changes. The reported pass has the residual of the study.
_UNREPORTED = 1e-5
_OFTEN = 2  # times that the stress of a strain is asked for, from which its residual part is kept
_TOLERANCE = 5e-3  # change of the dent in an update, of the largest overlap
_MAX_UPDATES = 60
# Updates that are accelerated. Where contact moves sideways as the dent grows, acceleration may
# never settle; a part of each further update does.
_ACCELERATED = 8
_DAMPED = 0.3
_REMEDY = "Set simulation.material_yield to null, or choose a thicker insert or a smaller load."


class CommittedStrain(NamedTuple):
    """Plastic strain below one plateau that a cycle leaves.

    Rows of elements are joined to blocks. Blocks and slabs that a plateau does not have are zero.

    Parameters
    ----------
    strain : array, shape (6, slab, block, column)
        Plastic strain, with the components of `PlasticFields`.
    equivalent : array, shape (slab, block, column)
        Equivalent plastic strain.
    first_row : int
        Row of elements at which the first block begins; negative where that block is cut by the
        end of the plateau.
    """

    strain: Array
    equivalent: Array
    first_row: int

    @property
    def strained(self) -> NDArray[np.bool_]:
        """Blocks and columns with plastic strain, (block, column)."""
        return np.asarray(self.equivalent.any(axis=0))


class PlasticCycle(NamedTuple):
    """A cycle on an insert that yields.

    Parameters
    ----------
    frames : list of Equilibrium
        Equilibria of all frames.
    dent : array, shape (side, row, column)
        Permanent deflection of the surface without load, mm, downwards positive.
    plastic_strain : array, shape (side, row, column)
        Largest equivalent plastic strain below every element in any frame.
    residual_stress : array, shape (side, row, column)
        Largest von Mises stress below every element without load, MPa.
    yielded_stress : array, shape (side, row, column)
        Largest von Mises stress below every element at the frame of the largest load, MPa, with the
        residual stress.
    growth : float
        Growth of the largest plastic strain in the reported cycle, of itself.
    committed : list of CommittedStrain
        Plastic strain below each plateau before `permanent_share` is applied, from which the next
        activity continues. Zero with a share of zero.
    """

    frames: list[Equilibrium]
    dent: Array
    plastic_strain: Array
    residual_stress: Array
    yielded_stress: Array
    growth: float
    committed: list[CommittedStrain]


@dataclass(frozen=True)
class YieldingInsert:
    """Material of an insert, and the part of its plastic strain that stays.

    Parameters
    ----------
    elastic, hardening : Elastic, Hardening
        The material.
    permanent_share : float
        Part of the plastic strain of earlier frames that a frame starts from, from 0 to 1.
    """

    elastic: Elastic
    hardening: Hardening
    permanent_share: float


class _LeftWindowError(Exception):
    """Pressure beside the part of a plateau below which stress is computed."""


@dataclass
class _Residual:
    """Residual stress of a plastic strain, and how often it was asked for."""

    stress: Array | None = None
    asked: int = 0


class _Strain(NamedTuple):
    """Plastic strain with its waves and the dent of the elements in the window, mm.

    Strains that are the same to the bit share their residual stress.
    """

    fields: PlasticFields
    waves: StrainWaves
    dent: Array
    residual: _Residual


class _Side:
    """Slabs below one plateau, and its elements."""

    def __init__(
        self,
        pair: ContactPair,
        grid: ElementGrid,
        number: int,
        thickness: float,
        insert: YieldingInsert,
        touched: NDArray[np.bool_],
        beside: float,
        before: CommittedStrain | None = None,
    ) -> None:
        rows, columns = grid.valid.shape[1:]
        edges = [float(edge) for edge in grid.cell_edges(number)]
        joined = self._joined = joined_rows(grid, number)
        if before is not None:
            touched = touched | _strained_elements(before, joined, touched.shape)
        low, high = _box(touched, edges, beside, (rows, columns))
        if before is not None:  # blocks of rows begin where committed ones do
            low[0] -= (low[0] - before.first_row) % joined
        self._low = int(low[0]), int(low[1])
        shape = math.ceil(int(high[0] - low[0]) / joined), int(high[1] - low[1])
        self.pair, self.number, self.shape = pair, number, shape
        cell = joined * edges[0], edges[1]
        after = self._low[0] + joined * shape[0], self._low[1] + shape[1]
        window = SlabWindow(
            shape,
            cell,
            thickness,
            insert.elastic,
            _BORDERS,
            _MARGIN,
            single=True,
            ends=end_distances(grid, number, (self._low, after)),
        )
        self.slabs = PlasticSlabs(window, insert.hardening)
        row, column = np.divmod(pair.index, columns)
        inside = (row >= low[0]) & (row < high[0]) & (column >= low[1]) & (column < high[1])
        block, self._across = (row - low[0]) // joined, column - low[1]
        self._block = np.where(inside, block * shape[1] + self._across, -1)
        self._inside = np.flatnonzero(inside)
        # Dents of elements are interpolated between the middles of the rows of slabs.
        middle = np.clip((row[inside] - low[0] + 0.5) / joined - 0.5, 0.0, shape[0] - 1.0)
        self._before = np.minimum(middle.astype(int), max(shape[0] - 2, 0))
        self._after = np.minimum(self._before + 1, shape[0] - 1)
        self._part = middle - self._before
        self._across = self._across[inside]

    def continued(self, before: CommittedStrain | None) -> PlasticFields:
        """Plastic strain of the window from what an earlier cycle left; fresh without one."""
        fields = self.slabs.fresh()
        if before is not None:
            own = self._blocks_of_plateau(before.first_row)
            count = self.slabs.window.heights.size
            fields.strain[:] = before.strain[:, :count, *own]
            fields.equivalent[:] = before.equivalent[:count, *own]
        return fields

    def committed(self, fields: PlasticFields, shape: tuple[int, ...]) -> CommittedStrain:
        """Plastic strain of the window on a plateau of `committed_shape`."""
        first_row = -(-self._low[0] % self._joined)
        strain = np.zeros(shape)
        equivalent = np.zeros(shape[1:])
        own = self._blocks_of_plateau(first_row)
        count = self.slabs.window.heights.size
        strain[:, :count, *own] = fields.strain
        equivalent[:count, *own] = fields.equivalent
        return CommittedStrain(strain, equivalent, first_row)

    def _blocks_of_plateau(self, first_row: int) -> tuple[slice, slice]:
        """Blocks and columns of the plateau that the window is."""
        block = (self._low[0] - first_row) // self._joined
        return (
            slice(block, block + self.shape[0]),
            slice(self._low[1], self._low[1] + self.shape[1]),
        )

    def strain(self, fields: PlasticFields) -> _Strain:
        """Plastic strain with the dent that it causes."""
        waves = self.slabs.window.waves(fields.strain)
        surface = self.slabs.window.deflection_of(waves)
        low, high = (surface[rows, self._across] for rows in (self._before, self._after))
        dent = (1.0 - self._part) * low + self._part * high
        return _Strain(fields, waves, dent, _Residual())

    def sink(self, strain: _Strain) -> None:
        """Move the elements by the dent."""
        depth = np.zeros(self.pair.index.size)
        depth[self._inside] = strain.dent
        self.pair.sink(depth)

    def flow(self, contact: Resultant, strain: _Strain, before: PlasticFields) -> _Strain:
        """Plastic strain after the pressures of a contact."""
        pressure, residual = self._pressure(contact), self._residual_stress(strain)
        flowed = self.slabs.flow(pressure, strain.fields.strain, strain.waves, before, residual)
        if np.array_equal(flowed.strain, strain.fields.strain):
            return strain._replace(fields=flowed)
        return self.strain(flowed)

    def _residual_stress(self, strain: _Strain) -> Array | None:
        """Residual stress of a strain; None at first, when it costs less with the pressure."""
        kept = strain.residual
        kept.asked += 1
        if kept.asked == _OFTEN:
            kept.stress = self.slabs.window.deviator(np.zeros(self.shape), strain.waves)
        return kept.stress

    def _pressure(self, contact: Resultant) -> Array:
        """Pressure of a contact on the window, MPa."""
        block = self._block[contact.element]
        if (block < 0).any():
            raise _LeftWindowError
        count = self.shape[0] * self.shape[1]
        pressure = np.bincount(block, contact.pressure, count).reshape(self.shape)
        return np.asarray(pressure / self._joined)

    def von_mises(self, fields: PlasticFields, contact: Resultant | None = None) -> Array:
        """Von Mises stress of the slabs by plastic strain and a contact, MPa."""
        pressure = np.zeros(self.shape) if contact is None else self._pressure(contact)
        stress = self.slabs.window.stress(pressure, fields.strain)
        return von_mises(np.moveaxis(stress, 0, -1))

    def on_elements(self, values: Array, cells: tuple[int, ...]) -> Array:
        """Values of the elements in the window on the grid, zero elsewhere."""
        whole = np.zeros(cells)
        whole.ravel()[self.pair.index[self._inside]] = values
        return whole

    def below(self, field: Array) -> Array:
        """Largest of a field of the slabs below every element in the window."""
        return field.max(axis=0).ravel()[self._block[self._inside]]


def joined_rows(grid: ElementGrid, side: int) -> int:
    """Number of rows of elements of a side that are one row of slabs."""
    return max(1, int(_ROW_LENGTH / float(grid.cell_edges(side)[0])))


def committed_shape(grid: ElementGrid) -> tuple[int, int, int, int]:
    """Shape of `CommittedStrain.strain` of every side of a grid."""
    rows, columns = (int(count) for count in grid.valid.shape[1:])
    joined = [joined_rows(grid, side) for side in range(len(grid.sides))]
    blocks = max(math.ceil((rows + count - 1) / count) for count in joined)
    return 6, len(_BORDERS) - 1, blocks, columns


def _strained_elements(
    before: CommittedStrain, joined: int, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Elements (row, column) above committed strain."""
    block = (np.arange(shape[0]) - before.first_row) // joined
    return np.asarray(before.strained[block])


def _box(
    touched: NDArray[np.bool_], edges: Sequence[float], beside: float, shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First row and column around chosen elements, and those after the last."""
    cells = np.argwhere(touched)
    if not math.isfinite(beside) or not cells.size:
        return np.zeros(2, dtype=np.int64), np.array(shape)
    more = np.ceil(beside / np.array(edges)).astype(np.int64)
    return (
        np.maximum(cells.min(axis=0) - more, 0),
        np.minimum(cells.max(axis=0) + 1 + more, shape),
    )


def run_cycle(
    elastic: SolveElastic,
    order: Sequence[int],
    solve: Solve,
    pairs: Sequence[ContactPair],
    grid: ElementGrid,
    thickness: Sequence[float],
    insert: YieldingInsert,
    before: Sequence[CommittedStrain] = (),
    *,
    entry_steps: int = ENTRY_STEPS,
    passes: int = PASSES,
) -> PlasticCycle:
    """Solve a cycle again on an insert that yields.

    Parameters
    ----------
    elastic : callable
        Equilibria without yield, on surfaces that are not sunk.
    order : sequence of int
        All frames from the one of the largest load on, at which the cycle is entered.
    solve : callable
        Equilibrium of a frame under a share of its load on `pairs` as they are sunk.
    pairs : sequence of ContactPair
        Pair of each side (`ContactPair.sinkable`).
    grid : ElementGrid
        Elements of the pairs.
    thickness : sequence of float
        Thickness of the layer below each side, mm.
    insert : YieldingInsert
        Material.
    before : sequence of CommittedStrain
        Plastic strain of each side that another cycle left; none of an insert that was never
        loaded.
    entry_steps : int
        Load steps in which the first frame is reached.
    passes : int
        Cycles that are run, and whose strain is kept, before the one that is reported.

    Notes
    -----
    The frames of the earlier cycles are load steps, each of which starts from the strain that the
    one before it left. Each frame of the reported cycle starts from `permanent_share` times the
    strain that these cycles left, and leaves nothing. With a share of zero there are no earlier
    cycles: in each frame the body was never loaded before, and polyethylene is a nonlinear
    elastic solid that follows its curve both ways.

    The load steps continue from all the strain that another cycle left. A share of zero forgets it.

    ConvergenceError, with the frame, where an equilibrium is not found.
    """
    # Without permanent strain every frame starts from material that was never loaded.
    apart = _APART if insert.permanent_share > 0.0 else 1
    if insert.permanent_share == 0.0 or not any(side.strained.any() for side in before):
        before = ()
    known = elastic(apart, _UNREPORTED)
    for beside in (_BESIDE, math.inf):
        cycle = _build_cycle(known, order, solve, pairs, grid, thickness, insert, before, beside)
        if apart > 1 and not before and not cycle.flows_at_first():
            apart, known = 1, elastic(1, 0.0)
            cycle = _build_cycle(known, order, solve, pairs, grid, thickness, insert, (), beside)
        try:
            return cycle.run(entry_steps, passes)
        except _LeftWindowError:
            continue
    raise AssertionError("elements of a pair are on its plateau")


def _build_cycle(
    elastic: Mapping[int, Equilibrium],
    order: Sequence[int],
    solve: Solve,
    pairs: Sequence[ContactPair],
    grid: ElementGrid,
    thickness: Sequence[float],
    insert: YieldingInsert,
    before: Sequence[CommittedStrain],
    beside: float,
) -> _Cycle:
    """A cycle whose slabs reach so far, mm, beyond the elements that are pressed elastically."""
    rows, columns = (int(count) for count in grid.valid.shape[1:])
    touched = np.zeros((len(pairs), rows, columns), dtype=bool)
    for frame in elastic.values():
        for side, (pair, contact) in enumerate(zip(pairs, frame.contacts, strict=True)):
            touched[side].ravel()[pair.index[contact.element]] = True
    earlier: Sequence[CommittedStrain | None] = before or [None] * len(pairs)
    sides = [
        _Side(pair, grid, number, thick, insert, touched[number], beside, earlier[number])
        for number, (pair, thick) in enumerate(zip(pairs, thickness, strict=True))
    ]
    return _Cycle(elastic, order, solve, sides, insert.permanent_share, earlier, grid)


def _elastic_poses(elastic: Mapping[int, Equilibrium], count: int) -> list[Array]:
    """Poses of all frames, interpolated between those that are known."""
    known = sorted(elastic)
    if len(known) == count:
        return [elastic[frame].pose for frame in known]
    poses = np.array([elastic[frame].pose for frame in [*known, known[0]]])
    spline = scipy.interpolate.CubicSpline([*known, known[0] + count], poses, bc_type="periodic")
    return list(spline(np.arange(count)))


class _Cycle:
    """Frames of one case, solved one after the other."""

    def __init__(
        self,
        elastic: Mapping[int, Equilibrium],
        order: Sequence[int],
        solve: Solve,
        sides: Sequence[_Side],
        permanent_share: float,
        before: Sequence[CommittedStrain | None],
        grid: ElementGrid,
    ) -> None:
        self.elastic, self.sides, self.solve = elastic, sides, solve
        self.share, self.order, self.grid = permanent_share, order, grid
        self.first = order[0]
        self.poses = _elastic_poses(elastic, len(order))
        self.fresh = [side.strain(side.slabs.fresh()) for side in sides]
        self.latest = self.entry = [
            fresh if earlier is None else side.strain(side.continued(earlier))
            for side, fresh, earlier in zip(sides, self.fresh, before, strict=True)
        ]
        self.shift = np.zeros(6)
        # Of all frames at their last solution: the pose less the elastic one; and what it
        # changed the last time that a frame was solved again.
        self.shifts: dict[int, Array] = {}
        self.drift = np.zeros(6)

    def _commit(self, entry_steps: int, passes: int) -> list[PlasticFields]:
        """Plastic strain after the load steps and the passes that are not reported."""
        state = [entry.fields for entry in self.entry]
        if self.share == 0.0:
            return state
        for step in range(1, entry_steps + 1):
            _, state = self._press(self.first, step / entry_steps, state, _UNREPORTED)
        for number in range(passes):
            # The first frame of the first pass is the last load step.
            for frame in self.order[1 if number == 0 else 0 :]:
                _, state = self._press(frame, 1.0, state, _UNREPORTED)
        return state

    def flows_at_first(self) -> bool:
        """True where the largest load makes material flow that was never loaded."""
        return self.first in self.elastic and self._without_flow(self.first) is None

    def run(self, entry_steps: int, passes: int) -> PlasticCycle:
        """All passes; the last one is reported."""
        shape = tuple(int(count) for count in self.grid.valid.shape[1:])
        committed = self._commit(entry_steps, passes)
        state = [PlasticFields(*(self.share * part for part in fields)) for fields in committed]
        largest = [fields.equivalent for fields in state]
        frames, loaded = {}, []
        for frame in self.order:
            frames[frame], after = self._press(frame, 1.0, state)
            if frame == self.first:
                loaded = [
                    side.von_mises(one, contact)
                    for side, one, contact in zip(
                        self.sides, after, frames[frame].contacts, strict=True
                    )
                ]
            largest = [
                np.maximum(part, one.equivalent) for part, one in zip(largest, after, strict=True)
            ]
        before = max(float(fields.equivalent.max()) for fields in state)
        peak = max(float(part.max()) for part in largest)
        both = list(zip(self.sides, state, largest, strict=True))
        return PlasticCycle(
            frames=[frames[number] for number in range(len(self.order))],
            dent=np.array(
                [side.on_elements(side.strain(one).dent, shape) for side, one, _ in both]
            ),
            plastic_strain=np.array(
                [side.on_elements(side.below(part), shape) for side, _, part in both]
            ),
            residual_stress=np.array(
                [side.on_elements(side.below(side.von_mises(one)), shape) for side, one, _ in both]
            ),
            yielded_stress=np.array(
                [
                    side.on_elements(side.below(part), shape)
                    for side, part in zip(self.sides, loaded, strict=True)
                ]
            ),
            growth=peak / before - 1.0 if before > 0.0 else 0.0,
            committed=[
                side.committed(fields, committed_shape(self.grid))
                for side, fields in zip(self.sides, committed, strict=True)
            ],
        )

    def _press(
        self,
        frame: int,
        load_share: float,
        before: Sequence[PlasticFields],
        tolerance: float = 0.0,
    ) -> tuple[Equilibrium, list[PlasticFields]]:
        """Equilibrium of a frame, and the plastic strain after it."""
        unloaded = not any(fields.equivalent.any() for fields in before)
        if load_share == 1.0 and unloaded and len(self.elastic) == len(self.order):
            without = self._without_flow(frame)
            if without is not None:
                return without, list(before)
        pose = self.poses[frame]
        start = pose + (self.shifts[frame] + self.drift if frame in self.shifts else self.shift)
        strain, change = self.latest, math.inf
        history: list[tuple[Array, Array]] = []
        for number in range(_MAX_UPDATES):
            dent = max(float(np.abs(own.dent).max()) for own in strain)
            if dent > DEEPEST_DENT:
                raise ConvergenceError("Dent of the surface", frame, dent, "mm", _REMEDY)
            for side, own in zip(self.sides, strain, strict=True):
                side.sink(own)
            solved = self.solve(frame, start, pose, load_share, tolerance)
            after = [
                side.flow(contact, own, old)
                for side, contact, own, old in zip(
                    self.sides, solved.contacts, strain, before, strict=True
                )
            ]
            deepest = max(contact.max_penetration for contact in solved.contacts)
            moves = zip(after, strain, strict=True)
            change = max(float(np.abs(new.dent - own.dent).max()) for new, own in moves)
            if change <= _TOLERANCE * deepest:
                self.latest, self.shift = after, solved.pose - pose
                self.drift = self.shift - self.shifts.get(frame, self.shift)
                self.shifts[frame] = self.shift
                return solved, [new.fields for new in after]
            start = solved.pose
            strain, history = self._next(strain, after, before, history, number)
        raise ConvergenceError(
            "Plastic strain below the contact",
            frame,
            change,
            "mm of change of the dent",
            _REMEDY,
        )

    def _without_flow(self, frame: int) -> Equilibrium | None:
        """Elastic equilibrium of a frame where nothing flows in material that was never loaded.

        None where something flows. A cycle that does not yield is then the elastic one to the bit.
        """
        elastic = self.elastic[frame]
        for side, contact, fresh in zip(self.sides, elastic.contacts, self.fresh, strict=True):
            if side.flow(contact, fresh, fresh.fields).fields.equivalent.any():
                return None
        self.latest, self.shift = self.fresh, np.zeros(6)
        return elastic

    def _next(
        self,
        strain: Sequence[_Strain],
        after: Sequence[_Strain],
        before: Sequence[PlasticFields],
        history: list[tuple[Array, Array]],
        number: int,
    ) -> tuple[list[_Strain], list[tuple[Array, Array]]]:
        """Plastic strain of the next update after so many, and the iterates before it.

        By Anderson's method, and at last by a part of the change.
        """
        pairs = list(zip(after, before, strict=True))
        if not history and all(
            (new.fields.equivalent == old.equivalent).all() for new, old in pairs
        ):
            return list(after), []  # nothing flows: the strain is that before, to the bit
        point = np.concatenate([fields.fields.strain.ravel() for fields in strain])
        target = np.concatenate([fields.fields.strain.ravel() for fields in after])
        history = [*history[1 - MEMORY :], (point, target - point)]
        if number < _ACCELERATED:
            mixed = accelerated(history)
        else:
            mixed = point + _DAMPED * (target - point)
        found, at = [], 0
        for side, new in zip(self.sides, after, strict=True):
            own = mixed[at : at + new.fields.strain.size].reshape(new.fields.strain.shape)
            found.append(side.strain(PlasticFields(own, new.fields.equivalent)))
            at += own.size
        return found, history
