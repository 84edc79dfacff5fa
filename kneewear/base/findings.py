"""Findings of jobs, gathered and counted, and the verdict that follows from them.

A finding (:class:`kneewear.errors.Finding`) is data: it is sorted, ignored, counted and compared
by its fields. Its text is built last and never read back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from kneewear.errors import Finding, Severity

# Words of severities, the worst first.
LEVELS = {"refuse": "Error", "warn": "Warning", "note": "Note"}
# Job of findings about settings, before any job.
SETTINGS = "settings"
# Verdicts of results by the worst finding.
WORDS = {"refuse": "with errors", "warn": "with warnings", "note": "no warnings"}
# Check of results that are outside the validity of a model.
VALIDITY = "validity"


@dataclass(frozen=True)
class Reported:
    """A finding that a job reported.

    Parameters
    ----------
    finding : Finding
        What was found.
    job : str
        Job that reported it, "settings" before any job, empty for one about results.
    alike : str
        The same for findings of one kind, which differ in their values alone.
    more : int
        Number of further ones of its kind that it stands for.
    """

    finding: Finding
    job: str = ""
    alike: str = ""
    more: int = 0

    @property
    def level(self) -> str:
        """Severity as a word."""
        return LEVELS[self.finding.severity]

    def text(self) -> str:
        """The finding as a line."""
        return self.finding.text() + (f" ({self.more} more like it)" if self.more else "")

    def record(self) -> dict[str, Any]:
        """Plain builtins, as in `report/summary.json`."""
        return asdict(self.finding) | {"job": self.job, "alike": self.alike, "more": self.more}

    @classmethod
    def of_message(cls, record: logging.LogRecord) -> Reported:
        """Finding of a message of the log, or the message as one.

        Messages of one format are alike, as findings of one check are.
        """
        arguments = record.args if isinstance(record.args, tuple) else ()
        given = next((argument for argument in arguments if isinstance(argument, Finding)), None)
        message = Finding("", "warn", "", record.getMessage().rstrip("."), "", "")
        return cls(given or message, alike=given.check if given else str(record.msg))

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Reported:
        """Finding of a record."""
        names = [field.name for field in fields(Finding)]
        finding = Finding(**{name: record[name] for name in names})
        return cls(finding, record["job"], record["alike"], record["more"])


@dataclass(frozen=True)
class Verdict:
    """Verdict on the results of a study by its findings.

    Page, paper, terminal, comparison and exit code are written from it.

    Parameters
    ----------
    errors, warnings : int
        Number of findings of severity "refuse" and "warn".
    outside : bool
        Whether results are outside the validity of a model: a finding of the check "validity".
    """

    errors: int
    warnings: int
    outside: bool

    @classmethod
    def of(cls, findings: Iterable[Reported]) -> Verdict:
        """Verdict of all findings of a study."""
        number = dict.fromkeys(LEVELS, 0)
        outside = False
        for finding in findings:
            number[finding.finding.severity] += 1 + finding.more
            outside = outside or finding.finding.check == VALIDITY
        return cls(number["refuse"], number["warn"], outside)

    @property
    def severity(self) -> Severity:
        """Severity of the worst finding; "note" where there is none."""
        return "refuse" if self.errors else "warn" if self.warnings else "note"

    @property
    def exit_code(self) -> int:
        """1 after an error, else 0."""
        return int(self.errors > 0)

    @property
    def words(self) -> str:
        """The verdict in two words."""
        outside = self.outside and not self.errors
        return "outside validity" if outside else WORDS[self.severity]

    @property
    def counts(self) -> str:
        """Number of errors and of warnings, empty where there is none."""
        numbers = {"error": self.errors, "warning": self.warnings}
        return ", ".join(f"{n} {name}{'s' * (n > 1)}" for name, n in numbers.items() if n)

    def text(self) -> str:
        """The verdict as a line."""
        return f"Results: {self.words}{f' ({self.counts})' if self.counts else ''}"


@dataclass(frozen=True)
class Cause:
    """Findings of one cause, such as a check, with their worst severity and their number."""

    name: str
    severity: Severity
    number: int
    findings: tuple[Reported, ...]

    @property
    def count(self) -> str:
        """Number of each severity in words, the worst first."""
        numbers = {
            level.lower(): sum(1 + item.more for item in self.findings if item.level == level)
            for level in LEVELS.values()
        }
        return ", ".join(f"{n} {level}{'s' * (n > 1)}" for level, n in numbers.items() if n)


def causes(
    findings: Iterable[Reported], name_of: Callable[[str], str] = lambda check: check
) -> list[Cause]:
    """Findings by the name of their check, in the order of the first of each."""
    by_name: dict[str, list[Reported]] = {}
    for one in findings:
        by_name.setdefault(name_of(one.finding.check), []).append(one)
    levels = list(LEVELS)
    gathered = []
    for name, own in by_name.items():
        worst = min((item.finding.severity for item in own), key=levels.index)
        gathered.append(Cause(name, worst, sum(1 + item.more for item in own), tuple(own)))
    return gathered


def gather(findings: Iterable[Reported]) -> list[Reported]:
    """The first finding of each kind with the number of further ones, the worst kinds first.

    Findings that are equal, or differ in their values alone, are of one kind, reported by all
    their jobs, or by "settings" if that is among them.
    """
    equal: dict[tuple[str, str], list[Reported]] = {}
    for one in findings:
        equal.setdefault((one.finding.severity, one.finding.text()), []).append(one)
    alike: dict[tuple[str, str], list[Reported]] = {}
    for same in equal.values():
        joined = _counted(same)
        kind = joined.finding.severity, joined.alike or joined.finding.text()
        alike.setdefault(kind, []).append(joined)
    first = list(map(_counted, alike.values()))
    return sorted(first, key=lambda one: list(LEVELS).index(one.finding.severity))


def _counted(findings: Sequence[Reported]) -> Reported:
    """The first of some findings, which stands for all and their jobs."""
    jobs = list(dict.fromkeys(name for item in findings for name in item.job.split(", ")))
    job = SETTINGS if SETTINGS in jobs else ", ".join(filter(None, jobs))
    more = sum(1 + finding.more for finding in findings) - 1
    return replace(findings[0], job=job, more=more)


class _Gathering(logging.Handler):
    """Keeps warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[Reported] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self.found.append(Reported.of_message(record))


@contextmanager
def gathered_warnings() -> Iterator[list[Reported]]:
    """Gather warnings of this package inside the block, which are not printed where they occur."""
    handler = _Gathering()
    package = logging.getLogger(__name__.partition(".")[0])
    package.addHandler(handler)
    try:
        yield handler.found
    finally:
        package.removeHandler(handler)
