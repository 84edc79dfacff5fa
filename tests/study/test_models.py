"""Every record names what there is."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kneewear.study.models import COMMANDS, MODELS, Lazy
from kneewear.study.study import Study

NAMED = [
    (model.name, field.name, value)
    for model in MODELS.values()
    for field in fields(model)
    if isinstance(value := getattr(model, field.name), Lazy)
]


@pytest.mark.parametrize(
    "named", [named for *_, named in NAMED], ids=[f"{model}-{field}" for model, field, _ in NAMED]
)
def test_what_a_record_names_can_be_loaded(named):
    assert callable(named.load())


def test_settings_of_a_model_have_its_name():
    for name, model in MODELS.items():
        study = model.settings.load()
        assert issubclass(study, Study)
        assert study.model_fields["model"].annotation.__args__ == (name,)


def test_a_model_has_either_cases_or_jobs():
    for model in MODELS.values():
        has_jobs = isinstance(model.list_jobs, Lazy) and isinstance(model.compute_job, Lazy)
        assert model.has_cases != has_jobs


def test_commands_of_records_can_be_loaded():
    assert COMMANDS
    for command in COMMANDS:
        assert callable(command.add_options.load()) and callable(command.run.load())
