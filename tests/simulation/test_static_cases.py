"""Static studies: balance, analytical solutions, cam and post, elements of a wanted number."""

from __future__ import annotations

import logging
from functools import cache

import numpy as np
import pytest

from kneewear.contact.foundation import confined_modulus
from kneewear.errors import ConvergenceError, InputDataError
from kneewear.geometry.coverage import Rectangle
from kneewear.io import netcdf
from kneewear.io.curves import read_poses
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.studies.static.cases import (
    list_static_cases,
    refine_cells,
    solve_static_cases,
)
from kneewear.studies.static.element_study import study_active_elements, study_divisions
from kneewear.studies.static.record import StaticRecord, tabulate_static
from tests.simulation.chapter3 import BASE, joint, small_study, solved

pytestmark = pytest.mark.compiled

ANGLES, LOADS = (0.0, 30.0, 60.0, 90.0), (750.0, 3000.0)
PARAMETRIC = BASE["implant"]["parametric"]
DISH = PARAMETRIC["plateau_sagittal_radius_mm"]
CONDYLE = {0.0: 35.0, 30.0: 28.0, 60.0: 24.0, 90.0: 20.0}
THICKNESS = 9.0
MODULUS = confined_modulus(400.0, 0.46)


@cache
def cases():
    """Two loads at every flexion, linear material."""
    return solved(small_study(flexion_deg=ANGLES, load_n=LOADS))


def of(record, flexion, load):
    """Number of a case."""
    return next(
        n for n, case in enumerate(record.cases) if (case.flexion, case.load) == (flexion, load)
    )


def slope(record, number):
    """Tangent of the angle at which a condyle leans in its dish, from the centres of both arcs."""
    centre, radius = np.zeros(3), PARAMETRIC["femoral_sagittal_radius_mm"]
    for arc in PARAMETRIC["femoral_arcs"]:
        if arc["from_flexion_deg"] < record.cases[number].flexion:
            turn = np.radians(arc["from_flexion_deg"])
            outward = np.array([np.sin(turn), -np.cos(turn), 0.0])
            centre = centre + (radius - arc["radius_mm"]) * outward
            radius = arc["radius_mm"]
    position = body_three_123(record.rotation[number]) @ centre + record.translation[number]
    return position[0] / (THICKNESS + DISH - position[1])


def test_cases_are_every_combination_with_the_load_fastest():
    study = small_study(("linear", "nonlinear"), flexion_deg=[0, 90], load_n=[750, 3000])
    listed = [(c.material, c.flexion, c.posterior, c.load) for c in list_static_cases(study.static)]
    assert listed[:3] == [("linear", 0, 12, 750), ("linear", 0, 12, 3000), ("linear", 90, 12, 750)]
    assert len(listed) == len(set(listed)) == 8


def test_contact_at_the_border_is_reported():
    """A femur held at the posterior end of the plateaus is cut off there; elsewhere it is not."""
    study = small_study(
        free=["superior_inferior", "varus_valgus"], flexion_deg=[0], load_n=[3000],
        posterior_mm=[0.0, 20.0],
    )  # fmt: skip
    record = solved(study)
    assert (record.border_pressure[0] == 0.0).all()
    assert (record.border_pressure[1, :2] > 1.0).all()
    table = tabulate_static(record)
    rows = table[(table["quantity"] == "border_pressure") & (table["posterior_mm"] == 20.0)]
    np.testing.assert_array_equal(rows["value"], record.border_pressure[1])


