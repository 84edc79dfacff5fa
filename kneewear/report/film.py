"""Film of a view in space: one cycle of the first scene that moves, its curves beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from kneewear.errors import InputDataError
from kneewear.report import style
from kneewear.report.picture import SIZE, draw_scale, draw_scene

# Pixels of an inch, and milliseconds of a frame.
DPI = 80
DURATION = 80
# Inches that colour bar and curves take at the right.
_SCALE = 0.8
_CURVES = 3.2
# Colours of a film, and those of them that are of the scale.
_COLOURS = 128
_OF_SCALE = 40


def moving_scene(view: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Scene of several frames that has most of the first values of the choices; None without one.

    `view` is one of :mod:`kneewear.report.viewer`.
    """
    first = {item["name"]: item["first"] for item in view["choices"]}
    moving = [scene for scene in view["scenes"] if len(scene.get("frames", ())) > 1]

    def agreement(scene: Mapping[str, Any]) -> int:
        return sum(first.get(name) == value for name, value in scene["of"].items())

    return max(moving, key=agreement, default=None)


def film(views: Iterable[Mapping[str, Any]]) -> bytes:
    """Animated GIF of the first scene that moves, repeated without end.

    Parameters
    ----------
    views : iterable of mapping
        Views of :mod:`kneewear.report.viewer`; the first one with a scene of several frames is
        drawn.

    Returns
    -------
    bytes
        Contents of the file.

    Raises
    ------
    InputDataError
        When no scene has several frames.
    """
    moving = ((view, scene) for view in views if (scene := moving_scene(view)))
    view, scene = next(moving, (None, None))
    if view is None or scene is None:
        expected, remedy = (
            "a scene over a cycle",
            "Leave report.film out, or draw one of contact over a cycle.",
        )
        raise InputDataError("views in space", "none with several frames", expected, remedy)
    count = len(scene["frames"])
    images = [_image(draw_frame(view, scene, frame)) for frame in range(count)]
    # One palette, so that nothing flickers.
    palette = _palette(images[scene.get("first_frame", 0)], view, scene)
    same = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    file = BytesIO()
    same[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=same[1:],
        duration=DURATION,
        loop=0,
        optimize=True,
    )
    return file.getvalue()


@style.styled
def draw_frame(view: Mapping[str, Any], scene: Mapping[str, Any], frame: int) -> Figure:
    """Draw a frame of a scene, with the curves of the scene and the frame marked in them."""
    curves = scene.get("curves", ())
    width = SIZE[0] + _SCALE + (_CURVES if curves else 0.0)
    part = (SIZE[0] + _SCALE) / width
    figure = Figure(figsize=(width, SIZE[1]), facecolor="white")
    picture = figure.add_axes((0.0, 0.0, SIZE[0] / width, 1.0))
    # The picture has more pixels than the film.
    draw_scene(picture, view, scene, frame, finer=1)
    if scene.get("scale"):
        draw_scale(figure, view["scales"][scene["scale"]], part)
    words = ", ".join([scene["title"], scene["frames"][frame]])
    figure.text(0.01, 0.02, words, fontsize=style.SIZE, color=style.INK)
    height = 0.98 / max(len(curves), 1)
    for number, curve in enumerate(curves):
        bottom = 0.98 - (number + 1) * height + 0.02
        axes = figure.add_axes((part + 0.02, bottom, 0.96 - part, 0.58 * height))
        _draw_curve(axes, curve, frame)
    return figure


def _draw_curve(axes: Any, curve: Mapping[str, Any], frame: int) -> None:
    """Lines over the frames, with their values at one."""
    for number, line in enumerate(curve["lines"]):
        values = np.array(line["values"], dtype=float)
        axes.plot(values, color=line["colour"])
        if np.isfinite(values[frame]):
            axes.plot(frame, values[frame], "o", color=line["colour"], markersize=4.0)
            words = f"{line['name']} {float(f'{values[frame]:.3g}'):g}"
            place = (0.5 * number, 1.06)
            axes.text(*place, words, transform=axes.transAxes, color=line["colour"])
    axes.axhline(0.0, color="#c5cad0", linewidth=0.8, zorder=0)
    axes.set_title(f"{curve['label']} ({curve['unit']})\n", fontsize=style.SMALL)
    axes.set(xticks=[], yticks=[], xlim=(0, max(len(curve["lines"][0]["values"]) - 1, 1)))
    axes.spines[:].set_visible(False)


def _palette(image: Image.Image, view: Mapping[str, Any], scene: Mapping[str, Any]) -> Image.Image:
    """Colours of an image, and those of the scene's scale: the latter cover few pixels of it."""
    if not scene.get("scale"):
        return image.quantize(_COLOURS)
    stops = np.array([to_rgb(stop) for stop in view["scales"][scene["scale"]]["stops"]])
    places = np.linspace(0.0, len(stops) - 1.0, _OF_SCALE)
    own = [np.interp(places, np.arange(len(stops)), part) for part in stops.T]
    others = image.quantize(_COLOURS - _OF_SCALE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette(
        [*others, *np.rint(255.0 * np.column_stack(own)).astype(int).ravel().tolist()]
    )
    return palette


def _image(figure: Figure) -> Image.Image:
    """Pixels of a figure."""
    file = BytesIO()
    with mpl.rc_context(style.STYLE):
        figure.savefig(file, format="png", dpi=DPI)
    return Image.open(file).convert("RGB")
