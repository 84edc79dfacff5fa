"""Equilibrium: the load is balanced at every frame, side by side, and what is written adds up."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.errors import ConvergenceError
from kneewear.geometry.element_grid import covered_area
from tests.physics.bodies import CASES, MODULUS, gait_study, pose_of

# Bodies' weights are turned into newtons with g = 9.81 m/s2.
GRAVITY = 9.81


@cache
def solved(load_line="solved", direction="minimum_distance"):
    study = gait_study().with_settings(load_line=load_line, force_direction=direction)
    return study, study.arrays(*CASES)


def recomputed(study, history, case, frame, side):
    """Forces (n, 3) on the femur and their positions, from written pressures and exact normals.

    Pressure acts along the femoral normal at the point nearest each element.
    """
    rotation, translation = pose_of(history, frame, case)
    pressure = history.pressure[case, frame, side].astype(float)
    on = pressure > 0
    position = study.grid.centre[side][on]
    normal = study.implant.femoral[history.sides[side]].closest_points(
        (position - translation) @ rotation
    )[3]
    push = pressure[on] * study.grid.area[side][on]
    return -push[:, None] * (normal @ rotation.T), position


def every(history):
    cases, frames, sides = history.max_pressure.shape
    return ((c, f, s) for c in range(cases) for f in range(frames) for s in range(sides))


# Pressures are written in single precision: each is rounded by up to 6e-8 of itself.
WRITTEN = 1e-6


@pytest.mark.parametrize("load_line", ["solved", "fixed"])
@pytest.mark.parametrize("direction", ["minimum_distance", "mid_surface"])
def test_load_is_balanced_at_every_frame(load_line, direction):
    study, history = solved(load_line, direction)
    weight = np.array([case.body_mass for case in CASES]) * GRAVITY
    assert history.load == pytest.approx(weight[:, None] * study.activity.load, rel=1e-12)
    contact = -history.force.sum(axis=2)
    # The acceptance's own limits: 1e-6 of the load, and of the load x 1 mm.
    assert np.max(np.abs(contact[..., 1] / history.load - 1.0)) < 1e-6
    assert np.max(np.abs(contact[..., 2] / history.load)) < 1e-6
    moment = -history.torque.sum(axis=2) - np.cross(history.translation, contact)
    arm = history.load_line - history.translation[..., 2]
    # Load (0, -L, 0) at z = load_line turns by +arm L about the x axis through the femoral origin.
    assert np.max(np.abs((moment[..., 0] + arm * history.load) / history.load)) < 1e-6
    assert (history.residual <= study.settings.tolerance).all()


def test_solved_line_gives_each_side_its_share():
    study, history = solved()
    up = -history.force[..., 1] / history.load[..., None]
    share = study.settings.medial_share
    assert np.max(np.abs(up - [share, 1.0 - share])) < 1e-6


def test_measured_share_is_carried_at_every_frame():
    study = gait_study()
    frames = study.activity.load.size
    share = 0.5 + 0.48 * np.sin(2 * np.pi * np.arange(frames) / frames)
    measured = replace(study, activity=replace(study.activity, medial_share=share))
    # A measured share goes before the settings.
    history = measured.with_settings(load_line="fixed").arrays(CASES[0])
    up = -history.force[0, :, 0, 1] / history.load[0]
    assert np.max(np.abs(up - share)) < 1e-6


def test_measured_moment_is_the_load_line_of_every_frame():
    study = gait_study()
    frames = study.activity.load.size
    line = 6.0 + 4.0 * np.sin(2 * np.pi * np.arange(frames) / frames)
    measured = replace(study.activity, varus_moment=line * study.activity.load)
    history = replace(study, activity=measured).arrays(CASES[0])
    np.testing.assert_allclose(history.load_line[0], line, rtol=1e-12)
    moment = -history.torque.sum(axis=2)[0, :, 0]
    upward = -history.force.sum(axis=2)[0]
    height = history.centre_of_pressure[0, ..., 1].mean()
    # About the insert's origin, friction and sideways forces aside, the moments are equal.
    assert np.max(np.abs(moment + line * upward[:, 1])) < 1e-3 * abs(height * upward[:, 1]).max()


def test_solved_line_passes_between_the_centres_of_pressure():
    _, history = solved()
    medial, lateral = history.centre_of_pressure[..., 2].swapaxes(0, -1).swapaxes(1, 2)
    assert (history.load_line < medial).all()
    assert (history.load_line > lateral).all()


@pytest.mark.compiled
def test_fixed_line_stays_and_its_share_is_found():
    study, history = solved("fixed")
    assert (history.load_line == study.settings.fixed_load_line_mm).all()
    # Running with the mean of the solved lines as the fixed one gives about the share asked for.
    _, free = solved()
    fixed = study.with_settings(fixed_load_line_mm=float(free.load_line.mean())).arrays(CASES[0])
    share = -fixed.force[..., 0, 1] / fixed.load
    assert share.mean() == pytest.approx(study.settings.medial_share, abs=0.02)


def test_written_resultants_are_the_sums_of_written_pressures():
    study, history = solved()
    for case, frame, side in every(history):
        force, position = recomputed(study, history, case, frame, side)
        scale = history.load[case, frame]
        on_insert = -force.sum(axis=0)
        assert np.max(np.abs(on_insert - history.force[case, frame, side])) < WRITTEN * scale
        torque = np.cross(position, -force).sum(axis=0)
        # Levers are up to 40 mm.
        assert np.max(np.abs(torque - history.torque[case, frame, side])) < 40 * WRITTEN * scale


def test_femur_and_insert_feel_opposite_forces_and_reactions_are_what_is_left():
    study, history = solved()
    for case, frame in np.ndindex(history.load.shape):
        load = history.load[case, frame]
        origin = history.translation[case, frame]
        parts = [recomputed(study, history, case, frame, side) for side in (0, 1)]
        force = sum(f.sum(axis=0) for f, _ in parts)
        moment = sum(np.cross(p - origin, f).sum(axis=0) for f, p in parts)
        hung = np.array([0.0, 0.0, history.load_line[case, frame]]) - [0.0, 0.0, origin[2]]
        pull = np.array([0.0, -load, 0.0])
        left = -(force + pull), -(moment + np.cross(hung, pull))
        assert np.max(np.abs(left[0] - history.reaction_force[case, frame])) < WRITTEN * load
        assert np.max(np.abs(left[1] - history.reaction_moment[case, frame])) < 40 * WRITTEN * load
    # Free directions have no driver, held ones do.
    scale = history.load[..., None]
    assert np.max(np.abs(history.reaction_force[..., 1:] / scale)) < 1e-6
    assert np.max(np.abs(history.reaction_moment[..., :1] / scale)) < 1e-6
    assert np.max(np.abs(history.reaction_moment[..., 1:] / scale)) > 1e-3


def test_frame_values_are_those_of_the_pressures():
    study, history = solved()
    pressure = history.pressure.astype(float)
    on = pressure > 0
    # Single precision again.
    assert history.max_pressure == pytest.approx(pressure.max(axis=(-1, -2)), rel=WRITTEN)
    assert (history.active_elements == on.sum(axis=(-1, -2))).all()
    carried = pressure * np.nan_to_num(study.grid.area)
    mean = carried.sum(axis=(-1, -2)) / history.contact_area
    assert history.avg_pressure == pytest.approx(mean, rel=WRITTEN)
    area = [
        covered_area(*parts)
        for frame in pressure[0]
        for parts in zip(frame, study.grid.area, strict=True)
    ]
    # Pressure over penetration varies with the thickness; contacts are of few elements.
    assert history.contact_area[0].ravel() == pytest.approx(area, rel=0.01)
    centre = np.einsum("cfsij,sijk->cfsk", carried, np.nan_to_num(study.grid.centre))
    centre /= carried.sum(axis=(-1, -2))[..., None]
    assert np.max(np.abs(centre - history.centre_of_pressure)) < 40 * WRITTEN
    for number, case in enumerate(CASES):
        thickness = study.grid.case_thickness(case.thickness)
        depth = np.nanmax(pressure[number] * thickness, axis=(-1, -2)) / MODULUS
        assert history.max_penetration[number] == pytest.approx(depth, rel=WRITTEN)


def test_slip_is_written_only_under_load():
    _, history = solved()
    assert (history.slip[history.pressure == 0] == 0).all()
    assert (np.linalg.norm(history.slip[history.pressure > 0], axis=-1) > 0).mean() > 0.99


@pytest.mark.compiled
def test_a_case_does_not_depend_on_its_neighbours():
    study, history = solved()
    for number, case in enumerate(CASES):
        alone = study.arrays(case)
        # Each case starts from its own settled pose: the same bits.
        assert np.array_equal(alone.pressure[0], history.pressure[number])
        assert np.array_equal(alone.translation[0], history.translation[number])


def test_medial_lateral_spring_pulls_towards_its_rest_and_is_reported():
    study = gait_study().with_settings(medial_lateral_spring_per_mm=0.02)
    history = study.arrays(CASES[0])
    rest = study.activity.translation[:, 2].mean()
    expected = -0.02 * history.load * (history.translation[..., 2] - rest)
    assert history.spring_force == pytest.approx(expected, rel=1e-12, abs=1e-9)
    sideways = -history.force[..., 2].sum(axis=2) + history.spring_force
    assert np.max(np.abs(sideways / history.load)) < 1e-6


@pytest.mark.parametrize(
    ("first", "second"),
    [((6.0, 71.0), (14.0, None)), ((8.0, 125.0), (12.0, None)), ((6.0, 150.0), (8.0, None))],
)
def test_foundation_of_even_thickness_scales(first, second):
    """p (h + h0) and the area depend on M (h + h0) only (findings, section 1)."""
    study = gait_study()
    extra = 1.1
    even = np.full_like(study.grid.thickness, study.grid.nominal_thickness + extra)
    study = replace(study, grid=replace(study.grid, thickness=even))
    thin = Case("thin", *first)
    mass = first[1] * (first[0] + extra) / (second[0] + extra)
    # Each is solved on its own.
    one, other = study.arrays(thin), study.arrays(Case("thick", second[0], mass))
    local = first[0] + extra, second[0] + extra
    for name in ("max_pressure", "avg_pressure"):
        scaled = getattr(one, name) * local[0], getattr(other, name) * local[1]
        assert scaled[0] == pytest.approx(scaled[1], rel=1e-6)
    assert np.array_equal(one.active_elements, other.active_elements)
    assert one.contact_area == pytest.approx(other.contact_area, rel=1e-6)
    pressures = one.pressure * local[0], other.pressure * local[1]
    assert np.max(np.abs(pressures[0] - pressures[1])) < 1e-6 * np.max(pressures[0])
    assert one.translation == pytest.approx(other.translation, abs=1e-6)


@pytest.mark.compiled
def test_pressure_rises_with_mass_and_falls_with_thickness():
    history = gait_study().arrays(*(Case(f"{t}_{m}", t, m) for t in (6, 14) for m in (50, 150)))
    peak = history.max_pressure.max(axis=(1, 2)).reshape(2, 2)
    area = history.contact_area.max(axis=(1, 2)).reshape(2, 2)
    assert (np.diff(peak, axis=1) > 0).all()
    assert (np.diff(peak, axis=0) < 0).all()
    assert (np.diff(area, axis=1) > 0).all()
    assert (np.diff(area, axis=0) > 0).all()


@pytest.mark.slow
def test_a_load_beside_the_bearing_is_refused_with_case_and_frame():
    study = gait_study().with_settings(load_line="fixed", fixed_load_line_mm=60.0)
    with pytest.raises(ConvergenceError) as caught:
        study.run(CASES[0])
    assert caught.value.frame is not None
