"""What a contact pair hands to its kernels: one record of numbers and of addresses of arrays.

Handing over some thirty arrays would cost several microseconds a call, as long as the contact of
one condyle takes. A record costs a fifth of one. `ContactPair` fills it and keeps the arrays alive.
"""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import carray, config, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from kneewear.compilation import compiled
from kneewear.contact._traction_kernels import TractionLaw
from kneewear.geometry._distance_kernels import DistanceArrays
from kneewear.geometry._kernels import PatchArrays

# Places in the arrays below. As numpy integers, for numba compiles a kernel anew for every plain
# number it is called with.

# Rows of the elements' array: centre, normal, area, tangents along row and column.
CENTRE, NORMAL, AREA, TANGENT_ROW, TANGENT_COLUMN, ELEMENT_ROWS = map(
    np.int64, (0, 3, 6, 7, 10, 13)
)
# Numbers of a tile: centre, normal, radius in its plane, half thickness.
TILE_NORMAL, TILE_RADIUS, TILE_DEPTH, TILE_NUMBERS = map(np.int64, (3, 6, 7, 8))

# Rows of the working array, a column an element: point in the frame of the moving body, its place
# in a distance table, its foot, the element's normal in that frame, and pressure and its rate times
# area.
POINT, PLACE, FOOT_ROWS, FACE, PUSH, RATE, WORK_ROWS = map(np.int64, (0, 3, 7, 17, 20, 21, 22))

# Columns of the outcome, a row an active element.
OUT_ELEMENT, OUT_PENETRATION, OUT_PRESSURE, OUT_AREA, OUT_DIRECTION, OUT_SLIP, OUT_NUMBERS = map(
    np.int64, (0, 1, 2, 3, 4, 7, 9)
)

# Sums over a chunk's active elements, all in the frame of the moving body: force f, x f' with x the
# element's point, and 6 x 6 derivatives of force and moment over a small motion (translation and
# turn) and over velocity and angular velocity, as long as the frame itself does not turn.
FORCE, MOMENTS, RATES, DRAGS = map(np.int64, (0, 3, 12, 48))
PRESSURES, TOUCHED, CARRIED, PLACES_CARRIED, ACTIVE, EVALUATED, ADDED = map(
    np.int64, (84, 85, 86, 87, 90, 91, 92)
)
# Followed by what is not added up but compared.
HIGHEST, DEEPEST, SUMS = map(np.int64, (92, 93, 94))

# Numbers of a pair's result.
WRENCH, STIFFNESS, DAMPING, PEAK, MEAN, CONTACT_AREA, DEPTH, CENTRE_OF_PRESSURE = map(
    np.int64, (0, 6, 42, 78, 79, 80, 81, 82)
)
ACTIVE_COUNT, EVALUATED_COUNT, ORIGIN, MOVING, NUMBERS = map(np.int64, (85, 86, 87, 90, 91))

MINIMUM_DISTANCE, RAY = 0, 1
ALONG_MINIMUM_DISTANCE, ALONG_ELEMENT_NORMAL, ALONG_MID_SURFACE = 0, 1, 2
ALL, BOUNDS, BREADTH_FIRST = 0, 1, 2

_ADDRESS, _COUNT, _NUMBER = np.int64, np.int64, np.float64
_FIELDS = np.dtype(
    [
        ("elements", _ADDRESS),  # (ELEMENT_ROWS, count), in the order of the tiles
        ("count", _COUNT),
        ("order", _ADDRESS),  # (count,), place of each among the valid elements
        ("neighbours", _ADDRESS),  # (count, 8), -1 where there is none
        ("tiles", _ADDRESS),  # (tile_count, TILE_NUMBERS)
        ("tile_first", _ADDRESS),  # (tile_count + 1,), first element of each
        ("tile_count", _COUNT),
        ("chunk_first", _ADDRESS),  # (chunk_count + 1,), first tile of each
        ("chunk_count", _COUNT),
        ("middle", _NUMBER, (3,)),  # of the box round the elements
        ("half", _NUMBER, (3,)),
        ("origin", _NUMBER, (3,)),  # corner of the box of voxels, in the moving body's frame
        ("voxel", _NUMBER),  # edge of a voxel
        ("voxels", _COUNT, (3,)),  # along x, y and z
        ("planes", _ADDRESS),  # (voxels, 4) float32
        ("starts", _ADDRESS),  # (voxels, 8) float32
        ("breaks_u", _ADDRESS),
        ("breaks_v", _ADDRESS),
        ("coefficients", _ADDRESS),
        ("patch", _COUNT, (4,)),  # spans and coefficients along u and v
        ("rational", _COUNT),
        ("tabled", _COUNT),
        ("table", _COUNT, (3,)),  # columns along angle and z, coefficients
        ("table_axis", _ADDRESS),
        ("table_origin", _ADDRESS),
        ("table_rate", _ADDRESS),
        ("table_first", _ADDRESS),
        ("table_length", _ADDRESS),
        ("table_base", _ADDRESS),
        ("table_coefficient", _ADDRESS),
        ("table_state", _ADDRESS),
        ("law", _COUNT),
        ("parameters", _ADDRESS),
        ("parameter_count", _COUNT),
        ("thickness", _ADDRESS),  # (count,), in the order of the valid elements
        ("method", _COUNT),
        ("corrected", _COUNT),
        ("direction", _COUNT),
        ("search", _COUNT),
        ("static", _NUMBER),
        ("dynamic", _NUMBER),
        ("transition", _NUMBER),
        ("damping", _NUMBER),
        ("work", _ADDRESS),  # (WORK_ROWS, count)
        ("listed", _ADDRESS),  # (count,), elements listed, then those active
        ("held", _ADDRESS),  # (count,), voxel that holds each listed element
        ("state", _ADDRESS),  # (count,), whether the table knows it
        ("mark", _ADDRESS),  # (count,) uint8, of a breadth-first search
        ("before", _ADDRESS),  # (count,), active elements of the last search
        ("before_count", _COUNT),
        ("sums", _ADDRESS),  # (chunk_count, SUMS)
        ("outcome", _ADDRESS),  # (count, OUT_NUMBERS)
    ],
    align=True,
)
# Uncompiled, a field is an attribute only where numpy makes records of them.
_COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]
PAIR = _FIELDS if _COMPILED else np.dtype((np.record, _FIELDS))


