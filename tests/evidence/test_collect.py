"""Conditions of measured tests: a file each, collected into the studies that compute them."""

from __future__ import annotations

import pytest

from kneewear.errors import InputDataError
from kneewear.evidence.measured_wear import collect
from kneewear.evidence.measured_wear.collect import (
    condition_files,
    measured_tests,
    with_names,
    with_tests,
)
from tests.study.studies import CHECKOUT

STUDY = """\
variables:
  test:
    settings: [wear_test.test]
    values:
      - one
  law: {}
wear_test:
  test: one
  tests:
    one: {}
"""


def test_studies_have_the_conditions_of_the_files():
    for path, text in collect.collect(CHECKOUT).items():
        assert (CHECKOUT / path).read_text(encoding="utf-8") == text


def test_every_measured_test_has_a_file():
    assert sorted(measured_tests()) == [path.stem for path in condition_files()]
    assert measured_tests(["pin_random"])[0] == "pin_random"


def test_test_in_the_table_without_a_file_is_refused(monkeypatch):
    monkeypatch.setattr(collect, "condition_files", lambda: condition_files()[1:])
    with pytest.raises(InputDataError, match=condition_files()[0].stem):
        measured_tests()


def test_names_and_conditions_take_their_places(tmp_path, monkeypatch):
    new = tmp_path / "two.yaml"
    new.write_text("# Conditions.\nmillion_cycles: 1.0\nload: {low_n: 1.0}\n", encoding="utf-8")
    monkeypatch.setattr(collect, "condition_files", lambda: [new])
    found = with_tests(with_names(STUDY, ["one", "two"]), ["two"])
    assert "      - one\n      - two\n  law: {}" in found
    assert found.endswith("    two:\n      million_cycles: 1.0\n      load: {low_n: 1.0}\n")
