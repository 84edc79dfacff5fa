"""Variables that change no result, and what is unusual about variables and their plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from kneewear.base.cases import OUTPUTS
from kneewear.base.checks import checks
from kneewear.base.faults import fault_at, suggestion
from kneewear.base.files import Location, value_at
from kneewear.base.keys import range_at
from kneewear.base.variables import Variable, apply_values, check_variables, locations_of
from kneewear.errors import Finding
from kneewear.study.study import Study, place_of_level
from kneewear.wear.law_settings import WEAR_LAWS, laws_with_wear_factor

# Settings on which no case depends.
_SHARED = (
    "study",
    "model",
    "data_folder",
    "seed",
    "accuracy",
    "variables",
    "cases",
    "analyses",
    "page",
    "report",
    "checks",
    "cases_per_job",
)
# Settings that only some values of another one use: beginning of the path, that other one and its
# values.
_USED_WITH: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("simulation.fixed_load_line_mm", "simulation.load_line", ("fixed",)),
    ("simulation.medial_share", "simulation.load_line", ("solved",)),
    ("simulation.forward", "simulation.analysis", ("forward",)),
    ("coarse_grid", "simulation.analysis", ("forward",)),
)
# Numbers of the computation: a plan of samples over them shows no property of knees.
_NUMERICAL = (
    "grid",
    "coarse_grid",
    "table",
    "simulation.frames",
    "simulation.tolerance",
    "simulation.forward.relative_tolerance",
)
# What a search of designs may change: the implant, and where it is placed.
_DESIGN = ("implant", "simulation.alignment")
_SAMPLED = ("latin_hypercube", "sobol", "monte_carlo", "one_at_a_time", "variance_based")
# Options of analyses that name a variable.
_OF_VARIABLES = ("by", "between", "test", "law")
# Largest results of any knee, by their units.
_LARGEST = {"MPa": 500.0, "mm": 60.0, "mm2": 5000.0, "mm3": 1e5, "mm/year": 20.0, "mm3/year": 1e5}
# Units of settings whose ranges are judged by `variables.spread_*`.
_SPREAD_UNITS = ("deg", "mm")
# Results of which less is better.
_HARMFUL = ("pressure", "depth", "volume", "rate", "damage_area")


def check_cases(study: Study) -> None:
    """Refuse variables that no case can have.

    Their paths must name settings that cases depend on, no variable may replace what another
    one changed, and the settings must be possible with each level or bound alone.
    Combinations of variables are checked when they are computed. ValidationError as of
    :func:`kneewear.base.faults.fault_at`.
    """
    settings = study.model_dump(mode="json")
    changed = [path for variable in study.variables.values() for path in variable.settings]
    for variable in study.variables.values():
        if not variable.settings:
            changed += [key for block in (variable.blocks or {}).values() for key in block]

    def without_effect(settings: Mapping[str, Any], location: Location) -> str:
        return reason_without_effect(settings, location, changed)

    check_variables(settings, study.variables, ("variables",), without_effect)
    refuse_unknown_variables(study)
    refuse_without_effect(settings, study.variables)
    refuse_too_few_cases(study)
    for name, variable in study.variables.items():
        for number, value in enumerate(variable.extremes):
            try:
                study.at({name: value})
            except ValidationError as error:
                first = error.errors()[0]
                key = ".".join(map(str, first["loc"]))
                context = first.get("ctx", {})
                texts = {
                    "found": context.get("found", f"{value}, for which {key} is refused"),
                    "expected": context.get("expected", first["msg"]),
                    "remedy": context.get("remedy", "Correct the value."),
                    "check": key if first["type"] == "impossible" else "",
                }
                place = ("variables", name, *place_of_level(variable, number, value))
                kind = PydanticCustomError("kneewear", "found {found}", texts)
                line = InitErrorDetails(type=kind, loc=place, input=value)
                raise ValidationError.from_exception_data("settings", [line]) from None


def reason_without_effect(
    settings: Mapping[str, Any], location: Location, changed: Sequence[str] = ()
) -> str:
    """Why cases do not depend on a setting; empty where they do.

    Parameters
    ----------
    settings : mapping
        The study, as plain builtins.
    location : tuple
        Place of the setting.
    changed : sequence of str
        Paths that variables change, by which another setting may be used after all.
    """
    if location[0] in _SHARED:
        return "cases do not depend on it"
    path = ".".join(map(str, location))
    for start, other, values in (*_USED_WITH, *_used_with_laws()):
        if _begins(path, start) and not any(_begins(other, one) for one in changed):
            given = value_at(settings, tuple(other.split(".")))
            if given is not None and given not in values:
                return f"not used with {other}: {given}"
    if location[0] == "activities" and not any(one.startswith("wear") for one in changed):
        lives = settings["wear"]["lives"]
        if not any(location[1] in shares for shares in lives.values()):
            return f"no life has activity {location[1]}"
    return ""


def _used_with_laws() -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield settings that only some wear laws use, as `_USED_WITH` lists those of others."""
    for name in WEAR_LAWS:
        yield f"wear.laws.{name}", "wear.wear_law", (name,)
    yield "wear.wear_factor_mm3_per_n_m", "wear.wear_law", laws_with_wear_factor()


