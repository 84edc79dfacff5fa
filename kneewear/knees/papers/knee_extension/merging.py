"""One bundle in place of several: mean attachments, and one law of tension for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import InputDataError
from kneewear.knees.tissue.bundles import Attachment, Bundles
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.tension_laws import constant, quadratic_to_linear

Array = NDArray[np.float64]


def mean_path(
    bundles: Bundles, numbers: Sequence[int], weights: Array | None = None
) -> tuple[Attachment, Attachment]:
    """Mean ends, mm, of the segments between two bodies of some bundles.

    Of each path the first segment that joins different bodies counts. InputDataError if bundles
    join different bodies.
    """
    spans = [_span(bundles.paths[number]) for number in numbers]
    joined = [(one[0], other[0]) for one, other in spans]
    if len(set(joined)) > 1:
        first = next(number for number, pair in enumerate(joined) if pair != joined[0])
        raise InputDataError(
            f"bundles {bundles.names[numbers[0]]} and {bundles.names[numbers[first]]}",
            f"{' to '.join(joined[0])} and {' to '.join(joined[first])}",
            "the same two bodies of all bundles that become one",
            "Group bundles of one ligament.",
        )
    ends = np.array([[point for _, point in span] for span in spans], dtype=float)
    one, other = np.average(ends, axis=0, weights=weights)
    return (joined[0][0], one), (joined[0][1], other)


def merge_ligaments(
    ligaments: Bundles, groups: Mapping[str, Sequence[int]], poses: BodyPoses
) -> Bundles:
    """One bundle in place of each group, by numbers of bundles.

    Ends are the mean ones, stiffnesses per unit strain add, the strain at `poses` is the mean one
    of the group, and the wrap object that of its first bundle. The law is quadratic to linear, as
    that of the bundles must be.
    """
    law = ligaments.law
    strain = law.strain(ligaments.evaluate(poses).length)
    stiffness, toe = law.slope * law.slack_length, law.transition / law.slack_length
    numbers = [np.asarray(group, dtype=np.int64) for group in groups.values()]
    paths = tuple(mean_path(ligaments, number.tolist()) for number in numbers)
    sums = np.array([stiffness[one].sum() for one in numbers])
    toes = np.array([toe[one].mean() for one in numbers])
    obstacles = tuple(ligaments.obstacles[one[0]] for one in numbers)

    def merged(slack: ArrayLike) -> Bundles:
        laws = quadratic_to_linear(slack, sums, toes)
        return Bundles(tuple(groups), ligaments.bodies, paths, laws, obstacles)

    length = merged(np.ones(len(groups))).evaluate(poses).length
    means = np.array([strain[one].mean() for one in numbers])
    return merged(length / (1.0 + means))


def join_ligaments(first: Bundles, second: Bundles, path: str | Path) -> Bundles:
    """Bundles of two sets, whose laws are quadratic to linear; InputDataError if one has two."""
    twice = sorted(set(first.names) & set(second.names))
    if twice:
        found = f"bundle {twice[0]}, which multibody.extension.bundles has as well"
        raise InputDataError(path, found, "each bundle once", "Remove it from one of them.")
    laws = first.law, second.law
    law = quadratic_to_linear(
        np.concatenate([law.slack_length for law in laws]),
        np.concatenate([law.slope * law.slack_length for law in laws]),
        np.concatenate([law.transition / law.slack_length for law in laws]),
    )
    return Bundles(
        (*first.names, *second.names),
        first.bodies,
        (*first.paths, *second.paths),
        law,
        (*first.obstacles, *second.obstacles),
    )


def merge_muscles(name: str, muscles: Bundles) -> Bundles:
    """One tendon in place of muscles of constant tension, which weights their ends.

    It pulls with 1 N and wraps on the object of the strongest one.
    """
    share = muscles.law.active / muscles.law.active.sum()
    path = mean_path(muscles, range(share.size), share)
    obstacle = muscles.obstacles[int(np.argmax(share))]
    return Bundles((name,), muscles.bodies, (path,), constant(share.sum()), (obstacle,))


def _span(path: Sequence[Attachment]) -> tuple[Attachment, Attachment]:
    """First two points in a row that are on different bodies."""
    for one, other in pairwise(path):
        if one[0] != other[0]:
            return one, other
    raise ValueError(f"a path on one body, {path[0][0]}; expected two")
