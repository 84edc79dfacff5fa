"""Columns of a new study's recordings: what titles state, and what their values decide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.io.column_names import (
    ANGLES,
    ANYBODY,
    FRACTION,
    NOT_USED,
    POSITIONS,
    UNKNOWN,
    ColumnName,
    describe,
    doubt,
    read_name,
    unit_of,
    with_noted_sign,
)
from kneewear.io.curves import CurveTable, read_table

Array = NDArray[np.float64]

SIDES_OF_BODY = ("right", "left")
# Examples of a title that states a quantity, with its sign and unit.
EXAMPLES = {
    "percent": "percent",
    "time_s": "time_s",
    "flexion": "flexion_deg",
    "varus": "varus_deg",
    "rotation": "tibial_internal_rotation_deg",
    "anterior_posterior": "tibia_anterior_mm",
    "superior_inferior": "femur_superior_mm",
    "medial_lateral": "femur_lateral_mm",
    "anterior_posterior_force_n": "tibia_anterior_force_N",
    "rotation_torque_n_m": "tibial_internal_torque_Nm",
    "load": "axial_force_N",
    "ground_reaction": "ground_reaction_N",
    "medial": "medial_force_N",
    "lateral": "lateral_force_N",
    "frame": "frame_100Hz",
}
# Columns that a message lists with columns of other joints and quantities.
_MAX_LISTED = 12
# A knee flexes by this many times as much as it extends, at least.
_FLEXES = 2.0
# Angles that are never below this and reach the other are between thigh and shank, deg.
_INCLUDED_DEG = (80.0, 140.0)
# Range of flexion over a cycle in radians; in degrees it is larger.
_RANGE_RAD = (0.3, 2.5)
# Angles in radians are below this.
_MAX_RAD = 3.2
# Positions without a unit that are all smaller are in metres.
_MAX_METRES = 0.5
# Curves that differ by less than this part of their range are one curve in two units.
_SAME_CURVE = 2e-3
# Loads without a unit: body weights below the first, newtons above the second.
_MAX_BODY_WEIGHTS = 15.0
_MIN_NEWTONS = 450.0
# Largest difference of a total from the sum of its sides, of its peak.
_SUM_OF_SIDES = 0.05
_PERCENT = 100.0
# Largest distance of the end of a cycle from its beginning, of its range.
_CLOSED = 0.15
# Steps of time without a unit that are no seconds.
_MAX_STEP_S = 0.5
# A force at most this large over its largest value, in this fraction of the rows, is of a plate.
_UNLOADED = 0.01
_UNLOADED_FRACTION = 0.1


@dataclass(frozen=True)
class Recording:
    """File of curves, and what each of its titles states.

    `names` are by title; titles in `renamed` are read as the user says. `assumed_rate` is True
    where nothing states the rate of its frames, which are taken for one cycle of usual duration.
    """

    file: str
    table: CurveTable
    names: Mapping[str, ColumnName]
    renamed: frozenset[str] = frozenset()
    assumed_rate: bool = False

    def having(self, quantity: str) -> list[str]:
        """Titles of a quantity; those that the user names go before others."""
        titles = [title for title, name in self.names.items() if name.quantity == quantity]
        return [title for title in titles if title in self.renamed] or titles

    def key(self, title: str, sign: float = 1.0) -> str:
        """Name of a column in the settings: the title, a minus, and the unit that it lacks."""
        name = self.names[title]
        own = unit_of(title)
        unit = "" if own is not None and own.name == name.unit else name.unit
        if name.quantity == "frame":
            rate = name.rate_hz or self.table.rate_hz
            unit = "" if own is not None and title not in self.renamed else f"{rate:g} Hz"
        return f"{'-' if sign < 0.0 else ''}{title}{f' [{unit}]' if unit else ''}".strip()

    def values(self, title: str) -> Array:
        """Values of a column in this project's units; cells without a number are left out."""
        values = self.table.numbers(self.key(title), may_be_empty=True)
        return values[np.isfinite(values)]

    def curve(self, title: str) -> Array:
        """Values as `values`, in the sense of the quantity where the title states it."""
        return (self.names[title].sign or 1) * self.values(title)

    @property
    def listed(self) -> str:
        """Titles for a message, with the quantities that fit them.

        Of many columns only those that may be of the knee.
        """
        shown = {
            title: name
            for title, name in self.names.items()
            if len(self.names) <= _MAX_LISTED or name.quantity != NOT_USED
        }
        return ", ".join(
            f"'{title}' ({' or '.join(name.candidates)}?)" if name.candidates else f"'{title}'"
            for title, name in shown.items()
        )


