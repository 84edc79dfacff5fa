"""Tables that a page shows and that are computed from the tables of a study, by name.

A derived table is a function whose parameters are the names of the tables it needs; `settings` are
the settings of the study as plain builtins. It is absent where a table it needs is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from kneewear.base.registry import declared
from kneewear.errors import NOT_COMPUTED
from kneewear.report.specification import Selection

Settings = Mapping[str, Any]


def derived(function: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """Declare a function as the derived table of its name."""
    return function


class Tables(Mapping[str, pd.DataFrame]):
    """Tables of a study and those derived from them, by name.

    Empty tables and those of side studies that failed count as absent; `failed` holds the reasons
    of the latter by name.
    """

    def __init__(self, frames: Mapping[str, pd.DataFrame], settings: Settings) -> None:
        self.files = {
            name: frame
            for name, frame in frames.items()
            if NOT_COMPUTED not in frame and len(frame)
        }
        self.failed = {
            name: str(frame[NOT_COMPUTED].iloc[0])
            for name, frame in frames.items()
            if NOT_COMPUTED in frame
        }
        self.settings = settings
        self._known: dict[str, pd.DataFrame | None] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Table of a name; KeyError where the study has none."""
        if name not in self._known:
            self._known[name] = self.files[name] if name in self.files else self._derive(name)
        frame = self._known[name]
        if frame is None:
            raise KeyError(name)
        return frame

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def _derive(self, name: str) -> pd.DataFrame | None:
        function = declared("derived").get(name)
        if function is None:
            return None
        needed = {}
        for parameter in (*function.required, *function.optional):
            value = self.settings if parameter == "settings" else self.get(parameter)
            if value is None and parameter in function.required:
                return None
            needed[parameter] = value
        frame = function(**needed)
        return frame if len(frame) else None


def select(tables: Mapping[str, pd.DataFrame], part: Selection) -> pd.DataFrame:
    """Rows of a selection; without rows where the table is absent."""
    frame = tables.get(part.table)
    needed = {*part.where, *part.present, *part.absent, *part.above}
    if part.statistics or part.wide:
        needed.add(part.value)
    if frame is None or not needed <= set(frame):
        return pd.DataFrame()
    frame = rows_among(frame, part.where)
    for name in (*part.present, *part.absent):
        known = frame[name].notna() & (frame[name] != "")
        frame = frame[known if name in part.present else ~known]
    for name, least in part.above.items():
        frame = frame[frame[name] > least]
    if part.statistics:
        frame = frame.dropna(subset=part.value)
        keys = [name for name in part.group if name in frame]
        groups = frame.groupby(keys or (lambda _: 0), sort=False)[part.value]
        frame = groups.agg(list(part.statistics)).reset_index(drop=not keys)
    if part.wide:
        columns = dict.fromkeys(frame[part.wide])
        keys = [name for name in map(str, frame) if name not in (part.wide, part.value)]
        if part.group:
            keys = [name for name in part.group if name in frame]
        wide = frame.pivot_table(
            index=keys, columns=part.wide, values=part.value, sort=False, aggfunc="first"
        )
        frame = wide[list(columns)].reset_index().rename_axis(columns=None)
    return frame if part.rows is None else frame.head(part.rows)


def rows_among(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Rows whose columns have one of the given values, lists of them in their order."""
    for name, wanted in where.items():
        if isinstance(wanted, list):
            place = {value: number for number, value in enumerate(wanted)}
            frame = frame[frame[name].isin(wanted)]
            frame = frame.iloc[frame[name].map(place).to_numpy().argsort(kind="stable")]
        else:
            frame = frame[frame[name] == wanted]
    return frame