class TestGivenPoses:
    """All six coordinates from a file: contact, forces and torques, nothing solved."""

    POSES = {  # noqa: RUF012
        "file": "poses.csv",
        "convention": "grood-suntay",
        "columns": {
            "time_s": "number",
            **{name: name for name in ("flexion", "varus", "rotation", "anterior_posterior",
                                       "superior_inferior", "medial_lateral")},
        },
    }  # fmt: skip

    def study(self, **changed):
        empty = dict.fromkeys(("free", "flexion_deg", "posterior_mm", "load_n"), ())
        given = {"poses": self.POSES, "element_study": None}
        return small_study(**(empty | given | changed))

    def write(self, path, poses):
        """The file a user has, with anterior and lateral positive."""
        angles = np.degrees(clinical_angles(body_three_123(poses[:, 3:])))
        columns = [np.arange(len(poses)), *angles.T, -poses[:, 0], poses[:, 1], -poses[:, 2]]
        names = list(self.POSES["columns"].values())
        rows = [",".join(f"{value:.12g}" for value in row) for row in zip(*columns, strict=True)]
        path.write_text("\n".join([",".join(names), *rows]) + "\n")

    def test_forces_at_the_poses_of_equilibria_are_those_of_the_equilibria(self, tmp_path):
        solved_there = cases()
        poses = np.hstack([solved_there.translation, solved_there.rotation])
        self.write(tmp_path / "poses.csv", poses)
        study = self.study()
        given = read_poses(tmp_path / "poses.csv", study.static.poses)
        np.testing.assert_allclose(given, poses, atol=1e-9)
        found = solve_static_cases(joint(), study.grid, study.static, given)
        np.testing.assert_allclose(found.force, solved_there.force, rtol=1e-5, atol=1e-3)
        np.testing.assert_allclose(found.torque, solved_there.torque, rtol=1e-5, atol=0.1)
        assert [case.pose for case in found.cases] == list(range(1, len(poses) + 1))
        table = tabulate_static(found)
        assert table.columns[0] == "pose"
        assert {"torque_medial", "reaction_superior"} <= set(table["quantity"])

    def test_a_pose_with_an_implausible_force_is_warned_of(self, caplog):
        one = cases()
        pose = np.concatenate([one.translation[0], one.rotation[0]])[None]
        deep = pose - [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
        study = self.study()
        with caplog.at_level(logging.WARNING):
            solve_static_cases(joint(), study.grid, study.static, np.vstack([pose, deep]))
        assert "pose 2" in caplog.text
        assert "check static.pose_force" in caplog.text
        assert "pose 1 " not in caplog.text

    @pytest.mark.parametrize(
        ("changed", "message"),
        [({"load_n": [1000]}, "load_n"), ({"poses": None}, "without poses")],
    )
    def test_poses_are_given_or_solved(self, changed, message):
        with pytest.raises(InputDataError, match=message):
            self.study(**changed)


def test_contact_balances_the_load_in_every_case():
    record = cases()
    total = record.force.sum(axis=1)
    load = np.array([case.load for case in record.cases])
    # The tolerance of the settings, 1e-8 of the load.
    assert np.abs(total[:, 1] + load).max() < 1e-8 * load.max()
    assert np.abs(total[:, 0]).max() < 1e-8 * load.max()
    # The load acts on z = 0, so it has no torque about x there.
    assert np.abs(record.torque[..., 0].sum(axis=1)).max() < 1e-8 * 23.0 * load.max()
    assert record.residual.max() < 1e-8


def test_symmetric_implant_loads_both_sides_alike():
    record = cases()
    assert record.force[:, 0, :2] == pytest.approx(record.force[:, 1, :2], abs=1e-6)
    assert record.max_pressure[:, 0] == pytest.approx(record.max_pressure[:, 1], abs=1e-9)
    assert np.abs(record.rotation[:, 0]).max() < 1e-9


def test_cam_meets_the_post_at_90_deg_only():
    record = cases()
    post = record.sides.index("post")
    touched = {case.flexion for n, case in enumerate(record.cases) if record.force[n, post].any()}
    assert touched == {90.0}
    for load in LOADS:
        number = of(record, 90.0, load)
        # The post is pushed forwards, the femur backwards.
        assert record.force[number, post, 0] < 0.0
        assert record.active_elements[number, post] > 0


@pytest.mark.parametrize("flexion", ANGLES[:3])
def test_condyles_rest_at_the_bottom_of_the_dishes(flexion):
    record = cases()
    for load in LOADS:
        number = of(record, flexion, load)
        assert record.centre_of_pressure[number, :2, 0] == pytest.approx(0.0, abs=1e-3)
        assert slope(record, number) == pytest.approx(0.0, abs=1e-3)


def test_post_carries_what_the_slope_of_the_dishes_asks_for():
    # Frictionless forces of a condyle in its dish run through both centres, as seen from the side.
    record = solved(small_study(grid=120, flexion_deg=[90], load_n=[3000]))
    pushed = -record.force[0, record.sides.index("post"), 0]
    # Elements of 0.3 mm leave the direction of the force uncertain by about a thousandth.
    assert pushed == pytest.approx(3000.0 * slope(record, 0), abs=2e-3 * 3000.0)
    assert pushed > 150.0


def test_holding_the_femur_off_its_place_takes_the_force_of_the_slope():
    free = ["superior_inferior", "varus_valgus"]
    positions = [-1.5, 0.0, 1.5]
    study = small_study(grid=120, free=free, posterior_mm=positions, flexion_deg=[0], load_n=[1500])
    record = solved(study)
    assert record.translation[:, 0] == pytest.approx(positions, abs=0.0)
    expected = [1500.0 * slope(record, number) for number in range(3)]
    assert record.reaction[:, 0] == pytest.approx(expected, abs=2e-3 * 1500.0)
    assert record.reaction[2, 0] > 100.0


@pytest.mark.parametrize("flexion", ANGLES[:3])
def test_peak_is_that_of_a_paraboloid_on_a_layer(flexion):
    # p0^2 = K F / (pi h sqrt(Rx Rz)) for a layer of one thickness; the dish is up to a tenth
    # thicker where the patch ends, which takes load away from there: 2 to 3 % more in the middle.
    sagittal = 1.0 / (1.0 / CONDYLE[flexion] - 1.0 / DISH)
    coronal = 1.0 / (1.0 / 40.0 - 1.0 / 46.0)
    record = solved(small_study(grid=120, flexion_deg=[flexion], load_n=[3000]))
    peak = np.sqrt(MODULUS * 1500.0 / (np.pi * THICKNESS * np.sqrt(sagittal * coronal)))
    assert 1.0 < record.max_pressure[0, 0] / peak < 1.04


def test_a_case_does_not_depend_on_its_neighbours():
    alone = solved(small_study(flexion_deg=[90], load_n=[3000]))
    number = of(cases(), 90.0, 3000.0)
    assert np.array_equal(alone.translation[0], cases().translation[number])
    assert np.array_equal(alone.force[0], cases().force[number])


def test_elements_are_laid_until_the_wanted_number_is_loaded():
    study = small_study(grid=20, flexion_deg=[90], load_n=[750, 3000], active_elements=100)
    record = solved(study)
    # As near as rows and columns allow; the source says about 100.
    assert np.abs(record.active_elements / 100.0 - 1.0).max() < 0.1
    assert (record.rows[0] > record.rows[1]).all()
    # About a hundred elements give the pressures of many within a few per cent (Fig. 3-1D).
    fine = solved(small_study(grid=200, flexion_deg=[90], load_n=[750, 3000]))
    assert record.max_pressure == pytest.approx(fine.max_pressure, rel=0.03)


def test_loaded_elements_carry_the_resultant():
    record = cases()
    number = of(record, 90.0, 3000.0)
    for position in range(len(record.sides)):
        mine = (record.element_case == number) & (record.element_side == position)
        assert mine.sum() == record.active_elements[number, position]
        carried = record.element_pressure[mine] * record.element_area[mine]
        # Pressure acts along the indenter's normals, within a few degrees of one direction.
        assert carried.sum() == pytest.approx(
            np.linalg.norm(record.force[number, position]), rel=0.03
        )
        plan = record.element_corners[mine].mean(axis=1)
        axes = [0, 2] if position < 2 else [1, 2]
        sign = np.array([1.0, 1.0]) if position < 2 else np.array([-1.0, 1.0])
        assert plan * sign == pytest.approx(record.element_centre[mine][:, axes], abs=1e-6)


def test_softer_form_has_the_lower_peak():
    materials = ("linear", "nonlinear", "nonlinear_integrated")
    record = solved(small_study(materials, flexion_deg=[60], load_n=LOADS))
    peak = record.max_pressure[:, 0].reshape(3, 2)
    assert (peak[1] < peak[0]).all()
    assert (peak[1] < peak[2]).all()


def test_case_without_equilibrium_is_named():
    # Held so far back, the femur falls past the insert.
    free = ["superior_inferior"]
    study = small_study(free=free, posterior_mm=[59], flexion_deg=[0], load_n=[750])
    with pytest.raises(ConvergenceError, match="linear, 0 deg, 59 mm posterior, 750 N"):
        solved(study)


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


def test_table_is_tidy_and_tells_the_pose():
    table = tabulate_static(cases())
    keys = ["material", "flexion_deg", "posterior_mm", "load_n", "side", "quantity"]
    assert not table.duplicated(keys).any()
    assert table["value"].notna().all()
    rows = table[(table["flexion_deg"] == 90) & (table["load_n"] == 3000)]
    rows = rows.set_index(["side", "quantity"])["value"]
    assert rows["medial", "force_superior"] == pytest.approx(-1500.0, rel=1e-3)
    number = of(cases(), 90.0, 3000.0)
    assert rows["all", "posterior_position"] == cases().translation[number, 0]


def test_record_survives_its_file(tmp_path):
    netcdf.save(cases(), tmp_path / "static.nc")
    again = netcdf.load(StaticRecord, tmp_path / "static.nc")
    assert again.cases == cases().cases
    assert again.sides == cases().sides
    for name in ("translation", "reaction", "max_pressure", "element_corners", "element_case"):
        assert np.array_equal(getattr(again, name), getattr(cases(), name)), name


@cache
def convergence():
    """A few positions of a few numbers of elements at 0 deg under 3000 N."""
    study = BASE["static"]["element_study"] | {
        "active_elements": [25, 50, 400],
        "offsets": 5,
        "divisions": [20, 40, 120],
    }
    return small_study(element_study=study)


def test_few_elements_err_as_little_as_published():
    # Bei (2003), 3.2.3: 10 % at 25 and 5 % at 50 loaded elements, of the value at 400; for the
    # median over positions, as the mean pressure may err by more at the worst one.
    study = convergence()
    table = study_active_elements(joint(), study.grid, study.static, seed=3)
    assert set(table["side"]) == {"medial", "lateral"}
    active = table.groupby("wanted")["active_elements"].median()
    assert active.to_numpy() == pytest.approx([25, 50, 400], rel=0.15)
    for quantity in ("max_pressure_mpa", "avg_pressure_mpa"):
        true = table.loc[table["wanted"] == 400, quantity].median()
        error = (table[quantity] / true - 1.0).abs().groupby(table["wanted"]).median()
        assert error[25] < 0.10
        assert error[50] < 0.05


def test_places_of_elements_come_from_the_seed():
    study = convergence()
    few = study.static.element_study.model_copy(update={"active_elements": (25, 50), "offsets": 2})
    static = study.static.model_copy(update={"element_study": few})
    first, again, other = (
        study_active_elements(joint(), study.grid, static, seed) for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_force_and_torque_depend_far_less_on_the_grid_than_pressures():
    study = convergence()
    table = study_divisions(joint(), study.grid, study.static)
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


def test_study_of_elements_needs_its_settings():
    study = small_study(element_study=None)
    with pytest.raises(ValueError, match="element_study"):
        study_divisions(joint(), study.grid, study.static)
