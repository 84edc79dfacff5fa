"""Constants of a study that a calibration moves between bounds."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.settings.calibration import ConstantSettings
from kneewear.settings.study import Study, load_study

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Constants:
    """Constants that are fitted, each mapped on 0 to 1 between its bounds.

    Parameters
    ----------
    settings : mapping of name to ConstantSettings
        The constants and their bounds.
    """

    settings: Mapping[str, ConstantSettings]

    @property
    def low(self) -> Array:
        """Lower ends of the scales."""
        return np.array([min(_on_scale(one, (one.low, one.high))) for one in self._each])

    @property
    def high(self) -> Array:
        """Upper ends of the scales."""
        return np.array([max(_on_scale(one, (one.low, one.high))) for one in self._each])

    @property
    def start(self) -> Array:
        """Places of the start values."""
        return self.places([one.start for one in self._each])

    def places(self, values: Sequence[float]) -> Array:
        """Places between 0 and 1 of values.

        Parameters
        ----------
        values : sequence of float
            One a constant, in its unit.

        Returns
        -------
        array
        """
        scaled = [
            _on_scale(one, (value,))[0] for one, value in zip(self._each, values, strict=True)
        ]
        return (np.array(scaled) - self.low) / (self.high - self.low)

    def values(self, places: Array) -> Array:
        """Values of places between 0 and 1; the inverse of `places`."""
        scaled = self.low + np.asarray(places) * (self.high - self.low)
        return np.array(
            [_on_scale(one, (value,))[0] for one, value in zip(self._each, scaled, strict=True)]
        )

    def overrides(self, places: Array) -> dict[str, float]:
        """Value of every key of the study that is fitted.

        Parameters
        ----------
        places : array
            Places of the constants.

        Returns
        -------
        dict of key to value
        """
        pairs = zip(self._each, self.values(places), strict=True)
        return {key: float(value) for one, value in pairs for key in (one.key, *one.also)}

    @property
    def _each(self) -> tuple[ConstantSettings, ...]:
        return tuple(self.settings.values())


def plain_values(settings: Mapping[str, ConstantSettings]) -> dict[str, float]:
    """Value of every key a constant stands for, where it is not fitted.

    Parameters
    ----------
    settings : mapping of name to ConstantSettings
        Constants.

    Returns
    -------
    dict of key to value
    """
    return {key: one.plain for one in settings.values() for key in (one.key, *one.also)}


def apply_overrides(study: Study, overrides: Mapping[str, float]) -> Study:
    """A study with some of its values changed.

    Parameters
    ----------
    study : Study
        The study.
    overrides : mapping of key to value
        Keys with dots, as in `ConstantSettings`.

    Returns
    -------
    Study
        Checked as any other.

    Raises
    ------
    ValueError
        If the study has no such key.
    InputDataError
        If a value is out of its range.
    """
    content = copy.deepcopy(study.model_dump(mode="json"))
    for key, value in overrides.items():
        block: Any = content
        last = location(key)[-1]
        try:
            for step in location(key)[:-1]:
                block = block[step]
            block[last]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"the study has no key {key}") from None
        block[last] = value
    return load_study(content, "calibration")


def location(key: str) -> tuple[str | int, ...]:
    """Keys and places in lists that lead to a key with dots."""
    return tuple(int(step) if step.isdigit() else step for step in key.split("."))


def _on_scale(constant: ConstantSettings, values: Sequence[float]) -> Any:
    """Values, or their reciprocals; its own inverse."""
    return [1.0 / value for value in values] if constant.scale == "reciprocal" else list(values)
