"""Origin of results: the record of a finished study, and fingerprints of the code of rules.

A rule runs again when a module that it depends on has changed.
"""

from __future__ import annotations

import ast
import atexit
import csv
import hashlib
import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from kneewear import RESULTS_SCHEMA
from kneewear.base.checks import drop_ignored, setting_findings
from kneewear.base.findings import Reported
from kneewear.base.kernel_cache import cache_folder, require_writable
from kneewear.base.versions import software_versions
from kneewear.errors import OutputFileError
from kneewear.io.result_files import atomic_path, file_hash, job_records
from kneewear.runs.joblog import FINDINGS, PROCESSOR
from kneewear.study.settings import validate_study


def provenance_record(
    settings: Mapping[str, Any],
    inputs: Iterable[str],
    benchmarks: str | Path,
    logs: str | Path,
) -> dict[str, Any]:
    """Record of how the results of a study were computed.

    From all settings (plain builtins), the data files that were read, and the folders of
    Snakemake's benchmark files and of logs: `schema`, `versions`, `machine`, `inputs` (file name to
    SHA-256), `settings`, `seed`, `wall_time_s` and `processor_s` (seconds of each rule, summed over
    its jobs; without Snakemake and the job that writes the page).
    """
    return {
        "schema": RESULTS_SCHEMA,
        "versions": software_versions(),
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "inputs": {path: file_hash(path) for path in sorted(inputs)},
        "settings": dict(settings),
        "seed": settings["seed"],
        "wall_time_s": _wall_times(benchmarks),
        "processor_s": _rule_sums(job_records(logs, PROCESSOR), lambda text: float(text or 0.0)),
    }


def gather_records(benchmarks: str | Path, logs: str | Path) -> None:
    """Put the benchmarks, and the logs, of the jobs of a rule, a folder, into one file of its name.

    Large studies have many; those of jobs that run again replace what was gathered before.
    """
    for folder, suffixes in ((benchmarks, (".tsv",)), (logs, (".log", FINDINGS, PROCESSOR))):
        records = {suffix: job_records(folder, suffix) for suffix in suffixes}
        for rule in [path for path in Path(folder).glob("[!.]*") if path.is_dir()]:
            start = f"{rule.name}/"
            for suffix in suffixes:
                own = {job: text for job, text in records[suffix].items() if job.startswith(start)}
                with atomic_path(rule.with_suffix(suffix)) as temporary:
                    sections = (f"==> {job.removeprefix(start)} <==\n{own[job]}" for job in own)
                    temporary.write_text("".join(sections), encoding="utf-8")
            shutil.rmtree(rule)


def reported_findings(settings: Mapping[str, Any], logs: str | Path) -> list[Reported]:
    """Findings about settings and of the jobs that have run so far.

    The job is "settings" or the name of the rule; of those that the settings ignore only their
    number is left.
    """
    found = [
        Reported(finding, "settings") for finding in setting_findings(validate_study(settings))
    ]
    for job, text in job_records(logs, FINDINGS).items():
        records = map(json.loads, text.splitlines())
        found += [Reported.of(record | {"job": job.partition("/")[0]}) for record in records]
    ignore = settings["checks"]["ignore"]
    left = [one for one in found if one.finding.check not in ignore]
    notes = drop_ignored([one.finding for one in found], ignore)[len(left) :]
    return [*left, *(Reported(note, "settings") for note in notes)]


def _wall_times(folder: str | Path) -> dict[str, float]:
    """Seconds of each rule, summed over its jobs."""

    def elapsed(text: str) -> float:
        rows = csv.DictReader(text.splitlines(), delimiter="\t")
        return sum(float(row["s"]) for row in rows)

    return _rule_sums(job_records(folder, ".tsv"), elapsed)


def _rule_sums(records: Mapping[str, str], value: Callable[[str], float]) -> dict[str, float]:
    """Sum of a value of the jobs of each rule, from a text of each job."""
    sums: dict[str, float] = {}
    for job, text in records.items():
        rule = job.partition("/")[0]
        sums[rule] = sums.get(rule, 0.0) + value(text)
    return {rule: round(total, 3) for rule, total in sums.items()}


ROOT = Path(__file__).resolve().parents[2]
# Tables that a module reads have its name.
_TABLES = (".csv", ".yaml")
# Number of the argument of a call that is text for people: the meaning of a setting, and the source
# of a range.
_TEXT_ARGUMENTS = {"quantity": 0, "Range": 5, "unlimited": 1}
_TEXT_KEYWORDS = ("description", "source")
# Raised with each change of what is removed from a syntax tree.
_FORMAT = 1


