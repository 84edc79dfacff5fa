"""Data of the 3-D viewer: bodies, colour scales, and scenes that the reader chooses among.

A view is a mapping of plain builtins:

- `bodies`: by name `points` and `triangles` (packed), `colour`, `opacity`, `group` and `metal`;
- `groups`: by name `label` and `shown`, parts that a checkbox shows; and `poses` are those of
  groups;
- `scales`: by quantity `label`, `unit`, `top`, `steps`, and the colours `zero` and `stops`;
- `choices`: `name`, `label`, `options` (value and text) and `first` value of each;
- `scenes`: what is shown for a combination of choices (`of`): `title`, `bodies`, and, where there
  are any, `frames` (labels), `first_frame`, `texts`, `poses` (by group, a matrix of 16 numbers for
  each frame), `scale` with `coloured` body and its `colours` (packed steps, frame by frame),
  `points` (packed positions of the bodies, by body, for each frame), `lines` (polylines of each
  frame), `curves` (values of all frames, as :func:`cycle_curve` gives them), `opacity` (by group,
  other than the bodies' own) and `outside` (validity);
- `directions`: by name the direction of the camera from the middle, and what is up;
  `first_direction` is the name of the first one;
- `light`: direction of the lamp; `focus`: distance of the camera over half the height it sees;
  `margin`: part of the picture's size that the bodies fill, inverted;
- `ends`: words at the ends of the bearing: text, axis and 0 or 1 for its end;
- `enlarge`: factors by which displacements are enlarged; `panes`: name of the choice that each of
  two panes has of its own, else empty; `hint`: a text.
"""

from __future__ import annotations

import gzip
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike, NDArray

# Values are kept as steps of the colour scale, one byte each.
STEPS = 255
COLOUR_STOPS = 32
# Colour of elements without contact; darker than in the plans because it is lit.
UNTOUCHED = "#d6d2c6"
FEMORAL_COLOUR = "#8a97a3"

# On an insert x is posterior, y superior, z medial; on bones x is anterior, z lateral.
# Medial is at the left in every view of an insert that shows both sides.
ON_INSERT = {
    "oblique": [0.62, 0.85, 0.14, 0, 1, 0],
    "above": [0, 1, 0, -1, 0, 0],
    "back": [1, 0.05, 0, 0, 1, 0],
    "medial side": [0, 0, 1, 0, 1, 0],
}
ON_BONES = {
    "oblique": [1.1, 0.5, 1.0, 0, 1, 0],
    "lateral side": [0, 0, 1, 0, 1, 0],
    "medial side": [0, 0, -1, 0, 1, 0],
    "front": [1, 0, 0, 0, 1, 0],
}
# Direction of the lamp by directions of the camera.
LIGHT = [0.35, 1.0, 0.45]
FIELD_OF_VIEW = np.radians(24.0)
MARGIN = 1.06
ENDS = [["anterior", 0, 0], ["posterior", 0, 1], ["lateral", 2, 0], ["medial", 2, 1]]


def build_view(
    bodies: Mapping[str, Any],
    scenes: Sequence[Mapping[str, Any]],
    choices: Sequence[Mapping[str, Any]] = (),
    **further: Any,
) -> dict[str, Any]:
    """A view with all its keys; `further` are those that differ from an empty view's."""
    empty: dict[str, Any] = {
        "groups": {},
        "scales": {},
        "directions": ON_INSERT,
        "light": LIGHT,
        "focus": round(float(1.0 / np.tan(FIELD_OF_VIEW / 2.0)), 4),
        "margin": MARGIN,
        "ends": [],
        "enlarge": [],
        "panes": "",
        "hint": "",
        "line_colour": FEMORAL_COLOUR,
    }
    content = {"bodies": dict(bodies), "scenes": list(scenes), "choices": list(choices)}
    view = empty | content | further
    return {"first_direction": next(iter(view["directions"]))} | view


def body(
    points: ArrayLike,
    triangles: ArrayLike,
    colour: str = FEMORAL_COLOUR,
    opacity: float = 1.0,
    group: str = "",
    metal: bool = False,
) -> dict[str, Any]:
    """A body: points (n, 3), mm, and triangles (m, 3); one of metal shines."""
    return {
        "points": packed(np.asarray(points, dtype="<f4")),
        "triangles": packed(np.asarray(triangles, dtype="<u4")),
        "colour": colour,
        "opacity": opacity,
        "group": group,
        "metal": metal,
    }


def choice(name: str, label: str, options: Mapping[str, str], first: str = "") -> dict[str, Any]:
    """A choice among options, texts by value."""
    listed = [list(pair) for pair in options.items()]
    return {"name": name, "label": label, "options": listed, "first": first or listed[0][0]}


def cycle_curve(
    label: str, unit: str, lines: Mapping[str, tuple[str, ArrayLike]]
) -> dict[str, Any]:
    """Lines over the frames of a scene, by name as colour and values; NaN for none."""
    return {
        "label": label,
        "unit": unit,
        "lines": [
            {
                "name": name,
                "colour": colour,
                "values": [
                    float(f"{value:.4g}") if np.isfinite(value) else None
                    for value in np.asarray(values, dtype=float)
                ],
            }
            for name, (colour, values) in lines.items()
        ],
    }


def scale(label: str, unit: str, top: float, colours: str, zero: str = UNTOUCHED) -> dict[str, Any]:
    """A colour scale from 0 to `top`, of the colours of a colour map's name."""
    stops = mpl.colormaps[colours](np.linspace(0.0, 1.0, COLOUR_STOPS))
    return {
        "label": label,
        "unit": unit,
        "top": top,
        "steps": STEPS,
        "zero": zero,
        "stops": [to_hex(stop) for stop in stops],
    }


def colour_steps(values: NDArray[Any], top: float) -> NDArray[np.uint8]:
    """Values as steps of a colour scale that ends at `top`.

    Zero is step 0, all else 1 to `STEPS`: the smallest pressure keeps a colour, all other values
    are known to half a step.
    """
    steps = values * (STEPS / max(top, 1e-30))
    np.clip(np.rint(steps, out=steps), 1, STEPS, out=steps)
    return np.where(values > 0.0, steps, 0.0).astype(np.uint8)


def packed(values: NDArray[Any]) -> str:
    """Bytes of an array, compressed and as text; without a time stamp, so equal data are equal."""
    return b64encode(gzip.compress(np.ascontiguousarray(values).tobytes(), 6, mtime=0)).decode()


def unpacked(text: str, kind: str) -> NDArray[Any]:
    """Array of :func:`packed` bytes."""
    return np.frombuffer(gzip.decompress(b64decode(text)), kind)


def matrices(rotation: ArrayLike, translation: ArrayLike) -> list[list[float]]:
    """Matrices of poses, row by row, from rotations (n, 3, 3) and translations (n, 3), mm."""
    turns, places = np.asarray(rotation, dtype=float), np.asarray(translation, dtype=float)
    poses = np.broadcast_to(np.eye(4), (len(turns), 4, 4)).copy()
    poses[:, :3, :3], poses[:, :3, 3] = turns, places
    rows: list[list[float]] = poses.reshape(-1, 16).round(6).tolist()
    return rows
