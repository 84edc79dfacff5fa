"""Columns of the files of an activity: which are used, as what, and which are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kneewear.activity.conventions import column_signs
from kneewear.activity.settings import ClinicalMotion, FileActivity, RegisteredMotion
from kneewear.io.column_names import (
    NOT_USED,
    UNKNOWN,
    ColumnName,
    describe,
    doubt,
    read_name,
    with_noted_sign,
)
from kneewear.io.curves import CurveTable, read_table

# Coordinate that a force moves in its own direction.
_MOVED = {"anterior_posterior_force_n": "anterior_posterior", "rotation_torque_n_m": "rotation"}
# Controls of `control`, and what the coordinate is where the settings name none.
_SOLVED = {"anterior_posterior": "prescribed", "rotation": "prescribed"}


@dataclass(frozen=True)
class ColumnUse:
    """One column of a file of curves, and what it was understood as.

    Parameters
    ----------
    file, column : str
        The file as the settings name it, and the title of the column.
    use : {"used", "not used", "not understood"}
        "used": the curve decides results. "not used": its meaning is known, and results do not
        depend on it. "not understood": no quantity, or several, fit its title.
    quantity : str
        Quantity in `columns`; empty where there is none.
    meaning : str
        In words, with the positive direction where it is known: "internal rotation of the tibia".
    unit : str
        Unit that the title or the settings state; empty without one.
    key : str
        Key of the settings that maps the column, or that would; empty where none can.
    reason : str
        Why it is not used, or which quantities fit.
    """

    file: str
    column: str
    use: Literal["used", "not used", "not understood"]
    quantity: str
    meaning: str
    unit: str
    key: str
    reason: str


def column_uses(
    name: str, settings: FileActivity, files: Mapping[str, str | Path], knee: str = "right"
) -> tuple[ColumnUse, ...]:
    """List what every column of the files of an activity was understood as.

    It follows from the settings and the titles in the files, so that it is right for settings that
    were changed by hand as well.

    Parameters
    ----------
    name : str
        Name of the activity, for keys.
    settings : FileActivity
        Its settings.
    files : mapping
        Paths of its files by "motion" and "load". Files of poses, which have no titles, are left
        out.
    knee : str
        "right" or "left".

    Returns
    -------
    tuple of ColumnUse
        In the order of the files; columns of a file that is both motion and load come once.

    Raises
    ------
    InputDataError
        If a file cannot be read.
    """
    uses: dict[tuple[Path, str], ColumnUse] = {}
    for part in ("motion", "load"):
        block = getattr(settings, part)
        if part not in files or isinstance(block, RegisteredMotion):
            continue
        table = read_table(files[part])
        for use in _part_uses(name, settings, part, table, knee):
            place = (Path(files[part]), use.column)
            if place not in uses or use.use == "used":
                uses[place] = use
    return tuple(uses.values())


def states_directions(
    settings: FileActivity, files: Mapping[str, str | Path], knee: str = "right"
) -> bool:
    """True if the titles of measured positions and rotations state the directions settings use.

    Arguments as of `column_uses`. Lines before the titles state directions as well. False where
    settings name neither rotation nor anterior-posterior position.
    """
    if "motion" not in files or not isinstance(settings.motion, ClinicalMotion):
        return False
    table, signs = read_table(files["motion"]), column_signs(settings.motion)
    given = settings.motion.columns.given()
    stated = []
    for quantity in given.keys() & {"rotation", "anterior_posterior"}:
        column = table.column(given[quantity])
        name = read_name(column.title, table.y_up, knee)
        name = with_noted_sign(column.title, name, table.notes)
        meant = _titled_sign(quantity, signs[quantity] * column.sign)
        stated.append((name.quantity, name.sign) == (quantity, meant))
    return bool(stated) and all(stated)


def _part_uses(
    name: str, settings: FileActivity, part: str, table: CurveTable, knee: str
) -> Iterator[ColumnUse]:
    """Yield the uses of the columns of a file as motion or load."""
    block = getattr(settings, part)
    keys = f"activities.{name}.{part}.columns"
    mapped = {
        table.column(key).title: (quantity, key) for quantity, key in block.columns.given().items()
    }
    for title in table.titles:
        read = read_name(title, table.y_up, knee)
        if title not in mapped:
            yield _unmapped(block.file, title, read, keys)
            continue
        quantity, key = mapped[title]
        column = table.column(key)
        signs = column_signs(settings.motion)
        moved = _MOVED.get(quantity, quantity)
        sign = _titled_sign(moved, signs[moved] * column.sign) if moved in signs else None
        reason = _without_effect(settings, part, quantity)
        yield ColumnUse(
            block.file,
            title,
            "not used" if reason else "used",
            quantity,
            describe(
                "ground_reaction"
                if quantity == "load" and settings.load.kind == "ground_reaction"
                else quantity,
                sign,
            ),
            column.unit.name if column.unit else "",
            f"{keys}.{quantity}",
            reason,
        )


def _titled_sign(quantity: str, sign: float) -> int:
    """Sign as of `ColumnName`: positions count to anterior, superior and lateral."""
    reverse = quantity in ("anterior_posterior", "medial_lateral")
    return int(-sign if reverse else sign)


def _without_effect(settings: FileActivity, part: str, quantity: str) -> str:
    """Reason why results do not depend on a column that the settings name; empty if they do."""
    if part == "load":
        return "only compared with the motion" if quantity == "flexion" else ""
    if quantity == "superior_inferior":
        return "solved from the load; starts the search"
    if quantity not in ("varus", "rotation", "anterior_posterior", "medial_lateral"):
        return ""
    control = settings.control
    way = _SOLVED.get(quantity, "free") if control is None else getattr(control, quantity)
    if way == "prescribed":
        return ""
    return "held at its mean" if way == "held" else "solved by equilibrium; starts the search"


def _unmapped(file: str, title: str, read: ColumnName, keys: str) -> ColumnUse:
    """Use of a column that the settings do not name."""
    if read.quantity == UNKNOWN:
        fits = ", ".join(read.candidates)
        reason = f"its title fits {fits}" if fits else "its title states no quantity"
        reason = "; ".join(text for text in (reason, doubt(read)) if text)
        return ColumnUse(file, title, "not understood", "", "", read.unit, keys, reason)
    if read.quantity == NOT_USED:
        return ColumnUse(file, title, "not used", "", "", read.unit, "", read.reason)
    quantity = {"ground_reaction": "load", "frame": "time_s"}.get(read.quantity, read.quantity)
    meaning = describe(read.quantity, read.sign)
    reason = "not named in the settings"
    return ColumnUse(
        file, title, "not used", quantity, meaning, read.unit, f"{keys}.{quantity}", reason
    )
