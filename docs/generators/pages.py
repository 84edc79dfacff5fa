"""Pages generated from the code: gallery, Python API, rooms, settings, files, faults, notebooks."""

from __future__ import annotations

import ast
import csv
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import kneewear
from docs.generators import settings as settings_page
from docs.generators.gallery import render_gallery
from docs.generators.notebooks import notebook_page
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.study.schema import RECORDS

ROOT = Path(__file__).resolve().parents[2]

ROOMS = (
    "base",
    "mechanics",
    "geometry",
    "activity",
    "contact",
    "io",
    "motion",
    "wear",
    "study",
    "analysis",
    "report",
    "setup",
    "models",
    "knees",
    "evidence",
    "runs",
)
# In the order of use; the classes are what the functions return.
API = (
    "load_study",
    "default_study",
    "build_knee",
    "simulate",
    "accumulate_wear",
    "tabulate_cases",
    "predict_wear",
    "wear_posterior",
    "posterior_draws",
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


# Docstrings use the words of every question: pages that are written for readers come first.
BEHIND = "---\nsearch:\n  boost: 0.05\n---\n\n"


def generated_pages() -> Iterator[tuple[str, str]]:
    """Path of each generated page in docs/, and its Markdown."""
    yield "gallery.md", render_gallery()
    yield "theory/concepts.md", concepts_page()
    yield "evidence/source-points.md", points_page()
    yield "reference/index.md", reference_index()
    yield "reference/api.md", python_api()
    yield "reference/package.md", BEHIND + api_page("kneewear", "Package", top_level())
    for room in ROOMS:
        yield (
            f"reference/{room}.md",
            BEHIND + api_page(f"kneewear.{room}", room, modules_of(room)),
        )
    yield "reference/settings.md", settings_page.render_page()
    yield "reference/files.md", (ROOT / "docs/reference/files.md.in").read_text() + layouts()
    yield "reference/faults.md", faults_page()
    for notebook in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        yield f"notebooks/{notebook.stem}.md", notebook_page(notebook)


CONCEPTS_HEAD = """# From the dissertation to the code

The tables list the concepts of the dissertation and of the four other source documents, in the
words of the sources. For each concept they name the page that explains it and the module that
computes it. Misprints are on the page [Errors found in the sources](sources.md).
"""


def concepts() -> list[dict[str, str]]:
    """Concepts of the source documents with their page of theory and their module."""
    return _rows("concepts")


def _rows(name: str) -> list[dict[str, str]]:
    """Rows of a table of the documentation; lines that begin with # are comments."""
    text = (ROOT / "docs" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def concepts_page() -> str:
    """Table of the concepts of each source."""
    parts, source = [CONCEPTS_HEAD], ""
    for row in concepts():
        if row["source"] != source:
            source = row["source"]
            parts.append(
                f"\n## {source}\n\n| concept | theory | module of `kneewear` |\n|---|---|---|"
            )
        room = row["module"].split(".")[1]
        page = row["page"]
        title = (ROOT / "docs/theory" / page).read_text(encoding="utf-8").partition("\n")[0]
        theory = f"[{title.removeprefix('# ')}]({page})"
        # Without the package's name, it fits the column of a narrow screen.
        name = row["module"].removeprefix("kneewear.")
        module = f"[`{name}`](../reference/{room}.md#{row['module']})"
        parts.append(f"| {row['concept']} | {theory} | {module} |")
    return "\n".join(parts) + "\n"


POINTS_HEAD = """# Source documents, point by point

What the source documents describe, by the points of an audit: whether it holds, where it is shown,
and why the rest cannot. "Partly" is a part, or a number that is missed. Points that hold are shown
by a test that can fail, or by a table in which printed numbers stand beside computed ones.
"""


def source_points() -> list[dict[str, str]]:
    """Points of the source documents: content, whether it holds, what shows it, and the reason."""
    return _rows("source_points")


def points_page() -> str:
    """Table of the points of each source."""
    rows = source_points()
    held = sum(row["holds"] == "yes" for row in rows)
    parts, source = [f"{POINTS_HEAD}\n{held} of {len(rows)} points hold, the others partly.\n"], ""
    for row in rows:
        if row["source"] != source:
            source = row["source"]
            parts.append(
                f"\n## {source}\n\n| point | content | holds | shown by |\n|---|---|---|---|"
            )
        why = f": {row['reason']}" if row["reason"] else ""
        parts.append(
            f"| {row['point']} | {row['content']} | {row['holds']}{why} | {_shown(row['shown'])} |"
        )
    return "\n".join(parts) + "\n"


def _shown(path: str) -> str:
    """Name of what shows a point: a page, or a test or table without the folders above it."""
    if path.startswith("docs/") and path.endswith(".md"):
        title = (ROOT / path).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        return f"[{title}](../{path.removeprefix('docs/')})"
    return f"`{Path(path).stem}`"


def reference_index() -> str:
    """Contents of the reference, with the purpose of every room."""
    rows = [f"| [{room}]({room}.md) | {purpose(room)[0]} |" for room in ROOMS]
    head = (ROOT / "docs/reference/index.md.in").read_text(encoding="utf-8")
    return head.replace("@ROOMS@", "\n".join(["| room | purpose |", "|---|---|", *rows]))


def purpose(room: str) -> list[str]:
    """Paragraphs that say what a room is for."""
    source = ROOT / "kneewear" / room / "__init__.py"
    return (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").split("\n\n")


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
    tables: dict[str, dict[str, Any]] = {
        schema.name: dict(schema.variables) for schema in (CONTACT, DAMAGE)
    }
    tables |= {record.kind: {v.name: v for v in record.variables} for record in RECORDS.values()}
    parts = []
    for kind, variables in tables.items():
        if variables:
            parts += [
                f"\n### {kind[:1].upper()}{kind[1:]}\n",
                "| variable | axes | unit | meaning |",
                "|---|---|---|---|",
            ]
            parts += [
                f"| `{name}` | {', '.join(one.dimensions.split())} | {one.units} |"
                f" {one.long_name} |"
                for name, one in variables.items()
            ]
    return "\n".join(parts) + "\n"


FAULTS_HEAD = """# Faulty input

Each row is a test. Faulty input is refused before the first job, at the place of the last column,
or accepted with a warning. Checks are those of
[settings](settings.md#checks-of-computed-quantities); a
fault of form belongs to none.

| input | outcome | check | place |
|---|---|---|---|
"""


def faults_page() -> str:
    """Table of the faulty inputs that are tested."""
    path = ROOT / "tests/faults/faulty_inputs.yaml"
    cases = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else []
    rows = [
        f"| {case['case']} | warned | `{case['warned']}` | |"
        if "warned" in case
        else f"| {case['case']} | refused | `{case.get('check', '')}` | {case['refused']} |"
        for case in cases
    ]
    return FAULTS_HEAD + "\n".join(rows).replace("``", "") + "\n"