def read_recording(file: str, knee: str, renamed: Mapping[str, str]) -> Recording:
    """Recording of a file; `renamed` are what the user calls columns, by title."""
    table = read_table(file)
    names = {}
    for title in table.titles:
        name = read_name(renamed.get(title, title), table.y_up, knee)
        names[title] = name if title in renamed else with_noted_sign(title, name, table.notes)
    for title, name in names.items():
        if title in renamed and name.quantity == UNKNOWN:
            raise _unclear_name(title, renamed[title], name)
    given = frozenset(title for title in table.titles if title in renamed)
    return _read_by_values(Recording(file, table, names, given))


def _read_by_values(recording: Recording) -> Recording:
    """Recording with what values state: fractions of a cycle, numbers of rows, units of AnyBody."""
    names = dict(recording.names)
    for title, name in names.items():
        if name.quantity == "percent" and title not in recording.renamed:
            values = recording.values(title)
            if values.size and values.min() >= 0.0 and values.max() <= 1.0:
                names[title] = replace(name, unit=FRACTION)
        if name.system == ANYBODY and name.quantity in (*ANGLES, *POSITIONS) and not name.unit:
            # AnyBody computes in radians and metres; exports may have been converted.
            largest = float(np.abs(_numbers_alone(recording, title)).max(initial=0.0))
            is_native = largest < (_MAX_METRES if name.quantity in POSITIONS else _MAX_RAD)
            unit = "m" if name.quantity in POSITIONS else "rad"
            names[title] = replace(name, unit=unit if is_native else "")
    if "" in names:
        values = _numbers_alone(recording, "")
        first = values[0] if values.size else np.nan
        if first in (0.0, 1.0) and np.array_equal(values, first + np.arange(values.size)):
            whole = first == 0.0 and values[-1] == _PERCENT
            names[""] = ColumnName("percent", unit="%") if whole else ColumnName("frame")
    return replace(recording, names=names)


def _numbers_alone(recording: Recording, title: str) -> Array:
    """Values of a column, none of one that has texts."""
    try:
        return recording.values(title)
    except InputDataError:
        return np.zeros(0)


def check_one_side(recording: Recording) -> None:
    """Ask for the side of the knee where columns are of one, and nothing else states it."""
    table, sided = recording.table, {}
    for knee in SIDES_OF_BODY:
        names = {title: read_name(title, table.y_up, knee) for title in table.titles}
        sided[knee] = [
            title
            for title, name in names.items()
            if title not in recording.renamed
            and name.quantity != NOT_USED
            and read_name(title, table.y_up, _other(knee)).quantity == NOT_USED
        ]
    if not sided["left"]:
        return
    listed = ", ".join(
        f"'{titles[0]}' of the {knee} knee" for knee, titles in sided.items() if titles
    )
    remedy = "Set it up again with --knee left"
    remedy += " or --knee right." if sided["right"] else "."
    expected = "the side of the implant, whose shapes fit both knees"
    raise InputDataError(recording.file, f"columns {listed}", expected, remedy)


def _other(knee: str) -> str:
    return "left" if knee == "right" else "right"


def parse_columns(
    texts: tuple[str, ...], files: tuple[str, ...], ignored: bool = False
) -> dict[str, str]:
    """Names of columns by their titles, from `TITLE=MEANING` of the command line.

    InputDataError where a text has another form, or no file has the title, unless such titles are
    `ignored`.
    """
    titles = {title for file in files for title in read_table(file).titles}
    renamed: dict[str, str] = {}
    for text in texts:
        title, equals, meaning = (part.strip() for part in text.rpartition("="))
        if not equals or not title or not meaning:
            expected = "TITLE=MEANING, such as 'Column 3=tibial_internal_rotation_deg'"
            raise InputDataError("--column", f"'{text}'", expected, "Write both sides.")
        if title not in titles and ignored:
            continue
        if title not in titles:
            expected = f"a title of the files: {', '.join(sorted(titles))}"
            raise InputDataError("--column", f"'{title}'", expected, "Copy it from the file.")
        renamed[title] = meaning
    return renamed


