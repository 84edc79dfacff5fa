"""Quantities that the settings and the curves of an activity state twice."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from kneewear.activity.conventions import ANGLES, POSITIONS, column_signs
from kneewear.activity.settings import FileActivity
from kneewear.base.agreement import Agreement, Statement, disagreements
from kneewear.base.checks import judge
from kneewear.base.units import is_converted, unit_factor
from kneewear.errors import Finding

Pairs = Iterator[tuple[Statement, Statement]]

# Formats that are read in metres and radians where they say so.
_STORAGES = (".sto", ".mot")
# Unit of a load of each kind; a ground reaction may have any.
_LOADS = {"axial_load": "body weights", "axial_force_n": "N"}
# Part of the largest axial force below which a machine swings.
_UNLOADED = 0.4


class FileCurves(NamedTuple):
    """An activity from files with its curves of one cycle, before anything is done to them."""

    settings: FileActivity
    motion: pd.DataFrame
    load: pd.DataFrame


@cache
def _numbers() -> tuple[dict[str, str], ...]:
    """Rows of the table of numbers of standards."""
    with Path(__file__).with_name("standards.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def _number(standard: str | None, quantity: str, stiffness: float | None = None) -> float | None:
    """Number of a standard; None where none is known."""
    rows = (
        float(row["value"])
        for row in _numbers()
        if row["standard"] == standard
        and row["quantity"] == quantity
        and (stiffness is None or float(row["stiffness"]) == stiffness)
    )
    return next(rows, None)


def _load_line(curves: FileCurves) -> Pairs:
    """Yield the load line of the settings and of their standard."""
    settings = curves.settings
    own = _number(settings.standard, "load_line_mm")
    if own is not None and settings.control is not None:
        yield (
            Statement(settings.control.load_line_mm, "key load_line_mm"),
            Statement(own, f"{settings.standard}"),
        )


def _peak(curves: FileCurves) -> Pairs:
    """Yield the largest axial force of the curves and of their standard."""
    settings = curves.settings
    own = _number(settings.standard, "peak_n")
    if own is not None:
        where = f"{settings.load.file}, column '{settings.load.columns.load}'"
        yield (
            Statement(float(curves.load["load"].max()), where),
            Statement(own, f"{settings.standard}"),
        )


def _gaps(curves: FileCurves, key: str) -> Pairs:
    """Yield the slack of each spring of the settings of a stiffness of the standard."""
    settings = curves.settings
    for number, spring in enumerate(getattr(settings.control, key, ())):
        angular = key == "rotation_springs"
        stiffness = spring.stiffness_n_m_per_deg if angular else spring.stiffness_n_per_mm
        own = _number(settings.standard, key, stiffness)
        if own is not None:
            gap = spring.gap_deg if angular else spring.gap_mm
            where = f"key {key}.{number}.{'gap_deg' if angular else 'gap_mm'}"
            yield (
                Statement(gap, where),
                Statement(own, f"{settings.standard} for a stiffness of {stiffness:g}"),
            )


def _titles(curves: FileCurves, unit: str) -> Pairs:
    """Yield one unit by the titles of columns that have a unit, and one of what is read of them."""
    settings = curves.settings
    of_load = {"varus_moment_n_m": "N m", "flexion": "deg"}
    force = _LOADS.get(settings.load.kind)
    if force is not None:
        of_load |= dict.fromkeys(("load", "medial", "lateral"), force)
    of_motion = dict.fromkeys(ANGLES, "deg") | dict.fromkeys(POSITIONS, "mm")
    of_motion |= {"anterior_posterior_force_n": "N", "rotation_torque_n_m": "N m"}
    for part, units in ((settings.load, of_load), (settings.motion, of_motion)):
        storage = part.file.endswith(_STORAGES)
        for quantity, title in part.columns.given().items():
            if units.get(quantity) != unit or (storage and unit in ("deg", "mm")):
                continue
            # The reader takes percent of body weight as what they are.
            factor = unit_factor(title, unit)
            is_read = is_converted(title, unit) or (unit == "body weights" and "%" in title)
            if factor is not None and not is_read:
                yield (
                    Statement(factor, f"{part.file}, title of column '{title}'"),
                    Statement(1.0, f"key {quantity} of this file"),
                )


_OWN = "Give the number of the standard, or take the activity as one from files."

# What settings and curves state twice.
PAIRS = (
    Agreement("standard.load_line", "mm", _load_line, _OWN),
    Agreement("standard.peak", "N", _peak, _OWN),
    Agreement(
        "standard.gap",
        "mm",
        partial(_gaps, key="anterior_posterior_springs"),
        "The slack is counted to either side of the middle.",
    ),
    Agreement(
        "standard.gap",
        "deg",
        partial(_gaps, key="rotation_springs"),
        "The slack is counted to either side of the middle.",
    ),
    *(
        Agreement(
            "columns.unit",
            unit,
            partial(_titles, unit=unit),
            "Convert the column, or choose the key and kind of its unit.",
        )
        for unit in ("N", "body weights", "N m", "deg", "mm")
    ),
)


def judge_statements(
    settings: FileActivity, motion: pd.DataFrame, load: pd.DataFrame
) -> tuple[Finding, ...]:
    """Findings about what settings and curves of an activity state twice, and its standard.

    `motion` and `load` are the curves of one cycle as read, columns as for `build_activity`.
    """
    curves = FileCurves(settings, motion, load)
    return (*disagreements(PAIRS, curves), *_judge_standard(curves))


def _judge_standard(curves: FileCurves) -> Iterator[Finding]:
    """Yield findings about curves of a standard that no machine of it has."""
    settings, motion = curves.settings, curves.motion
    if settings.standard is None:
        return
    axial = curves.load["load"].to_numpy(dtype=float)
    where = f"column '{settings.load.columns.load}'"
    file = settings.load.file
    least = float(axial.min() / np.abs(axial).max())
    remedy = "Check zero and sign of the axial force."
    findings = [judge("standard.least_force", least, file, remedy, where)]
    if {"anterior_posterior", "rotation"} <= set(motion):
        signs = column_signs(settings.motion)
        main = {
            name: signs[name] * _farthest(motion[name].to_numpy(dtype=float))
            for name in ("anterior_posterior", "rotation")
        }
        # Of either edition the femur is posterior where the tibia is external, and the reverse.
        polarity = float(np.sign(main["anterior_posterior"]) * np.sign(main["rotation"]))
        remedy = "Check positive_anterior_posterior and positive_rotation against the edition."
        findings.append(judge("standard.polarity", polarity, settings.motion.file, remedy))
    for name in ("anterior_posterior_force_n", "rotation_torque_n_m"):
        force = np.abs(motion[name].to_numpy(dtype=float)) if name in motion else np.zeros(1)
        if not force.any():
            continue
        pressed = np.interp(motion["percent"], curves.load["percent"], axial)
        swing = pressed < _UNLOADED * pressed.max()
        share = float(force[swing].mean() / force.mean()) if swing.any() else 0.0
        where = f"column '{settings.motion.columns.given()[name]}'"
        remedy = "Check that it begins at the same event as the axial force."
        findings.append(judge("standard.phase", share, settings.motion.file, remedy, where))
    yield from filter(None, findings)


def _farthest(values: np.ndarray) -> float:
    """Value farthest from zero."""
    return float(values[np.abs(values).argmax()])
