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
COUNTS = Path(__file__).with_name("style.csv")
# In the text of a file; those of docstrings and of constants are read from its syntax tree.
TEXT = {
    "that of": r"\b(that|those) of\b",
    "as of": r"\bas (of|in those of) (a|an|the|one|files?)\b",
    "none beside": r"\b(none|nothing) beside\b",
    "for one in": r"\bfor one in\b",
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
    texts = [file.read_text(encoding="utf-8") for file in FILES]
    if name in TREE:
        return sum(TREE[name](ast.parse(text)) for text in texts)
    return sum(len(re.findall(TEXT[name], text, re.MULTILINE)) for text in texts)


def largest_counts():
    with COUNTS.open(encoding="utf-8", newline="") as file:
        return {row["pattern"]: int(row["count"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", [*TREE, *TEXT])
def test_patterns_do_not_become_more(name):
    assert count(name) <= largest_counts()[name], "write it otherwise; see CONTRIBUTING.md"


if __name__ == "__main__":  # writes today's counts, never larger ones
    old = largest_counts() if COUNTS.is_file() else {}
    rows = [f"{name},{min(count(name), old.get(name, 10**6))}\n" for name in (*TREE, *TEXT)]
    COUNTS.write_text("pattern,count\n" + "".join(rows), encoding="utf-8")
