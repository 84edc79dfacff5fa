"""Titles of columns: the quantity, the positive direction and the unit that a title states.

A title is cut into words. A word that names something else than the motion or load of the knee
(another joint, a velocity, a muscle) excludes the column; then the unit decides between angle,
length, force and moment; then words for quantity, segment, side and direction decide. A title that
fits several quantities or none is not guessed, nor is one with a word that is not in the
vocabulary: a brace flexes, and a strap bears load.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
# Directions of this length and less are abbreviations.
_MAX_ABBREVIATION = 4
# Words of this length and more are also found in words that are written together.
_MIN_PART = 3
# A unit of one letter counts only after a word of its own dimension.
_SHORT_UNITS = {"s": "time", "m": "position", "in": "position", "n": "", "v": "", "w": "", "°": ""}
_RATE = re.compile(r"(\d+(?:\.\d+)?) *(?:hz|fps)\b", re.IGNORECASE)
_WORD = re.compile(r"kN|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|%|°")
# Names of the field by their letters, A/P or A-P.
_PAIR = re.compile(r"\b([A-Z]) ?[/-] ?([A-Z])\b")
_JOINED_PAIR = re.compile(r"\b(AP|ML|SI|IE|AA|FE|PD)(?=[a-z]{3})")
# Gender and number of Romance words, and letters that are left of those that take one.
_ENDING = re.compile(r"[aeio]s?$")
_MIN_STEM = 5
# Marks of the positive direction, after and before its word.
_AFTER = r"[\W_]{0,2}(?:\+|positive|pos\b|pos_)"
_BEFORE = r"(?:\+|positive|pos)\s*[=:]?\s*"
# Subject or trial before the name of a variable, as Vicon writes them, and an index of a vector.
_SUBJECT = re.compile(r"^[^:]*:(?=\S)")
_INDEX = re.compile(r"\[\d+\]")
# Path of a variable in a model of AnyBody, of which the last three parts name it.
_MODEL_PATH = re.compile(r"^Main\.\S*?(?=(?:[^.\s]+\.){0,2}[^.\s]+$)")
# Capitals within these words are not the beginning of another one.
_MIXED_CASE = re.compile(r"\b(?:vGRF|CoP)")
# Words that a number belongs to.
_NUMBERED = ("ground", "frame", "percent", "cycle", "numbered")
_BRACKETS = re.compile(r"[\[({]([^\[\](){}]*)[\])}]")
_UNIT_AT_END = re.compile(r"(?:\s*/\s*|,\s*|\s+in\s+)([^\s,/]+(?:/[^\s,/]+)?)\s*$")
_OPPOSITES = {
    "flexion": ("flexion", "extension"),
    "varus": ("varus", "valgus"),
    "rotation": ("external", "internal"),
    "anterior_posterior": ("anterior", "posterior"),
    "superior_inferior": ("superior", "inferior"),
    "medial_lateral": ("lateral", "medial"),
}
ANGLES = ("flexion", "varus", "rotation")
POSITIONS = ("anterior_posterior", "superior_inferior", "medial_lateral")
# Dimensions of the units of each quantity.
DIMENSIONS = {
    **dict.fromkeys(ANGLES, ("angle",)),
    **dict.fromkeys(POSITIONS, ("length",)),
    **dict.fromkeys(("load", "medial", "lateral"), ("force", "weight")),
    "anterior_posterior_force_n": ("force",),
    "rotation_torque_n_m": ("moment",),
    "varus_moment_n_m": ("moment",),
    "percent": ("percent",),
    "time_s": ("time",),
}
# Quantities whose positive direction a line about the recording may state, and the mark of it.
_SIGNED = (*ANGLES, *POSITIONS, "anterior_posterior_force_n", "rotation_torque_n_m")
_POSITIVE = re.compile(r"\+|\bpositiv|\bpos\b", re.IGNORECASE)
# Quantities of the three axes of Plug-in Gait's angles, with their signs (from memory of Vicon's
# documentation), and of the coordinates of OpenSim's knees.
_GAIT_ANGLES = {"x": ("flexion", 1), "y": ("varus", 1), "z": ("rotation", -1)}
_OPENSIM_SHIFTS = {
    "x": ("anterior_posterior", -1),
    "y": ("superior_inferior", -1),
    "z": ("medial_lateral", -1),
}
# Quantities in words: where their sign is unknown, positive, and negative.
_WORDS = {
    "flexion": ("flexion or extension", "flexion", "extension"),
    "varus": ("varus or valgus", "varus", "valgus"),
    "rotation": (
        "rotation of the tibia",
        "external rotation of the tibia",
        "internal rotation of the tibia",
    ),
    "anterior_posterior": (
        "anterior-posterior position",
        "femur to anterior",
        "femur to posterior",
    ),
    "superior_inferior": ("superior-inferior position", "femur up", "femur down"),
    "medial_lateral": ("medial-lateral position", "femur to lateral", "femur to medial"),
    "percent": ("percent of the cycle",),
    "time_s": ("time",),
    "frame": ("number of the frame",),
    "load": ("axial load",),
    "ground_reaction": ("vertical ground reaction",),
    "medial": ("load on the medial side",),
    "lateral": ("load on the lateral side",),
    "medial_share": ("part of the load on the medial side",),
    "varus_moment_n_m": ("varus moment of the load",),
    "anterior_posterior_force_n": (
        "anterior-posterior force",
        "force that moves the femur to anterior",
        "force that moves the femur to posterior",
    ),
    "rotation_torque_n_m": (
        "internal-external torque",
        "torque that turns the tibia outwards",
        "torque that turns the tibia inwards",
    ),
}
# Forces of a joint along axes, of Plug-in Gait and Visual3D (from memory of their documentation).
_NET = "a net force of inverse dynamics lacks what muscles add"
# Unit of a position in the cycle that ends at 1.
FRACTION = "0-1"
ANYBODY = "anybody"
PLUG_IN_GAIT = "plug-in-gait"
NOT_USED = "not_used"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class ColumnName:
    """Statement of the title of a column.

    Parameters
    ----------
    quantity : str
        Key of `columns` in the settings of motion or load; or `ground_reaction` (a load of that
        kind), `frame`, `not_used` or `unknown`.
    sign : int, optional
        1 where the column grows with flexion, varus, external rotation of the tibia, or the
        position of the femur to anterior, superior, lateral; -1 for the contrary; None where the
        title does not say.
    unit : str
        Unit of `column_units.csv`, or empty.
    candidates : tuple of str
        Quantities that fit, of an unknown column.
    reason : str
        Why the column is not used, or not taken for its candidate.
    system : str
        Program whose coordinates these are: "opensim", "anybody", "plug-in-gait" or empty.
    rate_hz : float, optional
        Frames per second, of a `frame`.
    unclear_words : tuple of str
        Words without a known meaning, for which the quantity in `candidates` is not taken.
    """

    quantity: str
    sign: int | None = None
    unit: str = ""
    candidates: tuple[str, ...] = ()
    reason: str = ""
    system: str = ""
    rate_hz: float | None = None
    unclear_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unit:
    """Unit of a column: its dimension, and the factor to this project's unit of it."""

    name: str
    dimension: str
    factor: float | None