def find_clock(recording: Recording) -> tuple[str, str] | None:
    """Quantity and title of the position in the cycle; None without one."""
    for quantity in ("percent", "time_s", "frame"):
        title = single(recording, quantity)
        if title is None:
            continue
        name = recording.names[title]
        if quantity == "frame":
            if not has_rate(recording, title):
                continue
            return "time_s", title
        values = recording.values(title)
        if quantity == "time_s" and not name.unit and np.median(np.diff(values)) > _MAX_STEP_S:
            text = f"steps of {np.median(np.diff(values)):g} in '{title}'"
            raise _question(recording, text, "its unit", {title: "time_ms"})
        return quantity, title
    return None


def has_rate(recording: Recording, title: str) -> bool:
    """True if the frames per second of a column of frames are stated."""
    return (recording.names[title].rate_hz or recording.table.rate_hz) is not None


def assume_cycle(recordings: tuple[Recording, ...], duration: float) -> tuple[Recording, ...]:
    """Recordings whose frames have no rate as those of one cycle of a duration, s.

    Unchanged unless each of these has frames alone, all have one number of them, their curves are
    of one cycle (they return to their beginning, and the knee bends once beyond the middle of its
    range), and the others are in percent of the cycle.
    """
    clocks = [find_clock(recording) for recording in recordings]
    counted = [one for one, clock in zip(recordings, clocks, strict=True) if clock is None]
    timed = any(clock is not None and clock[0] != "percent" for clock in clocks)
    rows = {len(recording.table.cells.text) for recording in counted}
    lacks = all(len(recording.having("frame")) == 1 for recording in counted)
    if timed or not lacks or len(rows) != 1 or not all(map(_is_one_cycle, counted)):
        return recordings
    rate = (rows.pop() - 1) / duration
    return tuple(
        _with_rate(one, rate) if clock is None else one
        for one, clock in zip(recordings, clocks, strict=True)
    )


def _with_rate(recording: Recording, rate: float) -> Recording:
    """Recording with a rate of its frames, which is assumed."""
    (title,) = recording.having("frame")
    name = replace(recording.names[title], rate_hz=rate)
    return replace(recording, names={**recording.names, title: name}, assumed_rate=True)


def _is_one_cycle(recording: Recording) -> bool:
    """True if flexion and loads end where they begin, and the knee bends once."""
    is_moving = False
    for quantity in ("flexion", "load", "ground_reaction"):
        for title in recording.having(quantity):
            values = recording.values(title)
            span = float(np.ptp(values)) if values.size else 0.0
            if span == 0.0 or abs(values[-1] - values[0]) > _CLOSED * span:
                return False
            bent = np.abs(values) > np.abs(values).min() + 0.5 * span
            if quantity == "flexion" and np.count_nonzero(np.diff(bent.astype(int)) == 1) > 1:
                return False
            is_moving = True
    return is_moving


def require_clock(recording: Recording) -> tuple[str, str]:
    """Quantity and title of the position in the cycle; InputDataError without one."""
    clock = find_clock(recording)
    if clock is not None:
        return clock
    frames = recording.having("frame")
    if frames:
        text = f"frames in '{frames[0]}' without a rate"
        raise _question(recording, text, "frames per second", {frames[0]: EXAMPLES["frame"]})
    doubtful = {name.candidates for name in recording.names.values()}
    quantity = "percent" if ("percent",) in doubtful else "time_s"
    raise missing(recording, "percent or time_s", quantity)


def single(recording: Recording, quantity: str) -> str | None:
    """Title of a quantity; None without one.

    Columns that hold one curve in several units are one. InputDataError, with the candidates, where
    several curves fit.
    """
    titles = recording.having(quantity)
    if not titles:
        return None
    if titles[0] not in recording.renamed:
        titles += _numbered(recording, quantity)
    if len(titles) < 2:
        return titles[0]
    curves = [recording.curve(title) for title in titles]
    if all(_is_same(curves[0], curve) for curve in curves[1:]):
        in_body_weights = [title for title in titles if _is_weight(recording, title)]
        return (in_body_weights or titles)[0]
    listed = ", ".join(f"'{title}'" for title in titles)
    text = f"several columns that may be {describe(quantity)}: {listed}"
    meanings = {titles[0]: EXAMPLES.get(quantity, quantity)}
    raise _question(recording, text, "one", meanings, titles[1:])


