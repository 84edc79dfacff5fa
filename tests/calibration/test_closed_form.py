"""The closed form against the engine that studies run on."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear import default_study
from kneewear.activity.parametric import build_parametric_activity
from kneewear.calibration import QUANTITIES, Resolution, apply_overrides, simulate_cells
from kneewear.geometry import build_grid, build_parametric_implant, tabulate_surface
from kneewear.geometry.implant import SIDES
from kneewear.simulation import Case, simulate_cases
from kneewear.wear import accumulate_wear, record_cycles, summarize_cases

STUDY = default_study()
COARSE = Resolution(rows=60, columns=45, frames=20)
CELL = (8.0, 100.0)


def by_engine() -> np.ndarray:
    """Quantities of one cell, with exact distances."""
    shape = STUDY.implant.parametric
    implant = build_parametric_implant(shape, "built-in", STUDY.implant.nominal_thickness_mm)
    grid = build_grid(implant, rows=COARSE.rows, columns=COARSE.columns)
    history = simulate_cases(
        grid=grid,
        surfaces=implant.femoral,
        tables={side: tabulate_surface(one, 61, 31) for side, one in implant.femoral.items()},
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


def test_closed_form_agrees_with_the_engine():
    closed = simulate_cells(STUDY, "gait", [CELL], COARSE)[0]
    difference = dict(zip(QUANTITIES, np.abs(closed / by_engine() - 1.0).T, strict=True))
    # Elements at the border of contact come and go with a micrometre; sums hardly notice.
    assert difference["max_pressure"].max() < 1e-3
    assert difference["damage_volume"].max() < 1e-3
    assert difference["damage_depth"].max() < 2e-3
    assert max(each.max() for each in difference.values()) < 1e-2


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
