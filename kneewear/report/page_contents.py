"""Contents of the page of a finished study, read from its files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os.path import dirname, relpath
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.io.documents import load_json, load_table
from kneewear.io.result_files import read_checked
from kneewear.report.derived import Settings
from kneewear.report.understood import activity_tables, tabulate_columns
from kneewear.report.views import VIEW
from kneewear.study import netcdf


def page_contents(
    files: Mapping[str, Sequence[str]],
    settings: Settings,
    curves: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """Tables of a page as `frames`, and its 3-D view (None without one) as `view`.

    `files` are the lists of paths `tables`, and `activities`, `benchmarks`, `calibration`, `signs`
    (by the folder of the activity) and `view`, of which a study kind may have none. `curves` are
    the data files of each activity, whose columns the settings name.
    """
    own = {name: list(map(Path, paths)) for name, paths in files.items()}
    frames = {path.stem: load_table(path) for path in own["tables"]}
    frames |= {f"benchmark_{path.stem}": load_table(path) for path in own.get("benchmarks", [])}
    frames |= {
        f"calibration_{path.stem}": pd.read_csv(path, comment="#")
        for path in own.get("calibration", [])
    }
    # Tables of the name of each activity, one below the other.
    for path in own.get("signs", []):
        trials = load_table(path)
        trials["activity"] = path.parent.name
        frames[path.stem] = pd.concat([frames.get(path.stem, trials[:0]), trials])
    frames["understood_columns"] = tabulate_columns(settings, curves)
    activities = list(netcdf.load_all(Activity, own.get("activities", [])))
    return {
        "frames": frames | activity_tables(activities),
        "view": next(map(load_json, own.get("view", [])), None),
    }


def view_files(folders: Iterable[str]) -> list[str]:
    """Files of the views in space that stand beside the figures in some folders."""
    return [str(path) for folder in folders for path in Path(folder).glob(VIEW)]


def figure_files(folders: Iterable[str], suffix: str) -> dict[str, Path]:
    """Files of the figures in some folders by name, numbers in names in their order."""

    def place(path: Path) -> list[tuple[str, int]]:
        return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", path.stem)]

    return {
        path.stem: path
        for folder in folders
        for path in sorted(Path(folder).glob(f"*.{suffix}"), key=place)
    }


def figure_addresses(folders: Iterable[str], page: str) -> dict[str, list[str]]:
    """Addresses of the files of each figure, in every format that there is, relative to a page."""
    addresses: dict[str, list[str]] = {}
    for suffix in ("svg", "pdf", "png"):
        for name, path in figure_files(folders, suffix).items():
            addresses.setdefault(name, []).append(relpath(path, dirname(page)))
    return addresses


def read_figures(files: Mapping[str, Path]) -> dict[str, bytes]:
    """Contents of figures by name."""
    return {name: read_checked(path) for name, path in files.items()}
