"""Checks of a finite-element comparison before its first job."""

from __future__ import annotations

from collections.abc import Iterator

from kneewear.base.checks import checks
from kneewear.errors import Finding
from kneewear.evidence.fe_comparison.settings import FeTwinStudy
from kneewear.study.inputs import Reader


def check_files(study: FeTwinStudy, reader: Reader) -> Iterator[Finding]:
    """Yield findings about frames that carry little load."""
    load = reader.activity(study, study.fe_twin.activity).load
    for number, frame in enumerate(study.twin_frames()):
        share = float(load[frame % load.size] / load.max())
        where = f"key fe_twin.frames_percent.{number}"
        finding = checks()["fe_twin.frame_load"].judge(share, where)
        if finding is not None:
            yield finding
