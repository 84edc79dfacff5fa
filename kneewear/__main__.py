"""Command line: `kneewear COMMAND`, or `python -m kneewear COMMAND`.

Studies are run in the folder of their settings file, where their `results/` are written; settings
of the checkout in the working directory. `kneewear COMMAND --help` lists the options of a command.
"""

from __future__ import annotations

import argparse
import codecs
import sys
import time
import unicodedata
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path

from kneewear import checkout_folder, default_settings_file
from kneewear.base.files import read_settings_file
from kneewear.base.findings import Reported, gather, gathered_warnings
from kneewear.base.kernel_cache import can_cache
from kneewear.base.sides import SIDES
from kneewear.errors import Finding, InputDataError, KneewearError
from kneewear.io.result_files import (
    check_writable,
    damaged_files,
    refuse_damaged,
    set_aside,
)
from kneewear.runs.launch import (
    LOCKS,
    STOPPED,
    check_locks,
    check_machine,
    complete_environment,
    enter_study_folder,
    moved_settings,
    run_workflow,
    settings_files,
    unlock,
)
from kneewear.study.models import COMMANDS, SET_UPS, Lazy
from kneewear.study.shipped import find_study, list_studies, reachable

# Modules that draw or tabulate are imported where used: they take seconds.

# Handler of characters that a terminal lacks: the nearest ones that it has.
PLAIN = "kneewear.plain"


def plain(error: UnicodeError) -> tuple[str, int]:
    """Characters of ASCII for those that cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    signs = "".join(_ASCII.get(one, one) for one in unicodedata.normalize("NFKD", text))
    return signs.encode("ascii", "ignore").decode() or "?", error.end


_ASCII = {
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u201c": '"',
    "\u201d": '"',
    "\u2018": "'",
    "\u2019": "'",
    "\u03bc": "u",
    "\u00b0": " deg",
    "\u00b1": "+-",
    "\u00d7": "x",
    "\u00b7": ".",
    "\u2192": "->",
    "\u2190": "<-",
    "\u03c3": "sigma",
    "\u2044": "/",
}
codecs.register_error(PLAIN, plain)


def _cores(text: str) -> str:
    """Number of cores, or "all", as Snakemake takes it."""
    if text != "all" and not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected 1 or more, or 'all'")
    return text


def check_(chosen: argparse.Namespace) -> int:
    """Check settings and data files, and draw the inputs; 1 when a motion fails on the bearing."""
    from kneewear.study.files import check_inputs, peak_loads  # noqa: PLC0415
    from kneewear.study.job_sizes import describe_cost  # noqa: PLC0415
    from kneewear.study.settings import read_study  # noqa: PLC0415

    moved = moved_settings(chosen.file)
    files = enter_study_folder(settings_files(chosen.file))
    earlier_names: list[Finding] = []
    study = read_study(*files, defaults=default_settings_file(), report=earlier_names.append)
    can_cache()  # warns where the study would take much longer
    root = checkout_folder() if Path.cwd() != checkout_folder() else Path()
    draws = not chosen.files_only
    drawn: list[str] = []
    failed = False
    reported: list[Reported] = []
    if draws:
        from kneewear.runs.preflight import remove_page  # noqa: PLC0415

        remove_page(study)
    try:
        findings = (*moved, *earlier_names, *check_inputs(study, root))
        reported += map(Reported, findings)
        lines = *peak_loads(study, root), *filter(None, [describe_cost(study, root)])
        if draws:
            from kneewear.runs.preflight import write_preflights  # noqa: PLC0415

            findings += tuple(Finding("", "note", "", one, "", "") for one in lines)
            findings += getattr(chosen, "guesses", ())
            with _warnings_beside(findings) as logged:
                preflights = write_preflights(study, root, findings)
            reported += logged
            for done in preflights:
                reported += map(Reported, done.warnings)
                drawn += ["What was understood:", *(f"  {line}" for line in done.understood)]
                drawn += [sentence for place in done.placements for sentence in place.sentences]
                drawn.append(f"Look at {done.page}")
                failed = failed or done.verdict.exit_code > 0
    except InputDataError as error:
        if draws:
            from kneewear.runs.preflight import note_windows  # noqa: PLC0415

            note_windows(error, study, root)
        raise
    gathered = gather(reported)
    notes = [entry.text() for entry in gathered]
    count = sum(entry.finding.severity != "note" for entry in gathered)
    verdict = f"{count} warning{'s' if count > 1 else ''}" if count else "no fault found"
    verdict = f"Study '{study.study}': {verdict} in settings and files."
    _show([*notes, *lines, verdict, *drawn])
    return int(failed)


@contextmanager
def _warnings_beside(known: Sequence[Finding]) -> Iterator[list[Reported]]:
    """Gather what a block warns of beside known findings; shown where it refuses an input."""
    texts = {finding.text() for finding in known}
    found: list[Reported] = []
    with gathered_warnings() as logged:
        try:
            yield found
            found += (entry for entry in logged if entry.finding.text() not in texts)
        except InputDataError:
            unknown = [entry for entry in gather(logged) if entry.finding.text() not in texts]
            _show([entry.text() for entry in unknown])
            raise


def new(chosen: argparse.Namespace) -> int:
    """Recognise an implant's files, write the settings of a study, and check them."""
    from kneewear.setup.implant import create_study, hold_medial_lateral  # noqa: PLC0415

    created = create_study(
        chosen.name,
        chosen.insert,
        chosen.femoral,
        motion=chosen.motion,
        load=chosen.load,
        knee=chosen.knee,
        side=chosen.side,
        thickness=chosen.thickness,
        grade=chosen.grade,
        gait_share=chosen.gait_share,
        set_up=chosen.set_up,
        columns=chosen.column,
        body_mass=chosen.body_mass,
    )
    if chosen.no_check:
        assumed = (assumption.finding() for assumption in created.assumed)
        _show([finding.text() for finding in (*created.findings, *assumed)])
    _show([f"Settings: {created.settings}"])
    if chosen.no_check:
        return 0
    chosen.file, chosen.files_only = [str(created.settings)], False
    chosen.guesses = created.findings
    failed = check_(chosen)
    page = Path("results", chosen.name, "inputs", "index.html")
    decides = not (created.settles or created.holds)
    if failed and decides and _lacks_equilibrium(page.with_name("placement.csv")):
        hold_medial_lateral(created.settings)
        failed = check_(chosen)
    if not chosen.no_browser and page.is_file():
        webbrowser.open(page.resolve().as_uri())
    return failed