def source_fingerprint(script: str, root: str | Path = ROOT, loaded: Iterable[str] = ()) -> str:
    """Hash of the modules of the package that a script of `scripts/` depends on, hexadecimal.

    Parameters
    ----------
    script : str
        Name of the script, without its ending.
    root : str or Path
        Checkout. Scripts of an installed package stand beside a copy of the settings; the package
        is then the one that is imported.
    loaded : iterable of str
        Modules, or packages with all of their modules, that the script loads by name.

    Returns
    -------
    str
        Digest of the syntax trees of the modules that the script imports, of `loaded`, of what they
        import in turn, and of the tables of the same names. The script is not hashed: Snakemake
        checks it. Comments, docstrings, descriptions of settings and sources of ranges do not
        count, nor do imports for type checking.

    Raises
    ------
    FileNotFoundError
        When there is no such script.
    """
    base = Path(root)
    tree = ast.parse((base / "scripts" / f"{script}.py").read_bytes())
    if not (base / "kneewear").is_dir():
        base = ROOT
    waiting = {name for name in _named(tree) if _is_module(name, base)}
    waiting |= {module for name in loaded for module in _below(base, name)}
    modules: set[str] = set()
    while waiting - modules:
        module = (waiting - modules).pop()
        modules.add(module)
        waiting |= _read_module(base, module)[1]
    digest = hashlib.sha256()
    for module in sorted(modules):
        digest.update(f"{module} {_read_module(base, module)[0]}\n".encode())
    return digest.hexdigest()[:24]


@cache
def _below(base: Path, name: str) -> frozenset[str]:
    """Modules of a package, or the module of that name."""
    folder = base.joinpath(*name.split("."))
    if not folder.is_dir():
        return frozenset([name])
    files = (path.relative_to(base).with_suffix("") for path in folder.rglob("*.py"))
    return frozenset(".".join(path.parts) for path in files if path.name != "__init__")


@cache
def _read_module(base: Path, module: str) -> tuple[str, frozenset[str]]:
    """Hash of the code of a module and of its tables, and the modules it imports."""
    file = _file(base, module)
    text = file.read_bytes()
    digest, imported = _kept_hashes().look_up(text)
    tables = [table for table in map(file.with_suffix, _TABLES) if table.is_file()]
    if tables:
        joined = hashlib.sha256(digest.encode())
        for table in tables:
            joined.update(table.read_bytes())
        digest = joined.hexdigest()
    return digest, frozenset(name for name in imported if _is_module(name, base))


class _Hashes:
    """Hashes of syntax trees and names of imports, by the digests of texts, kept in a file.

    To parse all modules takes longer than anything else before the first job. An entry depends on
    nothing but the text and the version of Python, so that it is never stale.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, list[Any]] = {}
        self._added = False
        if file is not None:
            with suppress(OSError, ValueError):
                self._known = json.loads(file.read_text(encoding="utf-8"))
            atexit.register(self._save)

    def look_up(self, text: bytes) -> list[Any]:
        """Hash of the syntax tree of a text, and what its imports name."""
        key = hashlib.sha256(text).hexdigest()[:32]
        if key not in self._known:
            tree = ast.parse(text)
            named = sorted(_named(tree))
            _remove_text(tree)
            self._known[key] = [hashlib.sha256(ast.dump(tree).encode()).hexdigest(), named]
            self._added = True
        return self._known[key]

    def _save(self) -> None:
        if self._added and self._file is not None:
            with suppress(OSError, OutputFileError), atomic_path(self._file) as temporary:
                temporary.write_text(json.dumps(self._known), encoding="utf-8")


@cache
def _kept_hashes() -> _Hashes:
    """Hashes of this version of Python; without a file where none can be written."""
    try:
        folder = cache_folder()
        require_writable(folder)
    except (OSError, RuntimeError):
        return _Hashes(None)
    version = f"{sys.implementation.cache_tag}-{_FORMAT}"
    return _Hashes(folder / f"fingerprints-{version}.json")


def _remove_text(tree: ast.AST) -> None:
    """Remove from a syntax tree what only people read."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            at = _TEXT_ARGUMENTS.get(called)
            node.args = [
                part for number, part in enumerate(node.args) if number != at or not _is_text(part)
            ]
            node.keywords = [
                part
                for part in node.keywords
                if part.arg not in _TEXT_KEYWORDS or not _is_text(part.value)
            ]


def _is_text(node: ast.AST) -> bool:
    """True if an expression is a text, or a statement is a docstring."""
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _named(tree: ast.Module) -> set[str]:
    """Names in import statements that may be modules of the package, also within functions."""
    waiting: list[ast.AST] = [tree]
    names: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        else:
            waiting += ast.iter_child_nodes(node)
    return {name for name in names if name.startswith("kneewear.")}


@cache
def _is_module(name: str, base: Path) -> bool:
    """True if there is a module, or a package below the topmost one, of that name."""
    return name.startswith("kneewear.") and _file(base, name).is_file()


def _file(base: Path, module: str) -> Path:
    """File of a module or of a package."""
    path = base.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
