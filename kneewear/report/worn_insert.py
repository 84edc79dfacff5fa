"""The worn insert of one case for other programs: STL, STEP and a table of its elements."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.io.cad import cad_is_installed, save_patches
from kneewear.io.documents import save_table
from kneewear.io.result_files import atomic_path
from kneewear.report.vtk import CELL_ARRAYS, element_mesh
from kneewear.wear.worn_surface import lower_surface, worn_patches

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]
# A triangle of a binary STL file.
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def save_worn_insert(
    maps: xr.Dataset, grid: ElementGrid, case: str, folder: str | Path, left: bool = False
) -> list[Path]:
    """Write the bearing surfaces after wear and creep, for every life; return the files.

    `{case}.stl` has the triangles of all elements, `{case}.step` (with the extra `cad`) a B-spline
    surface for each side, `{case}.csv` a row per element: position on the fresh insert, normal,
    area and depths. All are in mm in the frame of the insert, mirrored back for a `left` knee.
    Nothing is written, with a warning, for a case that was not simulated, and for a life in which
    an element steeper than 80 deg is worn.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    names, lives = (maps[label].values.tolist() for label in ("case", "life"))
    if case not in names:
        logger.warning("no worn insert of case %s is written: it was not simulated", case)
        return []
    index, written = names.index(case), []
    mirror = np.array([-1.0 if left else 1.0, 1.0, 1.0])
    for number, life in enumerate(lives):
        stem = Path(folder, case if len(lives) == 1 else f"{case}_{life}")
        damage, wear = (maps[name].values[number, index] for name in ("damage_depth", "wear_depth"))
        try:
            worn = lower_surface(grid, damage, wear, smoothing=0.0, thins=False)
        except ValueError as error:
            logger.warning("no worn insert of case %s is written: %s", case, error)
            continue
        table, stl = Path(f"{stem}.csv"), Path(f"{stem}.stl")
        save_table(_element_table(maps, grid, (number, index), mirror), table)
        _write_stl(worn, mirror, stl)
        written += [table, stl]
        if cad_is_installed():
            patches = {f"insert_{side}": one for side, one in worn_patches(worn).items()}
            written.append(Path(f"{stem}.step"))
            save_patches(
                {name: one.mirrored() if left else one for name, one in patches.items()},
                written[-1],
            )
    return written


def _element_table(
    maps: xr.Dataset, grid: ElementGrid, index: tuple[int, int], mirror: Array
) -> pd.DataFrame:
    side, row, column = np.nonzero(grid.valid)
    columns = {"side": np.array(grid.sides)[side], "row": row, "column": column}
    for name, vectors in (("{}_mm", grid.centre), ("normal_{}", grid.normal)):
        for axis, letter in enumerate("xyz"):
            columns[name.format(letter)] = vectors[grid.valid][:, axis] * mirror[axis]
    columns["area_mm2"] = grid.area[grid.valid]
    depths = {name: maps[field].values[index][grid.valid] for name, field in CELL_ARRAYS.items()}
    return pd.DataFrame(columns | depths)


def _write_stl(grid: ElementGrid, mirror: Array, path: Path) -> None:
    """Two triangles per element, normals upwards."""
    points, quads = element_mesh(grid)
    quads = quads[:, ::-1] if mirror[0] < 0.0 else quads
    corners = (points * mirror)[np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])]
    facets = np.zeros(len(corners), _FACET)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facets["normal"] = across / np.linalg.norm(across, axis=1, keepdims=True)
    facets["corners"] = corners
    head = b"worn insert, mm".ljust(80) + np.uint32(len(facets)).tobytes()
    with atomic_path(path) as temporary:
        temporary.write_bytes(head + facets.tobytes())
