"""Contact of the elements of one surface of the fixed body with one surface of the moving body."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kneewear.contact import _kernels
from kneewear.contact.foundation import Layer
from kneewear.geometry.distance_table import DistanceTable, empty_table
from kneewear.geometry.grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable

Array = NDArray[np.float64]

DIRECTIONS = {
    "minimum_distance": _kernels.ALONG_MINIMUM_DISTANCE,
    "mid_surface": _kernels.ALONG_MID_SURFACE,
}

# Elements this near at the start of a search stay on its list, mm.
MARGIN = 0.4
# Edge of a voxel, mm. One further out than REACH_OUT from the surface holds no point within the
# margin; of the metal only a layer REACH_IN deep is kept.
VOXEL = 1.0
REACH_OUT = MARGIN + 0.9 * VOXEL + 0.1
REACH_IN = 6.0


@dataclass(frozen=True)
class Resultant:
    """Contact of one pair at one pose.

    Parameters
    ----------
    wrench : array, shape (6,)
        Force on the moving body, N, and its moment about that body's origin, N mm, in the frame of
        the fixed body. The fixed body feels the opposite.
    stiffness : array, shape (6, 6)
        Derivative of the wrench over translation, mm, and turn about the moving body's origin, rad.
    element : int array, shape (n,)
        Candidates among the valid elements; `ContactPair.index` tells their places in the grid.
    penetration, pressure : array, shape (n,)
        Their penetration, mm, and pressure, MPa; zero where apart.
    area : array, shape (n,)
        Their areas, mm2.
    """

    wrench: Array
    stiffness: Array
    element: NDArray[np.int64]
    penetration: Array
    pressure: Array
    area: Array


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
        Its lookup table, from which every projection starts.
    direction : {"minimum_distance", "mid_surface"}
        Line along which pressure acts. Only the first makes forces derive from a potential.
    distance_table : DistanceTable, optional
        Smooth table of the distance to the indenter. Where it has values they are used; deeper than
        its band and at the indenter's borders the surface itself is asked, as it is everywhere
        without a table.

    Raises
    ------
    ValueError
        If the distance table does not reach out as far as elements are kept on the list.

    Notes
    -----
    A voxel map built once over the table gives each element the table node nearest to it, so a
    search needs no previous frame. Within a search, poses close to each other start from the feet
    found before; that moves a foot by less than its tolerance, 1e-6 mm.
    """

    def __init__(
        self,
        grid: ElementGrid,
        side: int,
        indenter: Surface,
        table: SurfaceTable,
        *,
        direction: str = "minimum_distance",
        distance_table: DistanceTable | None = None,
    ) -> None:
        if distance_table is not None and distance_table.outside < MARGIN:
            raise ValueError(
                f"the distance table reaches {distance_table.outside:g} mm out of the surface; "
                f"contact needs {MARGIN:g} mm"
            )
        self.indenter = indenter
        self._patch = indenter.arrays
        self._table = distance_table.arrays if distance_table is not None else empty_table()
        self._start = _voxel_starts(table)
        self._direction = DIRECTIONS[direction]
        self._take_elements(grid, side)

    def over(self, grid: ElementGrid, side: int) -> ContactPair:
        """The same indenter over other elements.

        Parameters
        ----------
        grid : ElementGrid
            Elements of the fixed body.
        side : int
            Index of the pair's elements in the grid.

        Returns
        -------
        ContactPair
            What it shares with this one, the map of starts above all, is not built again.
        """
        other = copy(self)
        other._take_elements(grid, side)
        return other

    def _take_elements(self, grid: ElementGrid, side: int) -> None:
        """Elements of a grid's side, and room for what is found of each."""
        index = np.flatnonzero(grid.valid[side].ravel())
        self.index = index
        self.centre = np.ascontiguousarray(grid.centre[side].reshape(-1, 3)[index])
        self.normal = np.ascontiguousarray(grid.normal[side].reshape(-1, 3)[index])
        self.tangent_row = np.ascontiguousarray(grid.tangent_row[side].reshape(-1, 3)[index])
        self.tangent_column = np.ascontiguousarray(grid.tangent_column[side].reshape(-1, 3)[index])
        self._lowest, self._highest = self.centre.min(axis=0), self.centre.max(axis=0)
        self.area = grid.area[side].ravel()[index]
        self._elements = _kernels.ElementArrays(self.centre, self.normal, self.area)
        self._listed = _kernels.Workspace(
            element=np.empty(index.size, dtype=np.int64),
            u=np.empty(index.size),
            v=np.empty(index.size),
            point=np.empty((index.size, 3)),
            foot=np.empty((index.size, 10)),
            state=np.empty(index.size, dtype=np.int64),
            penetration=np.empty(index.size),
            pressure=np.empty(index.size),
        )
        self._count = 0
        self._listed_rotation = np.eye(3)
        self._listed_translation = np.full(3, np.inf)

    def evaluate(self, rotation: Array, translation: Array, layer: Layer) -> Resultant:
        """Contact at one pose.

        Parameters
        ----------
        rotation : array, shape (3, 3)
            Orientation of the moving body in the frame of the fixed one.
        translation : array, shape (3,)
            Position of its origin, mm.
        layer : Layer
            Elastic layer under the elements.

        Returns
        -------
        Resultant

        Raises
        ------
        ValueError
            If elements lie too deep inside the metal to be projected.
        """
        if self._moved(rotation, translation) > MARGIN:
            self._list_candidates(rotation, translation)
        wrench, stiffness = np.empty(6), np.empty((6, 6))
        failed = _kernels.press(
            self._elements,
            self._patch,
            self._table,
            layer.law.code,
            layer.law.parameters,
            layer.thickness,
            rotation,
            translation,
            self._direction,
            self._count,
            self._listed,
            wrench,
            stiffness,
        )
        if failed:
            raise ValueError(f"{failed} elements could not be projected onto the surface")
        listed = slice(0, self._count)
        element = self._listed.element[listed].copy()
        return Resultant(
            wrench,
            stiffness,
            element,
            self._listed.penetration[listed].copy(),
            self._listed.pressure[listed].copy(),
            self.area[element],
        )

    def forget(self) -> None:
        """Make the next evaluation search all elements afresh."""
        self._listed_translation = np.full(3, np.inf)

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
        _, _, distance, normal, is_foot = self.indenter.closest_points(
            (sample - translation) @ rotation
        )
        facing = ((normal @ rotation.T) * self.normal[::stride]).sum(-1) < 0
        distance = np.where(is_foot & facing, distance, np.inf)
        nearest = int(np.argmin(distance))
        if not np.isfinite(distance[nearest]):
            raise ValueError("no element faces the surface above it")
        return float(distance[nearest]), sample[nearest]

    def _moved(self, rotation: Array, translation: Array) -> float:
        """Upper bound of how far any element has moved against the indenter since last listed."""
        if not np.isfinite(self._listed_translation[0]):
            return np.inf
        turned = np.linalg.norm(rotation - self._listed_rotation)
        shifted = np.linalg.norm(translation - self._listed_translation)
        return float(shifted + self._reach(translation) * turned)

    def _reach(self, translation: Array) -> float:
        """Distance from the moving body's origin to the farthest element, mm."""
        corners = np.maximum(self._highest - translation, translation - self._lowest)
        return float(np.linalg.norm(corners))

    def _list_candidates(self, rotation: Array, translation: Array) -> None:
        self._count, buried = _kernels.find_candidates(
            self._elements,
            self._patch,
            self._table,
            self._start,
            rotation,
            translation,
            MARGIN,
            self._listed,
        )
        if buried:
            raise ValueError(f"{buried} elements lie more than {REACH_IN:g} mm inside the metal")
        self._listed_rotation, self._listed_translation = rotation.copy(), translation.copy()


