"""The closed form against the engine that studies run on."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear import default_study
from kneewear.activity.parametric import build_parametric_activity
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.table import tabulate_surface
from kneewear.settings.cases import Case
from kneewear.sides import SIDES
from kneewear.simulation.cases import simulate_cases
from kneewear.studies.calibration.closed_form import QUANTITIES, Resolution, simulate_cells
from kneewear.studies.calibration.constants import apply_overrides
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import record_cycles
from kneewear.wear.summary import summarize_cases

STUDY = default_study()
COARSE = Resolution(rows=60, columns=45, frames=20)
CELL = (8.0, 100.0)


def by_engine() -> np.ndarray:
    """Quantities of one cell, with exact distances."""
    shape = STUDY.implant.parametric
    implant = build_parametric_implant(shape, "built-in", STUDY.implant.nominal_thickness_mm)
    grid = build_grid(implant, rows=COARSE.rows, columns=COARSE.columns)
    history = simulate_cases(
        KneeModel(
            implant,
            grid,
            {side: tabulate_surface(one, 61, 31) for side, one in implant.femoral.items()},
        ),
        activity=build_parametric_activity("gait", STUDY.activities["gait"], COARSE.frames),
        cases=[Case("one", *CELL)],
        settings=STUDY.simulation.model_copy(
            update={"distance": "exact", "analysis": "quasi_static"}
        ),
    )
    maps = accumulate_wear({"gait": history}, grid, STUDY.wear)
    table = summarize_cases(maps, record_cycles({"gait": history}), grid, STUDY.wear)
    values = table.set_index(["side", "quantity"])["value"]
    return np.array([[values[side, name] for name in QUANTITIES] for side in SIDES])


@pytest.mark.compiled
def test_closed_form_agrees_with_the_engine():
    closed = simulate_cells(STUDY, "gait", [CELL], COARSE)[0]
    difference = dict(zip(QUANTITIES, np.abs(closed / by_engine() - 1.0).T, strict=True))
    # Tables print four digits at most: what is left is when the searches for balance end.
    assert max(each.max() for each in difference.values()) < 1e-4


def test_force_is_the_load(monkeypatch):
    """Doubling load and modulus leaves the motion alone and doubles pressures."""
    twice = apply_overrides(
        STUDY, {"simulation.youngs_modulus_mpa": 2.0 * STUDY.simulation.youngs_modulus_mpa}
    )
    tiny = Resolution(24, 18, 10)
    once = simulate_cells(STUDY, "gait", [(10.0, 60.0)], tiny)[0]
    heavy = simulate_cells(twice, "gait", [(10.0, 120.0)], tiny)[0]
    np.testing.assert_allclose(heavy[:, :5], 2.0 * once[:, :5], rtol=1e-4)
    np.testing.assert_allclose(heavy[:, 5], once[:, 5], rtol=1e-12)


def test_what_has_no_closed_form_is_refused():
    with pytest.raises(ValueError, match="archard"):
        simulate_cells(
            apply_overrides(STUDY, {"wear.wear_law": "unified_theory"}), "gait", [CELL], COARSE
        )
    with pytest.raises(ValueError, match="built-in activity"):
        simulate_cells(STUDY, "jumping", [CELL], COARSE)
