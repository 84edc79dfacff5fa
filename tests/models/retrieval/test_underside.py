"""Wear of the underside, and bending of the whole insert."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.retrieval.phantoms import make_phantom, read_families, triangles, write_ply
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.evaluate import evaluate_scan, underside_tables
from kneewear.models.retrieval.registration import register
from kneewear.models.retrieval.scans import read_scan
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.underside import judge_deformation

_POCKET = 0.06  # mm
_BOW = 0.08  # mm


def _write_insert(path: Path, pocket: float, bow: float) -> float:
    """Write a closed insert, bent upward at its sides; return the volume of the pocket below."""
    rng = np.random.default_rng(1)
    x, z = np.meshgrid(np.arange(-22.0, 22.1, 0.7), np.arange(-35.0, 35.1, 0.7), indexing="ij")
    dish = x**2 / 110.0 + (np.abs(z) - 20.0) ** 2 / 60.0
    bearing = -0.8 * np.log(np.exp(-dish / 0.8) + np.exp(-5.0 / 0.8))
    removed = pocket * ((np.abs(x) < 6.0) & (np.abs(z - 18.0) < 8.0))
    bend = bow * (z / 35.0) ** 2
    faces = triangles(~((np.abs(z) < 7.0) & (x > 9.0)))
    heights = [item + 0.003 * rng.standard_normal(x.shape) for item in (bearing, removed - 9.0)]
    points = np.concatenate([np.stack([x, y + bend, z], -1).reshape(-1, 3) for y in heights])
    write_ply(path, points, np.concatenate([faces, faces[:, ::-1] + x.size]))
    return float(removed.sum() * 0.7**2)


@pytest.mark.slow
def test_pocket_of_the_underside_and_bow_of_the_insert_are_found(tmp_path: Path) -> None:
    _write_insert(tmp_path / "reference.ply", 0.0, 0.0)
    volume = _write_insert(tmp_path / "scan.ply", _POCKET, _BOW)
    scan, reference = (
        read_scan(str(tmp_path / f"{name}.ply"), "right") for name in ("scan", "reference")
    )
    result = evaluate_scan(scan, reference, ScanSettings(block_mm=2.0))
    tables = underside_tables([result])
    below = tables["underside"].set_index("side")
    # Acceptance of the bearing: 5 % or 3 mm3.
    assert below.loc["medial", "volume_mm3"] == pytest.approx(volume, abs=3.0)
    assert below.loc["lateral", "volume_mm3"] == pytest.approx(0.0, abs=3.0)
    bow = tables["deformation"].set_index("form").loc["bow along medial-lateral"]
    assert bow["alike"]
    assert bow["whole_um"] == pytest.approx(1e3 * _BOW, rel=0.1)
    assert "retrieval.deformation" in {item.check for item in result.findings}
    # The bearing is bent and not worn.
    assert abs(result.scar.volume[2]) < max(3.0, 2.576 * result.scar.volume_sd[2])


@pytest.mark.slow
def test_underside_shows_the_position_of_a_bearing_of_arcs() -> None:
    # Arcs may be moved along themselves: from the bearing alone this one was 3 mm off.
    family = next(item for item in read_families() if item["family"] == "cad_15")
    phantom = make_phantom(family, 31)
    faces, turn = triangles(phantom.whole), Rotation.from_rotvec([0.01, -0.015, 0.008])

    def insert(bearing: np.ndarray, thickness: float) -> TriangleMesh:
        points = bearing.reshape(-1, 3)
        below = points * [1.0, 0.0, 1.0] - [0.0, thickness, 0.0]
        closed = np.concatenate([faces, faces[:, ::-1] + len(points)])
        mesh = TriangleMesh(np.concatenate([points, below]), closed)
        return mesh.part(np.ones(len(closed), dtype=bool))

    # Wear of the underside, or swelling, changes the thickness.
    scan, reference = insert(phantom.unmoved, 8.9), insert(phantom.reference, 9.0)
    turned = scan.vertices @ turn.as_matrix().T + [1.0, 2.0, -1.5]
    moved = TriangleMesh(turned, scan.faces)
    apart = register(moved, reference).placed(moved.vertices) - scan.vertices
    assert np.abs(apart).max() < 0.3


def test_bending_of_one_face_is_not_of_the_insert() -> None:
    table = pd.DataFrame(
        {"form": ["twist", "bow"], "whole_um": [40.0, 50.0], "alike": [False, True]}
    )
    assert len(judge_deformation(table, "scan.stl")) == 1
