"""Still picture of a 3-D view: what the viewer shows first, for paper and without WebGL.

Light, shadow and colours are as in `templates/viewer.js`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.report import style
from kneewear.report.viewer import unpacked
from kneewear.report.views import first_scenes

Array = NDArray[np.float64]

# Inches, and pixels of the picture; twice as many are drawn and averaged.
SIZE = (7.6, 4.9)
PIXELS = (912, 588)
# Height above scenes beside each other, in, and letters in a line of their titles.
_TITLE_ROOM = 0.7
_TITLE_LETTERS = 26
FINER = 2
SHADOW_PIXELS = 700
_CLEARANCE = 4.0  # of words beside the colour bar, pixels
# Part of the shadow map's depth by which a point is nearer to the lamp than what it is shaded by.
_SHADOW_BIAS = 0.006
# A painted sheet is in front of the solid that it lies on, by this part of the distance.
_SHEET_BIAS = 2e-3


@dataclass(frozen=True)
class _Body:
    """Triangles of a body in the picture: corners (n, 3, 3), normals and steps of its corners."""

    corners: Array
    normals: Array
    steps: Array | None
    colour: Array
    opacity: float
    metal: float


@dataclass(frozen=True)
class _Camera:
    """Axes (right, up, towards the eye), eye, and magnification across and up."""

    axes: Array
    eye: Array
    ratio: Array

    def project(self, points: Array) -> tuple[Array, Array]:
        """Positions from -1 to 1 across and up, and distances from the eye."""
        own = (points - self.eye) @ self.axes.T
        away = -own[..., 2]
        return own[..., :2] * self.ratio / away[..., None], away


@style.styled
def draw_view(view: Mapping[str, Any]) -> Figure:
    """Draw the scenes that a view (:mod:`kneewear.report.viewer`) shows first."""
    scenes = first_scenes(view)
    scene = scenes[0]
    if len(scenes) == 1:
        figure = Figure(figsize=SIZE)
        draw_scene(figure.add_axes((0.0, 0.0, 1.0, 1.0)), view, scene, scene.get("first_frame", 0))
    else:
        figure = _draw_beside(view, scenes)
    if scene.get("scale"):
        draw_scale(figure, view["scales"][scene["scale"]])
    return figure


def _draw_beside(view: Mapping[str, Any], scenes: Sequence[Mapping[str, Any]]) -> Figure:
    """Scenes beside each other, below their titles, with room for a colour bar."""
    part = 0.9 / len(scenes)
    width, height = SIZE
    figure = Figure(figsize=(width, part * height + _TITLE_ROOM))
    own = part * height / (part * height + _TITLE_ROOM)
    for number, scene in enumerate(scenes):
        axes = figure.add_axes((number * part, 0.0, part, own))
        draw_scene(axes, view, scene, scene.get("first_frame", 0))
        title = textwrap.fill(str(scene["title"]), _TITLE_LETTERS)
        figure.text(number * part + 0.01, 0.99, title, va="top", fontsize=style.SMALL)
    return figure


def draw_scene(
    axes: Any,
    view: Mapping[str, Any],
    scene: Mapping[str, Any],
    frame: int,
    finer: int = FINER,
) -> None:
    """Draw a frame of a scene on axes of the shape of the picture, `finer` times as fine.

    The camera follows the scene's first frame: bodies move before it.
    """
    camera = _aim(view, _corners(_bodies(view, scene, scene.get("first_frame", 0))))
    bodies = list(_bodies(view, scene, frame))
    axes.imshow(
        _render(bodies, camera, view, scene, finer),
        extent=(-1.0, 1.0, -1.0, 1.0),
        aspect="auto",
        interpolation="none",
    )
    axes.set(xlim=(-1.0, 1.0), ylim=(-1.0, 1.0))
    axes.set_axis_off()
    shown = next((body for body in bodies if body.steps is not None), None)
    if shown is not None:
        _draw_ends(axes, view, shown.corners.reshape(-1, 3), camera)


def _corners(bodies: Iterable[_Body]) -> Array:
    """Corners of all triangles of bodies, shape (n, 3)."""
    return np.concatenate([body.corners.reshape(-1, 3) for body in bodies])


def _bodies(view: Mapping[str, Any], scene: Mapping[str, Any], frame: int) -> Iterator[_Body]:
    for name in scene["bodies"]:
        one = view["bodies"][name]
        group = one["group"]
        if group and not view["groups"].get(group, {"shown": True})["shown"]:
            continue
        points = unpacked(one["points"], "<f4").reshape(-1, 3).astype(float)
        if name in scene.get("points", {}):
            points = unpacked(scene["points"][name][frame], "<f4").reshape(-1, 3).astype(float)
        triangles = unpacked(one["triangles"], "<u4").reshape(-1, 3)
        poses = scene.get("poses", {})
        matrices = poses.get(name) or poses.get(group)
        normals = vertex_normals(points, triangles)
        if matrices:
            matrix = np.reshape(matrices[min(frame, len(matrices) - 1)], (4, 4))
            points = points @ matrix[:3, :3].T + matrix[:3, 3]
            normals = normals @ matrix[:3, :3].T
        steps = None
        if scene.get("coloured") == name:
            steps = unpacked(scene["colours"], "u1").reshape(-1, len(points))[frame].astype(float)
        opacity = scene.get("opacity", {}).get(group, one["opacity"])
        yield _Body(
            points[triangles],
            normals[triangles],
            None if steps is None else steps[triangles],
            np.array(to_rgb(one["colour"])),
            opacity,
            float(one["metal"]),
        )


def vertex_normals(points: Array, triangles: NDArray[Any]) -> Array:
    """Sums of the normals of the triangles of each point, which are as long as these are large."""
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    own = np.cross(b - a, c - a)
    normals = np.zeros_like(points)
    for corner in triangles.T:
        for axis in range(3):
            normals[:, axis] += np.bincount(corner, own[:, axis], len(points))
    return normals


def _aim(view: Mapping[str, Any], points: Array) -> _Camera:
    """Camera of the first direction, as far away as the points need."""
    numbers = np.array(view["directions"][view["first_direction"]], dtype=float)
    towards, up = numbers[:3] / np.linalg.norm(numbers[:3]), numbers[3:]
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(towards, right), towards])
    own = points @ axes.T
    middle = axes.T @ (0.5 * (own.min(axis=0) + own.max(axis=0)))
    ratio = view["focus"] * np.array([PIXELS[1] / PIXELS[0], 1.0])
    offset = np.abs((points - middle) @ axes.T[:, :2]) * ratio * view["margin"]
    away = float(((points - middle) @ towards + offset.max(axis=1)).max())
    return _Camera(axes, middle + away * towards, ratio)


def _fragments(
    screen: Array, inverse: Array, width: int, height: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Pixels that triangles cover: their index, triangle, and weights of its corners.

    `screen` (n, 3, 2) are the corners in pixels from the left and top, `inverse` (n, 3) is one over
    their distance from the eye.
    """
    across, down = screen[..., 0], screen[..., 1]
    triangle, row = _ranges(down.min(axis=1), down.max(axis=1), height)
    middle = row + 0.5
    low, high = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for start, end in ((0, 1), (1, 2), (2, 0)):
        y0, y1 = down[triangle, start], down[triangle, end]
        x0, x1 = across[triangle, start], across[triangle, end]
        crossed = (np.minimum(y0, y1) <= middle) & (middle <= np.maximum(y0, y1)) & (y0 != y1)
        part = np.divide(middle - y0, y1 - y0, out=np.zeros_like(middle), where=crossed)
        x = x0 + part * (x1 - x0)
        np.minimum(low, x, out=low, where=crossed)
        np.maximum(high, x, out=high, where=crossed)
    span, column = _ranges(low, high, width)
    triangle, row = triangle[span], row[span]
    corners = screen[triangle]
    (ax, ay), (bx, by), (cx, cy) = (corners[:, corner].T for corner in range(3))
    x, y = column + 0.5, row + 0.5
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    first = ((bx - x) * (cy - y) - (cx - x) * (by - y)) / area
    second = ((cx - x) * (ay - y) - (ax - x) * (cy - y)) / area
    weights = np.stack([first, second, 1.0 - first - second], axis=-1) * inverse[triangle]
    return row * width + column, triangle, weights / weights.sum(axis=1, keepdims=True)