def read_name(title: str, y_up: bool = False, knee: str = "right") -> ColumnName:
    """Read the title of a column.

    Parameters
    ----------
    title : str
        Title with its unit in brackets, as a suffix, after "in" or a slash; or without one.
    y_up : bool
        True if forces are along axes of which y is vertical, as in OpenSim; else z is.
    knee : str
        Side of the knee; columns of the other side are not used.
    """
    text, unit = split_unit(title)
    words = _words(text)
    meanings = [meaning for word in words for meaning in _meanings(word)]
    name = _read(_Title(text, tuple(words), tuple(meanings), unit, y_up), knee)
    rate = _RATE.search(title)
    if name.quantity == "frame" and rate:
        name = replace(name, rate_hz=float(rate[1]))
    unclear = _unclear_words(text)
    if unclear and name.quantity not in (NOT_USED, UNKNOWN):
        name = ColumnName(UNKNOWN, candidates=(name.quantity,), unclear_words=unclear)
    if _MODEL_PATH.match(title):
        name = replace(name, system=ANYBODY)
    return replace(name, unit=unit.name if unit else "")


def with_noted_sign(title: str, name: ColumnName, notes: Iterable[str]) -> ColumnName:
    """Name with the positive direction that a line about the recording states; else unchanged.

    Such a line names the quantity, a direction and what is positive, as in `AP displacement:
    positive = tibia anterior`. It is read with the title, so that the segment of either counts;
    lines that contradict each other state nothing.
    """
    if name.sign is not None or name.quantity not in _SIGNED:
        return name
    signs = set()
    for text in _clauses(notes):
        if _POSITIVE.search(text) and read_name(text).quantity == name.quantity:
            both = read_name(f"{split_unit(title)[0]}, {text}")
            signs.add(both.sign if both.quantity == name.quantity else None)
    signs.discard(None)
    return replace(name, sign=signs.pop()) if len(signs) == 1 else name


