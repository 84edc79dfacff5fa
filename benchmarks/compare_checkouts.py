"""Run the same small studies in two checkouts on one machine, and compare their results.

`python -m benchmarks.compare_checkouts OLD NEW` runs the studies of `compared_studies.yaml` with
copies of both checkouts, each a folder or a commit of this repository, and compares every NetCDF,
CSV and JSON: bytes first, else values within a tolerance (see `benchmarks.compared_files`, which
also lists what is excepted). Names that differ between the checkouts stand in `renames.csv`. It
ends with 0 only if every study ran and every file is equal. With `--keep FOLDER` the results of a
commit are used again by later comparisons for OLD; NEW is always run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml

from benchmarks.compared_files import Compared, Renames, compare_folders

ROOT = Path(__file__).parents[1]
STUDIES = Path(__file__).with_name("compared_studies.yaml")
RENAMES = Path(__file__).with_name("renames.csv")
OVERLAY = "small.yaml"
# What results depend on beside the code.
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "h5py", "pandas", "SALib", "statsmodels")
SHOWN = 5


@dataclass(frozen=True)
class SmallStudy:
    """A shipped study, and what makes it small."""

    name: str
    files: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    def renamed(self, renames: Renames) -> SmallStudy:
        """The same study with the names of the new checkout."""
        places, data = renames.of("study"), renames.of("data")
        files = tuple(places.get(file, file) for file in self.files)
        settings = json.loads(json.dumps(self.settings))
        for old, new in renames.of("setting").items():
            _move(settings, old.split("."), new.split(".") if new else [])
        rows = {data.get(file, file): count for file, count in self.rows.items()}
        levels = {
            renames.of("variable").get(name, name): kept for name, kept in self.levels.items()
        }
        return SmallStudy(self.name, files, settings, levels, rows)

    @property
    def digest(self) -> str:
        """Short digest of all that makes the study."""
        content = json.dumps([self.files, self.settings, self.levels, self.rows], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:8]


def _move(settings: dict[str, Any], old: list[str], new: list[str]) -> None:
    """Move a setting, if it is there, to another path; without one it is left out."""
    block: Any = settings
    for key in old[:-1]:
        block = block.get(key) if isinstance(block, dict) else None
    if isinstance(block, dict) and old[-1] in block:
        value = block.pop(old[-1])
        for key in new[:-1]:
            settings = settings.setdefault(key, {})
        if new:
            settings[new[-1]] = value


def read_studies(file: Path = STUDIES, names: Sequence[str] = ()) -> list[SmallStudy]:
    """Studies of the list, all or those of some names."""
    listed = yaml.safe_load(file.read_text(encoding="utf-8"))
    if unknown := sorted(set(names) - set(listed)):
        raise SystemExit(f"{file}: found no {', '.join(unknown)}; expected of {', '.join(listed)}")
    return [
        SmallStudy(
            name,
            tuple(one["files"]),
            one.get("settings", {}),
            one.get("levels", {}),
            one.get("rows", {}),
        )
        for name, one in listed.items()
        if not names or name in names
    ]


@dataclass(frozen=True)
class Ran:
    """A study that was run: its results, exit code and seconds, and whether they were kept."""

    study: str
    results: Path
    code: int
    seconds: float
    kept: bool = False
    message: str = ""


class Checkout:
    """A copy of a checkout, made in a folder, whose results may be kept in another one."""

    def __init__(self, source: str, folder: Path, keep: Path | None) -> None:
        self.source, self.folder, self.keep = source, folder, keep
        self.copy = folder / "checkout"
        self.commit = _commit(source)
        place = Path(source)
        _copy_folder(place, self.copy) if place.is_dir() else _copy_commit(source, self.copy)

    def run(self, study: SmallStudy, python: str) -> Ran:
        """Run a study, or take the results that are kept of this commit, study and machine."""
        place = self.folder / "studies" / study.name
        if not self.keep or not self.commit:
            return self._compute(study, place, python)
        machine = hashlib.sha256(_machine().encode()).hexdigest()[:8]
        kept = self.keep / f"{self.commit}-{machine}" / f"{study.name}-{study.digest}"
        record = kept / "run.json"
        if record.is_file():
            known = json.loads(record.read_text(encoding="utf-8"))
            return Ran(study.name, kept / "results", known["code"], known["seconds"], True)
        ran = self._compute(study, place, python)
        if ran.message:
            return ran
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        shutil.move(ran.results, kept / "results")
        record.write_text(json.dumps({"code": ran.code, "seconds": ran.seconds}), encoding="utf-8")
        return Ran(study.name, kept / "results", ran.code, ran.seconds)

    def _compute(self, study: SmallStudy, place: Path, python: str) -> Ran:
        place.mkdir(parents=True)
        for name, count in study.rows.items():
            _cut(self.copy / name, count)
        settings = dict(study.settings)
        if study.levels:
            settings["variables"] = _fewer_levels(self.copy / study.files[-1], study.levels)
        overlay = place / OVERLAY
        overlay.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        # Relative, so that what is noted of paths is the same on both sides.
        files = [os.path.relpath(self.copy / file, place) for file in study.files]
        command = [python, "-m", "kneewear", "run", *files, OVERLAY, "--cores", "1"]
        start = time.monotonic()
        done = subprocess.run(
            command,
            cwd=place,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            errors="replace",
        )
        took = time.monotonic() - start
        (place / "output.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        folders = sorted(place.glob("results/*/report/summary.json"))
        if len(folders) != 1:
            last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
            return Ran(study.name, place / "results", done.returncode, took, message=last)
        return Ran(study.name, folders[0].parents[1], done.returncode, took)

    def environment(self) -> dict[str, str]:
        """Environment in which the copy is the package, with compiled kernels of its own."""
        own = {name: value for name, value in os.environ.items() if name != "KNEEWEAR_DATA"}
        digest = hashlib.sha256()
        # All kernels of the package: two checkouts never share code of different sources.
        for file in sorted((self.copy / "kneewear").rglob("*.py")):
            if file.name.endswith("kernels.py") or "compil" in file.name or "machine" in file.name:
                digest.update(file.relative_to(self.copy).as_posix().encode() + file.read_bytes())
        default = (self.keep or self.folder) / "kernels"
        folder = Path(os.environ.get("NUMBA_CACHE_DIR") or default).resolve()
        kernels = folder / f"compared-{digest.hexdigest()[:12]}"
        own |= {"PYTHONPATH": str(self.copy), "NUMBA_CACHE_DIR": str(kernels)}
        return own


def _git(place: Path, *words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(place), *words], capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{place}: git {words[0]}: {done.stderr.decode().strip()}")
    return done.stdout


def _commit(source: str) -> str:
    """Commit of a checkout; empty where it has changes that are not committed."""
    place = Path(source)
    if not place.is_dir():
        return _git(ROOT, "rev-parse", "--verify", f"{source}^{{commit}}").decode().strip()[:12]
    changed = _git(place, "status", "--porcelain", "--untracked-files=normal").strip()
    return "" if changed else _git(place, "rev-parse", "HEAD").decode().strip()[:12]


def _copy_commit(source: str, target: Path) -> None:
    with tarfile.open(fileobj=BytesIO(_git(ROOT, "archive", source))) as packed:
        packed.extractall(target, filter="data")


def _copy_folder(place: Path, target: Path) -> None:
    """Copy what git knows of a checkout and what is new in it, as it is on disk."""
    listed = _git(place, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.decode().split("\0")):
        if (place / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(place / name, target / name, follow_symlinks=True)


def _fewer_levels(file: Path, levels: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Variables of a file of settings, some of them with these levels, or names of blocks, only."""
    variables = yaml.safe_load(file.read_text(encoding="utf-8"))["variables"]
    for name, kept in levels.items():
        if isinstance(variables[name], list):
            variables[name] = list(kept)
        elif "blocks" in variables[name]:
            blocks = variables[name]["blocks"]
            variables[name]["blocks"] = {block: blocks[block] for block in kept}
        else:
            variables[name]["values"] = list(kept)
    return variables


