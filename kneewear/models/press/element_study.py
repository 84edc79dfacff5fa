"""Sensitivity of pressures, forces and torques to the elements (Bei 2003, Figs 2-3 and 3-1D)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.sides import SIDES
from kneewear.contact.resultant import Resultant
from kneewear.geometry.implant import Implant
from kneewear.mechanics.rotations import body_three_123
from kneewear.models.press.settings import PressStudy
from kneewear.motion.press import Rig, refine_cells
from kneewear.study.analysis_settings import ElementsOptions

Array = NDArray[np.float64]


def study_active_elements(implant: Implant, study: PressStudy) -> pd.DataFrame:
    """Solve one case on many grids of about the wanted numbers of loaded elements.

    The rectangle of cells, first of the rows and columns of `grid`, is moved by random parts of a
    cell along both directions: where the patch meets the borders between cells is chance, and with
    few elements it decides the result.

    Parameters
    ----------
    implant : Implant
        Implant of the study.
    study : PressStudy
        Settings, without variables; the analysis `elements` has the numbers of elements.

    Returns
    -------
    DataFrame
        Columns wanted, offset (number of the random position), side, active_elements,
        max_pressure_mpa and avg_pressure_mpa; one row per grid and side, a post left out.
    """
    options, rig = _rig(implant, study)
    start, free, axial = rig.start(), rig.free, rig.axial
    cells = rig.elements.cells
    first = rig.settle(start, free, axial)
    random = np.random.default_rng(study.seed)
    rows = []
    for wanted, offset in product(options.active_elements, range(options.offsets)):
        parts = random.random(2)
        finer = wanted / max(first.active)
        moved = {side: refine_cells(part, finer).moved(*parts) for side, part in cells.items()}
        solution = rig.settle(start, free, axial, rig.with_cells(moved))
        for side, contact in zip(cells, solution.equilibrium.contacts, strict=True):
            if side in SIDES:
                labels = {"wanted": wanted, "offset": offset, "side": side}
                rows.append(labels | _pressures(contact))
    return pd.DataFrame(rows)


def study_divisions(implant: Implant, study: PressStudy) -> pd.DataFrame:
    """Evaluate one pose of the medial side on every combination of rows and columns.

    The pose is the equilibrium on the finest cells, and stays: what the cells change is then not
    hidden by the load that a new equilibrium would restore.

    Parameters
    ----------
    implant, study
        As of `study_active_elements`.

    Returns
    -------
    DataFrame
        Columns rows, columns, force_n, torque_n_mm (about the insert's origin), active_elements,
        max_pressure_mpa and avg_pressure_mpa.
    """
    options, rig = _rig(implant, study)
    finest = options.divisions[-1]
    cells = dict(rig.elements.cells)
    cells |= {side: replace(cells[side], rows=finest, columns=finest) for side in SIDES}
    solution = rig.settle(rig.start(), rig.free, rig.axial, rig.with_cells(cells))
    translation, rotation = solution.pose[:3], body_three_123(solution.pose[3:])
    table = []
    for rows, columns in product(options.divisions, options.divisions):
        part = {SIDES[0]: replace(cells[SIDES[0]], rows=rows, columns=columns)}
        elements = rig.with_cells(part)
        contact = elements.pairs[0].evaluate(rotation, translation, elements.layers[0])
        torque = contact.wrench[3:] + np.cross(translation, contact.wrench[:3])
        sizes = {
            "force_n": float(np.linalg.norm(contact.wrench[:3])),
            "torque_n_mm": float(np.linalg.norm(torque)),
        }
        table.append({"rows": rows, "columns": columns} | sizes | _pressures(contact))
    return pd.DataFrame(table)


def _rig(implant: Implant, study: PressStudy) -> tuple[ElementsOptions, Rig]:
    """Options of the study of elements, and the rig of the settings."""
    options = study.analyses.elements
    if options is None:
        raise ValueError("the settings have no `analyses.elements`")
    return options, Rig(implant, study)


def _pressures(contact: Resultant) -> dict[str, float]:
    """Loaded elements of one pair, and their largest and mean pressure."""
    pressure = contact.pressure[contact.pressure > 0.0]
    return {
        "active_elements": pressure.size,
        "max_pressure_mpa": float(pressure.max()),
        "avg_pressure_mpa": contact.avg_pressure,
    }
