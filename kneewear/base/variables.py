"""Variables: the only way a setting differs between the cases of a study."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import AfterValidator, Field, model_validator

from kneewear.base.faults import fault, fault_at
from kneewear.base.files import Location, value_at
from kneewear.base.ranges import Range
from kneewear.base.types import Finite, Limits, Name, Positive, Settings, quantity

# In a path: all entries of a list, or all names of a mapping.
EVERY = "*"
# Normal distributions end at this number of standard deviations: no absurd settings.
CUT = 3.0

# Levels that are checked one by one before a study runs.
MAX_CHECKED = 20

Value = float | str


def merged(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings merged key by key; everything else, lists too, is replaced."""
    both = dict(base)
    for key, value in overrides.items():
        inherited = both.get(key)
        blocks = isinstance(value, Mapping) and isinstance(inherited, Mapping)
        both[key] = merged(inherited, value) if blocks else value  # type: ignore[arg-type]
    return both


def locations_of(settings: Any, path: str) -> Iterator[Location]:
    """Locations of all settings that a path names, in which * means every entry.

    KeyError, with a message, if there is nothing at the path.
    """
    matches: list[tuple[Location, Any]] = [((), settings)]
    for key in path.split("."):
        matches = [
            ((*at, name), block[name]) for at, block in matches for name in _keys(block, key, path)
        ]
    for at, _ in matches:
        yield at


def _keys(block: Any, key: str, path: str) -> Sequence[str | int]:
    """Keys of a mapping or positions of a list that one step of a path names."""
    names: list[str | int] = []
    if isinstance(block, Mapping):
        names = list(block)
    elif isinstance(block, list | tuple):
        names = list(range(len(block)))
    chosen = names if key == EVERY else [name for name in names if str(name) == key]
    if not chosen:
        raise KeyError(f"{path}: no '{key}'")
    return chosen


def replace_at(settings: dict[str, Any], location: Location, value: Any) -> None:
    """Replace the value at a location of settings of plain builtins, in place."""
    *way, last = location
    block: Any = settings
    for step in way:
        block = block[step]
    if isinstance(block, tuple):
        raise KeyError(".".join(map(str, location)))
    block[last] = value


def is_unchanged(value: object) -> bool:
    """True if a value of a plan leaves the settings as they are: none, empty or NaN."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


_OF_SETTING = Range.unlimited("unit of the setting", "The changed settings are judged")


class NormalDistribution(Settings):
    """Normal distribution, cut off at three standard deviations."""

    mean: Finite = quantity("Mean.", _OF_SETTING)
    standard_deviation: Positive = quantity("Standard deviation.", _OF_SETTING)


def _differ(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Refuse levels that would give two cases one name."""
    alike: dict[str, list[Value]] = {}
    for value in values:
        alike.setdefault(label_of(value), []).append(value)
    for name, same in alike.items():
        if len(same) > 1:
            raise fault(
                f"{' and '.join(map(repr, same))}, all shown as {name}",
                "distinct levels that differ in their first six digits",
                "Name each level once, or set levels further apart.",
            )
    return values


def label_of(value: Value) -> str:
    """Level as names of cases and figures show it."""
    return value if isinstance(value, str) else f"{value:g}"


Levels = Field(min_length=1), AfterValidator(_differ)


