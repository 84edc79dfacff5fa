"""The coupled layer: analytical contacts, free ends against solids, energy and invariances."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kneewear.contact import hertz
from kneewear.contact.condensation import Condensation
from kneewear.contact.foundation import CoupledLayer, SmallStrain, confined_modulus
from kneewear.contact.influence import Influence, flat_influence
from kneewear.contact.material import Elastic, Strains
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.solid import graded_lines
from kneewear.contact.traction import Friction
from kneewear.evidence.fe_comparison.contact import ElasticSurface
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion import coupling
from kneewear.motion.coupling import insert_influence
from tests.contact.blocks import block, paraboloid
from tests.contact.bonded_layer import sphere_on_layer
from tests.contact.indenters import bumps
from tests.physics.bodies import contact_of, flat_implant, gait_study, sphere

UHMWPE = Elastic(463.0, 0.46)
# Large against the contact: the references are of a paraboloid.
RADIUS = 600.0
TOP = 8.0


def coupled(pair, thickness, influence):
    law = SmallStrain(confined_modulus(UHMWPE.youngs_modulus, UHMWPE.poisson_ratio))
    return CoupledLayer(law, np.full(pair.index.size, thickness), influence)


def outermost_centres(grid):
    """Corners of the rectangle between the outermost element centres of the first side."""
    plan = grid.centre[0][grid.valid[0]][:, [0, 2]]
    return plan.min(axis=0), plan.max(axis=0)


def pressed_sphere(contact_radius, approach, thickness, cells):
    """A sphere on a flat layer without ends, with so many cells over the radius of the contact."""
    half, count = 1.25 * contact_radius, round(2.5 * cells)
    implant = flat_implant(sphere(RADIUS), half, half, spacing=0.0, thickness=TOP)
    pair, _ = contact_of(implant, count, count)
    edge = 2.0 * half / count
    influence = flat_influence((count, count), (edge, edge), thickness, 463.0, 0.46)
    layer = coupled(pair, TOP, influence)
    return pair.evaluate(np.eye(3), [0.0, TOP + RADIUS - approach, 0.0], layer)


@pytest.mark.parametrize("ratio", [0.2, 0.5, 1.0, 2.0])
def test_sphere_on_a_bonded_layer(ratio):
    exact = sphere_on_layer(RADIUS, 4.0, 4.0 / ratio, 463.0, 0.46)
    found = pressed_sphere(4.0, exact.approach, 4.0 / ratio, 16)
    assert found.wrench[1] == pytest.approx(exact.force, rel=5e-3)
    assert found.max_pressure == pytest.approx(exact.peak_pressure, rel=5e-3)
    # The pressure ends with a vertical slope, which the quadratic extrapolation overestimates.
    assert found.contact_area == pytest.approx(np.pi * 16.0, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [4.0, 8.0, 10.0])
def test_sphere_on_a_layer_much_thinner_than_its_contact(ratio):
    exact = sphere_on_layer(RADIUS, 4.0, 4.0 / ratio, 463.0, 0.46)
    found = pressed_sphere(4.0, exact.approach, 4.0 / ratio, 32)
    assert found.wrench[1] == pytest.approx(exact.force, rel=0.01)
    assert found.max_pressure == pytest.approx(exact.peak_pressure, rel=0.01)


def test_sphere_on_a_half_space():
    approach = 16.0 / RADIUS
    exact = hertz.sphere_contact(RADIUS, approach, 463.0 / (1.0 - 0.46**2))
    found = pressed_sphere(4.0, approach, np.inf, 16)
    assert found.wrench[1] == pytest.approx(exact.force, rel=3e-3)
    assert found.max_pressure == pytest.approx(exact.peak_pressure, rel=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 4.0])
def test_free_ends_against_finite_elements_of_a_strip(offset):
    """A plate of 32 x 16 mm, 6 mm thick, pressed in its middle and 4 mm from a free end."""
    thickness, approach = 6.0, 0.02
    implant = flat_implant(sphere(RADIUS), 16.0, 8.0, thickness=thickness)
    grid = build_grid(implant, 96, 64)
    pair = ContactPair(
        grid, 0, implant.femoral["medial"], tabulate_surface(implant.femoral["medial"], 61, 41)
    )
    local = grid.case_thickness(grid.nominal_thickness)
    influence = insert_influence(grid, 0, local, UHMWPE, plan=outermost_centres(grid))
    height = thickness + RADIUS - approach
    found = pair.evaluate(np.eye(3), [0.0, height, offset], coupled(pair, thickness, influence))
    fine = graded_lines(0.0, thickness, (thickness - 0.6, thickness), 0.6)
    # Between the outermost element centres, as the layer's sections.
    end_x, end_z = 16.0 * 95 / 96, 8.0 * 63 / 64
    x = graded_lines(-end_x, end_x, (-5.5, 5.5), 0.75)
    z = graded_lines(-end_z, end_z, (offset - 5.5, min(offset + 5.5, end_z)), 0.75)
    solid = block(x, z, fine)
    plan = solid.nodes[:, :, -1]
    touchable = np.hypot(plan[..., 0], plan[..., 2] - offset) < 5.4
    body = paraboloid(RADIUS, thickness - approach, RADIUS)
    pressed = ElasticSurface(solid, UHMWPE, touchable).press(
        lambda points: body(points - [0.0, 0.0, offset])
    )
    assert found.wrench[1] == pytest.approx(-pressed.force[1], rel=0.01)
    assert found.max_pressure == pytest.approx(pressed.pressure.max(), rel=0.01)
    endless = flat_influence(grid.valid.shape[1:], (1 / 3, 0.25), thickness, 463.0, 0.46)
    without = pair.evaluate(np.eye(3), [0.0, height, offset], coupled(pair, thickness, endless))
    # What ends and sides add is several times what is left.
    assert without.wrench[1] > 1.03 * found.wrench[1]


# A block of the thickest insert: elements of finite elements, and of the layer on each of them.
HALF_X = 18.0
HALF_Z = 14.3
HEIGHT = 14.0
COARSE = (12, 10)
FINER = 8


def patch(low, high):
    """The elements of a block from the one numbers to the others."""
    found = np.zeros(COARSE)
    found[low[0] : high[0], low[1] : high[1]] = 1.0
    return found


def solid_deflection(half_x, half_z, pressed):
    """Mean deflection of elements of a block under unit pressure on them, by finite elements."""
    x = graded_lines(-half_x, half_x, (-HALF_X, HALF_X), 2.0 * HALF_X / COARSE[0])
    z = graded_lines(-half_z, half_z, (-HALF_Z, HALF_Z), 2.0 * HALF_Z / COARSE[1])
    solid = block(x, z, graded_lines(0.0, HEIGHT, (0.8 * HEIGHT, HEIGHT), 0.1 * HEIGHT))
    force = np.zeros(solid.nodes.shape[:2])
    first = [(lines.size - 1 - count) // 2 for lines, count in zip((x, z), COARSE, strict=True)]
    area = 4.0 * HALF_X * HALF_Z / np.prod(COARSE)
    weights = np.outer([1.0, 4.0, 1.0], [1.0, 4.0, 1.0]) / 36.0
    for row, column in np.argwhere(pressed):
        at = 2 * (first[0] + row), 2 * (first[1] + column)
        force[at[0] : at[0] + 3, at[1] : at[1] + 3] += weights * area
    kept = solid.surface_freedoms[..., 1][force > 0.0]
    stiffness = Strains(solid).stiffness(UHMWPE.tensor)
    matrix = Condensation(solid, stiffness, np.sort(kept)).matrix
    loaded = force[force > 0.0][np.argsort(kept)]
    return loaded @ np.linalg.solve(matrix, loaded) / loaded.sum()


def layer_deflection(half_x, half_z, pressed, joint=True):
    """The same of the coupled layer, perhaps without the joint effect of both pairs of ends."""
    implant = flat_implant(sphere(RADIUS), HALF_X, HALF_Z, spacing=0.0, thickness=HEIGHT)
    grid = build_grid(implant, FINER * COARSE[0], FINER * COARSE[1])
    end = np.array([half_x, half_z])
    found = insert_influence(grid, 0, grid.case_thickness(HEIGHT), UHMWPE, plan=(-end, end))
    if not joint:
        found = Influence(found.across, found.along)
    chosen = np.nonzero(np.kron(pressed, np.ones((FINER, FINER))))
    area = 4.0 * HALF_X * HALF_Z / np.prod(grid.valid.shape[1:])
    return area * found.matrix(*chosen).sum(axis=0).mean()


@pytest.mark.slow
@pytest.mark.parametrize(("half_x", "half_z"), [(HALF_X, HALF_Z), (HALF_X, 60.0), (60.0, HALF_Z)])
def test_deflection_of_a_block_with_free_ends_along_one_and_both_directions(half_x, half_z):
    middle, beside, wide = patch((4, 2), (8, 8)), patch((6, 4), (10, 8)), patch((3, 1), (9, 9))
    # Four times as many finite elements change their deflections by less than 0.1 %; the sections
    # of the layer have four elements over the thickness.
    for pressed, error in ((middle, 2e-3), (beside, 2e-3), (wide, 5e-3)):
        exact = solid_deflection(half_x, half_z, pressed)
        assert layer_deflection(half_x, half_z, pressed) == pytest.approx(exact, rel=error)
        if half_x < 20.0 and half_z < 20.0:
            assert layer_deflection(half_x, half_z, pressed, joint=False) > 1.01 * exact


def test_ends_of_the_body_do_not_move_with_the_columns():
    implant = flat_implant(sphere(RADIUS), 16.0, 8.0, spacing=0.0, thickness=TOP)
    coarse, fine = (build_grid(implant, 48, columns) for columns in (24, 72))
    plan = outermost_centres(coarse)
    # Every third cell of the fine grid has the centre of a coarse one; cells far from each other,
    # as the deflection of near ones depends on their size.
    row, column = np.full(8, 30), np.arange(0, 24, 3)
    found, expected = (
        insert_influence(grid, 0, grid.case_thickness(TOP), UHMWPE, plan=plan).matrix(row, places)
        for grid, places in ((fine, 3 * column + 1), (coarse, column))
    )
    apart = np.abs(column[:, None] - column) > 3
    largest = expected[apart].max()
    assert np.abs(found - expected)[apart].max() < 0.005 * largest
    longer = insert_influence(
        fine, 0, fine.case_thickness(TOP), UHMWPE, plan=outermost_centres(fine)
    ).matrix(row, 3 * column + 1)
    assert np.abs(longer - expected)[apart].max() > 0.05 * largest


@cache
def egg_box():
    """An egg-box over a plate with free ends, and its coupled layer."""
    implant = flat_implant(bumps(), 12.0, 12.0, spacing=0.0, thickness=TOP)
    grid = build_grid(implant, 60, 60)
    pair = ContactPair(grid, 0, bumps(), tabulate_surface(bumps(), 81, 81))
    influence = insert_influence(
        grid, 0, grid.case_thickness(TOP), UHMWPE, plan=outermost_centres(grid)
    )
    return pair, coupled(pair, TOP, influence)


def pose_at(angle):
    """A closed loop in position and orientation."""
    sine, cosine = np.sin(angle), np.cos(angle)
    place = np.array([0.8 * sine, TOP - 0.45 + 0.05 * cosine, 0.5 * cosine])
    return place, np.array([4e-3 * sine, 0.02 * cosine, 3e-3 * cosine])


@pytest.mark.slow
def test_layer_solves_contact_without_overlap_and_adhesion():
    pair, layer = egg_box()
    place, angles = pose_at(0.3)
    found = pair.evaluate(body_three_123(angles), place, layer)
    row, column = np.divmod(pair.index, 60)
    matrix = layer.influence.matrix(row, column)
    force = np.zeros(row.size)
    force[found.element] = found.pressure * found.area
    gap = np.zeros(row.size)
    gap[found.element] = -found.penetration
    remaining = gap + matrix @ force
    assert found.pressure.min() > 0.0
    assert 50 < found.active_elements < found.evaluated_elements
    deepest = found.penetration.max()
    assert np.abs(remaining[found.element]).max() < 1e-11 * deepest
    assert found.max_penetration >= deepest


def test_stiffness_is_the_derivative_of_the_wrench():
    pair, layer = egg_box()
    place, angles = pose_at(1.1)
    rotation = body_three_123(angles)
    found = pair.evaluate(rotation, place, layer)
    step = 1e-6
    for number in range(6):
        wrenches = []
        for sign in (-0.5, 0.5):
            moved, turned = place.copy(), rotation
            if number < 3:
                moved[number] += sign * step
            else:
                spin = np.zeros(3)
                spin[number - 3] = sign * step
                turned = _turned(rotation, spin)
            wrenches.append(pair.evaluate(turned, moved, layer).wrench.copy())
        rate = (wrenches[1] - wrenches[0]) / step
        scale = np.abs(found.stiffness[:, number]).max()
        # Central differences of a piecewise quadratic energy: rounding of the wrench over the step.
        assert rate == pytest.approx(found.stiffness[:, number], abs=2e-5 * scale)


def _turned(rotation, spin):
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(spin).as_matrix() @ rotation


@pytest.mark.slow
def test_forces_do_no_work_around_a_closed_loop():
    pair, layer = egg_box()
    node, weight = np.polynomial.legendre.leggauss(3)
    total = exchanged = 0.0
    parts = 300
    for part in range(parts):
        for at, share in zip(node, weight, strict=True):
            angle = 2.0 * np.pi * (part + 0.5 * (at + 1.0)) / parts
            place, angles = pose_at(angle)
            rotation = body_three_123(angles)
            found = pair.evaluate(rotation, place, layer)
            step = 1e-5
            ahead, behind = (pose_at(angle + s) for s in (step, -step))
            velocity = (ahead[0] - behind[0]) / (2.0 * step)
            turn = (body_three_123(ahead[1]) - body_three_123(behind[1])) / (2.0 * step)
            spin = turn @ rotation.T
            omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            power = found.wrench[:3] @ velocity + found.wrench[3:] @ omega
            work = power * share * np.pi / parts
            total, exchanged = total + work, exchanged + abs(work)
    assert abs(total) < 1e-6 * exchanged


def test_result_depends_neither_on_earlier_poses_nor_on_threads_nor_on_the_search():
    pair, layer = egg_box()
    poses = [pose_at(angle) for angle in (0.4, 2.0)]
    fresh = []
    for place, angles in poses:
        pair.reset()
        fresh.append(pair.evaluate(body_three_123(angles), place, layer))
    others = [
        ContactModel({"a": pair}, {"a": layer}),
        ContactModel({"a": pair}, {"a": layer}, threads=2),
        ContactModel({"a": _searched(pair, "breadth_first")}, {"a": layer}),
        ContactModel({"a": _searched(pair, "all")}, {"a": layer}),
    ]
    for model in others:
        for expected, (place, angles) in zip(fresh, poses, strict=True):
            found = model.evaluate(body_three_123(angles), place)["a"]
            assert np.array_equal(found.wrench, expected.wrench)
            assert np.array_equal(found.stiffness, expected.stiffness)
            assert np.array_equal(found.pressure, expected.pressure)


def test_influence_does_not_depend_on_threads_of_linear_algebra():
    grid = gait_study(rows=100, columns=75).grid
    found = []
    for threads in (1, 2):
        coupling._TABLES.clear()
        with threadpool_limits(threads, "blas"):
            found.append(insert_influence(grid, 0, grid.thickness, UHMWPE))
    one, two = found
    for part in ("across", "along", "joint_along", "joint_across"):
        assert np.array_equal(getattr(one, part), getattr(two, part))


def _searched(pair, search):
    implant = flat_implant(bumps(), 12.0, 12.0, spacing=0.0, thickness=TOP)
    grid = build_grid(implant, 60, 60)
    return ContactPair(grid, 0, bumps(), tabulate_surface(bumps(), 81, 81), search=search)


def test_pressure_of_elements_that_an_outline_cuts_is_that_of_their_cells():
    pair, layer = egg_box()
    implant = flat_implant(bumps(), 12.0, 12.0, spacing=0.0, thickness=TOP)
    grid = build_grid(implant, 60, 60)
    covered = np.ones_like(grid.covered)
    covered[:, ::2] = 1e-6
    cut = ContactPair(
        replace(grid, covered=covered, area=grid.area * covered),
        0,
        bumps(),
        tabulate_surface(bumps(), 81, 81),
    )
    place, angles = pose_at(0.3)
    whole, found = (one.evaluate(body_three_123(angles), place, layer) for one in (pair, cut))
    assert np.array_equal(found.wrench, whole.wrench)
    assert found.pressure == pytest.approx(whole.pressure, rel=1e-12)


def test_velocity_adds_slip_and_no_force():
    pair, layer = egg_box()
    place, angles = pose_at(0.7)
    still = pair.evaluate(body_three_123(angles), place, layer)
    moving = pair.evaluate(body_three_123(angles), place, layer, np.array([10.0, 0, 0, 0, 0, 0]))
    assert np.array_equal(moving.wrench, still.wrench)
    assert moving.slip_velocity[:, 0] == pytest.approx(
        np.full(moving.active_elements, 10.0), rel=1e-6
    )


def test_layers_that_do_not_fit_are_refused():
    pair, layer = egg_box()
    implant = flat_implant(bumps(), 12.0, 12.0, spacing=0.0, thickness=TOP)
    table = tabulate_surface(bumps(), 81, 81)
    grid = build_grid(implant, 60, 60)
    for options in (
        {"friction": Friction(0.1, 0.1, 1.0)},
        {"method": "ray"},
        {"direction": "mid_surface"},
        {"direction": "element_normal"},
    ):
        with pytest.raises(ValueError):
            ContactPair(grid, 0, bumps(), table, **options).prepare(layer)
    coarse = ContactPair(build_grid(implant, 20, 20), 0, bumps(), table)
    with pytest.raises(ValueError):
        coarse.prepare(coupled(coarse, TOP, layer.influence))
    # Of an influence that is not positive definite there is no solution.
    indefinite = Influence(-layer.influence.across, -layer.influence.along)
    place, angles = pose_at(0.3)
    found = pair.evaluate(body_three_123(angles), place, coupled(pair, TOP, indefinite))
    assert np.isnan(found.wrench).all()
