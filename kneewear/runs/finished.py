"""Finished studies: what one came to, an index of them, and one packed in a file to hand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os.path import relpath
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

from kneewear import checkout_folder
from kneewear.base.findings import Verdict
from kneewear.base.renamed_keys import present_settings
from kneewear.base.versions import NOT_INSTALLED
from kneewear.errors import InputDataError
from kneewear.io.crate import RunDescription, license_properties, save_crate
from kneewear.io.documents import load_record, save_text, settings_text
from kneewear.io.result_files import refuse_damaged, unchecked_files
from kneewear.report.html import render
from kneewear.report.summary import read_findings, read_key_results, read_verdict
from kneewear.study.models import Lazy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kneewear.runs.workflow import Chain

# Files that a line names.
_SHOWN = 3
# How many of them a terminal shows; the page has all.
RESULTS = 6
FINDINGS = 8
# Parts of a study that are handed on: contact histories are not, which take gigabytes.
_PARTS = (
    "report",
    "credibility",
    "tables",
    "figures",
    "geometry/vtk",
    "wear/worn",
    "wear/vtk",
    "provenance.json",
)
# The page of what no run has made: finished studies beside one another.
_COMPARISON = "comparison"
# Files of an archive that the study has no file of.
_SETTINGS = "settings.yaml"
_PACKAGES = "requirements.txt"


@dataclass(frozen=True)
class StudyEntry:
    """One row of the index."""

    folder: Path
    study: str
    heading: str
    headline: str
    verdict: str
    date: datetime

    @property
    def page(self) -> Path:
        """Page of the study."""
        return self.folder / "report" / "index.html"


def finished_studies(results: Path) -> Iterator[StudyEntry]:
    """Finished studies and comparisons in a folder of results, the latest first."""
    files = [*results.glob("*/report/summary.json"), *results.glob("*/*/report/summary.json")]
    for file in sorted(files, key=lambda one: one.stat().st_mtime, reverse=True):
        try:
            summary = load_record(file)
        except InputDataError:
            continue
        keys = read_key_results(summary)
        yield StudyEntry(
            file.parents[1],
            str(summary["study"]),
            str(summary["heading"]),
            keys[0].text() if keys else "",
            read_verdict(summary).words,
            datetime.fromtimestamp(file.stat().st_mtime, UTC),
        )


def write_index(results: Path) -> tuple[Path, list[str]]:
    """Write `index.html` of a folder of results; returns it and a line for each finished study.

    InputDataError if there is none.
    """
    studies = list(finished_studies(results))
    if not studies:
        expected, remedy = "a finished study", "Run one, or change to the folder of its settings."
        raise InputDataError(results, "no finished study", expected, remedy)
    save_text(render("finished.html.j2", studies=studies, results=results), results / "index.html")
    lines = [f"{one.study}: {one.headline} ({one.verdict}, {one.date:%Y-%m-%d})" for one in studies]
    return results / "index.html", lines


def outcome(folder: Path) -> tuple[list[str], Verdict]:
    """Lines on a study from its summary: key results, verdict, findings, path of its page.

    `folder` is `results/<study>`. Findings about settings are counted but not listed: they are
    shown before a study runs. Raises InputDataError if the study has no summary.
    """
    file = folder / "report" / "summary.json"
    if not file.is_file():
        expected = "the summary of a finished study"
        raise InputDataError(file, "no such file", expected, "Run the study.")
    summary = load_record(file)
    results = [result.text() for result in read_key_results(summary)]
    findings = [
        f"{one.level}{f' ({one.job})' if one.job else ''}: {one.text()}"
        for one in read_findings(summary)
        if one.job != "settings"
    ]
    beyond = len(findings) - FINDINGS
    more = [f"{beyond} more: see the page."] if beyond > 0 else []
    wrapper = TextWrapper(100, subsequent_indent="  ", break_long_words=False)
    verdict = read_verdict(summary)
    lines = [*results[:RESULTS], verdict.text(), *findings[:FINDINGS], *more]
    wrapped = [part for line in lines for part in wrapper.wrap(line)]
    return [*wrapped, f"Report: {folder / 'report' / 'index.html'}"], verdict


def unchecked_results(folder: Path) -> list[str]:
    """Line on results that have no digest, so that nobody can tell if they were edited."""
    files = [path.relative_to(folder).as_posix() for path in unchecked_files(folder)]
    if not files:
        return []
    shown = ", ".join(files[:_SHOWN] + ["..."] * (len(files) > _SHOWN))
    expected = "expected one of each, in a folder .digests beside it"
    remedy = "Copy these folders too, or run the study again."
    return [
        f"{folder}: found {len(files)} results without a digest ({shown}); {expected}. {remedy}"
    ]


# File to read first, where it is there.
_FIRST_FILES = ("report/index.html", "report/summary.json")


def export_study(
    folder: Path,
    output: Path,
    license_name: str = "",
    authors: Sequence[str] = (),
    publisher: str = "",
) -> Path:
    """Pack a finished study, without `linked_files`, into a zip file with RO-Crate metadata.

    Parameters
    ----------
    folder : Path
        `results/<study>`.
    output : Path
        File to write. Paths inside are those of the study, so that links of its page work; settings
        and versions of packages are added as files that `kneewear run` and pip read.
    license_name, authors, publisher : str or sequence of str
        Licence, persons and organisation, as in :class:`kneewear.io.crate.RunDescription`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputDataError
        When the folder has no report or no record of its run, when the output does not end in .zip
        or is in the folder, where it would replace or join results, or when the licence is neither
        an identifier of SPDX nor an address.
    DamagedFileError
        When a result is not as it was written.
    """
    license_properties(license_name)  # before files of gigabytes are read
    refuse_damaged(folder)
    file = folder / "report" / "summary.json"
    if not file.is_file():
        expected = "the summary of a finished study"
        raise InputDataError(file, "no such file", expected, "Run the study.")
    if output.suffix.lower() != ".zip":
        remedy = f"Name it {output.with_suffix('.zip').name}."
        raise InputDataError(
            output, f"an ending '{output.suffix}'", "a file ending in .zip", remedy
        )
    if output.resolve().is_relative_to(folder.resolve()):
        remedy = "Name a file in another folder."
        raise InputDataError(output, f"a file in {folder}", "one outside the study", remedy)
    summary = load_record(file)
    origin = folder / "provenance.json"
    if summary["page"] != _COMPARISON and not origin.is_file():
        expected = "the record of the run, without which nobody can tell what was computed"
        raise InputDataError(origin, "no such file", expected, "Run the study again.")
    linked = linked_files(folder)
    files = [path for path in _parts_of(folder) if path.is_file() and path not in linked]
    # Comparisons have no provenance; what a link shows may be of another study.
    provenance = load_record(origin) if origin in files else {}
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    given = _given_files(provenance)
    run = RunDescription(
        name=f"{summary['heading']}: {summary['study']}",
        description=str(summary["subject"] or summary["heading"]),
        program="kneewear",
        version=str(summary["version"]),
        end=datetime.fromtimestamp(file.stat().st_mtime, UTC),
        page=next(name for name in _FIRST_FILES if name in contents),
        settings=[name for name in given if name == _SETTINGS],
        packages=[name for name in given if name != _SETTINGS],
        inputs=provenance.get("inputs", {}),
        license=license_name,
        authors=authors,
        publisher=publisher,
    )
    save_crate(contents | given, run, output)
    return output


def export_journal(folder: Path, output: Path) -> list[Path]:
    """Draw the figures of a finished study at the widths of journals, and write its manuscript.

    Parameters
    ----------
    folder : Path
        `results/<study>`, complete: figures are drawn again from contact and wear.
    output : Path
        Folder that is written: `figures/`, their style file, the manuscript as LaTeX and Word, and
        the references as BibTeX.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputDataError
        When the folder is no finished study, lacks results that a figure shows, has another name
        than the study, or contains the output.
    DamagedFileError
        When a result is not as it was written.
    """
    from kneewear.report.journal import build_manuscript  # noqa: PLC0415 - seconds, as all below
    from kneewear.report.journal_files import (  # noqa: PLC0415
        write_manuscript,
        write_sized_figures,
    )

    folder, output = folder.resolve(), output.resolve()
    summary, record = folder / "report" / "summary.json", folder / "provenance.json"
    for file in (summary, record):
        if not file.is_file():
            expected = "the record of a finished study"
            raise InputDataError(file, "no such file", expected, "Run the study.")
    if output.is_relative_to(folder):
        remedy = "Name a folder outside of it."
        raise InputDataError(output, f"a folder in {folder}", "one outside the study", remedy)
    refuse_damaged(folder)
    provenance = load_record(record)
    settings = present_settings(provenance["settings"], str(record))
    if folder.name != settings["study"] or folder.parent.name != "results":
        expected = f"results/{settings['study']}, where the study was computed"
        raise InputDataError(folder, "a folder of another name", expected, "Rename the folder.")
    with _jobs_of(record) as jobs:
        written = write_sized_figures(list(jobs.drawn.values()), jobs.root, output / "figures")
    names = sorted({file.stem for file in folder.glob("figures/**/*.svg")})
    manuscript = build_manuscript(load_record(summary), settings, provenance["versions"], names)
    return [*written, *write_manuscript(manuscript, output)]


def linked_files(folder: Path) -> list[Path]:
    """Links out of the folder of a study, which no export follows: whoever packs them sees a name.

    What they show need not be of the study.
    """
    own = folder.resolve()
    return [path for path in _parts_of(folder) if not path.resolve().is_relative_to(own)]


def _parts_of(folder: Path) -> list[Path]:
    """Files and links of a study that are handed on."""
    paths: list[Path] = []
    for part in (folder / name for name in _PARTS):
        paths += part.rglob("*") if part.is_dir() and not part.is_symlink() else [part]
    # Snakemake's and our own notes on files are of no use in an archive, which has digests.
    return sorted(
        path
        for path in paths
        if (path.is_file() or path.is_symlink())
        and not any(name.startswith(".") for name in path.relative_to(folder).parts)
    )


def _given_files(provenance: Mapping[str, Any]) -> dict[str, bytes]:
    """Return settings and versions of packages of a run as files that can be used again."""
    if not provenance:
        return {}
    versions = dict(provenance["versions"])
    head = f"# Python {versions.pop('python')}"
    lines = [f"{name}=={number}" for name, number in versions.items() if number != NOT_INSTALLED]
    packages = "\n".join([head, *lines, ""])
    settings = settings_text(provenance["settings"])
    return {_SETTINGS: settings.encode(), _PACKAGES: packages.encode()}


def redraw_group(folder: Path, group: str) -> dict[str, Figure]:
    """Draw a group of the figures of a finished study again.

    Parameters
    ----------
    folder : Path
        `results/<study>`, with its record.
    group : str
        Folder of the figures below `figures/`.

    Returns
    -------
    dict of str to Figure
        Figures by name; empty if the study no longer has the results that they show.
    """
    from kneewear.study.job_files import JobFiles  # noqa: PLC0415 - seconds

    record = folder.resolve() / "provenance.json"
    if not record.is_file():
        return {}
    with _jobs_of(record) as jobs:
        step = jobs.drawn.get(group)
        shown = [path for paths in (step.inputs.values() if step else ()) for path in paths]
        if step is None or not all(Path(path).exists() for path in shown):
            return {}
        drawing = Lazy(step.name)(step.settings, JobFiles(step.inputs, root=jobs.root))
        return dict(drawing.figures)


@contextmanager
def _jobs_of(record: Path) -> Iterator[Chain]:
    """Jobs of a finished study by its record, in the folder that their paths are relative to."""
    from kneewear.runs.chains import chain_of  # noqa: PLC0415 - seconds, as below
    from kneewear.study.settings import validate_study  # noqa: PLC0415

    study = validate_study(load_record(record)["settings"], str(record))
    with chdir(record.parents[2]):
        yield chain_of(study, relpath(checkout_folder()))