def run_command(chosen: argparse.Namespace) -> int:
    """Run a command of a slice or a wing, and check the settings that it wrote."""
    chosen.redraw = Lazy("runs.finished:redraw_group")
    lines, files = chosen.added_command.run(chosen)
    if lines:
        _show(lines)
    if not files:
        return 0
    chosen.file, chosen.files_only = files, True
    return check_(chosen)


def _lacks_equilibrium(file: Path) -> bool:
    """True if a table of placements has a motion without equilibrium."""
    from kneewear.io.documents import load_table  # noqa: PLC0415

    return bool(file.is_file() and load_table(file)["value"].isna().any())


# Options of Snakemake with which it computes nothing.
_ONLY_LOOKS = {"-n", "--dry-run", "--dryrun", "--unlock"}


def run_(chosen: argparse.Namespace) -> int:
    """Run a study, and show its key results."""
    moved = moved_settings(chosen.file)
    files = enter_study_folder(settings_files(chosen.file))
    check_machine()
    results = Path("results", _study_name(files))
    check_writable(LOCKS.parent)
    check_writable(results)
    can_cache()  # warns where the study takes much longer
    start = time.monotonic()
    # Last what takes one word: rules and files may follow, which loggers would take for theirs.
    scheduling = ["--logger", chosen.logger, "--cores", chosen.cores]
    _show([one.text() for one in moved])
    if not _ONLY_LOOKS & set(chosen.options):
        check_locks(Path())  # files of a run that is going on are no damaged ones
        _show([set_aside(error).text() for error in damaged_files(results)])
    code = run_workflow(files, [*scheduling, *chosen.options])
    if code == STOPPED:
        _show(["Stopped. The same command continues where this run ended."])
        return code
    if code:
        check_locks(Path())
        return code
    if not _ONLY_LOOKS & set(chosen.options):
        code = _show_terminal_summary(results)
    _show([f"The study took {time.monotonic() - start:.0f} s."])
    return code


