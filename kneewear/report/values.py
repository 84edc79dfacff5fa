"""Named values in the fixed texts of a page."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.report.tables import SHOWN_FORM, listed, shown, unit_name, words


class Values(string.Formatter):
    """Key results, settings and cells of a row by their names.

    `{wear_volume:3}` is a number with three significant digits, `{settings.wear.months:g}` one of
    the settings; further formats are those of :func:`kneewear.report.tables.shown` and of Python.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def text(self, template: str) -> str | None:
        """The text with its values; None where the study lacks one of them."""
        try:
            return self.vformat(template, (), {})
        except LookupError:
            return None

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """Value at a path such as `settings.wear.months`."""
        value: Any = self.values
        for step in field_name.split("."):
            if not isinstance(value, Mapping):
                raise LookupError(field_name)
            value = value[step]
        if value is None or pd.isna(value) is True:
            raise LookupError(field_name)
        return value, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Value as text: lists as an enumeration, mappings as their keys with their values."""
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {self.format_field(one, '')}" for name, one in value.items())
        if format_spec == "words":
            return words(str(value))
        if format_spec == "unit":  # behind a number; a fraction has none
            unit = unit_name(str(value))
            return f" {unit}" if unit else ""
        if isinstance(value, list | tuple):
            return listed(value)
        if not format_spec or SHOWN_FORM.fullmatch(format_spec):
            return shown(value, format_spec or "4")
        return str(super().format_field(value, format_spec))
