"""Settings, titles and curves of an activity that state one quantity twice; phases of gait."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

import kneewear
from kneewear import checkout_folder
from kneewear.activity.plausibility import judge_phase
from kneewear.activity.settings import parse_activity
from kneewear.activity.sources import curve
from kneewear.activity.standards import StandardActivity
from kneewear.activity.statements import judge_statements
from kneewear.base.units import unit_factor

EXAMPLE_CURVES = checkout_folder() / "config/example_simulator/curves.csv"
PERCENT = np.linspace(0.0, 100.0, 51)
GAIT = kneewear.default_study().activities["gait"]


@pytest.mark.parametrize(
    ("title", "unit", "factor"),
    [
        ("Mx [BW*m]", "N m", 735.75),
        ("Mx [N m]", "N m", 1.0),
        ("moment (Nmm)", "N m", 1e-3),
        ("varus_moment_n_m", "N m", 1.0),
        ("-Fz [N]", "N", 1.0),
        ("Fz, kN", "N", 1000.0),
        ("axial_force_n", "N", 1.0),
        ("load [%BW]", "N", 7.3575),
        ("load [N]", "body weights", 1.0 / 735.75),
        ("ap_displacement_mm", "mm", 1.0),
        ("ap (cm)", "mm", 10.0),
        ("flexion [rad]", "deg", 57.29578),
        ("flexion_deg", "deg", 1.0),
        ("load", "N", None),
        ("force_l", "N", None),
        ("flexion_deg", "mm", None),
        ("knee (left)", "deg", None),
        ("n", "N", None),
    ],
)
def test_title_ends_with_a_unit(title, unit, factor):
    expected = factor if factor is None else pytest.approx(factor, rel=1e-6)
    assert unit_factor(title, unit) == expected


def activity(**changes):
    """Curves of the example under a standard, with some changes of its block."""
    block = {
        "source": "iso14243-1",
        "curves": "curves.csv",
        "positive_anterior_posterior": "tibia_anterior",
        "positive_rotation": "tibia_internal",
        "duration_s": 1.0,
        "body_mass_kg": 75,
        "load_line_mm": 5.0,
        "medial_lateral": "held",
        "reference_posterior_mm": 0.0,
    }
    settings = StandardActivity.model_validate(block | changes).as_file_activity()
    return parse_activity(settings)


def curves(settings, **changes):
    """Motion and load of the example with the names that a standard reads them by."""
    table = pd.read_csv(EXAMPLE_CURVES, comment="#")
    table = table.rename(columns={"rotation_torque_n_m": "tibial_torque_n_m"}).assign(**changes)
    given = settings.motion.columns.given()
    motion = table[list(given.values())].set_axis(list(given), axis="columns")
    load = table[["percent", "axial_force_n"]].set_axis(["percent", "load"], axis="columns")
    return motion, load


def checks_of(settings, **changes):
    return sorted(
        {finding.check for finding in judge_statements(settings, *curves(settings, **changes))}
    )


SPRINGS = {"anterior_posterior_springs": [{"stiffness_n_per_mm": 44.0, "gap_mm": 2.5}]}


def late(column):
    """Column of the example a tenth of the cycle late."""
    table = pd.read_csv(EXAMPLE_CURVES, comment="#")
    at = (table["percent"] - 10.0) % 100.0
    return np.interp(at, table["percent"], table[column])


@pytest.mark.parametrize(
    ("block", "changes", "expected"),
    [
        (SPRINGS, {}, []),
        ({"source": "iso14243-3"}, {}, []),
        ({"load_line_mm": 0.5}, {}, ["standard.load_line"]),
        (
            {"anterior_posterior_springs": [{"stiffness_n_per_mm": 44.0, "gap_mm": 5.0}]},
            {},
            ["standard.gap"],
        ),
        (
            {"rotation_springs": [{"stiffness_n_m_per_deg": 0.36, "gap_deg": 12.0}]},
            {},
            ["standard.gap"],
        ),
        # A stiffness of the user's own has a slack of its own.
        ({"anterior_posterior_springs": [{"stiffness_n_per_mm": 20.0, "gap_mm": 5.0}]}, {}, []),
        ({}, {"axial_force_n": lambda table: 0.5 * table["axial_force_n"]}, ["standard.peak"]),
        (
            {},
            {
                "axial_force_n": lambda table: table["axial_force_n"].where(
                    lambda force: force > 185.0, -20.0
                )
            },
            ["standard.least_force"],
        ),
        (
            {"source": "iso14243-3", "positive_anterior_posterior": "tibia_posterior"},
            {},
            ["standard.polarity"],
        ),
        (
            {"source": "iso14243-3", "positive_rotation": "tibia_external"},
            {},
            ["standard.polarity"],
        ),
        # Both signs are those of the other edition.
        (
            {
                "source": "iso14243-3",
                "positive_anterior_posterior": "tibia_posterior",
                "positive_rotation": "tibia_external",
            },
            {},
            [],
        ),
        ({}, {"ap_force_n": late("ap_force_n")}, ["standard.phase"]),
    ],
)
def test_standard_is_compared_with_its_own_numbers(block, changes, expected):
    assert checks_of(activity(**block), **changes) == expected


def test_numbers_of_springs_are_those_of_the_table_of_users():
    folder = checkout_folder()
    with (folder / "config/standards/springs.csv").open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    shipped = {
        (row["setting"], float(row["stiffness"]), float(row["gap"]))
        for row in csv.DictReader(lines)
    }
    with (folder / "kneewear/activity/standards.csv").open(encoding="utf-8") as file:
        own = {
            (row["quantity"], float(row["stiffness"]), float(row["value"]))
            for row in csv.DictReader(file)
            if row["stiffness"]
        }
    assert own == shipped


@pytest.mark.parametrize(
    ("title", "expected"),
    # Readers convert N mm.
    [("Mx [BW*m]", ["columns.unit"]), ("Mx [N m]", []), ("Mx [N mm]", []), ("Mx", [])],
)
def test_title_of_a_column_is_compared_with_its_key(title, expected):
    settings = activity()
    columns = settings.load.columns.model_copy(update={"varus_moment_n_m": title})
    load = settings.load.model_copy(update={"columns": columns})
    changed = settings.model_copy(update={"load": load, "standard": None})
    assert checks_of(changed) == expected


def phase(shift, flexion=None, load=None):
    """Check of the built-in gait with its load some percent late."""
    values = curve(flexion or GAIT.flexion_deg, PERCENT)
    force = curve(load or GAIT.load_body_weights, PERCENT - shift)
    note = judge_phase(PERCENT, values, force, "key x", "")
    return None if note is None else (note.check, note.severity)


@pytest.mark.parametrize("shift", [0.0, 2.0, -2.0])
def test_load_of_gait_in_phase_is_quiet(shift):
    assert phase(shift) is None


@pytest.mark.parametrize("shift", [8.0, 10.0, -10.0])
def test_load_of_gait_out_of_phase_is_noted(shift):
    assert phase(shift) == ("load.phase", "note")


def test_stairs_are_no_level_gait():
    stairs = kneewear.default_study().activities["stairs"]
    for shift in (0.0, 10.0, -10.0):
        assert phase(shift, stairs.flexion_deg, stairs.load_body_weights) is None
