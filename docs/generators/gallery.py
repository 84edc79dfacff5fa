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
from kneewear.study.settings import STUDIES
from kneewear.study.shipped import COMMAND, comment, comment_lines, shipped_studies

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RECORD = SNAPSHOT / "records" / "gallery.csv"
HEAD = """# Gallery

This page shows every study that comes with kneewear, with its command. Copy a command, look at the
report, then change the settings. Studies of subject DM and of the natural knee need data that are
not part of the repository. Their settings state where to get them.

![Contact pressure on an insert over one cycle of walking](images/gait.gif)

## Start here

<div class="grid cards" markdown>

@CARDS@

</div>
"""
# Shelves below the cards, by the folders of files of settings.
SHELVES = {
    "More studies": (("",), "These studies are starting points for your own, by model."),
    "Evidence": (
        ("evidence", "papers"),
        "These studies verify the program, compare it with measurements and finite elements, or "
        "compute knee models of published papers again.",
    ),
}


def render_gallery(folder: Path = ROOT / "config") -> str:
    """Markdown of the gallery: cards of the studies to start from, then a section for each."""
    records = read_records()
    pages = result_pages(DOCS)
    texts = {"default": comment(folder / "defaults.yaml").split(". ")[0] + "."}
    commands_of = {"default": ["make study"]}
    shelves = {"default": ""}
    models = {"default": "wear"}
    for shelf, files in shipped_studies(folder).items():
        for path in files:
            if path.parent.name != "uncertainty":
                texts[path.stem], commands_of[path.stem] = comment(path), commands(path)
                models[path.stem], shelves[path.stem] = model_of(path), shelf
    started = sorted(
        (name for name in texts if records.get(name, {}).get("start")),
        key=lambda name: int(records[name]["start"]),
    )
    cards = "\n\n".join(card(name, texts[name], records[name]) for name in started)
    parts = [HEAD.replace("@CARDS@", cards)]
    for heading, (own, meaning) in SHELVES.items():
        parts += [f"## {heading}\n", f"{meaning}\n"]
        for model in STUDIES:
            for name in sorted(texts):
                if shelves[name] in own and models[name] == model:
                    record = records.get(name, {})
                    parts.append(section(name, texts[name], commands_of[name], record, pages))
    return "\n".join(parts)


def read_records() -> dict[str, dict[str, str]]:
    """Pictures, measured times and places among the studies to start from, by study."""
    known = pd.read_csv(RECORD, comment="#", dtype=str, keep_default_na=False)
    found: dict[str, dict[str, str]] = known.set_index("study").to_dict("index")
    return found


def card(title: str, text: str, record: dict[str, str]) -> str:
    """Card of a study to start from: picture, purpose in a sentence, link to its section."""
    sentence = text.split(". ", maxsplit=1)[0].rstrip(".") + "."
    lines = [
        f"-   ![Result of {title}](images/{record['picture']}){{ loading=lazy }}",
        f"**[{title}](#{title})**",
        sentence,
    ]
    return "\n\n    ".join(lines)


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