def _clauses(notes: Iterable[str]) -> Iterator[str]:
    """Parts of lines between semicolons, and of those the parts between commas."""
    for note in notes:
        for part in re.split(r"[;\t|]", note):
            yield part
            if "," in part:
                yield from part.split(",")


def doubt(name: ColumnName) -> str:
    """Reason why a column is not taken for the quantity that fits it; empty without one."""
    words = ", ".join(f"'{word}'" for word in name.unclear_words)
    return f"meaning of {words} not known" if words else name.reason


def describe(quantity: str, sign: int | None = None) -> str:
    """Quantity in words, with its positive direction where the sign of `ColumnName` is known."""
    words = _WORDS.get(quantity, (quantity.replace("_", " "),))
    return words[0 if sign is None or len(words) == 1 else 1 if sign > 0 else 2]


def split_unit(title: str) -> tuple[str, Unit | None]:
    """Title without its unit, and the unit, None where it states none."""
    text = _plain(title)
    known = units()
    for match in _BRACKETS.finditer(text):
        unit = known.get(_spelling(match[1]))
        if unit is not None:
            return f"{text[: match.start()]} {text[match.end() :]}", unit
    last = _UNIT_AT_END.search(text)
    if last and (unit := known.get(_spelling(last[1]))):
        return text[: last.start()], unit
    words = _WORD.findall(text)
    lower = [word.lower() for word in words]
    for count in (3, 2, 1):
        spelling = "_".join(lower[-count:])
        if count < len(words) and spelling in known and _fits(spelling, lower[:-count]):
            return "_".join(words[:-count]), known[spelling]
    for word in reversed(lower):
        if word in known and word not in _SHORT_UNITS and known[word].dimension != "percent":
            return text, known[word]
    return text, None


def _fits(spelling: str, before: list[str]) -> bool:
    """True if a unit without brackets is one, after the words before it."""
    kind = _SHORT_UNITS.get(spelling)
    if kind is None:
        return True
    meanings = {meaning.split()[0] for word in before for meaning in _meanings(word)}
    if spelling == "s":
        return "time" in meanings
    return not kind or bool(meanings & {"position", "direction", "axis"})


def unit_of(text: str) -> Unit | None:
    """Unit that a text is, such as `mm` or `100 Hz` (of frames), or that a title states."""
    rate = _RATE.search(text)
    if rate:
        return Unit("frames", "time", 1.0 / float(rate[1]))
    return units().get(_spelling(text)) or split_unit(text)[1]


def is_unit(text: str) -> bool:
    """True if a text is a unit."""
    return _spelling(text) in units()


@cache
def units() -> dict[str, Unit]:
    """Units by their spellings."""
    return {
        spelling: Unit(
            row["unit"], row["dimension"], float(row["factor"]) if row["factor"] else None
        )
        for row in _rows("column_units.csv")
        for spelling in row["spellings"].split()
    }


