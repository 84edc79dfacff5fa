"""Count the structure of the repository against targets.

`python -m benchmarks.structure` prints one line per count: what is counted, how much there was
before the rooms and slices, how much there is, the most there may be, and whether that is kept; and
below the places of what is counted by name. It ends with 1 when a target is missed. A count that
cannot be made, because what it counts is absent, is missed.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import trace
from tests.docs.test_contributing import BLOCK

ROOT = Path(__file__).parents[1]
PACKAGE = "kneewear"
# The one module that finds models, and may ask of which type a study or a plan is.
LOADER = f"{PACKAGE}.study.models"
# Folders that nothing imports: every folder of `models`, and the wings.
SLICES = f"{PACKAGE}.models"
WINGS = (f"{PACKAGE}.knees", f"{PACKAGE}.evidence")
# The wear study, which is read by plain imports.
TRUNK = "wear"
CHAIN = (
    "build_geometry",
    "prepare_activity",
    "simulate_contact",
    "accumulate_wear",
    "analyse_cases",
    "plot_figures",
    "write_report",
)
# Sections of CONTRIBUTING.md with worked examples; the own study is no part of the program.
EXAMPLES = {
    "A figure": ("4", 2),
    "An analysis": ("4", 2),
    "A wear law": ("1", 1),
    "A model": ("4", 0),
}
OWN_STUDY = "config/mine.yaml"
READER = "read_study"
HEAVY = (
    "scipy",
    "pandas",
    "xarray",
    "matplotlib",
    "numba",
    "statsmodels",
    "vtk",
    "vtkmodules",
    "snakemake",
)
STEPS = {"build_knee": ("144", 90), "simulate": ("301", 250), "accumulate_wear": ("141", 90)}
_TYPES = ("Study", "Plan")


@dataclass(frozen=True)
class Count:
    """A number and its target; `places` are what was counted, where it has names.

    Parameters
    ----------
    what : str
        What is counted.
    number : int or None
        How much there is; None where it cannot be counted.
    target : int
        The most there may be.
    was : str
        How much there was before.
    places : tuple of str
        What was counted, or why it could not be.
    """

    what: str
    number: int | None
    target: int
    was: str = ""
    places: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> bool:
        """True if the number is within the target."""
        return self.number is not None and self.number <= self.target


@dataclass(frozen=True)
class Import:
    """An import of a module of the package, at a line of a file."""

    importer: str
    imported: str
    place: str


class Sources:
    """Syntax trees and imports of a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules = {
            _module_name(path.relative_to(root)): path
            for path in sorted((root / PACKAGE).rglob("*.py"))
        }
        self.scripts = sorted((root / "scripts").rglob("*.py"))
        self.rules = sorted((root / "workflow").rglob("*.smk"))
        self.rules += sorted((root / "workflow").glob("Snakefile"))

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """Syntax tree of each module of the package."""
        return {name: _tree(path) for name, path in self.modules.items()}

    @cached_property
    def script_trees(self) -> dict[str, ast.Module]:
        """Syntax tree of each script, by its path."""
        return {self.path(path): _tree(path) for path in self.scripts}

    @cached_property
    def rule_lines(self) -> list[tuple[str, str]]:
        """Places and lines of rule files, which no parser of Python reads, without comments."""
        return [
            (f"{self.path(path)}:{number}", re.sub(r"(^|\s)#.*", "", line))
            for path in self.rules
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        ]

    @cached_property
    def imports(self) -> list[Import]:
        """All imports within the package, wherever in a module they stand."""
        return [
            Import(name, target, f"{self.path(self.modules[name])}:{line}")
            for name, tree in self.trees.items()
            for target, line in self._imported(tree, name)
        ]

    @cached_property
    def outer_imports(self) -> list[Import]:
        """Imports of the package by scripts and rules."""
        scripts = [
            Import(name, target, f"{name}:{line}")
            for name, tree in self.script_trees.items()
            for target, line in self._imported(tree, "")
        ]
        rules = [
            Import(place, target, place)
            for place, line in self.rule_lines
            if (found := re.match(rf"\s*(?:from|import) ({PACKAGE}[\w.]*)", line))
            and (target := self._module(found[1]))
        ]
        return scripts + rules

    def path(self, path: Path) -> str:
        """Path from the root."""
        return path.relative_to(self.root).as_posix()

    def _imported(self, tree: ast.Module, importer: str) -> Iterator[tuple[str, int]]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                start = node.module or ""
                if node.level:
                    is_package = self.modules[importer].name == "__init__.py"
                    parts = importer.split(".")
                    above = parts[: len(parts) - node.level + is_package]
                    start = ".".join([*above, *filter(None, [node.module])])
                names = [f"{start}.{one.name}" for one in node.names]
            else:
                continue
            for name in names:
                if target := self._module(name):
                    yield target, node.lineno

    def _module(self, name: str) -> str:
        """Module of the package that a dotted name is, or is in; empty outside it."""
        while name and name not in self.modules:
            name = name.rpartition(".")[0]
        return name


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


