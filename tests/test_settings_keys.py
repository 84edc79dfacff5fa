"""Meaning, unit and range of every key, and the documentation generated from them."""

from __future__ import annotations

import json
from math import inf
from typing import Annotated, Any, Literal, get_args, get_origin

import jsonschema
import pytest
import yaml

import kneewear
from docs.generators.settings import PAGE, SCHEMA, render_page, render_schema
from kneewear.errors import InputDataError
from kneewear.settings.files import value_at
from kneewear.settings.keys import find_place, keys_of, range_at
from kneewear.settings.standards import StandardActivity
from kneewear.settings.study import MODELS, merge_settings, validate_study

KEYS = {
    (key.block, key.path.rpartition(".")[2]): key
    for block in (*MODELS.values(), StandardActivity)
    for key in keys_of(block)
}
DEFAULT = kneewear.default_study().model_dump(mode="json")
CONFIGS = sorted(PAGE.parent.glob("**/*.yaml"))


def has_numbers(annotation: Any) -> bool:
    """Whether a value may be a number."""
    if get_origin(annotation) is Literal:
        return False
    if get_origin(annotation) is dict:
        return has_numbers(get_args(annotation)[1])
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return has_numbers(parts[0])
    return annotation in (float, int) or any(map(has_numbers, parts))


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.path)
def test_every_key_states_its_meaning_and_every_number_its_range(key):
    assert key.meaning.endswith(".")
    span = key.range
    assert span is not None or not has_numbers(key.field.annotation)
    if span is not None:
        assert span.unit
        assert span.source
        assert list(span.limits) == sorted(span.limits)


def test_ranges_without_limits_are_few_and_reasoned():
    free = {key.path for key in KEYS.values() if key.range and set(key.range.limits) == {-inf, inf}}
    assert {path.rpartition(".")[2] for path in free} <= {
        "height", "base", "direction", "flexion", "varus", "tibial_external_rotation",
        "femur_anterior", "femur_superior", "femur_lateral", "seed", "values", "low", "high",
        "start", "uniform", "mean", "standard_deviation", "at_least", "at_most",
    }  # fmt: skip


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


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"simulation": {"forward": {"mass_kg": 1e9}}}, "simulation.forward.mass_kg"),
        ({"insert": {"thickness_mm": 0.1}}, "insert.thickness_mm"),
        ({"activities": {"gait": {"duration_s": 3600}}}, "activities.gait.duration_s"),
        ({"grid": {"rows": 3}}, "grid.rows"),
        ({"implant": {"parametric": {"femoral_edge_radius_mm": 1e3}}},
         "implant.parametric.femoral_edge_radius_mm"),
    ],
)  # fmt: skip
def test_impossible_values_are_refused_at_their_key(change, place):
    with pytest.raises(InputDataError) as caught:
        validate_study(merge_settings(DEFAULT, change))
    assert caught.value.finding.where.endswith(f"key {place}")
    assert caught.value.finding.expected == range_of(place).possible


def range_of(place: str):
    steps = [int(step) if step.isdigit() else step for step in place.split(".")]
    known = range_at(MODELS["wear"], tuple(steps))
    assert known is not None
    return known[1]


def test_tags_of_unions_are_no_keys():
    location = ("activities", "walk", "file", "motion", "opensim", "placement", "femoral_mm", 0)
    place = find_place(MODELS["wear"], location)
    assert place.location == ("activities", "walk", "motion", "placement", "femoral_mm", 0)
    assert "insert_mm" in place.block.model_fields
    assert find_place(MODELS["wear"], ("implant", "meshes", "meshes", "unit")).location == (
        "implant", "meshes", "unit",
    )  # fmt: skip


def test_blocks_of_other_sources_are_left_out():
    study = kneewear.load_study("config/example_meshes.yaml")
    assert value_at(study.model_dump(), ("implant", "parametric")) is None
