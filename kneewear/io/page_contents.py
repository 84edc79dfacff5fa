"""What the page of a finished study is made of, read from its files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.documents import load_json, load_table
from kneewear.io.result_files import read_checked


def page_contents(files: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Values of :func:`kneewear.report.page.render_page` by name.

    `files` are the lists of paths `tables`, and `activities`, `benchmarks`, `calibration`, `signs`
    (by the folder of the activity) and `view`, of which a study kind may have none.
    """
    own = {name: list(map(Path, paths)) for name, paths in files.items()}
    named = [(path.stem, load_table(path)) for path in own["tables"]]
    named += [(f"benchmark_{path.stem}", load_table(path)) for path in own.get("benchmarks", [])]
    named += [
        (f"calibration_{path.stem}", pd.read_csv(path, comment="#"))
        for path in own.get("calibration", [])
    ]
    named += [
        (f"{path.stem}_{path.parent.name}", load_table(path)) for path in own.get("signs", [])
    ]
    return {
        "frames": dict(named),
        "activities": {
            one.name: one for one in netcdf.load_all(Activity, own.get("activities", []))
        },
        "view": next(map(load_json, own.get("view", [])), None),
    }


def figure_files(folders: Iterable[str], suffix: str) -> dict[str, Path]:
    """Files of the figures in some folders by name, numbers in names in their order."""

    def place(path: Path) -> list[tuple[str, int]]:
        return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", path.stem)]

    return {
        path.stem: path
        for folder in folders
        for path in sorted(Path(folder).glob(f"*.{suffix}"), key=place)
    }


def read_figures(files: Mapping[str, Path]) -> dict[str, bytes]:
    """Contents of figures by name."""
    return {name: read_checked(path) for name, path in files.items()}
