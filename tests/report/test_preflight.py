"""The page of a study's inputs, before it is run."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from kneewear import __main__ as command
from kneewear.report.bodies import draw_preflight, poses_of, touch_down

CHECKOUT = Path(__file__).parents[2]


def test_paths_and_gaps_are_those_of_the_first_contacts(whole):
    poses = poses_of(whole.activities["gait"])
    contacts = touch_down(whole.implant, whole.grid, poses)
    figures, table = draw_preflight(
        whole.implant, whole.grid, poses, list(whole.activities.values())
    )
    assert set(figures) == {
        "first_contact",
        "first_contact_path",
        "thickness_map",
    }
    lines = [
        line
        for line in figures["first_contact_path"].axes[0].lines
        if line.get_label() in ("medial", "lateral")
    ]
    for line in lines:
        positions = np.array([one.point[line.get_label()] for one in contacts])
        np.testing.assert_allclose(line.get_xydata(), positions[:, [2, 0]])
    assert len(table) == len(poses)
    assert set(table["touches"]) <= {"medial", "lateral"}


@pytest.mark.compiled
@pytest.mark.parametrize(
    "study",
    [
        pytest.param("config/example_meshes.yaml", marks=pytest.mark.slow, id="meshes"),
        pytest.param("config/evidence/chapter3.yaml", id="static"),
        pytest.param("config/monte_carlo.yaml", marks=pytest.mark.slow, id="samples"),
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


@pytest.mark.slow
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
    monkeypatch.setattr(
        "kneewear.runs.preflight.build_distance_tables", lambda implant, settings: {}
    )
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