def _ranges(low: Array, high: Array, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pixels whose middles are between ends: number of the range and of the pixel."""
    known = np.isfinite(low)
    first = np.ceil(np.clip(np.where(known, low, 0.0), 0.0, count) - 0.5).astype(int)
    last = np.floor(np.clip(np.where(known, high, -1.0), -1.0, count) - 0.5).astype(int)
    lengths = np.where(known, np.maximum(np.minimum(last, count - 1) - first + 1, 0), 0)
    number = np.repeat(np.arange(len(low)), lengths)
    offset = np.arange(len(number)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return number, first[number] + offset


def _render(
    bodies: Sequence[_Body],
    camera: _Camera,
    view: Mapping[str, Any],
    scene: Mapping[str, Any],
    finer: int,
) -> Array:
    """Picture as red, green, blue and opacity."""
    width, height = (finer * size for size in PIXELS)
    light = np.array(view["light"]) / np.linalg.norm(view["light"])
    lamp = _lamp(bodies, light)
    scale = _scale(view, scene)
    palette = np.array([to_rgb(stop) for stop in scale["stops"]])
    picture, depths = np.zeros((width * height, 4)), np.full(width * height, np.inf)
    # What is seen through comes last.
    for body in sorted(bodies, key=lambda one: -one.opacity):
        at, away = camera.project(body.corners)
        screen = (at * (1.0, -1.0) + 1.0) * 0.5 * (width, height)
        pixel, triangle, weights = _fragments(screen, 1.0 / away, width, height)
        nearer = 1.0 - _SHEET_BIAS if body.steps is not None else 1.0
        depth = (weights * away[triangle]).sum(axis=1) * nearer
        own = np.full(width * height, np.inf)
        np.minimum.at(own, pixel, depth)
        kept = np.flatnonzero((depth == own[pixel]) & (depth < depths[pixel]))
        pixel, triangle, weights = pixel[kept], triangle[kept], weights[kept, :, None]
        colours = _shade(
            body,
            (weights * body.corners[triangle]).sum(axis=1),
            (weights * body.normals[triangle]).sum(axis=1),
            None if body.steps is None else (weights[..., 0] * body.steps[triangle]).sum(axis=1),
            (camera.eye, light, lamp),
            (palette, np.array(to_rgb(scale["zero"]))),
        )
        covered = np.column_stack([colours, np.ones(len(colours))]) * body.opacity
        picture[pixel] = covered + (1.0 - body.opacity) * picture[pixel]
        depths[pixel] = depth[kept]
    return _averaged(picture, finer)


def _averaged(picture: Array, finer: int) -> Array:
    """Pixels of the bodies' mean colours, with the part that they cover as opacity."""
    blocks = picture.reshape(PIXELS[1], finer, PIXELS[0], finer, 4).mean(axis=(1, 3))
    blocks[..., :3] /= np.maximum(blocks[..., 3:], 1e-9)
    return np.clip(blocks, 0.0, 1.0)


def _of_palette(steps: Array, palette: Array) -> Array:
    """Colours of steps of a scale between the colours of its palette."""
    place = np.clip((steps - 1.0) / 254.0, 0.0, 1.0) * (len(palette) - 1)
    return np.column_stack([np.interp(place, np.arange(len(palette)), c) for c in palette.T])


def _shade(
    body: _Body,
    points: Array,
    normals: Array,
    steps: Array | None,
    lights: tuple[Array, Array, _Shadow],
    colours: tuple[Array, Array],
) -> Array:
    """Colours of points."""
    eye, light, lamp = lights
    towards = eye - points
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    normals = np.where((normals * towards).sum(axis=1, keepdims=True) < 0.0, -normals, normals)
    diffuse = np.maximum(normals @ light, 0.0) * (0.35 + 0.65 * lamp.seen(points))
    fill = np.maximum((normals * towards).sum(axis=1), 0.0)
    half = towards + light
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    shine = np.maximum((normals * half).sum(axis=1), 0.0) ** (30.0 + 40.0 * body.metal)
    shine *= 0.05 + 0.30 * body.metal
    shade = 0.42 + 0.42 * diffuse + 0.20 * fill
    base = np.broadcast_to(body.colour, points.shape)
    if steps is not None:
        painted = steps >= 0.5
        base = np.where(painted[:, None], _of_palette(steps, colours[0]), colours[1])
        shade = np.where(painted, 0.82 + 0.12 * diffuse + 0.06 * fill, shade)
        shine = np.where(painted, 0.0, shine)
    edge = (1.0 - fill) ** 3 * 0.25 * body.metal
    colour: Array = base * shade[:, None] + (shine + edge)[:, None]
    return colour


@dataclass(frozen=True)
class _Shadow:
    """Distances from the lamp, by pixel of its picture, in parts of the bodies' size."""

    axes: Array
    low: Array
    scale: float
    depth: Array

    def place(self, points: Array) -> Array:
        """Positions and distances of points from the corner of the map."""
        return (points @ self.axes.T - self.low) * self.scale

    def seen(self, points: Array) -> Array:
        """Part of the light that reaches points."""
        own = self.place(points)
        last = SHADOW_PIXELS - 1
        column, row = np.clip((own[:, :2] * SHADOW_PIXELS).astype(int), 0, last).T
        reached = np.zeros(len(points))
        for right, down in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
            near = np.clip(row + down, 0, last) * SHADOW_PIXELS + np.clip(column + right, 0, last)
            reached += own[:, 2] <= self.depth[near] + _SHADOW_BIAS
        return reached / 5.0


def _lamp(bodies: Sequence[_Body], light: Array) -> _Shadow:
    """Shadows of the bodies that are not seen through."""
    across = np.cross([0.0, 1.0, 0.0] if abs(light[1]) < 0.9 else [1.0, 0.0, 0.0], light)
    across /= np.linalg.norm(across)
    axes = np.array([across, np.cross(light, across), -light])
    points = np.concatenate([body.corners.reshape(-1, 3) for body in bodies]) @ axes.T
    low = points.min(axis=0)
    scale = 0.999 / float(np.ptp(points, axis=0).max())
    shadow = _Shadow(axes, low, scale, np.full(SHADOW_PIXELS**2, np.inf))
    for body in bodies:
        if body.opacity >= 1.0:
            own = shadow.place(body.corners)
            pixel, triangle, weights = _fragments(
                own[..., :2] * SHADOW_PIXELS, np.ones(own.shape[:2]), SHADOW_PIXELS, SHADOW_PIXELS
            )
            np.minimum.at(shadow.depth, pixel, (weights * own[triangle, :, 2]).sum(axis=1))
    return shadow


def _scale(view: Mapping[str, Any], scene: Mapping[str, Any]) -> Mapping[str, Any]:
    """Colour scale of a scene; white without one."""
    found: Mapping[str, Any] = view["scales"].get(
        scene.get("scale"), {"stops": ["#ffffff"], "zero": "#ffffff"}
    )
    return found


def _draw_ends(axes: Any, view: Mapping[str, Any], points: Array, camera: _Camera) -> None:
    """Words at the ends of the bearing."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = float((high - low).max())
    for text, axis, end in view["ends"]:
        place = 0.5 * (low + high)
        place[1] = low[1]
        place[axis] = high[axis] + 0.05 * width if end else low[axis] - 0.05 * width
        at, _ = camera.project(place)
        axes.text(
            *np.clip(at, -0.93, 0.95),
            text,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5},
        )


def draw_scale(figure: Figure, scale: Mapping[str, Any], part: float = 1.0) -> None:
    """Colour bar at the right of a picture that takes a part of the figure's width, from its left.

    It reaches from zero to the top. Words at the ends of the bearing make room for it.
    """
    words = [word for axes in figure.axes for word in axes.texts]
    colours = LinearSegmentedColormap.from_list("scale", scale["stops"])
    bar = figure.add_axes((0.915 * part, 0.45, 0.022 * part, 0.42))
    mappable = ScalarMappable(Normalize(0.0, scale["top"]), colours)
    figure.colorbar(mappable, cax=bar)
    bar.yaxis.set_ticks_position("left")
    title = f"{scale['label']}\n({scale['unit']})"
    head = figure.text(
        0.937 * part, 0.9, title, ha="right", va="bottom", fontsize=style.SIZE, fontweight="bold"
    )
    for taken in (bar.get_tightbbox(), head.get_window_extent()):
        for word in words:
            own = word.get_window_extent()
            if taken is not None and own.overlaps(taken):
                pixel = word.get_transform().transform(word.get_position())
                place = (pixel[0] + taken.x0 - own.x1 - _CLEARANCE, pixel[1])
                word.set_x(float(word.get_transform().inverted().transform(place)[0]))
