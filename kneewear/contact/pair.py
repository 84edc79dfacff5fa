"""Contact between surfaces of the moving body and the elements of the fixed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.base.compilation import by_address
from kneewear.contact import _coupling_kernels as couplings
from kneewear.contact import _distance_kernels as distances
from kneewear.contact import _force_kernels as forces
from kneewear.contact import _kernels
from kneewear.contact import _update_kernels as updates
from kneewear.contact.foundation import CoupledLayer, ElasticLayer
from kneewear.contact.resultant import Cells, ContactResult, Resultant
from kneewear.contact.search import build_tiles, map_proximity
from kneewear.contact.traction import Damping, Friction, traction_law
from kneewear.geometry._distance_kernels import DistanceArrays
from kneewear.geometry._kernels import OPEN, PatchArrays
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.mechanics.rotations import require_rotation

Array = NDArray[np.float64]

METHODS = {"minimum_distance": distances.MINIMUM_DISTANCE, "ray": distances.RAY}
CORRECTIONS = {"none": False, "mid_surface": True}
DIRECTIONS = {
    "minimum_distance": forces.ALONG_MINIMUM_DISTANCE,
    "element_normal": forces.ALONG_ELEMENT_NORMAL,
    "mid_surface": forces.ALONG_MID_SURFACE,
}
SEARCHES = {
    "all": distances.ALL,
    "bounds": distances.BOUNDS,
    "breadth_first": distances.BREADTH_FIRST,
}
# Edge of a tile in voxels of the indenter's surroundings, where their bounds still hold.
TILE_EDGE = 2.0
_NONE = np.zeros((1, 1), dtype=np.int32)
_NO_TABLE = DistanceArrays(
    axis=np.zeros(2),
    origin=np.zeros(3),
    rate=np.zeros(3),
    first=_NONE,
    length=_NONE,
    base=_NONE,
    coefficient=np.zeros(1, dtype=np.float32),
    state=np.zeros(1, dtype=np.uint8),
)
_NO_COUPLING = couplings.CouplingArrays(
    on=False,
    across=np.zeros((1, 1, 1)),
    along=np.zeros((1, 1, 1)),
    joint_along=np.zeros((1, 1, 0)),
    joint_across=np.zeros((1, 0, 1)),
    row=np.zeros(1, dtype=np.int64),
    column=np.zeros(1, dtype=np.int64),
    covered=np.zeros(1),
    pressed=np.zeros(1, dtype=np.uint8),
    factor=np.zeros(1),
    factored=np.zeros(1, dtype=np.int64),
    border=np.zeros(1, dtype=np.int64),
    place=np.zeros(1, dtype=np.int64),
    placed=np.zeros(1, dtype=np.int64),
    among=np.zeros((1, 1)),
)
# Kernel of pressures by whether layers are coupled.
_PRESS = {
    frozenset({False}): _kernels.press_chunks,
    frozenset({True}): couplings.press_pair,
    frozenset({False, True}): _kernels.press_any,
}
# Elements of a coupled layer whose factor is kept from pose to pose: 8 MB.
_MAX_FACTORED = 1000
# Elements of a surface that sinks among which the influence is kept: up to 32 MB a side.
_MAX_PLACED = 2000


class PreparedPair(NamedTuple):
    """A pair with its layer as kernels take it, and the arrays in it that change."""

    record: Any
    work: distances.WorkArrays
    pressed: NDArray[np.uint8]  # whether elements of a coupled layer were pressed last


class ContactPair:
    """Elements of one surface of the fixed body, and the surface of the moving body they meet.

    The elements are those of one `side` of `grid`; `indenter` is the exact surface of the moving
    body: a patch, which may close in itself by seams and poles, or several, whose borders meet up
    to 1e-3 mm apart. Sharp edges must be borders. `table` are samples of each patch, from which the
    space around them is mapped. `index` are the valid
    elements among all cells of the side, `centre`, `normal`, `tangent_row` and `tangent_column` (n,
    3), mm and unit vectors, and `area` (n,), mm2, belong to these. ValueError if there are none, a
    choice does not exist, or a distance table is given for rays or for several patches.

    Parameters
    ----------
    method : {"minimum_distance", "ray"}
        Distance of an element: to the nearest point of the indenter, or along the element's normal.
    correction : {"none", "mid_surface"}, optional
        Whether penetration is the distance itself or that along the normal of the mid-surface; by
        default the latter if pressure acts along that normal too, as in the source.
    direction : {"minimum_distance", "element_normal", "mid_surface"}
        Line along which pressure acts. Only the first, with the minimum distance uncorrected, makes
        forces derive from a potential: use no other where energy must be conserved.
    distance_table : DistanceTable, optional
        Smooth table of the minimum distance to the indenter, used where it has values; elsewhere
        (deeper than its band and at borders) distances are computed on the surface itself.
    search : {"bounds", "breadth_first", "all"}
        How active elements are found, see `kneewear.contact.search`; the result is the same.
    map_share : float
        Share of the voxels of a full map of the space around the indenter, for pairs that are
        evaluated at few poses (`kneewear.contact.search.FEW_POSES`); the result is the same.
    friction, damping : Friction and Damping, optional
        What motion adds to the pressure; nothing by default.

    Notes
    -----
    With A the centre of an element, n its normal, B the nearest point of the indenter, C the point
    where the line along n meets it, and theta the angle between BA and n, the penetration is

        |AB|    |AB| / cos(theta / 2)    |AC|    |AC| cos(theta) / cos(theta / 2)

    uncorrected and corrected for the minimum distance and for the ray, in this order; theta of a
    ray is taken at C (Bei 2003, section 2.2.2 and Fig. 2-2, which gives the corrections in words).
    The third is the largest and the first the smallest. The mid-surface direction halves theta.

    An element is active if its centre is inside the moving body, which reaches up to
    `kneewear.contact.search.REACH` beyond the box around the indenter, and if it faces the
    indenter: by an angle theta below 84 deg. At any depth, its own nearest point counts.
    """

    def __init__(
        self,
        grid: ElementGrid,
        side: int,
        indenter: Surface | Sequence[Surface],
        table: SurfaceTable | Sequence[SurfaceTable],
        *,
        method: str = "minimum_distance",
        correction: str | None = None,
        direction: str = "minimum_distance",
        distance_table: DistanceTable | None = None,
        search: str = "bounds",
        map_share: float = 1.0,
        friction: Friction | None = None,
        damping: Damping | None = None,
    ) -> None:
        if method == "ray" and distance_table is not None:
            raise ValueError("a distance table contains minimum distances; rays need the surface")
        if correction is None:
            correction = "mid_surface" if direction == "mid_surface" else "none"
        self.patches = (indenter,) if isinstance(indenter, Surface) else tuple(indenter)
        tables = (table,) if isinstance(table, SurfaceTable) else tuple(table)
        if len(self.patches) > 1 and distance_table is not None:
            raise ValueError("a distance table represents one patch; found several")
        self.search = search
        self._options = _kernels.Options(
            method=_choose("method", METHODS, method),
            corrected=_choose("correction", CORRECTIONS, correction),
            direction=_choose("direction", DIRECTIONS, direction),
            search=_choose("search", SEARCHES, search),
            tabled=distance_table is not None,
            several=len(self.patches) > 1,
        )
        self._traction = traction_law(friction, damping)
        space = map_proximity(self.patches, tables, map_share)
        self._voxels = distances.Voxels(
            space.planes,
            space.starts,
            float(space.origin[0]),
            float(space.origin[1]),
            float(space.origin[2]),
            float(space.voxel),
            *space.shape,
        )
        self._model: tuple[ElasticLayer, ContactModel] | None = None
        # Tiles of a pair that sinks, before it does, and the influence that it keeps of a layer.
        self._still: distances.TileArrays | None = None
        self._placed: tuple[ElasticLayer, tuple[NDArray[Any], ...]] | None = None
        self._table = _NO_TABLE if distance_table is None else distance_table.kernel_arrays
        self._set_elements(grid, side)

    @property
    def control_points(self) -> Array:
        """Control points of all patches, shape (n, 3), mm."""
        return np.concatenate([patch.control_points.reshape(-1, 3) for patch in self.patches])

    @property
    def is_plain(self) -> bool:
        """True if distances are to one open patch, without rays."""
        one = len(self.patches) == 1 and self.patches[0].arrays.closed == OPEN
        return one and self._options.method == distances.MINIMUM_DISTANCE

    @property
    def has_friction(self) -> bool:
        """True if contact depends on velocity, by friction or damping."""
        law = self._traction
        return law.static > 0.0 or law.dynamic > 0.0 or law.damping > 0.0

    def evaluate(
        self,
        rotation: ArrayLike,
        translation: ArrayLike,
        layer: ElasticLayer,
        velocity: ArrayLike | None = None,
    ) -> Resultant:
        """Contact at one pose over one elastic layer; arguments as of `ContactModel.evaluate`."""
        if self._model is None or self._model[0] is not layer:
            self._model = layer, ContactModel({"pair": self}, {"pair": layer})
        return self._model[1].evaluate(rotation, translation, velocity)["pair"]

    def reset(self) -> None:
        """Start the next breadth-first search without active elements; it finds the same ones."""
        if self._model is not None:
            self._model[1].reset()

    def with_grid(self, grid: ElementGrid, side: int) -> ContactPair:
        """The same indenter over one side of another grid; the map of the indenter is shared."""
        other = copy(self)
        other._set_elements(grid, side)
        return other

    def with_friction(self, friction: Friction) -> ContactPair:
        """The same pair under friction; the map of the indenter is shared."""
        other = copy(self)
        other._traction, other._model = traction_law(friction, None), None
        return other

    def sinkable(self) -> ContactPair:
        """Copy of the pair whose elements `sink` moves; the map is shared."""
        other = copy(self)
        elements, tiles = self._elements, self._tiles
        other._model, other._placed, other._still = None, None, tiles
        other._elements = elements._replace(centre=elements.centre.copy())
        other._tiles = tiles._replace(radius=tiles.radius.copy(), depth=tiles.depth.copy())
        return other

    def sink(self, depth: Array) -> None:
        """Move every element of a `sinkable` pair against its normal from its place, mm.

        `depth` (n,) is in the order of `index`. Other models of the pair see the move once they
        `forget` their last pose. The pair still reports places and areas of the surface that was
        never pressed.
        """
        assert self._still is not None
        elements = self._elements
        elements.centre[:] = self.centre[elements.order].T
        elements.centre[:] -= depth[elements.order] * elements.normal
        most = float(np.abs(depth).max())
        self._tiles.radius[:] = self._still.radius + most
        self._tiles.depth[:] = self._still.depth + most
        if self._model is not None:
            self._model[1].forget()

    def prepare(self, layer: ElasticLayer) -> PreparedPair:
        """The pair and its layer as kernels take them, with working arrays of their own.

        ValueError if the layer does not have one thickness per valid element, or if a coupled layer
        is not one of the elements' grid, or pressure on it depends on velocities or does not act
        along the uncorrected minimum distance.
        """
        count = self.index.size
        thickness = np.array(layer.thickness, dtype=float)
        if thickness.shape != (count,):
            raise ValueError(
                f"a layer needs {count} thicknesses, one a valid element; found {thickness.size}"
            )
        work, coupling = (
            working_arrays(count, self._tiles.chunk_first.size - 1),
            self._coupling(layer),
        )
        record = _kernels.build_pair(
            _plain(self.patches[0].arrays),
            _plain(self._voxels),
            _plain(self._table),
            self._elements,
            self._tiles,
            layer.law.arrays,
            thickness,
            coupling,
            self._traction,
            self._options,
            work,
        )
        for patch in self.patches[1:]:
            _kernels.add_patch(record, _plain(patch.arrays))
        return PreparedPair(record, work, coupling.pressed)

    def _coupling(self, layer: ElasticLayer) -> couplings.CouplingArrays:
        """Influence of a coupled layer in the order of the kernels' elements."""
        if not isinstance(layer, CoupledLayer):
            return _NO_COUPLING
        options, shape = self._options, self.cells.area.shape
        if layer.influence.shape != shape:
            raise ValueError(
                f"a coupled layer of {layer.influence.shape} cells under a grid of {shape}; "
                "compute its influence for this grid"
            )
        along = options.direction == forces.ALONG_MINIMUM_DISTANCE
        if self.has_friction or options.method or options.corrected or not along:
            raise ValueError(
                "a coupled layer takes pressure along the uncorrected minimum distance, without "
                "friction and damping; use an elastic foundation for others"
            )
        row, column = np.divmod(self.index[self._elements.order], shape[1])
        count = self.index.size
        most = min(count, _MAX_PLACED if self._still else _MAX_FACTORED)
        return couplings.CouplingArrays(
            True,
            *layer.influence.of_kernels,
            row,
            column,
            self._covered[self._elements.order],
            np.zeros(count, dtype=np.uint8),
            np.zeros(most * (most + couplings.RIGHT + couplings.BORDERS)),
            np.zeros(count + 1, dtype=np.int64),
            np.zeros(couplings.BORDERS + 1, dtype=np.int64),
            *self._places(layer),
        )

    def _places(self, layer: ElasticLayer) -> tuple[NDArray[Any], ...]:
        """Places of elements in the stored influence of a surface that sinks."""
        if self._placed is None or self._placed[0] is not layer:
            most = min(self.index.size, _MAX_PLACED) if self._still else 1
            place = np.full(self.index.size, -1, dtype=np.int64)
            placed = np.zeros(most + 1, dtype=np.int64)
            self._placed = layer, (place, placed, np.zeros((most, most)))
        return self._placed[1]

    def gap(self, rotation: Array, translation: Array, stride: int = 7) -> tuple[float, Array]:
        """Smallest signed distance of a sample of the elements, mm, and the centre of its element.

        Every `stride`-th element is sampled. Negative where the surfaces overlap. ValueError if no
        element faces the indenter.
        """
        sample = self.centre[::stride]
        distance = np.full(len(sample), np.inf)
        for patch in self.patches:
            _, _, found, normal, interior = patch.closest_points((sample - translation) @ rotation)
            facing = ((normal @ rotation.T) * self.normal[::stride]).sum(-1) < 0
            nearer = interior & facing & (np.abs(found) < np.abs(distance))
            distance = np.where(nearer, found, distance)
        nearest = int(np.argmin(distance))
        if not np.isfinite(distance[nearest]):
            raise ValueError("no element faces the surface above it")
        return float(distance[nearest]), sample[nearest]

    def _set_elements(self, grid: ElementGrid, side: int) -> None:
        """Keep the elements as flat arrays, and in the order of their tiles for the kernels."""
        valid = grid.valid[side]
        self._model, self._placed = None, None
        self.index = np.flatnonzero(valid.ravel())
        if self.index.size == 0:
            raise ValueError(f"side {side} of the grid has no elements")
        self.centre, self.normal, self.tangent_row, self.tangent_column = (
            np.ascontiguousarray(part[side].reshape(-1, 3)[self.index])
            for part in (grid.centre, grid.normal, grid.tangent_row, grid.tangent_column)
        )
        self.cells = Cells(self.index, np.array(grid.area[side]))
        self.area = self.cells.area.ravel()[self.index]
        self._covered = grid.covered[side].ravel()[self.index]
        for part in (self.centre, self.normal, self.tangent_row, self.tangent_column, self.area):
            part.setflags(write=False)  # the kernels have copies of their own
        edge = TILE_EDGE * self._voxels.size
        self._tiles, order, neighbours = build_tiles(valid, self.centre, self.normal, edge)
        lowest, highest = self.centre.min(axis=0), self.centre.max(axis=0)
        self._elements = distances.ElementArrays(
            centre=self.centre[order].T.copy(),
            normal=self.normal[order].T.copy(),
            area=self.area[order],
            tangent_row=self.tangent_row[order].T.copy(),
            tangent_column=self.tangent_column[order].T.copy(),
            order=order,
            neighbours=neighbours,
            box_middle=0.5 * (lowest + highest),
            box_half=0.5 * (highest - lowest),
        )


