"""One evaluation for any multibody program: outputs, independence of history and of threads."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from scipy.spatial.transform import Rotation

from kneewear.base.sides import SIDES
from kneewear.contact._force_kernels import RESULT
from kneewear.contact._kernels import evaluate_pairs
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.traction import Damping, Friction
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from tests.contact.test_distance_table import tables
from tests.contact.test_traction import coefficient_of, damped_pressure
from tests.physics.bodies import CASES, gait_study, linear_layer, pose_of

ROOT = Path(__file__).parents[2]
VELOCITY = np.array([30.0, -4.0, 6.0, 0.2, -0.3, 1.0])
MOTION = {"friction": Friction(0.1, 0.06, 2.0), "damping": Damping(0.02)}


@cache
def history():
    return gait_study().arrays(CASES[1])


def knee(cells=None, source="search", reuse_tolerance=0.0, threads=1, **choices):
    """Both sides of the default implant."""
    study = gait_study()
    grid = build_grid(study.implant, *cells) if cells else study.grid
    pairs = {
        side: ContactPair(
            grid,
            n,
            surface,
            tabulate_surface(surface, 61, 31),
            distance_table=tables()[side] if source == "table" else None,
            **choices,
        )
        for n, (side, surface) in enumerate(study.implant.femoral.items())
    }
    thickness = grid.case_thickness(CASES[1].thickness)
    layers = {
        side: linear_layer(thickness[n].ravel()[pairs[side].index]) for n, side in enumerate(SIDES)
    }
    return ContactModel(pairs, layers, reuse_tolerance=reuse_tolerance, threads=threads), pairs


def numbers(result):
    """Everything a result holds, as bytes to compare."""
    return b"".join(
        array.tobytes()
        for part in result.values()
        for array in (part.wrench, part.stiffness, part.damping, part.element, part.pressure)
    )


@pytest.mark.compiled
@pytest.mark.parametrize("source", ["search", "table"])
def test_warm_cold_and_shuffled_poses_give_the_same_bits(source):
    poses = [pose_of(history(), frame) for frame in range(12)]
    model, _ = knee(source=source)
    warm = [numbers(model.evaluate(*pose)) for pose in poses]
    cold = []
    for pose in poses:
        model.reset()
        cold.append(numbers(model.evaluate(*pose)))
    assert cold == warm
    for number in np.random.default_rng(1).permutation(12):
        assert numbers(model.evaluate(*poses[number])) == warm[number]
    assert numbers(knee(source=source)[0].evaluate(*poses[3])) == warm[3]


@pytest.mark.compiled
@pytest.mark.parametrize("choices", [{}, {"search": "all"}, MOTION])
def test_result_does_not_depend_on_the_number_of_threads(choices):
    models = [knee((90, 70), threads=threads, **choices)[0] for threads in (1, 2, 3)]
    assert min(work.sums.size for work in models[0].work) > 3
    for frame in (0, 4, 8):
        pose = pose_of(history(), frame)
        found = [numbers(model.evaluate(*pose, VELOCITY)) for model in models]
        assert found[1] == found[0]
        assert found[2] == found[0]


def test_each_pair_alone_gives_what_the_model_gives():
    model, pairs = knee(**MOTION)
    pose = pose_of(history(), 2)
    together = model.evaluate(*pose, VELOCITY)
    thickness = gait_study().grid.case_thickness(CASES[1].thickness)
    for n, side in enumerate(SIDES):
        layer = linear_layer(thickness[n].ravel()[pairs[side].index])
        alone = pairs[side].evaluate(*pose, layer, VELOCITY)
        assert np.array_equal(alone.wrench, together[side].wrench)
    assert together.wrench == pytest.approx(sum(part.wrench for part in together.values()))
    assert list(together) == list(SIDES)
    assert len(together) == 2


@pytest.mark.compiled
@pytest.mark.parametrize("source", ["search", "table"])
def test_pressures_times_areas_along_their_lines_add_up_to_the_resultant(source):
    model, pairs = knee(source=source)
    for frame in range(12):
        rotation, translation = pose_of(history(), frame)
        for side, part in model.evaluate(rotation, translation).items():
            assert part.active_elements > 0
            # On the fixed body pressure acts along the line, on the moving one against it.
            forces = (part.pressure * part.area)[:, None] * part.direction
            positions = pairs[side].centre[part.element]
            scale = np.linalg.norm(part.force)
            assert part.force == pytest.approx(forces.sum(axis=0), abs=1e-12 * scale)
            torque = np.cross(positions, forces).sum(axis=0)
            assert part.torque == pytest.approx(torque, abs=1e-10 * scale)
            moment = -np.cross(positions - translation, forces).sum(axis=0)
            assert part.wrench[3:] == pytest.approx(moment, abs=1e-10 * scale)
            assert part.wrench[:3] == pytest.approx(-part.force)


def test_outputs_are_those_of_the_elements():
    model, pairs = knee()
    for side, part in model.evaluate(*pose_of(history(), 3)).items():
        assert part.max_pressure == part.pressure.max()
        # Whole elements count the area by chance, to within some per cent.
        assert part.contact_area == pytest.approx(part.area.sum(), rel=0.1)
        assert part.contact_area != part.area.sum()
        force = part.pressure @ part.area
        assert part.avg_pressure * part.contact_area == pytest.approx(force, rel=1e-13)
        assert part.max_penetration == part.penetration.max()
        assert part.active_elements == part.element.size == np.unique(part.element).size
        carried = part.pressure * part.area
        centre = carried @ pairs[side].centre[part.element] / carried.sum()
        assert part.centre_of_pressure == pytest.approx(centre, abs=1e-11)
        assert (part.penetration > 0).all()
        assert np.array_equal(part.area, pairs[side].area[part.element])
        assert np.isnan(part.slip_velocity).all()


def test_slip_velocity_is_that_of_the_moving_body_at_the_element():
    model, pairs = knee()
    rotation, translation = pose_of(history(), 3)
    for side, part in model.evaluate(rotation, translation, VELOCITY).items():
        pair, position = pairs[side], pairs[side].centre[part.element]
        velocity = VELOCITY[:3] + np.cross(VELOCITY[3:], position - translation)
        for column, tangent in enumerate((pair.tangent_row, pair.tangent_column)):
            along = (velocity * tangent[part.element]).sum(axis=1)
            assert part.slip_velocity[:, column] == pytest.approx(along, abs=1e-11)


def test_friction_and_damping_are_those_of_their_formulas():
    model, pairs = knee(**MOTION)
    friction, damping = MOTION["friction"], MOTION["damping"]
    rotation, translation = pose_of(history(), 3)
    for side, part in model.evaluate(rotation, translation, VELOCITY).items():
        position = pairs[side].centre[part.element]
        velocity = VELOCITY[:3] + np.cross(VELOCITY[3:], position - translation)
        line = part.direction
        rate = (velocity * line).sum(axis=1)
        slip = velocity - rate[:, None] * line
        speed = np.linalg.norm(slip, axis=1)
        pressure = damped_pressure(damping, part.pressure, rate)
        along = coefficient_of(friction, speed)[:, None] * slip / speed[:, None]
        force = ((pressure * part.area)[:, None] * (line + along)).sum(axis=0)
        # The surface's normals are of unit length.
        assert part.force == pytest.approx(force, abs=1e-9 * np.linalg.norm(force))


class TestReuse:
    def test_only_new_velocities_need_no_distances_and_change_no_bit(self):
        model, _ = knee(**MOTION)
        fresh, _ = knee(**MOTION)
        pose = pose_of(history(), 4)
        model.evaluate(*pose, VELOCITY)
        for factor in (-1.0, 0.3, 0.0):
            again = model.evaluate(*pose, factor * VELOCITY)
            assert sum(part.evaluated_elements for part in again.values()) == 0
            fresh.reset()
            assert numbers(again) == numbers(fresh.evaluate(*pose, factor * VELOCITY))

    def test_gives_the_last_result_again_within_the_tolerance_only(self):
        model, _ = knee(reuse_tolerance=1e-3)
        rotation, translation = pose_of(history(), 4)
        first = model.evaluate(rotation, translation)
        turn = Rotation.from_rotvec([1e-6, 0.0, 0.0]).as_matrix()
        for near in ((rotation, translation + 5e-4), (turn @ rotation, translation)):
            again = model.evaluate(*near)
            assert numbers(again) == numbers(first)
            assert sum(part.evaluated_elements for part in again.values()) == 0
        # Small steps do not add up: each is measured from the pose that was evaluated.
        for far in (1.1e-3, 2.2e-3):
            moved = model.evaluate(rotation, translation - [0.0, far, 0.0])
            assert sum(part.evaluated_elements for part in moved.values()) > 0


@pytest.mark.slow
def test_other_kernels_evaluate_a_model_themselves():
    model, _ = knee(source="table")

    @njit
    def lower(model, rotation, translation, forces):
        found, velocity = np.empty(2, RESULT), np.zeros(6)
        for step in range(forces.size):
            translation[1] -= 0.001
            evaluate_pairs(model, rotation, translation, velocity, False, found)
            forces[step] = found[0].wrench[1] + found[1].wrench[1]

    rotation, translation = pose_of(history(), 4)
    translation, forces = translation.copy(), np.empty(5)
    lower(model.record, np.ascontiguousarray(rotation), translation, forces)
    assert (np.diff(forces) > 0).all()
    last = model.evaluate(rotation, translation)
    assert forces[-1] == last.wrench[1]


@pytest.mark.compiled
def test_a_foreign_integrator_drops_a_component_onto_the_insert():
    path = ROOT / "examples" / "drop_component.py"
    spec = importlib.util.spec_from_file_location("drop_component", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    contact = example.prepare_contact()
    time, states = example.drop_component(contact)
    last = states[-1]
    rotation = Rotation.from_quat(last[3:7]).as_matrix()
    result = contact.evaluate(rotation, last[:3], last[7:])
    # It fell freely, touched, and came to rest on both condyles under the load.
    assert time[-1] == example.DURATION
    assert states[0, 1] - last[1] > 0.3
    assert result.wrench[:3] == pytest.approx(-example.LOAD, abs=0.01 * 500.0)
    assert all(part.active_elements > 10 for part in result.values())
    assert np.abs(states[:, 8]).max() > 10 * np.abs(last[7:10]).max()
