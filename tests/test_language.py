"""Docstrings, messages, comments and pages use plain, present-day technical English."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
# Word, and what to write instead.
WORDS = {
    r"told|tells?|telling": "report, state, show",
    r"stands?|stood|stand-in": "is, represents, is given",
    r"nought|naught": "zero",
    r"laid|lays": "projected, placed, built",
    r"mend|mends|mended": "fix, repair, remesh",
    r"stints?": "wear step",
    r"hollowness": "concavity",
    r"of no account": "not used",
    r"whatever": "any, independent of",
    r"in the place of": "instead of",
    r"besides": "in addition to",
    r"anew|afresh": "again",
    r"closed forms?": "analytical solution",
    r"foot": "projection",
    r"rubs?|rubbed": "slides, has friction",
    r"aims?|aimed": "target, direction",
    r"passages?": "cycle, solution",
    r"at hand": "available",
    r"but for": "except",
    r"shall": "must",
    r"a hair": "a small amount",
    r"come[s]? out": "is, results",
    r"so that it be|lest|thereof|whence|hitherto": "modern words",
    r"(?:one|a) (?:row|file|value|column) an? (?:case|side|frame|sample|pair|activity)": "per",
    r"elements a side|mm a year|cycles a year": "per",
}
ALLOWED = re.compile(
    r"foot strike|same foot|the foot|on the foot|standing|stand-alone|foot goes|foot moves"
    r"|\.tell\("  # a method of pymoo
)
SUFFIXES = (".py", ".pyi", ".md", ".in", ".yaml", ".smk", ".j2", ".rst", ".ipynb", ".toml")
FOLDERS = ("kneewear", "scripts", "workflow", "config", "docs", "benchmarks", "examples")
FILES = ("README.md", "CONTRIBUTING.md", "Makefile", "Snakefile", "mkdocs.yml", "pyproject.toml")
PATTERN = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def texts() -> list[Path]:
    """Files whose language is checked: those under version control."""
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS, *FILES],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    names = listed or [
        str(path.relative_to(CHECKOUT)) for one in FOLDERS for path in (CHECKOUT / one).rglob("*.*")
    ]
    return [CHECKOUT / name for name in names if name.endswith(SUFFIXES) or name in FILES]


@pytest.mark.parametrize("folder", [*FOLDERS, "."])
def test_words_are_those_of_technical_english(folder):
    found = []
    for path in texts():
        name = path.relative_to(CHECKOUT)
        if (name.parts[0] if len(name.parts) > 1 else ".") != folder:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = PATTERN.findall(ALLOWED.sub("", line))
            found += [f"{name}:{number}: {', '.join(words)}: {line.strip()}"] if words else []
    assert not found, "write otherwise (WORDS in this test suggests words):\n" + "\n".join(found)
