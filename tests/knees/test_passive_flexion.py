"""Passive flexion of the knee replacement of subject DM, and faults in its settings and files."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.assembly import compose_system, free_names, start_coordinates
from kneewear.knees.components import clinical_motion
from kneewear.knees.composed import solve_composed
from kneewear.knees.inputs import load_parts
from kneewear.knees.laxity import body_laxity
from kneewear.motion.equilibrium import solve_system, trace_equilibria
from kneewear.study.files import check_inputs, model_files
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.refusals import refused_at

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()


def study(**changes):
    base = merge_settings(
        read_settings(ROOT / "config/defaults.yaml"),
        read_settings(ROOT / "config/evidence/tkr_soft_tissue.yaml"),
    )
    return validate_study(merge_settings(base, {"data_folder": str(DATA), "multibody": changes}))


def flex(system, settings, angles):
    """Slow equilibria at some flexions, deg."""
    free = free_names(settings)
    seated = solve_system(system, start_coordinates(settings), free, tolerance=1e-6)
    motion = np.tile(seated.coordinates, (len(angles), 1))
    motion[:, system.coordinate("tibia.theta_1")] = np.radians(angles)
    return trace_equilibria(system, motion, free, tolerance=1e-6)


@pytest.fixture(scope="module")
def knee():
    if not (DATA / "gc_dm/ligaments.csv").is_file():
        pytest.skip(f"no data of subject DM in {DATA} (set KNEEWEAR_DATA)")
    one = study(course={"frames": 31})
    return one.multibody, load_parts(one.multibody, model_files(one, ROOT))


@pytest.mark.slow
def test_the_start_is_the_rest_pose_of_the_source_model(knee):
    # Its first row: -0.754, -2.019 and 1.308 deg; 5.945, 40.794 and 0.529 mm.
    settings, parts = knee
    system, start = compose_system(parts, settings), [start_coordinates(settings)]
    motion = clinical_motion(system, parts.placements, settings.components, start)
    found = [curve[0] for curve in motion.values()]
    expected = [-0.7536, -2.01885, 1.30798, 5.94501, 40.79394, 0.52928]
    np.testing.assert_allclose(found, expected, atol=5e-3)


@pytest.mark.slow
def test_derivatives_along_all_coordinates_are_exact(knee):
    settings, parts = knee
    system = compose_system(parts, settings)
    settled = flex(system, settings, [30.0])[0].coordinates
    found, step = system.forces(settled).derivative, 1e-6
    for number in range(12):
        move = step * np.eye(12)[number]
        slope = (system.forces(settled + move).force - system.forces(settled - move).force) / (
            2 * step
        )
        np.testing.assert_allclose(found[:, number], slope, atol=1e-3 * np.abs(found).max())


@pytest.mark.slow
def test_flexion_to_90_degrees_is_balanced_and_near_the_reference(knee):
    settings, parts = knee
    result = solve_composed(parts, settings)
    found = result.literature.set_index(["quantity", "case"])["computed"]
    assert found["unbalanced force over the largest", ""] < 1e-5
    # The wanted 1 deg and 1 mm; found 0.12, 0.95 deg and 0.15, 0.03, 0.10 mm.
    for name in (
        "varus",
        "tibial external rotation",
        "femur anterior",
        "femur superior",
        "femur lateral",
    ):
        assert found["rms difference from the reference", name] < 1.0
    contact = result.forces[result.forces["panel"] == "contact force"]
    assert contact.groupby("series")["value"].min().min() > 10.0
    # Forces are integrated over 31 poses here; over the 91 of the study the gap is 0.005 %.
    error = "energy error over the largest work"
    assert 0.0 < found[error, ""] < 0.005
    others = result.literature[result.literature["quantity"] != error]
    assert set(others["verdict"]) == {"reproduced", ""}
    muscles = result.forces[result.forces["panel"] == "muscle tension"]
    # Hamstrings slacken and quadriceps tighten as the knee bends.
    ends = muscles.groupby("series")["value"].agg(["first", "last"])
    assert ends.loc["vaslat", "last"] > 30.0 > 5.0 > ends.loc["vaslat", "first"]
    assert ends.loc["bflh", "first"] > 9.0 and ends.loc["bflh", "last"] < 0.1


def mirror_image(parts):
    """The same knee of the other leg: lateral changes sign."""
    flip = np.array([1.0, 1.0, -1.0])

    def bundles(wrapped):
        paths = tuple(
            tuple((body, np.asarray(point) * flip) for body, point in path)
            for path in wrapped.paths
        )
        obstacles = tuple(
            one
            and dataclasses.replace(
                one,
                origin=one.origin * flip,
                side=np.asarray(one.side) * flip,
                rotation=flip[:, None] * np.asarray(one.rotation) * flip,
            )
            for one in wrapped.obstacles
        )
        return dataclasses.replace(wrapped, paths=paths, obstacles=obstacles)

    shapes = {
        name: TriangleMesh(one.vertices * flip, one.faces[:, ::-1])
        for name, one in parts.shapes.items()
    }
    tables = {
        kind: {name: bundles(one) for name, one in getattr(parts, kind).items()}
        for kind in ("ligaments", "muscles")
    }
    return dataclasses.replace(parts, shapes=shapes, **tables)


@pytest.mark.slow
def test_a_left_knee_flexes_as_the_mirror_image(knee):
    settings, parts = knee
    angles = [10.0, 40.0, 80.0]
    right = flex(compose_system(parts, settings), settings, angles)
    signs = np.tile([1.0, 1.0, -1.0, 1.0, -1.0, -1.0], 2)
    motion = np.array([one.coordinates for one in right]) * signs
    # Not from the answer: all frames begin at the pose of the first one.
    begin = np.tile(motion[0], (len(angles), 1))
    left = {
        name: one.model_copy(
            update={
                "mass": one.mass
                and one.mass.model_copy(
                    update={"centre_mm": tuple(np.multiply(one.mass.centre_mm, [1, 1, -1]))}
                )
            }
        )
        for name, one in settings.bodies.items()
    }
    left_knee = compose_system(mirror_image(parts), settings.model_copy(update={"bodies": left}))
    begin[:, left_knee.coordinate("tibia.theta_1")] = np.radians(angles)
    left = trace_equilibria(left_knee, begin, free_names(settings), tolerance=1e-6)
    # Distances are tabulated on another grid relative to the surface: some micrometres.
    for one, expected in zip(left, motion, strict=True):
        np.testing.assert_allclose(one.coordinates[:3], expected[:3], atol=0.02)
        np.testing.assert_allclose(np.degrees(one.coordinates[3:6] - expected[3:6]), 0.0, atol=0.05)


@pytest.mark.slow
def test_muscles_and_dampers_bring_the_motion_to_that_of_the_source_model(knee):
    settings, parts = knee
    rms, bodies = {}, settings.bodies
    slow = {name: one.model_copy(update={"dampers": None}) for name, one in bodies.items()}
    quadriceps = {"quadriceps": parts.muscles["quadriceps"]}
    for name, moved, muscles in (
        ("without", slow, quadriceps),
        ("muscles", slow, parts.muscles),
        ("both", bodies, parts.muscles),
    ):
        found = solve_composed(
            dataclasses.replace(parts, muscles=muscles),
            settings.model_copy(update={"bodies": moved}),
        ).literature.set_index(["quantity", "case"])["computed"]
        rms[name] = [
            found["rms difference from the reference", one]
            for one in ("tibial external rotation", "femur anterior")
        ]
    # Found: 2.9, 1.8 and 0.95 deg; 1.4, 0.25 and 0.15 mm.
    assert rms["without"][0] > 1.4 * rms["muscles"][0] > 2.0 * rms["both"][0]
    assert rms["without"][1] > 4.0 * rms["muscles"][1] > 5.0 * rms["both"][1]


@pytest.mark.slow
def test_muscles_have_the_lengths_of_the_source_simulation(knee):
    # At its 0.5 s, from its states: fibre lengths, and tendons stretched by these tensions.
    settings, parts = knee
    system = compose_system(parts, settings)
    tibia = [-5.818484, 8.151986, -8.775019, 3.69e-5, -0.03628635, 0.01688596]
    patella = [52.101693, 5.797923, 0.306096, 0.05447318, -0.02000007, 0.00734698]
    muscles = parts.muscles["other_muscles"]
    lengths = muscles.evaluate(system.poses(np.array([*tibia, *patella]))).length
    # Fibre length along the tendon, and slack length; tendons are up to 1 % longer.
    table = pd.read_csv(ROOT / "config/evidence/dm_muscles/muscles.csv", comment="#")
    table = table.drop_duplicates("muscle").set_index("muscle")
    fibres = {
        "bflh": 75.1133,
        "bfsh": 119.7285,
        "gaslat": 60.6041,
        "gasmed": 42.9652,
        "grac": 276.0939,
        "sart": 488.1937,
        "semiten": 218.1554,
        "tfl": 75.7061,
    }
    for name, fibre in fibres.items():
        width = table["optimal_fibre_length_mm"][name] * np.sin(table["pennation_rad"][name])
        taut = np.sqrt(fibre**2 - width**2) + table["tendon_slack_length_mm"][name]
        stretch = lengths[muscles.names.index(name)] - taut
        assert 0.0 < stretch < 0.01 * table["tendon_slack_length_mm"][name]


@pytest.mark.slow
def test_wrapped_lengths_have_no_jumps_during_flexion(knee):
    settings, parts = knee
    system = compose_system(parts, settings)
    found = flex(system, settings, np.linspace(0.0, 90.0, 31))
    ligaments = parts.ligaments["ligaments"]
    wrapped = [n for n, one in enumerate(ligaments.obstacles) if one is not None]
    lengths = np.array([one.forces.parts["ligaments"].length for one in found])[:, wrapped]
    straight = ligaments.straight.chosen(wrapped)
    chords = np.array([straight.evaluate(system.poses(one.coordinates)).length for one in found])
    # Second differences over steps of 3 deg of what wrapping adds, which the patella's quick tilt
    # beyond 87 deg hardly changes; jumps between two sides would be of 2 to 12 mm.
    assert np.abs(np.diff(lengths - chords, 2, axis=0)).max() < 1.0
    assert (lengths >= chords - 1e-9).all()
    assert ((lengths - chords).max(axis=0) > 0.1).sum() > 40


def laxity_of(knee, loads, flexion=(30.0,), steps=1):
    settings, parts = knee
    tests = {"body": "tibia", "flexion_deg": flexion, "steps": steps, "loads": loads}
    tested = study(laxity=tests).multibody
    system = compose_system(parts, settings)
    table = body_laxity(system, tested, flex(system, settings, list(flexion)))
    return table.set_index(["test", "coordinate"])


@pytest.mark.slow
def test_laxity_is_reciprocal_for_small_loads(knee):
    """Betti: a force turns the tibia as much as a moment displaces it, per unit of each."""
    force, moment = 4.0, 0.1
    found = laxity_of(
        knee,
        {
            "pull": {"force_n": [force, 0.0, 0.0]},
            "turn": {"moment_n_m": [0.0, moment, 0.0]},
            "push": {"force_n": [-force, 0.0, 0.0]},
            "back": {"moment_n_m": [0.0, -moment, 0.0]},
        },
    )["change"]
    # Central differences: the knee stiffens with load.
    turned = np.radians(found["pull", "internal rotation"] - found["push", "internal rotation"])
    pushed = found["turn", "anterior"] - found["back", "anterior"]
    assert abs(turned) > 1e-4
    assert turned / force == pytest.approx(pushed / (1e3 * moment), rel=0.02)
    assert found["pull", "anterior"] > 0.0 > found["push", "anterior"]
    assert found["turn", "internal rotation"] > 0.0 > found["back", "internal rotation"]


@pytest.mark.slow
def test_load_that_nothing_bears_ends_a_laxity_test(knee):
    """Without an anterior cruciate ligament a drawer takes the flexed tibia from its bearing."""
    found = laxity_of(knee, {"drawer": {"force_n": [300.0, 0.0, 0.0]}}, (90.0,), steps=3)
    assert (found["borne"] < 1.0).all()


def test_unknown_names_in_the_files_are_refused(knee, tmp_path):
    one = study()
    files = model_files(one, ROOT)
    text = Path(files["ligaments"]).read_text(encoding="utf-8")
    (tmp_path / "ligaments.csv").write_text(text.replace("Capsule_r", "Capsul"), encoding="utf-8")
    assert (
        refused_at(load_parts, one.multibody, files | {"ligaments": tmp_path / "ligaments.csv"})
        == "ligaments.csv, column 'wrap_object'"
    )
    name = {"component": {"matrix": {"name": "femoral_implant"}}}
    changed = study(bodies={"femur": {"shapes": name}})
    assert refused_at(load_parts, changed.multibody, files) == "frames.json"
    changed = study(ligaments={"ligaments": {"straight": ["PatTen"]}})
    assert (
        refused_at(load_parts, changed.multibody, files)
        == "ligaments.csv, multibody.ligaments.ligaments.straight"
    )
    wraps = Path(files["ligaments_wrap_objects"]).read_text(encoding="utf-8")
    (tmp_path / "wraps.csv").write_text(wraps.replace(",19,,,527.5", ",60,,,527.5"), "utf-8")
    assert (
        refused_at(
            load_parts, one.multibody, files | {"ligaments_wrap_objects": tmp_path / "wraps.csv"}
        )
        == "bundle pCAP1"
    )


@pytest.mark.parametrize(
    ("column", "value", "place"),
    [
        (
            "body_2",
            "fibula",
            "ligaments.csv, column 'body_2', data row 2",
        ),
        (
            "linear_stiffness_n_per_strain",
            "0",
            "ligaments.csv, column 'linear_stiffness_n_per_strain', data row 2",
        ),
        ("slack_length_mm", "0", "ligaments.csv, column 'slack_length_mm', data row 2"),
        ("x1_mm", "-6.0", "bundle pCAP2"),
    ],
)
def test_a_bundle_that_cannot_be_solved_is_refused_before_the_first_job(
    tmp_path, column, value, place
):
    source = DATA / "gc_dm/ligaments.csv"
    if not source.is_file():
        pytest.skip(f"no data of subject DM in {DATA} (set KNEEWEAR_DATA)")
    table = pd.read_csv(source, dtype=str, keep_default_na=False)
    table.loc[1, column] = value
    if column == "x1_mm":
        table.loc[1, "y1_mm"] = "-430.0"
    path = tmp_path / "ligaments.csv"
    table.to_csv(path, index=False)
    assert (
        refused_at(check_inputs, study(ligaments={"ligaments": {"file": str(path)}}), ROOT) == place
    )


def test_a_bundle_that_winds_the_wrong_way_is_refused_before_the_first_job(tmp_path):
    source = DATA / "gc_dm/wrap_objects.csv"
    if not source.is_file():
        pytest.skip(f"no data of subject DM in {DATA} (set KNEEWEAR_DATA)")
    table = pd.read_csv(source, dtype=str, keep_default_na=False)
    path = tmp_path / "wraps.csv"
    for way, message in (
        (1.0, ""),
        (-1.0, r"bundle vasint: .*KnExt_vasint.* on the side opposite"),
    ):
        # The muscle passes in front of its cylinder; x is anterior in this table.
        table["side"] = ""
        table.loc[table["name"] == "KnExt_vasint_at_fem", "side"] = f"{way:g} 0 0"
        table.to_csv(path, index=False)
        wraps = {"quadriceps": {"wrap_objects": str(path)}}
        if message:
            with pytest.raises(InputDataError, match=message):
                check_inputs(study(muscles=wraps), ROOT)
        else:
            check_inputs(study(muscles=wraps), ROOT)


@pytest.fixture(scope="module")
def natural():
    if not (DATA / "natural_knee/ligaments.csv").is_file():
        pytest.skip(f"no data of the natural knee in {DATA} (set KNEEWEAR_DATA)")
    base = merge_settings(
        read_settings(ROOT / "config/defaults.yaml"),
        read_settings(ROOT / "config/papers/natural_passive.yaml"),
    )
    changes = {"data_folder": str(DATA), "multibody": {"tuning": None}}
    one = validate_study(merge_settings(base, changes))
    return one.multibody, load_parts(one.multibody, model_files(one, ROOT))


@pytest.fixture(scope="module")
def natural_numbers(natural):
    """Numbers of the natural knee by quantity and case."""
    settings, parts = natural
    table = solve_composed(parts, settings).literature
    return table.set_index(["quantity", "case"])["computed"]


@pytest.mark.slow
def test_a_natural_knee_flexes_near_its_source_model_and_its_measured_motion(natural_numbers):
    found = natural_numbers
    assert found["unbalanced force over the largest", ""] < 1e-5
    beside = found["rms difference from the source model"].to_dict()
    # Found: 0.1 to 0.9 mm, 0.1 to 1.1 deg, 2.2 deg of the patella's flexion.
    assert len(beside) == 11 and beside.pop("patella flexion") < 3.0
    assert max(beside.values()) < 1.2
    spread = found["rms difference without the mean one"]
    # Found: 0.4 to 2.7 mm and 0.7 to 3.1 deg.
    assert len(spread) == 11 and max(spread) < 3.5


@pytest.mark.slow
def test_without_its_iliotibial_band_the_natural_tibia_turns(natural, natural_numbers):
    settings, parts = natural
    others = parts.muscles["other_muscles"]
    kept = [number for number, name in enumerate(others.names) if name != "ITB"]
    assert len(kept) == len(others.names) - 1
    fewer = {**parts.muscles, "other_muscles": others.chosen(kept)}
    without = solve_composed(dataclasses.replace(parts, muscles=fewer), settings)
    table = without.literature.set_index(["quantity", "case"])
    rotation = "rms difference from the source model", "tibia rotation"
    # Found: 2.4 and 1.1 deg.
    assert table.loc[rotation, "computed"] > 2.0 > 1.2 > natural_numbers[rotation]


@pytest.mark.slow
def test_gait_is_predicted_from_flexion_and_load():
    base = merge_settings(
        read_settings(ROOT / "config/defaults.yaml"),
        read_settings(ROOT / "config/evidence/tkr_predicted_gait.yaml"),
    )
    one = validate_study(merge_settings(base, {"data_folder": str(DATA)}))
    files = model_files(one, ROOT)
    if not all(Path(path).is_file() for path in files.values()):
        pytest.skip(f"no data of subject DM in {DATA} (set KNEEWEAR_DATA)")
    parts = load_parts(one.multibody, files)
    # Every fifth frame.
    course = one.multibody.course.model_copy(update={"frames": 21})
    compared = {name: motion[::5] for name, motion in parts.compared.items()}
    parts = dataclasses.replace(parts, compared=compared)
    result = solve_composed(parts, one.multibody.model_copy(update={"course": course}))
    found = result.literature.set_index(["quantity", "case"])["computed"]
    assert found["rms difference over the cycle", "flexion"] < 1e-3
    # Found over all frames: 0.9 mm and 2.3 deg.
    assert found["rms difference over the stance", "femur anterior"] < 2.0
    assert found["rms difference over the stance", "tibial external rotation"] < 4.0
    motion = result.motion
    measured = pd.read_csv(files["compare_reference"])[::5]
    assert set(motion) <= set(measured)
    np.testing.assert_allclose(motion["percent_gait_cycle"], measured["percent_gait_cycle"])
    np.testing.assert_allclose(motion["flexion_deg"], measured["flexion_deg"], atol=1e-3)
    largest = result.forces.groupby(["panel", "series"])["value"].max()["contact force"]
    # Ligaments and muscles press in addition to the load.
    assert 1.0 < largest["tibiofemoral"] / largest["applied load"] < 1.3
