"""Settings of a study: one closed, frozen tree per model, selected by the key `model`.

Default values are in `config/defaults.yaml` only; a key may be left out here where leaving it out
has a meaning of its own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kneewear.base.accuracy import settings_of
from kneewear.base.agreement import disagreements
from kneewear.base.cases import Case
from kneewear.base.checks import checks, setting_findings
from kneewear.base.faults import position_of, refusal, suggestion
from kneewear.base.files import Location, SettingsFile, read_settings, read_settings_file, value_at
from kneewear.base.renamed_keys import present_settings, rename_settings
from kneewear.base.variables import apply_values, merged
from kneewear.errors import Finding, InputDataError
from kneewear.motion.settings import CONTACT_LIMITS_MPA, YIELD_LIMITS_MPA
from kneewear.study.models import MODELS
from kneewear.study.statements import PAIRS
from kneewear.study.study import CaseStudy, Study, WearStudy, place_of_level
from kneewear.study.without_effect import check_cases, variable_findings
from kneewear.wear.settings import PIN_WEAR_FACTOR, SURVIVING_LAW, USUAL_WEAR_FACTOR

__all__ = [
    "STUDIES",
    "Study",
    "apply_case",
    "merge_settings",
    "overridden_activities",
    "read_settings",
    "read_study",
    "study_of",
    "validate_study",
]


# Class of the settings of every model.
STUDIES: dict[str, type[Study]] = {name: model.settings.load() for name, model in MODELS.items()}


def study_of(settings: Mapping[str, Any]) -> Study:
    """Study of complete settings as plain builtins that were checked before."""
    return STUDIES[settings["model"]].model_validate(dict(settings))


def validate_study(
    source: Mapping[str, Any] | str | Path,
    name: str = "settings",
    files: Sequence[SettingsFile] = (),
) -> Study:
    """Check the settings of a study.

    Parameters
    ----------
    source : mapping, str or Path
        Settings, or a YAML file of them. They must be complete; see `merge_settings`. Earlier names
        of keys and values are read too (:mod:`kneewear.base.renamed_keys`).
    name : str
        What error messages call a mapping; a file is called by its path.
    files : sequence of SettingsFile
        Files a mapping was merged from, so that messages can name file and line.

    Returns
    -------
    Study
        The checked, frozen settings: an instance of the class of their model.

    Raises
    ------
    InputDataError
        When a block belongs to another model, a key is unknown or missing, or a value is
        of the wrong type or out of range; the message lists all faults with position, key path,
        finding, expectation and remedy.
    """
    if not isinstance(source, Mapping):
        files = [read_settings_file(source)]
        name, source = str(source), files[0].content
    source = present_settings(source, name)
    _refuse_markup(source, name, files)
    model = _model_of(source, name, files)
    try:
        study = model.model_validate(dict(source))
        check_cases(study)
    except ValidationError as error:
        raise refusal(error, model, source, name, files) from None
    return study


def _refuse_markup(settings: Mapping[str, Any], name: str, files: Sequence[SettingsFile]) -> None:
    """Refuse texts and keys that a page or a terminal would take for markup or commands."""
    waiting: list[tuple[Location, Any]] = [((), settings)]
    while waiting:
        at, value = waiting.pop()
        if len(at) > _DEEPEST:
            found = f"blocks more than {_DEEPEST} deep, or within themselves"
            raise InputDataError(name, found, "settings as in a file", "Build the mapping again.")
        if isinstance(value, Mapping):
            waiting += [((*at, key), inner) for key, inner in value.items()]
            value = " ".join(map(str, value))
        elif isinstance(value, list | tuple):
            waiting += [((*at, number), inner) for number, inner in enumerate(value)]
        odd = _MARKUP.search(value) if isinstance(value, str) else None
        if odd is not None:
            raise InputDataError(
                position_of(at, settings, name, files),
                f"the character {odd[0]!a}",
                "text without markup and control characters",
                "Write it in words: below, less than.",
                f"key {'.'.join(map(str, at))}",
            )


def _model_of(settings: Mapping[str, Any], name: str, files: Sequence[SettingsFile]) -> type[Study]:
    """Class of the settings' model, once no block belongs to another model."""
    model = settings.get("model")
    if not isinstance(model, str) or model not in STUDIES:
        position = position_of(("model",), settings, name, files)
        found = "nothing" if model is None else repr(model)
        remedy = suggestion(str(model), STUDIES) or "Name the model of the study."
        raise InputDataError(position, found, f"one of: {', '.join(STUDIES)}", remedy, "key model")
    foreign = [key for key in settings if key in _blocks_of_other_models(model)]
    if foreign:
        having = [name for name, study in STUDIES.items() if foreign[0] in study.model_fields]
        raise InputDataError(
            position_of((foreign[0],), settings, name, files),
            f"a block of model {' or '.join(having)} in a study of model {model}",
            f"blocks of model {model}: {', '.join(STUDIES[model].model_fields)}",
            f"Set model to {having[0]}, or remove {' and '.join(foreign)}.",
            f"key {foreign[0]}",
        )
    return STUDIES[model]


