"""What a long job says of how far it is."""

from __future__ import annotations

import logging
import re

from kneewear import progress
from kneewear.joblog import job_log
from kneewear.progress import Progress


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


def test_messages_are_rare_and_go_to_log_and_terminal(tmp_path, capfd, monkeypatch):
    with job_log(tmp_path / "quick.log"):
        quick = Progress("quick", 1, 10)
        for _ in range(10):
            quick.frame_done()
    assert "quick" not in (tmp_path / "quick.log").read_text()
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    with job_log(tmp_path / "slow.log"):
        slow = Progress("slow", 1, 2)
        slow.frame_done()
    line = "slow: 0 of 1 cases done, frame 1 of 2"
    assert line in (tmp_path / "slow.log").read_text()
    assert line in capfd.readouterr().err
    # Nothing is left behind for the next job.
    assert not logging.getLogger("kneewear").handlers


def test_errors_a_job_goes_on_without_are_shown(tmp_path, capfd):
    with job_log(tmp_path / "job.log"):
        logging.getLogger("kneewear.simulation").error("case heavy failed")
        logging.getLogger("kneewear.simulation").warning("case light slid")
    said = capfd.readouterr().err
    assert "case heavy failed" in said
    assert "case light slid" not in said