@cache
def _vocabulary() -> dict[str, tuple[str, ...]]:
    """Meanings of words."""
    meanings: dict[str, tuple[str, ...]] = {}
    for row in _rows("column_words.csv"):
        for word in row["words"].split():
            meanings[word] = (*meanings.get(word, ()), row["meaning"])
    return meanings


@cache
def _stems() -> dict[str, tuple[str, ...]]:
    """Meanings of long words without their last vowels: assiale, assiali."""
    return {
        stem: meanings
        for word, meanings in _vocabulary().items()
        if len(stem := _ENDING.sub("", word)) >= _MIN_STEM and stem != word
    }


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _plain(text: str) -> str:
    """Text without accents."""
    text = _MIXED_CASE.sub(lambda match: match[0].lower(), text)
    text = (
        _JOINED_PAIR.sub(r"\1 ", _PAIR.sub(r"\1\2", text))
        .replace("ß", "ss")
        .replace("º", "°")
        .replace("\N{MINUS SIGN}", "-")
    )
    parts = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).strip()


def _spelling(text: str) -> str:
    return re.sub(r"[\s.·*_⋅×]", "", text.lower()).replace("-m", "m")


def _words(text: str) -> list[str]:
    """Words of a title in lower case; words that are written together are cut."""
    text = re.sub(r"([A-Z]{3,})([xyz])(?![a-z])", r"\1 \2", text)
    known = _vocabulary()
    words: list[str] = []
    for word in map(str.lower, _WORD.findall(text)):
        words += [word] if word in known else _parts(word, known) or [word]
    return words


def _unclear_words(text: str) -> tuple[str, ...]:
    """Words of a title without its unit whose meaning is not known, and numbers of nothing."""
    words = _words(_MODEL_PATH.sub("", _INDEX.sub("", _SUBJECT.sub("", text))))
    numbered = any(meaning.split()[0] in _NUMBERED for word in words for meaning in _meanings(word))
    return tuple(
        word
        for word in words
        if not _meanings(word)
        and word not in ("%", "°")
        and word not in units()
        and not (numbered and word.isdigit())
    )


def _parts(word: str, known: Collection[str]) -> list[str]:
    """Known words that a word is composed of; empty where it is not."""
    if not word:
        return []
    for end in range(len(word), _MIN_PART - 1, -1):
        if word[:end] in known:
            if end == len(word):
                return [word]
            # German compounds may have an s between their words.
            rest = _parts(word[end:], known) or _parts(word[end:].removeprefix("s"), known)
            if rest:
                return [word[:end], *rest]
    return []


def _meanings(word: str) -> tuple[str, ...]:
    meanings = _vocabulary().get(word)
    if meanings is None:
        stem = _ENDING.sub("", word)
        meanings = _stems().get(stem, ()) if stem != word else ()
    return meanings


@dataclass(frozen=True)
class _Title:
    """Title without unit, its words, their meanings, and its unit."""

    text: str
    words: tuple[str, ...]
    meanings: tuple[str, ...]
    unit: Unit | None
    y_up: bool

    def states(self, *meanings: str) -> bool:
        """True if a word has one of some meanings."""
        return any(one in self.meanings for one in meanings)

    def values(self, kind: str) -> tuple[str, ...]:
        """Statements of the words of a kind, in their order."""
        start = f"{kind} "
        return tuple(
            dict.fromkeys(text[len(start) :] for text in self.meanings if text.startswith(start))
        )

    @property
    def dimension(self) -> str:
        """Dimension of the unit; empty without one."""
        return self.unit.dimension if self.unit else ""

    def directions(self) -> tuple[str, ...]:
        """Directions in words; only those with a plus if there are some."""
        stated = self.values("direction")
        if "extension or external" in stated:
            turns = self.states("rotation", "axis rotation", "direction internal", "segment tibia")
            flexes = self.states("direction flexion")
            word = "external" if turns and not flexes else "extension" if not turns else ""
            stated = tuple(dict.fromkeys(word if "or" in text.split() else text for text in stated))
        marked = [
            direction
            for direction in stated
            for word in self.words
            if f"direction {direction}" in _meanings(word)
            or (word == "ext" and direction in ("extension", "external"))
            if re.search(rf"{word}[a-z]*{_AFTER}|{_BEFORE}{word}", self.text.lower())
        ]
        return tuple(dict.fromkeys(marked)) or stated