class ContactModel:
    """All contact between two bodies, prepared for evaluation at many poses.

    A multibody program needs `evaluate` only: it takes the pose and velocity of the moving body and
    returns the wrench on it, with its derivatives, and the pressures of every pair and element.

    `pairs` and `layers` have the same names, such as "medial" and "lateral"; ValueError otherwise.
    Motion that moves no element by more than `reuse_tolerance`, mm, against the moving body returns
    the result of the last pose again (zero: for the very same pose only); apart from that a result
    never depends on earlier poses. When only velocities change, the elements and distances of the
    last pose are used again, which changes no result, and neither does the number of `threads` that
    share pairs and elements. `record` is the model for other kernels, see
    `kneewear.contact._kernels.evaluate_pairs`.
    """

    def __init__(
        self,
        pairs: Mapping[str, ContactPair],
        layers: Mapping[str, ElasticLayer],
        *,
        reuse_tolerance: float = 0.0,
        threads: int = 1,
    ) -> None:
        if set(pairs) != set(layers) or not pairs:
            raise ValueError(f"pairs {sorted(pairs)} and layers {sorted(layers)} differ")
        if not (reuse_tolerance >= 0.0 and threads >= 1):
            raise ValueError("the re-use tolerance is at least 0, the threads at least 1")
        if threads > 1 and any(pair.search == "breadth_first" for pair in pairs.values()):
            raise ValueError(
                "a breadth-first search goes from element to element and cannot be shared by "
                "threads; choose search='bounds'"
            )
        prepared = [pair.prepare(layers[name]) for name, pair in pairs.items()]
        self._cells = {
            name: pair.cells._replace(by_pressure=isinstance(layers[name], CoupledLayer))
            for name, pair in pairs.items()
        }
        self._pressed = tuple(pair.pressed for pair in prepared)
        self.work = tuple(pair.work for pair in prepared)
        self._last = np.zeros(1, dtype=_kernels.LAST_POSE)
        self._last["tolerance"] = reuse_tolerance
        self._rotation, self._translation = np.zeros((3, 3)), np.zeros(3)
        self._velocity = np.zeros(6)
        # Results and outcomes in one buffer, which one call copies.
        split = len(prepared) * forces.RESULT.itemsize
        count = sum(work.normal_force.size for work in self.work)
        self._buffer = np.empty(split + count * forces.OUTCOME.itemsize, dtype=np.uint8)
        # Kernels of coupled layers, of rays, of seams and of several patches take as long to
        # compile as all others.
        plain = all(pair.is_plain for pair in pairs.values())
        coupled = {isinstance(layer, CoupledLayer) for layer in layers.values()}
        press = _PRESS[frozenset(coupled)]
        if press is couplings.press_pair and all(pair._still for pair in pairs.values()):
            press = updates.press_updated
        self._contact, self.record = _build_model(
            [pair.record for pair in prepared],
            distances.project_open if plain else distances.project_listed,
            press,
            _kernels.evaluate_contacts,
            (self._last, np.zeros((3, 3)), np.zeros(3)),
            (self._rotation, self._translation, self._velocity),
            self._buffer[:split].view(forces.RESULT),
            self._buffer[split:].view(forces.OUTCOME),
        )
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        # Neighbouring chunks, which are loaded alike, belong to different threads.
        chunks = [(p, c) for p, work in enumerate(self.work) for c in range(work.sums.size)]
        shares = (chunks[start::threads] for start in range(threads))
        self._tasks = [np.array(share, dtype=np.int64) for share in shares if share]

    def evaluate(
        self, rotation: ArrayLike, translation: ArrayLike, velocity: ArrayLike | None = None
    ) -> ContactResult:
        """Contact at one pose.

        `rotation` (3, 3) and `translation` (3,), mm, place the moving body in the frame of the
        fixed one. Friction and damping act, and slip is reported, only where a `velocity` (6,) is
        given: of the origin, mm/s, and angular, rad/s, in the fixed frame. ValueError if a number
        is not finite, or `rotation` no rotation matrix.
        """
        self._rotation[...] = require_rotation(rotation)
        self._translation[...] = translation
        moving = velocity is not None
        if velocity is not None:
            self._velocity[...] = velocity
        if self._pool is None:
            active = _kernels.evaluate_model(self.record, moving)
        else:
            active = self._evaluate_in_threads(self._pool, moving)
        if active < 0:
            raise ValueError(
                f"found rotation {self._rotation.tolist()}, translation "
                f"{self._translation.tolist()}"
                + (f" and velocity {self._velocity.tolist()}" if moving else "")
                + "; expected finite numbers. Check the motion the pose comes from."
            )
        return ContactResult(self._cells, self._buffer, active)

    def reset(self) -> None:
        """Start the next search without active elements; it finds the same ones."""
        self._last["is_known"] = False
        for work in self.work:
            work.previous_count[0] = 0
        for pressed in self._pressed:
            pressed[:] = 0

    def forget(self) -> None:
        """Evaluate the next pose even if it is the last one: elements have moved."""
        self._last["is_known"] = False

    def _evaluate_in_threads(self, pool: ThreadPoolExecutor, moving: bool) -> int:
        pose = self._rotation, self._translation
        if not _kernels.is_finite(*pose, self._velocity, moving):
            return -1
        known = _kernels.choose_pose(self._contact, *pose)
        mine, *others = self._tasks
        jobs = [
            pool.submit(_kernels.evaluate_chunks, self._contact, moving, known, tasks)
            for tasks in others
        ]
        _kernels.evaluate_chunks(self._contact, moving, known, mine)
        for job in jobs:
            job.result()
        return int(_kernels.finish_pairs(self._contact, moving, known))


