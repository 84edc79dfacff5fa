"""Numbers replaced in a text of settings."""

from __future__ import annotations

import pytest
import yaml

from kneewear import default_settings_file
from kneewear.io.documents import replace_values

TEXT = """\
# heading
block:
  length: 30.5     # mm
  pair: {one: 284.0, two: 1.5e-3}  # both
  list:
    - {height: -2.75, centre: 15.0}  # first
other: text
"""


def test_only_the_named_numbers_change():
    values = {("block", "length"): 28.214999, ("block", "list", 0, "height"): 1.0}
    changed = replace_values(TEXT, values)
    content = yaml.safe_load(changed)
    assert content["block"]["length"] == 28.21
    assert content["block"]["list"] == [{"height": 1, "centre": 15.0}]
    assert [line.count("#") for line in changed.splitlines()] == [
        line.count("#") for line in TEXT.splitlines()
    ]
    assert changed.splitlines()[3] == TEXT.splitlines()[3]
    assert changed.splitlines()[2].index("#") == TEXT.splitlines()[2].index("#")


def test_the_same_numbers_leave_the_default_study_as_it_is():
    text = default_settings_file().read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    height = ("activities", "gait", "flexion_deg", "bumps", 0, "height")
    value = content["activities"]["gait"]["flexion_deg"]["bumps"][0]["height"]
    assert yaml.safe_load(replace_values(text, {height: value})) == content


@pytest.mark.parametrize("location", [("block", "width"), ("block",), ("block", "list", 3)])
def test_a_place_without_a_number_is_refused(location):
    with pytest.raises(ValueError):
        replace_values(TEXT, {location: 1.0})
