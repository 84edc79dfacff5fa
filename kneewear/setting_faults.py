"""Faults of settings, told so that a user can mend them: key, finding, expectation, remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from kneewear.errors import InputDataError

_EXPECTATIONS = {
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "dict_type": "a mapping of names to values",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "too_short": "at least one entry",
    "string_pattern_mismatch": "a name of letters, digits, '-' and '_'",
}


def fault(found: str, expected: str, remedy: str) -> PydanticCustomError:
    """Fault for a validator of settings to raise.

    Parameters
    ----------
    found, expected, remedy : str
        What is there, what would have been right, and what to do, as in `InputDataError`.

    Returns
    -------
    PydanticCustomError
    """
    context = {"found": found, "expected": expected, "remedy": remedy}
    return PydanticCustomError("kneewear", "found {found}; expected {expected}", context)


def suggestion(key: str, known: Iterable[str]) -> str:
    """Question after the known name nearest to a key, or nothing when none is near."""
    close = difflib.get_close_matches(str(key), [str(name) for name in known], n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else ""


def refusal(
    error: ValidationError, model: type[BaseModel], settings: Mapping[str, Any], name: str
) -> InputDataError:
    """All faults of settings in one error.

    Parameters
    ----------
    error : ValidationError
        What the model said.
    model : type
        The model of the whole settings.
    settings : mapping
        What was checked.
    name : str
        What to call the settings.

    Returns
    -------
    InputDataError
        Lists every fault with its key path.
    """
    raised = error.errors()
    # A list or block whose entries are at fault is often called faulty too (as too short, say).
    inner = {details["loc"][:n] for details in raised for n in range(len(details["loc"]))}
    faults = [
        _describe(details, model, settings) for details in raised if details["loc"] not in inner
    ]
    if len(faults) == 1:
        where, found, expected, remedy = faults[0]
        return InputDataError(name, found, expected, remedy, where)
    listed = "".join(
        f"\n  {where}: found {found}; expected {expected}. {remedy}"
        for where, found, expected, remedy in faults
    )
    return InputDataError(name, f"{len(faults)} faults", "none", f"Correct these:{listed}")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the settings models inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, Annotated):
        for part in get_args(annotation):
            yield from _models(part)


def _known_keys(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """Keys that may stand beside the last element of a location."""
    annotation: Any = model
    for step in location[:-1]:
        models = list(_models(annotation))
        if models:
            annotation = next(
                (m.model_fields[str(step)].annotation for m in models if step in m.model_fields),
                None,
            )
        else:
            parts = [part for part in get_args(annotation) if part is not Ellipsis]
            annotation = parts[-1] if parts else None
    return [key for one in _models(annotation) for key in one.model_fields]


def _value_at(settings: Any, location: tuple[str | int, ...]) -> Any:
    for step in location:
        try:
            settings = settings[step]
        except (KeyError, IndexError, TypeError):
            return None
    return settings


def _describe(
    details: Any, model: type[BaseModel], settings: Mapping[str, Any]
) -> tuple[str, str, str, str]:
    """Key path, finding, expectation and remedy of one pydantic error."""
    location: tuple[str | int, ...] = details["loc"]
    if len(location) > 2 and location[0] == "activities":
        # Pydantic puts the tag of the discriminated union into the path; users never wrote it.
        location = location[:2] + location[3:]
    location = tuple(step for step in location if step != "[key]")
    where = "key " + ".".join(str(step) for step in location)
    kind, context = details["type"], details.get("ctx", {})
    known = _known_keys(model, location)
    if kind == "kneewear":
        where = where if location else ""
        return where, context["found"], context["expected"], context["remedy"]
    if kind == "extra_forbidden":
        expected = f"one of: {', '.join(known)}"
        remedy = suggestion(str(location[-1]), known) or "Remove the key."
        return where, "an unknown key", expected, remedy
    if kind == "missing":
        present = _value_at(settings, location[:-1])
        strangers = [key for key in present or {} if isinstance(key, str) and key not in known]
        close = suggestion(str(location[-1]), strangers).replace("Did you mean", "Is it")
        return where, "nothing", "a value", close or "Add the key (see config/config.yaml)."
    if kind.startswith("union_tag"):
        tag = _value_at(settings, (*location, "source"))
        found = "nothing" if tag is None else repr(tag)
        return f"{where}.source", found, "parametric or file", "Say where the activity is from."
    message = details["msg"].removeprefix("Input should be ").removeprefix("Input should ")
    wanted = _EXPECTATIONS.get(kind, message)
    return where, repr(details["input"]), wanted, "Correct the value (see config/README.md)."
