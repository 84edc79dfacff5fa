"""Where results come from: fingerprints of the code, and the record of a finished study."""

from __future__ import annotations

import ast
import csv
import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

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
    base = Path(root)
    found: set[str] = set()
    waiting = list(_imports(base / "scripts" / f"{script}.py", "", base))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            file = _module_file(module, base)
            waiting += _imports(file, module, base) if file is not None else ()
    digest = hashlib.sha256()
    for module in sorted(found):
        file = _module_file(module, base)
        if file is not None:
            digest.update(f"{module} {_code_hash(file)}\n".encode())
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


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """A module and all statements in it; the expressions, which are most of it, are passed over."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for branch in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, branch, None) or ()


@cache
def _code_hash(file: Path) -> str:
    """Hash of the syntax tree without docstrings and descriptions; comments are not in it."""
    tree = _parsed(file)
    described = "description=" in file.read_text(encoding="utf-8")
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


@cache
def _imports(file: Path, module: str, base: Path) -> frozenset[str]:
    """Modules of kneewear a file imports, with the packages that hold them."""
    found: set[str] = set()
    for node in _statements(_parsed(file)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            if node.level:
                parents = module.split(".")
                depth = node.level - (file.name == "__init__.py")
                kept = parents[: len(parents) - depth]
                package = ".".join([*kept, *filter(None, [node.module])])
            names = [package, *(f"{package}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "kneewear":
                found.update(".".join(parts[: i + 1]) for i in range(len(parts)))
    return frozenset(one for one in found if _module_file(one, base) is not None)