def _voxel_starts(table: SurfaceTable) -> _kernels.StartArrays:
    """Nearest table node of every voxel round a surface."""
    nodes = table.point.reshape(-1, 3)
    normals = table.normal.reshape(-1, 3)
    origin = nodes.min(axis=0) - REACH_OUT - VOXEL
    size = np.ceil((nodes.max(axis=0) + REACH_OUT + VOXEL - origin) / VOXEL).astype(int)
    axes = [origin[a] + VOXEL * (np.arange(size[a]) + 0.5) for a in range(3)]
    centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    distance, nearest = cKDTree(nodes).query(centres)
    height = ((centres - nodes[nearest]) * normals[nearest]).sum(-1)
    node = nearest.astype(np.int32)
    node[height > REACH_OUT] = _kernels.FAR
    # A voxel behind a border of the patch is beside the metal, not inside it.
    spacing = max(
        float(np.linalg.norm(np.diff(table.point, axis=axis), axis=-1).max()) for axis in (0, 1)
    )
    beside = distance > 1.5 * np.abs(height) + VOXEL + spacing
    node[(height <= 0) & (distance > REACH_IN)] = _kernels.TOO_DEEP
    node[beside] = _kernels.FAR
    n_u, n_v = table.u.size, table.v.size
    u, v = np.repeat(table.u, n_v), np.tile(table.v, n_u)
    return _kernels.StartArrays(origin, VOXEL, node.reshape(tuple(size)), u, v)
