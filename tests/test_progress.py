"""Messages about the progress of a long job."""

from __future__ import annotations

import re

from kneewear.base.progress import Progress


def test_time_left_follows_from_the_pace():
    done = Progress("activity gait", cases=4, frames=50)
    for _ in range(50):
        done.frame_done()
    done.case_done()
    for _ in range(25):
        done.frame_done()
    # 75 of 200 frames in 3 s: 5 s for the others.
    message = done.message(3.0)
    assert re.findall(r"\d+", message) == ["1", "4", "25", "50", "5"]
