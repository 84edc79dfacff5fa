"""Figures and tables of the source documents, numbered as there, from finished studies.

Which figure or table of a study is which of a document is a table,
`reference/published/figures_and_tables.csv`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from kneewear import checkout_folder
from kneewear.evidence.paper import own
from kneewear.io.documents import load_table, save_figures, save_table, save_text
from kneewear.report.curves import draw_curves
from kneewear.report.html import render
from kneewear.report.specification import figure_text
from kneewear.report.tables import Table, make_table, shown, words
from kneewear.study.shipped import find_study

FORMATS = ("svg", "pdf", "png")
# What is made here, from no study or from several.
OWN = "paper"
# Studies that are no files of `config/`, and what computes them.
COMMANDS = {"benchmarks": "make benchmark", "default": "make study", OWN: "make paper"}
# Draws a group of the figures of a finished study again, by its folder and the name of the group.
Redraw = Callable[[Path, str], Mapping[str, Figure]]


class SourceItem(NamedTuple):
    """A figure or table of a document, and what shows it here; see the head of the table."""

    document: str
    item: str
    study: str
    figure: str
    table: str
    panels: str
    rows: str
    layout: str
    remark: str

    @property
    def name(self) -> str:
        """Name of its files."""
        first = self.document.split()[0].lower().replace("á", "a")
        return f"{first}_{self.item.lower().replace(' ', '_').replace('.', '-')}"

    @property
    def command(self) -> str:
        """Command that computes its study."""
        if self.study in COMMANDS:
            return COMMANDS[self.study]
        file = find_study(self.study)
        assert file is not None
        return f"make study CONFIG={file.relative_to(checkout_folder()).as_posix()}"


class PaperItem(NamedTuple):
    """A source item and its files in the folder of the paper, of which one is shown.

    `caption` is the caption of the figure in its study.
    """

    source: SourceItem
    files: tuple[Path, ...] = ()
    shown: str = ""
    caption: str = ""


def source_items() -> list[SourceItem]:
    """All figures and tables of the source documents, in their order."""
    file = files("kneewear.evidence.published").joinpath("figures_and_tables.csv")
    with file.open("r", encoding="utf-8") as opened:
        table = pd.read_csv(opened, comment="#", keep_default_na=False, dtype=str)
    return [SourceItem(*row) for row in table.itertuples(index=False)]


def missing_studies(results: Path) -> list[str]:
    """Studies of `config/` that are not finished, in the order in which they are needed."""
    needed = dict.fromkeys(item.study for item in source_items() if item.study)
    return [
        study
        for study in needed
        if study not in ("benchmarks", OWN)
        and not (results / study / "report" / "summary.json").is_file()
    ]


def write_paper(results: Path, redraw: Redraw) -> tuple[Path, list[str]]:
    """Draw and list what finished studies in a folder of results have of each document.

    Figures (SVG, PDF, PNG) and tables (CSV) are written to `paper/` there, with an index page.
    Figures that a study has as SVG only are drawn again for the other formats.
    Returns the page, and a line for each document, each study that is not finished and each figure
    whose results are gone, so that it is listed as SVG only.
    """
    folder = results / "paper"
    folder.mkdir(parents=True, exist_ok=True)
    # Figures of one group are drawn together, and many items show figures of one study.
    redraw = cache(redraw)
    items = [present(item, results, folder, redraw) for item in source_items()]
    page = folder / "index.html"
    save_text(render_index(items), page)
    return page, _describe(items)


def _describe(items: list[PaperItem]) -> list[str]:
    """Lines on each document, and on what is missing."""
    lines = []
    for document in dict.fromkeys(item.source.document for item in items):
        own = [item for item in items if item.source.document == document]
        wanted = [item for item in own if item.source.study]
        shown = sum(bool(item.files) for item in wanted)
        lines.append(f"{document}: {shown} of {len(wanted)} figures and tables; {len(own)} printed")
    absent = dict.fromkeys(
        item.source.command for item in items if item.source.study and not item.files
    )
    figures = [item for item in items if item.shown == "figure"]
    plain = {item.source.command for item in figures if len(item.files) < len(FORMATS)}
    return [
        *lines,
        *(f"Not finished: {command}" for command in absent),
        *(f"SVG only, because results are missing: {command}" for command in sorted(plain)),
    ]


def present(item: SourceItem, results: Path, folder: Path, redraw: Redraw) -> PaperItem:
    """Files of a source item; none if its study lacks it."""
    study = results / item.study
    if not item.study:
        return PaperItem(item)
    if item.study == OWN:
        return _own(item, results, folder)
    if item.figure:
        found = sorted(study.glob(f"figures/**/{item.figure}*.svg"), key=lambda one: len(one.stem))
        return _copy_figure(item, found[0], study, folder, redraw) if found else PaperItem(item)
    tables = [
        load_table(file)
        for name in item.table.split()
        for file in [study / "tables" / f"{name}.csv", study / f"{name}.csv"]
        if file.is_file()
    ]
    if len(tables) < len(item.table.split()):
        return PaperItem(item)
    table = chosen_rows(pd.concat(tables, ignore_index=True), item.rows)
    if not item.panels:
        file = folder / f"{item.name}.csv"
        save_table(table, file)
        return PaperItem(item, (file,), "table")
    figure = draw_panels(table, item.panels)
    if figure is None:
        return PaperItem(item)
    save_figures({item.name: figure}, folder, FORMATS)
    return PaperItem(item, tuple(folder / f"{item.name}.{one}" for one in FORMATS), "figure")


def _own(item: SourceItem, results: Path, folder: Path) -> PaperItem:
    """A figure or table that no study has; none where the studies it is from are not finished."""
    if item.figure:
        save_figures({item.name: own.FIGURES[item.figure](results)}, folder, FORMATS)
        written = tuple(folder / f"{item.name}.{suffix}" for suffix in FORMATS)
        return PaperItem(item, written, "figure")
    table = own.TABLES[item.table](results)
    if table.empty:
        return PaperItem(item)
    save_table(table, folder / f"{item.name}.csv")
    return PaperItem(item, (folder / f"{item.name}.csv",), "table")


def chosen_rows(table: pd.DataFrame, rows: str) -> pd.DataFrame:
    """Rows whose column has one of the values of `column=value|value`; all without them."""
    if not rows:
        return table
    column, _, values = rows.partition("=")
    return table[table[column].astype(str).isin(values.split("|"))]


def draw_panels(table: pd.DataFrame, panels: str) -> Figure | None:
    """Diagrams whose names begin with one of `panels`, in the order of names; None without any."""
    wanted = table[table["panel"].str.startswith(tuple(panels.split("|")))]
    if wanted.empty:
        return None
    # Panels of one figure are numbered in order, also where they are in different tables.
    ordered = wanted.sort_values("panel", kind="stable")
    return draw_curves(ordered, 1 if wanted["panel"].nunique() == 1 else 2)


def _copy_figure(
    item: SourceItem, drawn: Path, study: Path, folder: Path, redraw: Redraw
) -> PaperItem:
    """Copy a figure of a study, or draw it again where the study lacks a format."""
    caption = figure_text(drawn.stem).caption
    written = [folder / f"{item.name}.{suffix}" for suffix in FORMATS]
    own = {file: drawn.with_suffix(file.suffix) for file in written}
    if not all(file.is_file() for file in own.values()):
        figure = redraw(study, drawn.parent.name).get(drawn.stem)
        if figure is not None:
            save_figures({item.name: figure}, folder, FORMATS)
            return PaperItem(item, tuple(written), "figure", caption)
    copied = [Path(copyfile(file, copy)) for copy, file in own.items() if file.is_file()]
    return PaperItem(item, tuple(copied), "figure", caption)


def render_index(items: list[PaperItem]) -> str:
    """Page of all items: figure or table, command, files, and what is representative."""
    documents = [
        (name, list(members)) for name, members in groupby(items, lambda one: one.source.document)
    ]
    return render(
        "source_items.html.j2", items=items, documents=documents, shown_table=_shown_table
    )


def _shown_table(file: Path, layout: str) -> Table:
    """A table of words and numbers with four digits; columns without a value are left out."""
    table = load_table(file).dropna(axis="columns", how="all")
    return make_table("", as_printed(table, *layout.split()) if layout else table)


def as_printed(table: pd.DataFrame, down: str, across: str) -> pd.DataFrame:
    """Comparison with a row for each value of one column and a column for each of another.

    A cell has the computed value and, in brackets, the published one.
    """
    cells = [
        f"{shown(computed, '3')} ({shown(published, '3')})"
        for computed, published in zip(table["computed"], table["published"], strict=True)
    ]
    keys = ["side", "quantity", "unit", down]
    wide = table.assign(cell=cells).pivot(index=keys, columns=across, values="cell")
    (rows, unit_down), (columns, unit_across) = (name.rsplit("_", 1) for name in (down, across))
    wide.columns = pd.Index([f"{words(columns)} {value:g} {unit_across}" for value in wide.columns])
    return wide.reset_index().rename(columns={down: f"{words(rows)} ({unit_down})"})
