"""Contact area and pressure of a design at chosen flexions, loads, shares and positions."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.settings.contact_characterisation import CharacterisationSettings
from kneewear.simulation.static import StaticEquilibrium
from kneewear.studies.designs.bench import Axial, Bench
from kneewear.studies.static.cases import NAMED, StaticSolution, record_of
from kneewear.studies.static.record import Equilibria

logger = logging.getLogger(__name__)

# Coordinates that always settle.
SETTLED = (NAMED["superior_inferior"], NAMED["varus_valgus"])
# Quantities of each side in the table, with units, and which extreme is the worst case.
QUANTITIES = {
    "contact_area": "mm2", "avg_pressure": "MPa", "max_pressure": "MPa", "max_penetration": "mm",
    "border_pressure": "MPa",
}  # fmt: skip
SUBMITTED = ("contact_area", "avg_pressure", "max_pressure", "centre_posterior", "centre_medial")
WORST = {"contact_area": "min", "avg_pressure": "max", "max_pressure": "max"}


@dataclass(frozen=True)
class Condition:
    """One condition: flexion and tibial external rotation, deg, load, N, offsets, mm and deg.

    `posterior_slope`, deg, is that of the insert under the load.
    """

    flexion: float
    load: float
    medial_share: float
    external_rotation: float
    posterior_offset: float
    medial_offset: float
    varus_offset: float = 0.0
    posterior_slope: float = 0.0

    def __str__(self) -> str:
        """The condition as messages name it."""
        return (
            f"{self.flexion:g} deg, {self.load:g} N, {100 * self.medial_share:g} % medial, "
            f"{self.external_rotation:g} deg external rotation, offset {self.posterior_offset:g} "
            f"mm posterior, {self.medial_offset:g} mm medial, {self.varus_offset:g} deg varus, "
            f"{self.posterior_slope:g} deg slope"
        )


@dataclass(frozen=True, kw_only=True)
class CharacterisationRecord(Equilibria):
    """Contact of one design under all conditions that have an equilibrium."""

    cases: tuple[Condition, ...]


def list_conditions(settings: CharacterisationSettings) -> tuple[Condition, ...]:
    """All combinations of the settings; the last setting varies fastest."""
    return tuple(
        Condition(*values)
        for values in product(
            settings.flexion_deg, settings.load_n, settings.medial_share,
            settings.tibial_external_rotation_deg, settings.posterior_offset_mm,
            settings.medial_offset_mm, settings.varus_offset_deg, settings.posterior_slope_deg,
        )
    )  # fmt: skip


def characterise_contact(
    bench: Bench, settings: CharacterisationSettings
) -> CharacterisationRecord:
    """Contact of a design under every condition.

    The femoral component settles without friction under the axial load, of which the medial condyle
    carries its share: superior-inferior, varus-valgus and the coordinates of `settings.free`;
    others stay where the condyles' lowest points are above the middle of the plateaus. Along a
    coordinate with an offset it is then held so far from there, and the others settle again; held
    in varus, the sides carry what follows instead of their shares. A condition without equilibrium
    is left out, with a warning. ConvergenceError if none has one.
    """
    conditions, found = [], []
    for condition in list_conditions(settings):
        try:
            equilibrium = _settled(bench, condition, settings.free)
        except ConvergenceError as error:
            logger.warning("Left out: %s", error)
            continue
        conditions.append(condition)
        found.append(StaticSolution(bench.elements, equilibrium))
    if not found:
        what = "Every condition of the characterisation"
        remedy = "Check loads, flexions and the axes of both components."
        raise ConvergenceError(what, 0, np.nan, "of the load", remedy)
    return record_of(CharacterisationRecord, tuple(conditions), tuple(bench.elements.cells), found)


def _settled(bench: Bench, condition: Condition, free: Sequence[str]) -> StaticEquilibrium:
    """Equilibrium of one condition."""
    settling = [*SETTLED, *(NAMED[name] for name in free)]
    case = str(condition)
    share = condition.medial_share
    axial = Axial(condition.load, bench.line(share), condition.posterior_slope)
    start = bench.start(condition.flexion, condition.external_rotation)
    found = bench.settle_with_share(start, settling, axial, share, case)
    offsets = {
        "x": condition.posterior_offset,
        "z": condition.medial_offset,
        NAMED["varus_valgus"]: float(np.radians(condition.varus_offset)),
    }
    if not any(offsets.values()):
        return found
    pose = np.concatenate([found.translation, found.rotation])
    for name, offset in offsets.items():
        pose[COORDINATES.index(name)] += offset
    still_free = [name for name in settling if not offsets.get(name)]
    if condition.varus_offset:
        return bench.settle(pose, still_free, axial, case)
    return bench.settle_with_share(pose, still_free, axial, share, case)


def tabulate_contact(
    record: CharacterisationRecord, design: str, pressures: Sequence[float]
) -> pd.DataFrame:
    """Tidy table of one design's contact (`tables/contact.csv`).

    One row per condition, side and quantity: area, mm2, mean and largest pressure, MPa, the area
    above each of the `pressures`, mm2, force along y, N, and centre of pressure, mm.
    """
    parts = []
    for number, side in enumerate(record.sides):
        values = {
            name: (getattr(record, name)[:, number], unit) for name, unit in QUANTITIES.items()
        }
        values["force"] = record.force[:, number] @ np.array([0.0, -1.0, 0.0]), "N"
        for axis, name in ((0, "posterior"), (2, "medial")):
            values[f"centre_{name}"] = record.centre_of_pressure[:, number, axis], "mm"
        for level in pressures:
            high = (record.element_side == number) & (record.element_pressure > level)
            area = np.bincount(
                record.element_case[high], record.element_area[high], len(record.cases)
            )
            values[f"area_above_{level:g}_mpa"] = area, "mm2"
        parts += [
            _rows(record.cases, design, side, quantity, column, unit)
            for quantity, (column, unit) in values.items()
        ]
    return pd.concat(parts, ignore_index=True).dropna(subset="value")


def _rows(
    cases: Sequence[Condition], design: str, side: str, quantity: str, values: ArrayLike, unit: str
) -> pd.DataFrame:
    """Rows of one quantity of one side under all conditions."""
    return pd.DataFrame(
        {
            "design": design,
            "flexion_deg": [case.flexion for case in cases],
            "load_n": [case.load for case in cases],
            "medial_share": [case.medial_share for case in cases],
            "tibial_external_rotation_deg": [case.external_rotation for case in cases],
            "posterior_offset_mm": [case.posterior_offset for case in cases],
            "medial_offset_mm": [case.medial_offset for case in cases],
            "varus_offset_deg": [case.varus_offset for case in cases],
            "posterior_slope_deg": [case.posterior_slope for case in cases],
            "side": side,
            "quantity": quantity,
            "value": np.asarray(values, dtype=float),
            "unit": unit,
        }
    )


def condition_columns(contact: pd.DataFrame) -> list[str]:
    """Columns of a table of contact that name the condition."""
    names = list(contact.columns)
    return names[names.index("flexion_deg") : names.index("side")]


def find_worst_cases(contact: pd.DataFrame) -> pd.DataFrame:
    """Worst condition of every design, and of the family, by quantity.

    Parameters
    ----------
    contact : DataFrame
        As of `tabulate_contact`, of all designs.

    Returns
    -------
    DataFrame
        One row per quantity and design with its worst condition and side, smallest area or largest
        pressure; `worst_of_family` marks the worst design.
    """
    rows = []
    for quantity, kind in WORST.items():
        part = contact[(contact["quantity"] == quantity) & (contact["value"] > 0.0)]
        ordered = part.sort_values("value", ascending=kind == "min", kind="stable")
        worst = [one.iloc[0] for _, one in ordered.groupby("design", sort=False)]
        values = [row["value"] for row in worst]
        extreme = min(values) if kind == "min" else max(values)
        rows += [{**row, "worst_of_family": row["value"] == extreme} for row in worst]
    return pd.DataFrame(rows).reset_index(drop=True)


def reference_conditions(contact: pd.DataFrame) -> pd.DataFrame:
    """Contact of every design and side over flexion under the first of all other conditions.

    Parameters
    ----------
    contact : DataFrame
        As of `tabulate_contact`, of all designs.

    Returns
    -------
    DataFrame
        One row per design, flexion and side (`tables/submission.csv`): the condition, area, mm2,
        mean and largest pressure, MPa, and centre of pressure, mm.
    """
    conditions = condition_columns(contact)
    units = contact.drop_duplicates("quantity").set_index("quantity")["unit"]
    wanted = [name for name in SUBMITTED if name in units]
    chosen = contact[contact["quantity"].isin(wanted)]
    for name in conditions[1:]:
        chosen = chosen[chosen[name] == contact[name].iloc[0]]
    index = ["design", *conditions, "side"]
    wide = chosen.pivot_table(index=index, columns="quantity", values="value", sort=False)
    heads = {name: f"{name}_{units[name].lower()}" for name in wanted}
    return wide[wanted].rename(columns=heads).rename_axis(columns=None).reset_index()
