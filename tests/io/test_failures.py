"""Cases that failed, from history to file and table."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.base.schemas import CONTACT
from kneewear.motion.history import (
    Failure,
    cases_of,
    failure_attribute,
    failures_of,
    keep_common,
    select_cases,
)
from kneewear.study import netcdf
from tests.physics.bodies import SMALL, gait_study

CASES = Case("thin", 6.0, 75.0), Case("thick", 10.0, 75.0)
LOST = Failure(Case("lost", 8.0, 300.0), "Case lost: no balance", 4, 0.2)


@pytest.fixture(scope="module")
def history():
    return gait_study(*SMALL).run(*CASES).assign_attrs(failure_attribute((LOST,)))


def test_failures_are_stored_and_joined(history, tmp_path):
    netcdf.save(history, tmp_path / "b000.nc")
    netcdf.save(select_cases(history, ["thick"]), tmp_path / "b001.nc")
    read = netcdf.load(CONTACT, [tmp_path / "b000.nc", tmp_path / "b001.nc"])
    assert failures_of(read) == (LOST, LOST)
    assert read["case"].values.tolist() == ["thin", "thick", "thick"]
    assert read.attrs["analysis"] == "quasi_static"


def test_a_life_keeps_cases_that_finished_in_all_activities(history):
    stairs = select_cases(history, ["thick"]).assign_attrs(activity="stairs")
    common = keep_common([history, stairs])
    assert list(common) == ["gait", "stairs"]
    assert all(cases_of(one) == CASES[1:] for one in common.values())


def test_files_are_read_case_by_case_without_those_missing_in_one(history, tmp_path):
    stairs = select_cases(history, ["thick"]).assign_attrs(activity="stairs")
    netcdf.save(history, tmp_path / "gait.nc")
    netcdf.save(stairs, tmp_path / "stairs.nc")
    paths = [tmp_path / "gait.nc", tmp_path / "stairs.nc"]
    ((first, second),) = netcdf.load_cases(CONTACT, paths)
    assert cases_of(first) == cases_of(second) == CASES[1:]
    assert (first.attrs["activity"], second.attrs["activity"]) == ("gait", "stairs")
    np.testing.assert_array_equal(first.pressure, history.pressure[1:])
    (alone,) = next(netcdf.load_cases(CONTACT, paths[:1]))
    assert cases_of(alone) == CASES[:1]