def refuse_without_effect(settings: Mapping[str, Any], variables: Mapping[str, Variable]) -> None:
    """Refuse variables of which two values give the same settings, such as multiples of zero.

    ValidationError as of :func:`kneewear.base.faults.fault_at`.
    """
    for name, variable in variables.items():
        seen: list[tuple[Any, dict[str, Any]]] = []
        for value in variable.extremes:
            now = apply_values(settings, variables, {name: value})
            same = next((before for before, other in seen if other == now), None)
            if same is not None:
                raise fault_at(
                    ("variables", name),
                    f"the same settings with {same} and {value}",
                    "settings that differ from value to value",
                    "Remove the variable, or give its settings a value that it can multiply.",
                )
            seen.append((value, now))
        continuous = variable.values is None and variable.blocks is None and variable.has_values
        for path in variable.settings if continuous else ():
            for at in locations_of(settings, path):
                if _is_whole(settings, at) and not all(
                    float(value).is_integer() for value in variable.level_values
                ):
                    raise fault_at(
                        ("variables", name),
                        f"a range of {path}, which is a whole number",
                        "whole numbers as levels",
                        "List them under values.",
                    )


def _is_whole(settings: Mapping[str, Any], location: Location) -> bool:
    """True if a setting is a whole number by its type."""
    value = value_at(settings, location)
    return isinstance(value, int) and not isinstance(value, bool)


def variable_findings(study: Study) -> Iterator[Finding]:
    """Yield findings about variables whose unit, role or number of cases is unusual."""
    plan = study.cases.plan
    for name, variable in study.variables.items():
        where = f"key variables.{name}"
        for path in variable.settings:
            unit = _other_unit(study, path, variable)
            if unit:
                yield Finding(
                    "variables.unit",
                    "warn",
                    f"{where}.unit",
                    variable.unit,
                    unit,
                    f"Give values and unit in {unit}, the unit of {path}.",
                )
            if _sets_unlike(study, path, variable):
                yield Finding(
                    "variables.set",
                    "warn",
                    where,
                    f"one value for all of {path}, which differ",
                    "change: multiply or add",
                    "Set them one by one, or multiply them.",
                )
            if plan == "search" and not any(_begins(path, one) for one in _DESIGN):
                yield Finding(
                    "variables.design",
                    "warn",
                    where,
                    path,
                    "a setting of the implant",
                    "A search of designs changes the knee or its material with it: fix it.",
                )
            yield from _spread_findings(study, name, path, variable)
            if plan in _SAMPLED and any(_begins(path, one) for one in _NUMERICAL):
                yield Finding(
                    "variables.numerical",
                    "warn",
                    where,
                    path,
                    "a property of knee or patient",
                    "Errors of the computation are no spread: see tables/accuracy.csv.",
                )
    yield from _plan_findings(study)
    yield from _centre_findings(study)


def _centre_findings(study: Study) -> Iterator[Finding]:
    """Yield findings about centres of rotation of components that no case rotates."""
    alignment = study.simulation.alignment
    changed = [path for one in study.variables.values() for path in one.settings]
    if any(variable.blocks for variable in study.variables.values()) or any(
        _begins(path, "simulation.alignment") for path in changed
    ):
        return
    for name, component in (("tibial", alignment.tibial), ("femoral", alignment.femoral)):
        distance = 0.0 if component.rotates else hypot(*component.centre_mm)
        key = f"key simulation.alignment.{name}.centre_mm"
        finding = checks()["settings.centre"].judge(distance, key, "Rotate it, or leave it out.")
        if finding is not None:
            yield finding


def _spread_findings(study: Study, name: str, path: str, variable: Variable) -> Iterator[Finding]:
    """Yield a finding about a range of an angle or a length that no knee is known to."""
    words = path.split(".")
    unit = next(
        (one for one in _SPREAD_UNITS if any(word.endswith(f"_{one}") for word in words)), ""
    )
    span = variable.low is not None or variable.uniform or variable.normal
    if not (unit and span) or words[-1].endswith("_percent"):
        return
    low, high = variable.bounds
    spread = (high - low) * _largest(study, path if variable.of is None else variable.of, variable)
    finding = checks()[f"variables.spread_{unit}"].judge(spread, f"key variables.{name}")
    if finding is not None:
        yield finding


