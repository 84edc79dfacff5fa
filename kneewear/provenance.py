"""Where results come from: fingerprints of the code, and the record of a finished study."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kneewear.errors import OutputFileError
from kneewear.io.atomic import atomic_path
from kneewear.io.digests import file_hash

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    "numpy",
    "scipy",
    "numba",
    "pandas",
    "h5netcdf",
    "h5py",
    "jinja2",
    "pyyaml",
    "SALib",
    "scikit-sundae",
    "statsmodels",
    "matplotlib",
    "vtk",
    "xarray",
    "k3d",
    "trimesh",
    "pydantic",
    "snakemake",
)


def source_fingerprint(script: str, root: str | Path = ROOT) -> str:
    """Hash of the package code a script depends on.

    Parameters
    ----------
    script : str
        Name of a file in `scripts/`, without its suffix.
    root : str or Path
        The checkout.

    Returns
    -------
    str
        Hexadecimal digits; the same for code that differs in comments, docstrings, `description=`
        texts of calls (those of settings) and layout only.

    Raises
    ------
    FileNotFoundError
        When there is no such script.

    Notes
    -----
    Follows the import statements of the script and of every kneewear module met on the way, those
    inside functions too. The script itself is left out: Snakemake watches it.
    """
    sources = _sources(Path(root))
    _, waiting = sources.read(sources.base / "scripts" / f"{script}.py", "")
    found: dict[str, str] = {}
    while waiting:
        module = waiting.pop()
        file = _module_file(module, sources.base)
        if module not in found and file is not None:
            found[module], reached = sources.read(file, module)
            waiting += reached
    sources.keep()
    digest = hashlib.sha256()
    for module in sorted(found):
        digest.update(f"{module} {found[module]}\n".encode())
    return digest.hexdigest()[:24]


def provenance_record(
    settings: Mapping[str, Any],
    inputs: Iterable[str],
    benchmarks: str | Path,
    logs: str | Path,
) -> dict[str, Any]:
    """Everything needed to say how a study's results came about.

    Parameters
    ----------
    settings : mapping
        All settings of the study, plain builtins.
    inputs : iterable of str
        Data files that were read.
    benchmarks : str or Path
        Folder of Snakemake's benchmark files.
    logs : str or Path
        Folder of the jobs' logs.

    Returns
    -------
    dict
        `versions`, `machine`, `inputs` (file name to SHA-256), `settings`, `seed`, `wall_time_s`
        (seconds of each rule, summed over its jobs) and `warnings` (pairs of log and message).
    """
    return {
        "versions": {"kneewear": _version("kneewear"), "python": platform.python_version()}
        | {library: _version(library) for library in LIBRARIES},
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "inputs": {path: file_hash(path) for path in sorted(inputs)},
        "settings": dict(settings),
        "seed": settings["seed"],
        "wall_time_s": _wall_times(Path(benchmarks)),
        "warnings": _warnings(Path(logs)),
    }


def _version(distribution: str) -> str:
    if distribution == "kneewear":
        from kneewear import __version__  # noqa: PLC0415 - the package imports nothing from here

        return __version__
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _wall_times(folder: Path) -> dict[str, float]:
    """Seconds of each rule; a rule with several jobs has a folder of its name."""
    seconds: dict[str, float] = {}
    for path in sorted(folder.rglob("*.tsv")):
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        seconds[rule] = seconds.get(rule, 0.0) + sum(float(row["s"]) for row in rows)
    return {rule: round(total, 3) for rule, total in seconds.items()}


def _warnings(folder: Path) -> list[list[str]]:
    """Log and message of each warning of the jobs that have run so far."""
    mark = " WARNING "
    return [
        [path.relative_to(folder).with_suffix("").as_posix(), line.split(mark, 1)[1]]
        for path in sorted(folder.rglob("*.log"))
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if mark in line
    ]


@cache
def _module_file(module: str, base: Path) -> Path | None:
    place = base.joinpath(*module.split("."))
    for file in (place / "__init__.py", place.with_suffix(".py")):
        if file.is_file():
            return file
    return None


# Versions of files that are kept at most, before all are forgotten.
_MOST_KEPT = 3000


class _Sources:
    """What counts of source files. It is kept by their content: to parse them takes a second."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._path = base / "kneewear" / "__pycache__" / "sources.json"
        self._rules = Path(__file__).read_bytes()
        self._read: dict[Path, tuple[str, list[str]]] = {}
        self._kept: dict[str, Any] = {}
        # A missing or damaged file only costs that second.
        with suppress(OSError, TypeError, ValueError):
            kept = dict(json.loads(self._path.read_text(encoding="utf-8")))
            self._kept = kept if len(kept) < _MOST_KEPT else {}
        self._known = len(self._kept)

    def read(self, file: Path, module: str) -> tuple[str, list[str]]:
        """Hash of a module's code, and the modules of kneewear it imports."""
        if file not in self._read:
            content = file.read_bytes()
            key = hashlib.sha256(self._rules + content).hexdigest()
            if key not in self._kept:
                tree = ast.parse(content, str(file))
                self._kept[key] = _code_hash(tree, b"description=" in content), _imports(tree)
            code, imports = self._kept[key]
            self._read[file] = code, _modules(imports, file, module, self.base)
        code, modules = self._read[file]
        return code, list(modules)

    def keep(self) -> None:
        """Leave what was found for later processes, where that can be written."""
        if len(self._kept) > self._known:
            self._known = len(self._kept)
            with suppress(OSError, OutputFileError):
                self._path.parent.mkdir(exist_ok=True)
                with atomic_path(self._path) as temporary:
                    temporary.write_text(json.dumps(self._kept), encoding="utf-8")


@cache
def _sources(base: Path) -> _Sources:
    return _Sources(base)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """A module and all statements in it; the expressions, which are most of it, are passed over."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for branch in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, branch, None) or ()


def _code_hash(tree: ast.Module, described: bool) -> str:
    """Hash of the syntax tree without docstrings and descriptions; comments are not in it."""
    for node in ast.walk(tree) if described else _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
        elif (
            isinstance(node, ast.keyword)
            and node.arg == "description"
            and isinstance(node.value, ast.Constant)
        ):
            node.value = ast.Constant("")
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _imports(tree: ast.Module) -> list[tuple[int, str, list[str]]]:
    """Level, module and names of all import statements."""
    found: list[tuple[int, str, list[str]]] = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            found.append((node.level, node.module or "", names))
    return found


def _modules(imports: Iterable[Any], file: Path, module: str, base: Path) -> list[str]:
    """Modules of kneewear that import statements reach, with the packages that hold them."""
    found: set[str] = set()
    for level, named, names in imports:
        package = named
        if level:
            parents = module.split(".")
            kept = parents[: len(parents) - level + (file.name == "__init__.py")]
            package = ".".join([*kept, *filter(None, [named])])
        for name in (package, *(f"{package}.{one}" for one in names)):
            parts = name.split(".")
            if parts[0] == "kneewear":
                found.update(".".join(parts[: i + 1]) for i in range(len(parts)))
    return [one for one in sorted(found) if _module_file(one, base) is not None]
