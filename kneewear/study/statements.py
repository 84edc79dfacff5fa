"""Quantities that the settings of a study state twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kneewear import default_settings_file
from kneewear.activity.settings import FileActivity, ParametricActivity, parse_activity
from kneewear.base.agreement import Agreement, Statement
from kneewear.base.files import read_settings_file
from kneewear.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

_MONTHS_PER_YEAR = 12.0
_PERCENT = np.linspace(0.0, 100.0, 100, endpoint=False)
# Curves of a built-in activity that are its motion.
_MOTION = ("flexion_deg", "tibial_external_rotation_deg", "femur_posterior_mm")
# Correlation from which two curves have one shape.
_ALIKE = 0.8


def _masses(study: Study, of_standard: bool) -> Iterator[tuple[Statement, Statement]]:
    """Yield the body mass of the forces of each file, and the nearest one of the study."""
    for name, block in study.simulated_activities().items():
        if not (isinstance(block, FileActivity) and study.body_masses_kg):
            continue
        mass = block.load.body_mass_kg
        if mass is not None and (block.standard is not None) == of_standard:
            low, high = study.body_masses_kg
            key = f"key activities.{name}.{'' if of_standard else 'load.'}body_mass_kg"
            own = Statement(min(max(mass, low), high), "patient.body_mass_kg or its variable")
            yield Statement(mass, key), own


def _laws(study: Study) -> Iterator[tuple[Statement, Statement]]:
    """Yield the law of the wear factor and the law of the study, unless laws are compared."""
    wear = getattr(study, "wear", None)
    changed = {path for variable in study.variables.values() for path in variable.paths}
    varied = bool(changed & {"wear.wear_law", "*"})
    if wear is not None and not varied and wear.law_of_factor is not None and wear.uses_factor:
        yield (
            Statement(wear.law_of_factor, "key wear.wear_factor_mm3_per_n_m"),
            Statement(wear.wear_law, "wear.wear_law"),
        )


def _curves_of(block: ParametricActivity) -> dict[str, Array]:
    """Curves of the motion of a built-in activity, by key."""
    # Imported where used: reading settings needs none of it.
    from kneewear.activity.sources import curve  # noqa: PLC0415

    return {key: curve(getattr(block, key), _PERCENT) for key in _MOTION}


@cache
def _shipped_curves() -> Mapping[str, Mapping[str, Array]]:
    """Curves of the motions of the default study, by activity and key."""
    blocks = read_settings_file(default_settings_file()).content["activities"]
    activities = {name: parse_activity(block) for name, block in blocks.items()}
    return {
        name: _curves_of(block)
        for name, block in activities.items()
        if isinstance(block, ParametricActivity)
    }


def _curves(study: Study, unit: str) -> Iterator[tuple[Statement, Statement]]:
    """Yield the range of each built-in curve, negative if it is reversed, and of the shipped one.

    Constant curves are held, and state no range.
    """
    for name, block in study.simulated_activities().items():
        if not isinstance(block, ParametricActivity):
            continue
        curves = _curves_of(block)
        for key, shipped in _shipped_curves().get(name, {}).items():
            own = curves[key]
            if key.endswith(unit) and np.ptp(own) > 0.0:
                is_reversed = float(np.corrcoef(own, shipped)[0, 1]) < -_ALIKE
                yield (
                    Statement(
                        float(np.ptp(own)) * (-1.0 if is_reversed else 1.0),
                        f"key activities.{name}.{key}",
                    ),
                    Statement(float(np.ptp(shipped)), f"config/defaults.yaml for {name}"),
                )


# What the settings of a study state twice.
PAIRS = (
    *(
        Agreement(
            "activity.curve",
            unit,
            partial(_curves, unit=unit),
            "Check sign and unit of base and bumps, or give the activity a name of its own.",
        )
        for unit in ("deg", "mm")
    ),
    Agreement(
        "load.body_mass",
        "kg",
        lambda study: _masses(study, False),
        "Give the mass of the person whose forces the file has; cases of another mass scale them.",
    ),
    Agreement(
        "standard.body_mass",
        "kg",
        lambda study: _masses(study, True),
        "Give the mass of the cases: a machine applies the forces of its table to any of them.",
    ),
    Agreement(
        "wear.law_of_factor",
        "1",
        _laws,
        "Give a factor that was found with the law of the study, choose its law, or state "
        "wear.found_with.",
    ),
)


def _cycles(subject: tuple[Study, str, pd.DataFrame]) -> Iterator[tuple[Statement, Statement]]:
    """Yield the cycles of a life, and the cycles of the last weighing of a test, in millions."""
    study, file, test = subject
    wear = getattr(study, "wear", None)
    if wear is not None:
        life = 1e-6 * wear.cycles_per_year * wear.months / _MONTHS_PER_YEAR
        last = float(test["million_cycles"].iloc[-1])
        keys = "keys wear.months and wear.cycles_per_year"
        yield Statement(life, keys), Statement(last, f"{file}, last weighing")


# What a study and the weighings of a simulator test state twice.
TEST_PAIRS = (
    Agreement(
        "test.cycles",
        "10^6",
        _cycles,
        "Give months and cycles_per_year of the test: months are 12 times the cycles over those "
        "of a year.",
    ),
)
