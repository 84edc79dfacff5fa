"""Stress below the bearing at the load peaks of a cycle, and an index of delamination."""

from __future__ import annotations

import numpy as np
import xarray as xr

from kneewear.contact.layer_stress import largest_von_mises
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import cases_of, sides_of

# Depths that are searched: steps, mm, and the part of the thickness they reach.
_STEP = 0.25
_DEEPEST = 0.5
# Yield stress of polyethylene, MPa: the lower end of 14 to 23 MPa (Bei 2003, section 4.4).
YIELD_STRESS = 14.0


def subsurface_stress(
    history: xr.Dataset,
    grid: ElementGrid,
    poisson_ratio: float,
    yield_stress: float = YIELD_STRESS,
) -> xr.Dataset:
    """Largest von Mises stress below each element at the largest load, for every case.

    Parameters
    ----------
    history : Dataset
        Contact over one cycle, of the schema CONTACT; pressures of a coupled layer, as those of a
        foundation are not in balance with a stress field.
    grid : ElementGrid
        Elements of the history.
    poisson_ratio : float
        Poisson's ratio of the insert.
    yield_stress : float
        Stress that the index is relative to, MPa.

    Returns
    -------
    Dataset
        Dimensions case, side, row and column: `von_mises` (MPa), `depth` below the surface (mm) and
        `delamination_index`, the stress over the yield stress; and `percent` of the cycle at which
        the case has its largest load.

    Notes
    -----
    Each plateau is a flat elastic layer of the local thickness under its pressures, without free
    ends and friction (`kneewear.contact.layer_stress`). The index orders places, designs and cases
    by how far the material below them is loaded. It is no prediction of delamination: it has no
    number of cycles, oxidation or crack in it, and beyond 1 the material yields, so that the
    elastic stress is an upper limit.
    """
    cases, sides = cases_of(history), sides_of(history)
    peaks = history["load"].values.argmax(axis=1)
    shape = (len(cases), len(sides), *grid.valid.shape[1:])
    stress, depth = np.zeros(shape), np.zeros(shape)
    for number, (case, frame) in enumerate(zip(cases, peaks, strict=True)):
        local = grid.case_thickness(case.thickness)
        for side in range(len(sides)):
            pressure = history["pressure"].values[number, frame, side].astype(float)
            if not pressure.any():
                continue
            thickness = float(np.average(np.nan_to_num(local[side]), weights=pressure))
            depths = np.arange(_STEP, _DEEPEST * thickness, _STEP)
            stress[number, side], depth[number, side] = largest_von_mises(
                pressure, grid.cell_edges(side), depths, thickness, poisson_ratio
            )
    dimensions = ("case", "side", "row", "column")
    return xr.Dataset(
        {
            "von_mises": (dimensions, stress, {"units": "MPa", "long_name": "von Mises stress"}),
            "depth": (dimensions, depth, {"units": "mm", "long_name": "depth of that stress"}),
            "delamination_index": (
                dimensions,
                stress / yield_stress,
                {"units": "1", "long_name": "von Mises stress over yield stress (an index)"},
            ),
            "percent": ("case", history["percent"].values[peaks], {"units": "%"}),
        },
        coords={"case": history["case"].values, "side": list(sides)},
    )
