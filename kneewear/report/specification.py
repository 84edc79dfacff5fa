"""Specification of a page: ordered sections with fixed texts, figures, tables and key results.

Specifications are the YAML files of `pages/`; the key `page` of a study names one. A page is
computed from tables alone: a specification selects rows and columns and contains every text, with
named values in braces (see :mod:`kneewear.report.values`). Sections of several pages are in
`pages/shared.yaml`, captions of figures in `pages/figures.yaml`, and names of quantities in
`pages/labels.yaml`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from kneewear.base.registry import declared
from kneewear.errors import Severity
from kneewear.study.models import FOLDERS

PAGES = Path(__file__).with_name("pages")
PACKAGE = Path(__file__).parents[1]
# Files beside the pages that several of them use.
_PARTS = {"figures", "labels", "shared", "citations", "factors", "categories", "causes", "journal"}

Scalar = str | float | bool
# "largest" is the value of the largest magnitude, with its sign.
Statistic = Literal["first", "sum", "min", "max", "mean", "median", "count", "largest"]


class PagePart(BaseModel):
    """Base of every part of a specification: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Selection(PagePart):
    """Rows of a table.

    `where` keeps the rows whose columns have one of the given values, `present` and `absent` those
    with and without a value, `above` those with more than a number. The `statistics` of `value` are
    computed for each combination of the `group` columns, or over all; `wide` moves the values of a
    column into columns of their own.
    """

    table: str
    where: dict[str, Scalar | list[Scalar]] = {}
    present: list[str] = []
    absent: list[str] = []
    above: dict[str, float] = {}
    group: list[str] = []
    statistics: list[Statistic] = []
    value: str = "value"
    wide: str = ""
    rows: int | None = None  # at most, the first ones


class Interval(PagePart):
    """Columns of another table with the ends of a key result's interval, and its meaning."""

    table: str
    where: dict[str, Scalar | list[Scalar]] = {}
    low: str = "lower"
    high: str = "upper"
    meaning: str


class KeyResultPart(Selection):
    """A number (or word) of a page, by `name`; `each` gives one for each value of some columns.

    `limit` is the column, or the key of the setting, with the value above which the result is
    outside validity; `null_model` the column with the same number from a model without mechanics.
    `measured` and `measured_error` are the columns of a measurement of the same. Values of `each`
    are in the title where there are several, and always if `titled`. Results that are `named`
    appear in texts only.
    """

    name: str
    label: str = ""
    each: list[str] = []
    statistic: Statistic = "first"
    scale: float = 1.0
    unit: str = ""  # else the column "unit"
    form: str = "3"
    interval: Interval | None = None
    limit: str = ""
    null_model: str = ""
    measured: str = ""
    measured_error: str = ""
    titled: list[str] = []
    named: bool = False


class FindingPart(Selection):
    """A finding for each row of a table; texts may name columns of the row in braces.

    Rows that are `alike` are one line with a count.
    """

    check: str
    severity: Severity = "warn"
    alike: bool = False
    place: str
    found: str
    expected: str = ""
    remedy: str = ""


class TablePart(Selection):
    """A table of a section: columns with their headings, and formats of their numbers.

    `folded` tables open by a click, `words` have sentences in their cells, and `summary` ones are
    also in the summary on paper.
    """

    caption: str
    columns: dict[str, str | tuple[str, str]] | None = None
    folded: bool = False
    words: bool = False
    summary: bool = False


class FactsPart(PagePart):
    """A table of fixed rows with named values.

    Rows whose second cell has a value that a study lacks are left out; further cells are a dash.
    """

    caption: str
    heads: list[str]
    facts: list[list[str]]
    summary: bool = False


class BarRows(Selection):
    """Rows of a chart of intervals, one for each row of a table.

    `label` may name columns of the row in braces; `value`, `low` and `high` are columns. Of kind
    "study" is a result, of "part" what its interval is made of, of "measured" a measurement.
    """

    label: str
    low: str = "low"
    high: str = "high"
    kind: Literal["study", "part", "measured"] = "study"


class BarsPart(PagePart):
    """Intervals on one axis from zero; rows whose tables are absent are left out."""

    title: str
    unit: str
    note: str = ""
    rows: list[BarRows]


class SectionPart(PagePart):
    """A section; without any of its figures, tables and tools it is left out.

    `figures` are names of figures or their beginnings. Paragraphs of `text` with a value that the
    study lacks are left out. Sections that are not `open` open by a click.
    """

    id: str
    heading: str
    text: list[str] = []
    open: bool = False
    tool: Literal["", "cases", "decision", "regions", "samples"] = ""
    figures: list[str] = []
    tables: list[TablePart | FactsPart] = []
    links: dict[str, str] = {}


