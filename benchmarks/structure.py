"""Count the size and the structure of the repository against budgets.

`python -m benchmarks.structure` prints one line per budget: what is counted, how much there is, the
budget, and whether it is kept; and below the places of what is counted by name. It ends with 1 when
a budget is exceeded.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The modules that may ask of which type a study or a plan is.
REGISTRY = ("kneewear/study/models.py",)
_TYPES = ("Study", "Plan")


@dataclass(frozen=True)
class Count:
    """A number and its budget; `places` are what was counted, where it has names."""

    what: str
    number: int
    budget: int
    places: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> bool:
        """Whether the number is within the budget."""
        return self.number <= self.budget


def count_structure(root: Path = ROOT) -> list[Count]:
    """All counts of a repository."""
    package = sorted((root / "kneewear").rglob("*.py"))
    replications = [path for path in package if "replications" in path.relative_to(root).parts]
    core = [path for path in package if path not in replications]
    scripts = sorted((root / "scripts").rglob("*.py"))
    shared, asked = duplicate_names(package, root), type_questions([*package, *scripts], root)
    return [
        Count("lines of kneewear/ without replications/", lines(core), 32_000),
        Count("lines of kneewear/knees/papers/", lines(replications), 7_000),
        Count("lines of tests/", lines(sorted((root / "tests").rglob("*.py"))), 26_000),
        Count("rule files", len(list((root / "workflow").rglob("*.smk"))), 10),
        Count("scripts", len(scripts), 24),
        Count("names defined in two modules", len(shared), 5, shared),
        Count("isinstance on study or plan types", len(asked), 0, asked),
    ]


def lines(paths: list[Path]) -> int:
    """Lines of files, comments and empty ones among them."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def duplicate_names(paths: list[Path], root: Path) -> tuple[str, ...]:
    """Public functions and classes that several modules define, each with its modules."""
    modules = defaultdict(set)
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                modules[node.name].add(path.relative_to(root).as_posix())
    shared = {name: sorted(of) for name, of in sorted(modules.items()) if len(of) > 1}
    return tuple(f"{name}: {', '.join(of)}" for name, of in shared.items())


def type_questions(paths: list[Path], root: Path) -> tuple[str, ...]:
    """Places outside the registry where code depends on the type of a study or a plan."""
    return tuple(
        f"{where}:{line}"
        for path in paths
        if (where := path.relative_to(root).as_posix()) not in REGISTRY
        for line in _questions(ast.parse(path.read_text(encoding="utf-8")))
    )


def _questions(tree: ast.Module) -> Iterator[int]:
    """Lines with isinstance or issubclass of a type whose name ends with Study or Plan."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        if getattr(call.func, "id", "") in ("isinstance", "issubclass"):
            names = [getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(call)]
            # Whether an argument is a study at all is no question of its kind.
            if any(name.endswith(_TYPES) and name not in _TYPES for name in names):
                yield call.lineno


def main() -> int:
    """Print all counts, and return 1 when a budget is exceeded."""
    counts = count_structure()
    for count in counts:
        verdict = "kept" if count.kept else "EXCEEDED"
        print(f"{count.what:45}{count.number:>8,}{count.budget:>8,}  {verdict}")
    for count in counts:
        for place in count.places:
            print(f"{count.what}: {place}")
    return int(not all(count.kept for count in counts))


if __name__ == "__main__":
    sys.exit(main())
