"""Stored views in space (:mod:`kneewear.report.viewer`): their files and what they show first.

A page shows what is drawn already, so that it loads no module that draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# View in space of a group of figures, in their folder, and the figure of what it shows first.
VIEW = "view.json"
STILL = "view"


def first_scene(view: Mapping[str, Any]) -> Mapping[str, Any]:
    """Scene of the first values of all choices."""
    first = {one["name"]: one["first"] for one in view["choices"]}
    scene: Mapping[str, Any] = next(
        scene
        for scene in view["scenes"]
        if all(first[name] == value for name, value in scene["of"].items())
    )
    return scene
