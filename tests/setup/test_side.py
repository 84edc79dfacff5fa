"""Side of an implant: what asymmetric shapes show is kept, and a contradiction is refused."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.io.mesh_formats import save_ply
from kneewear.setup.shapes import recognise_shapes
from tests.geometry.invented import rounded_femoral
from tests.geometry.solids import closed_insert


@pytest.fixture
def asymmetric(tmp_path, monkeypatch):
    """Files of a right knee whose medial plateau is longer than the lateral one."""
    monkeypatch.chdir(tmp_path)
    insert, femoral = closed_insert(n=60), rounded_femoral(n=50)
    longer = 1.0 + 0.3 * (insert.vertices[:, 2] > 5.0)
    save_ply(insert.vertices * np.stack([longer, longer**0, longer**0], 1), insert.faces, "i.ply")
    save_ply(femoral.vertices, femoral.faces, "f.ply")
    return ["i.ply"], ["f.ply"]


@pytest.mark.parametrize("given", [None, "right"])
def test_shapes_show_the_side(asymmetric, given):
    assert recognise_shapes("own", *asymmetric, knee=given).knee == "right"


def test_a_side_that_the_shapes_contradict_is_refused(asymmetric):
    with pytest.raises(InputDataError) as refused:
        recognise_shapes("own", *asymmetric, knee="left")
    assert refused.value.finding.check == "new.side"
