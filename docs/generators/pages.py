"""Pages made from the code: the API by room, settings, file formats, faults and notebooks."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from docs.generators.notebooks import notebook_page  # noqa: E402
from kneewear.io import netcdf  # noqa: E402
from tests import settings_page  # noqa: E402

ROOMS = (
    "mechanics",
    "geometry",
    "activity",
    "contact",
    "simulation",
    "wear",
    "regression",
    "uncertainty",
    "calibration",
    "report",
    "io",
    "reference",
)


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to those that are written by hand."""
    for name, text in generated_pages():
        files.append(File.generated(config, name, content=text))
    return files


def generated_pages() -> Iterator[tuple[str, str]]:
    """Place of each generated page in docs/, and its Markdown."""
    yield "reference/package.md", api_page("kneewear", "Package", top_level())
    for room in ROOMS:
        yield f"reference/{room}.md", api_page(f"kneewear.{room}", room, modules_of(room))
    yield "reference/settings.md", settings_page.render()
    yield "reference/files.md", (ROOT / "docs/reference/files.md.in").read_text() + layouts()
    yield "reference/faults.md", faults_page()
    for notebook in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        yield f"notebooks/{notebook.stem}.md", notebook_page(notebook)


def top_level() -> list[str]:
    """Modules beside the rooms."""
    found = pkgutil.iter_modules([str(ROOT / "kneewear")])
    return [
        f"kneewear.{module.name}"
        for module in found
        if not module.ispkg and not module.name.startswith("_")
    ]


def modules_of(room: str) -> list[str]:
    """Public modules of a room; kernels are private."""
    found = pkgutil.iter_modules([str(ROOT / "kneewear" / room)])
    return [f"kneewear.{room}.{module.name}" for module in found if not module.name.startswith("_")]


def api_page(package: str, title: str, modules: list[str]) -> str:
    """Page of one room: what it is for, and every public name of its modules."""
    source = ROOT.joinpath(*package.split(".")) / "__init__.py"
    meaning = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    parts = [f"# {title}", meaning, f"::: {package}\n    options: {{show_root_toc_entry: false}}"]
    if package != "kneewear":
        parts.pop()
    return "\n\n".join([*parts, *(f"::: {module}" for module in modules)]) + "\n"


def layouts() -> str:
    """Variables of every NetCDF file, from the layouts that write and read them."""
    parts = []
    for name in modules_of("io"):
        layout = getattr(importlib.import_module(name), "LAYOUT", None)
        if isinstance(layout, netcdf.Layout):
            parts += [
                f"\n### {layout_title(layout)} (`{name}`)\n",
                "| variable | axes | unit | meaning |",
            ]
            parts.append("|---|---|---|---|")
            parts += [
                f"| `{one.name}` | {', '.join(one.dims)} | {one.units} | {one.long_name} |"
                for one in layout.variables
            ]
    return "\n".join(parts) + "\n"


def layout_title(layout: netcdf.Layout) -> str:
    """What a file of this layout is called."""
    return layout.kind[:1].upper() + layout.kind[1:]


FAULTS_HEAD = """# Faults

Every row of both tables is a test: the fault is made, and what happens is held to what the row
says. What was tried beyond the tests stands under [Faults tried](../faults-tried.md).

## Faults of a running study

{faults}
## Bad input

Bad input stops a study before its first job. The message names the file and the place, what was
found, what was expected and what to do. All rows are proven by
`tests/faults/test_bad_input.py::test_bad_input_is_refused_with_its_own_message`.

{kinds}"""
NO_CATALOGUE = "The catalogue of faults (`tests/faults`) is not part of this version.\n"


def faults_page() -> str:
    """Tables of all faults that are tested, as the tests render them."""
    try:
        faults = importlib.import_module("tests.faults.fault_catalogue")
        kinds = importlib.import_module("tests.faults.bad_input")
    except ModuleNotFoundError:
        return "# Faults\n\n" + NO_CATALOGUE
    return FAULTS_HEAD.format(faults=faults.render_table(), kinds=kinds.render_table())
