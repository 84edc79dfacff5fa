"""Deviations and extractions come back from their files."""

from __future__ import annotations

import numpy as np

from kneewear import default_study
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.implant_sources import build_implant
from kneewear.io.deviation import load_deviation, save_deviation
from kneewear.io.extraction import load_extractions, save_extractions
from tests.geometry.solids import closed_femoral, closed_insert


def test_deviations_come_back(tmp_path):
    _, quality = build_implant(default_study().implant)
    save_deviation(quality, tmp_path / "deviation.nc")
    loaded = {(fit.component, fit.side): fit for fit in load_deviation(tmp_path / "deviation.nc")}
    assert len(loaded) == 4
    for fit in quality:
        same = loaded[fit.component, fit.side]
        assert same.row() == fit.row()
        np.testing.assert_array_equal(same.points, fit.points)
        np.testing.assert_array_equal(same.deviation, fit.deviation)


def test_extractions_come_back(tmp_path):
    given = {
        "insert": extract_plateaus(closed_insert(20)),
        "femoral": extract_condyles(closed_femoral(30)),
    }
    save_extractions(given, tmp_path / "extraction.nc")
    loaded = load_extractions(tmp_path / "extraction.nc")
    for part, extraction in given.items():
        np.testing.assert_array_equal(loaded[part].kept, extraction.kept)
        np.testing.assert_array_equal(loaded[part].sheet.vertices, extraction.sheet.vertices)
        np.testing.assert_array_equal(loaded[part].sheet.faces, extraction.sheet.faces)