class Variable(Settings):
    """A quantity that differs between cases: one setting, or several alike.

    Its values are levels (numbers or words), named blocks of settings, a range, or a distribution;
    with a plan from a table it needs none.

    Plans spread a range evenly over the values or their reciprocals (`scale`), as for radii whose
    curvature matters. A fit begins from `start`, which constants that are not fitted keep.
    """

    settings: tuple[str, ...] = Field(
        default=(),
        description="Paths of the settings that it changes alike, keys joined by dots; * means all "
        "entries. Blocks without paths are merged into the whole study.",
    )
    change: Literal["set", "add", "multiply"] = Field(
        default="set",
        description="Whether a value replaces the setting, is added to it, or multiplies it.",
    )
    of: str | None = Field(
        default=None,
        description="Path of the setting that is multiplied instead, with change: multiply.",
    )
    values: Annotated[tuple[Value, ...], *Levels] | None = quantity(
        "Levels: numbers, or words such as names of wear laws.", _OF_SETTING, None
    )
    blocks: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)] | None = Field(
        default=None, description="Named blocks of settings, as designs or sizes."
    )
    low: Finite | None = quantity("Lower bound.", _OF_SETTING, None)
    high: Finite | None = quantity("Upper bound.", _OF_SETTING, None)
    levels: int = quantity(
        "Number of equally spaced levels, bounds included, of a factorial plan.",
        Range("1", 2, 2, 20, 1000, "Cases grow with the product of all levels"),
        3,
    )
    scale: Literal["linear", "reciprocal"] = Field(
        default="linear",
        description="Whether plans are even in the value, or in its reciprocal, as for radii whose "
        "curvature matters.",
    )
    start: Finite | None = quantity(
        "Value that a fit begins from, and that it keeps where it is not fitted.",
        _OF_SETTING,
        None,
    )
    uniform: Limits | None = quantity("Bounds of a uniform distribution.", _OF_SETTING, None)
    normal: NormalDistribution | None = Field(
        default=None, description="Normal distribution, cut off at three standard deviations."
    )
    unit: str = Field(default="", description="Unit of the values, for tables and figures.")
    source: str = Field(default="", description="Where the values come from.")

    @model_validator(mode="after")
    def _has_one_set_of_values(self) -> Variable:
        if (self.low is None) != (self.high is None):
            raise fault(f"low: {self.low}, high: {self.high}", "both or none", "Give the other.")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise fault(
                f"low: {self.low:g}, high: {self.high:g}",
                "low below high",
                "Exchange or correct the bounds; a constant is set in the study itself.",
            )
        if self.low is not None and self.high is not None:
            _differ((self.low, self.high))
        kinds = {
            name: getattr(self, name)
            for name in ("values", "blocks", "low", "uniform", "normal")
            if getattr(self, name) is not None
        }
        if len(kinds) > 1:
            raise fault(
                " and ".join(kinds),
                "one of values, blocks, low and high, uniform, normal",
                "Remove all but one.",
            )
        return self

    @model_validator(mode="after")
    def _scale_and_start_fit_bounds(self) -> Variable:
        if self.scale == "reciprocal" and (self.low is None or self.low <= 0.0):
            raise fault(f"low: {self.low}", "low above 0 for scale: reciprocal", "Raise it.")
        if self.start is None:
            return self
        if self.low is None or self.high is None or not self.low <= self.start <= self.high:
            raise fault(
                f"low: {self.low}, start: {self.start:g}, high: {self.high}",
                "low and high, with start between them",
                "Correct the values.",
            )
        return self

    @model_validator(mode="after")
    def _change_fits_values(self) -> Variable:
        if not self.settings and self.blocks is None:
            raise fault("no settings", "the paths of one setting or more", "Add settings.")
        if self.of is not None and self.change != "multiply":
            raise fault(
                f"of: {self.of} with change: {self.change}",
                "of with change: multiply",
                "Remove of, or set change to multiply.",
            )
        words = [value for value in self.values or () if isinstance(value, str)]
        if self.change != "set" and (words or self.blocks):
            raise fault(
                f"change: {self.change} of {words or list(self.blocks or ())}",
                "change: set for words and blocks",
                "Remove change.",
            )
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """All settings that it reads or changes; every one of them, `*`, without paths."""
        return (*(self.settings or (EVERY,)), *([] if self.of is None else [self.of]))

    @property
    def is_numeric(self) -> bool:
        """True if all values are numbers."""
        words = any(isinstance(value, str) for value in self.values or ())
        return self.blocks is None and not words

    @property
    def replaces(self) -> bool:
        """True if its settings lose the values they had."""
        return self.blocks is None and (self.change == "set" or self.of is not None)

    @property
    def has_values(self) -> bool:
        """True if the variable itself states its values; otherwise a table does."""
        kinds = self.values, self.blocks, self.low, self.uniform, self.normal
        return any(kind is not None for kind in kinds)

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper limit of a numeric variable; ValueError where it has none."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if self.uniform is not None:
            return self.uniform
        if self.normal is not None:
            reach = CUT * self.normal.standard_deviation
            return self.normal.mean - reach, self.normal.mean + reach
        numbers = [value for value in self.values or () if not isinstance(value, str)]
        if not numbers:
            raise ValueError(f"the variable of {', '.join(self.settings)} has no bounds")
        return min(numbers), max(numbers)

    @property
    def level_values(self) -> tuple[Value, ...]:
        """Levels of a factorial plan: values, names of blocks, or equal steps between bounds."""
        if self.values is not None:
            return self.values
        if self.blocks is not None:
            return tuple(self.blocks)
        low, high = self.to_scale(self.bounds)
        return tuple(map(float, self.to_scale(np.linspace(low, high, self.levels))))

    @property
    def extremes(self) -> tuple[Value, ...]:
        """Values that the settings are checked with: levels, or both bounds.

        Of more than `MAX_CHECKED` numbers the smallest and the largest.
        """
        if self.blocks is not None or len(self.values or ()) in range(1, MAX_CHECKED + 1):
            return self.level_values
        if self.values is not None and not self.is_numeric:
            return self.values
        return self.bounds if self.has_values else ()

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the distribution; that of the uniform one between bounds."""
        if self.normal is not None:
            from scipy.special import ndtr  # noqa: PLC0415 - slow to load

            density = np.exp(-0.5 * CUT**2) / np.sqrt(2.0 * np.pi)
            variance = 1.0 - 2.0 * CUT * density / (1.0 - 2.0 * ndtr(-CUT))
            return float(self.normal.standard_deviation * np.sqrt(variance))
        low, high = self.bounds
        return (high - low) / math.sqrt(12.0)

    @property
    def mean(self) -> float:
        """Mean of the distribution, or the middle of the bounds."""
        return self.normal.mean if self.normal is not None else 0.5 * sum(self.bounds)

    def to_scale(self, values: ArrayLike) -> NDArray[np.float64]:
        """Values as they are, or their reciprocals if `scale` is; its own inverse."""
        numbers = np.asarray(values, dtype=float)
        return 1.0 / numbers if self.scale == "reciprocal" else numbers

    def position(self, value: float) -> float:
        """Position of a value between both bounds on the scale, 0 to 1: inverse of `quantiles`."""
        (low, high), at = self.to_scale(self.bounds), self.to_scale(value)
        return float((at - low) / (high - low))

    def quantiles(self, probability: ArrayLike) -> NDArray[Any]:
        """Values not exceeded with some probabilities; levels are equally probable.

        Parameters
        ----------
        probability : array_like
            From 0 to 1.

        Returns
        -------
        array
            Of the same shape; numbers, or names of words and blocks.
        """
        part = np.asarray(probability, dtype=float)
        if self.values is not None or self.blocks is not None:
            choices = np.array(self.level_values, dtype=float if self.is_numeric else object)
            return choices[np.minimum((part * len(choices)).astype(int), len(choices) - 1)]
        if self.normal is not None:
            from scipy.special import ndtr, ndtri  # noqa: PLC0415 - slow to load

            tail = ndtr(-CUT)
            deviation = ndtri(tail + part * (1.0 - 2.0 * tail))
            return np.asarray(self.normal.mean + self.normal.standard_deviation * deviation)
        low, high = self.to_scale(self.bounds)
        return self.to_scale(low + part * (high - low))

    def current(self, settings: Mapping[str, Any]) -> float:
        """Value that leaves settings of plain builtins as they are; NaN where they differ."""
        if self.of is None and self.change != "set":
            return 0.0 if self.change == "add" else 1.0
        values = {
            _number(settings, at) for path in self.settings for at in locations_of(settings, path)
        }
        base = 1.0 if self.of is None else _number(settings, next(locations_of(settings, self.of)))
        return values.pop() / base if len(values) == 1 else math.nan

    def apply(self, settings: dict[str, Any], value: Value) -> None:
        """Change settings of plain builtins, in place, to a value of the variable.

        KeyError, with a message, if there is nothing at a path.
        """
        if self.blocks is not None:
            self._merge_block(settings, str(value))
            return
        other = None
        if self.of is not None:
            other = _number(settings, next(locations_of(settings, self.of)))
        for path in self.settings:
            for at in locations_of(settings, path):
                replace_at(settings, at, self._changed(settings, at, value, other))

    def _changed(
        self, settings: Mapping[str, Any], at: Location, value: Value, other: float | None
    ) -> Value:
        """New value at one location."""
        if self.change == "set":
            return value
        base = _number(settings, at) if other is None else other
        number = float(value)
        return base + number if self.change == "add" else base * number

    def _merge_block(self, settings: dict[str, Any], name: str) -> None:
        """Merge a named block into the settings at each path; without paths into all of them."""
        blocks = self.blocks or {}
        if name not in blocks:
            raise KeyError(f"no block '{name}' among {', '.join(blocks)}")
        if not self.settings:
            settings.update(merged(settings, blocks[name]))
        for path in self.settings:
            for at in list(locations_of(settings, path)):
                replace_at(settings, at, merged(value_at(settings, at), blocks[name]))


def _number(settings: Mapping[str, Any], at: Location) -> float:
    """Number at a location; KeyError where there is something else."""
    value = value_at(settings, at)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise KeyError(f"{'.'.join(map(str, at))}, which is not a number")
    return float(value)


def apply_values(
    settings: Mapping[str, Any], variables: Mapping[str, Variable], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings, as plain builtins, after the values of some variables.

    Named blocks are merged first; then each variable acts on what those before it left. Variables
    without a value, or with NaN, leave the settings as they are. KeyError, with a message, if
    there is nothing at a path.
    """
    changed = copy.deepcopy(dict(settings))
    set_values(changed, variables, values)
    return changed


