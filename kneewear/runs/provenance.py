"""Origin of results: the record of a finished study."""

from __future__ import annotations

import csv
import json
import platform
import re
import shutil
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kneewear import RESULTS_SCHEMA, __version__
from kneewear.base.checks import drop_silenced, setting_findings
from kneewear.base.findings import Reported
from kneewear.io.result_files import atomic_path, file_hash
from kneewear.runs.joblog import FINDINGS
from kneewear.study.settings import validate_study

LIBRARIES = (
    "numpy", "scipy", "numba", "pandas", "h5netcdf", "h5py", "jinja2", "pyyaml", "ruamel.yaml",
    "SALib", "scikit-sundae", "statsmodels", "matplotlib", "vtk", "xarray", "k3d", "itables",
    "trimesh", "pydantic", "fpdf2", "pillow", "plyfile", "pymoo", "snakemake",
    "contourpy", "psutil",
)  # fmt: skip


def provenance_record(
    settings: Mapping[str, Any],
    inputs: Iterable[str],
    benchmarks: str | Path,
) -> dict[str, Any]:
    """Record of how the results of a study were computed.

    From all settings (plain builtins), the data files that were read, and the folder of
    Snakemake's benchmark files: `schema`, `versions`, `machine`, `inputs` (file name to SHA-256),
    `settings`, `seed` and `wall_time_s` (seconds of each rule, summed over its jobs).
    """
    return {
        "schema": RESULTS_SCHEMA,
        "versions": {"kneewear": __version__, "python": platform.python_version()}
        | {library: _version(library) for library in LIBRARIES},
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "inputs": {path: file_hash(path) for path in sorted(inputs)},
        "settings": dict(settings),
        "seed": settings["seed"],
        "wall_time_s": _wall_times(Path(benchmarks)),
    }


def job_records(folder: str | Path, suffix: str) -> dict[str, str]:
    """Logs or benchmarks by job, such as `simulate_contact/gait/b000`, gathered or not."""
    records: dict[str, str] = {}
    # In the order of text, a gathered file precedes the folder of its rule.
    for path in sorted(Path(folder).rglob(f"*{suffix}"), key=str):
        name = path.relative_to(folder).with_suffix("").as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        own, *gathered = re.split(r"^==> (.*) <==\n", text, flags=re.MULTILINE)
        records |= {} if gathered else {name: own}
        jobs = zip(gathered[::2], gathered[1::2], strict=True)
        records |= {f"{name}/{job}": said for job, said in jobs}
    return records


def gather_records(benchmarks: str | Path, logs: str | Path) -> None:
    """Put the benchmarks, and the logs, of the jobs of a rule, a folder, into one file of its name.

    Large studies have many; those of jobs that run again replace what was gathered before.
    """
    for folder, suffixes in ((benchmarks, (".tsv",)), (logs, (".log", FINDINGS))):
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

    The job is "settings" or the name of the rule; of those that the settings silence only their
    number is left.
    """
    found = [
        Reported(finding, "settings") for finding in setting_findings(validate_study(settings))
    ]
    for job, text in job_records(logs, FINDINGS).items():
        records = map(json.loads, text.splitlines())
        found += [Reported.of(one | {"job": job.partition("/")[0]}) for one in records]
    silence = settings["checks"]["silence"]
    left = [one for one in found if one.finding.check not in silence]
    notes = drop_silenced([one.finding for one in found], silence)[len(left) :]
    return [*left, *(Reported(note, "settings") for note in notes)]


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
