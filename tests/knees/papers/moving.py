"""Blocks that move towards each other or a plane, for tests of dynamic contact."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from kneewear.knees.papers.fe_knee.bounded import DirectActiveSet
from kneewear.knees.papers.fe_knee.constraints import HalfSpace
from kneewear.knees.papers.fe_knee.elasticity import KelvinVoigt
from kneewear.knees.papers.fe_knee.newmark import (
    BodyPair,
    ContactProblem,
    ElasticBody,
    RigidObstacle,
)
from kneewear.knees.papers.fe_knee.truncated_newton import TruncatedNewton
from kneewear.knees.papers.fe_knee.volume_mesh import hierarchy
from tests.knees.papers.volumes import block

BONE = KelvinVoigt(17000.0, 0.3, 2e-9)
CARTILAGE = KelvinVoigt(10.0, 0.4, 1e-9, viscosity=10.0)
TAU = 1e-5
GROUND = HalfSpace(np.zeros(3), np.array([0.0, 1.0, 0.0]))
EXACT = partial(TruncatedNewton, tolerance=1e-12)


def above(mesh, height):
    """A mesh turned upside down, its top at a height."""
    top = mesh.nodes[:, 1].max()
    depth = mesh.nodes[:, 2].max()
    nodes = mesh.nodes * [1.0, -1.0, -1.0] + [0.0, height + top, depth]
    return replace(mesh, nodes=nodes)


def lone(solver=DirectActiveSet, height=0.105, layer=0.0, tau=TAU, obstacle=True, **more):
    """One block above the ground."""
    mesh = block((10.0, 10.0, 10.0), (2, 2, 2), layer=layer, origin=(0.0, height, 0.0))
    body = ElasticBody("block", hierarchy(mesh, 1), BONE, CARTILAGE if layer else None)
    obstacles = [RigidObstacle(("block", "bottom"), GROUND)] if obstacle else []
    return ContactProblem([body], tau, solver, obstacles=obstacles, **more)


def two(solver=DirectActiveSet, layer=1.5, height=0.105, gap=0.37, divisions=(2, 2, 2), **more):
    """Two blocks with cartilage above the ground; their meshes do not match."""
    mesh = block((10.0, 10.0, 10.0), (2, 2, 2), layer=layer, origin=(0.0, height, 0.0))
    low = ElasticBody("low", hierarchy(mesh, 1), BONE, CARTILAGE)
    other = block((8.0, 8.0, 8.0), divisions, layer=layer, origin=(1.0, 0.0, 1.0), swapped=True)
    other = above(other, height + 10.0 + layer + gap)
    high = ElasticBody("high", hierarchy(other, 1), BONE, CARTILAGE)
    return ContactProblem(
        [low, high],
        TAU,
        solver,
        [BodyPair(("high", "top"), ("low", "top"), 1.0)],
        [RigidObstacle(("low", "bottom"), GROUND)],
        **more,
    )


def momentum(problem, state):
    """Linear momentum (3,), N s."""
    return problem.mass @ state.velocity


def balance(problem, state, step):
    """Error of the energy balance of a step, N mm."""
    losses = step.losses
    change = step.energy.total - problem.energy(state).total
    return change - (losses.work - losses.viscous - losses.contact - losses.stabilisation)


def run(problem, state, steps):
    """States before, and results of, a number of steps."""
    found = []
    for _ in range(steps):
        step = problem.step(state)
        found.append((state, step))
        state = step.state
    return found
