"""The command `kneewear retrieval`: wear of scanned inserts, with page, tables and meshes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kneewear import __version__
from kneewear.base.findings import Reported
from kneewear.base.sides import SIDES
from kneewear.base.types import is_file_name
from kneewear.errors import Finding, InputDataError
from kneewear.io.documents import load_table, save_figures, save_json, save_table, save_text
from kneewear.io.mesh_formats import save_ply
from kneewear.models.retrieval.evaluate import (
    Areas,
    Evaluation,
    depth_table,
    evaluate_scan,
    measured_depths,
    result_table,
    source_table,
    tolerance_table,
    underside_tables,
)
from kneewear.models.retrieval.lives import read_lifetime
from kneewear.models.retrieval.prediction import (
    Prediction,
    depths_at_blocks,
    profile_table,
    read_prediction,
    scar_comparison,
)
from kneewear.models.retrieval.scans import Scan, read_scan
from kneewear.models.retrieval.settings import ScanSettings, read_retrieval_settings
from kneewear.models.retrieval.split import (
    FittedLife,
    fit_lives,
    fit_table,
    judge_split,
    split_table,
)
from kneewear.models.retrieval.view import build_depth_view, coloured_scan
from kneewear.report.declared import draw_declared
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.picture import draw_view
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary, read_key_results
from kneewear.report.views import STILL
from kneewear.report.vtk import save_triangles_vtk

FOLDER = Path("results", "retrieval")
_PAIRS = ("name", "scan")


@dataclass(frozen=True)
class _Insert:
    """An insert: evaluations of its scans, its reference, years in use, and side."""

    name: str
    evaluations: Sequence[Evaluation]
    reference: Scan | None
    years: float | None
    left: bool


def evaluate_inserts(chosen: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Evaluate the scans of an insert, or of many; return lines for the terminal."""
    if not is_file_name(chosen.name):
        expected, remedy = "letters, digits, _ and -", "Choose another name."
        raise InputDataError("NAME", f"'{chosen.name}'", expected, remedy)
    if bool(chosen.scan) == bool(chosen.pairs):
        result = "both" if chosen.scan else "neither"
        raise InputDataError("--scan, --pairs", result, "one of them", "Name scans of one insert.")
    if chosen.years is not None and not 0.0 < chosen.years < 100.0:
        result, expected = f"{chosen.years:g}", "0 to 100 years"
        raise InputDataError("--years", result, expected, "Give the years in the body.")
    settings = read_retrieval_settings(chosen.settings) if chosen.settings else ScanSettings()
    options = {"knee": chosen.knee, "unit": chosen.unit, "axes": chosen.axes}
    if chosen.pairs:
        return _run_pairs(chosen, settings, options), []
    study = None
    if chosen.study:
        study = Path(chosen.study)
        study = study if study.is_dir() else Path("results", chosen.study)
    evaluations, reference = _evaluated(chosen.scan, chosen.reference, settings, options)
    prediction = None
    if study is not None:
        prediction = read_prediction(study, evaluations[0], chosen.case, chosen.life)
    split = _split(chosen, settings, evaluations, prediction)
    folder = FOLDER / chosen.name
    insert = _Insert(chosen.name, evaluations, reference, chosen.years, chosen.knee == "left")
    return _written(folder, insert, prediction, split), []


def _split(
    chosen: argparse.Namespace,
    settings: ScanSettings,
    evaluations: Sequence[Evaluation],
    prediction: Prediction | None,
) -> dict[str, pd.DataFrame]:
    """Tables of wear apart from creep; none where nothing is asked for."""
    known = settings.split
    if chosen.split and prediction is None:
        remedy = "Name a finished study of the insert with --study."
        raise InputDataError("--split", "no study", "lives to fit", remedy)
    measured = measured_depths(evaluations)
    fits: list[FittedLife] = []
    if chosen.split and prediction is not None:
        life = read_lifetime(
            Path(prediction.study), prediction.case, prediction.life, known.hours_since_removal
        )
        depths = depths_at_blocks(life, prediction, evaluations[0])
        fits = fit_lives(measured, depths, known.creep_constant_sd, fixed=life.fixed)
    table = split_table(measured, fits, known)
    return {"split": table, "lives": fit_table(measured, fits)} if len(table) else {}