def _type_pointer(typing_context: Any, address: Any) -> Any:
    """Pointer to an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(address), generate


def _make_pointer(address: Any) -> c_void_p:
    return c_void_p(int(address))


as_pointer: Any = intrinsic(_type_pointer) if _COMPILED else _make_pointer


class Voxels(NamedTuple):
    """Map of the space round a surface, see `Proximity`."""

    planes: NDArray[np.float32]
    starts: NDArray[np.float32]
    origin_x: float
    origin_y: float
    origin_z: float
    size: float
    count_x: int
    count_y: int
    count_z: int


@compiled
def elements_of(pair: Any) -> NDArray:
    return carray(as_pointer(pair.elements), (ELEMENT_ROWS, pair.count), np.float64)


@compiled
def work_of(pair: Any) -> NDArray:
    return carray(as_pointer(pair.work), (WORK_ROWS, pair.count), np.float64)


@compiled
def indices_of(address: int, count: int) -> NDArray:
    return carray(as_pointer(address), (count,), np.int64)


@compiled
def numbers_of(address: int, count: int) -> NDArray:
    return carray(as_pointer(address), (count,), np.float64)


@compiled
def rows_of(address: int, rows: int, columns: int) -> NDArray:
    return carray(as_pointer(address), (rows, columns), np.float64)


@compiled
def marks_of(pair: Any) -> NDArray:
    return carray(as_pointer(pair.mark), (pair.count,), np.uint8)


@compiled
def neighbours_of(pair: Any) -> NDArray:
    return carray(as_pointer(pair.neighbours), (pair.count, 8), np.int64)


@compiled
def voxels_of(pair: Any) -> Voxels:
    count = pair.voxels[0] * pair.voxels[1] * pair.voxels[2]
    return Voxels(
        carray(as_pointer(pair.planes), (count, 4), np.float32),
        carray(as_pointer(pair.starts), (count, 8), np.float32),
        pair.origin[0],
        pair.origin[1],
        pair.origin[2],
        pair.voxel,
        pair.voxels[0],
        pair.voxels[1],
        pair.voxels[2],
    )


@compiled
def patch_of(pair: Any) -> PatchArrays:
    spans_u, spans_v = pair.patch[0], pair.patch[1]
    shape = (spans_u, spans_v, pair.patch[2], pair.patch[3], 4)
    return PatchArrays(
        carray(as_pointer(pair.breaks_u), (spans_u + 1,), np.float64),
        carray(as_pointer(pair.breaks_v), (spans_v + 1,), np.float64),
        carray(as_pointer(pair.coefficients), shape, np.float64),
        pair.rational == 1,
    )


@compiled
def table_of(pair: Any) -> DistanceArrays:
    columns = (pair.table[0], pair.table[1])
    return DistanceArrays(
        carray(as_pointer(pair.table_axis), (2,), np.float64),
        carray(as_pointer(pair.table_origin), (3,), np.float64),
        carray(as_pointer(pair.table_rate), (3,), np.float64),
        carray(as_pointer(pair.table_first), columns, np.int32),
        carray(as_pointer(pair.table_length), columns, np.int32),
        carray(as_pointer(pair.table_base), columns, np.int32),
        carray(as_pointer(pair.table_coefficient), (pair.table[2],), np.float32),
        carray(as_pointer(pair.table_state), (pair.table[2],), np.uint8),
    )


@compiled
def traction_of(pair: Any) -> TractionLaw:
    return TractionLaw(pair.static, pair.dynamic, pair.transition, pair.damping)
