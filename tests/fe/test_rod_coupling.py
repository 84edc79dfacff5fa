"""Coupling of rods and bodies: the iteration's limit, its rate, and balances of coupled motions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import root

from kneewear.errors import ConvergenceError
from kneewear.fe.insertions import insertion
from kneewear.fe.rod_coupling import (
    Answer,
    AttachedBodies,
    Attachment,
    DirichletNeumann,
    coupled_step,
    geodesic,
)
from kneewear.fe.rod_step import Poses, RodSystem, relative_turn
from kneewear.fe.rods import RodMaterial
from kneewear.mechanics.rotation_vectors import cayley, exponential
from tests.fe.tetrahedra import LinearBlock, box, face

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
    with pytest.raises(ConvergenceError, match="Dirichlet-Neumann"):
        coupled_step(system, state, TAU, bodies, settings=DirichletNeumann(most_iterations=3))


class BlocksOnARod:
    """Two blocks of bone joined by a ligament; the lower one falls."""

    def __init__(self, speed: float = 1000.0) -> None:
        size, count = (16.0, 16.0, 16.0), (4, 4, 4)
        meshes = box(count, size), box(count, size, (0.0, -46.0, 0.0))
        self.blocks = [LinearBlock(mesh) for mesh in meshes]
        self.system = RodSystem((RodMaterial(),), np.array([30.0]))
        patches = [
            insertion(mesh.nodes, face(mesh, 1, level, 4.0), mesh.tetrahedra)
            for mesh, level in zip(meshes, (0.0, -30.0), strict=True)
        ]
        self.state = self.system.straight([patches[0].centroid], [patches[1].centroid])
        rotation = self.state.rotation[0, 0]
        self.pairs = [tuple(Attachment(k, patches[k], rotation) for k in range(2))]
        self.blocks[1].velocity[:] = [0.2 * speed, -speed, 0.0]
        lower = np.linspace(0.0, 1.0, 21)[:, None]
        self.state.velocity[:] = lower * np.array([0.2 * speed, -speed, 0.0])

    def step(self, settings=None, conserving=False, of_source=False):
        """Advance one step.

        With `of_source`, from the present poses, and with corrections related to coordinates of the
        rod and to displacements of the blocks since the start.
        """
        before = tuple(block.displacement for block in self.blocks)
        ends = self.system.ends(self.state)
        moved = max(float(np.max(np.abs(one))) for one in before)
        scales = float(np.max(np.abs(self.state.position))), max(moved, 0.01)
        bodies = AttachedBodies(
            self.pairs,
            before,
            lambda loads: tuple(
                block.moved(load, TAU) for block, load in zip(self.blocks, loads, strict=True)
            ),
            ends if conserving else None,
        )
        found = coupled_step(
            self.system,
            self.state,
            TAU,
            bodies,
            ends if of_source else None,
            settings,
            scales if of_source else None,
        )
        loads = bodies.loads(-found.rods.force, -found.rods.moment)
        for block, load in zip(self.blocks, loads, strict=True):
            block.accept(block.moved(load, TAU), TAU)
        self.state = found.rods.state
        return found

    @property
    def energy(self):
        """Energy of rod and blocks."""
        return float(sum(self.system.energy(self.state))) + sum(one.energy for one in self.blocks)

    @property
    def momentum(self):
        """Momentum of rod and blocks."""
        return self.system.momentum(self.state)[0] + sum(one.momentum for one in self.blocks)


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
    strained = motion.system.strain_energy(motion.state)[0] / energy
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
