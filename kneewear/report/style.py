"""One look for all figures: fonts, colours, panels, axes, and the curves and bars of tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter

from kneewear.report.tables import rows_with

# Points: of words, and of the many small ones (ticks, legends, values in cells).
SIZE = 9.0
SMALL = 8.0

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    # No panel has ticks at its top, which titles would be measured against.
    "axes.titley": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "legend.title_fontsize": SMALL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "lines.linewidth": 1.6,
    "figure.titlesize": SIZE,
    "figure.titleweight": "bold",
}

# Matplotlib's own values: a `matplotlibrc` of the user or of a study's folder changes no figure.
mpl.rcParams.update({k: v for k, v in mpl.rcParamsDefault.items() if k != "backend"})
# Read when a figure is written, long after it was drawn. Equal figures are then equal files, and
# cells are written as the pixels that they are.
mpl.rcParams.update({"svg.hashsalt": "kneewear", "image.composite_image": False})

# Okabe-Ito colours, which differ in every kind of colour vision.
THICKNESS_COLOURS = "cividis"
SIDE_COLOURS = {"medial": "#0072B2", "lateral": "#D55E00"}
DEPTH_COLOURS = "magma_r"
PRESSURE_COLOURS = "viridis"
ERROR_COLOURS = "RdBu_r"
PLATEAU = "#f1f1ee"
INK = "#333333"
METAL = "#5b6770"
BLUE, SKY, RED, AMBER, GREEN, PURPLE = (
    "#0072B2",
    "#56B4E9",
    "#D55E00",
    "#E69F00",
    "#009E73",
    "#CC79A7",
)
# Of series without a meaning of their own: designs, materials.
SERIES = (BLUE, RED, GREEN, PURPLE, AMBER, SKY)
WIDTH = 9.0
# Style of figures in journals, and the sizes there of what has its size as an argument, points.
JOURNAL = Path(__file__).with_name("journal.mplstyle")
_PRINTED_SIZES = {SIZE: 8.0, SMALL: 7.0}
_MM_PER_INCH = 25.4
# A printed panel is at least this part as wide as on the page, or fewer stand side by side.
_MIN_PANEL_FRACTION = 0.6
# Height of a page of a journal that a figure may fill, inches.
_PAGE_HEIGHT = 9.2
# Width of a letter and of a line with its gaps in a legend, parts of the size of the text.
_LETTER_WIDTH = 0.6
_HANDLE_WIDTH = 5.0
# Letters in a line of the title of a panel.
_TITLE_LETTERS = 30
# Width of the figures that are drawn for print, inches; None for the page.
_printed_width: ContextVar[float | None] = ContextVar("printed width", default=None)
# Points of a panel beyond which they are a picture within a figure of lines: its file stays small.
MANY = 1000
# Of plans, in which anterior is up and medial is left, and of sections.
X_LABEL = "posterior ← x (mm) → anterior"
Z_LABEL = "medial ← z (mm) → lateral"
SECTION_LABEL = "anterior ← x (mm) → posterior"

Arguments = ParamSpec("Arguments")


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Give the figures of a drawing function the look of this report; no name is mathematics."""

    @wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        width = _printed_width.get()
        with mpl.rc_context(STYLE if width is None else STYLE | _journal_style()):
            figure = draw(*args, **kwargs)
            if width is not None:
                _fit_print(figure, width)
            # Ticks of logarithmic axes are formulas, and have no text before the figure is written.
            for text in figure.findobj(Text):
                if "$" in text.get_text():
                    text.set_parse_math(False)
            return figure

    return drawn


def new_figure(
    height: float, rows: int = 1, columns: int = 1, width: float = WIDTH, **options: Any
) -> tuple[Figure, Any]:
    """Figure (inches) and its panels, shape (rows, columns)."""
    printed = _printed_width.get()
    if printed is not None:
        return _printed_figure(printed, (width, height), (rows, columns), options)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


@contextmanager
def printed_at(width_mm: float) -> Iterator[None]:
    """Draw figures in the style of journals at a width, with panels below each other if needed."""
    token = _printed_width.set(width_mm / _MM_PER_INCH)
    try:
        with mpl.rc_context(_journal_style()):
            yield
    finally:
        _printed_width.reset(token)