def _largest(study: Study, path: str, variable: Variable) -> float:
    """Largest size of the numbers at a path, which a variable multiplies; 1 if it does not."""
    if variable.change != "multiply":
        return 1.0
    settings = study.model_dump(mode="json")
    return max(abs(float(value_at(settings, at))) for at in locations_of(settings, path))


def _sets_unlike(study: Study, path: str, variable: Variable) -> bool:
    """True if numbers of other signs, or more than twice as large, are all set to one value."""
    if variable.change != "set" or "*" not in path:
        return False
    settings = study.model_dump(mode="json")
    values = [value_at(settings, at) for at in locations_of(settings, path)]
    numbers = [value for value in values if isinstance(value, int | float)]
    return len(numbers) > 1 and not max(numbers) <= 2.0 * min(numbers)


def _plan_findings(study: Study) -> Iterator[Finding]:
    """Yield findings about goals that are unusual, and about few cases."""
    for name, goal in getattr(study.cases, "objectives", {}).items():
        if goal == "maximise" and name.endswith(_HARMFUL):
            yield Finding(
                "cases.objectives",
                "warn",
                f"key cases.objectives.{name}",
                goal,
                "minimise",
                "The search would look for the worst design.",
            )
    for name, limits in getattr(study.cases, "constraints", {}).items():
        for key, limit in (("at_least", limits.at_least), ("at_most", limits.at_most)):
            if key == "at_least" and limit is not None and name.endswith(_HARMFUL):
                yield Finding(
                    "cases.objectives",
                    "warn",
                    f"key cases.constraints.{name}.at_least",
                    f"at least {limit:g}",
                    "at_most",
                    "The search would look for harmful designs.",
                )
            most = _LARGEST.get(OUTPUTS.get(name, ""))
            if limit is not None and most is not None and not 0.0 < limit <= most:
                yield Finding(
                    "cases.constraints",
                    "warn",
                    f"key cases.constraints.{name}.{key}",
                    f"{limit:g}",
                    f"above 0, up to {most:g} {OUTPUTS[name]}",
                    "All designs fulfil it, or none.",
                )
    if study.analyses.effects is None or study.cases.plan not in _SAMPLED:
        return
    count = study.cases.case_count(study.variables)
    number = sum(variable.is_numeric for variable in study.variables.values())
    terms = 1 + number + number * (number + 1) // 2
    if count is not None:
        finding = checks()["cases.per_coefficient"].judge(count / terms, "key cases.samples")
        if finding is not None:
            yield finding


def refuse_too_few_cases(study: Study) -> None:
    """Refuse effects from fewer cases than a plane over the variables has coefficients."""
    if study.analyses.effects is None or study.cases.plan not in _SAMPLED:
        return
    count = study.cases.case_count(study.variables)
    terms = 1 + sum(variable.is_numeric for variable in study.variables.values())
    if count is not None and count <= terms:
        raise fault_at(
            ("cases", "samples"),
            f"{count} cases",
            f"more than {terms}, the coefficients of a plane over the variables",
            "Take more samples, or remove analyses.effects.",
        )


def refuse_unknown_variables(study: Study) -> None:
    """Refuse analyses by a variable that the study does not have.

    Labels of a table of cases are only known when it is read.
    """
    if study.cases.plan == "table":
        return
    for name, options in study.analyses.chosen.items():
        for key in filter(_OF_VARIABLES.__contains__, type(options).model_fields):
            variable = getattr(options, key)
            if variable is not None and variable not in study.variables:
                raise fault_at(
                    ("analyses", name, key),
                    f"no variable '{variable}'",
                    f"one of {', '.join(study.variables) or 'some variables'}",
                    suggestion(variable, study.variables) or "Add the variable, or name another.",
                )


def _other_unit(study: Study, path: str, variable: Variable) -> str:
    """Unit of a setting where the variable states another one; else empty."""
    if not variable.unit or variable.change == "multiply" or not variable.is_numeric:
        return ""
    found = range_at(type(study), tuple(path.split(".")))
    unit = "" if found is None else found[1].unit
    # Units in words are those of curves and results.
    return "" if " of " in unit or unit.replace(" ", "") == variable.unit.replace(" ", "") else unit


def _begins(path: str, start: str) -> bool:
    """True if a path is at another one or below it."""
    return path == start or path.startswith(f"{start}.")