def _study_name(files: Sequence[str]) -> str:
    """Name of the study of settings, which need not be valid; to read all takes a second."""
    every = [str(default_settings_file()), *files]
    contents = [read_settings_file(file).content for file in every]
    return str(next(content["study"] for content in reversed(contents) if "study" in content))


def compare_(chosen: argparse.Namespace) -> int:
    """Compare finished studies side by side."""
    from kneewear.report.comparison_page import write_comparison  # noqa: PLC0415
    from kneewear.runs.results import load_studies, study_folders  # noqa: PLC0415

    # `make compare` has the names in one word; folders may have blanks.
    words = [[word] if Path(word).is_dir() else word.split() for word in chosen.study]
    studies = load_studies(study_folders(list(chain.from_iterable(words))))
    folder = Path("results", "comparisons", "_and_".join(study.name for study in studies))
    write_comparison(studies, folder)
    return _show_terminal_summary(folder)


def unlock_(chosen: argparse.Namespace) -> int:
    """Remove the locks that killed runs left behind."""
    enter_study_folder(settings_files(chosen.file))
    count = unlock(Path())
    _show(["Locks of killed runs were removed." if count else "Nothing is locked."])
    return 0


def _show_terminal_summary(folder: Path) -> int:
    """Print what a study came to; the exit code is that of its verdict."""
    from kneewear.runs.finished import outcome  # noqa: PLC0415

    lines, verdict = outcome(folder)
    _show(lines)
    return verdict.exit_code


def open_(chosen: argparse.Namespace) -> int:
    """Show a finished study, or a page that lists all in results/."""
    from kneewear.runs.finished import unchecked_results, write_index  # noqa: PLC0415

    code = 0
    if chosen.study:
        folder = Path(chosen.study)
        folder = folder if folder.is_dir() else Path("results", chosen.study)
        refuse_damaged(folder)
        _show(unchecked_results(folder))
        code, page = _show_terminal_summary(folder), folder / "report" / "index.html"
    else:
        page, lines = write_index(Path("results"))
        _show([*lines, f"Index: {page}"])
    if not chosen.no_browser:
        webbrowser.open(page.resolve().as_uri())
    return code


def export(chosen: argparse.Namespace) -> int:
    """Pack a finished study into one file, or write its figures for journals or its solids."""
    if chosen.figures or chosen.solid:
        return _export_folder(chosen)
    from kneewear.runs.finished import (  # noqa: PLC0415
        export_study,
        linked_files,
        unchecked_results,
    )

    folder = Path(chosen.study)
    folder = folder if folder.is_dir() else Path("results", chosen.study)
    output = Path(chosen.output or f"{folder.name}.zip")
    packed = export_study(folder, output, chosen.license, chosen.author, chosen.publisher)
    linked = [f"{link}: left out, a link to {link.resolve()}" for link in linked_files(folder)]
    _show(unchecked_results(folder))
    _show(
        [*linked, f"{packed} ({packed.stat().st_size / 1e6:.1f} MB): open report/index.html in it"]
    )
    return 0


def _export_folder(chosen: argparse.Namespace) -> int:
    """Write a folder of files that a finished study is handed on in."""
    from kneewear.runs.finished import unchecked_results  # noqa: PLC0415

    folder = Path(chosen.study)
    folder = folder if folder.is_dir() else Path("results", chosen.study)
    if chosen.solid:
        from kneewear.report.placed_solids import write_solids  # noqa: PLC0415

        output = Path(chosen.output or f"{folder.name}_solids")
        files = write_solids(folder, output, chosen.case, chosen.activity, chosen.frame)
    else:
        from kneewear.runs.finished import export_journal  # noqa: PLC0415

        output = Path(chosen.output or f"{folder.name}_journal")
        files = export_journal(folder, output)
    _show(unchecked_results(folder))
    _show([f"{output}: {len(files)} files"])
    return 0