def _blocks_of_other_models(model: str) -> set[str]:
    """Top-level keys that some model has, and this one has not."""
    known = {key for study in STUDIES.values() for key in study.model_fields}
    return known - set(STUDIES[model].model_fields)


# Markup, controls of terminals, and characters that reverse the order of text.
_MARKUP = re.compile("[<\\x01-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
# Keys of a setting, of which the longest path has ten.
_DEEPEST = 30
# Blocks that are replaced as a whole: they belong together, and a part of another study's is none.
_WHOLE = ("variables", "cases", "analyses")
# Key of a settings file that names the one before it.
FOLLOWS = "follows"


def merge_settings(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some of them replaced.

    Parameters
    ----------
    base, overrides : mapping
        Mappings are merged key by key, everything else (lists too) is replaced; the blocks
        variables, cases and analyses are replaced as a whole. An override of null removes an
        inherited activity or life. Where the overrides name another model, its variables, cases,
        analyses and page, and the blocks that this model does not have, are not inherited.
        Elements and frames of the `accuracy` replace those of `base`, and another model of contact
        replaces the pressure limits of its report.
        An implant from files does not inherit the wear factor that was calibrated with the built-in
        shape. Without a law and a factor it has the law that measured wear does not refute, with
        the factor of pins; with another law, the usual factor.

    Returns
    -------
    dict
        A new mapping.
    """
    base, overrides = present_settings(base), present_settings(overrides)
    # Both files together follow nothing.
    base, overrides = without_predecessor(base), without_predecessor(overrides)
    model = overrides.get("model")
    dropped = {key for key in _WHOLE if key in overrides}
    if isinstance(model, str) and model in STUDIES and model != base.get("model"):
        dropped |= {*_blocks_of_other_models(model), *_WHOLE, "page"}
    base = {key: value for key, value in base.items() if key not in dropped}
    sources = [value_at(one, ("implant", "source")) for one in (base, overrides)]
    if sources == ["parametric", "meshes"] and "wear" in base:
        base = merged(base, {"wear": _wear_of_files(base["wear"], overrides.get("wear"))})
    level = settings_of(overrides.get("accuracy", base.get("accuracy")))
    return merged(merged(base, merged(level, _limits_of_contact(base, overrides))), overrides)


def without_predecessor(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without the name of the file that they follow."""
    return {key: value for key, value in settings.items() if key != FOLLOWS}


def refuse_alone(settings: Mapping[str, Any], file: str, earlier: int) -> None:
    """Refuse a file that follows another one where no settings come before it.

    Parameters
    ----------
    settings : mapping
        Content of the file.
    file : str
        Its path.
    earlier : int
        Number of files and mappings before it, without the default study.

    Raises
    ------
    InputDataError
        If it names a file that it follows, and is the first one.
    """
    base = settings.get(FOLLOWS)
    if base is not None and not earlier:
        raise InputDataError(
            file,
            "no settings before this file",
            f"the study that it changes, {base}",
            f"Give both files: kneewear run {base} {file}",
            f"key {FOLLOWS}",
        )


def _wear_of_files(base: Mapping[str, Any], given: object) -> dict[str, Any]:
    """Wear law and factor of an implant from files, where its settings do not name both."""
    given = given if isinstance(given, Mapping) else {}
    law = base["wear_law"] if "wear_factor_mm3_per_n_m" in given else SURVIVING_LAW
    law = given.get("wear_law", law)
    factor = PIN_WEAR_FACTOR if law == SURVIVING_LAW else USUAL_WEAR_FACTOR
    return {"wear_law": law, "wear_factor_mm3_per_n_m": factor}


def _limits_of_contact(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Pressure limits of the report, where the overrides have another model of contact."""
    names = "pressure_limit_mpa", "avg_pressure_limit_mpa"
    if isinstance(value_at(overrides, ("simulation", "material_yield")), Mapping):
        return {"report": dict(zip(names, YIELD_LIMITS_MPA, strict=True))}
    chosen, given = (
        block.get("contact") if isinstance(block, Mapping) else None
        for block in (overrides.get("simulation"), base.get("simulation"))
    )
    if chosen == given or not isinstance(chosen, str) or chosen not in CONTACT_LIMITS_MPA:
        return {}
    return {"report": dict(zip(names, CONTACT_LIMITS_MPA[chosen], strict=True))}


def warn_of_earlier_name(finding: Finding) -> None:
    """Show a finding about an earlier name of a key or value as a FutureWarning."""
    warnings.warn(finding.text(), FutureWarning, stacklevel=4)


def read_study(
    *sources: str | Path | Mapping[str, Any],
    defaults: str | Path,
    report: Callable[[Finding], None] = warn_of_earlier_name,
) -> Study:
    """Study of settings that override the default ones.

    Parameters
    ----------
    *sources : str, Path or mapping
        YAML files, or mappings of the same structure; later ones win.
    defaults : str or Path
        File of the default study.
    report : callable
        Called with each finding about an earlier name of a key or value.

    Returns
    -------
    Study

    Raises
    ------
    InputDataError
        As `validate_study`.
    """
    base = read_settings_file(defaults)
    settings = base.content
    files, names = [base], [base.path]
    for earlier, source in enumerate(sources):
        if isinstance(source, Mapping):
            present = rename_settings(source, "a mapping")
            content, path, findings = present.content, "a mapping", present.findings
        else:
            files.append(read_settings_file(source))
            content, path, findings = files[-1].content, files[-1].path, files[-1].findings
        for finding in findings:
            report(finding)
        refuse_alone(content, path, earlier)
        settings = merge_settings(settings, content)
        names.append(path)
    return validate_study(settings, " + ".join(names), files)


def study_findings(study: Study) -> tuple[Finding, ...]:
    """Findings about the settings of a study, and about each level or bound of its variables."""
    findings = setting_findings(study)
    further = []
    for name, variable in study.variables.items():
        for number, value in enumerate(variable.extremes):
            place = place_of_level(variable, number, value)
            where = "key " + ".".join(map(str, ("variables", name, *place)))
            further += [
                replace(finding, where=where)
                for finding in setting_findings(study.at({name: value}))
                if finding not in findings and not _depends_on_others(finding.check, name, study)
            ]
    return (*findings, *further, *disagreements(PAIRS, study), *variable_findings(study))


def _depends_on_others(check: str, name: str, study: Study) -> bool:
    """True if further variables change one of the settings that a check compares."""
    row = checks().get(check)
    if row is None or not row.over or study.variables[name].of is not None:
        return False
    return any(
        path.startswith((*row.keys, row.over))
        for other, variable in study.variables.items()
        for path in variable.settings
        if other != name
    )


def apply_case(study: CaseStudy, case: Case) -> WearStudy:
    """Wear study of one case, checked as any other study.

    InputDataError if the study has no setting at the path of a variable, or a value is out of its
    range.
    """
    settings = study.model_dump(mode="json", include=set(WearStudy.model_fields))
    try:
        settings = apply_values(settings, study.variables, case.overrides)
    except KeyError as error:
        raise InputDataError(
            case.name,
            str(error.args[0]),
            "a setting of the study",
            "Correct the paths of the variables.",
        ) from None
    settings |= {
        "model": "wear",
        "variables": {},
        "cases": {"plan": "factorial"},
        "analyses": {},
        "insert": {"thickness_mm": case.thickness},
        "patient": {"body_mass_kg": case.body_mass},
        "cases_per_job": 1,
    }
    try:
        return WearStudy.model_validate(settings)
    except ValidationError as error:
        raise refusal(error, WearStudy, settings, case.name) from None


def overridden_activities(study: CaseStudy, case: Case) -> dict[str, dict[str, Any]]:
    """Settings of the activities that a case overrides, by name, as plain builtins."""
    if not case.overrides:
        return {}
    own = apply_case(study, case).simulated_activities()
    return {
        name: own[name].model_dump(mode="json")
        for name, block in study.simulated_activities().items()
        if own[name] != block
    }
