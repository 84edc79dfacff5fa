"""Progress of a long job, in its log and on the terminal."""

from __future__ import annotations

import logging
import time

logger = logging.getLogger(__name__)

# Seconds between two messages.
PAUSE = 5.0


class Progress:
    """Counts frames of cases and logs at intervals how many are done and the time left."""

    def __init__(self, what: str, cases: int, frames: int) -> None:
        self._what, self._cases, self._frames = what, cases, frames
        self._case = self._frame = 0
        self._start = self._logged = time.perf_counter()

    def frame_done(self) -> None:
        """Count one frame of the present case."""
        self._frame += 1
        now = time.perf_counter()
        if now - self._logged >= PAUSE:
            self._logged = now
            logger.info("%s", self.message(now - self._start))

    def case_done(self) -> None:
        """Count a case, solved or failed."""
        self._case += 1
        self._frame = 0

    def message(self, elapsed: float) -> str:
        """Cases and frames done, and time left at the present rate after `elapsed` seconds."""
        frame = min(self._frame, self._frames)
        done = self._case * self._frames + frame
        left = elapsed * (self._cases * self._frames / done - 1.0) if done else float("inf")
        return (
            f"{self._what}: {self._case} of {self._cases} cases done, frame {frame} of "
            f"{self._frames} of the next; about {left:.0f} s left"
        )
