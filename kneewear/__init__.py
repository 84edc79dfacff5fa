"""Wear of total knee replacements: contact, kinematics and damage over a life of activities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

# Settings are read when asked for: each job of a study imports this package first.
if TYPE_CHECKING:
    from kneewear.settings.study import Study

__version__ = "0.1.0"
__all__ = ["default_settings_file", "default_study"]


def default_settings_file() -> Path:
    """File of the default study.

    Returns
    -------
    Path
        `config/config.yaml` of this checkout, or the copy an installed package carries.
    """
    package = Path(__file__).parent
    checkout = package.parent / "config" / "config.yaml"
    return checkout if checkout.exists() else package / "default_config.yaml"


def default_study() -> Study:
    """Settings of the default study.

    Returns
    -------
    Study
        The settings in `default_settings_file`.
    """
    from kneewear.settings.study import load_study  # noqa: PLC0415 - see above

    return load_study(default_settings_file())
