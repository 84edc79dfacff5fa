"""Report of a fault for people who may not show an implant: one small file without its shapes.

The report holds settings, versions, statistics of meshes and curves, findings and logs. It holds no
vertex, no outline and no name of a file, a study, a folder, a person or a machine: those are
replaced when the report is written, in every text of it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear import checkout_folder, default_settings_file
from kneewear.base.files import read_settings_file
from kneewear.base.versions import software_versions
from kneewear.errors import Finding, InputDataError, KneewearError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.curves import read_table
from kneewear.io.documents import load_record, save_json
from kneewear.io.result_files import job_records
from kneewear.io.shapes import POINT_SUFFIXES, load_shape
from kneewear.setup.redaction import SHAPE_SUFFIXES, Redaction, redaction_of_machine
from kneewear.study.files import check_inputs
from kneewear.study.settings import read_study

# Layout of the report; raised when a key changes its meaning.
FORMAT = 1
SETTINGS_SUFFIXES = (".yaml", ".yml")
# Lines of each log that are kept, and logs, the latest first.
MAX_LINES = 60
MAX_LOGS = 40
# Digits of the statistics of a mesh: enough for its unit, too few for a dimension.
_DIGITS = 2


def write_fault_report(files: Sequence[str], output: Path, message: str = "") -> Path:
    """Write the report of a fault.

    Parameters
    ----------
    files : sequence of str
        Settings (YAML) of one study, and files of shapes and curves that are in no settings yet.
    output : Path
        File to write, JSON.
    message : str
        What the terminal showed, perhaps with a traceback.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputDataError
        If a file is not there.
    """
    missing = [file for file in files if not Path(file).is_file()]
    if missing:
        expected, remedy = "settings, shapes or curves", "Correct the name."
        raise InputDataError(missing[0], "no such file", expected, remedy)
    save_json(fault_report(files, message), output)
    return output


def fault_report(files: Sequence[str], message: str = "") -> dict[str, Any]:
    """Content of the report of a fault: plain builtins, see `write_fault_report`."""
    redaction = redaction_of_machine()
    settings = [file for file in files if Path(file).suffix.lower() in SETTINGS_SUFFIXES]
    contents: dict[str, Any] = {}
    findings: list[Finding] = []
    for file in settings:
        try:
            contents |= read_settings_file(file).content
        except InputDataError as error:
            findings.append(error.finding)
    name = str(contents.get("study", ""))
    folder = Path(settings[0]).resolve().parent if settings else Path.cwd()
    redaction.add(name, "study")
    implant = contents.get("implant") or {}
    redaction.add(str(implant.get("name", "")), "implant")
    data = folder / str(contents.get("data_folder") or ".")
    redaction.add(str(data), "<data>")
    redaction.add(str(contents.get("data_folder") or ""), "<data>")
    for file in settings:
        redaction.add_file(file, "settings")
    named = {file: file for file in files if file not in settings}
    named |= {file: str(data / file) for file in _file_names(contents)}
    shapes, curves = _statistics(named, set(_file_names(implant)), redaction, findings)
    if settings:
        findings += _findings_of_settings(settings)
    findings += _findings_of_results(folder / "results" / name) if name else []
    logs = _logs(folder / "results" / name / "logs") if name else {}
    return {
        "format": FORMAT,
        "versions": software_versions(),
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "encoding": sys.getfilesystemencoding(),
        },
        "settings": redaction.settings(contents),
        "shapes": shapes,
        "curves": curves,
        "findings": [
            {key: redaction.text(text) for key, text in asdict(finding).items()}
            for finding in dict.fromkeys(findings)
        ],
        "logs": {redaction.text(job): redaction.text(text) for job, text in logs.items()},
        "message": redaction.text(message),
    }


def _file_names(settings: Any) -> Iterator[str]:
    """Texts of settings that end as files of data do."""
    if isinstance(settings, Mapping):
        settings = list(settings.values())
    if isinstance(settings, list | tuple):
        for value in settings:
            yield from _file_names(value)
    elif isinstance(settings, str) and re.fullmatch(r"[^\n]*\w\.[A-Za-z]\w{1,4}", settings):
        yield settings


def _statistics(
    files: Mapping[str, str],
    of_implant: Container[str],
    redaction: Redaction,
    findings: list[Finding],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Statistics of shapes and of curves, from paths by name; adds findings of unreadable ones."""
    shapes, curves = [], []
    for name, path in files.items():
        is_shape = name in of_implant or _holds_shape(path)
        alias = redaction.add_file(name, "shape" if is_shape else "curves")
        redaction.add(path, alias)
        try:
            size = {"file": alias, "bytes": Path(path).stat().st_size}
            if is_shape:
                shapes.append(size | mesh_statistics(load_shape(path)))
            else:
                statistics = redaction.settings(curve_statistics(path), words=True)
                curves.append(size | {"columns": statistics})
        except KneewearError as error:
            findings.append(getattr(error, "finding", _as_finding(error)))
        except OSError as error:
            findings.append(Finding("", "refuse", alias, str(error.strerror), "", ""))
    return shapes, curves


