"""Subjects of a cohort in a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kneewear.errors import InputDataError
from kneewear.io.plans import finite_number, read_rows
from kneewear.settings.activity import FileActivity
from kneewear.settings.base import WearStudy
from kneewear.settings.cases import Case
from kneewear.settings.cohort import (
    LOAD,
    MOTION,
    RESERVED,
    SIDE,
    SIZE,
    SUBJECT,
    CohortStudy,
    Subject,
)
from kneewear.settings.faults import suggestion

# Imported where used: every run reads the rows, and that needs no arrays.
if TYPE_CHECKING:
    from kneewear.activity.activity import Activity
    from kneewear.studies.cases import ReadActivity


def read_cohort(path: str | Path, study: CohortStudy) -> list[Subject]:
    """Subjects of a CSV file with a row each.

    Columns: `subject`, a unique name; those of `cohort.columns` and `cohort.covariates`; and
    perhaps `side` (right or left), `size` of the implant, `motion_file` and `load_file`. Raises
    InputDataError as `read_rows`, and when a column is missing or unknown, a cell is not what its
    column says, a size is none of a design, or two subjects have one name.
    """
    numeric = [*study.cohort.columns, *study.cohort.covariates]
    found: dict[str, Subject] = {}
    for where, row in read_rows(path, "a cohort"):
        if not found:
            _check_columns(path, study, list(row), numeric)
        name = row[SUBJECT]
        if not name or name in found:
            what = f"subject '{name}' again" if name else "a subject without a name"
            raise InputDataError(path, what, "a name for each subject", "Correct it.", where)
        side, size = row.get(SIDE, ""), row.get(SIZE, "")
        if side not in ("right", "left") and SIDE in row:
            expected = "right or left"
            raise InputDataError(path, f"side '{side}'", expected, "Correct the row.", where)
        for design, one in study.designs.items():
            if one.sizes and size not in one.sizes:
                raise InputDataError(
                    path,
                    f"size '{size}'",
                    f"one of design {design}: {', '.join(one.sizes)}",
                    suggestion(size, one.sizes) or "Correct the row, or add the size.",
                    where,
                )
        files = {
            part: row[key] for part, key in (("motion", MOTION), ("load", LOAD)) if row.get(key)
        }
        numbers = {key: finite_number(path, where, key, row[key]) for key in numeric}
        found[name] = Subject(name, side, size, files, numbers)
    return list(found.values())


def _check_columns(
    path: str | Path, study: CohortStudy, found: list[str], numeric: list[str]
) -> None:
    needed = [SUBJECT, *numeric]
    if any(one.sizes for one in study.designs.values()):
        needed.append(SIZE)
    own_files = study.cohort.activity is not None
    known = {*numeric, *(RESERVED if own_files else (SUBJECT, SIDE, SIZE))}
    missing = [f"no column {name}" for name in needed if name not in found]
    unknown = [name for name in found if name not in known]
    if missing or unknown:
        what = [*missing, *(f"column {name}, which nothing uses" for name in unknown)]
        files = [name for name in unknown if name in (MOTION, LOAD)]
        remedy = (
            "Name the activity whose files they replace in cohort.activity."
            if files
            else "Correct the header, or name the column in cohort.columns or cohort.covariates."
        )
        raise InputDataError(
            path, ", ".join(what), f"columns {', '.join(needed)}", remedy, "header"
        )


def subject_reader(
    study: CohortStudy, subjects: Sequence[Subject], paths: Mapping[str, str]
) -> ReadActivity | None:
    """Reader of the activities of subjects with files of their own; None where nobody has any.

    `paths` are the paths of these files by the names that the rows give them. A subject's file is
    of the subject's own side, and of the study's where the cohort has no sides.
    """
    if not paths:
        return None
    sides = {
        study.case_of(subject, design).name: subject.side
        for subject in subjects
        for design in study.design_names
    }

    from kneewear.io.curves import read_activity  # noqa: PLC0415

    def read(case: Case, own: WearStudy, name: str) -> Activity:
        block = own.activities[name]
        if not isinstance(block, FileActivity):
            raise ValueError(f"activity {name} has no files")
        files = {part: getattr(block, part).file for part in ("motion", "load")}
        located = {part: paths.get(file, file) for part, file in files.items()}
        side = sides[case.name] or own.implant.knee
        return read_activity(name, block, located, own.simulation.frames, side)

    return read