def working_arrays(count: int, chunks: int) -> distances.WorkArrays:
    """Working arrays of a pair of `count` elements."""
    integers = ("state", "listed", "voxel", "previous")
    return distances.WorkArrays(
        point=np.zeros((3, count)),
        normal=np.zeros((3, count)),
        projection=np.zeros((10, count)),
        cell=np.zeros((4, count)),
        normal_force=np.zeros(count),
        rate=np.zeros(count),
        mark=np.zeros(count, dtype=np.uint8),
        previous_count=np.zeros(1, dtype=np.int64),
        sums=np.zeros(chunks, dtype=forces.SUMS),
        outcome=np.zeros(count, dtype=forces.OUTCOME),
        **{name: np.zeros(count, dtype=np.int64) for name in integers},
    )


@cache
def empty_model() -> Any:
    """Record of a model without contact pairs."""
    none, points = np.zeros(1), np.zeros((3, 1))
    floats = np.zeros((1, 4), dtype=np.float32), np.zeros((1, 8), dtype=np.float32)
    integers = np.zeros(1, dtype=np.int64)
    record = _kernels.build_pair(
        PatchArrays(none, none, np.zeros((1, 1, 1, 1, 4)), False, 0),
        distances.Voxels(*floats, 0.0, 0.0, 0.0, 1.0, 0, 0, 0),
        _NO_TABLE,
        distances.ElementArrays(
            points, points, none, points, points, integers, integers[:, None], none, none
        ),
        distances.TileArrays(points, points, none, none, integers, integers),
        forces.PressureLawArrays(0, 0.0, 0.0, 0.0, 0.0, 0.0),
        none,
        _NO_COUPLING,
        forces.TractionLaw(0.0, 0.0, 0.0, 0.0),
        _kernels.Options(0, False, 0, 0, False, False),
        working_arrays(1, 1),
    )
    last, results, outcomes = (
        np.zeros(1, dtype=kind) for kind in (_kernels.LAST_POSE, forces.RESULT, forces.OUTCOME)
    )
    turn, shift = np.zeros((3, 3)), np.zeros(3)
    contact, model = _build_model(
        [record],
        None,
        None,
        _kernels.evaluate_nothing,
        (last, turn, shift),
        (turn, shift, np.zeros(6)),
        results,
        outcomes,
    )
    _kernels.remove_pairs(contact)
    return model


