"""The public API: its examples run, importing it is cheap, and it gives the workflow's results."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kneewear as kw
from kneewear.study.settings import apply_case
from tests.refusals import refusal

CHECKOUT = Path(__file__).parent.parent
ONE_CASE = {"variables": {"thickness_mm": [8], "body_mass_kg": [75]}}
QUASI_STATIC = {"simulation": {"analysis": "quasi_static"}}
# Examples that simulate for seconds.
LONG_EXAMPLES = (
    "accumulate_wear",
    "tabulate_cases",
    "run",
    "build_knee",
    "simulate",
    "evaluate_contact",
)
HEAVY = ("numpy", "pandas", "xarray", "pydantic", "scipy", "numba", "yaml")


@pytest.fixture(scope="module")
def study():
    return kw.load_study(CHECKOUT / "config/quick.yaml", ONE_CASE, QUASI_STATIC)


@pytest.fixture(scope="module")
def cycles(study):
    return kw.simulate(kw.build_knee(study), study)


def test_importing_the_package_imports_no_library():
    program = f"import sys, kneewear; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_listed_typed_and_has_an_example():
    tree = ast.parse((CHECKOUT / "kneewear/__init__.py").read_text())
    typed = {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("kneewear.")
        for name in node.names
    }
    assert typed | {"default_settings_file"} == set(kw.__all__)
    for name in kw.__all__:
        found = getattr(kw, name)
        assert name in dir(kw)
        if inspect.isfunction(found):
            assert ">>> import kneewear as kw" in (found.__doc__ or ""), name
    with pytest.raises(AttributeError, match="nothing"):
        kw.nothing  # noqa: B018


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in LONG_EXAMPLES else name
        for name in kw.__all__
        if name != "open_results"
    ],
)
def test_example_runs(name, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    run_example(getattr(kw, name))


def run_example(found):
    """Run the examples in the docstring of a public name."""
    runner = doctest.DocTestRunner(verbose=False)
    shown: list[str] = []
    for example in doctest.DocTestFinder().find(found, globs={}):
        runner.run(example, out=shown.append)
    assert not shown, "".join(shown)


def test_a_wrong_setting_is_reported_with_its_file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("grid: {rows: many}\n")
    refusal(kw.load_study, file)


def test_cycles_are_labelled_and_carry_units(cycles):
    gait = cycles.to_dataset("gait")
    assert dict(gait.sizes)["side"] == 2
    assert all("units" in one.attrs and "long_name" in one.attrs for one in gait.values())
    # The resultant is the integral of the pressure, as far as the pressure acts upward.
    upward = (gait.pressure * gait.area).sum(["side", "row", "column"])
    np.testing.assert_allclose(-gait.force.sel(component="y").sum("side"), upward, rtol=0.05)
    both = cycles.to_dataset()
    assert both.sizes["activity"] == 1
    np.testing.assert_array_equal(both.pressure.sel(activity="gait"), gait.pressure)
    with pytest.raises(ValueError):
        cycles.to_dataset("running")


def test_damage_agrees_with_the_table_of_cases(cycles, study):
    damage = kw.accumulate_wear(cycles, study)
    table = kw.tabulate_cases(cycles, damage, study).set_index(["side", "quantity"]).value
    volume = (damage.wear_depth * damage.area).sum(["row", "column"]).squeeze()
    for side in ("medial", "lateral"):
        assert float(volume.sel(side=side)) == pytest.approx(table[side, "wear_volume"], rel=1e-12)
    np.testing.assert_allclose(damage.damage_depth, damage.wear_depth + damage.creep_depth)


def test_factorial_design_of_any_setting_is_that_of_one_study_for_each_case():
    factor, rotation = (
        "wear.wear_factor_mm3_per_n_m",
        "activities.gait.tibial_external_rotation_deg.base",
    )
    variables = {
        "factor": {"settings": [factor], "values": [1e-7, 2e-7]},
        "rotation": {"settings": [rotation], "values": [-2.0, 2.0]},
    }
    small = {"grid": {"rows": 30, "columns": 20}, "simulation": {"frames": 8}}
    varied = kw.load_study(
        CHECKOUT / "config/quick.yaml",
        ONE_CASE,
        QUASI_STATIC,
        small,
        {"variables": variables, "report": {"compare_with_published": False}},
    )
    knee = kw.build_knee(varied)

    def table_of(study):
        cycles = kw.simulate(knee, study)
        return kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)

    table = table_of(varied)
    assert table.groupby(["factor", "rotation"]).ngroups == table["case"].nunique() == 4
    for case in varied.case_list():
        alone = table_of(apply_case(varied, case))
        own = table[table["case"] == case.name].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            own[["side", "quantity", "value"]],
            alone[["side", "quantity", "value"]],
            check_exact=True,
        )
    medial = table[(table["quantity"] == "wear_volume") & (table["side"] == "medial")]
    volume = medial.set_index(["factor", "rotation"])["value"].unstack()
    np.testing.assert_allclose(volume.loc[2e-7], 2.0 * volume.loc[1e-7], rtol=1e-12)
    assert abs(volume.loc[1e-7, 2.0] / volume.loc[1e-7, -2.0] - 1.0) > 1e-4
