"""Texts of a drawn figure: which of them overlap, and which leave the figure."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

# Pixels by which texts may touch.
SLACK = 1.0


def drawn_texts(figure: Figure) -> list[Text]:
    """Texts that are drawn; an axis also holds labels of ticks beyond its limits, which are not."""
    found: dict[int, Text] = {}
    draw = Text.draw

    def listen(self, *args, **options):
        if self.get_visible() and self.get_text().strip():
            found[id(self)] = self
        return draw(self, *args, **options)

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # places what the layout moves
    Text.draw = listen
    try:
        canvas.draw()
    finally:
        Text.draw = draw
    return list(found.values())


def outline(text: Text, renderer) -> Path:
    """Rectangle around a text, turned as it is."""
    box = text.get_window_extent(renderer)
    middle = np.array([0.5 * (box.x0 + box.x1), 0.5 * (box.y0 + box.y1)])
    turn = text.get_rotation()
    text.set_rotation(0.0)
    flat = text.get_window_extent(renderer)
    text.set_rotation(turn)
    width, height = flat.width - 2.0 * SLACK, flat.height - 2.0 * SLACK
    place = Affine2D().scale(width, height).rotate_deg(turn).translate(*middle)
    return place.transform_path(Path(Path.unit_rectangle().vertices - 0.5, closed=True))


def misplaced(figure: Figure) -> list[tuple[str, ...]]:
    """Pairs of texts that overlap, and texts that leave the figure."""
    texts = drawn_texts(figure)
    renderer = figure.canvas.get_renderer()
    shapes = [(one.get_text(), outline(one, renderer)) for one in texts]
    width, height = figure.bbox.width, figure.bbox.height
    beyond = [
        (words,)
        for words, shape in shapes
        if (shape.vertices < 0.0).any() or (shape.vertices > [width, height]).any()
    ]
    return beyond + [
        (one, two)
        for (one, first), (two, second) in combinations(shapes, 2)
        if first.intersects_path(second)
    ]
