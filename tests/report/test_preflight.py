"""The page of a study's inputs, before it is run."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import yaml

import kneewear
from kneewear import __main__ as command
from kneewear import preflight
from kneewear.findings import Finding, Verdict
from kneewear.report.bodies import Pose, draw_preflight, poses_of, touch_down

CHECKOUT = Path(__file__).parents[2]


def test_paths_and_gaps_are_those_of_the_first_contacts(whole):
    poses = poses_of(whole.activities["gait"])
    contacts = touch_down(whole.implant, whole.grid, poses)
    figures, table = draw_preflight(
        whole.implant, whole.grid, poses, list(whole.activities.values())
    )
    assert set(figures) == {
        "first_contact", "first_contact_path", "thickness_map", "activity_gait",
    }  # fmt: skip
    lines = [line for line in figures["first_contact_path"].axes[0].lines
             if line.get_label() in ("medial", "lateral")]  # fmt: skip
    for line in lines:
        positions = np.array([one.point[line.get_label()] for one in contacts])
        np.testing.assert_allclose(line.get_xydata(), positions[:, [2, 0]])
    assert len(table) == len(poses)
    assert set(table["touches"]) <= {"medial", "lateral"}


def test_a_pose_beside_the_insert_is_told(whole):
    away = Pose("away", np.zeros(3), np.array([400.0, 0.0, 0.0]))
    _, table = draw_preflight(whole.implant, whole.grid, [away], [])
    assert table["touches"][0] == "no condyle above its plateau"


@pytest.mark.compiled
@pytest.mark.parametrize(
    "study",
    [
        pytest.param("config/example_meshes.yaml", marks=pytest.mark.slow, id="meshes"),
        pytest.param("config/chapter3.yaml", id="static"),
        pytest.param("config/monte_carlo.yaml", id="samples"),
    ],
)
def test_inputs_are_drawn_in_seconds(study, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    start = time.process_time()
    command.main(["check", study])
    # Of this process alone; on a machine to itself no more on the clock.
    assert time.process_time() - start < 40.0
    said = capsys.readouterr().out
    printed = tmp_path / re.search(r"\S+/inputs/\S+\.html", said)[0]
    page = printed.read_text(encoding="utf-8")
    assert "first contact" in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert list(printed.parent.glob("*.svg"))


def test_windows_beside_the_bearing_are_drawn_with_its_extent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    beside = {side: {"x": [20.0, 40.0]} for side in ("medial", "lateral")}
    own = {"implant": {"meshes": {"insert_region_mm": beside}}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(own))
    with pytest.raises(SystemExit) as ended:
        command.main(["check", "config/example_meshes.yaml", "own.yaml"])
    said = str(ended.value)
    page = tmp_path / re.search(r"\S+/inputs/\S+\.html", said)[0]
    assert (page.parent / "windows.svg").is_file()
    # Regions can be drawn where no surface could be fitted.
    data = re.search(r'id="regions-data">(.*?)</script>', page.read_text("utf-8"))
    corners = yaml.safe_load(data[1])["corners"]
    assert {x for x, _ in corners["medial"]} == {20.0, 40.0}


@pytest.mark.compiled
@pytest.mark.slow
def test_exact_distances_and_waves_of_surfaces_are_announced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    monkeypatch.setattr("kneewear.preflight.build_distance_tables", lambda implant, settings: {})
    (tmp_path / "own.yaml").write_text("implant: {meshes: {wave_tolerance_mm: null}}\n")
    command.main(["check", "config/example_meshes.yaml", "own.yaml"])
    said = capsys.readouterr().out
    assert said.count("(check distance.exact)") == 2
    times = dict(re.findall(r"analysis: (\w+): (.*) \(check study.time\)", said))
    numbers = {name: re.findall(r"[\d.]+(?= min| s)", text) for name, text in times.items()}
    (forward, one_forward), (still, one_still) = (
        map(float, numbers[name]) for name in ("forward", "quasi_static")
    )
    assert forward == pytest.approx(4 * one_forward / 60, rel=0.1)
    assert still == pytest.approx(4 * one_still / 60, rel=0.1)
    assert 0.0 < one_still < one_forward < 20.0
    wave = "wave_tolerance_mm"
    wanted = re.search(rf"{wave} to ([\d.e-]+)", said)[1]
    for cure in ("auto", wanted):
        (tmp_path / "own.yaml").write_text(f"implant: {{meshes: {{wave_tolerance_mm: {cure}}}}}\n")
        command.main(["check", "config/example_meshes.yaml", "own.yaml"])
        assert wave not in capsys.readouterr().out
    page = (tmp_path / "results/example_meshes/inputs/index.html").read_text(encoding="utf-8")
    assert page.count("(check distance.exact)") == 2


@pytest.mark.slow
@pytest.mark.compiled
def test_a_motion_held_against_a_rim_is_never_said_to_be_without_fault(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    own = tmp_path / "own.yaml"
    own.write_text("activities: {example_gait: {zero: {anterior_posterior: 12.0}}}\n")
    with pytest.raises(SystemExit) as ended:
        command.main(["check", "config/example_meshes.yaml", str(own)])
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "Placement of example_gait: fail." in said
    assert "Set activities.example_gait.zero.anterior_posterior to seat" in said
    own.write_text("activities: {example_gait: {zero: {anterior_posterior: seat}}}\n")
    command.main(["check", "config/example_meshes.yaml", str(own)])
    assert "Placement of example_gait: pass." in capsys.readouterr().out
    page = (tmp_path / "results/example_meshes/inputs/index.html").read_text(encoding="utf-8")
    assert "seat" in page


@pytest.mark.compiled
@pytest.mark.slow
def test_reversed_signs_are_doubted_before_the_study(tmp_path, monkeypatch, capsys):
    data = kneewear.default_study().data_root(CHECKOUT)
    if not (data / "gc_dm").is_dir():
        pytest.skip("needs the data folder")
    monkeypatch.setenv("KNEEWEAR_DATA", str(data))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    given = dict.fromkeys(("flexion", "varus", "femur_superior", "femur_lateral"), 1)
    for name, signs in {
        "given": {"tibial_external_rotation": 1, "femur_anterior": 1},
        "position": {"tibial_external_rotation": 1, "femur_anterior": -1},
        "rotation": {"tibial_external_rotation": -1, "femur_anterior": 1},
    }.items():
        motion = {"convention": "signs", "signs": given | signs}
        study = {"activities": {"fluoroscopic_gait": {"motion": motion}}}
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
        with suppress(SystemExit):  # the placement may fail too
            command.main(["check", "config/dm_fluoroscopy.yaml", "mine.yaml"])
        said = capsys.readouterr().out
        assert ("(check motion.signs)" in said) == (name != "given"), (name, said)
        picture = tmp_path / "results/dm_fluoroscopy/inputs/signs_fluoroscopic_gait.svg"
        assert picture.exists() == (name != "given")
        page = (picture.parent / "index.html").read_text(encoding="utf-8")
        assert ("(check motion.signs)" in page) == (name != "given")


def test_a_design_has_no_warnings_of_the_one_before(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(CHECKOUT / "config")
    given = []

    def write(study, root, folder, notes):
        assert folder.parent == Path("results/laxity/inputs")
        given.append((folder.name, notes))
        fault = Finding("pose.apart", "warn", folder.name, "a fault", "", "")
        return preflight.Preflight(folder / "index.html", (), (fault,), Verdict.of([]))

    monkeypatch.setattr(preflight, "_write_preflight", write)
    command.main(["check", "config/laxity.yaml"])
    (one, notes), (two, others) = given
    assert one != two
    assert notes == others
    said = capsys.readouterr().out
    assert f"{one}: a fault" in said
    assert f"{two}: a fault" in said
