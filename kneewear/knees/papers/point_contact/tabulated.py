"""Contact of two tabulated surfaces: lookup tables, their files, windows and common normal.

References
----------
Machado thesis, sections 6.2 and 6.3.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.table import COLUMNS, SurfaceTable, householder_tangents
from kneewear.knees.contact.point import Touch
from kneewear.knees.papers.point_contact.common_normal import (
    FramedSurface,
    find_common_normal,
    frame_table,
    guess_common_normal,
)
from kneewear.knees.papers.point_contact.record_file import RecordFile, write_records
from kneewear.knees.papers.point_contact.table_window import StorageWindow

Array = NDArray[np.float64]


def sphere_table(radius: float, points: int) -> SurfaceTable:
    """Sphere about the origin by colatitude and longitude, `points` of each, mm."""
    u = np.linspace(0.0, np.pi, points)
    v = np.linspace(0.0, 2.0 * np.pi, points)
    around, along = np.meshgrid(v, np.sin(u))
    unit = np.stack(
        [along * np.cos(around), along * np.sin(around), np.cos(u)[:, None] * np.ones_like(v)], -1
    )
    return _table(u, v, radius * unit, unit)


def plane_table(low: tuple[float, float], high: tuple[float, float], points: int) -> SurfaceTable:
    """Rectangle of the plane z = 0 that faces upwards, from one corner to the other, mm."""
    u, v = (np.linspace(one, other, points) for one, other in zip(low, high, strict=True))
    place = np.stack([*np.meshgrid(u, v, indexing="ij"), np.zeros((points, points))], -1)
    return _table(u, v, place, np.broadcast_to([0.0, 0.0, 1.0], place.shape))


def placed_table(table: SurfaceTable, rotation: Array, translation: Array) -> SurfaceTable:
    """The surface of a table turned by a rotation (3, 3), then moved by a translation (3,), mm."""
    rows = table.rows.copy()
    for first in range(2, len(COLUMNS), 3):
        rows[..., first : first + 3] = rows[..., first : first + 3] @ rotation.T
    rows[..., 2:5] += translation
    return SurfaceTable(table.columns, rows)


def _table(u: Array, v: Array, point: Array, normal: Array) -> SurfaceTable:
    parameters = np.meshgrid(u, v, indexing="ij")
    rows = np.dstack([*parameters, point, normal, *householder_tangents(normal)])
    return SurfaceTable(COLUMNS, rows)


def window_on(table: SurfaceTable, block: int, size: tuple[int, int]) -> StorageWindow:
    """Storage window of some blocks, each of so many samples along u and v, on a table.

    The table is stored in a direct-access file without a name, which ends with the window.
    """
    file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the window reads it later
    write_records(file, table, (block, block))
    records = RecordFile(file)
    return StorageWindow(records.layout, records.read, size)


@dataclass
class TabulatedPair:
    """A tabulated surface of each body, as `Shapes` of a point contact.

    `windows` hold the parts of both tables that are in memory. While the sphere about the moving
    surface is outside the box about the fixed one, nothing is looked up and the gap is that between
    sphere and box. The search starts from the pair of the last pose, first from the nearest
    samples; ValueError if there is no common normal.
    """

    fixed: SurfaceTable
    moving: SurfaceTable
    windows: tuple[StorageWindow, StorageWindow]
    parameters: Array | None = None
    _frames: tuple[FramedSurface, FramedSurface] = field(init=False)
    _box: tuple[Array, Array] = field(init=False)
    _reach: float = field(init=False)

    def __post_init__(self) -> None:
        one, other = (
            frame_table(window.look_up, table.rows[0, 0, :2], table.rows[-1, -1, :2])
            for table, window in zip((self.fixed, self.moving), self.windows, strict=True)
        )
        self._frames = one, other
        points = self.fixed.point.reshape(-1, 3)
        self._box = points.min(axis=0), points.max(axis=0)
        self._reach = float(np.linalg.norm(self.moving.point, axis=-1).max())

    def touch(self, rotation: Array, translation: Array) -> Touch:
        """Overlap along the fixed surface's normal at the common normal."""
        beside = translation - np.clip(translation, *self._box)
        distance = float(np.linalg.norm(beside))
        if distance > self._reach:
            normal = beside / distance
            gap = distance - self._reach
            return Touch(-gap, translation - (self._reach + 0.5 * gap) * normal, normal)
        if self.parameters is None:
            self.parameters = guess_common_normal(self.fixed, self.moving, rotation, translation)
        found = find_common_normal(*self._frames, rotation, translation, self.parameters)
        self.parameters = found.parameters
        return Touch(-found.gap, found.points.mean(axis=0), found.normal)