def _numbered(recording: Recording, quantity: str) -> list[str]:
    """Titles of a quantity with a number or letter that tells them from another: `flexion_2`."""
    return [
        title
        for title, name in recording.names.items()
        if name.candidates == (quantity,)
        and name.unclear_words
        and all(len(word) == 1 or word.isdigit() for word in name.unclear_words)
    ]


def find_flexion(recording: Recording) -> str | None:
    """Name in the settings of the column of flexion, its sign from its values where need be."""
    title = single(recording, "flexion")
    if title is None:
        return None
    values = recording.values(title)
    low, high = float(values.min()), float(values.max())
    if recording.names[title].unit != "rad" and low > _INCLUDED_DEG[0] and high > _INCLUDED_DEG[1]:
        text = f"angles from {low:.0f} to {high:.0f} deg in '{title}'"
        remedy = "These look like angles between thigh and shank: write 180 minus them."
        raise InputDataError(recording.file, text, "flexion, 0 in extension", remedy)
    seen = 1 if high > _FLEXES * max(-low, 0.0) else -1 if -low > _FLEXES * max(high, 0.0) else 0
    stated = recording.names[title].sign
    if not seen or (stated is not None and stated != seen):
        text = f"values from {low:g} to {high:g} in '{title}'"
        other = "extension" if stated != -1 else "flexion"
        unit = recording.names[title].unit or "deg"
        raise _question(recording, text, "the sign of flexion", {title: f"{other}_{unit}"})
    return recording.key(title, seen)


def find_driven(recording: Recording, quantities: Iterable[str]) -> dict[str, str]:
    """Names in the settings of columns whose sign decides results, of those that there are.

    InputDataError where titles do not state the positive direction, about all of them at once.
    """
    titles = {quantity: single(recording, quantity) for quantity in quantities}
    for quantity, title in titles.items():
        if title is None:
            _ask_unclear(recording, quantity)
    present = {quantity: title for quantity, title in titles.items() if title is not None}
    unsigned = {
        title: quantity
        for quantity, title in present.items()
        if recording.names[title].sign is None
    }
    if unsigned:
        listed = " and ".join(
            f"{describe(quantity)} in '{title}'" for title, quantity in unsigned.items()
        )
        text = f"{listed}, without a positive direction"
        meanings = {title: _example(recording, title, name) for title, name in unsigned.items()}
        bone = ", and which bone moves" * ("anterior_posterior" in unsigned.values())
        expected = f"titles that say which way is positive{bone}"
        raise _question(recording, text, expected, meanings)
    return {
        quantity: recording.key(title, recording.names[title].sign or 1)
        for quantity, title in present.items()
    }


def _ask_unclear(recording: Recording, quantity: str) -> None:
    """Ask about columns that state a quantity beside words without a known meaning.

    Files of OpenSim have columns of muscles and other joints whose words are of their model.
    """
    fits = [
        title
        for title, name in recording.names.items()
        if quantity in name.candidates and len(name.candidates) == 1 and doubt(name)
    ]
    if not fits or recording.table.y_up:
        return
    listed = ", ".join(f"'{title}' ({doubt(recording.names[title])})" for title in fits)
    text = f"{listed}, which may be {describe(quantity)}"
    expected = "what the column is, or 'unused'"
    raise _question(recording, text, expected, {fits[0]: _example(recording, fits[0], quantity)})


def _example(recording: Recording, title: str, quantity: str) -> str:
    """Title that would state the direction of a quantity, in the unit of a column."""
    name, _, unit = EXAMPLES[quantity].rpartition("_")
    return f"{name}_{recording.names[title].unit or unit}"


def find_start(recording: Recording, quantity: str) -> str | None:
    """Name in the settings of a column that only starts the search of an equilibrium.

    None where there is none, several fit, or the title does not state the positive direction.
    """
    titles = recording.having(quantity)
    if len(titles) != 1 or recording.names[titles[0]].sign is None:
        return None
    title = titles[0]
    if quantity in POSITIONS and recording.names[title].system == "opensim":
        return None
    return recording.key(title, recording.names[title].sign or 1)


