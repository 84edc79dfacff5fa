"""Study, knee, cycles and damage that do not belong together are refused, and odd poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import kneewear as kw
from kneewear.errors import KneewearError
from kneewear.geometry.coverage import Coverage
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.documents import save_table
from kneewear.io.result_files import atomic_path
from kneewear.motion.evaluation import build_layers, build_pairs
from tests.refusals import refused_at

pytestmark = pytest.mark.compiled

CHECKOUT = Path(__file__).parents[2]
SMALL = {
    "grid": {"rows": 24, "columns": 18},
    "coarse_grid": {"rows": 24, "columns": 18},
    "table": {"u_points": 31, "v_points": 15, "distance_error_um": 1.0},
    "simulation": {"analysis": "quasi_static", "frames": 12, "distance": "exact"},
    "variables": {"thickness_mm": [8], "body_mass_kg": [75]},
    "report": {"compare_with_published": False},
}
ABOVE = {
    "posterior": 0.0,
    "superior": 28.0,
    "medial": 0.0,
    "varus": 0.0,
    "external_rotation": 0.05,
    "extension": -0.1,
}


def load(**changes):
    return kw.load_study(CHECKOUT / "config/quick.yaml", SMALL, changes)


@pytest.fixture(scope="module")
def study():
    return load()


@pytest.fixture(scope="module")
def knee(study):
    return kw.build_knee(study)


@pytest.fixture(scope="module")
def cycles(knee, study):
    return kw.simulate(knee, study)


@pytest.fixture(scope="module")
def damage(cycles, study):
    return kw.accumulate_wear(cycles, study)


OTHERS = {
    "mass": {"variables": {"thickness_mm": [8], "body_mass_kg": [150]}},
    "thickness": {"variables": {"thickness_mm": [10], "body_mass_kg": [75]}},
    "more cases": {"variables": {"thickness_mm": [8], "body_mass_kg": [75, 150]}},
    "frames": {"simulation": {"frames": 16}},
    "motion": {"activities": {"gait": {"duration_s": 1.4}}},
    "implant": {"implant": {"parametric": {"femoral_sagittal_radius_mm": 30.0}}},
    "grid": {"grid": {"rows": 30}},
}


@pytest.mark.parametrize("name", OTHERS)
def test_cycles_of_another_study_are_refused(name, cycles, damage):
    other = load(**OTHERS[name])
    with pytest.raises(ValueError):
        kw.accumulate_wear(cycles, other)
    with pytest.raises(ValueError):
        kw.tabulate_cases(cycles, damage, other)


@pytest.mark.parametrize("name", ["implant", "grid"])
def test_a_knee_of_another_study_is_refused(name, knee):
    other = load(**OTHERS[name])
    with pytest.raises(ValueError):
        kw.simulate(knee, other)
    with pytest.raises(ValueError):
        kw.evaluate_contact(knee, list(ABOVE.values()), other)


def test_another_wear_factor_needs_no_new_cycles_but_damage_of_its_own(cycles, damage, study):
    other = load(wear={"wear_factor_mm3_per_n_m": 2.0 * study.wear.wear_factor_mm3_per_n_m})
    np.testing.assert_allclose(kw.accumulate_wear(cycles, other).wear_depth, 2 * damage.wear_depth)
    with pytest.raises(ValueError):
        kw.tabulate_cases(cycles, damage, other)


@pytest.mark.parametrize(
    "change",
    [
        lambda damage: damage * 1000.0,
        lambda damage: damage.isel(row=slice(None, None, -1)),
        lambda damage: damage.isel(column=slice(2, None)),
        lambda damage: damage.isel(case=[]),
        lambda damage: damage.assign_coords(side=["left", "right"]),
        lambda damage: damage.assign(wear_depth=damage.wear_depth.where(damage.wear_depth > 0.0)),
        lambda damage: damage.assign(wear_depth=damage.wear_depth.astype(int)),
    ],
)
def test_damage_that_was_changed_is_refused(change, cycles, damage, study):
    with pytest.raises(ValueError) as caught:
        kw.tabulate_cases(cycles, change(damage), study)
    assert caught.traceback[-1].path.is_relative_to(CHECKOUT / "kneewear")


def test_order_of_dimensions_and_sides_does_not_matter(cycles, damage, study):
    expected = kw.tabulate_cases(cycles, damage, study)
    for other in (damage.transpose("column", "row", ...), damage.isel(side=[1, 0])):
        pd.testing.assert_frame_equal(kw.tabulate_cases(cycles, other, study), expected)


class Law:
    """A law whose factor is given."""

    def __init__(self, factor):
        self.value = factor

    def weight(self, pressure):
        return pressure

    def factor(self, cross_shear):
        return np.full(np.shape(cross_shear), self.value)


class Misshapen(Law):
    """A law that returns too many values, or none, for weight or factor."""

    def __init__(self, method, value):
        super().__init__(1e-9)
        setattr(self, method, lambda given: value)


@pytest.mark.parametrize(
    "law",
    [
        Law(np.nan),
        Law(-1e-9),
        *(Misshapen(name, np.ones(3)) for name in ("weight", "factor")),
        *(Misshapen(name, None) for name in ("weight", "factor")),
        Misshapen("factor", "high"),
    ],
)
def test_laws_without_a_depth_are_refused(law, cycles, study):
    with pytest.raises(ValueError) as caught:
        kw.accumulate_wear(cycles, study, law)
    assert caught.traceback[-1].path.is_relative_to(CHECKOUT / "kneewear")


def test_named_columns_in_any_order_and_unit_are_one_pose(knee, study):
    expected = kw.evaluate_contact(knee, list(ABOVE.values()), study)
    assert (expected.active_elements > 0).any()
    table = pd.DataFrame([ABOVE])
    metres = table * ([0.001] * 3 + [180.0 / np.pi] * 3)
    clinical = pd.DataFrame(
        {
            "medial_lateral": [0.0],
            "flexion": [np.degrees(0.1)],
            "varus": [0.0],
            "rotation": [np.degrees(0.05)],
            "anterior_posterior": [0.0],
            "superior_inferior": [28.0],
        }
    )
    for found in (
        kw.evaluate_contact(knee, table[list(reversed(ABOVE))], study),
        kw.evaluate_contact(knee, metres, study, units=("m", "deg")),
        kw.evaluate_contact(knee, clinical, study, convention="body-123", units=("mm", "deg")),
    ):
        np.testing.assert_allclose(found.force, expected.force, rtol=1e-9)


POSE = np.array(list(ABOVE.values()))


@pytest.mark.parametrize(
    ("poses", "error"),
    [
        (np.tile(POSE, (6, 1)).T, ValueError),  # heights for angles
        (np.empty((0, 6)), ValueError),
        (POSE + 0j, TypeError),
        (POSE.astype(object), TypeError),
        (POSE > 0, TypeError),
        (np.ma.masked_equal(POSE, 28.0), TypeError),
        (POSE.astype("datetime64[s]"), TypeError),
        (pd.DataFrame([POSE]), ValueError),
        (pd.DataFrame([ABOVE]).rename(columns={"varus": "valgus"}), ValueError),
        (xr.DataArray(POSE), TypeError),
        (POSE - np.array([0.0, 20.0, 0, 0, 0, 0]), ValueError),  # deeper than the layer
    ],
)
def test_odd_poses_are_refused(poses, error, knee, study):
    with pytest.raises(error):
        kw.evaluate_contact(knee, poses, study)


def write_study(folder, damage):
    """Folder of a study with two batches of wear and contact."""
    for name in ("wear/b000", "wear/b001", "simulation/gait/b000", "simulation/gait/b001"):
        with atomic_path(folder / f"{name}.nc") as temporary:
            damage.drop_attrs().to_netcdf(temporary, engine="h5netcdf")
    save_table(pd.DataFrame({"case": ["a"]}), folder / "tables/cases.csv")


def test_results_that_are_not_whole_are_refused(damage, tmp_path):
    write_study(tmp_path, damage)
    kw.open_results(tmp_path).dataset("wear/b000.nc")
    file = tmp_path / "wear/b001.nc"
    whole = file.read_bytes()
    for content in (whole[:-1000], whole[:-1] + b"x"):
        file.write_bytes(content)
        assert refused_at(kw.open_results(tmp_path).dataset, "wear/b*.nc") == "b001.nc"
    file.unlink()
    assert refused_at(kw.open_results, tmp_path) == tmp_path.name


def arrays_in(value):
    """Arrays of a value object and of those within it, but not those of kernels."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from arrays_in(part)
    elif is_dataclass(value):
        for part in fields(value):
            yield from arrays_in(getattr(value, part.name))


