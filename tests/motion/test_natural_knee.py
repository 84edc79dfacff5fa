"""The natural knee of `natural_knee/` in the data folder under 1000 N (Bei 2003, 2.3.1)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import kneewear as kw
from kneewear.contact.foundation import confined_modulus
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.meshes import to_knee_axes
from kneewear.io.shapes import load_shape
from kneewear.mechanics.rotations import body_three_123
from kneewear.models.press.tables import contact_table
from kneewear.motion.press import Rig, solve_press
from kneewear.motion.press_results import contact_dataset
from kneewear.motion.settling import settle_component
from kneewear.report.study_tables import scanned_positions
from kneewear.study.files import FileReader, mesh_files
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.models.press.conftest import compute
from tests.refusals import refused_at

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
needs_data = pytest.mark.skipif(
    not (DATA / "natural_knee").is_dir(), reason=f"no natural_knee in the data folder {DATA}"
)


def natural_study(**overrides):
    settings = merge_settings(
        read_settings(ROOT / "config/defaults.yaml"),
        read_settings(ROOT / "config/papers/natural_knee.yaml"),
    )
    return validate_study(merge_settings(settings, {"data_folder": str(DATA), **overrides}))


@pytest.fixture(scope="module")
def study():
    return natural_study()


@pytest.fixture(scope="module")
def meshes(study):
    return {name: load_shape(path) for name, path in mesh_files(study, ROOT).items()}


@pytest.fixture(scope="module")
def knee(study, meshes):
    return build_implant(study.implant, **meshes)[0]


@pytest.fixture(scope="module")
def rig(study, knee):
    return Rig(knee, study)


@pytest.fixture(scope="module")
def joint(rig):
    return rig.knee


@pytest.fixture(scope="module")
def computed(study):
    return compute(study, reader=FileReader(ROOT))


@pytest.fixture(scope="module")
def record(computed):
    """Contact of every held position."""
    return computed.data


@pytest.mark.slow
@needs_data
class TestHeldPositions:
    def test_contact_at_an_equilibrium_carries_its_load(self, record, study):
        """`kw.evaluate_contact` deforms both layers, as the static study does."""
        middle = record.isel(case=3)
        pose = [*middle.translation.values, *middle.rotation.values]
        contact = kw.evaluate_contact(kw.build_knee(study), pose, study)
        assert -float(contact.force.sel(component="y").sum()) == pytest.approx(1000.0, rel=2e-3)

    def test_contact_carries_the_load_without_side_force(self, record):
        total = record.force.sum("side").values
        np.testing.assert_allclose(total[:, 1], -1000.0, rtol=1e-7)
        np.testing.assert_allclose(total[:, 2], 0.0, atol=1e-4)

    def test_medial_contact_is_more_anterior_than_lateral_everywhere(self, computed, study):
        results = computed.results
        ahead = results["lateral_centre_posterior"] - results["medial_centre_posterior"]
        assert ahead.min() > 3.0
        scan = scanned_positions(contact_table(results, study))
        assert scan["medial_ahead_mm"].min() == pytest.approx(ahead.min())

    def test_peak_pressure_depends_on_the_position_and_is_usual_near_the_best_fit(self, record):
        """Another knee than the source's, without menisci: 4 to 6 MPa, not its 3."""
        peaks = record.max_pressure.max("side")
        assert 4.0 < peaks.min() < 6.0
        assert peaks.max() > 1.4 * peaks.min()

    def test_pressures_hardly_depend_on_the_elements(self, record, knee):
        fine = natural_study(grid={"rows": 60, "columns": 45}).at({"posterior_mm": 2.0})
        found = contact_dataset(solve_press(Rig(knee, fine)))
        # Some 60 loaded elements a side at first: 5 % at 50 (Bei 2003, section 2.2.4).
        np.testing.assert_allclose(found.max_pressure, record.max_pressure[4], rtol=0.05)
        np.testing.assert_allclose(found.avg_pressure, record.avg_pressure[4], rtol=0.05)


@pytest.fixture(scope="module")
def settled(rig):
    return solve_press(rig)


@pytest.mark.slow
@needs_data
class TestBothLayers:
    @pytest.mark.compiled
    def test_pressure_is_that_of_both_layers_at_large_strain(self, settled, knee):
        """p = -K ln(1 - d / h), h from the meshes' patches at the pose found, without a table."""
        modulus = confined_modulus(4.0, 0.45)
        equilibrium = settled.equilibrium
        turn = body_three_123(equilibrium.rotation)
        for side, pair, contact in zip(
            ("medial", "lateral"), settled.elements.pairs, equilibrium.contacts, strict=True
        ):
            number = ("medial", "lateral").index(side)
            boneless = settled.elements.without_bone[number].ravel()[pair.index[contact.element]]
            loaded = (contact.pressure > 0.0) & ~boneless
            centre = pair.centre[contact.element[loaded]]
            tibia = np.clip(knee.insert_layer.bone[side].closest_points(centre)[2], 2.0, 10.0)
            u, v, *_ = knee.femoral[side].closest_points((centre - equilibrium.translation) @ turn)
            point = knee.femoral[side].evaluate(u, v)
            femur = np.clip(knee.femoral_layer.bone[side].closest_points(point)[2], 1.0, 20.0)
            depth = contact.penetration[loaded]
            wanted = -modulus * np.log1p(-depth / (tibia + femur))
            # The femur's thickness is looked up between samples 1 mm apart.
            np.testing.assert_allclose(contact.pressure[loaded], wanted, rtol=0.02)
            assert (depth / (tibia + femur)).max() > 0.15

    @pytest.mark.compiled
    def test_thickness_belongs_to_the_pose_found(self, settled, study, joint):
        equilibrium = settled.equilibrium
        prepared = joint.with_cells(settled.elements.cells, study.simulation.pressure_law)
        now = joint.pressed_layers(
            prepared, equilibrium.translation, body_three_123(equilibrium.rotation)
        )
        for before, after, contact in zip(
            settled.elements.layers, now.layers, equilibrium.contacts, strict=True
        ):
            loaded = contact.element[contact.pressure > 0.0]
            np.testing.assert_allclose(
                after.thickness[loaded], before.thickness[loaded], rtol=study.simulation.tolerance
            )


