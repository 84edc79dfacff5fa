"""Ranges of plausible values: warned of, refused, and silenced by name."""

from __future__ import annotations

from math import inf

import pytest

import kneewear
from kneewear.errors import InputDataError
from kneewear.settings.checks import checks, heard, judge, setting_warnings
from kneewear.settings.study import load_study, merge_settings

DEFAULT = kneewear.default_study().model_dump(mode="json")


def study(**changes):
    return load_study(merge_settings(DEFAULT, changes))


def test_every_check_has_ranges_in_their_order_and_a_source():
    for check in checks().values():
        assert check.refuse_below <= check.warn_below or check.warn_below == -inf, check.name
        assert check.refuse_above >= check.warn_above or check.warn_above == inf, check.name
        limits = (check.warn_below, check.warn_above, check.refuse_below, check.refuse_above)
        assert any(abs(limit) < inf for limit in limits), check.name
        assert check.source, check.name


def test_value_is_accepted_warned_of_or_refused():
    assert judge("settings.thickness", 6.0, "key x") == ""
    warning = judge("settings.thickness", 50.0, "key x")
    assert warning == (
        "key x: found insert thickness of 50 mm; expected 4 to 30 mm usually. Give it in mm, or "
        "correct it. (check settings.thickness)"
    )
    with pytest.raises(InputDataError, match=r"0.4 mm; expected 0.5 to 60 mm\. Give it in mm"):
        judge("settings.thickness", 0.4, "key x")
    with pytest.raises(InputDataError):
        judge("settings.thickness", float("nan"), "key x")


def test_warning_is_silenced_by_its_name_and_this_is_stated():
    warnings = setting_warnings(study(cases={"thickness_mm": [3, 6, 31]}))
    assert len(warnings) == 2
    assert "key cases.thickness_mm.2: found insert thickness of 31 mm" in warnings[1]
    (sentence,) = heard(warnings, ["settings.thickness"])
    assert sentence == (
        "Silenced by checks.silence: 2 warnings of settings.thickness (insert thickness)."
    )
    assert heard(warnings, ["settings.frames"]) == warnings
    assert heard((), ["settings.frames"]) == ()


def test_levels_of_overrides_are_judged():
    changes = {"overrides": {"wear.wear_factor_mm3_per_n_m": [1e-7, 1e-4]}}
    found = setting_warnings(study(cases=changes, report={"compare_with_published": False}))
    assert len(found) == 1
    assert "key cases.overrides.wear.wear_factor_mm3_per_n_m.1" in found[0]


def test_unknown_name_of_a_check_is_refused():
    with pytest.raises(InputDataError, match=r"Did you mean 'settings\.thickness'"):
        study(checks={"silence": ["settings.thicknes"]})


def test_silence_runs_nothing_again():
    silent = study(checks={"silence": ["settings.frames"]})
    assert silent.computed() == kneewear.default_study().computed()