def report_fault(chosen: argparse.Namespace) -> int:
    """Write a report of a fault into one small file, without shapes, names and paths."""
    from kneewear.setup.fault_report import SETTINGS_SUFFIXES, write_fault_report  # noqa: PLC0415

    named = [str(find_study(file) or file) for file in chosen.file]
    settings = [file for file in named if Path(file).suffix.lower() in SETTINGS_SUFFIXES]
    others = [str(Path(file).resolve()) for file in named if file not in settings]
    output = Path(chosen.output).resolve()
    message = sys.stdin.read() if chosen.message == "-" else chosen.message
    written = write_fault_report([*enter_study_folder(settings), *others], output, message)
    _show([f"{chosen.output} ({written.stat().st_size / 1e3:.0f} kB): read it before you send it"])
    return 0


def fetch(chosen: argparse.Namespace) -> int:
    """Download the public files of the studies of subject DM that have a licence."""
    from kneewear.runs.download import fetch_data  # noqa: PLC0415

    folder = Path(chosen.folder or default_study_data())
    _show(fetch_data(folder, chosen.mirror or ()))
    return 0


def default_study_data() -> Path:
    """Folder of data files of the default study."""
    study = read_settings_file(default_settings_file()).content
    return checkout_folder() / str(study["data_folder"])


def examples(chosen: argparse.Namespace) -> int:
    """List the studies that come with kneewear, with what each computes and needs."""
    _show(list_studies())
    return 0


def schema(chosen: argparse.Namespace) -> int:
    """Print the JSON schema of settings, which editors check files against."""
    _show([(checkout_folder() / "config" / "schema.json").read_text(encoding="utf-8").rstrip()])
    return 0


def _show(lines: Sequence[str]) -> None:
    if lines:
        print(reachable("\n".join(lines)))  # noqa: T201


def _add_fault_options(fault: argparse.ArgumentParser) -> None:
    """Add the options of the report of a fault."""
    text = "settings (YAML) of the study, or files of shapes and curves that no settings name yet"
    fault.add_argument("file", nargs="*", help=text)
    text = "what the terminal showed; - reads it from standard input"
    fault.add_argument("--message", default="", help=text)
    fault.add_argument("--output", default="fault_report.json", help="file to write")