def check_units(recording: Recording, quantities: Iterable[str]) -> None:
    """Ask for the unit of angles and positions without one that look like radians and metres."""
    if recording.table.in_degrees is not None:
        return
    titles = {
        quantity: title
        for quantity in quantities
        for title in recording.having(quantity)[:1]
        if not recording.names[title].unit
    }
    flexion = titles.get("flexion")
    span = float(np.ptp(recording.values(flexion))) if flexion else 0.0
    radians = _RANGE_RAD[0] < span < _RANGE_RAD[1]
    asked = {}
    for quantity, title in titles.items():
        largest = float(np.abs(recording.values(title)).max(initial=0.0))
        metres = quantity in POSITIONS and 0.0 < largest < _MAX_METRES
        if metres or (radians and quantity not in POSITIONS):
            asked[title] = _stated(recording.names[title], "m" if metres else "rad")
    if asked:
        listed = ", ".join(f"'{title}'" for title in asked)
        text = f"values in {listed} that look like radians or metres, without a unit"
        raise _question(recording, text, "their unit", asked)


def _stated(name: ColumnName, unit: str) -> str:
    """Title that states what a title was read as, and its unit."""
    if name.sign is None:
        return f"{EXAMPLES[name.quantity].rpartition('_')[0]}_{unit}"
    return f"{describe(name.quantity, name.sign)} [{unit}]"


def find_opensim(recording: Recording) -> dict[str, str] | None:
    """Names in the settings of the six coordinates of OpenSim's knee; None unless all are there."""
    quantities = ("flexion", "varus", "rotation", *POSITIONS)
    keys = {}
    for quantity in quantities:
        titles = [
            title
            for title in recording.having(quantity)
            if recording.names[title].system == "opensim"
        ]
        if len(titles) != 1:
            return None
        keys[quantity] = recording.key(titles[0])
    return keys


@dataclass(frozen=True)
class LoadChoice:
    """Columns of a load in the settings, its kind, and its largest value (N or body weights)."""

    columns: dict[str, str]
    kind: str
    peak: float
    titles: tuple[str, ...]

    @property
    def text(self) -> str:
        """Titles, size, sign and kind in words."""
        turned = any(key.startswith("-") for key in self.columns.values())
        listed = ", ".join(f"'{title}'" for title in self.titles)
        sign = ", negative in compression" if turned else ""
        return f"{listed} up to {self.peak:.4g}{sign}: {self.kind}"


def find_load(recording: Recording) -> LoadChoice:
    """Load of a recording: both sides where it has them, else the whole, else a ground reaction.

    InputDataError where none is found, several fit, or nothing states the unit.
    """
    sides = [single(recording, side) for side in ("medial", "lateral")]
    load = single(recording, "load")
    if sides[0] is not None and sides[1] is not None:
        return _load_of_sides(recording, (sides[0], sides[1]), load)
    kind = "axial"
    if load is None:
        for quantity in ("load", "medial", "lateral"):
            _ask_unclear(recording, quantity)
        load, kind = single(recording, "ground_reaction"), "ground_reaction"
    if load is None:
        if sides[0] or sides[1]:
            lacking = "lateral" if sides[0] else "medial"
            expected = f"also the {lacking} side, or the load of the whole knee"
            raise missing(recording, expected, lacking)
        raise missing(recording, "an axial load of the knee", "load")
    _check_largest(recording, load)
    values = recording.values(load)
    sign = 1.0 if values.mean() >= 0.0 else -1.0
    peak = float(np.abs(values).max())
    if kind == "axial" and np.mean(np.abs(values) <= _UNLOADED * peak) >= _UNLOADED_FRACTION:
        # The joint of a leg that swings is pressed by its muscles; a force plate is not.
        kind = "ground_reaction"
    if kind == "axial":
        kind = _kind_of_load(recording, load, peak)
    return LoadChoice(
        {"load": recording.key(load, sign), **_sharing(recording, kind)}, kind, peak, (load,)
    )


def _sharing(recording: Recording, kind: str) -> dict[str, str]:
    """Column that says how a load is shared by the sides; empty without one."""
    share = single(recording, "medial_share")
    if share is not None and kind != "ground_reaction":
        return {"medial_share": recording.key(share)}
    moment = single(recording, "varus_moment_n_m")
    if moment is not None and kind == "axial_force_n":
        return {"varus_moment_n_m": recording.key(moment)}
    return {}


