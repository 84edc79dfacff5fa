"""The distance table's file."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.study import netcdf
from tests.physics.bodies import sphere
from tests.refusals import refused_at


@pytest.fixture(scope="module")
def tables():
    return {
        "medial": build_distance_table(sphere(25.0), 1e-4),
        "lateral": build_distance_table(sphere(22.0), 1e-4),
    }


@pytest.mark.compiled
def test_tables_come_back_as_they_were(tables, tmp_path):
    for side, table in tables.items():
        netcdf.save(table, tmp_path / f"{side}.nc")
        again = netcdf.load(DistanceTable, tmp_path / f"{side}.nc")
        assert again.quality == table.quality
        assert (again.depth, again.outside) == (table.depth, table.outside)
        for name, array in table.arrays._asdict().items():
            stored = getattr(again.arrays, name)
            assert stored.dtype == array.dtype, name
            assert np.array_equal(stored, array), name


def test_another_file_is_refused(tmp_path):
    other = xr.Dataset(attrs={"kneewear_file": "surface table"})
    other.to_netcdf(tmp_path / "distance_table.nc", engine="h5netcdf")
    assert (
        refused_at(netcdf.load, DistanceTable, tmp_path / "distance_table.nc")
        == "distance_table.nc"
    )
