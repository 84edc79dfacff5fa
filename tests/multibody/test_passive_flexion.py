"""Passive flexion of the knee replacement of subject DM, and faults in its settings and files."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.io.multibody_inputs import load_parts
from kneewear.io.study_inputs import multibody_files
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.multibody.passive_flexion import (
    FREE,
    build_system,
    component_motion,
    flex_knee,
    solve_passive_flexion,
    start_of,
)
from kneewear.studies.multibody.predicted_gait import solve_predicted_gait

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()


def study(**changes):
    base = merge_settings(
        read_settings(ROOT / "config/config.yaml"),
        read_settings(ROOT / "config/tkr_soft_tissue.yaml"),
    )
    return load_study(merge_settings(base, {"data_folder": str(DATA), "multibody": changes}))


@pytest.fixture(scope="module")
def knee():
    if not (DATA / "gc_dm/ligaments.csv").is_file():
        pytest.skip(f"no data of subject DM in {DATA} (set KNEEWEAR_DATA)")
    one = study(flexion_deg={"first": 0.0, "last": 90.0, "frames": 31})
    return one.multibody, load_parts(one.multibody, multibody_files(one, ROOT))


def test_the_start_is_the_rest_pose_of_the_source_model(knee):
    # Its first row: -0.754, -2.019 and 1.308 deg; 5.945, 40.794 and 0.529 mm.
    settings, parts = knee
    system = build_system(parts, settings)

    class Start:
        coordinates = start_of(settings)

    motion = component_motion(system, parts, (Start(),))
    found = [curve[0] for curve in motion.values()]
    expected = [-0.7536, -2.01885, 1.30798, 5.94501, 40.79394, 0.52928]
    np.testing.assert_allclose(found, expected, atol=5e-3)


def test_derivatives_along_all_coordinates_are_exact(knee):
    settings, parts = knee
    system = build_system(parts, settings)
    settled = flex_knee(system, settings, [30.0])[0].coordinates
    found, step = system.forces(settled).derivative, 1e-6
    for number in range(12):
        move = step * np.eye(12)[number]
        slope = (system.forces(settled + move).force - system.forces(settled - move).force) / (
            2 * step
        )
        np.testing.assert_allclose(found[:, number], slope, atol=1e-3 * np.abs(found).max())


def test_flexion_to_90_degrees_is_balanced_and_near_the_reference(knee):
    settings, parts = knee
    result = solve_passive_flexion(parts, settings)
    found = result.statements.set_index("statement")["found"]
    assert found["largest unbalanced force"] < 1e-5
    # Found with 91 angles: 0.56, 2.26 deg, 3.63, 0.44, 0.26 mm; muscles differ from the source's.
    limits = {"varus": 1.0, "tibial external rotation": 2.5, "femur anterior": 4.0,
              "femur superior": 1.0, "femur lateral": 1.0}  # fmt: skip
    for name, limit in limits.items():
        assert found[f"{name}, rms difference from the reference"] < limit
    contact = result.forces[result.forces["panel"] == "contact force"]
    assert contact.groupby("series")["value"].min().min() > 10.0
    assert set(result.statements["holds"]) == {"yes", "no", ""}


@pytest.mark.slow
def test_a_stronger_pull_presses_harder(knee):
    settings, parts = knee
    stronger = parts.quadriceps.with_law(
        type(parts.quadriceps.law)(
            *(2.0 * part if name == "active" else part
              for name, part in parts.quadriceps.law.arrays._asdict().items())
        )
    )  # fmt: skip
    forces = []
    for muscles in (parts.quadriceps, stronger):
        changed = type(parts)(**{**vars(parts), "quadriceps": muscles})
        one = flex_knee(build_system(changed, settings), settings, [60.0])[0]
        forces.append(np.linalg.norm(one.forces.parts["patellofemoral contact"].wrench[:3]))
    assert forces[1] > 1.5 * forces[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bodies": {"tibia": {"start": None}}}, "bodies.tibia.start: nothing"),
        ({"placements": None}, "placement: femoral_implant_in_femur_r without placements"),
        ({"flexion_deg": {"frames": 1}}, r"flexion_deg\.frames"),
        ({"model": "passive_flexing"}, r"multibody\.model"),
        ({"quadriceps": {"force_n": 0.0}}, r"quadriceps\.force_n"),
    ],
)
def test_settings_that_cannot_be_solved_are_refused(changes, message):
    with pytest.raises(InputDataError, match=message):
        study(**changes)


def test_unknown_names_in_the_files_are_refused(knee, tmp_path):
    one = study()
    files = multibody_files(one, ROOT)
    text = Path(files["ligaments"]).read_text(encoding="utf-8")
    (tmp_path / "ligaments.csv").write_text(text.replace("Capsule_r", "Capsul"), encoding="utf-8")
    with pytest.raises(InputDataError, match="found 'Capsul'; expected one of KnExt_at_fem"):
        load_parts(one.multibody, files | {"ligaments": tmp_path / "ligaments.csv"})
    changed = study(bodies={"femur": {"placement": "femoral_implant"}})
    with pytest.raises(
        InputDataError, match=r"no placement 'femoral_implant'.*Did you mean 'femoral_impl"
    ):
        load_parts(changed.multibody, files)
    changed = study(unused_wrap_objects=["PatTen"])
    with pytest.raises(
        InputDataError, match=r"multibody\.unused_wrap_objects: found 'PatTen'.*'PatTen_r'"
    ):
        load_parts(changed.multibody, files)
    changed = study(quadriceps={"origins_mm": {"recfemur": [30.0, 400.0, 20.0]}})
    with pytest.raises(InputDataError, match=r"origins_mm: found 'recfemur'.*Did you mean 'recfem"):
        load_parts(changed.multibody, files)
    assert FREE[-1] == "patella"
    wraps = Path(files["wrap_objects"]).read_text(encoding="utf-8")
    (tmp_path / "wraps.csv").write_text(wraps.replace(",19,,,527.5", ",60,,,527.5"), "utf-8")
    with pytest.raises(InputDataError, match="bundle pCAP1: found an attachment inside the wrap"):
        load_parts(one.multibody, files | {"wrap_objects": tmp_path / "wraps.csv"})


def test_a_natural_knee_flexes_near_its_measured_motion():
    if not (DATA / "natural_knee/ligaments.csv").is_file():
        pytest.skip(f"no data of the natural knee in {DATA} (set KNEEWEAR_DATA)")
    base = merge_settings(
        read_settings(ROOT / "config/config.yaml"),
        read_settings(ROOT / "config/natural_passive.yaml"),
    )
    changes = {"data_folder": str(DATA), "multibody": {"tuning": None}}
    one = load_study(merge_settings(base, changes))
    parts = load_parts(one.multibody, multibody_files(one, ROOT))
    found = solve_passive_flexion(parts, one.multibody).statements.set_index("statement")["found"]
    spread = {
        name.partition(",")[0]: value for name, value in found.items() if "without" in str(name)
    }
    # Found: 0.4 to 1 mm and 0.7 to 2.6 deg, 2 mm of the patella's anterior position.
    assert len(spread) == 11 and max(spread.values()) < 3.0
    assert found["largest unbalanced force"] < 1e-5


def test_gait_is_predicted_from_flexion_and_load():
    base = merge_settings(
        read_settings(ROOT / "config/config.yaml"),
        read_settings(ROOT / "config/tkr_predicted_gait.yaml"),
    )
    one = load_study(merge_settings(base, {"data_folder": str(DATA)}))
    files = multibody_files(one, ROOT)
    if not all(Path(path).is_file() for path in files.values()):
        pytest.skip(f"no data of subject DM in {DATA} (set KNEEWEAR_DATA)")
    parts = load_parts(one.multibody, files)
    # Every fifth frame.
    short = dataclasses.replace(parts, reference=parts.reference.iloc[::5].reset_index(drop=True))
    result = solve_predicted_gait(short, one.multibody)
    found = result.statements.set_index("statement")["found"]
    assert found["flexion, rms difference over the cycle"] < 1e-3
    # Found over all frames: 1.2 mm and 2.4 deg.
    assert found["femur anterior, rms difference over the stance"] < 2.0
    assert found["tibial external rotation, rms difference over the stance"] < 4.0
    largest = result.forces.groupby(["panel", "series"])["value"].max()["contact force"]
    # Ligaments and quadriceps press in addition to the load.
    assert 1.0 < largest["tibiofemoral contact"] / largest["applied load"] < 1.3
