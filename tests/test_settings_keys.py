"""Meaning, unit and range of every key, and the documentation generated from them."""

from __future__ import annotations

import json
from math import inf
from typing import Annotated, Any, Literal, get_args, get_origin

import jsonschema
import pytest
import yaml

from docs.generators.settings import PAGE, SCHEMA, render_page, render_schema
from kneewear.activity.standards import StandardActivity
from kneewear.base.keys import keys_of
from kneewear.study.settings import STUDIES

KEYS = {
    (key.block, key.path.rpartition(".")[2]): key
    for block in (*STUDIES.values(), StandardActivity)
    for key in keys_of(block)
}
CONFIGS = sorted(PAGE.parent.glob("**/*.yaml"))


def has_numbers(annotation: Any) -> bool:
    """True if a value may be a number."""
    if get_origin(annotation) is Literal:
        return False
    if get_origin(annotation) is dict:
        return has_numbers(get_args(annotation)[1])
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return has_numbers(parts[0])
    return annotation in (float, int) or any(map(has_numbers, parts))


def test_every_key_states_its_meaning_and_every_number_its_range():
    """In one test: there are more than a thousand keys."""
    for key in KEYS.values():
        assert key.meaning.endswith("."), key.path
        span = key.range
        assert span is not None or not has_numbers(key.field.annotation), key.path
        if span is not None:
            assert span.unit, key.path
            assert span.source, key.path
            assert list(span.limits) == sorted(span.limits), key.path


def test_ranges_without_limits_are_few_and_reasoned():
    free = {key.path for key in KEYS.values() if key.range and set(key.range.limits) == {-inf, inf}}
    assert {path.rpartition(".")[2] for path in free} <= {
        "height",
        "base",
        "direction",
        "flexion",
        "varus",
        "tibial_external_rotation",
        "femur_anterior",
        "femur_superior",
        "femur_lateral",
        "seed",
        "value",  # of an assumption, about any key
        "values",
        "low",
        "high",
        "start",
        "uniform",
        "mean",
        "standard_deviation",
        "at_least",
        "at_most",
    }


def test_documentation_is_up_to_date():
    # Renew it with: python -m docs.generators.settings
    assert PAGE.read_text("utf-8") == render_page()
    assert SCHEMA.read_text("utf-8") == render_schema()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_studies_satisfy_the_schema_and_name_it(path):
    text = path.read_text("utf-8")
    first = text.splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / first).resolve() == SCHEMA.resolve()
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))
