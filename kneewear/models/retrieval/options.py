"""Options of the command `kneewear retrieval`, without what takes seconds to import."""

from __future__ import annotations

import argparse


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command to its parser."""
    command.add_argument("name", help="name of the insert, and of its folder in results/retrieval/")
    text = "scan or scans of the insert (STL, PLY, OBJ, VTP, points); several are averaged"
    command.add_argument("--scan", nargs="+", default=[], help=text)
    text = "unworn surface: a scan or CAD; without it the scan's own unworn part"
    command.add_argument("--reference", help=text)
    text = "CSV with name, scan, and optionally reference and years of many inserts"
    command.add_argument("--pairs", metavar="CSV", help=text)
    command.add_argument("--study", help="finished study of wear to compare with, or its folder")
    command.add_argument("--case", help="case of the study (the first one)")
    command.add_argument("--life", help="life of the study (the last one)")
    text = "fit lives of the study, to state how much may be wear and how much creep (minutes)"
    command.add_argument("--split", action="store_true", help=text)
    command.add_argument("--knee", choices=("right", "left"), default="right", help="side (right)")
    command.add_argument("--unit", choices=("mm", "cm", "m", "inch"), help="unit of the files")
    text = "directions of the files' axes, as x=posterior,y=superior,z=medial"
    command.add_argument("--axes", type=_axes, help=text)
    command.add_argument("--years", type=float, help="years between implantation and removal")
    command.add_argument("--settings", help="settings and drawn areas (YAML)")


def _axes(text: str) -> dict[str, str]:
    """Directions of axes of an option."""
    pairs = dict(part.partition("=")[::2] for part in text.split(","))
    if sorted(pairs) != ["x", "y", "z"]:
        raise argparse.ArgumentTypeError(f"found '{text}'; expected x=...,y=...,z=...")
    return pairs


def run(chosen: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Evaluate the scans of an insert, or of many; return lines for the terminal."""
    from kneewear.models.retrieval.command import evaluate_inserts  # noqa: PLC0415 - see above

    return evaluate_inserts(chosen)