def _evaluated(
    files: Sequence[str],
    unworn: str | None,
    settings: ScanSettings,
    options: Mapping[str, Any],
) -> tuple[list[Evaluation], Scan | None]:
    """Evaluations of scans of one insert."""
    reference = read_scan(unworn, **options) if unworn else None
    areas = Areas(
        *(
            tuple(np.array(item) for item in drawn)
            for drawn in (
                settings.areas_mm.worn,
                settings.areas_mm.damage,
                settings.areas_mm.measured,
            )
        )
    )
    evaluations = [
        evaluate_scan(read_scan(file, **options), reference, settings, areas) for file in files
    ]
    return evaluations, reference


def _run_pairs(
    chosen: argparse.Namespace, settings: ScanSettings, options: Mapping[str, Any]
) -> list[str]:
    """Evaluate the inserts of a table; return lines."""
    pairs = load_table(chosen.pairs, list(_PAIRS))
    rows, lines = [], []
    for pair in pairs.to_dict("records"):
        name, years = str(pair["name"]), pair.get("years", chosen.years)
        if not is_file_name(name):
            expected, remedy = "letters, digits, _ and -", "Rename it."
            raise InputDataError(chosen.pairs, f"name '{name}'", expected, remedy)
        unworn = pair.get("reference", chosen.reference)
        unworn = None if unworn is None or pd.isna(unworn) else str(unworn)
        years = None if years is None or pd.isna(years) else float(years)
        try:
            result, reference = _evaluated([str(pair["scan"])], unworn, settings, options)
        except InputDataError as error:
            lines.append(f"{name}: {error}")
            rows.append({"name": name, "refused": str(error)})
            continue
        folder = FOLDER / chosen.name / name
        insert = _Insert(name, result, reference, years, chosen.knee == "left")
        lines += _written(folder, insert, None, {})[:1]
        both = result_table(result, years).iloc[-1]
        values = {str(key): value for key, value in both.drop("side").items()}
        rows.append({"name": name} | values)
    table = pd.DataFrame(rows)
    save_table(table, FOLDER / chosen.name / "inserts.csv")
    return [*lines, *_series(table), f"Table: {FOLDER / chosen.name / 'inserts.csv'}"]


def _series(table: pd.DataFrame) -> list[str]:
    """Line with the statistics of the volumes of a series; none where no insert has one."""
    if "volume_mm3" not in table:
        return []
    volumes = table["volume_mm3"].dropna()
    quartiles = ", ".join(f"{item:.3g}" for item in volumes.quantile([0.25, 0.5, 0.75]))
    return [
        f"{len(volumes)} of {len(table)} inserts: mean {volumes.mean():.3g} mm3, SD between "
        f"inserts {volumes.std():.3g} mm3, quartiles {quartiles} mm3"
    ]


def _written(
    folder: Path,
    insert: _Insert,
    prediction: Prediction | None,
    split: Mapping[str, pd.DataFrame],
) -> list[str]:
    """Write page, tables, figures and meshes of an insert; return lines."""
    evaluations, reference = insert.evaluations, insert.reference
    first = evaluations[0]
    scans = [item.scan for item in evaluations] + ([reference] if reference else [])
    digests = {item.file: item.sha256 for item in scans}
    tables = _tables(evaluations, reference, prediction, insert.years) | dict(split)
    if prediction is not None:
        digests |= prediction.digests
    tables["digests"] = pd.DataFrame(digests.items(), columns=["file", "sha256"])
    folder.mkdir(parents=True, exist_ok=True)
    for key, table in tables.items():
        if len(table):
            save_table(table, folder / "tables" / f"{key}.csv")
    shown = {
        **tables,
        "evaluation": first,
        "face_below": first.underside,
        "prediction": prediction,
    }
    view = build_depth_view(first)
    figures = {STILL: draw_view(view), **draw_declared("retrieval", shown)}
    save_figures(figures, folder / "figures")
    _write_meshes(folder, first, insert.left)
    doubts = [item for scan in scans for item in scan.findings if item.severity == "warn"]
    findings = [*doubts, *(finding for item in evaluations for finding in item.findings)]
    if len(split):
        findings += judge_split(split["split"], split["lives"], insert.name)
    lines = _write_page(folder, insert.name, tables, figures, view, reference, findings)
    return [*lines, f"Look at {folder / 'index.html'}"]


