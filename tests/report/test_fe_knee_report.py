"""Figures, view and page of a dynamic knee."""

from __future__ import annotations

import base64
import gzip

import numpy as np
import pytest

from kneewear.report.fe_knee import draw_knee, knee_view, stress_top
from kneewear.report.page import citations, render_page
from kneewear.studies.fe_knee.bones import build_bones
from kneewear.studies.fe_knee.run import run_knee
from kneewear.studies.fe_knee.statements import knee_statements
from tests.fe_knee.knees import small_study


@pytest.fixture(scope="module", params=[True, False], ids=["rods", "no rods"])
def knee(request):
    study = small_study({"steps": 14} | ({} if request.param else {"rods": None}))
    bones = build_bones(study.fe_knee.bones)
    return study, bones, run_knee(bones, study.fe_knee)


def unpacked(text, kind):
    return np.frombuffer(gzip.decompress(base64.b64decode(text)), dtype=kind)


def test_view_has_the_positions_of_every_frame_anterior_superior_lateral(knee):
    frames = knee[2].frames
    view = knee_view(frames)
    assert len(view["points"]) == len(view["stress"]) == len(view["labels"]) == len(frames.time)
    found = unpacked(view["points"][-1], np.float32).reshape(-1, 3)
    np.testing.assert_allclose(found * [-1.0, 1.0, -1.0], frames.positions[-1], rtol=1e-5)
    np.testing.assert_array_equal(
        unpacked(view["triangles"], np.uint32).reshape(-1, 3), frames.triangles
    )
    levels = unpacked(view["stress"][-1], np.uint8)
    assert levels.size == frames.positions.shape[1]
    assert view["top"] == stress_top(frames) > 0.0


def test_figures_are_drawn_with_and_without_rods(knee):
    history, frames = knee[2].history, knee[2].frames
    figures = draw_knee(history, frames)
    assert set(figures) == {"knee_frames", "knee_energy", "knee_contact", "knee_solvers"}
    curves = figures["knee_contact"].axes
    assert len(curves) == (3 if knee[0].fe_knee.rods else 2)


def test_page_states_what_was_found(knee):
    study, bones, run = knee
    tables = {
        "knee_statements": knee_statements(run, bones, study.fe_knee),
        "knee_history": run.history,
        "knee_meshes": run.meshes,
    }
    settings = study.model_dump(mode="json")
    provenance = {"versions": {"kneewear": "1.0"}}
    texts = {
        part: render_page(
            "fe_knee", settings, tables, {}, provenance=provenance, defaults=settings, part=part,
            view=knee_view(run.frames) if part == "page" else None, files={},
        )
        for part in ("page", "appendix", "summary")
    }  # fmt: skip
    assert "First contact with the obstacle" in texts["page"]
    assert "frames-data" in texts["page"]
    assert "Least mean ratio" in texts["appendix"]
    assert "Deuflhard, P. (2012)" in texts["appendix"]
    assert ("no ligaments" in texts["appendix"] + texts["page"]) == (study.fe_knee.rods is None)


def test_tetrahedra_are_cited_where_bones_have_been_filled_with_them(knee):
    settings = knee[0].model_dump(mode="json")
    assert not citations(settings)["use"].str.contains("Tetrahedra").any()
    settings["fe_knee"]["bones"]["source"] = "natural"
    assert citations(settings)["use"].str.contains("Tetrahedra").any()
