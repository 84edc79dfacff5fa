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
    return _scene(view, {})


def first_scenes(view: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Scenes that are shown first: one, or both of a view with two panes."""
    panes = view.get("panes")
    if not panes:
        return [first_scene(view)]
    options = next(own["options"] for own in view["choices"] if own["name"] == panes)
    return [_scene(view, {panes: value}) for value, _ in options[:2]]


def _scene(view: Mapping[str, Any], chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    """Scene of some choices, and of the first values of all others."""
    values = {one["name"]: one["first"] for one in view["choices"]} | dict(chosen)
    scene: Mapping[str, Any] = next(
        scene
        for scene in view["scenes"]
        if all(values[name] == value for name, value in scene["of"].items())
    )
    return scene
