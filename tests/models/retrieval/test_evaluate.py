"""Volumes of phantoms with known wear, and scans that are refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.retrieval.phantoms import make_phantom, read_families, triangles, write_ply
from benchmarks.retrieval.score import score
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.evaluate import (
    Areas,
    check_known,
    evaluate_scan,
    result_table,
)
from kneewear.models.retrieval.options import add_options, run
from kneewear.models.retrieval.prediction import (
    Prediction,
    pose_of_study,
    read_prediction,
    scar_comparison,
)
from kneewear.models.retrieval.registration import register
from kneewear.models.retrieval.scans import read_scan
from kneewear.models.retrieval.settings import ScanSettings, read_retrieval_settings
from kneewear.report.derived import Tables
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary

FAMILIES = {family["family"]: family for family in read_families()}
SETTINGS = ScanSettings(block_mm=2.0)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, float]:
    """Files of a scan and of its own unworn surface, and the volume removed, mm3."""
    folder = tmp_path_factory.mktemp("phantom")
    phantom = make_phantom(FAMILIES["own_scan"], 0)
    scan, reference = folder / "scan.ply", folder / "reference.ply"
    write_ply(scan, phantom.scan, triangles(phantom.present))
    write_ply(reference, phantom.reference, triangles(phantom.whole))
    return scan, reference, sum(phantom.volumes)


def _read(path: Path):
    return read_scan(str(path), "right")


@pytest.fixture(scope="module")
def evaluated(files: tuple[Path, Path, float]):
    """Evaluation of the scan."""
    scan, reference, _ = files
    return evaluate_scan(_read(scan), _read(reference), SETTINGS)


@pytest.mark.parametrize("depth", [0.5, 2.0])
def test_plateau_of_which_nothing_is_known_is_refused(depth: float, evaluated) -> None:
    blocks = evaluated.blocks
    sd = np.array([*evaluated.scar.volume_sd[:1], depth * blocks.area[blocks.side == 1].sum(), 1.0])
    scar = replace(evaluated.scar, volume_sd=sd)
    if depth < 1.0:
        check_known(evaluated.scan, blocks, scar)
        return
    with pytest.raises(InputDataError) as error:
        check_known(evaluated.scan, blocks, scar)
    assert error.value.finding.check == "retrieval.unworn"


def test_volume_against_own_unworn_scan(evaluated, files: tuple[Path, Path, float]) -> None:
    volume = files[2]
    table = result_table([evaluated], 5.0)
    both = table.set_index("side").loc["both"]
    # Acceptance of the method: 5 % or 3 mm3.
    assert both["volume_mm3"] == pytest.approx(volume, abs=max(0.05 * volume, 3.0))
    assert 0.0 < both["sd_mm3"] < 3.0
    assert both["mm3_per_year"] == pytest.approx(both["volume_mm3"] / 5.0)
    sides = table.set_index("side")["volume_mm3"]
    assert sides["medial"] + sides["lateral"] == pytest.approx(sides["both"])


@pytest.mark.slow
def test_position_is_that_of_the_nearest_of_several_valleys(tmp_path: Path) -> None:
    # From one start this scan ended 0.45 mm from its reference, and was refused as another design.
    phantom = make_phantom(FAMILIES["other_insert"], 3)
    scan, reference = tmp_path / "scan.ply", tmp_path / "reference.ply"
    write_ply(scan, phantom.scan, triangles(phantom.present))
    write_ply(reference, phantom.reference, triangles(phantom.whole))
    meshes = [_read(path).mesh for path in (scan, reference)]
    pose = register(*meshes)
    # Offsets of the insert have an SD of 15 um, noise of 8 um.
    assert pose.distance < 0.02
    assert pose.scale == pytest.approx(1.0, abs=0.002)


def test_unit_of_a_scan_is_recognised(files: tuple[Path, Path, float], tmp_path: Path) -> None:
    scan, *_ = files
    mesh = _read(scan).mesh
    in_metres = tmp_path / "metres.ply"
    write_ply(in_metres, 1e-3 * mesh.vertices, mesh.faces)
    assert _read(in_metres).mesh.extent == pytest.approx(mesh.extent, rel=1e-5)


@pytest.mark.slow
def test_scan_of_another_size_is_refused(files: tuple[Path, Path, float], tmp_path: Path) -> None:
    scan, reference, _ = files
    mesh = _read(scan).mesh
    larger = tmp_path / "larger.ply"
    write_ply(larger, 1.05 * mesh.vertices, mesh.faces)
    with pytest.raises(InputDataError) as error:
        evaluate_scan(_read(larger), _read(reference), SETTINGS)
    assert error.value.finding.check == "retrieval.size"


@pytest.mark.slow
def test_mirrored_scan_is_refused(tmp_path: Path) -> None:
    phantom = make_phantom(FAMILIES["milled"], 0)
    scan, reference = tmp_path / "scan.ply", tmp_path / "reference.ply"
    # Its plateaus differ, so that it has a side.
    write_ply(scan, phantom.scan * [1.0, 1.0, -1.0], triangles(phantom.present)[:, ::-1])
    write_ply(reference, phantom.reference, triangles(phantom.whole))
    with pytest.raises(InputDataError) as error:
        evaluate_scan(_read(scan), _read(reference), SETTINGS)
    assert error.value.finding.check == "retrieval.mirrored"


@pytest.mark.slow
def test_mirrored_whole_insert_is_refused(tmp_path: Path) -> None:
    # Undersides and outlines of mirror images are alike: only bearings differ.
    x, z = np.meshgrid(np.arange(-22.0, 22.1, 0.7), np.arange(-35.0, 35.1, 0.7), indexing="ij")
    radii = np.where(z > 0, 40.0, 70.0)
    dish = x**2 / (2 * radii) + (np.abs(z) - 20.0) ** 2 / np.where(z > 0, 56.0, 70.0)
    bearing = -0.8 * np.log(np.exp(-dish / 0.8) + np.exp(-5.0 / 0.8))
    faces = triangles(~((np.abs(z) < 7.0) & (x > 9.0)))
    count = x.size
    points = np.stack([x, bearing, z], -1).reshape(-1, 3)
    whole = np.concatenate([points, points * [1.0, 0.0, 1.0] - [0.0, 9.0, 0.0]])
    closed = np.concatenate([faces, faces[:, ::-1] + count])
    scan, reference = tmp_path / "scan.ply", tmp_path / "reference.ply"
    write_ply(reference, whole, closed)
    write_ply(scan, whole * [1.0, 1.0, -1.0], closed[:, ::-1])
    with pytest.raises(InputDataError) as error:
        evaluate_scan(_read(scan), _read(reference), SETTINGS)
    assert error.value.finding.check == "retrieval.mirrored"


@pytest.mark.slow
def test_volume_without_reference_of_another_design_than_arcs(tmp_path: Path) -> None:
    phantom = make_phantom(FAMILIES["alone_ellipsoid"], 0)
    scan = tmp_path / "scan.ply"
    write_ply(scan, phantom.scan, triangles(phantom.present))
    evaluated = evaluate_scan(_read(scan), None, SETTINGS)
    # No interval without a reference is printed as if it could be relied on.
    assert "retrieval.alone" in {item.check for item in evaluated.findings}
    volume = sum(phantom.volumes)
    # Acceptance of the method: 15 % or 15 mm3.
    assert evaluated.scar.volume[2] == pytest.approx(volume, abs=max(0.15 * volume, 15.0))


@pytest.mark.slow
def test_volume_below_the_limit_has_an_error(tmp_path: Path) -> None:
    phantom = make_phantom(FAMILIES["blank"], 0)
    scan, reference = tmp_path / "scan.ply", tmp_path / "reference.ply"
    write_ply(scan, phantom.scan, triangles(phantom.present))
    write_ply(reference, phantom.reference, triangles(phantom.whole))
    table = result_table([evaluate_scan(_read(scan), _read(reference), SETTINGS)], None)
    both = table.set_index("side").loc["both"]
    assert not both["detected"]
    assert both["lower_mm3"] < 0.0 < both["upper_mm3"]
    assert both["detection_limit_mm3"] == pytest.approx(3.29 * both["sd_mm3"], rel=0.2)


@pytest.mark.parametrize("detected", [True, False])
def test_page_says_where_no_wear_is_detected(detected: bool) -> None:
    volumes = pd.DataFrame(
        {
            "side": ["medial", "lateral", "both"],
            "volume_mm3": [0.2, 0.2, 0.4],
            "sd_mm3": [0.4, 0.4, 0.6],
            "lower_mm3": [-0.5, -0.5, -0.7],
            "upper_mm3": [0.9, 0.9, 1.5],
            "detection_limit_mm3": 2.0,
            "detected": detected,
            "largest_depth_mm": np.nan,
        }
    )
    tables = Tables({"volumes": volumes}, {"study": "one", "subject": "a", "reference": "b"})
    summary = build_summary("retrieval", load_page("retrieval"), tables, [])
    names = {item["name"] for item in summary["named_values"]}
    assert ("undetected" in names) == (not detected)
    assert summary["sentence"]


@pytest.mark.slow
def test_reference_more_worn_than_the_scan_is_reported(files: tuple[Path, Path, float]) -> None:
    scan, reference, _ = files
    found = evaluate_scan(_read(reference), _read(scan), SETTINGS)
    assert "retrieval.reference" in {item.check for item in found.findings}


def test_missing_scan_is_refused_with_its_options(tmp_path: Path) -> None:
    with pytest.raises(InputDataError) as error:
        _read(tmp_path / "none.ply")
    assert "--scan" in error.value.finding.remedy


@pytest.mark.parametrize("pocket_mm", [0.0, 2.0])
def test_underside_is_refused(tmp_path: Path, pocket_mm: float) -> None:
    x, z = np.meshgrid(np.arange(-20.0, 20.1, 1.0), np.arange(-35.0, 35.1, 1.0), indexing="ij")
    height = np.where((np.abs(x) < 14.0) & (np.abs(z) < 28.0), pocket_mm, 0.0)
    height[(np.abs(x) < 4.0) & (np.abs(z) < 18.0)] = -2.0 * pocket_mm
    flat = tmp_path / "flat.ply"
    write_ply(flat, np.stack([x, height, z], -1), triangles(np.ones(x.shape, dtype=bool)))
    with pytest.raises(InputDataError) as error:
        _read(flat)
    assert error.value.finding.check == "retrieval.underside"


@pytest.mark.slow
def test_too_little_unworn_surface_is_refused(files: tuple[Path, Path, float]) -> None:
    scan, reference, _ = files
    everything = np.array([[-30.0, -50.0], [30.0, -50.0], [30.0, 50.0], [-30.0, 50.0]])
    with pytest.raises(InputDataError) as error:
        evaluate_scan(_read(scan), _read(reference), SETTINGS, Areas(worn=(everything,)))
    assert error.value.finding.check == "retrieval.unworn"


@pytest.mark.slow
def test_command_writes_page_tables_and_coloured_mesh(
    files: tuple[Path, Path, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import argparse

    from plyfile import PlyData

    scan, reference, _ = files
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("block_mm: 2.0\n", encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_options(parser)
    words = ["one", "--scan", str(scan), "--reference", str(reference), "--settings", "mine.yaml"]
    run(parser.parse_args(words))
    folder = Path("results/retrieval/one")
    assert (folder / "index.html").stat().st_size > 10_000
    vertex = PlyData.read(str(folder / "deviations.ply"))["vertex"]
    depth = np.asarray(vertex["depth_mm"])
    assert 0.02 < np.nanmax(depth) < 1.0
    assert {"red", "green", "blue"} <= {item.name for item in vertex.properties}


@pytest.mark.slow
def test_equal_prediction_has_ratio_and_overlap_of_one(files: tuple[Path, Path, float]) -> None:
    scan, reference, _ = files
    # Stated areas: a volume that is averaged over likely scars is of no single map.
    stated = [
        np.array([[-15.0, z], [15.0, z], [15.0, z + 20.0], [-15.0, z + 20.0]]) for z in (11, -31)
    ]
    found = evaluate_scan(_read(scan), _read(reference), SETTINGS, Areas(worn=tuple(stated)))
    depth = np.where(found.scar.worn, np.nan_to_num(found.scar.depth), 0.0)
    depths = {"wear": 0.25 * depth, "creep": 0.7 * depth, "dent": 0.05 * depth, "sum": depth}
    table = scar_comparison(found, Prediction("study", "case", "life", depths, {}, 0.0))
    assert table["ratio"].to_numpy() == pytest.approx(1.0, abs=1e-6)
    assert table["overlap"].to_numpy() == pytest.approx(1.0)
    assert table[["posterior_mm", "medial_mm"]].to_numpy() == pytest.approx(0.0, abs=1e-9)
    shares = table["predicted_wear_mm3"] / table["predicted_sum_mm3"]
    assert shares.to_numpy() == pytest.approx(0.25)
    dents = table["predicted_dent_mm3"] / table["predicted_sum_mm3"]
    assert dents.to_numpy() == pytest.approx(0.05)


@pytest.mark.slow
def test_study_of_another_implant_is_refused(evaluated, files: tuple[Path, Path, float]) -> None:
    _, reference, _ = files
    same = _read(reference).mesh
    assert pose_of_study(same, evaluated, Path("study")).distance < 0.02
    other = make_phantom(FAMILIES["milled"], 0)
    points = other.reference.reshape(-1, 3)
    bearing = TriangleMesh(points, triangles(other.whole))
    with pytest.raises(InputDataError) as error:
        pose_of_study(bearing.part(np.ones(len(bearing.faces), dtype=bool)), evaluated, Path("s"))
    assert error.value.finding.check == "retrieval.study"


def test_folder_without_a_finished_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputDataError):
        read_prediction(tmp_path, None)


def test_settings_file_with_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("blok_mm: 2.0\n", encoding="utf-8")
    with pytest.raises(InputDataError) as error:
        read_retrieval_settings(path)
    assert "blok_mm" in error.value.finding.where + error.value.finding.found


def test_score_counts_errors_and_coverage() -> None:
    truth = pd.DataFrame(
        {
            "phantom": ["a", "b"],
            "family": "f",
            "reference": "own",
            "side": "both",
            "volume_mm3": [100.0, 100.0],
        }
    )
    results = pd.DataFrame(
        {"phantom": ["a", "b"], "side": "both", "volume_mm3": [104.0, 94.0], "sd_mm3": [3.0, 3.0]}
    )
    (row,) = score(truth, results).to_dict("records")
    assert row["within_tolerance"] == 0.5
    assert row["coverage_90"] == 0.5
    assert row["mean_error_mm3"] == pytest.approx(-1.0)
    assert row["slope"] == pytest.approx(0.99)
