"""Records of surface fits come back from their file."""

from __future__ import annotations

import numpy as np

from kneewear import default_study
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.implant_sources import build_implant
from kneewear.study import netcdf


def test_deviations_come_back(tmp_path):
    _, record = build_implant(default_study().implant)
    netcdf.save(record, tmp_path / "fit.nc")
    loaded = netcdf.load(GeometryRecord, tmp_path / "fit.nc")
    assert loaded.extractions is None
    assert len(loaded.fit_quality) == 4
    for fit, same in zip(record.fit_quality, loaded.fit_quality, strict=True):
        assert same.row() == fit.row()
        np.testing.assert_array_equal(same.points, fit.points)
        np.testing.assert_array_equal(same.deviation, fit.deviation)
