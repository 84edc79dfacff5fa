"""Check settings and the data files they name, as the workflow does before its first job.

`python -m kneewear config/mine.yaml` reads the default study and the files named, and reports the
first fault. With `--draw` it also tries every motion on the bearing and states a verdict (pass,
warning, or fail, which ends with exit code 1); implant, axes, first contact, thickness and motion
are on the page `results/<study>/inputs/index.html`. With `--names` it only reads the files and
prints their names, one per line, after a check of the machine: `make study` does so before
Snakemake reads them. With `--results` it shows what the finished study came to.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kneewear import default_settings_file
from kneewear.environment import check_machine, settings_files
from kneewear.errors import InputDataError
from kneewear.io.study_inputs import check_inputs, peak_loads
from kneewear.settings.study import read_study


def main(arguments: list[str] | None = None) -> None:
    """Check the files named on the command line, or in a list."""
    parser = argparse.ArgumentParser(prog="python -m kneewear", description=__doc__)
    parser.add_argument("file", nargs="*", help="settings (YAML) over the default ones")
    parser.add_argument("--draw", action="store_true", help="write a page that shows them")
    parser.add_argument("--names", action="store_true", help="read the files and print their names")
    parser.add_argument("--results", action="store_true", help="show key results of the study")
    chosen = parser.parse_args(arguments)
    try:
        files = settings_files(chosen.file)
        if chosen.names:
            check_machine()
            print("\n".join(files))  # noqa: T201
            return
        study = read_study(*files, defaults=default_settings_file())
        # Imported where used: drawing and tables take seconds that a check does not need.
        if chosen.results:
            from kneewear.outcome import outcome  # noqa: PLC0415

            print("\n".join(outcome(Path("results", study.study))))  # noqa: T201
            return
        drawn: list[str] = []
        failed = False
        try:
            notes = check_inputs(study, Path())
            loads = peak_loads(study, Path())
            if chosen.draw:
                from kneewear.preflight import write_preflights  # noqa: PLC0415

                for done in write_preflights(study, Path(), (*notes, *loads)):
                    notes = (*notes, *done.warnings)
                    drawn += [sentence for place in done.placements for sentence in place.sentences]
                    drawn.append(f"Look at {done.page}")
                    failed = failed or done.verdict == "fail"
        except InputDataError as error:
            if chosen.draw:
                from kneewear.preflight import note_windows  # noqa: PLC0415

                note_windows(error, study, Path())
            raise
    except InputDataError as error:
        raise SystemExit("\n".join([str(error), *getattr(error, "__notes__", [])])) from None
    verdict = f"{len(notes)} warning{'s' if len(notes) > 1 else ''}" if notes else "no fault found"
    verdict = f"Study '{study.study}': {verdict} in settings and files."
    print("\n".join([*notes, *loads, verdict, *drawn]))  # noqa: T201
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