class Contract:
    """The rooms in their order, as the linter's contract of layers has them, the lowest last."""

    def __init__(self, root: Path) -> None:
        content = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        contracts = content["tool"]["importlinter"]["contracts"]
        contract = next(one for one in contracts if one["type"] == "layers")
        container = next(iter(contract.get("containers", ())), "")
        self.exhaustive = bool(contract.get("exhaustive"))
        self.ignored = {f"{container}.{one}" for one in contract.get("exhaustive_ignores", ())}
        self.floor: dict[str, int] = {}
        # Floors whose rooms may import each other.
        self.shared = {number for number, layer in enumerate(contract["layers"]) if ":" in layer}
        for number, layer in enumerate(contract["layers"]):
            for name in re.split(r"[|:]", layer):
                room = name.strip().strip("()")
                self.floor[f"{container}.{room}" if container else room] = number

    def forbids(self, room: str, other: str) -> bool:
        """True if a room may not import another one."""
        above, below = self.floor[room], self.floor[other]
        return above > below or (above == below and above not in self.shared)

    def room(self, module: str) -> str:
        """Room of a module; empty where it is in none."""
        parts = module.split(".")
        names = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
        return next((name for name in names if name in self.floor), "")


def count_structure(root: Path = ROOT) -> list[Count]:
    """All counts of a checkout."""
    sources = Sources(root)
    return [
        *count_rooms(sources),
        *count_slices(sources),
        *count_examples(root, (root / "CONTRIBUTING.md").read_text(encoding="utf-8")),
        *count_functions(sources),
        *count_rules(loaded_rules(root), rule_graph(root)),
        *count_run(sources),
        *count_heavy(sources),
        *count_definitions(sources),
    ]


def count_rooms(sources: Sources) -> list[Count]:
    """Imports against the order of rooms, circles of rooms, and modules in no room."""
    contract = Contract(sources.root)
    upward, arrows = [], defaultdict(set)
    for one in sources.imports:
        above, below = contract.room(one.importer), contract.room(one.imported)
        if above == below or not (above and below):
            continue
        arrows[above].add(below)
        if contract.forbids(above, below):
            upward.append(f"{one.place} imports {one.imported}")
    loose = [
        name
        for name in sources.modules
        if name != PACKAGE and not contract.room(name) and name not in contract.ignored
    ]
    loose += [] if contract.exhaustive else ["the contract of layers in pyproject.toml"]
    circles = [" and ".join(sorted(one)) for one in circles_of(arrows)]
    return [
        Count("upward imports between rooms", len(upward), 0, "2", tuple(upward)),
        Count("circles of rooms", len(circles), 0, "3", tuple(circles)),
        Count("modules in no room, contract not exhaustive", len(loose), 0, "", tuple(loose)),
    ]


