"""Results of an implant or knee under an axial load, as datasets and as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import WHOLE, Output
from kneewear.base.sides import POST, SIDES
from kneewear.contact.ends import PatchEnds
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.motion.press import PressSolution

Array = NDArray[np.float64]

AXES = ("posterior", "superior", "medial")
# Variables of `contact_dataset`: dimensions, unit and long name. Forces and torques act on the
# insert, torques about its origin; all are in the frame of the insert of a right knee.
CONTACT = {
    "translation": ("axis", "mm", "position of the femoral origin"),
    "rotation": ("axis", "rad", "body-three 1-2-3 angles of the femoral component"),
    "reaction": ("coordinate", "N or N mm", "force that holds a coordinate; residual of free ones"),
    "residual": ("", "1", "largest residual along a free coordinate, as part of the load"),
    "force": ("side axis", "N", "resultant force"),
    "torque": ("side axis", "N mm", "torque about the origin of the insert"),
    "max_pressure": ("side", "MPa", "maximum pressure"),
    "avg_pressure": ("side", "MPa", "mean pressure over the contact area"),
    "contact_area": ("side", "mm2", "contact area"),
    "max_penetration": ("side", "mm", "maximum penetration"),
    "active_elements": ("side", "1", "number of loaded elements"),
    "border_pressure": ("side", "MPa", "maximum pressure where the insert or the femur ends"),
    "border_force_share": ("side", "1", "part of the normal force where one of them ends"),
    "border_area_share": ("side", "1", "part of the loaded elements' area where one of them ends"),
    "elements_without_bone": ("side", "1", "elements of cartilage with no bone under their normal"),
    "boneless_force_share": ("side", "1", "part of the normal force on elements without bone"),
    "rows": ("side", "1", "rows of elements"),
    "columns": ("side", "1", "columns of elements"),
    "centre_of_pressure": ("side axis", "mm", "centre of pressure; NaN where unloaded"),
    "element_side": ("element", "1", "position of the side of a loaded element"),
    "element_pressure": ("element", "MPa", "pressure"),
    "element_area": ("element", "mm2", "area"),
    "element_centre": ("element axis", "mm", "centre"),
    "element_corners": ("element corner plan", "mm", "corners of the cell seen from above"),
}
# Results of each side that are variables of the dataset.
_OF_SIDES = (
    "max_pressure",
    "avg_pressure",
    "contact_area",
    "max_penetration",
    "active_elements",
    "border_pressure",
    "border_force_share",
    "border_area_share",
    "elements_without_bone",
    "boneless_force_share",
)


def contact_dataset(solution: PressSolution) -> xr.Dataset:
    """Pose, resultants of each side, and loaded elements of an equilibrium.

    Parameters
    ----------
    solution : PressSolution
        An equilibrium, or contact at a given pose.

    Returns
    -------
    Dataset
        Variables of `CONTACT`. Corners are x and z on a plateau, -y and z on a post.
    """
    equilibrium = solution.equilibrium
    sides = tuple(solution.elements.cells)
    parts = [_side_results(solution, number) for number in range(len(sides))]
    arrays: dict[str, Any] = {
        name: np.array([resultant[name] for resultant, _ in parts]) for name in parts[0][0]
    }
    loaded = [elements for _, elements in parts]
    arrays |= {name: np.concatenate([part[name] for part in loaded]) for name in loaded[0]}
    counts = [part["element_pressure"].size for part in loaded]
    arrays |= {
        "translation": equilibrium.translation,
        "rotation": equilibrium.rotation,
        "reaction": equilibrium.reaction,
        "residual": equilibrium.residual,
        "element_side": np.repeat(np.arange(len(sides)), counts),
    }
    variables = {
        name: (dimensions.split(), arrays[name], {"units": unit, "long_name": text})
        for name, (dimensions, unit, text) in CONTACT.items()
    }
    labels = {"side": list(sides), "axis": list(AXES), "coordinate": list(COORDINATES)}
    return xr.Dataset(variables, labels)


def _side_results(
    solution: PressSolution, number: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Resultant of one pair on the insert with its extremes, and its loaded elements."""
    elements, equilibrium = solution.elements, solution.equilibrium
    pair, contact = elements.pairs[number], equilibrium.contacts[number]
    cells = list(elements.cells.values())[number]
    loaded = contact.pressure > 0.0
    pressure, area = contact.pressure[loaded], contact.area[loaded]
    local = contact.element[loaded]
    centre, carried = pair.centre[local], pressure * area
    touches = bool(loaded.any())
    boneless = elements.without_bone[number].ravel()[pair.index[local]]
    # Elements are numbered along rows of the joined grid, which may be wider than the pair's cells.
    row, column = np.divmod(pair.index[local], elements.grid.area.shape[2])
    corners = [cells.at(row + i, column + j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
    force = -contact.wrench[:3]
    at_end = ends_of_pair(solution, number)[loaded]
    resultant = {
        "force": force,
        "torque": np.cross(equilibrium.translation, force) - contact.wrench[3:],
        "max_pressure": pressure.max(initial=0.0),
        "avg_pressure": contact.avg_pressure,
        "contact_area": contact.contact_area,
        "max_penetration": contact.penetration.max(initial=0.0),
        "active_elements": int(loaded.sum()),
        "border_pressure": pressure[at_end].max(initial=0.0),
        "border_force_share": float(carried[at_end].sum() / carried.sum()) if touches else 0.0,
        "border_area_share": float(area[at_end].sum() / area.sum()) if touches else 0.0,
        "elements_without_bone": int(elements.without_bone[number].sum()),
        "boneless_force_share": float(carried[boneless].sum() / carried.sum()) if touches else 0.0,
        "rows": cells.rows,
        "columns": cells.columns,
        "centre_of_pressure": carried @ centre / carried.sum() if touches else np.full(3, np.nan),
    }
    return resultant, {
        "element_pressure": pressure,
        "element_area": area,
        "element_centre": centre,
        "element_corners": np.stack(corners, axis=1).reshape(local.size, 4, 2),
    }


def ends_of_pair(solution: PressSolution, number: int) -> NDArray[np.bool_]:
    """Which elements in contact are where the insert or the femoral surface ends."""
    equilibrium = solution.equilibrium
    ends = PatchEnds(solution.elements.pairs[number])
    rotation = body_three_123(equilibrium.rotation)
    touched = ends.touched(rotation, equilibrium.translation, equilibrium.contacts[number])
    return touched[0] | touched[1]


def contact_outputs(sides: Sequence[str], pressures: Sequence[float]) -> Iterator[Output]:
    """Results of an equilibrium: those of each side, then pose, reactions and residual."""
    for side in sides:
        for quantity in _OF_SIDES:
            yield Output(side, quantity, CONTACT[quantity][1])
        for axis in AXES:
            yield Output(side, f"force_{axis}", "N")
            yield Output(side, f"torque_{axis}", "N mm")
            yield Output(side, f"centre_{axis}", "mm")
        for level in pressures:
            yield Output(side, f"area_above_{level:g}_mpa", "mm2")
    for axis in AXES:
        yield Output(WHOLE, f"{axis}_position", "mm")
        yield Output(WHOLE, f"reaction_{axis}", "N")
    yield Output(WHOLE, "flexion", "deg")
    yield Output(WHOLE, "varus", "deg")
    yield Output(WHOLE, "residual", "1")


def tabulate_contact(contact: xr.Dataset, pressures: Sequence[float]) -> dict[str, float]:
    """Values of the results of `contact_outputs` by their columns; NaN on sides that are missing.

    Parameters
    ----------
    contact : Dataset
        As of `contact_dataset`.
    pressures : sequence of float
        Pressures above which areas are reported, MPa.
    """
    values: dict[tuple[str, str], float] = {}
    for number, side in enumerate(contact["side"].values):
        for quantity in _OF_SIDES:
            values[side, quantity] = float(contact[quantity].values[number])
        for axis, name in enumerate(AXES):
            for quantity in ("force", "torque"):
                values[side, f"{quantity}_{name}"] = float(contact[quantity].values[number, axis])
            centre = contact["centre_of_pressure"].values[number, axis]
            values[side, f"centre_{name}"] = float(centre)
        on_side = contact["element_side"].values == number
        pressure, area = contact["element_pressure"].values, contact["element_area"].values
        for level in pressures:
            high = on_side & (pressure > level)
            values[side, f"area_above_{level:g}_mpa"] = float(area[high].sum())
    rotation = contact["rotation"].values
    for axis, name in enumerate(AXES):
        values[WHOLE, f"{name}_position"] = float(contact["translation"].values[axis])
        values[WHOLE, f"reaction_{name}"] = float(contact["reaction"].values[axis])
    flexion = clinical_angles(body_three_123(rotation[None]))[0, 0]
    values[WHOLE, "flexion"] = float(np.degrees(flexion))
    values[WHOLE, "varus"] = float(np.degrees(rotation[0]))
    values[WHOLE, "residual"] = float(contact["residual"])
    return {Output(*key, "").column: value for key, value in values.items()}


def as_case(dataset: xr.Dataset, name: str) -> xr.Dataset:
    """Dataset of one case with the dimension `case`, and `element_case` of its loaded elements."""
    elements = _element_variables(dataset)
    cases = dataset.drop_vars(elements).expand_dims(case=[name])
    if not elements:
        return cases
    number = ("element", np.zeros(dataset.sizes["element"], dtype=np.int64))
    return cases.merge(dataset[elements].drop_vars("side", errors="ignore")).assign(
        element_case=number
    )


def join_cases(datasets: Sequence[xr.Dataset]) -> xr.Dataset:
    """Datasets of several cases as one.

    Parameters
    ----------
    datasets : sequence of Dataset
        As of `as_case`, or joined before.

    Returns
    -------
    Dataset
        Dimension `case`; NaN where a case has no such side or step. Loaded elements of all cases
        follow one another, with `element_case`, the position of their case.
    """
    if not datasets:
        return xr.Dataset()
    joined = xr.concat(
        [one.drop_vars(_element_variables(one)) for one in datasets],
        "case",
        join="outer",
        combine_attrs="drop_conflicts",
    )
    sides = [side for side in (*SIDES, POST) if side in joined["side"].values]
    joined = joined.reindex(side=sides)
    parts, first = [], 0
    for dataset in datasets:
        if "element" in dataset.dims:
            part = dataset[_element_variables(dataset)].drop_vars(["side", "case"], errors="ignore")
            position = np.array([sides.index(side) for side in dataset["side"].values])
            part["element_side"] = ("element", position[dataset["element_side"].values])
            part["element_case"] = part["element_case"] + first
            parts.append(part)
        first += dataset.sizes["case"]
    return joined.merge(xr.concat(parts, "element")) if parts else joined


def _element_variables(dataset: xr.Dataset) -> list[str]:
    return [str(name) for name in dataset.data_vars if "element" in dataset[name].dims]


class CaseDatasets:
    """Datasets of computed cases; `keep_elements` also those of their loaded elements."""

    def __init__(self, *, keep_elements: bool) -> None:
        self.keep_elements = keep_elements
        self._parts: list[xr.Dataset] = []

    def add(self, row: Mapping[str, Any], result: Any) -> None:
        """Take the result of one case of a plan."""
        dataset = result.dataset
        if not self.keep_elements:
            dataset = dataset.drop_vars(_element_variables(dataset))
        self._parts.append(as_case(dataset, str(row["case"])))

    @property
    def total(self) -> xr.Dataset:
        """All cases so far."""
        return join_cases(self._parts)
