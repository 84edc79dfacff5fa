"""Posterior-stabilised implant of `config/evidence/chapter3.yaml`, small enough for tests."""

from __future__ import annotations

from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.physics.bodies import IS_COMPILED

# Kernels that are not compiled take a hundred times as long.
GRID = 40 if IS_COMPILED else 12
BASE = merge_settings(
    read_settings("config/defaults.yaml"), read_settings("config/evidence/chapter3.yaml")
)


def small_study(grid=GRID, materials=("linear",), analyses=None, **press):
    """Settings of the study on grids that stay as they are; lists of values become variables."""
    changes = {name: value for name, value in press.items() if not isinstance(value, tuple)}
    variables = {
        name: {"settings": [f"press.{name}"], "values": list(value)}
        for name, value in press.items()
        if isinstance(value, tuple)
    }
    material = BASE["variables"]["material"]
    blocks = {name: material["blocks"][name] for name in materials}
    settings = merge_settings(
        BASE,
        {
            "grid": {"rows": grid, "columns": grid * 3 // 4},
            "press": {"active_elements": None} | changes,
            "variables": {"material": material | {"blocks": blocks}} | variables,
            "analyses": analyses or {"contact": {}},
        },
    )
    return validate_study(settings)
