"""Constants of a study that a calibration moves between bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.settings.base import LifeStudy, WearStudy
from kneewear.settings.calibration import ConstantSettings
from kneewear.settings.cases import Case
from kneewear.settings.study import apply_case

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


def apply_overrides(study: LifeStudy, overrides: Mapping[str, float]) -> WearStudy:
    """Wear study with some of its values changed."""
    return apply_case(study, Case("calibration", 10.0, 75.0, overrides))


def _on_scale(constant: ConstantSettings, values: Sequence[float]) -> Any:
    """Values, or their reciprocals; its own inverse."""
    return [1.0 / value for value in values] if constant.scale == "reciprocal" else list(values)
