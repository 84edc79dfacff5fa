"""Findings and errors that reach a user: what was found, where, what was expected, and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# Column of a table that was not computed, which holds the reason.
NOT_COMPUTED = "not_computed"


Severity = Literal["refuse", "warn", "note"]


@dataclass(frozen=True)
class Finding:
    """Result of one check.

    Parameters
    ----------
    check : str
        Name of the check, by which findings are ignored and counted, e.g. "motion.spike"; empty
        for errors of form (a missing file, a wrong type), which belong to no named check.
    severity : {"refuse", "warn", "note"}
        "refuse": the input cannot be used; "warn": results are doubtful; "note": information.
    where : str
        File and position, or key of the settings.
    found, expected : str
        What is there, with its unit, and what should be.
    remedy : str
        What to do, as a sentence.
    """

    check: str
    severity: Severity
    where: str
    found: str
    expected: str
    remedy: str

    def text(self) -> str:
        """Message of one line; empty fields are left out, a warning ends with its check."""
        body = "; expected ".join(part for part in (self.found, self.expected) if part)
        message = f"found {body}" if self.expected else body
        place = f"{self.where}: " if self.where else ""
        end = f" {self.remedy}" if self.remedy else ""
        check = f" (check {self.check})" if self.check and self.severity == "warn" else ""
        return f"{place}{message.rstrip('.')}.{end}{check}"

    __str__ = text


class KneewearError(Exception):
    """Base of all errors that kneewear itself raises."""


class InputDataError(KneewearError):
    """A file or setting given by the user that cannot be used.

    `source` is the file (or key of the settings) with the fault, `where` the position in it (a
    row, a column, a key), and `check` the name of the check that refused it, if it has one.
    """

    def __init__(
        self,
        source: str | Path,
        found: str,
        expected: str,
        remedy: str,
        where: str = "",
        check: str = "",
    ) -> None:
        position = f"{source}, {where}" if where else f"{source}"
        self.finding = Finding(check, "refuse", position, found, expected, remedy)
        super().__init__(source, found, expected, remedy, where, check)

    @classmethod
    def of(cls, finding: Finding) -> InputDataError:
        """Error of a finding that refuses an input."""
        return InputDataError(
            finding.where, finding.found, finding.expected, finding.remedy, check=finding.check
        )

    def __str__(self) -> str:
        return self.finding.text()


class DamagedFileError(InputDataError):
    """A result that differs from what its job wrote: truncated, changed or of another kind."""

    def __init__(self, path: str | Path, found: str, expected: str, where: str = "") -> None:
        remedy = "Move it away and run the study again: it will be created again."
        super().__init__(path, found, expected, remedy, where)
        self.path = Path(path)
        # For pickling between processes: the arguments of this class, not of its base.
        self.args = (path, found, expected, where)


class OutputFileError(KneewearError):
    """A file that could not be written, with the system's reason."""

    def __init__(self, path: str | Path, reason: str, remedy: str) -> None:
        self.path, self.reason, self.remedy = path, reason, remedy
        super().__init__(path, reason, remedy)

    def __str__(self) -> str:
        return f"{self.path}: could not be written ({self.reason}). {self.remedy}"


class ConvergenceError(KneewearError):
    """A solution that did not converge.

    `what` is the equation that was solved, `frame` the frame of the cycle, counted from 0, and
    `residual` the largest remaining residual in `unit`.
    """

    def __init__(self, what: str, frame: int, residual: float, unit: str, remedy: str) -> None:
        self.what, self.frame, self.residual = what, frame, residual
        self.unit, self.remedy = unit, remedy
        super().__init__(what, frame, residual, unit, remedy)

    def named(self, whose: str) -> ConvergenceError:
        """The same error with the name of its case and activity."""
        return ConvergenceError(
            f"{whose}: {self.what}", self.frame, self.residual, self.unit, self.remedy
        )

    def __str__(self) -> str:
        return (
            f"{self.what} did not converge at frame {self.frame}: residual {self.residual:.3g} "
            f"{self.unit}. {self.remedy}"
        )