def test_arrays_of_surfaces_and_meshes_are_read_only(knee):
    mesh = TriangleMesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    covered = Coverage(np.zeros((3, 2, 2)))
    found = list(arrays_in({"knee": knee, "mesh": mesh, "covered": covered}))
    assert len(found) > 20
    assert not any(array.flags.writeable for array in found)


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((3, 3)),
        2.0 * np.eye(3),
        np.diag([1.0, 1.0, -1.0]),
        np.eye(3) + 0.01,
        np.eye(2),
        np.array([0.1, 0.2, 0.3]),
    ],
)
def test_matrices_that_are_no_rotations_are_refused(matrix, knee, study):
    pairs = build_pairs(knee, study.simulation)
    layers = build_layers(knee.grid, pairs, 8.0, study.simulation)
    with pytest.raises(ValueError, match="rotation"):
        pairs[0].evaluate(matrix, np.zeros(3), layers[0])
    pairs[0].evaluate(np.eye(3), np.array([0.0, 90.0, 0.0]), layers[0])


@pytest.mark.parametrize("name", ["provenance.json", "report/summary.json", "wear/b000.nc"])
def test_foreign_results_are_refused_by_name(name, damage, tmp_path):
    write_study(tmp_path, damage)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    contents = (b"{}", b"[]", b"null", b"\x89HDF\r\n", b"")
    for call, content in product((kw.open_results, kw.compare), contents):
        path.write_bytes(content)
        try:
            found = call(tmp_path)
            if call is kw.open_results:
                _ = found.damage
        except KneewearError as error:
            assert str(tmp_path) in str(error)


