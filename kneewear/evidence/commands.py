"""Commands of the evidence; what draws or tabulates is imported where used: it takes seconds."""

from __future__ import annotations

import argparse
from pathlib import Path

# Lines for the terminal, and files of settings that a command wrote.
Outcome = tuple[list[str], list[str]]


def add_paper_options(command: argparse.ArgumentParser) -> None:
    """Add the option of `kneewear paper`."""
    text = "print the studies of config/ that are needed and not finished, and draw nothing"
    command.add_argument("--missing", action="store_true", help=text)


def draw_paper(chosen: argparse.Namespace) -> Outcome:
    """Draw and list figures and tables of the source documents from finished studies."""
    from kneewear.evidence.paper.command import missing_studies, write_paper  # noqa: PLC0415

    if chosen.missing:
        return list(missing_studies(Path("results"))), []
    page, lines = write_paper(Path("results"), chosen.redraw)
    return [*lines, f"Look at {page}"], []


def add_material_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `kneewear fit-material`."""
    command.add_argument("file", help="CSV with stress_mpa and modulus_mpa or strain, compression")
    command.add_argument("--exponent", type=_above_zero, help="exponent n (fitted); 1 is linear")
    command.add_argument("--output", default="results/material_fit", help="folder of the figure")


def fit_material(chosen: argparse.Namespace) -> Outcome:
    """Fit the three-parameter material to a table of measured compression."""
    from kneewear.evidence.measurements.commands import write_material_fit  # noqa: PLC0415

    return list(write_material_fit(Path(chosen.file), Path(chosen.output), chosen.exponent)), []


def add_pressure_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `kneewear compare-pressure`."""
    command.add_argument("study", help="a finished study of contact under an axial load")
    command.add_argument("file", help="CSV with conditions, and pressures or a column map")
    text = "pressure below which a cell of a map is unloaded, MPa (0.2)"
    command.add_argument("--cut-off", type=_above_zero, default=0.2, help=text)
    text = "area of a cell of a map, mm2 (1.61)"
    command.add_argument("--cell-area", type=_above_zero, default=1.61, help=text)


def compare_pressure(chosen: argparse.Namespace) -> Outcome:
    """Compare measured pressures, as numbers or maps of a sensor, with a finished press study."""
    from kneewear.evidence.measurements.commands import write_pressure_comparison  # noqa: PLC0415

    written = write_pressure_comparison(
        _folder(chosen.study), Path(chosen.file), chosen.cut_off, chosen.cell_area
    )
    return list(written), []


def add_credibility_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `kneewear credibility`."""
    command.add_argument("study", help="a finished study in results/, or its folder")
    meaning = "file (YAML) with question, context of use, risk, goals and own evidence"
    command.add_argument("--judgements", metavar="FILE", help=meaning)


def report_credibility(chosen: argparse.Namespace) -> Outcome:
    """Report on the credibility of a finished study: evidence, goals and gaps by factor (PDF)."""
    from kneewear.evidence.credibility.command import (  # noqa: PLC0415
        read_judgements,
        write_credibility,
    )

    judgements = read_judgements(chosen.judgements) if chosen.judgements else None
    written = write_credibility(_folder(chosen.study), judgements)
    return [f"Credibility: {written.verdict.text()}", *map(str, written[:3])], []


def _folder(study: str) -> Path:
    """Folder of a finished study, which is named by it or by its name in results/."""
    return Path(study) if Path(study).is_dir() else Path("results", study)


def _above_zero(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not above zero")
    return value