def _holds_shape(path: str) -> bool:
    """True for a file of triangles or CAD, and for a table of points, which may also be curves."""
    suffix = Path(path).suffix.lower()
    if suffix not in POINT_SUFFIXES:
        return suffix in SHAPE_SUFFIXES
    try:
        return {"x", "y", "z"} <= {title.lower() for title in read_table(path).titles}
    except KneewearError:
        # Without a head, which curves have.
        return True


def _as_finding(error: Exception) -> Finding:
    return Finding("", "refuse", "", f"{type(error).__name__}: {error}", "", "")


def mesh_statistics(mesh: TriangleMesh) -> dict[str, Any]:
    """Numbers of a mesh that show how it was made, and not its shape."""
    codes, uses = np.unique(mesh.edge_codes, return_counts=True)
    length = np.linalg.norm(np.diff(mesh.vertices[mesh.edges], axis=1)[:, 0], axis=1)
    area = np.linalg.norm(mesh.face_normals, axis=1)
    return {
        "vertices": len(mesh.vertices),
        "triangles": len(mesh.faces),
        "edges": len(codes),
        "open_edges": int(np.sum(uses == 1)),
        "edges_of_three_or_more": int(np.sum(uses > 2)),
        "pieces": _count_pieces(mesh),
        "flat_triangles": int(np.sum(area <= 1e-12 * max(float(area.max(initial=0.0)), 1e-300))),
        "closed": mesh.is_closed,
        "not_finite": int(np.sum(~np.isfinite(mesh.vertices))),
        "extent": _rounded(mesh.extent) if len(mesh.vertices) else [],
        "edge_length": _rounded(np.quantile(length, [0.0, 0.5, 1.0])) if length.size else [],
    }


def _count_pieces(mesh: TriangleMesh) -> int:
    """Number of pieces that share no vertex."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - loads in 0.3 s, for this report only
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    count = len(mesh.vertices)
    if not len(mesh.faces):
        return 0
    one, other = mesh.edges.T
    graph = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(count, count))
    number, label = connected_components(graph, directed=False)
    return int(number - np.sum(np.bincount(label[np.unique(mesh.faces)], minlength=number) == 0))


def curve_statistics(path: str | Path) -> dict[str, dict[str, Any]]:
    """Statistics of each column of a file of curves, in its units."""
    numbers = read_table(path).cells.text.apply(pd.to_numeric, errors="coerce")
    return {
        str(name): {
            "rows": int(column.size),
            "missing": int(column.isna().sum()),
            "least": _number(column.min()),
            "largest": _number(column.max()),
            "mean": _number(column.mean()),
            "largest_step": _number(column.diff().abs().max()),
        }
        for name, column in numbers.items()
    }


def _number(value: float) -> float | None:
    """Number to four digits, or None for one that JSON does not have."""
    return float(f"{value:.4g}") if np.isfinite(value) else None


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values.tolist()]


def _findings_of_settings(files: Sequence[str]) -> list[Finding]:
    """Findings of the check of settings and data files; what ends it is one of them."""
    findings: list[Finding] = []
    root = checkout_folder() if Path.cwd() != checkout_folder() else Path()
    try:
        study = read_study(*files, defaults=default_settings_file(), report=findings.append)
        findings += check_inputs(study, root)
    except InputDataError as error:
        findings.append(error.finding)
    except Exception as error:  # the fault may be in what is called here
        findings.append(_as_finding(error))
    return findings


def _findings_of_results(folder: Path) -> list[Finding]:
    """Findings of a finished study, and of jobs that have run."""
    records: list[Mapping[str, Any]] = []
    with suppress(KneewearError, KeyError, OSError):
        records += load_record(folder / "report" / "summary.json")["findings"]
    if (folder / "logs").is_dir():
        for text in job_records(folder / "logs", ".findings").values():
            records += [json.loads(line) for line in text.splitlines()]
    names = Finding.__dataclass_fields__
    return [Finding(**{name: record.get(name, "") for name in names}) for record in records]


def _logs(folder: Path) -> dict[str, str]:
    """Last lines of the logs of jobs, those with an error first."""
    if not folder.is_dir():
        return {}
    logs = job_records(folder, ".log") | {
        f"{job} (failed)": text for job, text in job_records(folder, ".failed").items()
    }
    order = sorted(logs, key=lambda job: not _has_error(logs[job]))
    return {job: "\n".join(logs[job].splitlines()[-MAX_LINES:]) for job in order[:MAX_LOGS]}


def _has_error(text: str) -> bool:
    return any(word in text for word in ("Traceback", "ERROR", "Error"))
