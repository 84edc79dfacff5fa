"""A dynamic finite-element knee: bones in contact, rods between them, and one step of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.papers.fe_knee.bone_meshes import insertion_patch
from kneewear.knees.papers.fe_knee.bones import (
    BASE,
    CONTACT,
    FEMUR,
    FIBULA,
    TIBIA,
    TIE,
    KneeBones,
    tie_reach,
)
from kneewear.knees.papers.fe_knee.bounded import DirectActiveSet, Discretisation, Solver
from kneewear.knees.papers.fe_knee.constraints import HalfSpace
from kneewear.knees.papers.fe_knee.elasticity import KelvinVoigt
from kneewear.knees.papers.fe_knee.insertions import insertion
from kneewear.knees.papers.fe_knee.newmark import (
    BodyPair,
    ContactProblem,
    ElasticBody,
    PrescribedMotion,
    RigidObstacle,
    State,
    Step,
)
from kneewear.knees.papers.fe_knee.rod_coupling import (
    AttachedBodies,
    Attachment,
    CoupledStep,
    DirichletNeumann,
    coupled_step,
)
from kneewear.knees.papers.fe_knee.rod_step import RodSystem
from kneewear.knees.papers.fe_knee.rods import RodMaterial, RodState
from kneewear.knees.papers.fe_knee.settings import (
    ContactSolverSettings,
    FeKneeSettings,
    RegionSettings,
    SolidMaterialSettings,
    ViscousMaterialSettings,
)
from kneewear.knees.papers.fe_knee.truncated_newton import TruncatedNewton
from kneewear.knees.papers.fe_knee.volume_mesh import VolumeMesh

Array = NDArray[np.float64]

# Conditions of the contact problem, in the order of its groups.
GROUPS = ("cartilage", "obstacle")
_DENSITY = 1e-9  # t/mm3 per g/cm3
_PER_METRE = 1e3
# Cartilage surfaces at most so far apart along a normal, mm, are in one contact mapping.
_REACH = 8.0


@dataclass(frozen=True)
class KneeState:
    """State of bones, and of rods where there are some."""

    bodies: State
    rods: RodState | None


@dataclass(frozen=True)
class KneeStep:
    """Result of a step: new state, steps of bodies and rods, and how they were found.

    `coupling` is None without rods; `solutions` are the iterations of the contact solver and its
    rates per linear cycle in each iteration of the coupling; `seconds` the CPU time of bodies and
    of rods.
    """

    state: KneeState
    bodies: Step
    coupling: CoupledStep | None
    solutions: tuple[tuple[int, float], ...]
    seconds: tuple[float, float]


def solid_material(settings: SolidMaterialSettings) -> KelvinVoigt:
    """Material in N, mm, s and t."""
    return KelvinVoigt(
        settings.youngs_modulus_mpa,
        settings.poisson_ratio,
        settings.density_g_per_cm3 * _DENSITY,
        settings.viscosity_mpa_s if isinstance(settings, ViscousMaterialSettings) else 0.0,
    )


def rod_material(settings: FeKneeSettings) -> RodMaterial:
    """Material and radius of the rods; ValueError without rods."""
    if settings.rods is None:
        raise ValueError("there are no rods")
    own = settings.materials.ligament
    return RodMaterial(
        own.youngs_modulus_mpa,
        own.poisson_ratio,
        own.density_g_per_cm3 * _DENSITY,
        settings.rods.radius_mm,
    )


class DynamicKnee:
    """Bones with cartilage, contact, obstacle and rods, and steps in time.

    Parameters
    ----------
    bones : KneeBones
        Coarse meshes.
    settings : FeKneeSettings
        Materials, start, steps and solvers.

    Attributes
    ----------
    problem : ContactProblem
        The bones; the femoral cartilage has the contact conditions.
    rods : RodSystem or None
        The ligaments, with their pre-strain at the start.

    Notes
    -----
    The obstacle is the half-space below the lowest point of tibia and fibula and the gap. A fibula
    is tied to the tibia at their lower ends by equality constraints of mortar type, and touches it
    nowhere else, as in the source (section 5, remark 3.2).
    """

    def __init__(self, bones: KneeBones, settings: FeKneeSettings) -> None:
        self.settings = settings
        self.ligaments = settings.ligaments
        materials = settings.materials
        bodies = [
            ElasticBody(
                name,
                levels,
                solid_material(materials.bone),
                solid_material(materials.cartilage),
            )
            for name, levels in bones.hierarchies(settings.bones).items()
        ]
        floor = bones.lowest - settings.obstacle_gap_mm
        plane = HalfSpace(np.array([0.0, floor, 0.0]), np.array([0.0, 1.0, 0.0]))
        self.gravity = _PER_METRE * np.array(settings.gravity_m_per_s2)
        further = [FIBULA] if bones.fibula is not None else []
        self.problem = ContactProblem(
            bodies,
            settings.time_step_s,
            contact_solver(settings.solver),
            [BodyPair((FEMUR, CONTACT), (TIBIA, CONTACT), _REACH)],
            [RigidObstacle((TIBIA, BASE), plane, tuple((one, BASE) for one in further))],
            self.gravity,
            self._nodal_loads(bodies, bones.raised),
            [
                BodyPair((FIBULA, TIE), (TIBIA, TIE), tie_reach(bones, settings.bones))
                for _ in further
            ],
            self._motions(bodies, bones.raised),
        )
        self.rods: RodSystem | None = None
        self.attachments: list[tuple[Attachment, Attachment]] = []
        if self.ligaments:
            self._insert_rods(bodies)

    def _nodal_loads(self, bodies: list[ElasticBody], raised: float) -> dict[str, Array]:
        """Forces of the tractions at the nodes of each body, even over the area of their patch."""
        found = {body.name: np.zeros(body.meshes.finest.nodes.shape) for body in bodies}
        for name, one in self.settings.tractions.items():
            mesh, patch = _region(bodies, raised, one, f"fe_knee.tractions.{name}")
            area = np.linalg.norm(TriangleMesh(mesh.nodes, patch).face_normals, axis=1)
            share = np.repeat(area / (3.0 * area.sum()), 3)[:, None]
            np.add.at(found[one.body], patch.ravel(), share * np.array(one.force_n))
        return found

    def _motions(self, bodies: list[ElasticBody], raised: float) -> list[PrescribedMotion]:
        """Prescribed motions; InputDataError if one meets another or a part that does not move."""
        found: list[PrescribedMotion] = []
        for name, one in self.settings.prescribed.items():
            where = f"fe_knee.prescribed.{name}"
            mesh, patch = _region(bodies, raised, one, where)
            nodes = np.unique(patch)
            down = -one.displacement_mm[1] > self.settings.obstacle_gap_mm
            parts = {CONTACT, TIE, *self.ligaments} | ({BASE} if down else set())
            taken = {key: part for key, part in mesh.patches.items() if key in parts}
            taken |= {
                other: motion.nodes
                for other, motion in zip(self.settings.prescribed, found, strict=False)
                if motion.body == one.body
            }
            met = [key for key, part in taken.items() if np.isin(nodes, part).any()]
            if met:
                raise InputDataError(
                    where,
                    f"a part of the {one.body} that meets: {', '.join(met)}",
                    "one apart from insertions, contact, tie and other motions, and no way into "
                    "the obstacle",
                    "Move the place, take a smaller radius or finer meshes.",
                )
            motion = np.array(one.displacement_mm)
            found.append(PrescribedMotion(one.body, nodes, motion, one.ramp_s))
        return found

    def _insert_rods(self, bodies: list[ElasticBody]) -> None:
        """Straight rods between the insertions, unstressed or with their pre-strain."""
        patches = [
            [
                (number, insertion(mesh.nodes, mesh.patches[name], mesh.tetrahedra))
                for number, mesh in enumerate(body.meshes.finest for body in bodies)
                if name in mesh.patches
            ]
            for name in self.ligaments
        ]
        ends = np.array([[one.centroid for _, one in pair] for pair in patches])
        count = len(self.ligaments)
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        material, own = rod_material(self.settings), self.settings.rods
        elements, strain = (own.elements, own.pre_strain) if own else (1, 0.0)
        unstressed = lengths / (1.0 + strain)
        self.rods = RodSystem((material,) * count, unstressed, elements, tuple(self.gravity))
        self._rods_at_start = self.rods.straight(ends[:, 0], ends[:, 1], self._velocity)
        self.rod_gravity_at_start = float(np.sum(self.rods.gravity_energy(self._rods_at_start)))
        rotation = self._rods_at_start.rotation
        self.attachments = [
            (Attachment(*first, rotation[rod, 0]), Attachment(*second, rotation[rod, -1]))
            for rod, (first, second) in enumerate(patches)
        ]

    @property
    def _velocity(self) -> Array:
        return _PER_METRE * np.array(self.settings.velocity_m_per_s)

    def start(self) -> KneeState:
        """State at the start: undeformed, everything with the same velocity."""
        bodies = self.problem.at_rest(self._velocity)
        return KneeState(bodies, self._rods_at_start if self.rods is not None else None)

    def step(self, state: KneeState) -> KneeStep:
        """State after one time step; ConvergenceError if a solver or the coupling fails."""
        own = _BodiesInStep(self.problem, state.bodies)
        if self.rods is None or state.rods is None:
            found = own.solve(None)
            return KneeStep(
                KneeState(found.state, None), found, None, tuple(own.solutions), (own.seconds, 0.0)
            )
        settings = self.settings.coupling
        conserving = settings.rotation == "least_squares"
        attached = AttachedBodies(
            self.attachments,
            tuple(state.bodies.displacement[part] for part in self.problem.parts.values()),
            own.displacements,
            self.rods.ends(state.rods) if conserving else None,
        )
        started = process_time()
        scales = self._displacements(state) if settings.relative_to == "displacement" else None
        found_rods = coupled_step(
            self.rods,
            state.rods,
            self.problem.time_step,
            attached,
            settings=DirichletNeumann(
                settings.damping, settings.tolerance, settings.max_iterations
            ),
            scales=scales,
        )
        spent = process_time() - started
        if own.last is None:
            raise RuntimeError("a coupled step has at least one step of the bodies")
        new = KneeState(own.last.state, found_rods.rods.state)
        seconds = own.seconds, spent - own.seconds
        return KneeStep(new, own.last, found_rods, tuple(own.solutions), seconds)

    def _displacements(self, state: KneeState) -> tuple[float, float]:
        """Largest displacement of rods and of bones since the start, at least those of a step."""
        least = self.problem.time_step * float(np.abs(self._velocity).max())
        moved = state.rods.position - self._rods_at_start.position if state.rods else np.zeros(1)
        return (
            max(float(np.abs(moved).max()), least),
            max(float(np.abs(state.bodies.displacement).max()), least),
        )


def _region(
    bodies: list[ElasticBody], raised: float, one: RegionSettings, where: str
) -> tuple[VolumeMesh, NDArray[np.int64]]:
    """Finest mesh of a bone, and the triangles of a part of its surface."""
    mesh = next(body.meshes.finest for body in bodies if body.name == one.body)
    place = np.array(one.point_mm) + np.array([0.0, raised if one.body == FEMUR else 0.0, 0.0])
    return mesh, insertion_patch(mesh, place, one.radius_mm, where)


class _BodiesInStep:
    """The bones in one time step: solved once for every iteration of the coupling."""

    def __init__(self, problem: ContactProblem, state: State) -> None:
        self.problem, self.state = problem, state
        self.last: Step | None = None
        self.solutions: list[tuple[int, float]] = []
        started = process_time()
        self.prediction = problem.predict(state)
        self.seconds = process_time() - started

    def solve(self, load: Array | None) -> Step:
        """Step under nodal forces (n, 3), N."""
        started = process_time()
        self.last = self.problem.correct(self.state, self.prediction, load, self.last)
        self.seconds += process_time() - started
        found = self.last.solution
        rate = found.rate_per_cycle if np.isfinite(found.rate) else float("nan")
        self.solutions.append((found.iterations, rate))
        return self.last

    def displacements(self, loads: tuple[Array, ...]) -> tuple[Array, ...]:
        """Displacements of each bone after the step under its nodal forces."""
        found = self.solve(np.concatenate(loads)).state.displacement
        return tuple(found[part] for part in self.problem.parts.values())


def contact_solver(settings: ContactSolverSettings) -> Callable[[Discretisation], Solver]:
    """Solver of the settings, for `ContactProblem`."""
    if settings.method == "direct":
        return DirectActiveSet
    return partial(
        TruncatedNewton,
        tolerance=settings.tolerance,
        sweeps=settings.smoothing_steps,
        max_iterations=settings.max_iterations,
        cycles=settings.linear_cycles,
    )
