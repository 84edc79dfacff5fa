"""The one evaluation of contact: a pose, and velocities, in; resultants of all pairs out."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact import _kernels
from kneewear.contact import _record_kernels as record
from kneewear.contact.foundation import Layer
from kneewear.contact.resultant import ContactResult

if TYPE_CHECKING:
    from kneewear.contact.pair import ContactPair

Array = NDArray[np.float64]


class ContactModel:
    """All contact between two bodies, prepared for evaluation at many poses.

    This is what a multibody program calls. Nothing but `evaluate` is needed: it takes the pose and
    velocity of the moving body and returns the wrench it feels, with its derivatives, and what
    every pair and element bears.

    Parameters
    ----------
    pairs : mapping of name to ContactPair
        Pairs of surfaces, such as "medial" and "lateral".
    layers : mapping of name to Layer
        Elastic layer of each.
    reuse_tolerance : float
        Motion, mm, below which the result of the last pose is given again: bound of how far any
        element moved against the moving body. Zero gives it again for the very same pose only.
    threads : int
        Threads that share pairs and elements. The result does not depend on their number.

    Raises
    ------
    ValueError
        If names of pairs and layers differ, a layer does not fit its pair, or a number is out of
        range.

    Notes
    -----
    A result never depends on earlier poses, but for `reuse_tolerance`. When only velocities change,
    elements and distances found are used again, which changes nothing.

    Kernels of other rooms evaluate a model without Python: they pass `records` and `last` on to
    `kneewear.contact._kernels.evaluate_pairs`, as long as this object lives. There is one `last` to
    a model: another would not know of the poses that overwrote what it takes for known.
    """

    def __init__(
        self,
        pairs: Mapping[str, ContactPair],
        layers: Mapping[str, Layer],
        *,
        reuse_tolerance: float = 0.0,
        threads: int = 1,
    ) -> None:
        if set(pairs) != set(layers) or not pairs:
            raise ValueError(f"pairs {sorted(pairs)} and layers {sorted(layers)} differ")
        if not (reuse_tolerance >= 0.0 and threads >= 1):
            raise ValueError("the re-use tolerance is at least 0, the threads at least 1")
        if threads > 1 and any(pair.search == "breadth_first" for pair in pairs.values()):
            raise ValueError(
                "a breadth-first search goes from element to element and cannot be shared by "
                "threads; choose search='bounds'"
            )
        prepared = [pair.prepare(layers[name]) for name, pair in pairs.items()]
        self.names = tuple(pairs)
        self.records = np.concatenate([part.record for part in prepared])
        self._prepared = prepared
        self._outcomes = np.empty((int(self.records["count"].sum()), record.OUT_NUMBERS))
        self._shape = len(self.names), int(record.NUMBERS)
        self._motion = np.zeros((6, 3))
        self._rotation, self._translation = self._motion[:3], self._motion[3]
        self._velocity = self._motion[4:].reshape(6)
        self.last = np.zeros(_kernels.LAST_NUMBERS)
        self.last[_kernels.TOLERANCE] = reuse_tolerance
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._tasks = _share_out(self.records, threads)

    def evaluate(
        self, rotation: ArrayLike, translation: ArrayLike, velocity: ArrayLike | None = None
    ) -> ContactResult:
        """Contact at one pose.

        Parameters
        ----------
        rotation : array, shape (3, 3)
            Orientation of the moving body in the frame of the fixed one.
        translation : array, shape (3,)
            Position of its origin, mm.
        velocity : array, shape (6,), optional
            Velocity of that origin, mm/s, and angular velocity, rad/s, in the fixed frame. Friction
            and damping act, and slip is told, only where it is given.

        Returns
        -------
        ContactResult
        """
        self._rotation[...] = rotation
        self._translation[...] = translation
        if velocity is not None:
            self._velocity[...] = velocity
        numbers = np.empty(self._shape)
        given = self.records, self._motion, velocity is not None, self.last
        if self._pool is None:
            active = _kernels.evaluate_model(*given, numbers, self._outcomes)
        else:
            active = self._evaluate_in_threads(self._pool, given, numbers)
        return ContactResult(self.names, numbers, self._outcomes[:active].copy())

    def forget(self) -> None:
        """Let the next breadth-first search start from nothing. It ends with the same elements."""
        self.records["before_count"] = 0
        self.last[_kernels.KNOWN] = 0.0

    def _evaluate_in_threads(
        self, pool: ThreadPoolExecutor, given: tuple[Any, ...], numbers: Array
    ) -> int:
        mine, *others = self._tasks
        jobs = [pool.submit(partial(_kernels.evaluate_chunks, *given), tasks) for tasks in others]
        _kernels.evaluate_chunks(*given, mine)
        for job in jobs:
            job.result()
        return int(_kernels.finish_pairs(*given, numbers, self._outcomes))


def _share_out(records: NDArray, threads: int) -> list[NDArray[np.int64]]:
    """Pairs and chunks of each thread: neighbours apart, for they are loaded alike."""
    chunks = [(p, c) for p, row in enumerate(records) for c in range(int(row["chunk_count"]))]
    shares = (chunks[start::threads] for start in range(threads))
    return [np.array(share, dtype=np.int64) for share in shares if share]
