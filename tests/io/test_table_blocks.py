"""The surface table's file: equal blocks that are read in any order."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from benchmarks.sample_blocks import open_window, save_samples
from kneewear.errors import InputDataError
from kneewear.geometry.table import SurfaceTable, tabulate_surface
from kneewear.io import netcdf
from tests.physics.bodies import sphere


@pytest.fixture(scope="module")
def tables():
    """Two tables of 41 x 30 samples: 5 x 4 blocks, the last ones not full."""
    return {
        "medial": tabulate_surface(sphere(30.0), 41, 30),
        "lateral": tabulate_surface(sphere(25.0), 41, 30),
    }


@pytest.fixture
def path(tables, tmp_path):
    save_samples(tables, tmp_path / "table.nc", (9, 9))
    return tmp_path / "table.nc"


def test_a_block_of_81_points_has_9072_bytes_of_payload(path):
    with h5py.File(path) as file:
        for side in ("medial", "lateral"):
            rows = file["samples"][side]["rows"]
            assert rows.chunks == (9, 9, 14)
            stored = [rows.id.get_chunk_info(n).size for n in range(rows.id.get_num_chunks())]
            assert stored == [9072] * (5 * 4)


def test_extra_columns_survive_and_lengthen_the_blocks(tables, tmp_path):
    thickness = np.linspace(1.0, 3.0, 41 * 30).reshape(41, 30)
    wide = {side: table.with_columns(thickness_mm=thickness) for side, table in tables.items()}
    save_samples(wide, tmp_path / "table.nc", (9, 9))
    again = netcdf.load(SurfaceTable, tmp_path / "table.nc", "samples/lateral")
    assert again.columns[-1] == "thickness_mm"
    assert (again.column("thickness_mm") == thickness).all()
    with h5py.File(tmp_path / "table.nc") as file:
        assert file["samples/lateral/rows"].id.get_chunk_info(0).size == 81 * 15 * 8


@pytest.mark.parametrize("side", ["medial", "lateral"])
def test_a_window_on_the_file_gives_what_the_whole_table_gives(path, tables, side):
    table = tables[side]
    random = np.random.default_rng(3)
    with open_window(path, side) as window:
        for s, t in random.uniform(0, 1, (60, 2)):
            u = table.u[0] + s * np.ptp(table.u)
            v = table.v[0] + t * np.ptp(table.v)
            assert window.interpolate(u, v) == pytest.approx(table.interpolate(u, v), abs=1e-12)
            assert window.rows.shape[0] <= 27
            assert window.rows.shape[1] <= 27
    assert 1 < window.updates < 60


def test_a_window_on_nothing_says_what_is_missing(path, tmp_path):
    with pytest.raises(InputDataError, match="no file"), open_window(tmp_path / "no.nc", "medial"):
        pass
    with pytest.raises(InputDataError, match="side left"), open_window(path, "left"):
        pass
    (tmp_path / "torn.nc").write_bytes(path.read_bytes()[:3000])
    with (
        pytest.raises(InputDataError, match="content that cannot be used"),
        open_window(tmp_path / "torn.nc", "medial"),
    ):
        pass
