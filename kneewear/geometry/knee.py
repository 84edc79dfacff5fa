"""The knee model: surfaces, element grids and lookup tables that all simulations share."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.distance_table import DistanceTable, TableQuality
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import FACING_DOWN, TriangleMesh, circle_centre
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable, tabulate_surface

if TYPE_CHECKING:
    import pandas as pd

    from kneewear.geometry.settings import GridSettings, ImplantSettings, TableSettings

Array = NDArray[np.float64]
# Points that are this many times farther from a circle than half of them are on no condyle.
_STRAY = 10.0

logger = logging.getLogger(__name__)

# Height above the insert, mm, from which the component is lowered to its first contact.
_START = 500.0


@dataclass(frozen=True)
class KneeModel:
    """Surfaces, element grids and lookup tables of one knee, as a right knee.

    Contact and wear are computed on the elements of `grid`, on the insert's plateaus; `coarse_grid`
    has larger elements of the same plateaus, for the comparison of grids. `samples` are regular
    samples of the condyles, from which searches for nearest points start; `distance_tables` hold
    signed distances to the condyles and are empty where only exact distances are used.
    """

    implant: Implant
    grid: ElementGrid
    samples: Mapping[str, SurfaceTable]
    distance_tables: Mapping[str, DistanceTable] = field(default_factory=dict)
    coarse_grid: ElementGrid | None = None

    def __post_init__(self) -> None:
        for name, kind in (("implant", Implant), ("grid", ElementGrid)):
            if not isinstance(getattr(self, name), kind):
                found = type(getattr(self, name)).__name__
                raise TypeError(f"{name} of a knee: found {found}; expected {kind.__name__}")

    @property
    def file_attributes(self) -> dict[str, str]:
        """Which knee a file of the model is of, and the axes of its coordinates."""
        frame = "right-knee insert frame: x posterior, y superior, z medial"
        return {"knee": "left" if self.implant.left else "right", "frame": frame}


def assemble_knee(
    implant: ImplantSettings,
    grid: GridSettings,
    table: TableSettings,
    coarse_grid: GridSettings | None = None,
    meshes: Mapping[str, TriangleMesh] | None = None,
    tabulate_distances: bool = True,
) -> tuple[KneeModel, GeometryRecord]:
    """Build the surfaces, element grids and lookup tables of a knee from blocks of the settings.

    Without `coarse_grid` the model has none. `meshes` are as read from file, by the names of the
    arguments of `build_implant`; none for the built-in implant. Without `tabulate_distances` the
    model has no distance tables, where only exact distances are used. ValueError if a mesh is
    needed and not given, or an element is too steep, without thickness or without underside;
    InputDataError if a mesh does not agree with the settings or cannot be fitted within the
    tolerance.
    """
    # Imported here: jobs that read a model need neither fitting nor tabulation.
    from kneewear.geometry.implant_sources import build_implant  # noqa: PLC0415

    built, record = build_implant(implant, **(meshes or {}))
    coarse = None
    if coarse_grid is not None:
        coarse = build_grid(built, coarse_grid.rows, coarse_grid.columns)
    model = KneeModel(
        implant=built,
        grid=build_grid(built, grid.rows, grid.columns),
        coarse_grid=coarse,
        samples={
            side: tabulate_surface(surface, table.u_points, table.v_points)
            for side, surface in built.femoral.items()
        },
        distance_tables=build_distance_tables(built, table) if tabulate_distances else {},
    )
    return model, record


def build_distance_tables(implant: Implant, settings: TableSettings) -> dict[str, DistanceTable]:
    """Distance table of each condyle that has one; the others are searched exactly."""
    from kneewear.geometry.distance_tabulation import build_distance_table  # noqa: PLC0415

    def build(side: str) -> DistanceTable | None:
        try:
            return build_distance_table(implant.femoral[side], 1e-3 * settings.distance_error_um)
        except ValueError as error:
            logger.warning("the %s condyle has no distance table: %s", side, error)
            return None

    # Most of the time passes in kernels, which run side by side.
    with ThreadPoolExecutor(len(implant.femoral)) as pool:
        tables = zip(implant.femoral, pool.map(build, implant.femoral), strict=True)
        return {side: table for side, table in tables if table is not None}


def tabulate_distance_tables(knee: KneeModel) -> pd.DataFrame:
    """Error and memory of every distance table, one row per side (`distance_table.csv`)."""
    import pandas as pd  # noqa: PLC0415 - as above

    rows = [{"side": side, **asdict(table.quality)} for side, table in knee.distance_tables.items()]
    columns = ["side", *(one.name for one in fields(TableQuality))]
    return pd.DataFrame(rows, columns=columns)


def middle_of_condyles(femoral: Mapping[str, Surface]) -> Array:
    """Point (3,) on the axis of condyles by side, midway between them, mm, in their frame.

    The axis is the centre of the circle that best fits, in sagittal view, the parts of the condyles
    that face down, without corners of patches that lie beyond the mesh: one point 30 mm off there
    would move it by 2 mm. With a single condyle z is 0.
    """
    low = []
    for surface in femoral.values():
        u, v = surface.sample_parameters
        low.append(surface.sample_points[surface.normal(u, v)[:, 1] < FACING_DOWN])
    middles = [0.5 * (points[:, 2].min() + points[:, 2].max()) for points in low]
    across = float(np.mean(middles)) if len(middles) > 1 else 0.0
    points = np.concatenate(low)[:, :2]
    off = np.linalg.norm(points - np.array(circle_centre(points)), axis=1)
    off = np.abs(off - np.median(off))
    return np.array([*circle_centre(points[off <= _STRAY * np.median(off)]), across])


@dataclass(frozen=True)
class FirstContact:
    """A femoral component that just touches the insert.

    `translation` (3,) is its origin in the insert's frame, mm; `clearance` the minimum vertical gap
    of each side, mm (zero on the side that touches, inf where a condyle is beside its plateau) and
    `point` (3,) the point of the insert where that gap is, mm (NaN where there is none).
    """

    translation: Array
    clearance: Mapping[str, float]
    point: Mapping[str, Array]

    @property
    def side(self) -> str:
        """Side that touches."""
        return min(self.clearance, key=lambda side: self.clearance[side])


def find_first_contact(
    grid: ElementGrid, femoral: Mapping[str, Surface], rotation: ArrayLike, translation: ArrayLike
) -> FirstContact:
    """Lower the femoral component vertically until it touches an element of the insert.

    `femoral` are the condyles in the femoral frame, `rotation` (3, 3) the orientation of the
    component and `translation` (3,) the position of its origin, mm, whose height is not used. The
    gap of a side is the minimum height at which vertical rays from its element centres meet the
    condyle: between centres contact may occur earlier by d^2 / 8 R for elements of size d and a
    radius R, a micrometre in a knee. ValueError if no condyle is above its plateau.
    """
    start = np.array(translation, dtype=float)
    start[1] = _START
    gaps = {
        side: _vertical_gap(grid, number, femoral[side].transformed(rotation, start))
        for number, side in enumerate(grid.sides)
    }
    least = min(gap for gap, _ in gaps.values())
    if not np.isfinite(least):
        raise ValueError(
            "no condyle is above its plateau; check the axes and origins of both components, "
            "and the anterior-posterior and medial-lateral position of the motion"
        )
    start[1] -= least
    return FirstContact(
        start,
        {side: gap - least for side, (gap, _) in gaps.items()},
        {side: point for side, (_, point) in gaps.items()},
    )


def _vertical_gap(grid: ElementGrid, side: int, condyle: Surface) -> tuple[float, Array]:
    """Minimum height of a condyle above the elements of a side, and where."""
    centres = grid.centre[side][grid.valid[side]]
    height = condyle.ray_hits(centres, (0.0, 1.0, 0.0))[2]
    lowest = int(np.argmin(height))
    if not np.isfinite(height[lowest]):
        return np.inf, np.full(3, np.nan)
    return float(height[lowest]), centres[lowest]
