"""Coupling of rods and bodies: the iteration's limit, its rate, and balances of coupled motions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import root

from kneewear.errors import ConvergenceError
from kneewear.knees.papers.fe_knee.bounded import DirectActiveSet
from kneewear.knees.papers.fe_knee.constraints import HalfSpace
from kneewear.knees.papers.fe_knee.elasticity import KelvinVoigt
from kneewear.knees.papers.fe_knee.insertions import insertion
from kneewear.knees.papers.fe_knee.newmark import ContactProblem, ElasticBody, RigidObstacle
from kneewear.knees.papers.fe_knee.rod_coupling import (
    Answer,
    AttachedBodies,
    Attachment,
    DirichletNeumann,
    coupled_step,
    geodesic,
)
from kneewear.knees.papers.fe_knee.rod_step import Poses, RodSystem, relative_turn
from kneewear.knees.papers.fe_knee.rods import RodMaterial
from kneewear.knees.papers.fe_knee.volume_mesh import hierarchy
from kneewear.knees.papers.rotation_vectors import cayley, exponential
from tests.knees.papers.volumes import block

TAU = 1e-5


@dataclass
class SprungEnds:
    """A mass with a spring at each end of each rod, stepped by the midpoint rule."""

    home: Poses
    mass: float = 1e-5
    inertia: float = 1e-3
    stiffness: float = 1e3
    shift: np.ndarray = field(init=False)
    turn: np.ndarray = field(init=False)
    velocity: np.ndarray = field(init=False)
    spin: np.ndarray = field(init=False)

    def __post_init__(self):
        self.shift, self.turn = np.zeros((2, *self.home.position.shape))
        self.velocity, self.spin = np.zeros((2, *self.home.position.shape))

    def _moved(self, at, speed, load, inertia):
        dynamic = 2.0 / TAU**2 * inertia
        right = load + dynamic * (at + TAU * speed) - 0.5 * self.stiffness * at
        return right / (dynamic + 0.5 * self.stiffness)

    def __call__(self, force, moment):
        shift = self._moved(self.shift, self.velocity, force, self.mass)
        turn = self._moved(self.turn, self.spin, moment, self.inertia)
        ends = Poses(self.home.position + shift, cayley(turn) @ self.home.rotation)
        return Answer(ends, np.stack([shift - self.shift, turn - self.turn]))


def two_ligaments():
    """Two ligaments with a pre-strain between masses on springs."""
    system = RodSystem((RodMaterial(), RodMaterial(radius=3.0)), np.array([48.0, 33.0]))
    state = system.straight([[0, 0, 0], [20, 0, 5]], [[10, 49, 0], [0, 30, 15]])
    bodies = SprungEnds(system.ends(state))
    bodies.velocity[:] = [[[0, -1000, 0], [500, 0, 0]], [[0, -1000, 0], [500, 100, 0]]]
    bodies.spin[:] = 30.0
    return system, state, bodies


def test_converged_poses_solve_the_coupled_equations():
    system, state, bodies = two_ligaments()
    settings = DirichletNeumann(tolerance=1e-11)
    found = coupled_step(system, state, TAU, bodies, settings=settings)

    start = system.ends(state)

    def poses(unknown):
        shift, turn = unknown.reshape(2, 2, 2, 3)
        return Poses(start.position + shift, cayley(turn) @ start.rotation)

    def disagreement(unknown):
        ends = poses(unknown)
        rods = system.step(state, TAU, ends)
        answer = bodies(-rods.force, -rods.moment).ends
        gap = answer.position - ends.position
        return np.concatenate([gap.ravel(), relative_turn(ends, answer).ravel()])

    together = root(disagreement, np.zeros(24), tol=1e-13)
    assert np.max(np.abs(disagreement(together.x))) < 1e-12
    ends = poses(together.x)
    assert np.allclose(system.ends(found.rods.state).position, ends.position, atol=1e-11)
    assert np.allclose(system.ends(found.rods.state).rotation, ends.rotation, atol=1e-12)
    assert found.gap < 1e-11


def test_error_decreases_by_the_damped_ratio_of_stiffness():
    system, state, bodies = two_ligaments()
    found = coupled_step(system, state, TAU, bodies, settings=DirichletNeumann(tolerance=1e-9))
    # Bodies that are much stiffer than rods: 1 - 0.6.
    assert 0.2 < found.rate < 0.4


def test_poses_by_velocity_save_iterations():
    system, state, bodies = two_ligaments()
    state.velocity[:, [0, -1]], state.spin[:, [0, -1]] = bodies.velocity, bodies.spin
    fast = coupled_step(system, state, TAU, bodies)
    slow = coupled_step(system, state, TAU, bodies, system.ends(state))
    assert fast.iterations < slow.iterations
    assert np.allclose(fast.rods.state.position, slow.rods.state.position, atol=1e-5)


def test_geodesics_start_end_and_turn_evenly():
    turn = np.array([[0.2, 0.5, -0.4]])
    start = Poses(np.zeros((1, 3)), exponential([[1.0, 0.0, 0.0]]))
    end = Poses(np.ones((1, 3)), start.rotation @ exponential(turn))
    for share in (0.0, 0.6, 1.0):
        at = geodesic(start, end, share)
        assert np.allclose(at.position, share)
        assert np.allclose(at.rotation, start.rotation @ exponential(share * turn), atol=1e-14)


def test_iterations_that_do_not_converge_are_refused():
    system, state, bodies = two_ligaments()
    with pytest.raises(ConvergenceError):
        coupled_step(system, state, TAU, bodies, settings=DirichletNeumann(max_iterations=3))


class BlocksOnARod:
    """Two blocks of bone joined by a ligament; the lower one moves down, perhaps to an obstacle."""

    def __init__(self, gap: float | None = None, velocity=(200.0, -1000.0, 0.0)) -> None:
        size = 16.0
        bone = KelvinVoigt(17000.0, 0.3, 2e-9)
        meshes = [block((size,) * 3, (4, 4, 4), origin=(0.0, low, 0.0)) for low in (0.0, -46.0)]
        bodies = [
            ElasticBody(name, hierarchy(mesh, 0), bone)
            for name, mesh in zip(("upper", "lower"), meshes, strict=True)
        ]
        obstacles = []
        if gap is not None:
            plane = HalfSpace(np.array([0.0, -46.0 - gap, 0.0]), np.array([0.0, 1.0, 0.0]))
            obstacles = [RigidObstacle(("lower", "bottom"), plane)]
        self.problem = ContactProblem(bodies, TAU, DirectActiveSet, obstacles=obstacles)
        patches = [
            insertion(mesh.nodes, middle_of(mesh, side), mesh.tetrahedra)
            for mesh, side in zip(meshes, ("bottom", "top"), strict=True)
        ]
        self.system = RodSystem((RodMaterial(),), np.array([30.0]))
        self.rods = self.system.straight([patches[0].centroid], [patches[1].centroid])
        self.pairs = [tuple(Attachment(k, patches[k], self.rods.rotation[0, 0]) for k in range(2))]
        self.blocks = self.problem.at_rest()
        self.blocks.velocity[self.problem.parts["lower"]] = velocity
        self.rods.velocity[:] = np.linspace(0.0, 1.0, 21)[:, None] * velocity
        self.last = None

    def step(self, settings=None, conserving=False, of_source=False):
        """Advance one step.

        With `of_source`, from the present poses, and with corrections related to coordinates of the
        rod and to displacements of the blocks since the start.
        """
        before, parts = self.blocks.displacement, self.problem.parts.values()
        prediction = self.problem.predict(self.blocks)

        def solve(loads):
            self.last = self.problem.correct(self.blocks, prediction, np.concatenate(loads))
            return tuple(self.last.state.displacement[part] for part in parts)

        ends = self.system.ends(self.rods)
        bodies = AttachedBodies(
            self.pairs, tuple(before[part] for part in parts), solve, ends if conserving else None
        )
        moved = max(float(np.max(np.abs(before))), 0.01)
        scales = float(np.max(np.abs(self.rods.position))), moved
        found = coupled_step(
            self.system,
            self.rods,
            TAU,
            bodies,
            ends if of_source else None,
            settings,
            scales if of_source else None,
        )
        self.rods, self.blocks = found.rods.state, self.last.state
        return found

    @property
    def energy(self):
        """Energy of rod and blocks."""
        return float(self.system.energy(self.rods)[0]) + self.problem.energy(self.blocks).total

    @property
    def momentum(self):
        """Momentum of rod and blocks."""
        return self.system.momentum(self.rods)[0] + self.problem.mass @ self.blocks.velocity


def middle_of(mesh, side):
    """Triangles in the middle quarter of a side of a block."""
    triangles = mesh.patches[side]
    centre = mesh.nodes[triangles].mean(axis=1)
    away = np.abs(centre - mesh.nodes.mean(axis=0))[:, [0, 2]]
    return triangles[np.all(away < 4.0, axis=1)]


def coupled_motion(steps: int, **choices):
    """Iterations and rate of each step, and the relative change of energy after it."""
    motion = BlocksOnARod()
    energy, momentum = motion.energy, motion.momentum
    taken, changes = [], []
    for _ in range(steps):
        taken.append(motion.step(**choices))
        changes.append(motion.energy / energy - 1.0)
    # The rod's force on the blocks is that on the rod: balance to rounding.
    scale = np.max(np.abs(momentum))
    assert np.allclose(motion.momentum, momentum, rtol=0, atol=1e-9 * scale)
    strained = motion.system.strain_energy(motion.rods)[0] / energy
    iterations, rates = zip(*[(one.iterations, one.rate) for one in taken], strict=True)
    return np.array(iterations), np.array(rates), np.array(changes), strained


def test_few_iterations_couple_blocks_and_a_rod():
    iterations, rates, changes, _ = coupled_motion(15, settings=DirichletNeumann(damping=0.95))
    assert np.max(iterations) <= 5
    assert np.nanmean(rates) < 0.12
    assert np.max(np.abs(changes)) < 1e-5


@pytest.mark.slow
def test_damping_of_the_source_converges_at_its_ratio():
    iterations, rates, changes, _ = coupled_motion(40)
    # 1 - 0.6 (1 + k), where the rod has k = 5 % of the stiffness of the block at its insertion.
    assert np.nanmean(rates) == pytest.approx(0.37, abs=0.01)
    assert np.max(iterations) <= 9
    assert np.max(np.abs(changes)) < 1e-5


@pytest.mark.slow
def test_adjoint_rotations_conserve_the_energy_of_blocks_and_rod():
    settings = DirichletNeumann(damping=0.95, tolerance=1e-10)
    *_, of_source, strained = coupled_motion(60, settings=settings)
    *_, adjoint, _ = coupled_motion(60, settings=settings, conserving=True)
    assert strained > 0.1
    # The mean deformation gradient changes energy at any tolerance; the adjoint rotation does not.
    assert 1e-6 < np.max(np.abs(of_source)) < 2e-5
    assert np.max(np.abs(adjoint)) < 1e-10


@pytest.mark.slow
def test_blocks_on_a_rod_lose_energy_to_contact_alone():
    motion = BlocksOnARod(gap=0.055, velocity=(0.0, -1000.0, 0.0))
    # The upper block falls as well; the rod between them is compressed by the impact.
    motion.blocks.velocity[:] = [0.0, -1000.0, 0.0]
    motion.rods.velocity[:] = [0.0, -1000.0, 0.0]
    settings = DirichletNeumann(damping=0.95, tolerance=1e-10)
    energy, first_contact = motion.energy, None
    for number in range(1, 31):
        old = motion.energy
        motion.step(settings, conserving=True)
        losses = motion.last.losses
        lost = losses.contact + losses.stabilisation
        assert motion.energy - old == pytest.approx(-lost, abs=1e-10 * energy)
        assert lost > -1e-12 * energy
        if first_contact is None and np.any(motion.last.active):
            first_contact = number
    # 0.055 mm at 0.01 mm per step.
    assert first_contact == 6
    assert motion.system.strain_energy(motion.rods)[0] > 1e-3 * energy


def test_what_is_at_rest_stays_at_rest():
    motion = BlocksOnARod(velocity=(0.0, 0.0, 0.0))
    found = motion.step()
    assert found.iterations == 2
    assert np.allclose(found.rods.force, 0.0, atol=1e-9)
    assert np.allclose(motion.blocks.displacement, 0.0, atol=1e-13)
