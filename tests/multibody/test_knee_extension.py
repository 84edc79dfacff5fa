"""Knee extension by the quadriceps: a knee of a sphere and plates, and the natural knee."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kneewear.errors import ConvergenceError, InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.multibody_inputs import load_parts
from kneewear.io.study_inputs import model_files
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.multibody.extension_motion import (
    ExtensionParts,
    build_extension,
    extend_knee,
    find_slack_length,
    force_ratio,
    patch,
    seat,
    stored_energy_error,
    wrap_overlap,
)
from kneewear.studies.multibody.extension_statements import (
    PF,
    TF,
    contact_gaps,
    coordinate_gaps,
    extension_statements,
    judged,
    source_rotation,
)
from kneewear.studies.multibody.knee_extension import (
    extension_curves,
    extension_scene,
    solve_knee_extension,
)
from kneewear.studies.multibody.passive_flexion import BODIES, REACH, KneeParts, build_system
from kneewear.studies.multibody.result import statements
from kneewear.tissue.bundles import Bundles, WrappedBundles
from kneewear.tissue.laws import constant, quadratic_to_linear
from kneewear.tissue.wrapping import WrapObject
from tests.contact.test_mesh_contact import ball, plate

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
RADIUS = 20.0
MIRROR = np.diag([1.0, 1.0, -1.0])


def study(**changes):
    base = merge_settings(
        read_settings(ROOT / "config/config.yaml"),
        read_settings(ROOT / "config/knee_extension.yaml"),
    )
    return load_study(merge_settings(base, {"data_folder": str(DATA), "multibody": changes}))


def settings_of_spheres(side=1.0):
    """A knee that starts at 60 degrees and extends for 30 ms; `side` is -1 for a left one."""
    return study(
        bodies={
            "tibia": {"start": [0.0, 0.0, 0.0, 60.0, 0.0, 0.0]},
            "patella": {"start": [15.2, -12.7, 0.5 * side, 40.0, 0.0, 0.0]},
        },
        layers={"field_spacing_mm": 3.0},
        extension={
            "longest_s": 0.03,
            "output_step_s": 0.0005,
            "inertia": {"tibia": {"centre_mm": [11, -234, 2 * side]}},
            "patellar_ligament": {"force_ratio": 1.05},
            "forcing": {"force_n": {"200N": None, "400N": None, "600N": [600, 600, 600, 60]}},
        },
    ).multibody  # fmt: skip


def mirrored(mesh):
    return TriangleMesh(mesh.vertices @ MIRROR, mesh.faces[:, ::-1])


def knee_of_spheres(side=1.0):
    """A sphere on a plate, with another plate as patella; eight and four bundles hold them."""
    tibia, patella = plate(10.0, 1.0), plate(7.0, 1.0)
    tibia = TriangleMesh(tibia.vertices + (0.0, 0.3 - RADIUS, 0.0), tibia.faces)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    patella = TriangleMesh(patella.vertices @ turn.T, patella.faces)
    surfaces = {"femur": ball(RADIUS, 40), "tibia": tibia, "patella": patella}
    if side < 0:
        surfaces = {name: mirrored(mesh) for name, mesh in surfaces.items()}

    def path(one, start, other, end):
        flip = (1.0, 1.0, side)
        return (one, np.multiply(start, flip)), (other, np.multiply(end, flip))

    ends = [
        ((0, 0, -30), (5, -45, -28)),
        ((0, 0, 30), (-5, -45, 31)),
        ((0, 0, 8), (16, -24, 6)),
        ((0, 0, -8), (-16, -24, -6)),
        ((0, 0, 6), (-15, -24, 3)),
        ((0, 0, -6), (17, -24, -4)),
        ((0, 0, 28), (9, -45, 30)),
        ((0, 0, -28), (-9, -45, -29)),
    ]
    bands = [((0, 0, 30 * z), (RADIUS + 2, y, 9 * z)) for y in (-7, 7) for z in (-1, 1)]
    paths = tuple(path("femur", one, "tibia", other) for one, other in ends)
    paths += tuple(
        path("femur", one, "patella", np.subtract(other, (RADIUS, 0, 0))) for one, other in bands
    )
    lengths = np.array([np.linalg.norm(np.subtract(*pair)) for pair in ends + bands])
    law = quadratic_to_linear(0.97 * lengths, 2e4)
    count = len(lengths)
    ligaments = Bundles(tuple(f"L{n}" for n in range(count)), BODIES, paths, law)
    rod = WrapObject("rod", "cylinder", "femur", (RADIUS - 2.0, 0.0, 0.0), side=(1.0, 0.0, 0.0))
    pull = (path("femur", (25, 180, 6), "patella", (4, 15, 0)),)
    tendon = WrappedBundles(Bundles(("quadriceps",), BODIES, pull, constant([1.0])), (rod,))
    knee = KneeParts(surfaces, {}, WrappedBundles(ligaments, (None,) * count), tendon)
    return ExtensionParts(knee, path("patella", (4, -15, 0), "tibia", (32, -45, 3)))


@pytest.fixture(scope="module")
def spheres():
    settings, parts = settings_of_spheres(), knee_of_spheres()
    base = build_system(parts.knee, settings)
    slack, start = find_slack_length(base, parts, settings)
    system = build_extension(base, parts, settings, "600N", slack)
    return settings, parts, base, slack, extend_knee(system, start, parts, settings, "600N")


def test_the_slack_length_gives_the_force_ratio_at_the_start(spheres):
    settings, parts, base, slack, one = spheres
    start = one.motion.coordinates[0]
    assert force_ratio(one.system.forces(start)) == pytest.approx(1.05, rel=1e-3)
    longer = build_extension(base, parts, settings, "600N", slack + 3.0)
    assert force_ratio(seat(longer, start).forces) < 1.04


def test_tendons_balance_about_the_centre_of_a_round_femur(spheres):
    # Contact and bands pass through it; neither tendon touches the femur here.
    parts, one = spheres[1], spheres[4]
    start = one.motion.coordinates[0]
    poses = one.system.poses(start)
    pull = parts.knee.quadriceps.on(BODIES).bundles.lines(poses)[0]
    ligament = one.system.actions["patellar ligament"].lines(poses)[0]
    assert wrap_overlap(one.system, parts, start) < 0.0
    levers = []
    for line in (pull, ligament):
        along = line[1] - line[0]
        turn = line[0][0] * along[1] - line[0][1] * along[0]
        levers.append(abs(turn) / np.linalg.norm(along))
    found = force_ratio(one.system.forces(start))
    # Facets of the ball turn the contact force by parts of a degree.
    assert found == pytest.approx(levers[0] / levers[1], rel=0.01)


def test_a_ratio_that_no_slack_length_gives_is_reported(spheres):
    settings, parts, base, _, _ = spheres
    tendon = settings.extension.patellar_ligament.model_copy(update={"force_ratio": 2.9})
    extension = settings.extension.model_copy(update={"patellar_ligament": tendon})
    with pytest.raises(ConvergenceError, match=r"force ratio of 2\.9"):
        find_slack_length(base, parts, settings.model_copy(update={"extension": extension}))


def test_the_energy_of_the_knee_is_the_work_of_the_quadriceps(spheres):
    one = spheres[4]
    assert one.table["flexion_deg"].iloc[-1] < one.table["flexion_deg"].iloc[0] - 0.05
    assert one.motion.energy_error < 1e-3
    assert stored_energy_error(one) < 1e-3


def test_the_scene_has_bundles_and_tendons_near_the_knee(spheres):
    scene = extension_scene(spheres[4], spheres[1])
    *_, ligament, tendon = scene.lines[0]
    found = spheres[4].motion.parts[0]["patellar ligament"].length[0]
    assert np.linalg.norm(ligament[-1] - ligament[0]) == pytest.approx(found)
    assert np.linalg.norm(tendon, axis=1).max() <= REACH + 1e-9
    assert len(scene.lines[0]) == 14


def test_a_leg_that_its_quadriceps_cannot_extend_is_reported(spheres):
    settings, parts, base, slack, one = spheres
    weak = settings.extension.forcing.model_copy(update={"force_n": {"weak": (9.0,) * 4}})
    extension = settings.extension.model_copy(update={"forcing": weak})
    changed = settings.model_copy(update={"extension": extension})
    system = build_extension(base, parts, changed, "weak", slack)
    with pytest.raises(InputDataError, match=r"force_n\.weak: found a leg that flexes from rest"):
        extend_knee(system, one.motion.coordinates[0], parts, changed, "weak")


def test_a_left_knee_moves_as_the_mirror_image(spheres):
    settings, parts = settings_of_spheres(-1.0), knee_of_spheres(-1.0)
    base = build_system(parts.knee, settings)
    slack, start = find_slack_length(base, parts, settings)
    assert slack == pytest.approx(spheres[3], abs=2e-4)
    system = build_extension(base, parts, settings, "600N", slack)
    left = extend_knee(system, start, parts, settings, "600N")
    signs = np.tile([1.0, 1.0, -1.0, 1.0, -1.0, -1.0], 2)
    # The local error of the integration.
    np.testing.assert_allclose(
        left.motion.coordinates * signs, spheres[4].motion.coordinates, atol=5e-3
    )


def test_both_sides_of_a_contact_are_all_of_it(spheres):
    one = spheres[4]
    law, found = one.system.actions["tibiofemoral contact"].law, one.motion.parts[0]
    resultant = found["tibiofemoral contact"]
    medial = law.centre[:, 2] < 0.0
    push = [patch(resultant, law, mask) for mask in (medial, ~medial)]
    both = patch(resultant, law, np.ones_like(medial))
    total = np.linalg.norm(resultant.wrench[:3])
    assert both.force == pytest.approx(total, rel=1e-9)
    assert sum(part.force for part in push) == pytest.approx(total, rel=0.05)
    assert push[0].centre[2] < 0.0 < push[1].centre[2]


def test_contact_is_the_sum_of_pressures_that_grow_with_penetration(spheres):
    one = spheres[4]
    rest, slope, least = contact_gaps({"600N": one})
    # The thickness of the layers, in settings, has four digits.
    assert rest < 1e-12 and slope < 1e-4 and 0.0 < least < 0.1

    class Halved:
        def __init__(self, found):
            self.element, self.area, self.direction = found.element, found.area, found.direction
            self.penetration, self.pressure = -found.penetration, 0.5 * found.pressure
            self.force = found.force

    parts = [{name: Halved(frame[name]) for name in (TF, PF)} for frame in one.motion.parts[:1]]
    wrong = one._replace(motion=replace(one.motion, parts=parts))
    rest, slope, least = contact_gaps({"600N": wrong})
    assert rest == pytest.approx(0.5) and slope == pytest.approx(1.5, rel=1e-4) and least < 0.0


def test_the_coordinates_are_those_of_the_source(spheres):
    gap, slip = coordinate_gaps(spheres[4])
    assert gap < 1e-12
    # Eq. 24 of the source is not the angular velocity.
    assert slip > 1e-3
    np.testing.assert_allclose(
        source_rotation(np.array([0.0, np.pi / 2, 0.0])), np.eye(3), atol=1e-15
    )


def test_statements_are_judged_by_the_forces_that_reach_their_flexions():
    def row(found):
        return judged("s", "Results", "above 1", found, "N", lambda x: x > 1.0)

    assert row({"a": 2.0, "b": 3.0}).holds
    assert not row({"a": 2.0, "b": 0.5}).holds
    assert row({"a": float("nan"), "b": 3.0}).found == "a: not reached, b: 3 N"
    assert row({"a": float("nan"), "b": 3.0}).holds
    assert not row({"a": float("nan")}).holds


def test_a_motion_that_ends_early_leaves_statements_open(spheres):
    one = spheres[4]
    motion = replace(one.motion)
    names = ["LCL", "AAC", "PAC", "APC", "PPC"]
    table = one.table.assign(**dict.fromkeys(names, 0.0))
    case = one._replace(motion=motion, table=table)
    found = statements(extension_statements({"600N": case}, spheres[0]))
    rows = found.set_index("statement")
    assert (
        "not reached" in rows.loc["C10 Flexion of the largest medial patellofemoral force", "found"]
    )
    assert rows.loc["C9 The knee reaches full extension", "holds"] == "no"
    assert rows.loc["Balance of energy", "holds"] == "yes"
    kinematics, forces = extension_curves({"600N": one})
    assert {"tibia rotation", "flexion"} <= set(kinematics["panel"])
    assert {"600N, patellofemoral"} <= set(forces.query("panel == 'contact force'")["series"])


def test_faults_name_the_key():
    with pytest.raises(InputDataError, match=r"force_n\.400N: 3 forces and 4 angles"):
        study(extension={"forcing": {"force_n": {"400N": [530, 400, 75]}}})
    with pytest.raises(InputDataError, match=r"flexion of -5 deg"):
        study(bodies={"tibia": {"start": [0, 0, 0, -5, 0, 0]}})
    with pytest.raises(InputDataError, match=r"stiffness_n_per_mm"):
        study(extension={"patellar_ligament": {"stiffness_n_per_mm": 0}})
    with pytest.raises(InputDataError, match=r"mass_kg"):
        study(extension={"inertia": {"patella": {"mass_kg": -0.1}}})


@pytest.fixture(scope="module")
def natural():
    if not (DATA / "natural_knee/ligaments.csv").is_file():
        pytest.skip(f"no natural knee in {DATA} (set KNEEWEAR_DATA)")


@pytest.mark.slow
@pytest.mark.usefixtures("natural")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bundles": {"LCL": ["LLC"]}}, r"bundles\.LCL: found 'LLC'.*LCL"),
        ({"bundles": {"LCL": ["LCL", "MCLs1"]}}, r"bundle MCLs1 in LCL and in AMC"),
        ({"bundles": {"LCL": ["LCL", "lPFL"]}}, r"LCL1 and lPFL1: found femur to tibia and femur"),
        ({"patellar_ligament": {"bundles": ["PTT"]}}, r"patellar_ligament\.bundles: found 'PTT'"),
    ],
)  # fmt: skip
def test_bundles_that_the_table_does_not_have_are_named(changes, words):
    one = study(extension=changes)
    with pytest.raises(InputDataError, match=words):
        load_parts(one.multibody, model_files(one, ROOT))


@pytest.mark.slow
@pytest.mark.usefixtures("natural")
def test_the_natural_knee_extends():
    one = study(extension={"forcing": {"force_n": {"200N": None, "400N": None}}})
    parts = load_parts(one.multibody, model_files(one, ROOT))
    found = solve_knee_extension(parts, one.multibody)
    rows = found.statements.set_index("statement")
    own = rows[rows["source"].str.startswith("own check")]
    assert (own["holds"] == "yes").all()
    # What the geometry decides: the leg extends, the quadriceps leave the femur on the way, the
    # anterior cruciate carries more at extension and the lateral facet more everywhere.
    for name in (
        "C9 The knee reaches full extension",
        "C10 Lateral patellofemoral contact force above the medial one",
        "C12 ACL over PCL force, 1 N at least, at extension: least",
    ):
        assert rows.loc[name, "holds"] == "yes", name
    assert found.scene is not None
    assert len(found.scene.lines[0]) == 14
