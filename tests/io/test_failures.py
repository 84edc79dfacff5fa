"""Cases that failed, from history to file and table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from kneewear.io import netcdf
from kneewear.settings.cases import Case
from kneewear.simulation.history import (
    ContactHistory,
    Failure,
    keep_common,
    tabulate_failures,
)
from tests.physics.bodies import SMALL, gait_study

CASES = Case("thin", 6.0, 75.0), Case("thick", 10.0, 75.0)
LOST = Failure(Case("lost", 8.0, 300.0), "Case lost: no balance", 4, 0.2)


@pytest.fixture(scope="module")
def history():
    return replace(gait_study(*SMALL).run(*CASES), failures=(LOST,))


def test_failures_are_stored_and_joined(history, tmp_path):
    netcdf.save(history, tmp_path / "b000.nc")
    netcdf.save(history.select(["thick"]), tmp_path / "b001.nc")
    read = netcdf.load(ContactHistory, [tmp_path / "b000.nc", tmp_path / "b001.nc"])
    assert read.failures == (LOST, LOST)
    assert [case.name for case in read.cases] == ["thin", "thick", "thick"]
    assert read.analysis == "quasi_static"


def test_a_history_of_failures_only_is_stored(history, tmp_path):
    none = history.select([])
    netcdf.save(none, tmp_path / "b000.nc")
    read = netcdf.load(ContactHistory, tmp_path / "b000.nc")
    assert read.cases == ()
    assert read.failures == (LOST,)
    assert read.pressure.shape == (0, *history.pressure.shape[1:])


def test_one_case_is_read_alone(history, tmp_path):
    netcdf.save(history, tmp_path / "b000.nc")
    read = netcdf.load(ContactHistory, tmp_path / "b000.nc", only={"case": ["thick", "lost"]})
    assert read.cases == CASES[1:]
    assert np.array_equal(read.pressure, history.pressure[1:])
    assert np.array_equal(read.percent, history.percent)
    for name, cases in (("thick", CASES[1:]), ("lost", ())):
        assert netcdf.load(ContactHistory, tmp_path / "b000.nc", only={"case": name}).cases == cases


def test_a_life_keeps_cases_that_finished_in_all_activities(history):
    stairs = replace(history.select(["thick"]), activity="stairs")
    common = keep_common([history, stairs])
    assert list(common) == ["gait", "stairs"]
    assert all(one.cases == CASES[1:] for one in common.values())


def test_failures_are_tabulated():
    table = tabulate_failures([("gait", LOST)])
    assert table.to_dict("records") == [
        {
            "activity": "gait", "case": "lost", "thickness_mm": 8.0, "body_mass_kg": 300.0,
            "frame": 4, "residual": 0.2, "reason": "Case lost: no balance",
        }
    ]  # fmt: skip
    assert tabulate_failures([]).empty


def test_cases_written_one_at_a_time_are_read_as_if_at_once(history, tmp_path):
    failed = replace(history.select([]), failures=(LOST,))
    parts = [failed, *(replace(history.only(one.name), failures=()) for one in CASES)]
    netcdf.save_joined(iter(parts), tmp_path / "each.nc")
    netcdf.save(history, tmp_path / "once.nc")
    each, once = (netcdf.load(ContactHistory, tmp_path / f"{n}.nc") for n in ("each", "once"))
    assert (each.cases, each.failures) == (once.cases, once.failures)
    for name, array in vars(once).items():
        np.testing.assert_array_equal(getattr(each, name), array, err_msg=name)
    with xr.open_dataset(tmp_path / "each.nc", engine="h5netcdf") as data:
        assert data.pressure.dims == ("case", "frame", "side", "row", "column")
        assert data.pressure.units == "MPa"


def test_files_are_read_case_by_case_without_those_missing_in_one(history, tmp_path):
    stairs = replace(history.select(["thick"]), activity="stairs")
    netcdf.save(history, tmp_path / "gait.nc")
    netcdf.save(stairs, tmp_path / "stairs.nc")
    paths = [tmp_path / "gait.nc", tmp_path / "stairs.nc"]
    ((first, second),) = netcdf.load_cases(ContactHistory, paths)
    assert first.cases == second.cases == CASES[1:]
    assert (first.activity, second.activity) == ("gait", "stairs")
    np.testing.assert_array_equal(first.pressure, history.pressure[1:])
    (alone,) = next(netcdf.load_cases(ContactHistory, paths[:1]))
    assert alone.cases == CASES[:1]


def test_histories_of_several_batches_are_joined_by_activity(history):
    parts = [history.only(case.name) for case in CASES]
    (joined,) = keep_common(parts).values()
    assert joined.cases == CASES
    np.testing.assert_array_equal(joined.slip, history.slip)
