"""A left knee called right is detected where its shape shows it."""

from __future__ import annotations

import pytest

from kneewear.geometry.mesh_checks import (
    check_femoral,
    check_femoral_side,
    check_insert,
    check_insert_side,
)
from kneewear.geometry.meshes import to_knee_axes
from tests.geometry.solids import RIGHT, closed_femoral, closed_insert, other_knee
from tests.refusals import refusal, refused_at

BACKWARDS = {"x": "anterior", "y": "superior", "z": "lateral"}
CHECKS = {
    "insert": (check_insert, check_insert_side),
    "femoral": (check_femoral, check_femoral_side),
}
PARTS = {"insert": closed_insert, "femoral": closed_femoral}


def checked(part, mesh, axes=RIGHT, knee="right"):
    mesh = to_knee_axes(mesh, "mm", axes, knee)
    for check in CHECKS[part]:
        check(mesh, knee) if check is CHECKS[part][1] else check(mesh)


@pytest.mark.parametrize("part", PARTS)
def test_left_knees_pass_as_left_ones(part):
    # In a left knee's file +z is lateral when +x is posterior.
    checked(part, other_knee(PARTS[part]()), {**RIGHT, "z": "lateral"}, "left")


@pytest.mark.parametrize(
    ("part", "found"),
    [("insert", "lateral plateau .* mm longer"), ("femoral", "leans .* to the medial side")],
)
def test_a_left_knee_called_right_is_refused(part, found):
    refusal(checked, part, other_knee(PARTS[part]()))


@pytest.mark.parametrize(
    ("part", "place"), [("insert", "insert mesh, knee"), ("femoral", "femoral mesh, knee")]
)
def test_a_component_that_runs_backwards_is_refused(part, place):
    assert refused_at(checked, part, PARTS[part](), BACKWARDS) == place


def test_symmetric_components_fit_both_knees():
    for part, mesh in (
        ("insert", closed_insert(notch=0.0, longer=0.0)),
        ("femoral", closed_femoral(lean=0.0)),
    ):
        checked(part, mesh)
        checked(part, other_knee(mesh))
