"""Errors that reach a user, each saying what was found, where, what was expected and what to do."""

from __future__ import annotations

from pathlib import Path


class KneewearError(Exception):
    """Base of every error kneewear raises on purpose."""


class InputDataError(KneewearError):
    """A file or setting given by the user that cannot be used.

    Parameters
    ----------
    source : str or Path
        File (or config key) the fault stands in.
    found : str
        What is there.
    expected : str
        What would have been right.
    remedy : str
        What the user can do.
    where : str, optional
        Place inside the source: a row, a column, a key.
    """

    def __init__(
        self, source: str | Path, found: str, expected: str, remedy: str, where: str = ""
    ) -> None:
        self.place = f"{source}, {where}" if where else f"{source}"
        self.found, self.expected, self.remedy = found, expected, remedy
        super().__init__(source, found, expected, remedy, where)

    def __str__(self) -> str:
        return f"{self.place}: found {self.found}; expected {self.expected}. {self.remedy}"


class DamagedFileError(InputDataError):
    """A result that is not what its job wrote: cut off, changed or of another kind.

    Parameters
    ----------
    path : str or Path
        The file.
    found : str
        What is there.
    expected : str
        What would have been right.
    where : str, optional
        Place inside the file.
    """

    def __init__(self, path: str | Path, found: str, expected: str, where: str = "") -> None:
        remedy = "Move it away and run the study again: it is made anew."
        super().__init__(path, found, expected, remedy, where)
        self.path = Path(path)
        # All arguments go to the base, or the error could not travel between processes.
        self.args = (path, found, expected, where)


class OutputFileError(KneewearError):
    """A file that could not be written.

    Parameters
    ----------
    path : str or Path
        The file.
    reason : str
        What the system said.
    remedy : str
        What the user can do.
    """

    def __init__(self, path: str | Path, reason: str, remedy: str) -> None:
        self.path, self.reason, self.remedy = path, reason, remedy
        super().__init__(path, reason, remedy)

    def __str__(self) -> str:
        return f"{self.path}: could not be written ({self.reason}). {self.remedy}"


class ConvergenceError(KneewearError):
    """A physical solution that was not reached.

    Parameters
    ----------
    what : str
        What was being solved.
    frame : int
        Frame of the cycle, counted from 0.
    residual : float
        Largest remaining residual, in the unit named by `unit`.
    unit : str
        Unit of the residual.
    remedy : str
        What the user can do.
    """

    def __init__(self, what: str, frame: int, residual: float, unit: str, remedy: str) -> None:
        self.what = what
        self.frame = frame
        self.residual = residual
        self.unit = unit
        self.remedy = remedy
        # All arguments go to the base, or the error could not travel between processes.
        super().__init__(what, frame, residual, unit, remedy)

    def named(self, whose: str) -> ConvergenceError:
        """The same error with the name of what it happened to.

        Parameters
        ----------
        whose : str
            Such as case and activity.

        Returns
        -------
        ConvergenceError
        """
        what = f"{whose}: {self.what}"
        return ConvergenceError(what, self.frame, self.residual, self.unit, self.remedy)

    def __str__(self) -> str:
        return (
            f"{self.what} did not converge at frame {self.frame}: residual {self.residual:.3g} "
            f"{self.unit}. {self.remedy}"
        )
