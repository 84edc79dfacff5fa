"""A prediction that knows the answers is none: only the comparison reads the published tables."""

from __future__ import annotations

import ast
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
TABLES = CHECKOUT / "kneewear" / "reference" / "published"
READERS = ("published_values", "published_regression")
COMPARISONS = ("compare_published", "compare_regression")


def sources():
    """Code that makes results: the package, the scripts and the rules."""
    for folder, suffix in (("kneewear", "py"), ("scripts", "py"), ("workflow", "smk")):
        for path in sorted((CHECKOUT / folder).rglob(f"*.{suffix}")):
            yield path.relative_to(CHECKOUT).as_posix(), path.read_text(encoding="utf-8")


def names(text):
    """Names a module imports or refers to."""
    tree = ast.parse(text)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(alias.name for alias in node.names)}
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def test_only_the_comparison_imports_the_published_tables():
    wanted = {"kneewear.reference.published", *READERS}
    users = {path for path, text in sources() if path.endswith("py") and wanted & names(text)}
    assert users - {"kneewear/reference/published.py"} == {"kneewear/regression/comparison.py"}


def test_only_its_rule_compares():
    users = {
        path for path, text in sources() if path.endswith("py") and names(text) & set(COMPARISONS)
    }
    assert users == {
        "kneewear/regression/__init__.py",
        "kneewear/regression/comparison.py",
        "scripts/compare_published.py",
    }


def test_nothing_names_the_tables_files():
    files = [path.stem for path in TABLES.glob("*.csv")]
    assert len(files) == 6
    for path, text in sources():
        if path != "kneewear/reference/published.py":
            assert not [file for file in files if file in text], path
            assert "reference/published" not in text, path