def test_poses_that_never_touch_are_reported(knee, study, caplog):
    apart = ABOVE | {"superior": 0.028}
    assert float(abs(kw.evaluate_contact(knee, list(apart.values()), study).force).max()) == 0.0
    assert [one.levelname for one in caplog.records] == ["WARNING"]


@pytest.mark.parametrize(
    "change",
    [
        lambda history: history.isel(frame=slice(None, None, 2)),
        lambda history: history.isel(frame=slice(1, None)),
        lambda history: history.isel(frame=slice(None, None, -1)),
        lambda history: xr.concat([history, history], "case", data_vars="minimal"),
    ],
    ids=["every second frame", "without the first", "backwards", "a case twice"],
)
def test_cycles_whose_frames_or_cases_were_changed_are_refused(change, cycles, damage, study):
    histories = {name: change(history) for name, history in cycles.histories.items()}
    changed = replace(cycles, histories=histories)
    with pytest.raises(ValueError):
        kw.accumulate_wear(changed, study)
    with pytest.raises(ValueError):
        kw.tabulate_cases(changed, damage, study)


def test_damage_with_a_case_twice_is_refused(cycles, damage, study):
    twice = xr.concat([damage, damage], "case", data_vars="minimal", coords="minimal")
    with pytest.raises(ValueError):
        kw.tabulate_cases(cycles, twice.assign_attrs(damage.attrs), study)


def test_forces_that_no_knee_bears_are_warned_of(knee, study, caplog):
    lowered = [list((ABOVE | {"superior": height}).values()) for height in (28.15, 27.0)]
    for poses, expected in ((lowered[:1], 0), (lowered, 1)):
        caplog.clear()
        contact = kw.evaluate_contact(knee, poses, study)
        forces = np.linalg.norm(contact.force.sum("side"), axis=-1)
        assert ((forces > 5000.0).sum(), len(caplog.records)) == (expected, expected)
    assert caplog.records[0].args[0].check == "contact.pose_force"
    assert caplog.records[0].args[0].where == "pose 1"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, set()),
        ({"simulation": {"youngs_modulus_mpa": 46.3}}, {"settings.modulus"}),
        (
            {
                "simulation": {"youngs_modulus_mpa": 46.3},
                "checks": {"ignore": ["settings.modulus"]},
            },
            set(),
        ),
        ({"variables": {"body_mass_kg": [75, 400]}}, {"patient.mass"}),
        (
            {"patient": {"body_mass_kg": 400}, "checks": {"ignore": ["patient.mass"]}},
            {"patient.body_mass_kg"},
        ),
    ],
    ids=["usual", "unusual", "ignored", "a level", "the use is ignored"],
)
def test_settings_opened_from_python_are_judged_as_by_the_command_line(change, expected, caplog):
    kw.load_study("quick", change)
    assert {one.levelname for one in caplog.records} <= {"WARNING"}
    assert {one.args[0].check for one in caplog.records} == expected
