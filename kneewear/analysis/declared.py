"""Analyses that declare themselves, with the names of their tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def comparison(name: str, *, tables: tuple[str, ...]) -> Callable[[T], T]:
    """Declare a function that compares the tables of trends of a wear study with printed values.

    Parameters
    ----------
    name : str
        What is compared with.
    tables : tuple of str
        Names of its tables.

    Notes
    -----
    The function takes the case table and the tables of regression and correlation, and returns
    tables by their names. It is called where the key `report.compare_with_published` is true.
    """
    return lambda function: function


def analysis(name: str, *, tables: tuple[str, ...], of_datasets: bool = False) -> Callable[[T], T]:
    """Declare a function that analyses the results of all cases of a study.

    Parameters
    ----------
    name : str
        Key of `analyses` in the settings.
    tables : tuple of str
        Names of its tables.
    of_datasets : bool
        True if it needs the datasets of the cases, too: they are then its first argument.

    Notes
    -----
    The function takes the results (one row a case), the study, and the options of the analysis, and
    returns tables by their names.
    """
    return lambda function: function
