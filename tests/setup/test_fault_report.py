"""The report of a fault holds what finds it, and nothing that must not leave the machine."""

from __future__ import annotations

import getpass
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.__main__ import main
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.mesh_formats import save_ply
from kneewear.setup.fault_report import fault_report, mesh_statistics
from kneewear.setup.redaction import Redaction

SECRETS = ("acme", "Jane", "bicruciate", "knee9", "/home", "/tmp", "C:\\")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of an implant that nobody may see, in the folder of a person."""
    folder = tmp_path / "Jane Doe" / "acme implants"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "Jane Doe"))
    monkeypatch.setenv("USER", "Jane")
    monkeypatch.setattr(getpass, "getuser", lambda: "Jane")
    monkeypatch.chdir(folder)
    random = np.random.default_rng(0)
    points = random.uniform(-35.0, 35.0, (60, 3))
    faces = np.arange(60).reshape(-1, 3)
    save_ply(points, faces, folder / "acme_insert.ply")
    save_ply(points, faces, folder / "acme_femoral.ply")
    curves = pd.DataFrame({"time": [0.0, 0.5, 1.0], "Fz [N]": [10.0, np.nan, 2000.0]})
    curves.to_csv(folder / "walk_of_Jane.csv", index=False)
    corners = "[" + ", ".join(f"[{x:.1f}, {z:.1f}]" for x, _, z in points[:6]) + "]"
    (folder / "knee9.yaml").write_text(
        f"""
study: knee9
data_folder: .
implant:
  source: meshes
  name: "acme bicruciate"
  knee: left
  meshes:
    insert: "acme_insert.ply"
    femoral: "acme_femoral.ply"
    underside_mm: {points[0, 1]:.3f}
    smoothing_length_mm: 0.66
    insert_region_mm:
      medial: {{x: [{points[1, 0]:.1f}, 21.8], outline: {corners}}}
activities:
  knee9_gait:
    source: file
    motion: {{file: "walk_of_Jane.csv", columns: {{time_s: "time"}}}}
    load: {{file: "walk_of_Jane.csv", kind: axial_force_n, columns: {{load: "Fz [N]"}}}}
""",
        encoding="utf-8",
    )
    logs = folder / "results" / "knee9" / "logs"
    logs.mkdir(parents=True)
    places = ", ".join(f"{value:.3f}" for value in points[3])
    (logs / "build_geometry.log").write_text(
        f"""2026-11-29 00:48:04,123 INFO reading {folder}/acme_insert.ply
Traceback (most recent call last):
  File "{Path(np.__file__).parent}/linalg.py", line 12, in solve
  File "C:\\Users\\Jane\\acme\\run.py", line 3
kneewear.errors.InputDataError: acme_insert.ply, vertex 3: found ({places}); expected a sheet
at x {points[4, 0]:.2f}, z {points[4, 2]:.2f} mm of /home/jane/other_part.stl
""",
        encoding="utf-8",
    )
    return folder, points


def test_report_has_no_vertex_no_path_and_no_name(study):
    folder, points = study
    main(["report-fault", "knee9.yaml", "--message", f"{folder}/acme_femoral.ply: found 1.5 2.5"])
    text = (folder / "fault_report.json").read_text(encoding="utf-8")
    for secret in SECRETS:
        assert secret.lower() not in text.lower(), secret
    numbers = re.findall(r"\d+\.\d+", json.dumps(json.loads(text) | {"versions": {}}))
    written = {abs(float(number)) for number in numbers}
    for digits in (1, 2, 3, 5):
        coordinates = {round(abs(value), digits) for value in points.ravel().tolist()}
        # Of the numbers that are left none has the digits of a coordinate but by a round value.
        assert {one for one in written & coordinates if len(f"{one:g}") > 3} == set()
    assert len(text) < 30_000


def test_report_has_what_finds_the_fault(study):
    report = fault_report(["knee9.yaml"])
    shapes = {one["file"]: one for one in report["shapes"]}
    assert set(shapes) == {"shape-1.ply", "shape-2.ply"}
    assert shapes["shape-1.ply"]["vertices"] == 60
    assert shapes["shape-1.ply"]["pieces"] == 20
    (curves,) = report["curves"]
    assert curves["columns"]["Fz [N]"]["missing"] == 1
    assert curves["columns"]["Fz [N]"]["largest"] == 2000.0
    settings = report["settings"]
    assert settings["study"] == "study"
    assert settings["implant"]["knee"] == "left"
    assert settings["implant"]["meshes"]["insert"] == "shape-1.ply"
    assert settings["implant"]["meshes"]["smoothing_length_mm"] == 0.66
    assert settings["implant"]["meshes"]["insert_region_mm"]["medial"]["outline"] == "12 numbers"
    motion = settings["activities"]["study_gait"]["motion"]
    assert motion == {"file": curves["file"], "columns": {"time_s": "time"}}
    assert any(one["severity"] == "refuse" for one in report["findings"])
    log = report["logs"]["build_geometry"]
    assert "InputDataError: shape-1.ply, vertex 3" in log
    assert "linalg.py" in log
    assert {"kneewear", "python", "numpy"} <= set(report["versions"])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("found (1.25, -3.5, 7) here", "found (...) here"),
        ("[[1.25 2.5]\n [3.5 4.5]]", "[[...]]"),
        ("v 1.5 2.5 abc", "v ... abc"),
        ("at x 3.1, y -2.2, z 0.4 mm", "at x ..., y ..., z ... mm"),
        ("0.82 mm of 2.5 mm, 15.6 % of the force", "0.82 mm of 2.5 mm, 15.6 % of the force"),
        ("1.6e-06 mm3/(N m), 20 mm3/year", "1.6e-06 mm3/(N m), 20 mm3/year"),
        ("2026-11-29 00:48:04,123 INFO", "2026-11-29 00:48:04,123 INFO"),
        ('File "/opt/my data/x.py", line 3', 'File "<path>", line 3'),
        (r"D:\data\part.stl and \\server\share\a.stl", "<path> and <path>"),
        ("../parts/tray.STL: no triangles", "<shape>.stl: no triangles"),
        ("results/ps/tables/cases.csv", "results/ps/tables/cases.csv"),
    ],
)
def test_texts_keep_what_is_no_place_and_no_path(text, left):
    assert Redaction().text(text) == left


def test_common_names_leave_keys_as_they_are():
    redaction = Redaction()
    redaction.add_file("insert.ply", "shape")
    redaction.add_file("acme_insert.ply", "shape")
    settings = {"insert": "insert.ply", "insert_form": "solid", "acme_insert_gait": None}
    left = {"insert": "shape-1.ply", "insert_form": "solid", "shape-2_gait": None}
    assert redaction.settings(settings) == left


def test_statistics_of_a_closed_body_and_an_open_sheet():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    body = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    closed, sheet = (mesh_statistics(TriangleMesh(corners, faces)) for faces in (body, body[:3]))
    assert (closed["open_edges"], closed["closed"], closed["pieces"]) == (0, True, 1)
    assert (sheet["open_edges"], sheet["closed"]) == (3, False)


def test_report_of_files_without_settings(study):
    folder, _ = study
    (folder / "points.csv").write_text("x,y,z\n1.2345,2.3456,3.4567\n", encoding="utf-8")
    (folder / "broken.stl").write_bytes(b"solid nothing")
    report = fault_report(["points.csv", "broken.stl"], "Traceback")
    assert [one["vertices"] for one in report["shapes"]] == [1]
    assert report["curves"] == []
    assert report["findings"][0]["where"].startswith("shape-")
    assert "1.2345" not in json.dumps(report)
    assert report["message"] == "Traceback"
