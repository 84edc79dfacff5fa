"""A prediction that knows the answers is none: only the comparison reads the published tables."""

from __future__ import annotations

import ast
import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
TABLES = CHECKOUT / "kneewear" / "reference" / "published"
READERS = (
    "published_values",
    "published_regression",
    "published_material_errors",
    "published_distance_methods",
)
COMPARISONS = (
    "compare_correlation",
    "compare_materials",
    "compare_published",
    "compare_regression",
    "predict_published",
)


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


def test_only_comparison_and_calibration_import_the_published_tables():
    wanted = {"kneewear.reference.published", *READERS}
    users = {path for path, text in sources() if path.endswith("py") and wanted & names(text)}
    assert users - {"kneewear/reference/published.py"} == {
        "kneewear/studies/calibration/fitting.py",
        "kneewear/studies/calibration/trade_off.py",
        "kneewear/regression/comparison.py",
        "kneewear/regression/materials.py",
    }


def test_only_their_rules_compare():
    users = {
        path for path, text in sources() if path.endswith("py") and names(text) & set(COMPARISONS)
    }
    assert users == {
        "kneewear/studies/calibration/trade_off.py",
        "scripts/compare_materials.py",
        "scripts/compare_published.py",
    }


def test_only_the_comparison_names_the_tables_files():
    files = [path.stem for path in TABLES.glob("*.csv")]
    assert len(files) == 8
    for path, text in sources():
        if path != "kneewear/reference/published.py":
            assert not [file for file in files if file in text], path
            assert ("reference/published" in text) == path.endswith("rules/common.smk"), path


def test_only_rules_that_compare_or_calibrate_have_the_tables_as_input():
    users = []
    for path, text in sources():
        if path.endswith("smk"):
            _, *rules = re.split(r"^rule ", text, flags=re.MULTILINE)
            users += [rule.partition(":")[0] for rule in rules if re.search(r"\bPUBLISHED\b", rule)]
    assert users == ["calibrate", "compare_published", "compare_materials"]
