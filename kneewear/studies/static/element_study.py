"""How far pressures, forces and torques depend on the elements (Bei 2003, Figs 2-3 and 3-1D)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.resultant import Resultant
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.implant import GridSettings
from kneewear.settings.static import ElementStudySettings, StaticSettings
from kneewear.sides import SIDES
from kneewear.studies.static.cases import refine_cells, solve_case
from kneewear.studies.static.pairs import KneePairs
from kneewear.studies.static.record import StaticCase

Array = NDArray[np.float64]


def study_active_elements(
    knee: KneePairs, grid: GridSettings, settings: StaticSettings, seed: int
) -> pd.DataFrame:
    """Solve one case on many grids of about the wanted numbers of loaded elements.

    The rectangle of cells, first of the rows and columns of `grid`, is moved by random parts of a
    cell along both directions: where the patch meets the borders between cells is chance, and with
    few elements it decides the result.

    Returns
    -------
    DataFrame
        Columns wanted, offset (number of the random position), side, active_elements,
        max_pressure_mpa and avg_pressure_mpa; one row per grid and side, a post left out.
    """
    study, case = _chosen(settings)
    cells = knee.cells(grid)
    first = solve_case(knee, cells, case, settings)
    random = np.random.default_rng(seed)
    found = []
    for wanted, offset in product(study.active_elements, range(study.offsets)):
        parts = random.random(2)
        finer = wanted / max(first.active)
        elements = {side: refine_cells(part, finer).moved(*parts) for side, part in cells.items()}
        solution = solve_case(knee, elements, case, settings)
        for side, contact in zip(cells, solution.equilibrium.contacts, strict=True):
            if side in SIDES:
                found.append(
                    {"wanted": wanted, "offset": offset, "side": side} | _pressures(contact)
                )
    return pd.DataFrame(found)


def study_divisions(knee: KneePairs, grid: GridSettings, settings: StaticSettings) -> pd.DataFrame:
    """Evaluate one pose of the medial side on every combination of rows and columns.

    The pose is the equilibrium on the finest cells, and stays: what the cells change is then not
    hidden by the load that a new equilibrium would restore.

    Returns
    -------
    DataFrame
        Columns rows, columns, force_n, torque_n_mm (about the insert's origin), active_elements,
        max_pressure_mpa and avg_pressure_mpa.
    """
    study, case = _chosen(settings)
    finest = study.divisions[-1]
    cells = knee.cells(grid)
    cells |= {side: replace(cells[side], rows=finest, columns=finest) for side in SIDES}
    pose = solve_case(knee, cells, case, settings).equilibrium
    rotation = body_three_123(pose.rotation)
    found = []
    for rows, columns in product(study.divisions, study.divisions):
        part = {SIDES[0]: replace(cells[SIDES[0]], rows=rows, columns=columns)}
        elements = knee.with_cells(part, settings.materials[case.material])
        contact = elements.pairs[0].evaluate(rotation, pose.translation, elements.layers[0])
        torque = contact.wrench[3:] + np.cross(pose.translation, contact.wrench[:3])
        sizes = {
            "force_n": float(np.linalg.norm(contact.wrench[:3])),
            "torque_n_mm": float(np.linalg.norm(torque)),
        }
        found.append({"rows": rows, "columns": columns} | sizes | _pressures(contact))
    return pd.DataFrame(found)


def _chosen(settings: StaticSettings) -> tuple[ElementStudySettings, StaticCase]:
    """The study of elements and its case."""
    study = settings.element_study
    if study is None:
        raise ValueError("the settings have no `static.element_study`")
    posterior = settings.posterior_mm[0]
    return study, StaticCase(study.material, study.flexion_deg, posterior, study.load_n)


def _pressures(contact: Resultant) -> dict[str, float]:
    """Loaded elements of one pair, and their largest and mean pressure."""
    pressure = contact.pressure[contact.pressure > 0.0]
    return {
        "active_elements": pressure.size,
        "max_pressure_mpa": float(pressure.max()),
        "avg_pressure_mpa": contact.avg_pressure,
    }