def circles_of(arrows: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Sets of rooms each of which reaches all others of the set."""
    reached = {start: _reachable(arrows, start) for start in arrows}
    circles: list[set[str]] = []
    for start, found in reached.items():
        own = {start} | {one for one in found if start in reached.get(one, ())}
        if len(own) > 1 and own not in circles:
            circles.append(own)
    return circles


def _reachable(arrows: Mapping[str, Iterable[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = list(arrows.get(start, ()))
    while left:
        if (one := left.pop()) not in found:
            found.add(one)
            left += arrows.get(one, ())
    return found


def slice_of(module: str) -> str:
    """Slice or wing that a module is in; empty in the core."""
    parts = module.split(".")
    if module.startswith(f"{SLICES}.") and len(parts) > 2:
        return ".".join(parts[:3])
    return next((wing for wing in WINGS if f"{module}.".startswith(f"{wing}.")), "")


def count_slices(sources: Sources) -> list[Count]:
    """Count what stands outside slices and wings and names them, or compares models."""
    crossing = [
        f"{one.place} imports {one.imported}"
        for one in [*sources.imports, *sources.outer_imports]
        if (target := slice_of(one.imported))
        and slice_of(one.importer) != target
        and one.importer != LOADER
    ]
    named, asked = named_models(sources), model_questions(sources)
    missing = [
        one for one in (SLICES, *WINGS) if not (sources.root / one.replace(".", "/")).is_dir()
    ]
    places = (*crossing, *(f"{one} is absent" for one in missing))
    found = None if missing else len(crossing)
    return [
        Count("imports into slices and wings", found, 0, "about 40", places),
        Count("names and classes of models elsewhere", len(named), 0, "4 to 9 files each", named),
        Count("comparisons of a study's model", len(asked), 0, "22", asked),
    ]


def model_names(sources: Sources) -> dict[str, str]:
    """Names and classes of models, each with the module that defines it, but for the trunk's."""
    found = {}
    for module, tree in sources.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names = set(_literals(node)) - {TRUNK}
                if names:
                    found |= dict.fromkeys([node.name, *names], module)
    return found


def _literals(node: ast.ClassDef) -> Iterator[str]:
    """Names in `model: Literal["name"]` of a class."""
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and getattr(line.target, "id", "") == "model":
            parts = ast.walk(line.annotation)
            if any(getattr(part, "id", "") == "Literal" for part in ast.walk(line.annotation)):
                yield from (
                    part.value
                    for part in parts
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )


def named_models(sources: Sources) -> tuple[str, ...]:
    """Places that have the name of a model, or its class, outside its slice or module."""
    names = model_names(sources)
    found = []
    trees = {
        sources.path(sources.modules[name]): (name, tree) for name, tree in sources.trees.items()
    }
    trees |= {path: ("", tree) for path, tree in sources.script_trees.items()}
    for path, (module, tree) in trees.items():
        for word, line in _words(tree):
            home = names.get(word, module)
            if home != module and (not slice_of(home) or slice_of(home) != slice_of(module)):
                found.append(f"{path}:{line} {word}")
    for place, line in sources.rule_lines:
        for quoted, word in re.findall(r"[\"'](\w+)[\"']|\b([A-Z]\w+)\b", line):
            if (quoted or word) in names:
                found.append(f"{place} {quoted or word}")
    return tuple(found)


def _words(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Quoted words, and names that are imported or used, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno
        elif isinstance(node, ast.Name) and node.id[:1].isupper():
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and node.attr[:1].isupper():
            yield node.attr, node.lineno
        elif isinstance(node, ast.alias) and node.name[:1].isupper():
            yield node.name, getattr(node, "lineno", 0)


def model_questions(sources: Sources) -> tuple[str, ...]:
    """Lines of package, scripts and rules that compare the model of a study."""
    trees = {sources.path(sources.modules[name]): tree for name, tree in sources.trees.items()}
    found = {
        f"{path}:{node.lineno}": None
        for path, tree in (trees | sources.script_trees).items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Compare) and any(map(_is_model, [node.left, *node.comparators])))
        or (isinstance(node, ast.Match) and _is_model(node.subject))
    }
    asking = re.compile(r"\.model\b\s*(==|!=|in\b|not in\b)|(==|!=)\s*\w+\.model\b")
    return (*found, *(place for place, line in sources.rule_lines if asking.search(line)))


