"""Pages generated from the code: Python API, rooms, settings, files, faults and notebooks."""

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

import kneewear  # noqa: E402
from docs.generators.notebooks import notebook_page  # noqa: E402
from kneewear.io.schema import RECORDS  # noqa: E402
from tests import settings_page  # noqa: E402

ROOMS = (
    "settings",
    "mechanics",
    "geometry",
    "activity",
    "contact",
    "tissue",
    "fe",
    "multibody",
    "simulation",
    "wear",
    "regression",
    "studies",
    "verification",
    "report",
    "io",
    "reference",
)
# In the order of use; the classes are what the functions return.
API = (
    "load_study",
    "default_study",
    "build_knee",
    "simulate",
    "accumulate_wear",
    "tabulate_cases",
    "evaluate_contact",
    "open_results",
    "compare",
    "Cycles",
    "Results",
    "default_settings_file",
)
API_HEAD = """# Python API

```python
import kneewear as kw

study = kw.load_study("config/quick.yaml")
knee = kw.build_knee(study)
cycles = kw.simulate(knee, study)
damage = kw.accumulate_wear(cycles, study)
```

These functions are the public interface: they cover everything that the workflow computes.
Results are `xarray.Dataset` objects, whose variables have the attributes `units` and `long_name`,
and `pandas.DataFrame` tables. Units are mm, N, MPa, s and rad; [frames](../theory/frames.md)
defines axes and angles. The pages of the rooms document the modules behind these functions, which
may change between versions.

"""


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to those that are written by hand."""
    for name, text in generated_pages():
        files.append(File.generated(config, name, content=text))
    return files


def generated_pages() -> Iterator[tuple[str, str]]:
    """Path of each generated page in docs/, and its Markdown."""
    yield "reference/api.md", python_api()
    yield "reference/package.md", api_page("kneewear", "Package", top_level())
    for room in ROOMS:
        yield (
            f"reference/{page_name(room)}.md",
            api_page(f"kneewear.{room}", room, modules_of(room)),
        )
    yield "reference/settings.md", settings_page.render()
    yield "reference/files.md", (ROOT / "docs/reference/files.md.in").read_text() + layouts()
    yield "reference/faults.md", faults_page()
    for notebook in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        yield f"notebooks/{notebook.stem}.md", notebook_page(notebook)


def page_name(room: str) -> str:
    """Name of a room's page; settings.md is the page of the keys."""
    return "settings_room" if room == "settings" else room


def python_api() -> str:
    """Page of the public functions and classes."""
    options = "    options: {show_root_full_path: false}"
    parts = []
    for name in API:
        if name in kneewear.__all__:
            module = "kneewear" if name == "default_settings_file" else "kneewear.api"
            parts.append(f"::: {module}.{name}\n{options}")
    return API_HEAD + "\n\n".join(parts) + "\n"


def top_level() -> list[str]:
    """Modules outside the rooms; the API has its own page."""
    found = pkgutil.iter_modules([str(ROOT / "kneewear")])
    return [
        f"kneewear.{module.name}"
        for module in found
        if not module.ispkg and not module.name.startswith("_") and module.name != "api"
    ]


def modules_of(room: str) -> list[str]:
    """Public modules of a room and of its folders; kernels are private."""
    found = pkgutil.walk_packages([str(ROOT / "kneewear" / room)], f"kneewear.{room}.")
    return [one.name for one in found if not one.ispkg and "._" not in one.name]


def api_page(package: str, title: str, modules: list[str]) -> str:
    """Page of one room: its purpose, and every public name of its modules."""
    source = ROOT.joinpath(*package.split(".")) / "__init__.py"
    meaning = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return "\n\n".join([f"# {title}", meaning, *(f"::: {module}" for module in modules)]) + "\n"


def layouts() -> str:
    """Variables of every kind of NetCDF file and group, from the schema."""
    parts = []
    for name, record in RECORDS.items():
        if record.variables:
            parts += [
                f"\n### {record.kind[:1].upper()}{record.kind[1:]} (`{name}`)\n",
                "| variable | axes | unit | meaning |",
                "|---|---|---|---|",
            ]
            parts += [
                f"| `{one.name}` | {', '.join(one.dimensions.split())} | {one.units} |"
                f" {one.long_name} |"
                for one in record.variables
            ]
    return "\n".join(parts) + "\n"


FAULTS_HEAD = """# Faults

Every row of both tables is a test: the fault is produced, and the outcome is compared with the row.
[Robustness tests](../faults-tried.md) reports longer tests.

## Faults of a running study

{faults}
## Bad input

Bad input stops a study before its first job. The message names the file and the location, the value
found, the value expected and a remedy. All rows are tested by
`tests/faults/test_bad_input.py::test_bad_input_is_refused_with_its_own_message`.

{kinds}
## Input wrong in meaning

Files that can be read and are not what they should be: `E` stops the study before its first job,
`W` gives a warning, which is also on the page. [Settings](settings.md#checks-of-plausibility) lists
the ranges. All rows are tested by
`tests/faults/test_implausible.py::test_input_wrong_in_meaning_gets_its_verdict`.

{meanings}"""
NO_CATALOGUE = "The catalogue of faults (`tests/faults`) is not part of this version.\n"


def faults_page() -> str:
    """Tables of all faults that are tested, as the tests render them."""
    try:
        faults = importlib.import_module("tests.faults.fault_catalogue")
        kinds = importlib.import_module("tests.faults.bad_input")
        meanings = importlib.import_module("tests.faults.implausible")
    except ModuleNotFoundError:
        return "# Faults\n\n" + NO_CATALOGUE
    return FAULTS_HEAD.format(
        faults=faults.render_table(), kinds=kinds.render_table(), meanings=meanings.render_table()
    )
