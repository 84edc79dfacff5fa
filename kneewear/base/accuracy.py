"""Elements and frames by the accuracy of the results they are wanted for."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from kneewear.base.files import value_at

Accuracy = Literal["draft", "standard", "fine"]

# Largest error of a reported quantity, percent of its converged value.
BOUNDS_PERCENT: dict[Accuracy, float] = {"draft": 3.0, "standard": 1.0, "fine": 0.3}


@cache
def levels_of_accuracy() -> dict[str, dict[str, Any]]:
    """Settings of each accuracy, as nested mappings."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    levels: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return levels


def settings_of(accuracy: object) -> dict[str, Any]:
    """Settings that an accuracy selects; none for null or an unknown one."""
    return levels_of_accuracy().get(accuracy, {}) if isinstance(accuracy, str) else {}


def contradictions(
    settings: Any, accuracy: Accuracy | None
) -> list[tuple[tuple[str, str], int, int]]:
    """Keys whose value is another than that of the accuracy: location, value, that of the level."""
    wanted = [
        ((block, key), value)
        for block, keys in settings_of(accuracy).items()
        for key, value in keys.items()
    ]
    found = [(at, value_at(settings, at), value) for at, value in wanted]
    return [(at, own, value) for at, own, value in found if own != value]
