"""Settings of a new study, tried on their bearing before they are checked."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kneewear import checkout_folder, default_settings_file
from kneewear.errors import InputDataError
from kneewear.study.files import load_shapes
from kneewear.study.settings import read_study
from kneewear.study.trials import Trial, build_trial


def trial_of(settings: Path) -> Trial:
    """Bearing and activities of settings in the working directory.

    InputDataError where the bearing cannot be built, which the check of the inputs reports.
    """
    root = checkout_folder() if Path.cwd() != checkout_folder() else Path()
    study = read_study(settings, defaults=default_settings_file())
    return build_trial(study, root, load_shapes(study, root))


def passes(settings: Path) -> bool:
    """True if the placement of the only motion of settings passes, without a warning."""
    try:
        trial = trial_of(settings)
    except InputDataError:
        return False
    (activity,) = trial.activities
    with quietly():
        return trial.place(activity, advises=False).verdict == "pass"


@contextmanager
def quietly() -> Iterator[None]:
    """Leave out messages of motions that are only tried: what is chosen is checked again."""
    logger = logging.getLogger("kneewear.motion")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
