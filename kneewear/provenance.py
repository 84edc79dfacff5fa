"""Origin of results: fingerprints of the code, and the record of a finished study."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kneewear import __version__
from kneewear.errors import OutputFileError
from kneewear.io.result_files import atomic_path, file_hash
from kneewear.settings.checks import heard, setting_warnings

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    "numpy", "scipy", "numba", "pandas", "h5netcdf", "h5py", "jinja2", "pyyaml", "ruamel.yaml",
    "SALib", "scikit-sundae", "statsmodels", "matplotlib", "vtk", "xarray", "k3d", "itables",
    "trimesh", "pydantic", "fpdf2", "pillow", "pymoo", "snakemake",
)  # fmt: skip


def source_fingerprint(script: str, root: str | Path = ROOT) -> str:
    """Hash of the package code that a script of `scripts/` depends on, hexadecimal digits.

    It follows the import statements of the script and of every kneewear module reached, those
    inside functions too; a table (.csv) of the name of a module counts with it. The script itself
    is not hashed: Snakemake checks it. Code that differs only in comments, docstrings,
    `description=` texts of calls (those of settings) and layout has the same hash. Raises
    FileNotFoundError when there is no such script.
    """
    sources = _sources(Path(root))
    waiting = list(sources.read(sources.base / "scripts" / f"{script}.py", "")[1])
    found: dict[str, str] = {}
    while waiting:
        module = waiting.pop()
        file = _module_file(module, sources.base)
        if module not in found and file is not None:
            found[module], reached = sources.read(file, module)
            waiting += reached
    sources.store()
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
    """Record of how the results of a study were computed.

    From all settings (plain builtins), the data files that were read, and the folders of
    Snakemake's benchmark files and of the jobs' logs: `versions`, `machine`, `inputs` (file name to
    SHA-256), `settings`, `seed`, `wall_time_s` (seconds of each rule, summed over its jobs) and
    `warnings` (pairs of log, or "settings", and message, without those that the settings silence).
    """
    return {
        "versions": {"kneewear": __version__, "python": platform.python_version()}
        | {library: _version(library) for library in LIBRARIES},
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "inputs": {path: file_hash(path) for path in sorted(inputs)},
        "settings": dict(settings),
        "seed": settings["seed"],
        "wall_time_s": _wall_times(Path(benchmarks)),
        "warnings": _warnings(settings, Path(logs)),
    }


def job_records(folder: str | Path, suffix: str) -> dict[str, str]:
    """Logs or benchmarks by job, such as `simulate_contact/gait/b000`, gathered or not."""
    records: dict[str, str] = {}
    # In the order of text, a gathered file precedes the folder of its rule.
    for path in sorted(Path(folder).rglob(f"*{suffix}"), key=str):
        name = path.relative_to(folder).with_suffix("").as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        own, *gathered = re.split(r"^==> (.*) <==\n", text, flags=re.MULTILINE)
        records |= {name: own} if own else {}
        jobs = zip(gathered[::2], gathered[1::2], strict=True)
        records |= {f"{name}/{job}": said for job, said in jobs}
    return records


def gather_records(benchmarks: str | Path, logs: str | Path) -> None:
    """Put the benchmarks, and the logs, of the jobs of a rule, a folder, into one file of its name.

    Large studies have many; those of jobs that run again replace what was gathered before.
    """
    for folder, suffix in ((benchmarks, ".tsv"), (logs, ".log")):
        records = job_records(folder, suffix)
        for rule in [path for path in Path(folder).glob("[!.]*") if path.is_dir()]:
            start = f"{rule.name}/"
            own = {job: text for job, text in records.items() if job.startswith(start)}
            with atomic_path(rule.with_suffix(suffix)) as temporary:
                sections = (f"==> {job.removeprefix(start)} <==\n{own[job]}" for job in own)
                temporary.write_text("".join(sections), encoding="utf-8")
            shutil.rmtree(rule)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _wall_times(folder: Path) -> dict[str, float]:
    """Seconds of each rule, summed over its jobs."""
    seconds: dict[str, float] = {}
    for job, text in job_records(folder, ".tsv").items():
        rule = job.partition("/")[0]
        rows = csv.DictReader(text.splitlines(), delimiter="\t")
        seconds[rule] = seconds.get(rule, 0.0) + sum(float(row["s"]) for row in rows)
    return {rule: round(total, 3) for rule, total in seconds.items()}


def _warnings(settings: Mapping[str, Any], folder: Path) -> list[list[str]]:
    """Warnings about settings, and those in the logs of the jobs that have run so far."""
    mark = " WARNING "
    found = {"settings": list(setting_warnings(settings))} | {
        job: [line.split(mark, 1)[1] for line in text.splitlines() if mark in line]
        for job, text in job_records(folder, ".log").items()
    }
    silence = settings["checks"]["silence"]
    return [[log, text] for log, texts in found.items() for text in heard(texts, silence)]


@cache
def _module_file(module: str, base: Path) -> Path | None:
    stem = base.joinpath(*module.split("."))
    files = (stem / "__init__.py", stem.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


# Entries of the cache at which it is cleared: older versions of files are never removed singly.
_MAX_ENTRIES = 3000


class _Sources:
    """Code hashes and imports of source files, cached by content: parsing all takes a second."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._path = base / "kneewear" / "__pycache__" / "sources.json"
        self._rules = Path(__file__).read_bytes()
        self._cache: dict[str, Any] = {}
        # Without a readable cache only that second is lost.
        with suppress(OSError, TypeError, ValueError):
            stored = dict(json.loads(self._path.read_text(encoding="utf-8")))
            self._cache = stored if len(stored) < _MAX_ENTRIES else {}
        self._stored = len(self._cache)

    @cache  # noqa: B019 - one object per checkout
    def read(self, file: Path, module: str) -> tuple[str, tuple[str, ...]]:
        """Hash of a module's code, and the modules of kneewear it imports."""
        content = file.read_bytes()
        key = hashlib.sha256(self._rules + content).hexdigest()
        if key not in self._cache:
            tree = ast.parse(content, str(file))
            self._cache[key] = _code_hash(tree, b"description=" in content), _imports(tree)
        code, imports = self._cache[key]
        table = file.with_suffix(".csv")
        if table.is_file():
            code += file_hash(table)
        return code, _modules(imports, file, module, self.base)

    def store(self) -> None:
        """Write the cache for later processes, where that is possible."""
        if len(self._cache) > self._stored:
            self._stored = len(self._cache)
            with suppress(OSError, OutputFileError):
                self._path.parent.mkdir(exist_ok=True)
                with atomic_path(self._path) as temporary:
                    temporary.write_text(json.dumps(self._cache), encoding="utf-8")


@cache
def _sources(base: Path) -> _Sources:
    return _Sources(base)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield a module and all statements in it, but not the expressions, which are most of it."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for branch in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, branch, None) or ()


def _code_hash(tree: ast.Module, described: bool) -> str:
    """Hash of the syntax tree, which has no comments, without docstrings and descriptions."""
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


def _imports(tree: ast.Module) -> list[tuple[int, str]]:
    """Level and name of everything that import statements may import."""
    found: list[tuple[int, str]] = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = [node.module] if node.module else []
            found += [(node.level, ".".join([*parts, alias.name])) for alias in node.names]
    return found


def _modules(imports: Iterable[Any], file: Path, module: str, base: Path) -> tuple[str, ...]:
    """Modules of kneewear that import statements reach, with the packages that hold them."""
    found: set[str] = set()
    for level, name in imports:
        parents = module.split(".") if level else []
        parents = parents[: len(parents) - level + (file.name == "__init__.py")]
        parts = [*parents, *name.split(".")]
        if parts[0] == "kneewear":
            found.update(".".join(parts[: i + 1]) for i in range(len(parts)))
    return tuple(one for one in sorted(found) if _module_file(one, base) is not None)
