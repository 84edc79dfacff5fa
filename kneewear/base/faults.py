"""Faults of settings as messages a user can act on: key, finding, expectation, remedy."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from kneewear.base.files import Location, SettingsFile, value_at
from kneewear.base.keys import find_place, range_at, tags_of
from kneewear.errors import InputDataError

# Sources of activities that become those of files.
_STANDARDS = ["iso14243-1", "iso14243-3", "astm-f3141"]
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
    "string_too_long": "a shorter text",
    "string_pattern_mismatch": "a name of letters, digits, '-' and '_'",
}


def fault(found: str, expected: str, remedy: str) -> PydanticCustomError:
    """Fault for a validator of settings to raise; texts as in `InputDataError`."""
    context = {"found": found, "expected": expected, "remedy": remedy}
    return PydanticCustomError("kneewear", "found {found}; expected {expected}", context)


def impossible(found: str, expected: str, remedy: str) -> PydanticCustomError:
    """Fault of a value outside its possible range."""
    context = {"found": found, "expected": expected, "remedy": remedy}
    return PydanticCustomError("impossible", "found {found}; expected {expected}", context)


def fault_at(location: Location, found: str, expected: str, remedy: str) -> ValidationError:
    """Fault of one key within a block, for the validator of the whole block to raise."""
    line = InitErrorDetails(type=fault(found, expected, remedy), loc=location, input=found)
    return ValidationError.from_exception_data("settings", [line])


def refuse_repeated(named: Mapping[str, str | None], whole: bool = False) -> None:
    """Refuse one column of a file for two quantities; `named` are the columns by their keys.

    Raises ValidationError at the later key, or at the `whole` block. Keys without a column are left
    out.
    """
    keys: dict[str, str] = {}
    for key, column in named.items():
        if column and column in keys:
            found = f"column '{column}' for {keys[column]} and {key}"
            place = () if whole else (key,)
            raise fault_at(place, found, "different columns", "Correct one of the names.")
        if column:
            keys[column] = key


def suggestion(key: str, known: Iterable[str]) -> str:
    """Question after the known name nearest to a key, or nothing when none is near."""
    close = difflib.get_close_matches(str(key), [str(name) for name in known], n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else ""


def refusal(
    error: ValidationError,
    model: type[BaseModel],
    settings: Mapping[str, Any],
    name: str,
    files: Sequence[SettingsFile] = (),
) -> InputDataError:
    """All faults of settings in one error, each with file, line and key path.

    Parameters
    ----------
    error : ValidationError
        Error of the model.
    model : type
        The model of the whole settings.
    settings : mapping
        Settings that were checked.
    name : str
        Name of the settings in messages.
    files : sequence of SettingsFile
        Files they were merged from; later ones win.
    """
    raised = error.errors()
    # A list or block with faulty entries is often reported as faulty too (as too short, say).
    inner = {details["loc"][:n] for details in raised for n in range(len(details["loc"]))}
    described: dict[tuple[Location, str], list[tuple[str, str]]] = {}
    checks: dict[Location, str] = {}
    for details in raised:
        if details["loc"] not in inner:
            location, found, expected, remedy = _describe(details, model, settings)
            described.setdefault((location, found), []).append((expected, remedy))
            known = range_at(model, location) if details["type"] == "impossible" else None
            check = details.get("ctx", {}).get("check") or (known[0] if known else "")
            checks |= {location: check} if check else {}
    faults = []
    # Of a key that takes several forms of values, pydantic reports each.
    for (location, found), forms in described.items():
        where = f"key {'.'.join(map(str, location))}" if location else ""
        position = position_of(location, settings, name, files)
        expected = " or ".join(expected for expected, _ in forms)
        check = checks.get(location, "")
        faults.append(InputDataError(position, found, expected, forms[0][1], where, check))
    if len(faults) == 1:
        return faults[0]
    listed = "".join(f"\n  {fault}" for fault in faults)
    return InputDataError(name, f"{len(faults)} faults", "none", f"Correct these:{listed}")


def position_of(
    location: Location, settings: Mapping[str, Any], name: str, files: Sequence[SettingsFile]
) -> str:
    """File and line of a key, or of the block it is missing in; the name where no file has it."""
    for size in range(len(location), 0, -1):
        part = location[:size]
        holding = [file for file in files if part in file.lines]
        if size == len(location):
            # Another value comes from another file, from the command line or from a program.
            same = [file for file in holding if _agrees(file, part, value_at(settings, part))]
            if holding and not same:
                return name
            holding = same
        if holding:
            line = holding[-1].lines[part]
            # Settings given on the command line have no lines.
            return f"{holding[-1].path}, line {line}" if line else holding[-1].path
    return name


def _agrees(file: SettingsFile, location: Location, value: Any) -> bool:
    """True if a file has this value; blocks are merged from several files."""
    # As text, for not-a-number is not equal to itself.
    return isinstance(value, Mapping) or str(value_at(file.content, location)) == str(value)


def _describe(
    details: Any, model: type[BaseModel], settings: Mapping[str, Any]
) -> tuple[Location, str, str, str]:
    """Location, finding, expectation and remedy of one pydantic error."""
    steps = tuple(step for step in details["loc"] if step != "[key]")
    location, block, annotation = find_place(model, steps)
    if isinstance(value_at(settings, location[:-1]), (str, float, int)):
        location = location[:-1]  # the form of a value that has several
    kind, context = details["type"], details.get("ctx", {})
    known = list(block.model_fields) if block else []
    if kind in ("kneewear", "impossible"):
        return location, context["found"], context["expected"], context["remedy"]
    if kind == "extra_forbidden":
        expected = f"one of: {', '.join(known)}"
        remedy = suggestion(str(location[-1]), known) or "Remove the key."
        return location, "an unknown key", expected, remedy
    if kind == "missing":
        present = value_at(settings, location[:-1])
        strangers = [key for key in present or {} if isinstance(key, str) and key not in known]
        close = suggestion(str(location[-1]), strangers).replace("Did you mean", "Is it")
        return location, "nothing", "a value", close or "Add the key (see config/defaults.yaml)."
    if kind.startswith("union_tag"):
        name = context["discriminator"].strip("'")
        tag = value_at(settings, (*location, name))
        tags = tags_of(annotation, name)
        if location[:1] == ("activities",) and name == "source":
            tags += _STANDARDS
        found = "nothing" if tag is None else _shown(tag)
        remedy = suggestion(str(tag), tags) or f"Name the {name} (see config/README.md)."
        return (*location, name), found, f"one of: {', '.join(tags)}", remedy
    message = details["msg"].removeprefix("Input should be ").removeprefix("Input should ")
    wanted = _EXPECTATIONS.get(kind, message)
    return location, _shown(details["input"]), wanted, _remedy(kind, model, location)


def _shown(value: Any) -> str:
    """Value as the message shows it, however long it is."""
    return "nothing" if value is None else reprlib.repr(value)


def _remedy(kind: str, model: type[BaseModel], location: Location) -> str:
    """Remedy for a faulty value; numbers out of range are often in another unit."""
    known = range_at(model, location)
    if known is not None and known[1].unit != "1" and kind.startswith(("greater", "less")):
        return f"Give it in {known[1].unit}, or correct the value (see config/README.md)."
    return "Correct the value (see config/README.md)."


def check_ring_radii(inner_mm: float, outer_mm: float) -> None:
    """Refuse an inner radius that is not below the outer one."""
    if inner_mm >= outer_mm:
        raise fault(
            f"inner_radius_mm: {inner_mm:g}, outer_radius_mm: {outer_mm:g}",
            "an inner radius below the outer one",
            "Correct the radii.",
        )
