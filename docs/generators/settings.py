"""Documentation of the settings: `config/README.md` and the JSON schema `config/schema.json`.

`python -m docs.generators.settings` renews both from the fields of the settings classes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from kneewear.activity.standards import StandardActivity  # noqa: E402
from kneewear.base.checks import checks  # noqa: E402
from kneewear.base.keys import Key, blocks_in  # noqa: E402
from kneewear.study.settings import STUDIES, Study  # noqa: E402
from kneewear.study.shipped import first_sentence  # noqa: E402

PAGE = ROOT / "config" / "README.md"
SCHEMA = ROOT / "config" / "schema.json"
HEAD = Path(__file__).with_name("settings.md")
TABLE = ["| key | value | usual | meaning |", "|---|---|---|---|"]
CHECKS = ["| check | quantity | usual | possible | source |", "|---|---|---|---|---|"]
NAMES = {float: "number", int: "whole number", str: "text", bool: "true or false"}


def render_page() -> str:
    """Text of `config/README.md`."""
    studies = "\n".join(
        f"| `{path.relative_to(PAGE.parent).as_posix()}` | {first_sentence(path)} |"
        for path in sorted(PAGE.parent.glob("**/*.yaml"))
    )
    models = "\n".join(
        f"| `{name}` | {model_summary(name)} | {', '.join(f'`{key}`' for key in _further(model))} |"
        for name, model in STUDIES.items()
    )
    head = HEAD.read_text("utf-8").replace("@STUDIES@", studies).replace("@MODELS@", models)
    shown: set[tuple[type, str, str]] = set()
    rows: dict[str, list[str]] = {}
    for model in (Study, *STUDIES.values()):
        for top, row in _rows(model, "", shown):
            rows.setdefault(top, []).append(row)
    rows["activities"] += [row for _, row in _rows(StandardActivity, "activities.*", shown)]
    single = [row for block in rows.values() if len(block) == 1 for row in block]
    tables = [("Single keys", single)]
    tables += [(f"`{top}`", block) for top, block in rows.items() if len(block) > 1]
    lines = [line for title, block in tables for line in (f"## {title}", "", *TABLE, *block, "")]
    checked = "".join(
        f"| `{check.name}` | {check.quantity} | {check.range.usual or '-'} | "
        f"{check.range.possible or '-'} | {check.range.source} |\n"
        for check in checks().values()
    )
    lines += ["## Checks of computed quantities", "", *CHECKS]
    return head + "\n".join(lines) + f"\n{checked}"


def model_summary(name: str) -> str:
    """First sentence of a model's documentation."""
    return " ".join(str(STUDIES[name].__doc__).split("\n\n")[0].split())


def _further(model: type[Study]) -> list[str]:
    """Keys of a model besides those of every study."""
    return [name for name in model.model_fields if name not in Study.model_fields]


def _rows(
    block: type[BaseModel], path: str, shown: set[tuple[type, str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield top-level key and row of each key of a block and the blocks inside it, each once."""
    for name, field in block.model_fields.items():
        owner = next(one for one in block.__mro__ if name in getattr(one, "__annotations__", {}))
        selects_model = block in STUDIES.values() and name == "model"
        # A generic block defines keys of several types.
        identity = owner, name, str(field.annotation)
        if identity in shown or selects_model:
            continue
        shown.add(identity)
        at = f"{path}.{name}" if path else name
        key = Key(name, field, block)
        span = key.range
        blocks = [] if span else list(blocks_in(field.annotation))
        kind = "block" if blocks else _kind(field.annotation)
        limits = "" if span is None else span.usual or span.unit
        top, _, inner = at.partition(".")
        yield top, f"| `{inner or top}` | {kind} | {limits} | {key.meaning} |"
        for suffix, one in blocks:
            yield from _rows(one, at + suffix, shown)


def _kind(annotation: Any) -> str:
    """Type of a value, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin is Annotated:
        return _kind(parts[0])
    if origin in (UnionType, Union):
        return " or ".join(_kind(part) for part in parts)
    if origin in (tuple, list):
        return f"{len(parts)} values" if parts[-1] is not Ellipsis and origin is tuple else "list"
    if origin is dict:
        return "mapping"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "per side"
    return NAMES.get(annotation, "null")


def render_schema() -> str:
    """Text of `config/schema.json`, for editors: every key is optional there, as in overrides."""
    kinds = [model.model_json_schema() for model in STUDIES.values()]
    blocks = {name: block for kind in kinds for name, block in kind.pop("$defs").items()}
    schema = {"anyOf": kinds, "$defs": blocks}
    return json.dumps(_loosen(schema), indent=1, sort_keys=True) + "\n"


def _loosen(schema: Any) -> Any:
    """Allow what overrides may be: partial blocks, and null for entries of mappings."""
    if isinstance(schema, list):
        return [_loosen(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    loose = {
        {"oneOf": "anyOf"}.get(key, key): _loosen(value)
        for key, value in schema.items()
        if key not in ("required", "discriminator")
        and not (key == "title" and isinstance(value, str))
    }
    if isinstance(names := loose.get("patternProperties"), dict):
        loose["patternProperties"] = {
            pattern: {"anyOf": [entry, {"type": "null"}]} for pattern, entry in names.items()
        }
    if isinstance(entry := loose.get("additionalProperties"), dict):
        loose["additionalProperties"] = {"anyOf": [entry, {"type": "null"}]}
    if "description" in loose and "unit" in loose and loose["unit"] != "1":
        loose["description"] = f"{loose['description']} Unit: {loose['unit']}."
    return loose


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")
    SCHEMA.write_text(render_schema(), encoding="utf-8")