def _build_model(
    pairs: Sequence[Any],
    project: Any,
    press: Any,
    evaluate: Any,
    last: Sequence[NDArray[Any]],
    motion: Sequence[Array],
    results: NDArray[np.void],
    outcomes: NDArray[np.void],
) -> tuple[Any, Any]:
    """Contact of pairs and its model, with the kernels that suit them."""
    pair, (rotation, translation, velocity) = pairs[0], motion
    contact = _kernels.build_contact(
        pair,
        by_address(project, pair, rotation, 0, 0),
        by_address(press, pair, rotation, velocity, True, True),
        *last,
        *motion,
        results,
        outcomes,
    )
    for other in pairs[1:]:
        _kernels.add_pair(contact, other)
    pose = rotation, translation, velocity
    return contact, _kernels.build_model(
        contact, by_address(evaluate, contact, *pose, True, results)
    )


def _plain(arrays: Any) -> Any:
    """The same record with contiguous, writable arrays: kernels compile again for other ones."""
    return type(arrays)(
        *(
            np.require(part, requirements=("C", "W")) if isinstance(part, np.ndarray) else part
            for part in arrays
        )
    )


def _choose(what: str, choices: Mapping[str, Any], name: str) -> Any:
    if name not in choices:
        raise ValueError(f"{what} is one of {', '.join(choices)}, not '{name}'")
    return choices[name]
