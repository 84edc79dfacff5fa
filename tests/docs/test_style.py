"""Patterns of text that the code avoids: their number may only fall (`style.csv`)."""

from __future__ import annotations

import ast
import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("kneewear", "scripts", "workflow", "benchmarks", "docs/generators")
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
# Texts that are read as prose: pages of the documentation, and those of reports.
PAGES = sorted(
    {
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs").rglob("*.md.in"),
        *(ROOT / "kneewear").rglob("README.md"),
        *(ROOT / "kneewear").rglob("pages/*.yaml"),
        *(ROOT / "kneewear").rglob("page.yaml"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    }
)
COUNTS = Path(__file__).with_name("style.csv")
# In the text of a file; those of docstrings and of constants are read from its syntax tree.
TEXT = {
    "that of": r"\b(that|those) of\b",
    "as of": r"\bas (of|in those of) (a|an|the|one|files?)\b",
    "none beside": r"\b(none|nothing) beside\b",
    "for one in": r"\bfor one in\b",
    "where there is none": r"\bwhere there (is|are) none\b",
    "figurative": r"\b(nought|told|mends?|mended|laid|of no account)\b",
    "found =": r"^\s*found(: [^=]+)? = ",
    "superlative constant": r"^_?(\w+_)?(MOST|LEAST|FEWEST|LONGEST|SOFTEST|LARGEST)\w* = ",
}


def docstring_openings(tree):
    """Number of docstrings that open with Whether, What or How."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    texts = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    return sum(bool(re.match(r"(Whether|What|How)\b", text or "")) for text in texts)


def constants_of_tuples(tree):
    """Number of constants of a module that are assigned several in one statement."""
    return sum(
        len(node.targets[0].elts)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and all(isinstance(one, ast.Name) and one.id.isupper() for one in node.targets[0].elts)
    )


TREE = {"docstring opening": docstring_openings, "constants in a tuple": constants_of_tuples}


def count(name):
    """Number of times that a pattern occurs in all files."""
    if name in TREE:
        return sum(TREE[name](ast.parse(file.read_text(encoding="utf-8"))) for file in FILES)
    return count_in(FILES, name)


def count_in(files, name):
    """Number of times that a pattern of text occurs in some files."""
    texts = [file.read_text(encoding="utf-8") for file in files]
    return sum(len(re.findall(TEXT[name], text, re.MULTILINE)) for text in texts)


def largest_counts(column="count"):
    with COUNTS.open(encoding="utf-8", newline="") as file:
        return {row["pattern"]: int(row[column] or 0) for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", [*TREE, *TEXT])
def test_patterns_do_not_become_more(name):
    assert count(name) <= largest_counts()[name], "write it otherwise; see CONTRIBUTING.md"


@pytest.mark.parametrize("name", TEXT)
def test_patterns_do_not_become_more_on_pages(name):
    assert count_in(PAGES, name) <= largest_counts("pages")[name], "see CONTRIBUTING.md"


if __name__ == "__main__":  # writes today's counts, never larger ones
    old, old_pages = largest_counts(), largest_counts("pages")
    rows = [f"{name},{min(count(name), old.get(name, 10**6))},\n" for name in TREE]
    for name in TEXT:
        counts = count(name), count_in(PAGES, name)
        least = map(min, counts, (old.get(name, 10**6), old_pages.get(name, 10**6)))
        rows.append(",".join([name, *map(str, least)]) + "\n")
    COUNTS.write_text("pattern,count,pages\n" + "".join(rows), encoding="utf-8")