def set_values(
    settings: dict[str, Any], variables: Mapping[str, Variable], values: Mapping[str, Any]
) -> None:
    """Change settings in place, as `apply_values` does in a copy."""
    for blocks in (True, False):
        for name, variable in variables.items():
            value = values.get(name)
            if (variable.blocks is not None) == blocks and not is_unchanged(value):
                variable.apply(settings, value)  # type: ignore[arg-type]


def check_variables(
    settings: Mapping[str, Any],
    variables: Mapping[str, Variable],
    where: Location,
    refuse: Callable[[Mapping[str, Any], Location], str],
) -> None:
    """Refuse variables, given at the key `where`, whose paths no case can change.

    Parameters
    ----------
    settings : mapping
        The study, as plain builtins.
    variables : mapping of str to Variable
        Variables by name.
    where : tuple
        Location of the variables in the settings.
    refuse : callable
        Reason why cases do not depend on the setting at a location; empty where they do.
    """
    changed_by: dict[Location, str] = {}
    for name, variable in variables.items():
        at = (*where, name, "settings")
        for path in (*variable.settings, *([] if variable.of is None else [variable.of])):
            try:
                locations = list(locations_of(settings, path))
                if variable.blocks is None and (variable.change != "set" or path == variable.of):
                    for location in locations:
                        _number(settings, location)
            except KeyError as error:
                raise fault_at(
                    at,
                    str(error.args[0]),
                    "the path of a setting, as wear.wear_factor_mm3_per_n_m",
                    "Correct the path; config/README.md lists all keys.",
                ) from None
            for location in locations:
                reason = refuse(settings, location)
                if reason:
                    raise fault_at(
                        at,
                        f"{path}: {reason}",
                        "a setting that cases depend on",
                        "Remove it, or set it in the study.",
                    )
        for path in variable.settings:
            for location in locations_of(settings, path):
                other = changed_by.setdefault(location, name)
                if other != name and variable.replaces:
                    raise fault_at(
                        at,
                        f"{'.'.join(map(str, location))}, which {other} changes too",
                        "each setting in one variable, or change: add or multiply in later ones",
                        "Remove it from one of them.",
                    )