@pytest.fixture(scope="module")
def prepared(study, joint):
    return joint.with_cells(joint.cells(study.grid), study.simulation.pressure_law)


@pytest.fixture(scope="module")
def bone(study, meshes):
    """Triangles of the tibia's bone, finely sampled, and their corners, in knee axes."""
    natural = study.implant.natural
    mesh = to_knee_axes(
        meshes["insert_bone_mesh"], natural.unit, natural.axes.model_dump(), "right"
    )
    corners = mesh.vertices[mesh.faces]
    weights = np.array([(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)], dtype=float)
    return np.einsum("wk,nkd->nwd", weights / 8.0, corners).reshape(-1, 3), corners


@pytest.mark.slow
@needs_data
class TestBeyondBone:
    """Cartilage that reaches beyond its bone: 12 % medially and 23 % laterally, by area."""

    def test_elements_are_those_whose_normal_meets_no_triangle(self, prepared, bone):
        _, corners = bone
        for number in (0, 1):
            on = prepared.grid.valid[number]
            centre, normal = (
                getattr(prepared.grid, name)[number][on] for name in ("centre", "normal")
            )
            met = np.array([meets(c, -n, corners) for c, n in zip(centre, normal, strict=True)])
            found = prepared.without_bone[number][on]
            # Elements at the very border of the bone may count either way: the patch is smooth.
            assert np.mean(found == ~met) > 0.97
            area = prepared.grid.area[number][on]
            assert area[found].sum() / area.sum() == pytest.approx((0.12, 0.23)[number], abs=0.04)

    def test_the_nearest_bone_is_measured_to(self, prepared, bone):
        points, _ = bone
        for number in (0, 1):
            chosen = prepared.without_bone[number] & prepared.grid.valid[number]
            wanted = cKDTree(points).query(prepared.grid.centre[number][chosen])[0]
            found = prepared.grid.thickness[number][chosen]
            assert np.mean(found > 2.001) > 0.2
            # Points of the samples are 0.2 mm apart.
            np.testing.assert_allclose(found, np.clip(wanted, 2.0, 10.0), rtol=0.01)

    def test_the_table_counts_them_with_their_force(self, record, prepared):
        counts = prepared.without_bone.sum(axis=(1, 2))
        assert (record.elements_without_bone.values == counts).all()
        assert record.boneless_force_share.max() > 0.1
        assert (record.boneless_force_share <= 1.0).all()


@pytest.mark.slow
@needs_data
@pytest.mark.compiled
def test_distance_and_direction_can_be_chosen(knee, record):
    """Rays through a deep contact are longer than minimum distances: less penetration carries."""
    measures = {"distance": "ray", "force_direction": "element_normal", "posterior_mm": -6.0}
    ray = contact_dataset(solve_press(Rig(knee, natural_study(press=measures, variables={}))))
    assert (ray.max_penetration < 0.995 * record.max_penetration[0]).all()
    np.testing.assert_allclose(ray.force[:, 1].sum(), record.force[0, :, 1].sum(), rtol=1e-5)


@pytest.mark.slow
@needs_data
@pytest.mark.compiled
def test_numerical_damping_and_descent_find_one_pose(knee, study):
    """Also where the cartilage under an element changes with the pose (Bei 2003, Fig. 2-4)."""
    sequence, end = settle_component(knee, study)
    assert (sequence.loc[0, ["medial_force_n", "lateral_force_n"]] == 0.0).all()
    assert list(end["free"]) == [False, True, True, True, False, False]
    # The descent leaves 1e-8 of the load, 1e-5 N over some 10 N/mm.
    assert end["difference"].abs().max() < 1e-6
    assert sequence["acceleration_mm_per_s2"].iloc[-1] < 1e-5


def meets(start, way, corners) -> bool:
    """True if a ray meets any triangle (n, 3, 3), after Moeller and Trumbore."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    cross = np.cross(way, second)
    size = (first * cross).sum(axis=1)
    size = np.where(np.abs(size) < 1e-12, np.nan, size)
    away = start - corners[:, 0]
    u = (away * cross).sum(axis=1) / size
    turned = np.cross(away, first)
    v, depth = turned @ way / size, (second * turned).sum(axis=1) / size
    return bool(((u >= 0) & (v >= 0) & (u + v <= 1) & (depth > 0)).any())


class TestSettings:
    @pytest.mark.parametrize(
        ("overrides", "place"),
        [
            ({"press": None}, "settings, key press"),
            ({"implant": {"nominal_thickness_mm": 3.0}}, "settings, key implant"),
            (
                {"implant": {"natural": {"tibial_thickness_mm": [10, 2]}}},
                "settings, key implant.natural.tibial_thickness_mm",
            ),
            ({"implant": {"natural": None}}, "settings, key implant.natural"),
            ({"implant": {"knee": "left"}}, "settings, key implant.natural.axes"),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, overrides, place):
        assert refused_at(natural_study, **overrides) == place

    def test_a_natural_knee_has_no_wear_study(self):
        implant = read_settings(ROOT / "config/papers/natural_knee.yaml")["implant"]
        default = read_settings(ROOT / "config/defaults.yaml")
        assert (
            refused_at(validate_study, merge_settings(default, {"implant": implant})) == "settings"
        )