def _read(title: _Title, knee: str) -> ColumnName:
    """Quantity and sign of a title."""
    # Forces of a plate may be named by the foot on it.
    excluded = [
        word for word in title.values("not used") if word != "foot" or not title.states("ground")
    ]
    if excluded:
        return ColumnName(NOT_USED, reason=excluded[0])
    sides = title.values("side")
    if sides and knee not in sides:
        return ColumnName(NOT_USED, reason=f"{sides[0]} side")
    if title.dimension in (
        "rate",
        "area",
        "pressure",
        "power",
        "voltage",
        "temperature",
        "specific moment",
        "stiffness",
    ):
        return ColumnName(NOT_USED, reason=title.dimension)
    if title.states("subject") and not title.states("force", "ground", "axial"):
        return ColumnName(NOT_USED, reason="of the subject")
    if not title.words:
        return _clock(title) or ColumnName(UNKNOWN)
    kinds = _KINDS.get(title.dimension, _WITHOUT_UNIT)
    for kind in kinds:
        name = kind(title)
        if name is not None:
            return name
    return ColumnName(UNKNOWN)


def _clock(title: _Title) -> ColumnName | None:
    """Position in the cycle."""
    if title.states("count") or (title.states("cycle") and title.states("number")):
        return ColumnName(UNKNOWN)
    if title.states("phase"):
        return ColumnName(UNKNOWN, candidates=("percent",)) if _is_cycle(title) else None
    if _is_cycle(title):
        return ColumnName("percent")
    if title.states("frame") and not title.states("force", "axis rotation"):
        return ColumnName("frame")
    if title.states("time") and title.dimension in ("", "time"):
        return ColumnName("time_s")
    return None


def _is_cycle(title: _Title) -> bool:
    """True if a title states percent of the cycle."""
    percent = title.states("percent") or title.dimension == "percent" or "%" in title.words
    quantity = title.states("share", "force", "angle", "direction flexion", "direction medial")
    return (
        (percent or title.states("cycle")) and title.dimension in ("", "percent") and not quantity
    )


def _moment(title: _Title) -> ColumnName | None:
    """Torque of a simulator, or the moment of a load; None where no word states a moment."""
    letters = title.values("moment letter")
    stated = title.states("moment", "torque") or letters or title.dimension == "moment"
    if not stated:
        return None
    if title.states("joint knee", "ground") or letters:
        return ColumnName(NOT_USED, reason="moment")
    directions = set(title.directions())
    turns = title.states("rotation", "axis rotation", "axial")
    turns = turns or bool(directions & {"internal", "external"})
    if directions == {"varus"}:
        return ColumnName("varus_moment_n_m", 1)
    if turns or (title.states("torque") and title.states("segment tibia")):
        return ColumnName("rotation_torque_n_m", _rotation_sign(title))
    if title.states("moment"):
        return ColumnName(NOT_USED, reason="moment")
    return ColumnName(UNKNOWN, candidates=("rotation_torque_n_m", "varus_moment_n_m"))


def _share(title: _Title) -> ColumnName | None:
    """Part of the load that the medial side carries."""
    if not title.states("share") or title.dimension not in ("", "percent"):
        return None
    if title.directions() == ("medial",):
        return ColumnName("medial_share")
    return ColumnName(UNKNOWN, candidates=("medial_share",))


