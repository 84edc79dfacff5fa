"""The command `kneewear import`: a study of a composed knee from a model of OpenSim."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command to its parser."""
    command.add_argument("model", help="model of OpenSim 4 (.osim)")
    command.add_argument(
        "--name", help="name of the study (otherwise the name of the model's file)"
    )
    command.add_argument("--ground", help="body at rest (the femur)")
    command.add_argument("--moving", nargs="+", help="bodies that move (tibia and patella)")
    text = "constant tension of muscles over their maximum isometric force (0)"
    command.add_argument("--activation", type=float, default=0.0, help=text)
    command.add_argument("--no-check", action="store_true", help="do not check what was written")


def import_study(chosen: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Write the settings of a study; return lines for the terminal, and the files to be checked."""
    from kneewear.knees.opensim import import_model  # noqa: PLC0415 - takes seconds

    name = chosen.name or Path(chosen.model).stem
    imported = import_model(
        chosen.model,
        name,
        ground=chosen.ground,
        moving=chosen.moving or (),
        activation=chosen.activation,
    )
    lines = [*(finding.text() for finding in imported.findings), f"Settings: {imported.settings}"]
    return lines, [] if chosen.no_check else [str(imported.settings)]
