"""Key results and findings of a study as records, from which page, paper and terminal are written.

`report/summary.json` is a mapping with the keys `study`, `page`, `heading`, `subject`, `sentence`
and `case` (the main result), `context`, `number` and `operator` of the report, `version`, `schema`
(:data:`kneewear.RESULTS_SCHEMA`), `key_results` and `named_values` (records of
`KeyResult`), `findings` (records of :class:`kneewear.base.findings.Reported`), `verdict`
(:class:`kneewear.base.findings.Verdict`) and `tables` (the short tables of the summary on paper:
`caption`, `header`, `rows`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from kneewear import RESULTS_SCHEMA
from kneewear.base.findings import Reported, Verdict, gather
from kneewear.errors import Finding
from kneewear.report.derived import Settings, Tables, rows_among, select
from kneewear.report.specification import (
    FactsPart,
    FindingPart,
    KeyResultPart,
    Page,
    SectionPart,
    TablePart,
)
from kneewear.report.tables import (
    RESULTS,
    Table,
    make_table,
    same_decimals,
    shown,
    unit_name,
    words,
)
from kneewear.report.values import Values

# Rows of a table of a page at most: browsers take half a minute to show ten thousand.
MAX_ROWS = 1000


@dataclass(frozen=True)
class KeyResult:
    """One key result.

    `of` are the values of the columns that tell it from others of its name, such as life and side;
    `low` and `high` are the ends of an interval with the given `meaning`, `limit` is the value
    above which the result is outside validity, and `null_model` the same number from a model
    without mechanics; `measured` is the measured value, with its error. `form` formats the value
    (:func:`kneewear.report.tables.shown`).
    """

    name: str
    label: str
    value: float | str | None
    unit: str
    of: dict[str, str]
    form: str = "3"
    low: float | None = None
    high: float | None = None
    meaning: str = ""
    limit: float | None = None
    null_model: float | None = None
    measured: float | None = None
    measured_error: float | None = None

    @property
    def outside(self) -> bool:
        """True if the value is above the limit of validity."""
        return self.limit is not None and isinstance(self.value, float) and self.value > self.limit

    @property
    def title(self) -> str:
        """Label that distinguishes the result from others."""
        names = [words(value) for value in self.of.values()]
        return ", ".join([self.label, *(name[:1].lower() + name[1:] for name in names)])

    @property
    def amount(self) -> str:
        """Value with its unit."""
        return f"{self.number} {unit_name(self.unit)}".strip()

    @property
    def number(self) -> str:
        """Value without its unit; of results with all digits."""
        return shown(self.value, self.form, zeros=self.form in RESULTS)

    @property
    def unit_name(self) -> str:
        """Unit for display."""
        return unit_name(self.unit).strip()

    @property
    def interval(self) -> str:
        """Ends of the interval as text; empty without one."""
        if self.low is None or self.high is None:
            return ""
        form = same_decimals(self.value, self.form)
        ends = (self.value, self.low, self.high)
        if all(isinstance(end, float) and end.is_integer() for end in ends):
            form = ".0f"
        texts = [shown(end, form) for end in (self.low, self.high)]
        if texts[0] == texts[1] and self.low < self.high and self.form.isdigit():
            # Ends of a narrow interval differ by up to two more digits.
            for digits in (int(self.form) + 1, int(self.form) + 2):
                form = same_decimals(self.value, str(digits))
                texts = [shown(end, form) for end in (self.low, self.high)]
                if texts[0] != texts[1]:
                    break
        return " to ".join(texts)

    @property
    def measurement(self) -> str:
        """Measured value with its error, and the ratio of the result to it; empty without one."""
        if self.measured is None or not isinstance(self.value, float):
            return ""
        error = "" if self.measured_error is None else f" ± {shown(self.measured_error, '2')}"
        ratio = f": ratio {shown(self.value / self.measured, '2')}" if self.measured else ""
        return f"measured {shown(self.measured, self.form)}{error}{ratio}"

    @property
    def details(self) -> str:
        """Interval, limit, null model and measurement as text."""
        parts = []
        if self.interval:
            parts.append(f"{self.interval}: {self.meaning}")
        if self.limit is not None:
            parts.append(f"limit of validity {shown(self.limit)}")
        if self.null_model is not None:
            parts.append(f"model without mechanics {shown(self.null_model, self.form)}")
        return "; ".join([*parts, *filter(None, [self.measurement])])

    @property
    def short_details(self) -> str:
        """Interval and limit as a few words."""
        limit = "" if self.limit is None else shown(self.limit)
        words_of_limit = f"above the limit of {limit}" if self.outside else f"limit {limit}"
        parts = [self.interval, words_of_limit if limit else "", self.measurement]
        return "; ".join(filter(None, parts))

    def text(self) -> str:
        """The result as a line; beside a measurement predicted : measured, ratio, interval."""
        if self.measurement:
            interval = f" ({self.interval})" if self.interval else ""
            return f"{self.title}: predicted {self.amount}{interval}, {self.measurement}"
        details = f" ({self.details})" if self.details else ""
        return f"{self.title}: {self.amount}{details}"


def key_results(parts: Iterable[KeyResultPart], tables: Tables) -> Iterator[KeyResult]:
    """Key results of a page; those whose table or column is absent are left out."""
    for part in parts:
        rows = select(tables, part)
        each = [name for name in part.each if name in rows]
        if not len(rows) or (part.value not in rows and part.statistic != "count"):
            continue
        groups = rows.groupby(each, sort=False) if each else [((), rows)]
        for keys, own in groups:
            of = dict(zip(each, map(str, keys), strict=True))
            # A single life needs no name.
            shown = {
                name: value
                for name, value in of.items()
                if name in part.titled or rows[name].nunique() > 1
            }
            yield _key_result(part, own, rows, tables, of, shown)


def _key_result(
    part: KeyResultPart,
    rows: pd.DataFrame,
    everything: pd.DataFrame,
    tables: Tables,
    of: Mapping[str, str],
    shown: dict[str, str],
) -> KeyResult:
    value = _statistic(rows, part.value, part.statistic, part.scale)
    low = high = null = limit = None
    if part.interval and part.interval.table in tables:
        own = rows_among(tables[part.interval.table], part.interval.where)
        for name in of.keys() & set(own):
            own = own[own[name].astype(str) == of[name]]
        # An interval that does not name, say, the life is that of the first one.
        others = {name: key for name, key in of.items() if name not in own}
        first = all(key == str(everything[name].iloc[0]) for name, key in others.items())
        if len(own) and first and {part.interval.low, part.interval.high} <= set(own):
            low, high = (
                part.scale * float(own[name].iloc[0])
                for name in (part.interval.low, part.interval.high)
            )
    if part.null_model and part.null_model in rows:
        null = _number(_statistic(rows, part.null_model, part.statistic, part.scale))
    if part.limit in rows:
        limit = _number(rows[part.limit].iloc[0])
    elif part.limit:
        block: Any = tables.settings
        for step in part.limit.split("."):
            block = block.get(step) if isinstance(block, Mapping) else None
        limit = block
    unit = part.unit or (str(rows["unit"].iloc[0]) if "unit" in rows else "")
    meaning = part.interval.meaning if part.interval and low is not None else ""
    measured, error = (
        _number(rows[column].iloc[0]) if column in rows else None
        for column in (part.measured, part.measured_error)
    )
    return KeyResult(
        part.name,
        part.label,
        value,
        unit,
        shown,
        part.form,
        low,
        high,
        meaning,
        limit,
        null,
        measured,
        error,
    )


def _statistic(rows: pd.DataFrame, column: str, statistic: str, scale: float) -> float | str | None:
    if statistic == "count":
        return float(len(rows))
    values = rows[column]
    if statistic == "largest":
        values, statistic = values.iloc[values.abs().argsort(kind="stable")[::-1]], "first"
    value = values.iloc[0] if statistic == "first" else values.agg(statistic)
    if isinstance(value, str):
        return value
    return _number(scale * float(value))


def _number(value: Any) -> float | None:
    """Number, or None for one that JSON does not have."""
    return None if value is None or not math.isfinite(value) else float(value)


def named_values(results: Iterable[KeyResult], settings: Settings) -> Values:
    """Values that texts name: key results, those of a side also as `name_side`, and settings."""
    values: dict[str, Any] = {"settings": settings}
    for result in results:
        ends = {"low": result.low, "high": result.high, "null_model": result.null_model}
        if result.measured and isinstance(result.value, float):
            ratio = result.value / result.measured
            ends |= {"measured": result.measured, "error": result.measured_error, "ratio": ratio}
        for name in (result.name, "_".join([result.name, *result.of.values()])):
            values.setdefault(name, result.value)
            for end, number in ends.items():
                values.setdefault(f"{name}_{end}", number)
    return Values(values)


def table_findings(
    parts: Iterable[FindingPart], tables: Tables, settings: Settings
) -> Iterator[Reported]:
    """Findings that rows of tables are."""
    for part in parts:
        for row in select(tables, part).to_dict("records"):
            values = Values({"settings": settings} | {str(key): one for key, one in row.items()})
            texts = (part.place, part.found, part.expected, part.remedy)
            place, found, expected, remedy = ((values.text(text) or "").strip() for text in texts)
            finding = Finding(part.check, part.severity, place, found, expected, remedy)
            yield Reported(finding, alike=part.check if part.alike else "")


def side_study_findings(failed: Mapping[str, str]) -> Iterator[Finding]:
    """Findings about side studies that failed, from the reasons by table."""
    for reason in dict.fromkeys(failed.values()):
        names = [words(name) for name, why in failed.items() if why == reason]
        yield Finding("side_study", "warn", ", ".join(names), f"not computed: {reason}", "", "")


def section_tables(
    section: SectionPart, tables: Tables, values: Values
) -> Iterator[tuple[TablePart | FactsPart, Table]]:
    """Tables of a section that the study has, each with at most `MAX_ROWS` rows."""
    for part in section.tables:
        caption = values.text(part.caption) or part.caption
        if isinstance(part, FactsPart):
            rows = [[values.text(cell) for cell in row] for row in part.facts]
            cells = [[cell or "–" for cell in row] for row in rows if row[1] is not None]
            known = pd.DataFrame(cells, columns=part.heads)
            table = make_table(caption, known, None, prose=True)
        else:
            frame = select(tables, part)
            if not len(frame):
                continue
            if len(frame) > MAX_ROWS:
                caption += f" (the first {MAX_ROWS:,} of {len(frame):,} rows; all are in tables/)"
            table = make_table(caption, frame.head(MAX_ROWS), part.columns, part.words)
        if table.rows:
            yield part, table


def build_summary(
    name: str,
    page: Page,
    tables: Tables,
    findings: Sequence[Reported],
    version: str = "",
    inputs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Summary of a study as plain builtins.

    `name` and `page` are name and specification of its page, `findings` come from its jobs, and
    `inputs` the digests of its input files by name.
    """
    results = list(key_results(page.key_results, tables))
    values = named_values(results, tables.settings)
    here = [
        *table_findings(page.findings, tables, tables.settings),
        *map(Reported, side_study_findings(tables.failed)),
    ]
    short = [
        {"caption": table.caption, "header": table.header, "rows": table.rows}
        for section in (page.first, *page.sections, *page.appendix)
        for part, table in section_tables(section, tables, values)
        if part.summary
    ]
    gathered = gather([*here, *findings])
    hidden = {part.name for part in page.key_results if part.named}
    return {
        "study": tables.settings["study"],
        "page": name,
        "heading": values.text(page.heading) or page.heading,
        "subject": values.text(page.subject) or "",
        "sentence": _first_text(page.sentence, values),
        "case": _first_text(page.case, values),
        "context": [text for text in map(values.text, page.context) if text],
        "number": report_number(tables.settings, version, inputs or {}),
        "operator": tables.settings.get("report", {}).get("operator", ""),
        "version": version,
        "schema": RESULTS_SCHEMA,
        "key_results": [asdict(result) for result in results if result.name not in hidden],
        "named_values": [asdict(one) for one in results if one.name in hidden],
        "findings": [one.record() for one in gathered],
        "verdict": asdict(Verdict.of(gathered)),
        "tables": short,
    }


def _first_text(templates: Iterable[str], values: Values) -> str:
    """The first text whose values are all there; empty without one."""
    return next(filter(None, map(values.text, templates)), "")


def report_number(settings: Settings, version: str, inputs: Mapping[str, str]) -> str:
    """Number of a report: the one in the settings, or one that follows from all that decides it.

    Equal settings, versions and input files have equal numbers, others have others.
    """
    own = settings.get("report", {}).get("number", "")
    content = json.dumps([settings, version, dict(inputs)], sort_keys=True, default=str)
    return own or hashlib.sha256(content.encode()).hexdigest()[:10]


def read_key_results(summary: Mapping[str, Any]) -> list[KeyResult]:
    """Key results of a summary."""
    return [KeyResult(**record) for record in summary["key_results"]]


def read_findings(summary: Mapping[str, Any]) -> list[Reported]:
    """Findings of a summary."""
    return list(map(Reported.of, summary["findings"]))


def read_verdict(summary: Mapping[str, Any]) -> Verdict:
    """Verdict of a summary, by its findings."""
    return Verdict.of(read_findings(summary))
