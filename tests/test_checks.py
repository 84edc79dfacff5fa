"""Ranges of plausible values: warned of, refused, and ignored by name."""

from __future__ import annotations

from itertools import product
from math import inf
from pathlib import Path

import pytest

import kneewear
from kneewear.base.checks import (
    Check,
    Condition,
    checks,
    drop_ignored,
    judge,
)
from kneewear.base.keys import keys_of, ranges_by_path
from kneewear.errors import InputDataError
from kneewear.study.settings import (
    STUDIES,
    merge_settings,
    read_settings,
    study_findings,
    validate_study,
)
from tests.refusals import refused_at

ROOT = Path(__file__).parents[1]
DEFAULT = kneewear.default_study().model_dump(mode="json")


def study(**changes):
    return validate_study(merge_settings(DEFAULT, changes))


def test_every_check_has_ranges_in_their_order_and_a_source():
    for check in checks().values():
        lowest, low, high, highest = check.range.limits
        assert lowest <= low or low == -inf, check.name
        assert high <= highest or high == inf, check.name
        assert check.range.source, check.name


def test_tables_stand_in_rooms_and_slices_and_name_each_check_once():
    folders = {path.parent.name for path in Path(kneewear.__file__).parent.rglob("checks.csv")}
    assert {"activity", "geometry", "motion", "study", "knees", "press"} <= folders
    assert "base" not in folders
    rows = sum(
        len(path.read_text(encoding="utf-8").splitlines()) - 1
        for path in Path(kneewear.__file__).parent.rglob("checks.csv")
    )
    assert rows == len(checks())


@pytest.mark.parametrize(
    "check", [check for check in checks().values() if check.keys], ids=lambda check: check.name
)
def test_row_of_settings_names_settings_of_a_model(check):
    paths = [{key.path for key in keys_of(model)} for model in STUDIES.values()]

    def is_known(path, known):
        """Return True if a path of a row, with entries of lists as `*`, is the path of a key."""
        steps = path.split(".")
        ways = [[True, False] if step == "*" else [True] for step in steps]
        return any(
            ".".join(step for step, kept in zip(steps, way, strict=True) if kept) in known
            for way in product(*ways)
        )

    for key in check.keys:
        together = list(filter(None, (key, check.over, *(use.path for use in check.when))))
        assert any(all(is_known(path, known) for path in together) for known in paths), key
    for path in filter(None, (check.over, *(use.path for use in check.when))):
        assert path.count("*") <= min(key.count("*") for key in check.keys)


RATIO = Check(
    "test.ratio",
    "ratio",
    checks()["settings.coronal_conformity"].range,
    keys=("implant.parametric.plateau_coronal_radius_mm.*",),
    over="implant.parametric.femoral_coronal_radius_mm.*",
    when=(Condition.parse("implant.parametric.plateau_coronal_radius_mm.*<350"),),
)


def test_row_divides_by_the_same_side_and_applies_where_its_condition_holds():
    (found,) = RATIO.settings(kneewear.default_study())
    assert found[0] == ("implant", "parametric", "plateau_coronal_radius_mm", "lateral")
    assert found[1] == pytest.approx(330.4 / 284.0)


def test_modulus_is_judged_by_the_material_of_the_implant():
    judged = [study(simulation={"youngs_modulus_mpa": modulus}) for modulus in (463, 50)]
    names = [[finding.check for finding in study_findings(each)] for each in judged]
    assert names == [[], ["settings.modulus"]]


def test_value_is_accepted_warned_of_or_refused():
    assert judge("load.peak", 3.0, "key x") is None
    warning = judge("load.peak", 6.0, "key x")
    assert (warning.check, warning.severity, warning.where) == ("load.peak", "warn", "key x")
    assert "6 body weights" in warning.found
    assert warning.expected.startswith("1.5 to 5 body weights")
    with pytest.raises(InputDataError) as caught:
        judge("load.peak", 60.0, "key x")
    assert caught.value.finding.severity == "refuse"
    assert caught.value.finding.expected == "0.2 to 12 body weights"
    with pytest.raises(InputDataError):
        judge("load.peak", float("nan"), "key x")


def test_warning_is_ignored_by_its_name_and_this_is_stated():
    findings = study_findings(study(variables={"thickness_mm": [3, 6, 31]}))
    assert [one.where for one in findings] == [
        "key variables.thickness_mm.values.0",
        "key variables.thickness_mm.values.2",
    ]
    (note,) = drop_ignored(findings, ["insert.thickness_mm"])
    assert (note.check, note.severity) == ("insert.thickness_mm", "note")
    assert note.found.startswith("2 ")
    assert drop_ignored(findings, ["simulation.frames"]) == findings
    assert drop_ignored((), ["simulation.frames"]) == ()


@pytest.mark.parametrize(("mass", "warned"), [(75, False), (72, False), (95, True), (45, True)])
def test_the_body_mass_of_a_measured_force_is_near_a_case(mass, warned):
    own = read_settings(ROOT / "config" / "example_simulator.yaml")
    own["activities"]["displacement_control"]["load"]["body_mass_kg"] = mass
    own["activities"].pop("force_control", None)
    own["wear"]["lives"] = {"gait": None, "own": {"displacement_control": 1.0}}
    own["patient"] = {"body_mass_kg": 75}
    own["variables"] = {"body_mass_kg": [60, 75]}
    found = study_findings(validate_study(merge_settings(DEFAULT, own)))
    assert ("load.body_mass" in {finding.check for finding in found}) == warned


def test_levels_of_variables_are_judged():
    variables = {"factor": {"settings": ["wear.wear_factor_mm3_per_n_m"], "values": [1e-7, 1e-4]}}
    report = {"compare_with_published": False}
    (finding,) = study_findings(study(variables=variables, report=report))
    assert finding.where == "key variables.factor.values.1"


def test_unknown_name_of_a_check_is_refused():
    assert (
        refused_at(study, checks={"ignore": ["insert.thickness_m"]})
        == "settings, key checks.ignore.0"
    )


@pytest.mark.parametrize(
    "block", ["simulation.alignment", "backside.movement", "activities.*.control"]
)
def test_angles_lengths_and_stiffnesses_that_may_be_zero_have_a_least_size(block):
    spans = {
        path: span
        for one in STUDIES.values()
        for path, span in ranges_by_path(one).items()
        if path.startswith(block) and span.unit != "1" and span.low <= 0.0 <= span.high
    }
    assert spans
    assert [path for path, span in spans.items() if span.least == 0.0] == []
