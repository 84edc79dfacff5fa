"""Curves of the planar knee as in the figures of its source, whose numbers begin their panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.knees.papers.planar_knee.run import Run
from kneewear.knees.papers.planar_knee.settings import PlanarSettings
from kneewear.knees.result import curves

Array = NDArray[np.float64]
Runs = Mapping[str, Run]

FLEXION = "flexion (deg)"
UNITS = {"depth": "mm", "rate": "mm/s", "force": "N"}
NAMES = {"depth": "indentation", "rate": "its rate", "force": "force"}
# Name of the first geometry, whose shapes are the profiles.
PROFILES = "profiles"


class Families(NamedTuple):
    """Runs that differ in one choice, by that choice; laws of each knee; pulses of each law."""

    splines: Runs
    shapes: Runs
    laws: Mapping[str, Runs]
    knees: Runs
    pulses: Mapping[str, Runs]


def families(runs: Sequence[Run], settings: PlanarSettings) -> Families:
    """Sort the runs; the first one has the usual choices."""
    usual = runs[0]

    def varied(name: str, **fixed: Any) -> dict[str, Run]:
        beside = usual._replace(**fixed)
        return {
            str(getattr(run, name)): run
            for run in runs
            if run.choice == beside._replace(**{name: getattr(run, name)}).choice
        }

    plain = [name for name, knee in settings.knees.items() if knee.layer is None]
    return Families(
        splines=varied("spline"),
        shapes=varied("shape"),
        laws={knee: varied("law", knee=knee) for knee in plain},
        knees=varied("knee"),
        pulses={
            law: {f"{float(name):g} N": run for name, run in varied("amplitude", law=law).items()}
            for law in ("hertz", "flores")
        },
    )


def kinematic_panels(runs: Sequence[Run], settings: PlanarSettings) -> pd.DataFrame:
    """Places, indentations and their rates."""
    found = families(runs, settings)
    usual, healthy = {"computed": runs[0]}, found.laws[settings.reference_knee]
    over_time = [
        curves("flexion by pulse", "time (s)", run.solution.motion.time, "deg", {name: run.flexion})
        for name, run in found.pulses["hertz"].items()
    ]
    paths = {name: run.solution.motion.coordinates[:, :2] for name, run in found.splines.items()}
    panels = [
        *over_time,
        *_tracks("5.7a tibia", paths),
        *_tracks("5.7b contact point", _points(found.splines)),
        *_over("5.8a", "depth", usual),
        *_over("5.8b", "rate", usual),
        *_over("5.11a", "depth", found.shapes),
        *_over("5.13a", "depth", healthy, first=True),
        *_over("5.13b", "depth", healthy),
        *_over("5.17a", "depth", found.knees, first=True),
        *_over("5.18a", "depth", found.knees),
        *_over("5.19a", "depth", found.knees, below=0.0),
    ]
    for letter, law in zip("ab", found.pulses, strict=True):
        pulses = found.pulses[law]
        panels += [
            *_over(f"5.24{letter}", "depth", pulses, which=law),
            *_over(f"5.25{letter}", "rate", pulses, which=law),
            *_tracks(f"5.27{letter} contact point, {law}", _points(pulses)),
        ]
    return pd.concat(panels, ignore_index=True)


def force_panels(runs: Sequence[Run], settings: PlanarSettings) -> pd.DataFrame:
    """Contact forces over flexion and over indentation, and tensions of ligaments."""
    found = families(runs, settings)
    usual, healthy = {"computed": runs[0]}, found.laws[settings.reference_knee]
    panels = [
        *_over("5.8c", "force", usual),
        *_loops("5.8d force", usual),
        *_over("5.11b", "force", found.shapes),
        *_both("5.12", found.shapes, "by shape"),
        *_over("5.14a", "force", healthy, first=True),
        *_over("5.14b", "force", healthy),
        *_both("5.15", healthy, "by law"),
        *_both("5.16", found.knees, "by knee"),
        *_over("5.17b", "force", found.knees, first=True),
        *_over("5.18b", "force", found.knees),
        *_over("5.19b", "force", found.knees, below=0.0),
    ]
    others = [knee for knee in found.laws if knee != settings.reference_knee]
    # The source has the diseased knee first.
    for number, knee in zip(("5.20", "5.21"), reversed(others), strict=False):
        panels += _both(number, found.laws[knee], knee)
    for row, number in enumerate(("5.22", "5.23")):
        for letter, law in zip("ab", found.pulses, strict=True):
            for name, run in list(found.pulses[law].items())[row : row + 1]:
                tensions = dict(zip(settings.ligaments, run.tension.T, strict=True))
                panel = f"{number}{letter} ligaments, {law}, {name}"
                panels.append(curves(panel, FLEXION, run.flexion, "N", tensions))
    for letter, law in zip("ab", found.pulses, strict=True):
        panels += _over(f"5.26{letter}", "force", found.pulses[law], which=law)
    panels += _both("5.28", found.pulses["flores"], "flores")
    return pd.concat(panels, ignore_index=True)


def _over(
    number: str,
    quantity: str,
    runs: Runs,
    *,
    first: bool = False,
    below: float = np.inf,
    which: str = "",
) -> Iterator[pd.DataFrame]:
    """A quantity of contact over flexion, zero while apart, in the first impact or all."""
    words = [f"{number} {NAMES[quantity]}", which, "first impact" if first else ""]
    panel = ", ".join(filter(None, words))
    for name, run in runs.items():
        shown = run.first_impact() if first else run.flexion <= below
        values = np.where(run.contact("depth") > 0.0, run.contact(quantity), 0.0)
        yield curves(panel, FLEXION, run.flexion[shown], UNITS[quantity], {name: values[shown]})


def _both(number: str, runs: Runs, which: str) -> list[pd.DataFrame]:
    """Loops of the first impact, then of the whole motion."""
    return [
        *_loops(f"{number}a force, first impact, {which}", runs, first=True),
        *_loops(f"{number}b force, whole motion, {which}", runs),
    ]


def _loops(panel: str, runs: Runs, *, first: bool = False) -> Iterator[pd.DataFrame]:
    """Force over indentation where the bodies touch."""
    for name, run in runs.items():
        touching = run.contact("depth") > 0.0
        chosen = touching & run.first_impact() if first else touching
        depth, force = (run.contact(quantity)[chosen] for quantity in ("depth", "force"))
        yield curves(panel, "indentation (mm)", depth, "N", {name: force})


def _tracks(panel: str, paths: Mapping[str, Array]) -> Iterator[pd.DataFrame]:
    """Tracks in the sagittal plane, y over x."""
    for name, path in paths.items():
        yield curves(f"{panel}, y over x", "x (mm)", path[:, 0], "mm", {name: path[:, 1]})


def _points(runs: Runs) -> dict[str, Array]:
    """Contact points while the bodies touch."""
    return {name: run.point[run.contact("depth") > 0.0] for name, run in runs.items()}