def _is_model(node: ast.expr) -> bool:
    """True if an expression is the model of a study or of its settings."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "model"
    return isinstance(node, ast.Attribute) and node.attr == "model"


def count_examples(root: Path, text: str) -> list[Count]:
    """Existing files that the worked examples of a CONTRIBUTING.md change."""
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    counts = []
    for title, (was, target) in EXAMPLES.items():
        own = next((part for part in sections if part.startswith(title)), "")
        files = {name for name, *_ in BLOCK.findall(own)} - {OWN_STUDY}
        changed = tuple(sorted(name for name in files if (root / name).exists()))
        number = len(changed) if files else None
        absent = () if files else ("no worked example in CONTRIBUTING.md",)
        what = f"existing files that {title[0].lower()}{title[1:]} changes"
        counts.append(Count(what, number, target, was, changed or absent))
    return counts


def count_functions(sources: Sources) -> list[Count]:
    """Functions that steps of the quick study execute, and the length of functions."""
    done = _python(sources.root, "-m", trace.__name__)
    executed = trace.read(done.stdout)
    failed = () if executed else (done.stderr.strip()[-300:],)
    lengths = [
        node.end_lineno - node.lineno + 1
        for tree in sources.trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    return [
        *(
            Count(f"functions that {step} executes", executed.get(step), most, was, failed)
            for step, (was, most) in STEPS.items()
        ),
        Count("lines of a function, 90th percentile", int(np.percentile(lengths, 90)), 30, "30"),
    ]


def loaded_rules(root: Path) -> tuple[str, ...]:
    """Rules that the default study loads, but for the one that only names the default target."""
    done = _snakemake(root, "--list-rules")
    return tuple(sorted(set(done.stdout.split()) - {"study"})) if not done.returncode else ()


def rule_graph(root: Path) -> dict[str, set[str]]:
    """Rules that the default study runs, each with those that wait for it."""
    done = _snakemake(root, "--rulegraph", "dot")
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', done.stdout))
    after: dict[str, set[str]] = {name: set() for name in names.values()}
    for first, second in re.findall(r"(\d+) -> (\d+)", done.stdout):
        after[names[first]].add(names[second])
    return after


def _snakemake(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on the default study, in a folder without results."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--snakefile", str(root / "Snakefile"), "--directory", folder)
        return _python(root, "-m", "snakemake", *options, *words)


def count_rules(loaded: Sequence[str], after: Mapping[str, Iterable[str]]) -> list[Count]:
    """Rules of the default study, and links of the chain that the graph of its jobs lacks."""
    broken = [
        f"{first} before {second}"
        for first, second in pairwise(CHAIN)
        if second not in _reachable(after, first)
    ]
    return [
        Count("rules of the default study", len(loaded) or None, 13, "19", tuple(loaded)),
        Count("links that the chain of rules lacks", len(broken), 0, "4", tuple(broken)),
    ]


def count_run(sources: Sources) -> list[Count]:
    """Modules at the top of the package, and of `runs/`."""
    top = [path.name for path in (sources.root / PACKAGE).glob("*.py")]
    own = [
        path
        for path in (sources.root / PACKAGE / "runs").rglob("*.py")
        if path.name != "__init__.py"
    ]
    sizes = {sources.path(path): len(path.read_text(encoding="utf-8").splitlines()) for path in own}
    longest = tuple(f"{path}: {size} lines" for path, size in sizes.items() if size > 400)
    return [
        Count("modules at the top of the package", len(top), 4, "24", tuple(sorted(top))),
        Count("modules of runs/", len(own) or None, 10, "", tuple(sizes)),
        Count(
            "lines of the longest module of runs/",
            max(sizes.values(), default=None),
            400,
            "",
            longest,
        ),
    ]


def count_heavy(sources: Sources) -> list[Count]:
    """Large libraries that are loaded by reading the settings of the default study."""
    what = "heavy modules that reading settings loads"
    readers = [
        name
        for name, tree in sources.trees.items()
        if any(isinstance(node, ast.FunctionDef) and node.name == READER for node in tree.body)
    ]
    if len(readers) != 1:
        return [Count(what, None, 0, "0", (f"{READER} is defined in {readers}",))]
    code = (
        f"import sys; from {PACKAGE} import default_settings_file; "
        f"from {readers[0]} import {READER}; "
        f"{READER}(defaults=default_settings_file()); print(*sys.modules)"
    )
    done = _python(sources.root, "-c", code)
    if done.returncode:
        return [Count(what, None, 0, "0", (done.stderr.strip()[-300:],))]
    heavy = tuple(one for one in HEAVY if one in done.stdout.split())
    return [Count(what, len(heavy), 0, "0", heavy)]


def count_definitions(sources: Sources) -> list[Count]:
    """Rule files and scripts, names of two modules, and questions of the type of a study."""
    shared, asked = duplicate_names(sources), type_questions(sources)
    files = [path for path in sources.rules if path.suffix == ".smk"]
    return [
        Count("rule files", len(files), 10, "10"),
        Count("scripts", len(sources.scripts), 24, "24"),
        Count("names defined in two modules", len(shared), 5, "5", shared),
        Count("isinstance on study or plan types", len(asked), 0, "0", asked),
    ]


def duplicate_names(sources: Sources) -> tuple[str, ...]:
    """Public functions and classes that several modules define, each with its modules.

    Slices give what they have in common the same names; such are left out.
    """
    modules = defaultdict(set)
    for module, tree in sources.trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                modules[node.name].add(module)
    return tuple(
        f"{name}: {', '.join(sorted(of))}"
        for name, of in sorted(modules.items())
        if len(of) > 1 and not all(map(slice_of, of))
    )


def type_questions(sources: Sources) -> tuple[str, ...]:
    """Places outside the loader where code depends on the type of a study or a plan."""
    trees = {
        sources.path(sources.modules[name]): tree
        for name, tree in sources.trees.items()
        if name != LOADER
    }
    return tuple(
        f"{where}:{line}"
        for where, tree in (trees | sources.script_trees).items()
        for line in _questions(tree)
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


def _python(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a checkout, whose package comes first."""
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    """Print all counts, and return 1 when a target is missed."""
    counts = count_structure()
    print(f"{'count':46}{'was':>18}{'now':>8}{'most':>8}")
    for count in counts:
        number = "absent" if count.number is None else f"{count.number:,}"
        verdict = "kept" if count.kept else "MISSED"
        print(f"{count.what:46}{count.was:>18}{number:>8}{count.target:>8,}  {verdict}")
    for count in counts:
        for place in () if count.kept else count.places:
            print(f"{count.what}: {place}")
    return int(not all(count.kept for count in counts))


if __name__ == "__main__":
    sys.exit(main())
