"""Run of a dynamic finite-element knee: its history over all steps, and frames of some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.knees.papers.fe_knee.bones import KneeBones, mesh_summary
from kneewear.knees.papers.fe_knee.elasticity import element_von_mises, stresses
from kneewear.knees.papers.fe_knee.model import GROUPS, DynamicKnee, KneeState, KneeStep
from kneewear.knees.papers.fe_knee.newmark import State
from kneewear.knees.papers.fe_knee.settings import FeKneeSettings
from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh, boundary_triangles

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_MILLI = 1e3


@dataclass(frozen=True)
class Frame:
    """Boundary of the bones at one time: positions (n, 3), mm, and von Mises stress (n,), MPa.

    `rods` (rod, node, 3) are the positions of the rods' nodes, mm, and `rod_stress` (rod, element)
    the largest von Mises stress in their cross-sections, MPa; `insertion_stress` (rod, body) is
    the largest von Mises stress at the nodes of insertions, MPa; zero without one.
    """

    step: int
    positions: Array
    stress: Array
    rods: Array
    rod_stress: Array
    insertion_stress: Array


@dataclass(frozen=True)
class RunProgress:
    """Data to continue a run: state after a step, rows of the history, and frames."""

    step: int
    state: KneeState
    history: tuple[dict[str, float], ...]
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class KneeFrames:
    """Frames of a run on the boundary of the finest meshes.

    Parameters
    ----------
    bodies : tuple of str
        Names of the bones.
    ligaments : tuple of str
        Names of the rods.
    triangles : array of int, shape (triangle, 3)
        Boundary of all bones, outward.
    triangle_body : array of int, shape (triangle,)
        Number of the bone of each triangle.
    is_cartilage : array of bool, shape (node,)
        Nodes of cartilage.
    time : array, shape (frame,)
        s.
    positions : array, shape (frame, node, 3)
        mm: x posterior, y superior, z medial.
    stress : array, shape (frame, node)
        Von Mises stress, the mean of the elements at a node, MPa.
    rods : array, shape (frame, rod, rod_node, 3)
        Positions of the rods' nodes, mm.
    rod_stress : array, shape (frame, rod, rod_element)
        Largest von Mises stress in cross-sections of the rods, MPa.
    insertion_stress : array, shape (frame, rod, body)
        Largest von Mises stress at the nodes of insertions, MPa.
    """

    bodies: tuple[str, ...]
    ligaments: tuple[str, ...]
    triangles: Ints
    triangle_body: Ints
    is_cartilage: NDArray[np.bool_]
    time: Array
    positions: Array
    stress: Array
    rods: Array
    rod_stress: Array
    insertion_stress: Array


@dataclass(frozen=True)
class KneeRun:
    """History of all steps, meshes, and frames of a run."""

    history: pd.DataFrame
    meshes: pd.DataFrame
    frames: KneeFrames


def run_knee(
    bones: KneeBones,
    settings: FeKneeSettings,
    progress: RunProgress | None = None,
    keep: Callable[[RunProgress], None] | None = None,
) -> KneeRun:
    """All steps of a dynamic knee.

    Parameters
    ----------
    bones : KneeBones
        Coarse meshes.
    settings : FeKneeSettings
        Materials, start, steps and solvers.
    progress : RunProgress, optional
        Where an interrupted run of the same settings continues.
    keep : callable, optional
        Receives the progress after every step.

    Raises
    ------
    ConvergenceError
        If a solver or the coupling fails, about the step.
    """
    model = DynamicKnee(bones, settings)
    surface = FrameSurface(model)
    shown = set(frame_steps(settings))
    if progress is None:
        start = model.start()
        progress = RunProgress(0, start, (_first_row(model, start),), (surface.frame(0, start),))
    while progress.step < settings.steps:
        found = model.step(progress.state)
        number = progress.step + 1
        row = history_row(model, number, found, progress.history[-1])
        frames = (surface.frame(number, found.state),) if number in shown else ()
        progress = RunProgress(
            number, found.state, (*progress.history, row), (*progress.frames, *frames)
        )
        if keep is not None:
            keep(progress)
    history = pd.DataFrame(list(progress.history))
    return KneeRun(
        history.assign(shown=history["step"].isin(settings.shown_steps)),
        pd.DataFrame(_mesh_rows(bones, model)),
        surface.joined(progress.frames, settings.time_step_s),
    )


def frame_steps(settings: FeKneeSettings) -> list[int]:
    """Steps of which frames are kept, the start included."""
    count = min(settings.frames, settings.steps)
    even = np.linspace(0, settings.steps, count + 1).round().astype(int).tolist()
    return sorted({*even, *(step for step in settings.shown_steps if step <= settings.steps)})


def _mesh_rows(bones: KneeBones, model: DynamicKnee) -> list[dict[str, Any]]:
    """Coarse counts of each body, and those of its finest mesh."""
    rows = mesh_summary(bones)
    for row in rows:
        finest = model.problem.bodies[str(row["body"])].meshes.finest
        row |= {
            "fine_tetrahedra": len(finest.tetrahedra),
            "fine_prisms": len(finest.prisms),
            "fine_nodes": len(finest.nodes),
        }
    return rows


def _energies(model: DynamicKnee, state: KneeState) -> dict[str, float]:
    """Energies of bones and rods, mJ (N mm); gravitational ones are zero at the start."""
    bones = model.problem.energy(state.bodies)
    rods = model.rods
    found = {
        "bone_kinetic_mj": bones.kinetic,
        "bone_elastic_mj": bones.elastic,
        "gravitational_mj": bones.gravitational,
        "rod_kinetic_mj": 0.0,
        "rod_elastic_mj": 0.0,
    }
    if rods is not None and state.rods is not None:
        found["gravitational_mj"] += float(np.sum(rods.gravity_energy(state.rods)))
        found["gravitational_mj"] -= model.rod_gravity_at_start
        found["rod_kinetic_mj"] = float(np.sum(rods.kinetic_energy(state.rods)))
        found["rod_elastic_mj"] = float(np.sum(rods.strain_energy(state.rods)))
    return found | {"total_mj": sum(found.values())}


def _momentum(model: DynamicKnee, state: KneeState) -> dict[str, float]:
    """Linear momentum of everything, N s."""
    total = model.problem.mass @ state.bodies.velocity
    if model.rods is not None and state.rods is not None:
        total = total + model.rods.momentum(state.rods).sum(axis=0)
    return {f"momentum_{axis}_n_s": float(one) for axis, one in zip("xyz", total, strict=True)}


def _first_row(model: DynamicKnee, start: KneeState) -> dict[str, float]:
    """Row of the start."""
    zeros = ["viscous_loss_mj", "contact_loss_mj", "stabilisation_loss_mj", "coupling_loss_mj"]
    zeros += [f"{group}_{what}" for group in GROUPS for what in ("force_n", "nodes")]
    zeros += _reactions(model, np.zeros((len(model.settings.prescribed), 3)), 0.0)
    zeros += [
        "penetration_mm",
        "coupling_iterations",
        "solver_iterations",
        "bone_seconds",
        "rod_seconds",
    ]
    rates = {"coupling_rate": np.nan, "solver_rate": np.nan, "coupling_gap_mm": 0.0}
    tension = {f"{name}_tension_n": 0.0 for name in model.ligaments}
    return {
        "step": 0,
        "time_ms": 0.0,
        **_energies(model, start),
        **_momentum(model, start),
        **dict.fromkeys(zeros, 0.0),
        **rates,
        **tension,
    }


def history_row(
    model: DynamicKnee, number: int, found: KneeStep, before: dict[str, float]
) -> dict[str, float]:
    """Row of a step; losses are sums since the start.

    The energy lost by the coupling is what the balance lacks: the total before, less the other
    losses of the step, less the total after.
    """
    losses, forces = found.bodies.losses, found.bodies.forces
    group, active = model.problem.constraints.group, found.bodies.active
    resultants = np.linalg.norm(model.problem.resultants(forces), axis=1)
    own = _energies(model, found.state)
    coupling = (
        before["total_mj"]
        + losses.prescribed
        - losses.viscous
        - losses.contact
        - losses.stabilisation
        - own["total_mj"]
    )
    rates = [rate for _, rate in found.solutions if np.isfinite(rate)]
    coupled = found.coupling
    tension = _tensions(model, found.state)
    return {
        "step": number,
        "time_ms": _MILLI * number * model.problem.time_step,
        **own,
        **_momentum(model, found.state),
        "penetration_mm": _penetration(model, found.state),
        "viscous_loss_mj": before["viscous_loss_mj"] + losses.viscous,
        "contact_loss_mj": before["contact_loss_mj"] + losses.contact,
        "stabilisation_loss_mj": before["stabilisation_loss_mj"] + losses.stabilisation,
        "coupling_loss_mj": before["coupling_loss_mj"] + coupling,
        **{
            f"{name}_force_n": float(resultants[at]) if at < len(resultants) else 0.0
            for at, name in enumerate(GROUPS)
        },
        **{
            f"{name}_nodes": float(np.sum(active & (group == at))) for at, name in enumerate(GROUPS)
        },
        "coupling_iterations": float(coupled.iterations) if coupled else 0.0,
        "solver_iterations": float(np.mean([count for count, _ in found.solutions])),
        "bone_seconds": found.seconds[0],
        "rod_seconds": found.seconds[1],
        "coupling_rate": coupled.rate if coupled else np.nan,
        "solver_rate": float(np.mean(rates)) if rates else np.nan,
        "coupling_gap_mm": coupled.gap if coupled else 0.0,
        **tension,
        **_reactions(
            model, found.bodies.reactions, before.get("prescribed_work_mj", 0.0) + losses.prescribed
        ),
    }


def _reactions(model: DynamicKnee, forces: Array, work: float) -> dict[str, float]:
    """Reaction of each prescribed motion (p, 3), N, and the work of all; nothing without one."""
    names = model.settings.prescribed
    found = {
        f"{name}_reaction_{axis}_n": float(one)
        for name, force in zip(names, forces, strict=True)
        for axis, one in zip("xyz", force, strict=True)
    }
    return found | {"prescribed_work_mj": work} if names else {}


def _penetration(model: DynamicKnee, state: KneeState) -> float:
    """Largest violation of a contact condition, in the weak sense, mm."""
    conditions = model.problem.constraints
    moved = conditions.matrix @ state.bodies.displacement.ravel()
    return float(np.max(moved - conditions.gaps, initial=0.0))


def _tensions(model: DynamicKnee, state: KneeState) -> dict[str, float]:
    """Mean tension of each rod, N."""
    if model.rods is None or state.rods is None:
        return {}
    mean = model.rods.stresses(state.rods)[..., 2].mean(axis=1)
    return {
        f"{name}_tension_n": float(one) for name, one in zip(model.ligaments, mean, strict=True)
    }


class FrameSurface:
    """Boundary of the bones of a model, on which frames are taken."""

    def __init__(self, model: DynamicKnee) -> None:
        self.model = model
        problem = model.problem
        parts = [
            boundary_triangles(body.meshes.finest) + problem.parts[name].start
            for name, body in problem.bodies.items()
        ]
        self.nodes, number = np.unique(np.concatenate(parts), return_inverse=True)
        self.triangles = number.reshape(-1, 3)
        self.body = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        layer = np.concatenate(
            [
                np.unique(body.meshes.finest.prisms[:, 3:]) + problem.parts[name].start
                for name, body in problem.bodies.items()
            ]
        )
        self.is_cartilage = np.isin(self.nodes, layer)
        self.insertions = [
            [
                np.unique(body.meshes.finest.patches.get(ligament, [])).astype(np.int64)
                + problem.parts[name].start
                for name, body in problem.bodies.items()
            ]
            for ligament in model.ligaments
        ]

    def frame(self, step: int, state: KneeState) -> Frame:
        """Positions and stresses of a state."""
        positions = self.model.problem.positions + state.bodies.displacement
        stress = nodal_stress(self.model, state.bodies)
        rods, own = np.empty((0, 0, 3)), np.empty((0, 0))
        if self.model.rods is not None and state.rods is not None:
            rods, own = state.rods.position, self.model.rods.edge_stress(state.rods)
        peaks = [[float(stress[one].max(initial=0.0)) for one in row] for row in self.insertions]
        return Frame(
            step,
            positions[self.nodes],
            stress[self.nodes],
            rods,
            own,
            np.array(peaks).reshape(len(self.insertions), len(self.model.problem.bodies)),
        )

    def joined(self, frames: tuple[Frame, ...], time_step: float) -> KneeFrames:
        """All frames with the triangles they are on."""
        return KneeFrames(
            tuple(self.model.problem.bodies),
            self.model.ligaments,
            self.triangles,
            self.body,
            self.is_cartilage,
            time_step * np.array([frame.step for frame in frames], dtype=float),
            *(
                np.stack([getattr(one, name) for one in frames])
                for name in ("positions", "stress", "rods", "rod_stress", "insertion_stress")
            ),
        )


def nodal_stress(model: DynamicKnee, state: State) -> Array:
    """Von Mises stress at all nodes, MPa: mean of the elements there, viscous stress too.

    Means do not mix materials: nodes between bone and cartilage have the stress of bone.
    """
    found = np.zeros(len(model.problem.positions))
    for name, body in model.problem.bodies.items():
        part = model.problem.parts[name]
        mesh = body.meshes.finest
        stress = stresses(
            mesh, body.bone, body.cartilage, state.displacement[part], state.velocity[part]
        )
        found[part] = _nodal_means(mesh, *(element_von_mises(one) for one in stress))
    return found


def _nodal_means(mesh: VolumeMesh, bone: Array, cartilage: Array) -> Array:
    """Means over the tetrahedra at each node; over prisms where there are none."""
    parts = []
    for elements, values in ((mesh.tetrahedra, bone), (mesh.prisms, cartilage)):
        corners = elements.shape[1]
        total = np.bincount(elements.ravel(), np.repeat(values, corners), len(mesh.nodes))
        count = np.bincount(elements.ravel(), minlength=len(mesh.nodes))
        parts.append((total, count))
    (own, count), (other, number) = parts
    mean = np.divide(other, number, out=np.zeros(len(mesh.nodes)), where=number > 0)
    return np.divide(own, count, out=mean, where=count > 0)
