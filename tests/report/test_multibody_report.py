"""Figures of multibody studies, and the tables they are drawn from."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from docs.generators.results import SNAPSHOT
from kneewear import default_settings_file
from kneewear.geometry.meshes import TriangleMesh, simplified
from kneewear.io.documents import load_table
from kneewear.report.multibody import COLOURS, draw_multibody_figures, scene_view
from kneewear.report.page import render_page
from kneewear.settings.study import read_study
from kneewear.studies.multibody.result import Scene, curves, scene_record, statements
from kneewear.studies.point_contact.results import stated

CONFIG = Path(__file__).parents[2] / "config"
AT = np.linspace(0.0, 90.0, 4)


def scene():
    mesh = TriangleMesh(np.eye(3) * 10.0, np.array([[0, 1, 2]]))
    bone = TriangleMesh(mesh.vertices - [0.0, 20.0, 0.0], mesh.faces)
    turns = np.tile(np.eye(3), (4, 2, 1, 1))
    places = np.zeros((4, 2, 3))
    places[:, 1, 1] = -AT
    lines = tuple((np.array([[0.0, 0.0, 0.0], [1.0, -at, 2.0]]),) for at in AT)
    labels = tuple(f"{at:.0f}°" for at in AT)
    return Scene(("femur", "tibia"), {"femur": mesh, "tibia": mesh}, turns, places, labels, lines,
                 "Bearing surfaces (pale: bones)", {"tibia": bone})  # fmt: skip


def test_every_panel_and_series_is_drawn():
    motion = pd.concat([
        curves("varus", "flexion (deg)", AT, "deg", {"computed": AT, "reference": 2.0 * AT}),
        curves("femur anterior", "flexion (deg)", AT, "mm", {"computed": -AT}),
    ])  # fmt: skip
    forces = curves("contact force", "flexion (deg)", AT, "N", {"medial": AT, "lateral": AT})
    figures = draw_multibody_figures(motion, forces, scene_record(scene()))
    assert list(figures) == ["multibody_poses", "multibody_kinematics", "multibody_forces"]
    panels = {axes.get_title(loc="left") or axes.get_title(): axes
              for axes in figures["multibody_kinematics"].axes}  # fmt: skip
    assert {"varus", "femur anterior"} <= set(panels)
    drawn = panels["varus"].get_lines()
    assert [line.get_label() for line in drawn] == ["computed", "reference"]
    np.testing.assert_array_equal(drawn[1].get_ydata(), 2.0 * AT)


@pytest.mark.parametrize("order", [("reference", "computed"), ("computed", "reference")])
def test_computed_curve_has_the_first_colour_wherever_its_reference_is(order):
    motion = curves("varus", "flexion (deg)", AT, "deg", dict.fromkeys(order, AT))
    figure = draw_multibody_figures(motion, motion, {})["multibody_kinematics"]
    colours = {line.get_label(): line.get_color() for line in figure.axes[0].get_lines()}
    assert colours["computed"] == COLOURS[0] != colours["reference"]


def test_poses_are_drawn_where_the_bodies_are():
    figure = draw_multibody_figures(
        curves("a", "b", AT, "N", {"c": AT}), curves("a", "b", AT, "N", {"c": AT}),
        scene_record(scene()),
    )["multibody_poses"]  # fmt: skip
    figure.savefig(BytesIO())
    last = figure.axes[3]
    tibia = last.get_lines()[1]
    np.testing.assert_allclose(tibia.get_ydata(), [-90.0, -80.0, -90.0])
    (bundles,) = last.collections
    np.testing.assert_allclose(bundles.get_segments()[0], [[0.0, 0.0], [1.0, -90.0]])


def test_a_simplified_mesh_keeps_its_shape():
    side = np.linspace(-1.0, 1.0, 121)
    x, z = np.meshgrid(side, side, indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.concatenate([np.stack(three, -1).reshape(-1, 3) for three in ((a, b, c), (a, c, d))])
    mesh = TriangleMesh(np.stack([x, 0.3 * x**2, z], -1).reshape(-1, 3), faces)
    found = simplified(mesh, 1000)
    assert 400 < len(found.vertices) < 1300
    corners = found.vertices[found.faces]
    sides = corners[:, 1:] - corners[:, :1]
    flat = 0.5 * np.abs(np.cross(sides[:, 0], sides[:, 1])[:, 1]).sum()
    # The border moves inward by about half a cell of 0.08.
    assert flat == pytest.approx(4.0, rel=0.1)
    x, y, _ = found.vertices.T
    np.testing.assert_allclose(y, 0.3 * x**2, atol=2e-3)
    assert simplified(mesh, len(mesh.vertices)) is mesh


def test_the_view_looks_at_all_positions():
    view = scene_view(scene_record(scene()))
    # From the femur to the lowest point of the tibia's bone.
    assert view["middle"] == [5.0, -50.0, 5.0] and view["width"] == 120.0
    assert view["bones"]["tibia"]["points"][0] == [10.0, -20.0, 0.0]
    assert view["labels"][1] == "30°" and len(view["colours"]) == 3
    assert scene_view(scene_record(None)) == {}


def test_without_a_scene_only_curves_are_drawn():
    table = curves("a", "b", AT, "N", {"c": AT})
    figures = draw_multibody_figures(table, table, scene_record(None))
    assert list(figures) == ["multibody_kinematics", "multibody_forces"]


def test_statements_say_whether_they_hold():
    found = statements([
        ("rms", 0.5, "mm", "at most 1 mm", True, "a"),
        ("peak", 3.0, "N", "above 4 N", False, "b"),
        ("mean", 1.0, "N", "", None, "b"),
        stated("first contact", "c", "27 deg", "27.1 deg", True, chosen=True),
        stated("first contact", "c", "27 deg", "21.1 deg", False, chosen=True),
    ])  # fmt: skip
    assert found["holds"].tolist() == ["yes", "no", "", "by choice", "no"]


@pytest.mark.parametrize("part", ["page", "summary"])
def test_a_knee_without_an_implant_is_not_named_as_one(part):
    study = read_study("config/planar_knee.yaml", defaults=default_settings_file())
    tables = {
        "multibody_statements": statements([("peak", 3.0, "N", "above 4 N", False, "b")]),
        "forces": curves("contact force", "flexion (deg)", AT, "N", {"medial": AT}),
    }
    versions = {"versions": {"kneewear": "1.0"}}
    settings = study.model_dump(mode="json")
    text = render_page(
        "multibody", settings, tables, {}, provenance=versions, defaults=settings, part=part
    )
    assert "Study “planar_knee”: model of Machado" in text


# Every shipped study of this kind.
SHIPPED = ("planar_knee", "spatial_knee", "natural_passive", "tkr_soft_tissue",
           "tkr_predicted_gait", "knee_extension")  # fmt: skip


def test_the_list_of_shipped_studies_is_complete():
    kind = "kind: multibody"
    found = {path.stem for path in CONFIG.glob("*.yaml") if kind in path.read_text("utf-8")}
    assert found == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_page_of_every_shipped_study_is_rendered(name):
    study = read_study(CONFIG / f"{name}.yaml", defaults=default_settings_file())
    tables = {
        "multibody_statements": load_table(SNAPSHOT / name / "tables/multibody_statements.csv"),
        "kinematics": curves("varus", "flexion (deg)", AT, "deg", {"computed": AT}),
        "forces": curves("contact force", "flexion (deg)", AT, "N", {"medial": AT}),
    }
    settings = study.model_dump(mode="json")
    versions = {"versions": {"kneewear": "1.0"}}
    view = scene_view(scene_record(scene()))
    for part in ("page", "appendix", "summary"):
        text = render_page(
            "multibody", settings, tables, {}, provenance=versions, defaults=settings,
            view=view, part=part,
        )  # fmt: skip
        assert name in text
        if part == "page":
            assert "Bearing surfaces (pale: bones), simplified" in text
            assert 'id="scene-bones"' in text