def _cut(file: Path, count: int) -> None:
    """Leave the comments, the header and the first rows of a table."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    notes = sum(line.startswith("#") for line in lines)
    file.write_text("".join(lines[: notes + 1 + count]), encoding="utf-8")


def _machine() -> str:
    """Processor and libraries, on which the last digits depend."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.is_file() else ""
    names = [line for line in text.splitlines() if line.startswith("model name")][:1]
    versions = [f"{library} {version(library)}" for library in LIBRARIES]
    return "\n".join([sys.version, platform.platform(), platform.processor(), *names, *versions])


def run_studies(
    checkout: Checkout, studies: Sequence[SmallStudy], python: str, cores: int
) -> dict[str, Ran]:
    """Run studies side by side, each on one core."""
    with ThreadPoolExecutor(cores) as pool:
        return {ran.study: ran for ran in pool.map(partial(checkout.run, python=python), studies)}


def report_study(old: Ran, new: Ran, compared: Sequence[Compared]) -> list[str]:
    """Lines about a study: what was compared, how it is equal, and what differs."""
    counts = Counter(one.verdict for one in compared)
    largest = max((one for one in compared), key=lambda one: one.largest, default=None)
    took = f"{old.seconds:.0f} s{' (kept)' if old.kept else ''}, {new.seconds:.0f} s"
    took += " (kept)" if new.kept else ""
    files = counts["bytes"] + counts["value"] + counts["different"]
    lines = [
        f"{old.study}: {files} files compared, {counts['bytes']} equal by bytes, "
        f"{counts['value']} by value, {counts['different']} different, {counts['missing']} on one "
        f"side only, {counts['excepted']} excepted, {counts['dropped']} dropped, "
        f"{counts['added']} added; {took}"
    ]
    if largest and largest.largest:
        lines.append(f"  largest deviation {largest.largest:.2g}: {largest.path} {largest.place}")
    if old.code != new.code:
        lines.append(f"  exit codes {old.code} and {new.code}")
    for side, ran in (("old", old), ("new", new)):
        if ran.message:
            lines += [f"  the {side} study has no results; it ended with {ran.code} and:"]
            lines += [f"    {line}" for line in ran.message.splitlines()]
    for one in compared:
        if not one.equal:
            lines += [f"  {one.verdict}: {one.path}"]
            lines += [f"    {text}" for text in one.differences[:SHOWN]]
            left = len(one.differences) - SHOWN
            lines += [f"    and {left} more"] if left > 0 else []
    return lines


