"""A study remembers that it was checked; no copy of it does, and nothing in it changes."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import kneewear as kw
from benchmarks.trace import executed
from kneewear.base.types import Settings, entries_of
from kneewear.study.consistency import checked_study
from kneewear.study.settings import STUDIES
from tests.refusals import refused_at

PACKAGE = Path(kw.__file__).parent


@pytest.fixture
def study():
    return checked_study(kw.default_study())


COPIES = {
    "model_copy": lambda study: study.model_copy(),
    "deep model_copy": lambda study: study.model_copy(deep=True),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda study: pickle.loads(pickle.dumps(study)),
    "model_construct": lambda study: type(study).model_construct(**dict(study)),
    "model_validate": lambda study: type(study).model_validate(study.model_dump(mode="json")),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_a_checked_study_are_equal_and_are_checked_again(name, study):
    own = COPIES[name](study)
    assert study.is_checked and not own.is_checked
    assert own == study
    assert checked_study(own) is own
    assert own.is_checked


def test_a_checked_study_is_not_validated_again(study):
    names = {code.co_qualname for code in executed(lambda: checked_study(study), PACKAGE)[0]}
    assert "Settings.check_ranges" not in names
    again = executed(lambda: checked_study(study.model_copy()), PACKAGE)[0]
    assert "Settings.check_ranges" in {code.co_qualname for code in again}


IMPOSSIBLE = [
    ("grid", {"rows": -1}, "grid.rows"),
    ("wear", {"blocks": 0}, "wear.blocks"),
    ("simulation", {"frames": 0}, "simulation.frames"),
]


@pytest.mark.parametrize(("block", "values", "place"), IMPOSSIBLE)
def test_a_copy_with_an_impossible_block_is_refused_each_time(block, values, place, study):
    changed = study.model_copy(update={block: getattr(study, block).model_copy(update=values)})
    for _ in range(2):
        assert refused_at(kw.build_knee, changed) == f"the study, key {place}"
        assert not changed.is_checked


def mappings_in(value):
    """Mappings of a block and of those within it."""
    if isinstance(value, dict):
        yield value
    for _, entry in entries_of(value):
        yield from mappings_in(entry)


def test_no_mapping_in_a_study_can_be_changed(study):
    mappings = list(mappings_in(study))
    assert len(mappings) > 5
    for mapping in mappings:
        with pytest.raises(TypeError):
            mapping["other"] = 1


def blocks(base):
    """Classes of all blocks of settings."""
    for block in base.__subclasses__():
        yield block
        yield from blocks(block)


def test_no_field_of_settings_is_a_list():
    assert "wear" in STUDIES  # loads the settings of all models
    fields = {
        f"{block.__name__}.{name}": str(field.annotation)
        for block in blocks(Settings)
        for name, field in block.model_fields.items()
    }
    assert len(fields) > 500
    assert [name for name, annotation in fields.items() if "list[" in annotation] == []
