"""Search for the fewest u-v lines with which a patch keeps its tolerance (Bei 2003, 2.2.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
Counts = tuple[int, int]


def fewest_spans(
    build: Callable[[Counts], Result], accepted: Callable[[Result], bool], most: Counts
) -> Result:
    """Patch with as few knot spans in each direction as are accepted.

    Parameters
    ----------
    build : callable
        Result for numbers of spans along u and v.
    accepted : callable
        Whether a result is good enough.
    most : pair of int
        Largest numbers of spans.

    Returns
    -------
    Result
        The accepted one with the smallest product of spans; that of `most`, whether accepted or
        not, when no sparser one is.

    Notes
    -----
    Both numbers are doubled together from one until a result is accepted; then each direction in
    turn is thinned by bisection while the other is held, in both orders, and the sparser outcome
    is kept. Acceptance is taken to grow with the number of spans, which noise may break: the answer
    is always an accepted one, though not always the smallest there is.
    """
    known: dict[Counts, Result] = {}

    def passes(counts: Counts) -> bool:
        if counts not in known:
            known[counts] = build(counts)
        return accepted(known[counts])

    level = 1
    start = most
    while level < max(most):
        tried = (min(level, most[0]), min(level, most[1]))
        if passes(tried):
            start = tried
            break
        level *= 2
    if not passes(start):
        return known[start]
    found = [_thinned(passes, start, order) for order in ((0, 1), (1, 0))]
    return known[min(found, key=lambda counts: (counts[0] + 3) * (counts[1] + 3))]


def _thinned(passes: Callable[[Counts], bool], start: Counts, order: Counts) -> Counts:
    """Reduce one direction, then the other, then the first again."""
    counts = start
    for direction in (*order, order[0]):
        enough, failing = counts[direction], 0
        while enough - failing > 1:
            middle = (enough + failing) // 2
            tried = (middle, counts[1]) if direction == 0 else (counts[0], middle)
            if passes(tried):
                enough = middle
            else:
                failing = middle
        counts = (enough, counts[1]) if direction == 0 else (counts[0], enough)
    return counts