def _write_meshes(folder: Path, evaluation: Evaluation, left: bool) -> None:
    """Write the scan coloured by depth, as PLY and for ParaView."""
    vertices, faces, depth, colours = coloured_scan(evaluation)
    save_triangles_vtk(folder / "deviations.vtp", vertices, faces, {"depth_mm": depth}, left)
    if left:
        vertices, faces = vertices * [-1.0, 1.0, 1.0], np.ascontiguousarray(faces[:, ::-1])
    save_ply(vertices, faces, folder / "deviations.ply", colours=colours, depth_mm=depth)


def _tables(
    evaluations: Sequence[Evaluation],
    reference: Scan | None,
    prediction: Prediction | None,
    years: float | None,
) -> dict[str, pd.DataFrame]:
    """Tables of an insert by name, without digests of files."""
    first = evaluations[0]
    tables = {
        "volumes": result_table(evaluations, years),
        "sources": source_table(evaluations),
        "tolerance": tolerance_table(first),
        "depths": depth_table(first),
        "profiles": profile_table(first, prediction),
        "scans": _scan_table(evaluations),
        "recognised": _recognised(evaluations, reference),
        **underside_tables(evaluations),
    }
    if prediction is not None:
        tables["comparison"] = scar_comparison(first, prediction)
        tables["depths"] = tables["depths"].assign(
            **{f"predicted_{key}_mm": value for key, value in prediction.depths.items()}
        )
    return tables


def _write_page(
    folder: Path,
    name: str,
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Any],
    view: Mapping[str, Any],
    reference: Scan | None,
    findings: Sequence[Finding],
) -> list[str]:
    """Write page and summary; return the key results and findings as lines."""
    statement = (
        f"The unworn surface is {reference.file}, with an offset that is predicted from "
        "unworn surface."
        if reference
        else "The unworn surface is reconstructed from the unworn part of the scan."
    )
    settings = {
        "study": name,
        "subject": ", ".join(Path(file).name for file in tables["scans"]["scan"]),
        "reference": statement,
    }
    page = load_page("retrieval")
    shown, reported = Tables(dict(tables), settings), list(map(Reported, findings))
    inputs = dict(tables["digests"][["file", "sha256"]].itertuples(index=False, name=None))
    summary = build_summary("retrieval", page, shown, reported, __version__, inputs)
    pictures = {key: (folder / "figures" / f"{key}.svg").read_bytes() for key in figures}
    save_text(render_page(page, summary, shown, pictures, view=view), folder / "index.html")
    save_json(summary, folder / "summary.json")
    results = [result.text() for result in read_key_results(summary)]
    return [f"{name}: {'; '.join(results)}", *(finding.text() for finding in findings)]


def _scan_table(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Files of scans, their digests and volumes."""
    rows = []
    for item in evaluations:
        row = {
            "scan": item.scan.file,
            "triangles": len(item.scan.mesh.faces),
        }
        volumes = zip((*SIDES, "both"), item.scar.volume, strict=True)
        row |= {f"{side}_mm3": value for side, value in volumes}
        row["distance_um"] = 1e3 * item.pose.distance if item.pose else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _recognised(evaluations: Sequence[Evaluation], reference: Scan | None) -> pd.DataFrame:
    """Table of what was recognised of each file."""
    scans = [item.scan for item in evaluations] + ([reference] if reference else [])
    rows = [
        {"file": item.file, "found": finding.found} for item in scans for finding in item.findings
    ]
    return pd.DataFrame(rows, columns=["file", "found"])
