"""Contact of the elements of one surface of the fixed body with one surface of the moving body."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact import _record_kernels as record
from kneewear.contact.evaluation import ContactModel
from kneewear.contact.foundation import Layer
from kneewear.contact.proximity import map_proximity
from kneewear.contact.resultant import Resultant
from kneewear.contact.search import STRATEGIES, lay_tiles
from kneewear.contact.traction import Damping, Friction, traction_law
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable

Array = NDArray[np.float64]

METHODS = {"minimum_distance": record.MINIMUM_DISTANCE, "ray": record.RAY}
CORRECTIONS = {"none": 0, "mid_surface": 1}
DIRECTIONS = {
    "minimum_distance": record.ALONG_MINIMUM_DISTANCE,
    "element_normal": record.ALONG_ELEMENT_NORMAL,
    "mid_surface": record.ALONG_MID_SURFACE,
}
# Edge of a tile in voxels of the indenter's surroundings, where their bounds still hold.
TILE_EDGE = 2.0


@dataclass(frozen=True)
class PreparedPair:
    """A pair with its layer and room for results, as kernels want it.

    Parameters
    ----------
    record : array of `_record_kernels.PAIR`, shape (1,)
        Numbers, and addresses of the arrays.
    arrays : dict of name to array
        These arrays, which must live as long as the record is used.
    """

    record: NDArray
    arrays: dict[str, NDArray]


class ContactPair:
    """Elements of one surface of the fixed body, and the surface of the moving body they meet.

    Parameters
    ----------
    grid : ElementGrid
        Elements of the fixed body.
    side : int
        Index of the pair's elements in the grid.
    indenter : Surface
        Surface of the moving body, exact.
    table : SurfaceTable
        Its lookup table, from which the space round it is mapped.
    method : {"minimum_distance", "ray"}
        Distance of an element: to the nearest point of the indenter, or along the element's normal.
    correction : {"none", "mid_surface"}, optional
        Whether penetration is the distance itself or that along the normal of the mid-surface; left
        out, the latter if pressure acts along that normal too, as in the source.
    direction : {"minimum_distance", "element_normal", "mid_surface"}
        Line along which pressure acts. Only the first, with the minimum distance uncorrected, makes
        forces derive from a potential: use no other where energy is to be balanced.
    distance_table : DistanceTable, optional
        Smooth table of the minimum distance to the indenter. Where it has values they are used;
        deeper than its band and at the indenter's borders the surface itself is asked, as it is
        everywhere without a table.
    search : {"bounds", "breadth_first", "all"}
        How active elements are found, see `kneewear.contact.search`; the result is the same.
    friction, damping : Friction and Damping, optional
        What motion adds to the pressure; nothing when left out.

    Raises
    ------
    ValueError
        If a choice does not exist, a table is given for rays, or the side has no elements.

    Notes
    -----
    With A the centre of an element, n its normal, B the nearest point of the indenter, C the point
    where the line along n meets it, and theta the angle between BA and n, the penetration is

        |AB|    |AB| / cos(theta / 2)    |AC|    |AC| cos(theta) / cos(theta / 2)

    uncorrected and corrected for the minimum distance and for the ray, in this order; theta of a
    ray is taken at C. The third is the largest and the first the smallest. The mid-surface
    direction halves the angle theta.

    An element is active if its centre lies inside the moving body, which reaches up to
    `kneewear.contact.proximity.REACH` beyond the box round the indenter, and if it faces the
    indenter: by an angle theta below 84 deg. However deep it lies, its own nearest point counts.

    References
    ----------
    Bei (2003), section 2.2.2 and Fig. 2-2, which gives the corrections in words.
    """

    def __init__(
        self,
        grid: ElementGrid,
        side: int,
        indenter: Surface,
        table: SurfaceTable,
        *,
        method: str = "minimum_distance",
        correction: str | None = None,
        direction: str = "minimum_distance",
        distance_table: DistanceTable | None = None,
        search: str = "bounds",
        friction: Friction | None = None,
        damping: Damping | None = None,
    ) -> None:
        if method == "ray" and distance_table is not None:
            raise ValueError("a distance table holds minimum distances; rays need the surface")
        if correction is None:
            correction = "mid_surface" if direction == "mid_surface" else "none"
        self.indenter = indenter
        self.search = search
        self._record = np.zeros(1, dtype=record.PAIR)
        self._arrays: dict[str, NDArray] = {}
        law = traction_law(friction, damping)
        self._set(
            method=_choose("method", METHODS, method),
            corrected=_choose("correction", CORRECTIONS, correction),
            direction=_choose("direction", DIRECTIONS, direction),
            search=_choose("search", STRATEGIES, search),
            **law._asdict(),
        )
        self._take_indenter(indenter, table)
        if distance_table is not None:
            self._take_distances(distance_table)
        self._take_elements(grid, side)
        self._model: tuple[Layer, ContactModel] | None = None

    def evaluate(
        self,
        rotation: ArrayLike,
        translation: ArrayLike,
        layer: Layer,
        velocity: ArrayLike | None = None,
    ) -> Resultant:
        """Contact at one pose; see `ContactModel.evaluate`, which takes all pairs at once.

        Parameters
        ----------
        rotation : array, shape (3, 3)
            Orientation of the moving body in the frame of the fixed one.
        translation : array, shape (3,)
            Position of its origin, mm.
        layer : Layer
            Elastic layer under the elements.
        velocity : array, shape (6,), optional
            Velocity of that origin, mm/s, and angular velocity, rad/s, in the fixed frame.

        Returns
        -------
        Resultant
        """
        if self._model is None or self._model[0] is not layer:
            self._model = layer, ContactModel({"pair": self}, {"pair": layer})
        return self._model[1].evaluate(rotation, translation, velocity)["pair"]

    def forget(self) -> None:
        """Make the next search start from nothing. It ends with the same elements."""
        if self._model is not None:
            self._model[1].forget()

    def over(self, grid: ElementGrid, side: int) -> ContactPair:
        """The same indenter over other elements, such as some laid afresh.

        Parameters
        ----------
        grid : ElementGrid
            Elements of the fixed body.
        side : int
            Index of the pair's elements in the grid.

        Returns
        -------
        ContactPair
            It shares what was prepared of the moving body.
        """
        other = copy(self)
        other._record, other._arrays = self._record.copy(), dict(self._arrays)
        other._model = None
        other._take_elements(grid, side)
        return other

    def prepare(self, layer: Layer) -> PreparedPair:
        """Put the pair and its layer into the form kernels want, with room of its own.

        Parameters
        ----------
        layer : Layer
            Elastic layer under the elements.

        Returns
        -------
        PreparedPair

        Raises
        ------
        ValueError
            If the layer has not one thickness an element.
        """
        count = self.index.size
        thickness = np.ascontiguousarray(layer.thickness, dtype=float)
        if thickness.shape != (count,):
            raise ValueError(
                f"a layer needs {count} thicknesses, one a valid element; found {thickness.size}"
            )
        parameters = np.ascontiguousarray(layer.law.parameters, dtype=float)
        other = copy(self)
        other._record, other._arrays = self._record.copy(), dict(self._arrays)
        other._set(
            law=layer.law.code,
            parameters=parameters,
            parameter_count=parameters.size,
            thickness=thickness,
            work=np.zeros((record.WORK_ROWS, count)),
            listed=np.zeros(count, dtype=np.int64),
            held=np.zeros(count, dtype=np.int64),
            state=np.zeros(count, dtype=np.int64),
            mark=np.zeros(count, dtype=np.uint8),
            before=np.zeros(count, dtype=np.int64),
            sums=np.zeros((int(self._record["chunk_count"][0]), record.SUMS)),
            outcome=np.zeros((count, record.OUT_NUMBERS)),
        )
        return PreparedPair(other._record, other._arrays)

    def gap(self, rotation: Array, translation: Array, stride: int = 7) -> tuple[float, Array]:
        """Smallest signed distance of a sample of the elements, however far they are.

        Parameters
        ----------
        rotation, translation : array
            Pose, as in `evaluate`.
        stride : int
            Every how many-th element is looked at.

        Returns
        -------
        gap : float
            mm, negative where the surfaces overlap.
        place : array, shape (3,)
            Centre of the element it belongs to, mm.

        Raises
        ------
        ValueError
            If no element faces the indenter.
        """
        sample = self.centre[::stride]
        _, _, distance, normal, interior = self.indenter.closest_points(
            (sample - translation) @ rotation
        )
        facing = ((normal @ rotation.T) * self.normal[::stride]).sum(-1) < 0
        distance = np.where(interior & facing, distance, np.inf)
        nearest = int(np.argmin(distance))
        if not np.isfinite(distance[nearest]):
            raise ValueError("no element faces the surface above it")
        return float(distance[nearest]), sample[nearest]

    def _take_indenter(self, indenter: Surface, table: SurfaceTable) -> None:
        space, patch = map_proximity(indenter, table), indenter.arrays
        self._voxel = space.voxel
        self._set(
            origin=space.origin,
            voxel=space.voxel,
            voxels=space.shape,
            planes=space.planes,
            starts=space.starts,
            breaks_u=patch.breaks_u,
            breaks_v=patch.breaks_v,
            coefficients=patch.coefficients,
            patch=patch.coefficients.shape[:4],
            rational=int(patch.rational),
        )

    def _take_distances(self, table: DistanceTable) -> None:
        arrays = table.arrays
        self._set(tabled=1, table=(*arrays.first.shape, arrays.coefficient.size))
        self._set(**{f"table_{name}": array for name, array in arrays._asdict().items()})

    def _take_elements(self, grid: ElementGrid, side: int) -> None:
        """Keep the elements as flat arrays, and in the order of their tiles for the kernels."""
        valid = grid.valid[side]
        self.index = np.flatnonzero(valid.ravel())
        if self.index.size == 0:
            raise ValueError(f"side {side} of the grid has no elements")
        self.centre, self.normal, self.tangent_row, self.tangent_column = (
            np.ascontiguousarray(part[side].reshape(-1, 3)[self.index])
            for part in (grid.centre, grid.normal, grid.tangent_row, grid.tangent_column)
        )
        self.area = grid.area[side].ravel()[self.index]
        for part in (self.centre, self.normal, self.tangent_row, self.tangent_column, self.area):
            part.setflags(write=False)  # the kernels have copies of their own
        tiling = lay_tiles(valid, self.centre, self.normal, TILE_EDGE * self._voxel)
        rows = [self.centre.T, self.normal.T, self.area[None], self.tangent_row.T]
        elements = np.concatenate([*rows, self.tangent_column.T])[:, tiling.order]
        lowest, highest = self.centre.min(axis=0), self.centre.max(axis=0)
        self._set(
            elements=np.ascontiguousarray(elements),
            count=self.index.size,
            order=tiling.order,
            neighbours=tiling.neighbours,
            tiles=tiling.tiles,
            tile_first=tiling.tile_first,
            tile_count=tiling.tile_first.size - 1,
            chunk_first=tiling.chunk_first,
            chunk_count=tiling.chunk_first.size - 1,
            middle=0.5 * (lowest + highest),
            half=0.5 * (highest - lowest),
        )

    def _set(self, **values: object) -> None:
        """Write numbers into the record, and addresses of arrays that it names by one number."""
        for name, value in values.items():
            field = self._record.dtype[name]
            if isinstance(value, np.ndarray) and field.shape == ():
                array = np.ascontiguousarray(value)
                self._arrays[name] = array
                self._record[name] = array.ctypes.data
            else:
                self._record[name] = value


def _choose(what: str, choices: dict[str, int], name: str) -> int:
    if name not in choices:
        raise ValueError(f"{what} is one of {', '.join(choices)}, not '{name}'")
    return choices[name]