class FigurePart(PagePart):
    """Heading of a figure, its caption, and text for those who cannot see it."""

    title: str
    caption: str = ""
    alternative: str = ""


class Page(PagePart):
    """A page and its appendix; `closing` are the last lines of the summary on paper.

    Of the `sentence`s the first one whose values the study has is the headline, followed by those
    of `case` and preceded by all of `context`. `key_numbers` are the names of at most four key
    results, and `bars` the intervals beside the first picture.
    """

    heading: str
    subject: str = "{settings.implant.name:words}"
    sentence: list[str] = []
    case: list[str] = []
    context: list[str] = ["{settings.implant.name:words}", "{settings.implant.knee} knee"]
    key_numbers: list[str] = Field(default=[], max_length=4)
    bars: list[BarsPart] = []
    key_results: list[KeyResultPart] = []
    findings: list[FindingPart] = []
    first: SectionPart  # beside the key results
    sections: list[SectionPart] = []
    appendix: list[SectionPart] = []
    summary_figures: list[str] = []  # on paper, at most one of each beginning
    closing: list[str] = []


@cache
def page_data(name: str) -> Any:
    """Content of a YAML file of `pages/`."""
    file = page_files().get(name, PAGES / f"{name}.yaml")
    # A tenth of the time of yaml's own reader, where yaml is compiled.
    return yaml.load(file.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def load_page(name: str) -> Page:
    """Specification of a page; names of shared sections and lists are replaced by their content.

    A section `{shared: NAME, ...}` is a shared one with other keys.
    """
    shared = page_data("shared")
    content = page_data(name)
    # What nobody has confirmed, and a motion that does not fit the bearing, stand on every page.
    first, last = {"sections": ["assumed"]}, {"findings": ["placement_findings"]}
    for key in ("sections", "appendix", "findings"):
        entries = []
        for entry in [*first.get(key, []), *content.get(key, []), *last.get(key, [])]:
            found = shared[entry] if isinstance(entry, str) else entry
            if isinstance(found, dict) and "shared" in found:
                found = shared[found["shared"]] | {k: v for k, v in found.items() if k != "shared"}
            entries += found if isinstance(found, list) else [found]
        content = content | {key: entries}
    page: Page = Page.model_validate(
        {"first": {"id": "first", "heading": ""}, "closing": shared["closing"]} | content
    )
    return page


def page_names() -> list[str]:
    """Names of all pages."""
    return sorted(page_files())


@cache
def page_files() -> dict[str, Path]:
    """Files of pages by name: those of `pages/`, and of slices and wings.

    A slice has its page in the file `page.yaml`, which the model of its record names; further ones
    are called by their names in a folder `pages` of the slice or wing.
    """
    shared = {file.stem: file for file in PAGES.glob("*.yaml") if file.stem not in _PARTS}
    own = {file.stem: file for file in PACKAGE.glob("*/**/pages/*.yaml") if file.parent != PAGES}
    models = {
        name: file for name, folder in FOLDERS.items() if (file := folder / "page.yaml").is_file()
    }
    return shared | own | models


@cache
def figure_texts() -> dict[str, FigurePart]:
    """Texts of all figures, by the beginning of the figure's name.

    Of `pages/figures.yaml`, and of the figures that declare theirs.
    """
    own = {
        name: {
            key: function.options[key] for key in FigurePart.model_fields if key in function.options
        }
        for name, function in declared("figure").items()
        if "title" in function.options
    }
    return {name: FigurePart(**text) for name, text in (page_data("figures") | own).items()}


def figure_text(name: str) -> FigurePart:
    """Texts of a figure by its name; the end of the name, such as an activity, joins the title."""
    for start, text in figure_texts().items():
        if name == start:
            return text
        if name.startswith(f"{start}_"):
            ending = name.removeprefix(f"{start}_").replace("_", " ")
            return text.model_copy(update={"title": f"{text.title}: {ending}"})
    plain = name.replace("_", " ")
    return FigurePart(title=plain.capitalize(), alternative=plain)


def starting_with(names: Any, *starts: str) -> list[str]:
    """Names of the figures of some kinds, in the order of the kinds."""
    return [
        name for start in starts for name in names if name == start or name.startswith(f"{start}_")
    ]