def _journal_style() -> Any:
    return mpl.rc_params_from_file(JOURNAL, use_default_template=False)


def _printed_figure(
    printed: float, size: tuple[float, float], shape: tuple[int, int], options: Mapping[str, Any]
) -> tuple[Figure, Any]:
    """Figure of a printed width, and its panels in their order on the page."""
    (width, height), (rows, columns) = size, shape
    beside = max(1, min(columns, int(printed / (_MIN_PANEL_FRACTION * width / columns))))
    moved = beside < columns
    below = -(-rows * columns // beside)
    high = height / rows * max(printed / WIDTH, _MIN_PANEL_FRACTION) * below
    figure = Figure(figsize=(printed, min(high, _PAGE_HEIGHT)), layout="constrained")
    if not moved:
        return figure, figure.subplots(rows, columns, squeeze=False, **options)
    panels = figure.subplots(below, beside, squeeze=False).ravel()
    for axes in panels[rows * columns :]:
        axes.remove()
    grid = panels[: rows * columns].reshape(rows, columns)
    for name, across in (("sharex", 0), ("sharey", 1)):
        shared = options.get(name, False)
        for first, other in _shared_panels(grid, shared, across):
            getattr(other, name)(first)
    return figure, grid


def _shared_panels(grid: Any, shared: bool | str, across: int) -> Iterator[tuple[Any, Any]]:
    """Pairs of panels with one axis, as `shared` of `Figure.subplots` states."""
    shared = {"True": "all", "False": "none"}.get(str(shared), str(shared))
    lines = {"all": [grid.ravel()], "row": list(grid), "col": list(grid.T)}.get(shared, [])
    for first, *others in lines:
        for other in others:
            yield first, other


def _fit_print(figure: Figure, width: float) -> None:
    """Give a figure that has a size of its own the printed width, and its texts their sizes."""
    own, height = figure.get_size_inches()
    if own != width:
        figure.set_size_inches(
            width, min(height * max(width / own, _MIN_PANEL_FRACTION), _PAGE_HEIGHT)
        )
    for text in figure.findobj(Text):
        size = float(text.get_fontsize())
        text.set_fontsize(_PRINTED_SIZES.get(size, size))


def legend_columns(figure: Figure, labels: Sequence[str], columns: int) -> int:
    """Columns of a legend of the whole figure: those asked for, or fewer that fit its width."""
    if _printed_width.get() is None:
        return columns
    letters = max(map(len, labels), default=0) * _LETTER_WIDTH + _HANDLE_WIDTH
    inches = letters * float(mpl.rcParams["font.size"]) / 72.0
    return max(1, min(columns, int(figure.get_figwidth() / inches)))


def panels_in_rows(
    count: int, columns: int, row_height: float, width: float = WIDTH
) -> tuple[Figure, list[Any]]:
    """Figure of `count` panels, at most so many in a row; the rest of the last row is blank.

    Rows are as equal as they can be: four panels of at most three in a row are two in each row.
    """
    rows = -(-count // columns)
    columns = -(-count // rows)
    figure, panels = new_figure(row_height * rows + 0.4, rows, columns, width)
    for axes in panels.flat[count:]:
        axes.set_axis_off()
    return figure, list(panels.flat[:count])


def case_title(label: str, value: str) -> str:
    """Title of a panel: the name of a case in short lines, and its value below."""
    return "\n".join([*textwrap.wrap(label, _TITLE_LETTERS), value])


def side_colours(table: pd.DataFrame) -> dict[str, str]:
    """Colours of the sides of a table: both, or the plateau that there is."""
    present = set(table["side"])
    return {side: colour for side, colour in SIDE_COLOURS.items() if side in present}


def show_plan(axes: Axes) -> None:
    """Turn axes into a plan of the insert from above: anterior up, medial left (right knee)."""
    axes.set_aspect("equal")
    show_unrolled(axes, X_LABEL)


def show_unrolled(axes: Axes, label: str = "posterior ← angle (deg) → anterior") -> None:
    """Turn axes into an unrolled condyle: anterior up, medial left (right knee)."""
    axes.invert_xaxis()
    axes.invert_yaxis()
    axes.grid(False)
    axes.set(xlabel=Z_LABEL, ylabel=label)


def share_plan_labels(figure: Any, panels: Sequence[Axes]) -> None:
    """Name the axes of several plans once."""
    for axes in panels:
        axes.set(xlabel="", ylabel="")
    figure.supxlabel(Z_LABEL, fontsize=SIZE, fontweight="normal")
    figure.supylabel(X_LABEL, fontsize=SIZE, fontweight="normal")


def draw_cycle(
    axes: Axes, percent: Any, values: Any, colour: str, label: str | None = None
) -> None:
    """Draw a periodic curve, closed to its first frame at 100 %; NaN leaves a gap."""
    axes.plot([*percent, 100.0], [*values, values[0]], color=colour, label=label)
    axes.set(xlim=(0.0, 100.0), xticks=[0, 25, 50, 75, 100], xlabel="% of cycle")


def show_logarithmic(axes: Axes, ticks: Sequence[float]) -> None:
    """Make both axes logarithmic, with plain numbers at some values of x."""
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(ticks)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()


def draw_series(
    axes: Axes,
    table: pd.DataFrame,
    x: str,
    y: str,
    looks: Mapping[str, Mapping[str, Any]],
    by: str,
) -> None:
    """Curve of column `y` over column `x` for each value of column `by` that `looks` names."""
    for value, look in looks.items():
        rows = rows_with(table, **{by: value})
        axes.plot(rows[x], rows[y], **look)


def draw_bars(axes: Axes, names: Sequence[str], groups: Mapping[str, tuple[Any, str]]) -> None:
    """Bars side by side over names: by the label of each group its values and its colour."""
    middle, width = np.arange(len(names)), 0.8 / max(len(groups), 1)
    for number, (label, (values, colour)) in enumerate(groups.items()):
        offset = (number - 0.5 * (len(groups) - 1)) * width
        axes.bar(middle + offset, values, width, color=colour, label=label)
    axes.set_xticks(middle, names)
    axes.grid(axis="x", visible=False)


def draw_polygons(
    axes: Axes, corners: Any, values: Any, colours: str, top: float, **options: Any
) -> PolyCollection:
    """Polygons, corners of shape (n, corner, 2), coloured by values from zero to `top`."""
    cells = PolyCollection(list(corners), cmap=colours, **options)
    cells.set_array(values)
    cells.set_clim(0.0, top)
    axes.add_collection(cells)
    return cells


def draw_cells(
    axes: Axes, values: Any, colours: str, limits: tuple[float, float], form: str = "{:.0f}"
) -> Any:
    """Draw a matrix as coloured cells with their finite values; dark cells have white text."""
    luminance = (0.299, 0.587, 0.114)
    image = axes.imshow(
        values,
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
        origin="lower",
        aspect="auto",
        interpolation="none",
    )
    axes.grid(False)
    for (row, column), value in np.ndenumerate(np.asarray(values, dtype=float)):
        if np.isfinite(value):
            dark = np.dot(image.cmap(image.norm(value))[:3], luminance) < 0.55
            colour = "white" if dark else INK
            text = form.format(value)
            text = text if float(text) else text.lstrip("-")
            # Within its cell: the layout need not measure it.
            axes.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=SMALL,
                color=colour,
                in_layout=False,
            )
    return image


def share_legends(figure: Figure, panels: Sequence[Axes], columns: int) -> None:
    """One legend above all panels, of the curves of any of them."""
    known: dict[Any, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    columns = legend_columns(figure, list(known), columns)
    figure.legend(list(known.values()), list(known), loc="outside upper center", ncols=columns)


def share_legend(figure: Figure, axes: Axes, columns: int, below: bool = False) -> None:
    """One legend for all panels, above or below them, of the curves of one panel."""
    handles, labels = axes.get_legend_handles_labels()
    where: Any = "outside lower center" if below else "outside upper center"
    columns = legend_columns(figure, labels, columns)
    figure.legend(handles, labels, loc=where, ncols=columns)
