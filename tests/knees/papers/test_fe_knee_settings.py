"""Settings and files of a dynamic knee that are refused, each with its own message."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.knees.papers.fe_knee.files import load_bones
from kneewear.study.files import check_inputs, model_files
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.knees.papers.knees import CONFIG, small_knee, small_study, with_fibula

DISH = {"radii_mm": [32.0, 21.0], "depth_mm": 3.0}
HEADER = (
    "bundle,body_1,x1_mm,y1_mm,z1_mm,body_2,x2_mm,y2_mm,z2_mm,"
    "linear_stiffness_n_per_strain,slack_length_mm\n"
)
ROW = "{},femur_distal_r,1,2,3,tibia_proximal_r,4,5,6,500,30\n"
SHEET = """solid one
facet normal 0 0 1
 outer loop
  vertex 0 0 0
  vertex 0.01 0 0
  vertex 0 0.01 0
 endloop
endfacet
endsolid one
"""


def natural_study(changes=None):
    """The study of natural bones, with changes of their block."""
    settings = small_study().model_dump(mode="json")
    settings = merge_settings(settings, read_settings(CONFIG / "papers/fe_knee_natural.yaml"))
    settings = merge_settings(settings, {"fe_knee": {"bones": {"refinements": 0}}})
    own = {"fe_knee": {"bones": {"natural": changes or {}}}}
    return validate_study(merge_settings(settings, own))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Folder with files of a natural knee that only hold a triangle and two bundles."""
    (tmp_path / "natural_knee").mkdir()
    bones = ("tibia_bone", "fibula_bone", "tibia_subchondral_bone", "femur_subchondral_bone")
    for name in bones:
        (tmp_path / f"natural_knee/{name}.stl").write_text(SHEET)
    rows = [ROW.format(name) for name in ("ACL1", "ACL2", "PCL1", "MCLs1", "LCL1")]
    (tmp_path / "natural_knee/ligaments.csv").write_text(HEADER + "".join(rows))
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "own",
    [
        {"ligaments_mm": {"XYZ": [0.0, -10.0, -49.0]}},
        {"tie_mm": 36.0},
        {"size_mm": [20.0, 60.0, 14.0]},
        {"posterior_mm": 35.0},
        {"gap_mm": -1.0},
    ],
)
def test_an_impossible_fibula_is_refused(own):
    with pytest.raises(InputDataError):
        small_knee(with_fibula(**own))


@pytest.mark.parametrize(
    "own",
    [{"radii_mm": [29.0, 21.0]}, {"radii_mm": [32.0, 19.0]}, {"depth_mm": 45.0}],
    ids=["flatter front to back", "flatter side to side", "deep"],
)
def test_impossible_dishes_are_refused(own):
    with pytest.raises(InputDataError, match="dishes"):
        small_knee({"bones": {"simplified": {"dishes": {**DISH, **own}}}})


def test_blocks_of_the_knee_belong_to_its_model():
    settings = small_study().model_dump(mode="json")
    with pytest.raises(InputDataError, match="fe_knee"):
        validate_study(settings | {"model": "verification"})


def test_missing_files_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    with pytest.raises(InputDataError, match=r"tibia_bone\.stl|ligaments\.csv|subchondral"):
        check_inputs(natural_study(), ".")


def test_attachments_are_means_in_the_axes_of_the_knee(folder):
    study = natural_study()
    files = model_files(study, ".")
    found = load_bones(study.fe_knee.bones, files, "right")
    # The table is anterior, superior, lateral; inside it is posterior, superior, medial.
    np.testing.assert_allclose(found.attachments["ACL"]["femur"], [-1.0, 2.0, -3.0])
    np.testing.assert_allclose(found.attachments["ACL"]["tibia"], [-4.0, 5.0, -6.0])
    assert found.surfaces["tibia"].vertices[:, 0].min() == pytest.approx(-10.0)


def test_a_natural_fibula_is_read_and_bears_its_ligaments(folder):
    (folder / "natural_knee/fibula_bone.stl").write_text(SHEET)
    own = {"surface": "natural_knee/fibula_bone.stl", "tie_mm": 20.0, "ligaments": ["LCL"]}
    study = natural_study({"fibula": own})
    found = load_bones(study.fe_knee.bones, model_files(study, "."), "right")
    bones = {name: set(ends) - {"femur"} for name, ends in found.attachments.items()}
    tibia, fibula = {"tibia"}, {"fibula"}
    assert bones == {"ACL": tibia, "PCL": tibia, "MCL": tibia, "LCL": fibula}
    np.testing.assert_allclose(found.attachments["LCL"]["fibula"], [-4.0, 5.0, -6.0])
    assert "fibula" in found.surfaces
    with pytest.raises(InputDataError):
        natural_study({"fibula": own | {"ligaments": ["XYZ"]}})


def test_a_ligament_without_bundles_is_refused(folder):
    study = natural_study({"bundles": {"ACL": "XYZ"}})
    with pytest.raises(InputDataError, match="XYZ"):
        load_bones(study.fe_knee.bones, model_files(study, "."), "right")


def test_an_unknown_frame_of_the_table_is_refused(folder):
    table = folder / "natural_knee/ligaments.csv"
    table.write_text(HEADER + ROW.format("ACL1").replace("femur_distal_r", "pelvis"))
    study = natural_study()
    with pytest.raises(InputDataError, match="pelvis"):
        load_bones(study.fe_knee.bones, model_files(study, "."), "right")
