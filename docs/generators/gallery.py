"""Gallery: what each file of settings computes, with its command, picture, time and results.

First comments and commands are those of the files of `config/`. Pictures and measured times are in
`docs/snapshot/records/gallery.csv`; a time in a snapshot's `provenance.json` takes precedence. A
page has results of a study where it contains a marker for one of its tables.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import yaml

from docs.generators.results import MARKER, SNAPSHOT
from docs.generators.settings import model_summary
from kneewear.study.settings import STUDIES
from kneewear.study.shipped import COMMAND, comment, comment_lines, shipped_studies

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RECORD = SNAPSHOT / "records" / "gallery.csv"
HEAD = """# Gallery

Studies of `config/` by model, each with its command. Times are stated where they were measured.
Studies of subject DM and of the natural knee need data that are not part of the repository; their
files say where to get them.
"""


def render_gallery(folder: Path = ROOT / "config") -> str:
    """Markdown of the gallery: a section for each model, and in it one for each study."""
    known = pd.read_csv(RECORD, comment="#", dtype=str, keep_default_na=False)
    records = known.set_index("study").to_dict("index")
    pages = result_pages(DOCS)
    sections: dict[str, list[str]] = {model: [] for model in STUDIES}
    text = comment(folder / "defaults.yaml").split(". ")[0] + "."
    sections["wear"].append(section("default", text, ["make study"], records["default"], pages))
    files = [file for shelf in shipped_studies(folder).values() for file in shelf]
    for path in sorted(files, key=lambda file: file.stem):
        if path.parent.name != "uncertainty":
            model = model_of(path)
            record = records.get(path.stem, {})
            sections[model].append(section(path.stem, comment(path), commands(path), record, pages))
    parts = [HEAD]
    for model, found in sections.items():
        if found:
            parts += [f"## Model {model}\n", f"{model_summary(model)}\n", *found]
    return "\n".join(parts)


def section(
    title: str,
    text: str,
    lines_of_code: list[str],
    record: dict[str, str],
    pages: dict[str, list[tuple[str, str]]],
) -> str:
    """Section of one study."""
    code = "\n".join(lines_of_code)
    lines = [f"### {title}", "", text, "", f"```bash\n{code}\n```", ""]
    facts = []
    if time := measured_time(title, record):
        facts.append(f"Time: {time}")
    if found := pages.get(title):
        facts.append("Results: " + ", ".join(f"[{name}]({page})" for name, page in found))
    if facts:
        lines += [". ".join(facts) + ".", ""]
    if picture := record.get("picture"):
        lines += [f"![Result of {title}](images/{picture}){{ loading=lazy width=560 }}", ""]
    return "\n".join(lines)


def commands(path: Path) -> list[str]:
    """Commands that run a file of settings, and the studies before it that its comment names."""
    found = []
    for line in comment_lines(path):
        if match := COMMAND.match(line):
            files = match[1].split()
            quoted = " ".join(files)
            found.append(f"make study CONFIG={quoted}" if len(files) == 1 else _several(quoted))
    own = path.relative_to(ROOT).as_posix()
    return found if any(own in one for one in found) else [*found, f"make study CONFIG={own}"]


def model_of(path: Path) -> str:
    """Model of the study that the last command of a file of settings runs."""
    models = [
        yaml.safe_load((ROOT / name).read_text("utf-8")).get("model")
        for name in re.findall(r"config/[\w./]+\.yaml", commands(path)[-1])
    ]
    return next((model for model in reversed(models) if model), "wear")


def measured_time(study: str, record: dict[str, str], snapshot: Path = SNAPSHOT) -> str:
    """Time with its conditions; empty where none was measured."""
    path = snapshot / study / "provenance.json"
    if path.is_file():
        seconds = sum(json.loads(path.read_text("utf-8"))["wall_time_s"].values())
        return f"{seconds:.0f} s, all jobs one after the other"
    time, conditions = record.get("time", ""), record.get("conditions", "")
    return f"{time} ({conditions})" if time else ""


def result_pages(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Title and path of the pages that contain a table of a study, by its name."""
    pages: dict[str, list[tuple[str, str]]] = {}
    for page in sorted(folder.rglob("*.md")):
        text = page.read_text("utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        for name in sorted({name.split("/")[0] for _, name, _ in MARKER.findall(text)}):
            pages.setdefault(name, []).append((title, page.relative_to(folder).as_posix()))
    return pages


def _several(files: str) -> str:
    return f'make study CONFIG="{files}"'