def _force(title: _Title) -> ColumnName | None:
    """Force on the knee or on the ground; None where neither unit nor word states a force."""
    letters = title.values("force letter") or title.values("ground letter")
    whole = title.values("force")
    stated = (
        title.states("force", "ground") or letters or {"whole", "medial", "lateral"} & set(whole)
    )
    if not stated and title.dimension not in ("force", "weight"):
        return None
    directions, axes = set(title.directions()), set(title.values("axis"))
    letters = letters or title.values("letter")
    if {"medial", "lateral"} <= directions:
        axes.add("medial_lateral")
    if {"anterior", "posterior"} <= directions:
        axes.add("anterior_posterior")
    if title.states("ground") and title.states("joint knee"):
        return ColumnName(NOT_USED, reason="along axes of the ground")
    if title.states("ground"):
        return _ground_force(title, set(letters), bool(axes) or "anterior" in directions)
    return _joint_force(title, directions, axes, set(letters))


def _joint_force(
    title: _Title, directions: set[str], axes: set[str], letters: set[str]
) -> ColumnName:
    """Force on the knee: axial, of a side, or shear, which only simulators drive."""
    # Joint reactions of OpenSim: <joint>_on_<body>_in_<frame>_fy.
    up = "y" if title.y_up or {"on", "in"} <= set(title.words) else "z"
    if "medial_lateral" in axes or (letters and letters != {up}):
        return ColumnName(NOT_USED, reason="shear force")
    if axes & {"anterior_posterior"} or directions & {"anterior", "posterior"}:
        if title.states("joint knee", "joint reaction", "contact"):
            return ColumnName(NOT_USED, reason="shear force")
        return ColumnName("anterior_posterior_force_n", _position_sign(title, "anterior_posterior"))
    for side in ("medial", "lateral"):
        if side in directions or side in title.values("force"):
            return ColumnName(side)
    bare_axis = title.values("letter") and not title.states("contact", "joint reaction", "axial")
    if bare_axis and title.states("joint knee") and not title.y_up:
        return ColumnName(UNKNOWN, candidates=("load",), reason=_NET)
    unclear = title.words == ("f",) or "m" in title.words
    unclear = unclear or title.states("axis rotation", "resultant")
    return ColumnName(UNKNOWN, candidates=("load",)) if unclear else ColumnName("load")


def _ground_force(title: _Title, letters: set[str], horizontal: bool) -> ColumnName:
    """Vertical force of a force plate; its point of application and others are not used."""
    up = "y" if title.y_up or title.values("ground letter") else "z"
    if horizontal or (letters and letters != {up}) or title.dimension == "length":
        return ColumnName(NOT_USED, reason="not the vertical ground reaction")
    return ColumnName("ground_reaction")


def _angle(title: _Title) -> ColumnName | None:
    """Angle of the knee; None where neither unit nor word states an angle."""
    directions, axes = set(title.directions()), set(title.values("axis"))
    fits = [
        quantity
        for quantity in ANGLES
        if quantity in axes or directions & set(_OPPOSITES[quantity])
    ]
    letters = title.values("letter")
    if not fits and title.states("rotation") and not letters:
        fits = ["rotation"]
    if len(fits) > 1:
        return ColumnName(UNKNOWN, candidates=tuple(fits))
    if fits:
        return _signed_angle(title, fits[0])
    if title.states("angle") and title.states("joint knee"):
        if len(letters) == 1:
            quantity, sign = _GAIT_ANGLES[letters[0]]
            # Other programs have the same axes, and signs of their user's choice.
            if "angles" not in title.words:
                return ColumnName(quantity)
            return ColumnName(quantity, sign, system=PLUG_IN_GAIT)
        return ColumnName("flexion") if not letters else None
    if title.dimension == "angle" or title.states("angle"):
        return ColumnName(UNKNOWN, candidates=ANGLES)
    return None


def _signed_angle(title: _Title, quantity: str) -> ColumnName:
    """Angle with the sign that its title states."""
    if title.y_up and title.states("joint knee"):
        # Coordinates of OpenSim: knee_flex_r, knee_add_r, knee_rot_r (internal).
        signs = {"flexion": None, "varus": 1, "rotation": -1}
        return ColumnName(quantity, signs[quantity], system="opensim")
    if quantity == "rotation":
        return ColumnName(quantity, _rotation_sign(title))
    return ColumnName(quantity, _stated(title.directions(), _OPPOSITES[quantity]))


