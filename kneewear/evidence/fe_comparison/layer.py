"""A frame of one side on a coupled elastic layer: the quantities of its finite elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import CoupledLayer, SmallStrain, confined_modulus
from kneewear.contact.layer_stress import largest_von_mises
from kneewear.contact.material import Elastic
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError
from kneewear.evidence.fe_comparison.frames import SideAtFrame
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_elements
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.coupling import insert_influence

Array = NDArray[np.float64]

# Relative error of the load, and steps in which a condyle is moved to it.
_TOLERANCE = 1e-8
_MAX_STEPS = 50
# Factor of the columns of the second grid: ends of contact have peaks narrower than a column.
_FINER = 2
# Step of the depths, mm, and part of the thickness, in which the largest stress is sought.
_DEPTH_STEP = 0.25
_DEEPEST = 0.5


@dataclass(frozen=True)
class SideLayer:
    """Results of one side at one frame on the coupled layer.

    `values` are those of `foundation_values` and the von Mises stresses of the FE comparison, on
    the elements of the study, and `fine_values` on elements half as wide; `contact` is that under
    the foundation's load.
    """

    values: Mapping[str, float]
    fine_values: Mapping[str, float]
    contact: Resultant


def compute_layer(
    side: SideAtFrame, grid: ElementGrid, number: int, thickness: float, material: Elastic
) -> SideLayer:
    """The coupled layer at the pose of a side, and moved along y under the foundation's load.

    `number` is that of the side in the grid, `thickness` the minimum one of the case, mm. The layer
    is of the body that the finite elements are of, with the sections through the middle of the
    contact. ConvergenceError if no height carries the load.
    """
    rows, columns = grid.valid.shape[1:]
    fine = build_elements(
        side.bearing,
        side.bearing.rectangle(rows, _FINER * columns),
        nominal_thickness=None if side.bearing.name in grid.unvaried else grid.nominal_thickness,
    )
    values, contact = _values(side, side.pair, grid, number, thickness, material)
    others, _ = _values(side, side.pair.with_grid(fine, 0), fine, 0, thickness, material)
    return SideLayer(values, others, contact)


def _values(
    side: SideAtFrame,
    pair: ContactPair,
    grid: ElementGrid,
    number: int,
    thickness: float,
    material: Elastic,
) -> tuple[dict[str, float], Resultant]:
    local = grid.case_thickness(thickness)
    off = grid.centre[number][..., [0, 2]] - 0.5 * (side.box.low + side.box.high)
    row, column = np.unravel_index(np.nanargmin((off**2).sum(axis=-1)), off.shape[:2])
    influence = insert_influence(
        grid, number, local, material, place=(int(row), int(column)), plan=side.plan
    )
    law = SmallStrain(confined_modulus(material.youngs_modulus, material.poisson_ratio))
    layer = CoupledLayer(law, local[number].ravel()[pair.index], influence)
    posed = pair.evaluate(body_three_123(side.pose[3:]), side.pose[:3], layer)
    loaded = _under_load(side, pair, layer, posed)
    middle = side.box.in_middle(pair.centre[loaded.element][:, 2])
    values = {
        "force_at_pose": float(posed.wrench[1]),
        "max_pressure": float(loaded.pressure.max()),
        "middle_pressure": float(loaded.pressure[middle].max()),
        "avg_pressure": float(loaded.avg_pressure),
        "contact_area": float(loaded.contact_area),
    }
    flat = float(local[number][row, column])
    return values | _stresses(side, pair, grid, number, flat, material, loaded), loaded


def _stresses(
    side: SideAtFrame,
    pair: ContactPair,
    grid: ElementGrid,
    number: int,
    thickness: float,
    material: Elastic,
    loaded: Resultant,
) -> dict[str, float]:
    """Largest von Mises stresses below a loaded side of a flat layer, and their depths."""
    pressure = np.zeros(grid.valid.shape[1:])
    pressure.ravel()[pair.index[loaded.element]] = loaded.pressure
    depths = np.arange(_DEPTH_STEP, _DEEPEST * thickness, _DEPTH_STEP)
    stress, depth = largest_von_mises(
        pressure, grid.cell_edges(number), depths, thickness, material.poisson_ratio
    )
    middle = side.box.in_middle(grid.centre[number][..., 2])
    found: dict[str, float] = {}
    for name, part in (("von_mises", stress), ("middle_von_mises", np.where(middle, stress, 0.0))):
        at = np.unravel_index(int(part.argmax()), part.shape)
        found |= {name: float(part[at]), f"{name}_depth": float(depth[at])}
    return found


def _under_load(
    side: SideAtFrame, pair: ContactPair, layer: CoupledLayer, posed: Resultant
) -> Resultant:
    """Contact at the height at which the side carries its load, by Newton's method."""
    rotation, place = body_three_123(side.pose[3:]), side.pose[:3].copy()
    found = posed
    for _ in range(_MAX_STEPS):
        over = float(found.wrench[1]) - side.load
        if abs(over) < _TOLERANCE * side.load:
            return found
        # Not more than the overlap: a side that loses contact has no stiffness.
        step = -over / float(found.stiffness[1, 1])
        place[1] += min(step, 0.5 * float(found.max_penetration))
        found = pair.evaluate(rotation, place, layer)
    raise ConvergenceError(
        f"Load on the coupled layer, {side.label}",
        0,
        abs(over) / side.load,
        "of the load",
        "Choose another frame (fe_comparison.frames_percent).",
    )
