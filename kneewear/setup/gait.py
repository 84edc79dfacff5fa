"""The built-in gait of new studies: one file, and one share of its travel, for all designs.

Designs are compared by the same motion. Studies of a folder therefore read one file and take one
share of its travel and rotation: the largest of a few with which the check of every design passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from kneewear import default_settings_file
from kneewear.activity.settings import MotionScale
from kneewear.activity.sources import build_activity
from kneewear.errors import Finding, InputDataError
from kneewear.io.documents import load_table, save_table, save_text
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.setup.placing import quietly, trial_of
from kneewear.study.settings import read_study
from kneewear.study.trials import Trial

GAIT_FILE = "built_in_gait.csv"
# Shares that are tried, the largest first: few, so that designs of several folders agree.
SHARES = (1.0, 0.75, 0.5, 0.25)
# Failures that a motion without equilibrium counts as: more than there are checks.
_NO_EQUILIBRIUM = 100
_FOR_ALL = "of the built-in gait, for all designs of this folder"
_FOR_ONE = "of the built-in gait, for this design alone"
_LINE = re.compile(
    rf"^      scale: \{{anterior_posterior: ([\d.]+), rotation: ([\d.]+)\}}  # {_FOR_ALL}$",
    re.MULTILINE,
)


def write_built_in_gait() -> str:
    """Write the default study's gait to `GAIT_FILE`, and return its name.

    Raises
    ------
    InputDataError
        If there is a file of this name with other curves.
    """
    gait = _built_in_gait()
    if Path(GAIT_FILE).is_file():
        curves = load_table(GAIT_FILE)
        if list(curves) != list(gait) or not np.allclose(curves, gait, atol=1e-4):
            raise InputDataError(
                GAIT_FILE, "other curves", "the built-in gait",
                "Rename the file, and name it with --motion and --load if the curves are yours.",
            )  # fmt: skip
        return GAIT_FILE
    save_table(gait, GAIT_FILE)
    return GAIT_FILE


def share_line(share: float | None) -> str:
    """Line of settings with the share of the built-in gait that a study takes.

    A given share is for this design alone; without one all designs of the folder have one.
    """
    value, text = (1.0, _FOR_ALL) if share is None else (share, _FOR_ONE)
    return f"      scale: {{anterior_posterior: {value:g}, rotation: {value:g}}}  # {text}\n"


class ShareChoice(NamedTuple):
    """Findings about the share of the built-in gait, and whether a share has an equilibrium.

    `trial` is the bearing on which shares were tried, None where it cannot be built.
    """

    findings: tuple[Finding, ...] = ()
    has_equilibrium: bool = True
    trial: Trial | None = None


def agree_on_share(settings: Path, trial: Trial | None = None) -> ShareChoice:
    """Give all designs of a folder the share of the built-in gait that suits each of them.

    Parameters
    ----------
    settings : Path
        Settings of a new study, which `share_line` is part of; others of the folder with that line
        are the designs that it is compared with.
    trial : Trial, optional
        Bearing of the settings, where it was built before.

    Returns
    -------
    ShareChoice
        The share, and each earlier study whose share was lowered. Without findings of a study with
        curves or a share of its own, or whose position and rotation are not prescribed.
    """
    if _share_in(settings) is None:
        return ShareChoice()
    others = {
        file: share
        for file in sorted(settings.parent.glob("*.yaml"))
        if file.resolve() != settings.resolve() and (share := _share_in(file)) is not None
    }
    most = min([*others.values(), SHARES[0]])
    shares = [most, *(share for share in SHARES if share < most)]
    try:
        trial = trial or trial_of(settings)
    except InputDataError:
        # The check of the inputs says why.
        share, failures = most, 0
    else:
        share, failures = _best_share(trial, shares)
    _set_share(settings, share)
    shared = f" as in {', '.join(file.name for file in others)}" if others else ""
    findings = [
        Finding(
            "new.gait_share", "warn", str(settings),
            f"{share:g} of the travel and rotation of the built-in gait{shared}", "",
            "Replace the gait by your own curves, or choose a share with --gait-share.",
        )
    ]  # fmt: skip
    for file, own in others.items():
        if own > share:
            _set_share(file, share)
            findings.append(
                Finding(
                    "new.gait_share",
                    "warn",
                    str(file),
                    f"share of the built-in gait lowered from {own:g} to {share:g}, the largest "
                    f"that keeps contact on the bearing of {settings.stem}",
                    "",
                    f"Run {file.stem} again before it is compared.",
                )
            )
    return ShareChoice(tuple(findings), failures < _NO_EQUILIBRIUM, trial)


def _best_share(trial: Trial, shares: Sequence[float]) -> tuple[float, int]:
    """The largest share with the fewest failures, and then warnings, of the placement; failures."""
    scores = dict(_scores(trial, shares))
    best = min(scores, key=lambda share: (scores[share], -share))
    return best, scores[best][0]


def _scores(trial: Trial, shares: Sequence[float]) -> Iterator[tuple[float, tuple[int, int]]]:
    """Failures and warnings of the placement of each share, until there are none.

    Where the smallest share is no better than the two largest, those between are not tried.
    """
    (activity,) = trial.activities

    def score(share: float) -> tuple[int, int]:
        scale = MotionScale(anterior_posterior=share, rotation=share)
        with quietly():
            placement = trial.place(activity.scaled(scale.factors), advises=False)
        # What the shapes alone decide is the same at every share.
        table = placement.table[~placement.table["quantity"].isin(placement.of_shape)]
        verdicts = list(table["verdict"])
        lacks = bool(table["value"].isna().any())
        return verdicts.count("fail") + _NO_EQUILIBRIUM * lacks, verdicts.count("warning")

    first = score(shares[0])
    yield shares[0], first
    left = list(shares[1:])
    if first[0] >= _NO_EQUILIBRIUM and left:
        # Where the smallest share has no equilibrium either, those between have none.
        last = score(left[-1])
        yield left.pop(), last
        left = left if last[0] < _NO_EQUILIBRIUM else []
    if first == (0, 0):
        return
    while left:
        share = left.pop(0)
        result = score(share)
        yield share, result
        if result == (0, 0):
            return
        if share == shares[1] and result == first and left:
            last = score(left[-1])
            yield left.pop(), last
            left = left if last < first else []


def _share_in(settings: Path) -> float | None:
    """Share for all designs that settings have; None of other settings."""
    try:
        line = _LINE.search(settings.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return float(line.group(1)) if line else None


def _set_share(settings: Path, share: float) -> None:
    text = settings.read_text(encoding="utf-8")
    line = f"      scale: {{anterior_posterior: {share:g}, rotation: {share:g}}}  # {_FOR_ALL}"
    save_text(_LINE.sub(line, text), settings)


def _built_in_gait() -> pd.DataFrame:
    """Curves of the default study's gait at 101 percent."""
    settings = read_study(defaults=default_settings_file()).simulated_activities()["gait"]
    activity = build_activity("gait", settings, 100)
    angles = np.degrees(clinical_angles(body_three_123(activity.rotation)))
    table = pd.DataFrame(
        {
            "percent": activity.percent,
            "flexion_deg": angles[:, 0],
            "tibial_external_rotation_deg": angles[:, 2],
            "femur_anterior_mm": -activity.translation[:, 0],
            "load_body_weights": activity.load,
        }
    )
    last = table.iloc[:1].assign(percent=100.0)
    return pd.concat([table, last], ignore_index=True).round(5)
