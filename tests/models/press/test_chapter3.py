"""Static contact: balance, analytical solutions, cam and post, elements of a wanted number."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kneewear.contact.foundation import confined_modulus
from kneewear.errors import ConvergenceError
from kneewear.geometry.coverage import Rectangle
from kneewear.io.curves import read_poses
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.models.press.element_study import study_active_elements, study_divisions
from kneewear.motion.press import Rig, refine_cells, solve_press
from kneewear.study.datasets import load_press_cases, save_press_dataset
from kneewear.study.files import FileReader
from kneewear.study.inputs import exact_knee
from tests.models.press.chapter3 import BASE, small_study
from tests.models.press.conftest import compute

pytestmark = pytest.mark.compiled

ANGLES = (0.0, 30.0, 60.0, 90.0)
LOADS = (750.0, 3000.0)
PARAMETRIC = BASE["implant"]["parametric"]
DISH = PARAMETRIC["plateau_sagittal_radius_mm"]
CONDYLE = {0.0: 35.0, 30.0: 28.0, 60.0: 24.0, 90.0: 20.0}
THICKNESS = 9.0
MODULUS = confined_modulus(400.0, 0.46)


@cache
def cases():
    """Two loads at every flexion, linear material."""
    return compute(small_study(flexion_deg=ANGLES, load_n=LOADS))


def of(flexion, load):
    """Contact of a case of `cases`."""
    results, data = cases()
    row = (results["flexion_deg"] == flexion) & (results["load_n"] == load)
    return data.sel(case=results.loc[row, "case"].item())


def slope(case):
    """Tangent of the angle at which a condyle leans in its dish, from the centres of both arcs."""
    flexion = -np.degrees(case["rotation"].values[2])
    centre, radius = np.zeros(3), PARAMETRIC["femoral_sagittal_radius_mm"]
    for arc in PARAMETRIC["femoral_arcs"]:
        if arc["from_flexion_deg"] < flexion - 1e-9:
            turn = np.radians(arc["from_flexion_deg"])
            outward = np.array([np.sin(turn), -np.cos(turn), 0.0])
            centre = centre + (radius - arc["radius_mm"]) * outward
            radius = arc["radius_mm"]
    position = body_three_123(case["rotation"].values) @ centre + case["translation"].values
    return position[0] / (THICKNESS + DISH - position[1])


def test_contact_at_the_border_is_reported():
    """A femur held at the posterior end of the plateaus is cut off there; elsewhere it is not."""
    study = small_study(
        free=["superior_inferior", "varus_valgus"],
        flexion_deg=0,
        load_n=3000,
        posterior_mm=(0.0, 20.0),
    )
    results = compute(study).results.set_index("posterior_mm")
    for side in ("medial", "lateral"):
        assert results.loc[0.0, f"{side}_border_pressure"] == 0.0
        assert results.loc[20.0, f"{side}_border_pressure"] > 1.0


class TestGivenPoses:
    """All six coordinates from a file: contact, forces and torques, nothing solved."""

    NAMES = (
        "number",
        "flexion",
        "varus",
        "rotation",
        "anterior_posterior",
        "superior_inferior",
        "medial_lateral",
    )

    def study(self, path, count):
        poses = {
            "file": str(path),
            "convention": "grood-suntay",
            "columns": {"time_s": "number", **{name: name for name in self.NAMES[1:]}},
        }
        numbers = tuple(range(1, count + 1))
        return small_study(
            free=[],
            load_n=None,
            posterior_mm=None,
            medial_mm=None,
            load_line_mm=None,
            poses=poses,
            pose=numbers,
        )

    def write(self, path, poses):
        """The file a user has, with anterior and lateral positive."""
        angles = np.degrees(clinical_angles(body_three_123(poses[:, 3:])))
        columns = [np.arange(len(poses)), *angles.T, -poses[:, 0], poses[:, 1], -poses[:, 2]]
        rows = [",".join(f"{value:.12g}" for value in row) for row in zip(*columns, strict=True)]
        path.write_text("\n".join([",".join(self.NAMES), *rows]) + "\n")

    def test_forces_at_the_poses_of_equilibria_are_those_of_the_equilibria(self, tmp_path):
        data = cases().data
        poses = np.hstack([data["translation"].values, data["rotation"].values])
        path = tmp_path / "poses.csv"
        self.write(path, poses)
        study = self.study(path, len(poses))
        np.testing.assert_allclose(read_poses(path, study.press.poses), poses, atol=1e-9)
        given = compute(study, reader=FileReader("."))
        np.testing.assert_allclose(given.data["force"], data["force"], rtol=1e-5, atol=1e-3)
        np.testing.assert_allclose(given.data["torque"], data["torque"], rtol=1e-5, atol=0.1)
        assert given.results["pose"].tolist() == list(range(1, len(poses) + 1))
        wanted = cases().results["flexion_deg"]
        np.testing.assert_allclose(given.results["flexion"], wanted, atol=1e-8)

    @pytest.mark.slow
    def test_an_implausible_force_and_a_missing_pose_are_reported(self, tmp_path, caplog):
        data = cases().data
        pose = np.concatenate([data["translation"].values[0], data["rotation"].values[0]])
        deep = pose - [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
        self.write(tmp_path / "poses.csv", np.stack([pose, pose, pose, deep]))
        study = self.study(tmp_path / "poses.csv", 4)
        compute(study, reader=FileReader("."))
        assert caplog.text.count("press.pose_force") == 1
        with pytest.raises(AssertionError, match="5 of 4 poses"):
            compute(self.study(tmp_path / "poses.csv", 5), reader=FileReader("."))


def test_contact_balances_the_load_in_every_case():
    results, data = cases()
    total = data["force"].values.sum(axis=1)
    load = results["load_n"].to_numpy()
    # The tolerance of the settings, 1e-8 of the load.
    assert np.abs(total[:, 1] + load).max() < 1e-8 * load.max()
    assert np.abs(total[:, 0]).max() < 1e-8 * load.max()
    # The load acts on z = 0, so it has no torque about x there.
    assert np.abs(data["torque"].values[..., 0].sum(axis=1)).max() < 1e-8 * 23.0 * load.max()
    assert results["residual"].max() < 1e-8


def test_symmetric_implant_loads_both_sides_alike():
    data = cases().data
    force, pressure = data["force"].values, data["max_pressure"].values
    assert force[:, 0, :2] == pytest.approx(force[:, 1, :2], abs=1e-6)
    assert pressure[:, 0] == pytest.approx(pressure[:, 1], abs=1e-9)
    assert np.abs(data["rotation"].values[:, 0]).max() < 1e-9


def test_cam_meets_the_post_at_90_deg_only():
    results = cases().results
    touched = results[results["post_contact_area"] > 0.0]
    assert set(touched["flexion_deg"]) == {90.0}
    # The post is pushed forwards, the femur backwards.
    assert (touched["post_force_posterior"] < 0.0).all()
    assert (touched["post_active_elements"] > 0).all()


@pytest.mark.parametrize("flexion", ANGLES[:3])
def test_condyles_rest_at_the_bottom_of_the_dishes(flexion):
    for load in LOADS:
        case = of(flexion, load)
        assert case["centre_of_pressure"].values[:2, 0] == pytest.approx(0.0, abs=1e-3)
        assert slope(case) == pytest.approx(0.0, abs=1e-3)


def test_post_carries_what_the_slope_of_the_dishes_asks_for():
    # Frictionless forces of a condyle in its dish run through both centres, as seen from the side.
    results, data = compute(small_study(grid=120, flexion_deg=90, load_n=3000))
    pushed = -results["post_force_posterior"].item()
    # Elements of 0.3 mm leave the direction of the force uncertain by about a thousandth.
    assert pushed == pytest.approx(3000.0 * slope(data.isel(case=0)), abs=2e-3 * 3000.0)
    assert pushed > 150.0


def test_holding_the_femur_off_its_place_takes_the_force_of_the_slope():
    positions = (-1.5, 0.0, 1.5)
    study = small_study(
        grid=120,
        free=["superior_inferior", "varus_valgus"],
        posterior_mm=positions,
        flexion_deg=0,
        load_n=1500,
    )
    results, data = compute(study)
    assert results["posterior_position"].to_numpy() == pytest.approx(positions, abs=0.0)
    expected = [1500.0 * slope(data.isel(case=number)) for number in range(3)]
    assert results["reaction_posterior"].to_numpy() == pytest.approx(expected, abs=2e-3 * 1500.0)
    assert results["reaction_posterior"].iloc[2] > 100.0


@pytest.mark.parametrize("flexion", ANGLES[:3])
def test_peak_is_that_of_a_paraboloid_on_a_layer(flexion):
    # p0^2 = K F / (pi h sqrt(Rx Rz)) for a layer of one thickness; the dish is up to a tenth
    # thicker where the patch ends, which takes load away from there: 2 to 3 % more in the middle.
    sagittal = 1.0 / (1.0 / CONDYLE[flexion] - 1.0 / DISH)
    coronal = 1.0 / (1.0 / 40.0 - 1.0 / 46.0)
    results = compute(small_study(grid=120, flexion_deg=flexion, load_n=3000)).results
    peak = np.sqrt(MODULUS * 1500.0 / (np.pi * THICKNESS * np.sqrt(sagittal * coronal)))
    assert 1.0 < results["medial_max_pressure"].item() / peak < 1.04


def test_a_case_does_not_depend_on_its_neighbours():
    alone = compute(small_study(flexion_deg=90, load_n=3000)).data.isel(case=0)
    for name in ("translation", "force", "max_pressure"):
        assert np.array_equal(alone[name], of(90.0, 3000.0)[name])


def test_elements_are_laid_until_the_wanted_number_is_loaded():
    loads = (750.0, 3000.0)
    study = small_study(grid=20, flexion_deg=90, load_n=loads, active_elements=100)
    data = compute(study).data
    # As near as rows and columns allow; the source says about 100.
    assert np.abs(data["active_elements"] / 100.0 - 1.0).max() < 0.1
    assert (data["rows"][0] > data["rows"][1]).all()
    # About a hundred elements give the pressures of many within a few per cent (Fig. 3-1D).
    fine = compute(small_study(grid=200, flexion_deg=90, load_n=loads)).data
    np.testing.assert_allclose(data["max_pressure"], fine["max_pressure"], rtol=0.03)


def test_loaded_elements_carry_the_resultant():
    data = cases().data
    number = int(np.flatnonzero((data["case"] == of(90.0, 3000.0)["case"]).values)[0])
    for position in range(data.sizes["side"]):
        mine = (data["element_case"].values == number) & (data["element_side"].values == position)
        assert mine.sum() == data["active_elements"].values[number, position]
        carried = data["element_pressure"].values[mine] * data["element_area"].values[mine]
        # Pressure acts along the indenter's normals, within a few degrees of one direction.
        force = np.linalg.norm(data["force"].values[number, position])
        assert carried.sum() == pytest.approx(force, rel=0.03)
        plan = data["element_corners"].values[mine].mean(axis=1)
        axes = [0, 2] if position < 2 else [1, 2]
        sign = np.array([1.0, 1.0]) if position < 2 else np.array([-1.0, 1.0])
        centre = data["element_centre"].values[mine][:, axes]
        assert plan * sign == pytest.approx(centre, abs=1e-6)


def test_softer_form_has_the_lower_peak():
    materials = ("linear", "nonlinear", "nonlinear_integrated")
    results = compute(small_study(materials=materials, flexion_deg=60, load_n=LOADS)).results
    peak = results["medial_max_pressure"].to_numpy().reshape(3, 2)
    assert (peak[1] < peak[0]).all()
    assert (peak[1] < peak[2]).all()


def test_a_case_without_equilibrium_has_no_results():
    # Held so far back, the femur falls past the insert.
    study = small_study(free=["superior_inferior"], posterior_mm=59, flexion_deg=0, load_n=750)
    with pytest.raises(ConvergenceError):
        solve_press(Rig(exact_knee(study).implant, study))


def test_recut_cells_are_nearly_square_and_as_many_as_asked():
    cells = Rectangle(np.zeros(2), 0.0, 40.0, 25.0, 10, 10)
    finer = refine_cells(cells, 9.0)
    assert (finer.rows, finer.columns) == (38, 24)
    assert (finer.length, finer.width) == (40.0, 25.0)


def test_moved_cells_cover_what_they_covered():
    cells = Rectangle(np.array([-20.0, 3.0]), 0.1, 40.0, 25.0, 8, 5)
    moved = cells.moved(0.3, 0.9)
    assert (moved.rows, moved.columns) == (9, 6)
    assert moved.cell_area == pytest.approx(cells.cell_area)
    assert moved.cells(cells.at(0.0, 0.0)) == pytest.approx([0.3, 0.9])
    assert moved.cells(cells.at(8.0, 5.0)) == pytest.approx([8.3, 5.9])


def test_datasets_survive_their_files_and_join_there(tmp_path):
    data = cases().data
    first, second = data.isel(case=slice(3)), data.isel(case=slice(3, None))
    split = data["element_case"].values < 3
    first = first.isel(element=np.flatnonzero(split))
    second = second.isel(element=np.flatnonzero(~split))
    second["element_case"] = second["element_case"] - 3
    for name, part in (("a", first), ("b", second)):
        save_press_dataset(part, tmp_path / f"{name}.nc")
    assert load_press_cases([tmp_path / "a.nc", tmp_path / "b.nc"]).equals(data)


def element_study(**changes):
    """A few positions of a few numbers of elements at 0 deg under 3000 N."""
    options = {"active_elements": [25, 50, 400], "offsets": 5, "divisions": [20, 40, 120]}
    elements = {"elements": options | changes}
    return small_study(analyses=elements, flexion_deg=0, load_n=3000)


IMPLANT = cache(lambda: exact_knee(small_study()).implant)


def test_few_elements_err_as_little_as_published():
    # Bei (2003), 3.2.3: 10 % at 25 and 5 % at 50 loaded elements, of the value at 400; for the
    # median over positions, as the mean pressure may err by more at the worst one.
    study = element_study().model_copy(update={"seed": 3})
    table = study_active_elements(IMPLANT(), study)
    assert set(table["side"]) == {"medial", "lateral"}
    active = table.groupby("wanted")["active_elements"].median()
    assert active.to_numpy() == pytest.approx([25, 50, 400], rel=0.15)
    for quantity in ("max_pressure_mpa", "avg_pressure_mpa"):
        true = table.loc[table["wanted"] == 400, quantity].median()
        error = (table[quantity] / true - 1.0).abs().groupby(table["wanted"]).median()
        assert error[25] < 0.10
        assert error[50] < 0.05


def test_places_of_elements_come_from_the_seed():
    few = element_study(active_elements=[25, 50], offsets=2)
    first, again, other = (
        study_active_elements(IMPLANT(), few.model_copy(update={"seed": seed}))
        for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_force_and_torque_depend_far_less_on_the_grid_than_pressures():
    table = study_divisions(IMPLANT(), element_study())
    assert len(table) == 9
    deviation = (table / table.iloc[-1] - 1.0).abs().max()
    assert deviation["force_n"] < 0.5 * deviation["max_pressure_mpa"]
    assert deviation["torque_n_mm"] < 0.5 * deviation["max_pressure_mpa"]
    # The mean pressure is force over area, which errs less.
    assert deviation["avg_pressure_mpa"] < 1.1 * deviation["force_n"]
    # Half the load 23 mm medial of the origin.
    finest = table.iloc[-1]
    assert finest["force_n"] == pytest.approx(1500.0, rel=1e-3)
    assert finest["torque_n_mm"] == pytest.approx(1500.0 * 23.0, rel=1e-3)
