"""Predictions of tests whose inputs are ranges: mean and covariance over draws of the inputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.evidence.synthesis.law_space import log_factor

Array = NDArray[np.float64]
# Rows of constants that are evaluated at once, so that draws of inputs fit into memory.
_CHUNK = 512


class InputRanges(NamedTuple):
    """Draws of the inputs of tests, shape (draw, test).

    `log_work` is the logarithm of the wear at a level of one by one factor; cross-shear and
    pressure, MPa, belong to the contact, weighted by the work of friction.
    """

    log_work: Array
    cross_shear: Array
    pressure: Array

    def rows_of(self, count: int) -> slice:
        """Rows of the tests among `count` rows: the last ones."""
        return slice(count - self.log_work.shape[1], count)

    def at(self, law: str, constants: Array, draw: int) -> Array:
        """Logarithm of the wear at a level of one at a draw of the inputs, shape (n, test)."""
        one = InputRanges(*(values[draw : draw + 1] for values in self))
        return one.mean(law, constants)

    def mean(self, law: str, constants: Array) -> Array:
        """Mean over the inputs of the wear's logarithm at a level of one, shape (n, test)."""
        parts = [self._log_wear(law, part).mean(axis=1) for part in _chunks(constants)]
        return np.concatenate(parts)

    def covariance(self, law: str, constants: Array) -> Array:
        """Covariance over the inputs of the wear's logarithm, shape (n, test, test)."""
        parts = []
        for part in _chunks(constants):
            wear = self._log_wear(law, part)
            wear -= wear.mean(axis=1, keepdims=True)
            parts.append(wear.swapaxes(1, 2) @ wear / wear.shape[1])
        return np.concatenate(parts)

    def _log_wear(self, law: str, constants: Array) -> Array:
        """Logarithm of the wear at every draw of the inputs, shape (n, draw, test)."""
        shape = (len(constants), *self.log_work.shape)
        each = np.repeat(constants, self.log_work.size, axis=0)
        ratio, pressure = (
            np.broadcast_to(values, shape).ravel() for values in (self.cross_shear, self.pressure)
        )
        return self.log_work + log_factor(law, each, ratio, pressure).reshape(shape)


def _chunks(constants: Array) -> list[Array]:
    """Constants in parts."""
    return [constants[at : at + _CHUNK] for at in range(0, len(constants), _CHUNK)]
