"""Small dynamic knees."""

from __future__ import annotations

from pathlib import Path

from kneewear import default_settings_file
from kneewear.study.settings import merge_settings, read_settings, validate_study

CONFIG = Path(__file__).parents[3] / "config"
SMALL = {
    "bones": {
        "element_mm": 18.0,
        "refinements": 0,
        "joint_gap_mm": 0.1,
        "simplified": {"shaft_mm": 0.0, "fibula": None, "dishes": None},
    },
    "steps": 20,
    "frames": 5,
    "solver": {"method": "direct"},
}


def small_study(changes=None):
    """The shipped study on the coarsest bones, with changes of its block."""
    settings = read_settings(default_settings_file())
    for over in (read_settings(CONFIG / "papers/fe_knee.yaml"), {"fe_knee": SMALL}):
        settings = merge_settings(settings, over)
    return validate_study(merge_settings(settings, {"fe_knee": changes or {}}))


def small_knee(changes=None):
    """Settings of a small knee."""
    return small_study(changes).fe_knee


# Hollows of the plateau, nearly as curved as the condyles.
DISHES = {"bones": {"simplified": {"dishes": {"radii_mm": [32.0, 21.0], "depth_mm": 3.0}}}}
# A fibula beside the small tibia.
FIBULA = {
    "size_mm": [20.0, 36.0, 14.0],
    "gap_mm": 6.0,
    "posterior_mm": 10.0,
    "tie_mm": 20.0,
    "ligaments_mm": {"LCL": [10.0, -9.0, -49.0]},
}


def with_fibula(changes=None, **own):
    """Changes that add a fibula to the small knee, with changes of its block."""
    fibula = {"bones": {"element_mm": 12.0, "simplified": {"fibula": FIBULA | own}}}
    return merge_settings(fibula, changes or {})
