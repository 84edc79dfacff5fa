"""Figures that declare themselves: drawn wherever what they need is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kneewear.base.registry import declared

# Titles and captions are read by rule files and pages that draw nothing.
if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T", bound=Callable[..., Any])


def figure(
    name: str, *, of: str, title: str = "", caption: str = "", alternative: str = ""
) -> Callable[[T], T]:
    """Declare a function that draws a figure.

    Parameters
    ----------
    name : str
        Name of the figure, or of a set of figures.
    of : {"life", "study", "cases", "method"}
        What it shows: results of a life of a wear study, of all lives, of analyses of cases, or the
        method before the cases; or the name of a command whose results are no study.
    title, caption, alternative : str
        Heading, caption, and text for those who cannot see it. Long ones, and those of sets, stand
        in `pages/figures.yaml`.

    Notes
    -----
    The parameters of the function are names of tables, and of what `draw_declared` is given
    besides; it is not called where a required one is absent. It returns a figure, a mapping of
    figures by name, or None where there is nothing to draw.
    """
    return lambda function: function


def figure_modules(*of: str) -> list[str]:
    """Modules of the figures of some kinds, for the fingerprints of rules."""
    return sorted({one.module for one in declared("figure").values() if one.options["of"] in of})


def draw_declared(of: str, inputs: Mapping[str, Any]) -> dict[str, Figure]:
    """Figures of a kind, by name.

    Parameters
    ----------
    of : str
        Kind, as in :func:`figure`.
    inputs : mapping
        Tables by their names, and what else the figures of this kind may need. None and tables
        without rows count as absent.
    """
    present = {
        name: value
        for name, value in inputs.items()
        if value is not None and (not hasattr(value, "columns") or len(value))
    }
    figures: dict[str, Figure] = {}
    for function in declared("figure").values():
        arguments = function.draws_on(present) if function.options["of"] == of else None
        drawn = function(**arguments) if arguments is not None else None
        if drawn is not None:
            figures |= drawn if isinstance(drawn, Mapping) else {function.name: drawn}
    return figures
