"""How surfaces were fitted comes back from its file."""

from __future__ import annotations

import numpy as np

from kneewear import default_study
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.implant_sources import build_implant
from kneewear.io import netcdf
from tests.geometry.solids import closed_femoral, closed_insert


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


def test_extractions_come_back(tmp_path):
    given = {
        "insert": extract_plateaus(closed_insert(20)),
        "femoral": extract_condyles(closed_femoral(30)),
    }
    netcdf.save(GeometryRecord((), given), tmp_path / "fit.nc")
    loaded = netcdf.load(GeometryRecord, tmp_path / "fit.nc").extractions
    assert list(loaded) == ["insert", "femoral"]
    for part, extraction in given.items():
        np.testing.assert_array_equal(loaded[part].kept, extraction.kept)
        np.testing.assert_array_equal(loaded[part].sheet.vertices, extraction.sheet.vertices)
        np.testing.assert_array_equal(loaded[part].sheet.faces, extraction.sheet.faces)
