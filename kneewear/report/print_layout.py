"""Layout of figures on paper: titles in lines, legends off the curves, texts that overlap found."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from kneewear.report.style import legend_columns

# Overlap of two texts that nobody sees, and what a text may leave the figure by, points.
_OVERLAP = 1.0
# Letters that a line of a title has at least.
_MIN_LETTERS = 8
# Columns of a legend below all panels, at most.
_LEGEND_COLUMNS = 4
# Smallest letters, points: Elsevier, Artwork sizing.
_MIN_SIZE = 6.0


def fit_texts(figure: Figure) -> None:
    """Break wide titles into lines, write long names of axes smaller, move legends off curves."""
    figure.draw_without_rendering()  # which moves titles and names of axes to their places
    _free_curves(figure)
    for axes in figure.axes:
        for title in _titles(axes):
            room = axes.get_window_extent().width
            width = title.get_window_extent().width
            if title.get_text() and width > room > 0.0:
                longest = max(map(len, title.get_text().splitlines()))
                most = max(_MIN_LETTERS, int(longest * room / width))
                lines = [textwrap.fill(line, most) for line in title.get_text().splitlines()]
                title.set_text("\n".join(lines))
        _fit_names(axes)
    figure.draw_without_rendering()
    # A further layout would move what is judged and saved.
    figure.set_layout_engine(None)


def _free_curves(figure: Figure) -> None:
    """Move legends that cover curves of their panel below all panels."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is not None and _covers(legend, axes):
            labels = (text.get_text() for text in legend.get_texts())
            entries |= dict(zip(labels, legend.legend_handles, strict=True))
            legend.remove()
    if entries:
        columns = legend_columns(figure, list(entries), _LEGEND_COLUMNS)
        handles = list(entries.values())
        where: Any = "outside lower center"
        figure.legend(handles, list(entries), loc=where, ncols=columns, frameon=False)
        figure.draw_without_rendering()


def _covers(legend: Legend, axes: Axes) -> bool:
    """True if a curve of the panel runs below the legend."""
    box = legend.get_window_extent()
    curves = (line.get_transform().transform_path(line.get_path()) for line in axes.lines)
    return any(curve.intersects_bbox(box, filled=False) for curve in curves)


def _fit_names(axes: Axes) -> None:
    """Write names of axes that are longer than their panel in smaller letters."""
    box = axes.get_window_extent()
    for label, room, along in (
        (axes.xaxis.label, box.width, "width"),
        (axes.yaxis.label, box.height, "height"),
    ):
        size = getattr(label.get_window_extent(), along)
        if label.get_text() and size > room > 0.0:
            own = float(label.get_fontsize())
            label.set_fontsize(max(min(own, _MIN_SIZE), own * room / size))


def _titles(axes: Axes) -> list[Text]:
    """Titles of a panel: left, centre and right."""
    own = set(axes.texts)
    return [text for text in axes.get_children() if isinstance(text, Text) and text not in own]


def is_legible(figure: Figure) -> bool:
    """True if no two texts overlap and none leaves the figure.

    Names of axes in space are not measured: a figure with such axes is taken as illegible.
    """
    if any(axes.name == "3d" and axes.get_xlabel() for axes in figure.axes):
        return False
    figure.draw_without_rendering()
    whole = figure.bbox.padded(_OVERLAP * figure.dpi / 72.0)
    boxes = list(_text_boxes(figure))
    inside = all(_is_inside(box, whole) for box in boxes)
    return inside and not any(_overlap(*pair, figure.dpi) for pair in combinations(boxes, 2))


def _text_boxes(figure: Figure) -> Iterator[Bbox]:
    """Boxes of titles, names of axes, ticks and notes in a figure."""
    parts: list[Any] = [figure, *figure.subfigs]
    texts: list[Text] = [text for part in parts for text in part.texts]
    insets: list[Any] = [inset for axes in figure.axes for inset in axes.child_axes]
    for axes in [*figure.axes, *insets]:
        texts += [*_titles(axes), *axes.texts, *_named(axes)]
    for text in dict.fromkeys(texts):
        if text.get_visible() and text.get_text().strip():
            yield Bbox(text.get_window_extent())


def _named(axes: Axes) -> Iterator[Text]:
    """Names and visible tick labels of the axes of a panel."""
    if not axes.axison:
        return
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_visible():
            yield axis.label
            low, high = sorted(limits)
            places = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
            yield from (label for place, label in places if low <= place <= high)


def _is_inside(box: Bbox, whole: Bbox) -> bool:
    return bool(
        box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1
    )


def _overlap(one: Bbox, other: Bbox, dpi: float) -> bool:
    shared = Bbox.intersection(one, other)
    least = _OVERLAP * dpi / 72.0
    return shared is not None and min(shared.width, shared.height) > least