def _load_of_sides(recording: Recording, sides: tuple[str, str], load: str | None) -> LoadChoice:
    """Load measured on both sides; a total beside it must be their sum."""
    curves = [recording.values(side) for side in sides]
    total = curves[0] + curves[1]
    sign = 1.0 if total.mean() >= 0.0 else -1.0
    peak = float(np.abs(total).max())
    kind = _kind_of_load(recording, sides[0], peak)
    if load is not None and kind == _kind_of_load(recording, load, peak):
        away = np.abs(np.abs(recording.values(load)) - np.abs(total)).max()
        if away > _SUM_OF_SIDES * peak:
            text = f"'{load}', which differs from '{sides[0]}' + '{sides[1]}' by up to {away:.3g}"
            raise _question(recording, text, "one load", {load: "unused"})
    columns = {
        side: recording.key(title, sign)
        for side, title in zip(("medial", "lateral"), sides, strict=True)
    }
    return LoadChoice(columns, kind, peak, sides)


def _kind_of_load(recording: Recording, title: str, peak: float) -> str:
    """Kind of an axial load, by its unit or its size."""
    unit = unit_of(recording.key(title))
    if unit is not None and unit.dimension in ("force", "weight"):
        return "axial_force_n" if unit.dimension == "force" else "axial_load"
    if _MAX_BODY_WEIGHTS < peak < _MIN_NEWTONS:
        text = f"'{title}' up to {peak:.4g} without a unit"
        raise _question(recording, text, "N, or % of body weight", {title: "axial_force_N"})
    return "axial_load" if peak <= _MAX_BODY_WEIGHTS else "axial_force_n"


def _check_largest(recording: Recording, title: str) -> None:
    """Refuse a component of a force as axial that is smaller than another one."""
    reasons = ("shear force", "not the vertical ground reaction")
    others = [other for other, name in recording.names.items() if name.reason in reasons]
    mean = float(np.abs(recording.values(title)).mean())
    for other in others if title not in recording.renamed else ():
        values = recording.values(other)
        if values.size and float(np.abs(values).mean()) > mean:
            text = f"'{title}', which is smaller than '{other}'"
            quantity = recording.names[title].quantity
            raise _question(
                recording, text, "the vertical component", {other: EXAMPLES[quantity]}, [title]
            )


def _is_weight(recording: Recording, title: str) -> bool:
    unit = unit_of(recording.key(title))
    return unit is not None and unit.dimension == "weight"


def _is_same(one: Array, other: Array) -> bool:
    """True if two curves are proportional."""
    if one.shape != other.shape or not np.any(one):
        return False
    factor = float(one @ other / (one @ one))
    return factor > 0.0 and bool(np.abs(other - factor * one).max() <= _SAME_CURVE * np.ptp(other))


def missing(recording: Recording, expected: str, quantity: str) -> InputDataError:
    """Error about a quantity that no title states."""
    doubts = [
        (len(name.candidates), title)
        for title, name in recording.names.items()
        if quantity in name.candidates
    ]
    fits = [title for _, title in sorted(doubts)]
    unknown = [title for title, name in recording.names.items() if name.quantity == UNKNOWN]
    title = next(iter([*fits, *unknown]), None)
    remedy = f"Add the column, and name it such as '{EXAMPLES[quantity]}'."
    if title is not None:
        option = _option(title, _example(recording, title, quantity))
        remedy = f"Say what a column is, such as {option}."
    return InputDataError(recording.file, f"columns {recording.listed}", expected, remedy)


def _option(title: str, meaning: str) -> str:
    return f"--column {json.dumps(f'{title}={meaning}', ensure_ascii=False)}"


def _question(
    recording: Recording,
    text: str,
    expected: str,
    meanings: Mapping[str, str],
    unused: list[str] | None = None,
) -> InputDataError:
    """Error that asks what columns are, with the option that says it."""
    named = {**meanings, **dict.fromkeys(unused or [], "unused")}
    options = " ".join(_option(title, meaning) for title, meaning in named.items())
    remedy = f"Say what it is, such as {options}; opposite words turn the sign."
    return InputDataError(recording.file, text, expected, remedy)


def _unclear_name(title: str, meaning: str, name: ColumnName) -> InputDataError:
    fits = f" (fits {', '.join(name.candidates)})" if name.candidates else ""
    expected = f"words such as {', '.join(EXAMPLES.values())}, or unused"
    return InputDataError("--column", f"'{title}={meaning}'{fits}", expected, "Name one of them.")
