"""config/README.md as the models of `kneewear/config.py` make it.

`python -m tests.settings_page` writes it; a test holds it up to date.
"""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Any, get_args, get_origin

from kneewear.config import (
    CsvActivity,
    MeshImplantSettings,
    ParametricActivity,
    Settings,
    Study,
)

PAGE = Path(__file__).parent.parent / "config" / "README.md"
HEAD = """# Settings

`config.yaml` is the default study and the only place where default values stand. Other files here
override single keys:

| file | study |
|---|---|
| `config.yaml` | 5 insert thicknesses x 5 body masses, built-in implant and gait, 51 months |
| `quick.yaml` | 4 cases on a coarse grid, about twenty seconds |
| `chapter3.yaml` | static pressures of a posterior-stabilised implant, two materials |
| `nominal.yaml` | one patient (70 kg, 6.8 mm), gait alone and mixed with stairs |
| `example_meshes.yaml` | an implant from STL and a gait from CSV; start here for your own |
| `dm_fluoroscopy.yaml` | a real implant with its fluoroscopic gait (data from elsewhere) |

Run one with `make study CONFIG=config/quick.yaml` or
`snakemake --cores 2 --configfile config/quick.yaml`. Several files may be named; later ones win.
Mappings are merged key by key, lists are replaced, and `null` removes an inherited activity or
life. A key that is misspelt, missing, of the wrong type or out of range stops the run before the
first job.

Data files are looked for in `data_folder` (the environment variable `KNEEWEAR_DATA` overrides
it), then in the checkout; absolute paths are taken as they are.

Names carry units. Paths below are the nesting of keys; `*` stands for a name of your choice and
`[]` for an entry of a list.
"""


def render() -> str:
    """Text of the page."""
    csv, meshes = _rows(CsvActivity, "activities.*"), _rows(MeshImplantSettings, "implant.meshes")
    parts = [
        HEAD,
        _table("Study", _rows(Study, "")),
        _table("Activities read from CSV (`source: csv`)", csv),
        _table("Implants read from meshes (`source: meshes`)", meshes),
    ]
    return "\n".join(parts)


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"## {title}", "", "| key | value | meaning |", "|---|---|---|"]
    lines += [f"| `{key}` | {kind} | {text} |" for key, kind, text in rows]
    return "\n".join(lines) + "\n"


def _rows(model: type[Settings], path: str) -> list[tuple[str, str, str]]:
    rows = []
    hints = typing.get_type_hints(model, include_extras=True)
    for name, field in model.model_fields.items():
        key, text = (f"{path}.{name}" if path else name), str(field.description)
        inner, suffix = _inner(field.annotation)
        if name == "activities":
            rows.append((key, "mapping of names to activities", text))
            rows += _rows(ParametricActivity, "activities.*")
        elif inner is MeshImplantSettings:
            rows.append((key, "block (below) or null", text))
        elif inner is not None:
            rows.append((key, "list" if suffix else "block", text))
            rows += _rows(inner, key + suffix)
        else:
            limits = _limits([field.metadata, hints[name]])
            rows.append((key, _kind(field.annotation) + limits, text))
    return rows


def _inner(annotation: Any) -> tuple[type[Settings] | None, str]:
    """Return the block inside an annotation and the suffix of its path."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation, ""
    if get_origin(annotation) in (types.UnionType, typing.Union):
        return next((_inner(part) for part in get_args(annotation)), (None, ""))
    if get_origin(annotation) is tuple:
        inner, _ = _inner(get_args(annotation)[0])
        return inner, "[]"
    return None, ""


def _kind(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin is typing.Annotated:
        return _kind(parts[0])
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_kind(part) for part in parts)
    if origin is tuple:
        kind = _kind(parts[0])
        return f"list of {kind}s" if parts[-1] is Ellipsis else f"pair of {kind}s"
    if origin is dict:
        return "mapping"
    names = {float: "number", int: "whole number", str: "text", bool: "true or false"}
    return names.get(annotation, "null")


def _limits(sources: Any) -> str:
    """Limits of a value, wherever pydantic keeps them."""
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    found: dict[str, Any] = {}
    stack = list(sources)
    while stack:
        item = stack.pop()
        if isinstance(item, list | tuple):
            stack += item
        elif get_args(item) and get_origin(item) is not typing.Literal:
            stack += [*get_args(item), *getattr(item, "__metadata__", ())]
        else:
            stack += getattr(item, "metadata", None) or []
            found |= {
                sign: getattr(item, name)
                for name, sign in signs.items()
                if getattr(item, name, None) is not None
            }
    return "".join(f", {sign} {found[sign]:g}" for sign in signs.values() if sign in found)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
