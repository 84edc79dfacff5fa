"""Studies on inserts that yield beside a measured insert."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import kneewear as kw
from kneewear.errors import InputDataError
from kneewear.io.documents import save_json
from kneewear.models.retrieval.lives import read_lifetime
from kneewear.models.retrieval.prediction import _cycles_that_yield


@pytest.fixture
def yielding(tmp_path: Path):
    """Study on an insert that yields, and a folder with its record."""
    material = {"plastic_strain": [0.0, 0.1], "yield_stress_mpa": [10.0, 30.0], "source": "a test"}
    simulation = {
        "analysis": "quasi_static",
        "contact": "coupled_layer",
        "material_yield": {**material, "permanent_share": 1.0},
    }
    study = kw.load_study("quick", {"simulation": simulation})
    save_json({"settings": study.model_dump(mode="json")}, tmp_path / "provenance.json")
    return study, tmp_path


def test_lives_of_an_insert_that_yields_are_refused(yielding) -> None:
    study, folder = yielding
    (case, *_), (life, *_) = study.variants()[0], study.wear.lives
    with pytest.raises(InputDataError) as error:
        read_lifetime(folder, case.name, life, 0.0)
    assert "material_yield" in error.value.finding.found


def test_cycles_with_the_dents_of_a_study_are_asked_for(yielding) -> None:
    study, folder = yielding
    (case, *_), (life, *_) = study.variants()[0], study.wear.lives
    maps = xr.Dataset(
        {"shares": (("life", "activity"), np.array([[1.0, 0.0]]))},
        {"life": [life], "activity": ["gait", "other"]},
    )
    with pytest.raises(InputDataError):
        _cycles_that_yield(folder, "b000.nc", maps, case, life)
    file = folder / "simulation/gait/b000.nc"
    file.parent.mkdir(parents=True)
    file.touch()
    assert _cycles_that_yield(folder, "b000.nc", maps, case, life) == [file]