def _add_export_options(packed: argparse.ArgumentParser) -> None:
    """Add the options of what a finished study is handed on in."""
    packed.add_argument("study", help="a finished study in results/, or its folder")
    text = "file to write (STUDY.zip), or folder (STUDY_journal, STUDY_solids)"
    packed.add_argument("--output", help=text)
    kinds = packed.add_mutually_exclusive_group()
    text = "figures at the widths of journals, tables, methods and references instead"
    kinds.add_argument("--figures", choices=("journal",), help=text)
    text = "closed solids of insert and femoral component, fresh and worn, instead"
    kinds.add_argument("--solid", action="store_true", help=text)
    packed.add_argument("--case", help="case of the solids (the one that the page shows)")
    packed.add_argument("--activity", help="activity that places them (the first)")
    text = "frame that places them, from 0 (the one of the largest load)"
    packed.add_argument("--frame", type=int, help=text)
    text = "licence of the archive, by SPDX (CC-BY-4.0, ...) or address; else all rights reserved"
    packed.add_argument("--license", default="", help=text)
    text = "a person who ran the study; may be repeated"
    packed.add_argument("--author", default=[], action="append", help=text)
    packed.add_argument("--publisher", default="", help="organisation that hands on the archive")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kneewear", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(action: object, files: bool = False) -> argparse.ArgumentParser:
        name, text = getattr(action, "__name__", ""), getattr(action, "__doc__", "")
        name = name.rstrip("_").replace("_", "-")
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(action=action)
        if files:
            text = "settings (YAML) over the default study, or names of `kneewear examples`"
            command.add_argument("file", nargs="*", help=text)
        return command

    fresh = add(new)
    fresh.add_argument("name", help="name of the study, and of the files that are written")
    fresh.add_argument("--insert", nargs="+", required=True, help="file or files of the insert")
    text = "file or files of the femoral component"
    fresh.add_argument("--femoral", nargs="+", required=True, help=text)
    fresh.add_argument(
        "--motion", help="curves of one cycle (.csv, .xlsx, .sto, .mot); else built-in gait"
    )
    text = "file of the load, which may be the one of the motion, or 'built-in'"
    fresh.add_argument("--load", help=text)
    text = "what a column is, in words that a title may have; repeat it for others"
    fresh.add_argument("--column", action="append", default=[], metavar="TITLE=MEANING", help=text)
    text = "body mass that forces in N belong to, kg"
    fresh.add_argument("--body-mass", type=float, metavar="KG", help=text)
    fresh.add_argument("--knee", choices=("right", "left"), help="side, if shapes do not show it")
    fresh.add_argument("--side", choices=SIDES, help="side of a single plateau; else both")
    fresh.add_argument("--thickness", type=float, help="least thickness of a sheet's insert, mm")
    fresh.add_argument("--grade", help="grade of polyethylene (conventional, ...)")
    text = "share of the built-in gait's travel, for this design alone; else one for the folder"
    fresh.add_argument("--gait-share", type=float, help=text)
    for name, one in SET_UPS.items():
        fresh.add_argument(
            f"--{name}", dest="set_up", action="store_const", const=name, help=one.text
        )
    fresh.add_argument("--no-check", action="store_true", help="do not check and draw the inputs")
    fresh.add_argument("--no-browser", action="store_true", help="do not open the inputs page")
    quick = "do not fit surfaces or draw: check settings and data files only"
    add(check_, files=True).add_argument("--files-only", action="store_true", help=quick)
    run = add(run_, files=True)
    run.add_argument("--cores", default="2", type=_cores, help="number of cores, or 'all' (2)")
    run.add_argument("--logger", default="kneewear", help=argparse.SUPPRESS)
    run.epilog = "Options after '--' are passed to Snakemake."
    text = "finished studies, by their names in results/ or by their folders"
    add(compare_).add_argument("study", nargs="+", help=text)
    shown = add(open_)
    shown.add_argument("study", nargs="?", help="a finished study in results/, or its folder")
    shown.add_argument("--no-browser", action="store_true", help="do not open the page")
    _add_export_options(add(export))
    _add_fault_options(add(report_fault))
    add(unlock_, files=True)
    fetched = add(fetch)
    fetched.add_argument("--folder", help="folder of data files (data_folder of the default study)")
    fetched.add_argument("--mirror", action="append", help="base address of a mirror, tried first")
    add(examples)
    add(schema)
    for command in COMMANDS:
        added = commands.add_parser(command.name, help=command.text, description=command.text)
        added.set_defaults(action=run_command, added_command=command)
        command.add_options(added)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command of the command line, or of a list of its words."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    further: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, further = words[:at], words[at + 1 :]
    chosen = _parser().parse_args(words)
    chosen.options = further
    for stream in (sys.stdout, sys.stderr):
        # Units have characters that an ASCII terminal lacks.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=PLAIN)
    complete_environment()
    try:
        code = chosen.action(chosen)
    except KeyboardInterrupt:
        _show(["Stopped."])
        raise SystemExit(STOPPED) from None
    except KneewearError as error:
        text = "\n".join([str(error), *getattr(error, "__notes__", [])])
        raise SystemExit(reachable(text)) from None
    except OSError as error:
        place = error.filename or "file"
        raise SystemExit(
            f"{place}: {error.strerror or error}. Check it, and run it again."
        ) from None
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    main()