def compare_checkouts(
    old: str,
    new: str,
    studies: Sequence[SmallStudy],
    tolerance: float,
    cores: int,
    keep: Path | None,
    python: str,
    renames: Renames,
) -> bool:
    """Run and compare all studies, and print what was found; whether all is equal."""
    equal = True
    with tempfile.TemporaryDirectory(prefix="compared-") as scratch:
        ran, seconds = [], []
        for side, source in (("old", old), ("new", new)):
            chosen = studies if side == "old" else [study.renamed(renames) for study in studies]
            start = time.monotonic()
            checkout = Checkout(source, Path(scratch, side), keep if side == "old" else None)
            ran.append(run_studies(checkout, chosen, python, cores))
            seconds.append(time.monotonic() - start)
        for one in studies:
            before, after = ran[0][one.name], ran[1][one.name]
            failed = bool(before.message or after.message)
            compared = (
                [] if failed else compare_folders(before.results, after.results, tolerance, renames)
            )
            same = not failed and before.code == after.code and all(one.equal for one in compared)
            equal = equal and same and bool(compared)
            print("\n".join(report_study(before, after, compared)), flush=True)
        verdict = "All equal" if equal else "NOT EQUAL"
        took = f"{seconds[0]:.0f} s of the old checkout and {seconds[1]:.0f} s of the new one"
        print(f"{verdict} within {tolerance:g}; the studies took {took}.")
    return equal


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two checkouts; 0 only if all results are equal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", help="checkout, or commit of this repository")
    parser.add_argument("new", help="checkout, or commit of this repository")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="relative (1e-9)")
    parser.add_argument("--studies", nargs="+", default=(), help="names of the list (all)")
    parser.add_argument("--cores", type=int, default=2, help="studies side by side (2)")
    parser.add_argument("--keep", type=Path, help="folder where results of OLD are kept")
    parser.add_argument("--renames", type=Path, default=RENAMES, help="table of renames")
    chosen = parser.parse_args(arguments)
    studies, renames = read_studies(names=chosen.studies), Renames.read(chosen.renames)
    keep = chosen.keep and chosen.keep.resolve()
    return not compare_checkouts(
        chosen.old,
        chosen.new,
        studies,
        chosen.tolerance,
        chosen.cores,
        keep,
        sys.executable,
        renames,
    )


if __name__ == "__main__":
    sys.exit(main())
