"""Slack lengths fitted to one half of a measured motion, and tested on the other half."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.tension_laws import TensionLaw

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Weighted error that a knee without equilibrium counts as.
NO_EQUILIBRIUM = 100.0


@dataclass(frozen=True)
class Tuned:
    """Change of the reference strain of each group of bundles, and rms errors of both halves.

    `before` and `after` hold the rms of the weighted errors of the fitted half and of the tested
    half.
    """

    strain: dict[str, float]
    before: tuple[float, float]
    after: tuple[float, float]


def groups_of(names: tuple[str, ...]) -> dict[str, list[int]]:
    """Numbers of the bundles of each ligament: names without their final digits."""
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        groups.setdefault(name.rstrip("0123456789"), []).append(number)
    return groups


def strained(bundles: Bundles, strain: dict[str, float]) -> Bundles:
    """Bundles whose strain at any length is larger by `strain`, by group; stiffness is the same."""
    law = bundles.law
    factor = np.ones(law.slack_length.size)
    for name, numbers in groups_of(bundles.names).items():
        factor[numbers] = 1.0 / (1.0 + strain[name])
    return bundles.with_law(
        TensionLaw(
            slack_length=law.slack_length * factor,
            curvature=law.curvature / factor**2,
            transition=law.transition * factor,
            slope=law.slope / factor,
            damping_time=law.damping_time,
            active=law.active,
        )
    )


def tune_strains(
    groups: tuple[str, ...],
    errors: Callable[[dict[str, float]], Array],
    largest: float,
    evaluations: int,
) -> Tuned:
    """Fit the reference strains of groups, within +-`largest`, to every other frame.

    `errors` gives, from strains by group, the weighted errors (n_frames, n_coordinates) of a
    motion; ConvergenceError counts as `NO_EQUILIBRIUM`. Least squares in the bounds, with at most
    so many evaluations with derivatives.
    """

    def all_errors(values: Array) -> Array:
        return errors(dict(zip(groups, values.tolist(), strict=True)))

    start = all_errors(np.zeros(len(groups)))

    def fitted(values: Array) -> Array:
        try:
            return all_errors(values)[::2].ravel()
        except ConvergenceError:
            return np.full(start[::2].size, NO_EQUILIBRIUM)

    found = scipy.optimize.least_squares(
        fitted,
        np.zeros(len(groups)),
        bounds=(-largest, largest),
        diff_step=1e-3,
        x_scale=largest,
        max_nfev=evaluations,
    )
    end = all_errors(found.x)
    logger.info("slack lengths: %d evaluations, %s", found.nfev, found.message)
    return Tuned(
        strain=dict(zip(groups, found.x.tolist(), strict=True)),
        before=(_rms(start[::2]), _rms(start[1::2])),
        after=(_rms(end[::2]), _rms(end[1::2])),
    )


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))
