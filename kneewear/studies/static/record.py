"""Results of a static study: poses, resultants and loaded elements of every case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.simulation.history import ContactResults

Array = NDArray[np.float64]
Count = NDArray[np.int64]

# Where `side` names none.
WHOLE = "all"


@dataclass(frozen=True)
class StaticCase:
    """One static case: material, flexion (deg), posterior position (mm) and load (N).

    A given pose has its number in the file, from 1, and no load.
    """

    material: str
    flexion: float
    posterior: float
    load: float
    pose: int = 0

    def __str__(self) -> str:
        """The case as messages name it."""
        if self.pose:
            return f"{self.material}, pose {self.pose} ({self.flexion:.3g} deg)"
        return (
            f"{self.material}, {self.flexion:g} deg, {self.posterior:g} mm posterior, "
            f"{self.load:g} N"
        )


@dataclass(frozen=True, kw_only=True)
class Equilibria(ContactResults):
    """Equilibria, one pose for each case.

    Loaded elements of all cases follow one another, because each case has elements of its own.

    Parameters
    ----------
    reaction : array, shape (case, 6)
        Forces that hold the held coordinates, N and N mm along each; the residual along free ones.
    residual : array, shape (case,)
        Largest residual along a free coordinate, as part of the load.
    border_pressure : array, shape (case, side)
        Largest pressure on the outermost elements, MPa: if positive, contact is cut off there.
    elements_without_bone : int array, shape (case, side)
        Elements of cartilage with no measured bone under their normal, loaded or not.
    boneless_force_share : array, shape (case, side)
        Part of the side's normal force on these elements.
    rows, columns : int array, shape (case, side)
        Rows and columns of elements that the loaded ones belong to.
    element_case, element_side : int array, shape (element,)
        Case and side of each loaded element.
    element_pressure, element_area : array, shape (element,)
        MPa and mm2.
    element_centre : array, shape (element, 3)
        Its centre, mm.
    element_corners : array, shape (element, 4, 2)
        Corners of its cell in plan, mm: x and z on a plateau, -y and z on a post.
    """

    reaction: Array
    residual: Array
    border_pressure: Array
    elements_without_bone: Count
    boneless_force_share: Array
    rows: Count
    columns: Count
    element_case: Count
    element_side: Count
    element_pressure: Array
    element_area: Array
    element_centre: Array
    element_corners: Array


@dataclass(frozen=True, kw_only=True)
class StaticRecord(Equilibria):
    """Equilibria of a static study."""

    cases: tuple[StaticCase, ...]


_OF_SIDES = {
    "max_pressure": "MPa",
    "avg_pressure": "MPa",
    "contact_area": "mm2",
    "max_penetration": "mm",
    "active_elements": "1",
    "border_pressure": "MPa",
    "elements_without_bone": "1",
    "boneless_force_share": "1",
}
_COMPONENTS = ("posterior", "superior", "medial")


def tabulate_static(record: StaticRecord) -> pd.DataFrame:
    """Tidy table of a static study (`tables/static.csv`).

    Columns material, flexion_deg, posterior_mm, load_n, side, quantity, value and unit. An unloaded
    side has no centre of pressure. Poses, reactions and the residual have the side "all": position
    and reaction of the femoral component along posterior, superior and medial, and its varus, deg.
    Forces and torques are on the insert, torques about its origin. Given poses have a further first
    column, the number of the pose, and no load.
    """
    parts = [
        _column(record, side, quantity, unit, getattr(record, quantity)[:, number])
        for number, side in enumerate(record.sides)
        for quantity, unit in _OF_SIDES.items()
    ]
    for axis, name in enumerate(_COMPONENTS):
        parts += [
            _column(record, side, f"force_{name}", "N", record.force[:, number, axis])
            for number, side in enumerate(record.sides)
        ]
        parts += [
            _column(record, side, f"torque_{name}", "N mm", record.torque[:, number, axis])
            for number, side in enumerate(record.sides)
        ]
        centres = record.centre_of_pressure[..., axis]
        parts += [
            _column(record, side, f"centre_{name}", "mm", centres[:, number]).dropna()
            for number, side in enumerate(record.sides)
        ]
        parts.append(_column(record, WHOLE, f"{name}_position", "mm", record.translation[:, axis]))
        parts.append(_column(record, WHOLE, f"reaction_{name}", "N", record.reaction[:, axis]))
    varus = np.degrees(record.rotation[:, 0])
    parts.append(_column(record, WHOLE, "varus", "deg", varus))
    parts.append(_column(record, WHOLE, "residual", "1", record.residual))
    return pd.concat(parts, ignore_index=True)


def _column(
    record: StaticRecord, side: str, quantity: str, unit: str, values: NDArray
) -> pd.DataFrame:
    """Rows of one quantity for all cases."""
    poses = [case.pose for case in record.cases]
    return pd.DataFrame(
        {
            **({"pose": poses} if any(poses) else {}),
            "material": [case.material for case in record.cases],
            "flexion_deg": [case.flexion for case in record.cases],
            "posterior_mm": [case.posterior for case in record.cases],
            "load_n": [case.load for case in record.cases],
            "side": side,
            "quantity": quantity,
            "value": np.asarray(values, dtype=float),
            "unit": unit,
        }
    )
