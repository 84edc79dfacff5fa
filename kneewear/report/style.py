"""One look for all figures: fonts and colours."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.6,
    "figure.titlesize": 11,
}

# Read when a figure is written, long after it was drawn: equal figures are then equal files.
mpl.rcParams["svg.hashsalt"] = "kneewear"

# Okabe-Ito colours, told apart with every kind of colour vision.
SIDE_COLOURS = {"medial": "#0072B2", "lateral": "#D55E00"}
DEPTH_COLOURS = "magma_r"
PRESSURE_COLOURS = "viridis"
ERROR_COLOURS = "RdBu_r"
PLATEAU = "#f1f1ee"
INK = "#333333"
WIDTH = 9.0

Arguments = ParamSpec("Arguments")


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Let a drawing function work in the look of this report."""

    @wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


def show_plan(axes: Axes) -> None:
    """Turn axes into a plan of the insert from above: anterior up, medial left (right knee)."""
    axes.set_aspect("equal")
    axes.invert_xaxis()
    axes.invert_yaxis()
    axes.grid(False)
    axes.set_xlabel("z, medial (mm)")
    axes.set_ylabel("x, posterior (mm)")
