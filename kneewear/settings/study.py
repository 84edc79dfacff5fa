"""Settings of a study: one closed, frozen tree per kind, selected by the key `kind`.

Default values are in `config/config.yaml` only; a key may be left out here where leaving it out
has a meaning of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from kneewear.errors import InputDataError
from kneewear.settings.accuracy import settings_of
from kneewear.settings.base import LifeStudy, Study, WearStudy
from kneewear.settings.cases import Case, merged, override
from kneewear.settings.faults import position_of, refusal, suggestion
from kneewear.settings.files import Location, SettingsFile, read_settings, read_settings_file

__all__ = [
    "KINDS",
    "Study",
    "apply_case",
    "load_study",
    "merge_settings",
    "overridden_activities",
    "read_settings",
    "read_study",
]


def _subclasses(model: type[Study]) -> Iterator[type[Study]]:
    for one in model.__subclasses__():
        yield one
        yield from _subclasses(one)


def _find_kinds() -> dict[str, type[Study]]:
    """Class of every kind of study; each module of this folder may define one."""
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.name != "study":
            import_module(f"kneewear.settings.{module.name}")
    kinds = {"wear": WearStudy} | {
        str(get_args(hint)[0]): model
        for model in _subclasses(Study)
        if get_origin(hint := model.model_fields["kind"].annotation) is Literal
    }
    return {name: kinds[name] for name in ("wear", *sorted(set(kinds) - {"wear"}))}


KINDS = _find_kinds()


def load_study(
    source: Mapping[str, Any] | str | Path,
    name: str = "settings",
    files: Sequence[SettingsFile] = (),
) -> Study:
    """Check the settings of a study.

    Parameters
    ----------
    source : mapping, str or Path
        Settings, or a YAML file of them. They must be complete; see `merge_settings`.
    name : str
        What error messages call a mapping; a file is called by its path.
    files : sequence of SettingsFile
        Files a mapping was merged from, so that messages can name file and line.

    Returns
    -------
    Study
        The checked, frozen settings: an instance of the class of their kind.

    Raises
    ------
    InputDataError
        When a block belongs to another kind of study, a key is unknown or missing, or a value is
        of the wrong type or out of range; the message lists all faults with position, key path,
        finding, expectation and remedy.
    """
    if not isinstance(source, Mapping):
        files = [read_settings_file(source)]
        name, source = str(source), files[0].content
    _refuse_markup(source, name, files)
    model = _model_of(source, name, files)
    try:
        return model.model_validate(dict(source))
    except ValidationError as error:
        raise refusal(error, model, source, name, files) from None


def _refuse_markup(settings: Mapping[str, Any], name: str, files: Sequence[SettingsFile]) -> None:
    """Refuse texts and keys with "<": reports of other programs would take them for markup."""
    waiting: list[tuple[Location, Any]] = [((), settings)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [((*at, key), inner) for key, inner in value.items()]
            value = " ".join(map(str, value))
        elif isinstance(value, list | tuple):
            waiting += [((*at, number), inner) for number, inner in enumerate(value)]
        if isinstance(value, str) and "<" in value:
            raise InputDataError(
                position_of(at, settings, name, files),
                "the character '<'",
                "text without markup",
                "Write it in words: below, less than.",
                f"key {'.'.join(map(str, at))}",
            )


def _model_of(settings: Mapping[str, Any], name: str, files: Sequence[SettingsFile]) -> type[Study]:
    """Class of the settings' kind, once no block belongs to another kind."""
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        position = position_of(("kind",), settings, name, files)
        found = "nothing" if kind is None else repr(kind)
        remedy = suggestion(str(kind), KINDS) or "Name the kind of the study."
        raise InputDataError(position, found, f"one of: {', '.join(KINDS)}", remedy, "key kind")
    foreign = [key for key in settings if key in _blocks_of_other_kinds(kind)]
    if foreign:
        having = [one for one, model in KINDS.items() if foreign[0] in model.model_fields]
        raise InputDataError(
            position_of((foreign[0],), settings, name, files),
            f"a block of kind {' or '.join(having)} in a study of kind {kind}",
            f"blocks of kind {kind}: {', '.join(KINDS[kind].model_fields)}",
            f"Set kind to {having[0]}, or remove {' and '.join(foreign)}.",
            f"key {foreign[0]}",
        )
    return KINDS[kind]


def _blocks_of_other_kinds(kind: str) -> set[str]:
    """Top-level keys that some kind has, and this one has not."""
    known = {key for model in KINDS.values() for key in model.model_fields}
    return known - set(KINDS[kind].model_fields)


def merge_settings(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some of them replaced.

    Parameters
    ----------
    base, overrides : mapping
        Mappings are merged key by key, everything else (lists too) is replaced. An override of
        null removes an inherited activity or life. Where the overrides name another kind of study,
        blocks this kind does not have are not inherited. Elements and frames of the `accuracy`
        replace those of `base`.

    Returns
    -------
    dict
        A new mapping.
    """
    kind = overrides.get("kind")
    if isinstance(kind, str) and kind in KINDS and kind != base.get("kind"):
        foreign = _blocks_of_other_kinds(kind)
        base = {key: value for key, value in base.items() if key not in foreign}
    level = settings_of(overrides.get("accuracy", base.get("accuracy")))
    return merged(merged(base, level), overrides)


def read_study(*sources: str | Path | Mapping[str, Any], defaults: str | Path) -> Study:
    """Study of settings that override the default ones.

    Parameters
    ----------
    *sources : str, Path or mapping
        YAML files, or mappings of the same structure; later ones win.
    defaults : str or Path
        File of the default study.

    Returns
    -------
    Study

    Raises
    ------
    InputDataError
        As `load_study`.
    """
    base = read_settings_file(defaults)
    own: dict[str, Any] = {}
    files, names = [base], [base.path]
    for source in sources:
        if isinstance(source, Mapping):
            content, path = source, "a mapping"
        else:
            files.append(read_settings_file(source))
            content, path = files[-1].content, files[-1].path
        own = merged(own, content)
        names.append(path)
    return load_study(merge_settings(base.content, own), " + ".join(names), files)


def apply_case(study: LifeStudy, case: Case) -> WearStudy:
    """Wear study of one case, with all settings the case overrides, checked as any other study.

    ValueError if the study has no setting of that name, InputDataError if a value is out of its
    range.
    """
    settings = study.model_dump(mode="json", include=set(WearStudy.model_fields))
    settings |= {
        "kind": "wear",
        "cases": {"thickness_mm": [case.thickness], "body_mass_kg": [case.body_mass]},
        "cases_per_job": 1,
    }
    settings = override(settings, case.overrides)
    try:
        return WearStudy.model_validate(settings)
    except ValidationError as error:
        raise refusal(error, WearStudy, settings, case.name) from None


def overridden_activities(study: LifeStudy, case: Case) -> dict[str, dict[str, Any]]:
    """Settings of the activities that a case overrides, by name, as plain builtins."""
    if not case.overrides:
        return {}
    own = apply_case(study, case).simulated_activities()
    return {
        name: own[name].model_dump(mode="json")
        for name, block in study.simulated_activities().items()
        if own[name] != block
    }
