"""Wear of total knee replacements: contact, kinematics and damage over a life of activities."""

from __future__ import annotations

from pathlib import Path

from kneewear.config import Study, load_study

__version__ = "0.1.0"
__all__ = ["Study", "default_settings_file", "default_study", "load_study"]


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
    return load_study(default_settings_file())