def _position(title: _Title) -> ColumnName | None:
    """Position of the femur or tibia; None where nothing states one."""
    directions, axes = set(title.directions()), set(title.values("axis"))
    shifts = title.values("shift letter")
    if shifts and title.states("joint knee"):
        return ColumnName(*_OPENSIM_SHIFTS[shifts[0]], system="opensim")
    if title.states("contact"):
        return ColumnName(NOT_USED, reason="place of contact")
    fits = [
        quantity
        for quantity in POSITIONS
        if quantity in axes or directions & set(_OPPOSITES[quantity])
    ]
    if not fits and "apart" in directions:
        return ColumnName("superior_inferior", None if "together" in directions else 1)
    if len(fits) > 1:
        return ColumnName(UNKNOWN, candidates=tuple(fits))
    if fits:
        return _signed_position(title, fits[0], directions & {"medial", "lateral"})
    if title.dimension == "length" or title.states("position"):
        return ColumnName(UNKNOWN, candidates=POSITIONS)
    return None


def _signed_position(title: _Title, quantity: str, sides: set[str]) -> ColumnName:
    """Position with the sign that its title states, unless a word may mean something else."""
    placed = title.dimension == "length" or title.states("position") or title.values("axis")
    words = [
        word
        for word in title.words
        if any(meaning.startswith("direction ") for meaning in _meanings(word))
    ]
    if not placed and all(len(word) <= _MAX_ABBREVIATION for word in words):
        # Muscles are named like this, too: tib_ant.
        return ColumnName(UNKNOWN, candidates=(quantity,))
    if not placed and len(sides) == 1 and not title.values("segment"):
        return ColumnName(UNKNOWN, candidates=(*sides, quantity))
    return ColumnName(quantity, _position_sign(title, quantity))


def _motion(title: _Title) -> ColumnName | None:
    """Angle or position, by words alone."""
    angle, position = _angle(title), _position(title)
    if angle is None or position is None:
        return angle or position
    if UNKNOWN in (angle.quantity, position.quantity):
        return position if angle.quantity == UNKNOWN else angle
    if title.states("position") and not title.states("rotation", "angle"):
        return position
    if title.states("rotation", "angle") and not title.states("position"):
        return angle
    both = (
        *(angle.candidates or (angle.quantity,)),
        *(position.candidates or (position.quantity,)),
    )
    return ColumnName(UNKNOWN, candidates=both)


def _stated(directions: Iterable[str], opposites: tuple[str, str]) -> int | None:
    """Sign of the one direction that is stated of two; None of none or both."""
    stated = [word for word in opposites if word in directions]
    return None if len(stated) != 1 else 1 if stated[0] == opposites[0] else -1


def _rotation_sign(title: _Title) -> int | None:
    """Sign of a rotation, of the tibia unless the femur is named."""
    sign = _stated(title.directions(), _OPPOSITES["rotation"])
    moves = _moves(title, without=0 if len(title.values("segment")) > 1 else 1)
    return None if sign is None or not moves else sign * moves


def _position_sign(title: _Title, quantity: str) -> int | None:
    """Sign of a position of the femur on the tibia; None where no segment is named."""
    sign = _stated(title.directions(), _OPPOSITES[quantity])
    moves = -_moves(title, without=0)
    return None if sign is None or not moves else sign * moves


def _moves(title: _Title, without: int) -> int:
    """1 if the tibia is named, -1 if the femur is, `without` if neither or both are.

    Of one segment relative to the other the first moves.
    """
    segments = title.values("segment")
    if title.states("relation"):
        segments = segments[:1]
    if segments == ("tibia",):
        return 1
    if segments == ("femur",) or "rollback" in title.words:
        return -1
    return without


_KINDS = {
    "angle": (_angle,),
    "length": (_position,),
    "force": (_force,),
    "weight": (_share, _force),
    "moment": (_moment,),
    "time": (_clock,),
    "percent": (_share, _clock),
    "frequency": (_clock,),
}
_WITHOUT_UNIT = (_clock, _moment, _share, _force, _motion)
