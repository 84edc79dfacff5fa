"""Own checks of the parts of a dynamic finite-element knee, computed with every study."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kneewear.fe.boundary import boundary_distance
from kneewear.fe.elasticity import assembled, stresses
from kneewear.fe.mortar import dual_basis
from kneewear.fe.rod_step import RodSystem
from kneewear.fe.rods import RodState
from kneewear.fe.volume_mesh import element_volumes, hierarchy
from kneewear.mechanics.rotation_vectors import exponential
from kneewear.settings.fe_knee import FeKneeSettings, SimplifiedBonesSettings
from kneewear.studies.fe_knee.bones import CONTACT, KneeBones, build_bones
from kneewear.studies.fe_knee.model import (
    KneeModel,
    rod_material,
    solid_material,
)
from kneewear.studies.multibody.result import OWN_CHECK
from kneewear.studies.point_contact.results import Statement, stated

Array = NDArray[np.float64]

# A boundary so near to its surface, mm, needs no move.
_ON_SURFACE = 1e-6
# Steps of a free rod whose energy and momenta are compared.
_ROD_STEPS = 30
# Solvers that are compared with a factorisation.
MULTIGRID = {"truncated_newton": "Truncated Newton", "active_set": "Active set"}
# The damping of the source (section 5), and steps with contact for which it is tried.
_DAMPING, _DAMPED_STEPS = 0.6, 20
# Bones, far coarser than those of a study, on which two solvers are compared.
_SMALL = SimplifiedBonesSettings(
    size_mm=(30.0, 24.0, 48.0),
    condyle_radii_mm=(30.0, 20.0),
    condyle_spacing_mm=24.0,
    cartilage_size_mm=(20.0, 20.0),
    attachments_mm={},
)


def check_parts(bones: KneeBones, settings: FeKneeSettings) -> Iterator[Statement]:
    """Checks of elements, contact, rods and solvers, in the order of the capabilities."""
    yield from _elements(bones, settings)
    yield from _refinement(bones, settings)
    yield _biorthogonality(bones)
    if settings.rods is not None:
        yield from _rods(settings)
        yield _damping(bones, settings)
    if settings.solver.method != "direct":
        yield from _solvers(settings)
    if settings.solver.method == "truncated_newton" and settings.solver.linear_cycles > 1:
        yield from _cycles(bones, settings)


def _elements(bones: KneeBones, settings: FeKneeSettings) -> Iterator[Statement]:
    """Patch test of bone and cartilage; viscous power against that of the stress."""
    mesh = bones.femur
    bone, cartilage = (
        solid_material(one) for one in (settings.materials.bone, settings.materials.cartilage)
    )
    gradient = 1e-3 * np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 0.3], [-0.7, 0.2, 0.8]])
    field = mesh.nodes @ gradient.T
    strain = 0.5 * (gradient + gradient.T)
    error = 0.0
    for found, material in zip(
        stresses(mesh, bone, cartilage, field), (bone, cartilage), strict=True
    ):
        expected = _isotropic(strain, material.elastic_moduli)
        error = max(error, float(np.abs(found - expected).max() / np.abs(expected).max()))
    yield stated(
        "D1 Patch test: a uniform strain gives the uniform stress of the law in all elements",
        OWN_CHECK, "relative error 0", f"{error:.1g}", error < 1e-9,
    )  # fmt: skip
    viscosity = assembled(mesh, bone, cartilage).viscosity
    power = float(field.ravel() @ (viscosity @ field.ravel()))
    volume = float(element_volumes(mesh)[1].sum())
    exact = volume * float(np.sum(_isotropic(strain, cartilage.viscous_moduli) * strain))
    off = abs(power / exact - 1.0) if exact else abs(power)
    yield stated(
        "D1 Viscous dissipation b(v, v) of a uniform rate of strain is that of the cartilage's "
        "volume", OWN_CHECK, "relative error 0", f"{off:.1g}", off < 1e-9,
    )  # fmt: skip


def _isotropic(strain: Array, moduli: tuple[float, float]) -> Array:
    return moduli[0] * np.trace(strain) * np.eye(3) + 2.0 * moduli[1] * strain


def _refinement(bones: KneeBones, settings: FeKneeSettings) -> Iterator[Statement]:
    """Distance of refined boundaries from their surface, and columns of cartilage."""
    for body, levels in bones.hierarchies(settings.bones).items():
        if body in bones.surfaces:
            away = boundary_distance(levels.finest, bones.surfaces[body])
            plain = hierarchy(bones.meshes[body], settings.bones.refinements).finest
            before = boundary_distance(plain, bones.surfaces[body])
            yield stated(
                f"D2 New boundary nodes of the {body} follow its surface",
                OWN_CHECK, f"mean distance below {before:.2g} mm without", f"{away:.2g} mm",
                away < before or away < _ON_SURFACE,
            )  # fmt: skip
        mesh = levels.finest
        heights = np.linalg.norm(mesh.nodes[mesh.prisms[:, 3:]] - mesh.nodes[mesh.prisms[:, :3]],
                                 axis=-1)  # fmt: skip
        even = settings.bones.cartilage_mm / 2**settings.bones.refinements
        share = float((np.abs(heights / even - 1.0) < 0.01).mean())
        yield stated(
            f"D2 Columns of the cartilage of the {body} are evenly divided, at its thickness",
            OWN_CHECK, "most edges within 1 %", f"{100.0 * share:.0f} % of edges", share > 0.5,
        )  # fmt: skip


def _biorthogonality(bones: KneeBones) -> Statement:
    """Equation 27 on the triangles of the femoral cartilage."""
    triangles = bones.femur.patches[CONTACT]
    at = bones.femur.nodes[triangles]
    area = 0.5 * np.linalg.norm(np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]), axis=1)
    products = area[:, None, None] * (np.ones((3, 3)) + np.eye(3)) / 12.0
    found = dual_basis(products) @ products
    expected = area[:, None, None] / 3.0 * np.eye(3)
    error = float(np.abs(found - expected).max() / area.max())
    return stated(
        "D3 Dual functions are biorthogonal to linear ones on the femoral cartilage (Eq. 27)",
        OWN_CHECK, "relative error 0", f"{error:.1g}", error < 1e-12,
    )  # fmt: skip


def _rods(settings: FeKneeSettings) -> Iterator[Statement]:
    """Strain of a rigid motion; energy and momenta of a free rod that is bent and spins."""
    elements = settings.rods.elements if settings.rods else 1
    system = RodSystem((rod_material(settings),), np.array([40.0]), elements)
    straight = system.straight([[0.0, 0.0, 0.0]], [[0.0, 40.0, 0.0]])
    moved = straight.turned(exponential(np.array([0.7, -1.1, 0.4])), [3.0, -5.0, 2.0])
    strain = float(np.abs(system.strains(moved)).max())
    yield stated(
        "D5 A rigid motion leaves the strains of a rod zero",
        OWN_CHECK, "0", f"{strain:.1g}", strain < 1e-12,
    )  # fmt: skip
    at = np.linspace(0.0, 1.0, elements + 1)[:, None]
    bend = np.sin(np.array([3.0, 2.0, 4.0]) * at)
    state = RodState(
        straight.position + bend,
        exponential(0.2 * bend[None]) @ straight.rotation,
        straight.velocity + 1e3 * bend[:, [1, 2, 0]],
        straight.spin + 100.0 * bend[:, [2, 0, 1]],
    )
    first = _invariants(system, state)
    for _ in range(_ROD_STEPS):
        state = system.step(state, settings.time_step_s, held=(False, False)).state
    last = _invariants(system, state)
    for name, before, after in zip(
        ("energy", "linear momentum", "angular momentum"), first, last, strict=True
    ):
        error = float(np.linalg.norm(after - before) / np.linalg.norm(before))
        yield stated(
            f"D5 A free rod conserves its {name} over {_ROD_STEPS} steps",
            OWN_CHECK, "relative change 0", f"{error:.1g}", error < 1e-9,
        )  # fmt: skip


def _invariants(system: RodSystem, state: RodState) -> tuple[Array, Array, Array]:
    energy = np.asarray(system.energy(state))
    return energy, system.momentum(state)[0], system.angular_momentum(state)[0]


def _damping(bones: KneeBones, settings: FeKneeSettings) -> Statement:
    """Iterations of the coupling with the damping of the source, on the coarse meshes."""
    coupling = settings.coupling.model_copy(update={"damping": _DAMPING})
    coarse = settings.model_copy(
        update={
            "bones": settings.bones.model_copy(update={"refinements": 0}),
            "solver": settings.solver.model_copy(update={"method": "direct"}),
            "coupling": coupling,
        }
    )
    model = KneeModel(bones, coarse)
    state, most = model.start(), 0
    for _ in range(min(_DAMPED_STEPS, settings.steps)):
        found = model.step(state)
        state, most = found.state, max(most, found.coupling.iterations if found.coupling else 0)
    return stated(
        f"D6 Iterations of the coupling with the damping of the source, {_DAMPING:g}, on the "
        f"coarse meshes, {_DAMPED_STEPS} steps", "section 5", "at most 5", f"{most}", most <= 5,
    )  # fmt: skip


def _solvers(settings: FeKneeSettings) -> Iterator[Statement]:
    """First steps of contact of a small knee by both multigrid solvers and by a factorisation."""
    small = replaced(settings)
    bones = build_bones(small.bones)
    moved = 1e3 * small.time_step_s * small.steps
    exact = _fallen(bones, small, "direct")[0]
    for method, name in MULTIGRID.items():
        found, iterations, seconds = _fallen(bones, small, method)
        error = float(np.abs(found - exact).max()) / moved
        yield stated(
            f"D7 {name} finds the solution of a factorised "
            f"active set, {small.steps} steps of a small knee in contact", OWN_CHECK,
            "relative difference below 1e-3",
            f"{error:.1g}, {iterations:.1f} iterations and {seconds:.2g} s in a step",
            error < 1e-3,
        )  # fmt: skip


def _cycles(bones: KneeBones, settings: FeKneeSettings) -> Iterator[Statement]:
    """Rate of a plain linear cycle, as in the source, over the same fall without ligaments."""
    solver = settings.solver.model_copy(update={"linear_cycles": 1})
    model = KneeModel(bones, settings.model_copy(update={"solver": solver, "rods": None}))
    state, rates, touching = model.start(), [], []
    for _ in range(settings.steps):
        found = model.step(state)
        state = found.state
        rates.append(found.solutions[0][1])
        touching.append(bool(found.bodies.active.any()))
    yield from cycle_rates(np.array(rates), np.array(touching), settings, ", one in an iteration")


def cycle_rates(
    rates: Array, touching: NDArray[np.bool_], settings: FeKneeSettings, how: str
) -> Iterator[Statement]:
    """Mean rates of plain cycles of some steps beside the printed ones."""
    sweeps, tolerance = settings.solver.smoothing_steps, settings.solver.tolerance
    for where, chosen, printed in (
        ("", np.isfinite(rates), 0.30),
        (" in contact", np.isfinite(rates) & touching, 0.35),
    ):
        if chosen.any():
            found = float(rates[chosen].mean())
            yield stated(
                f"D7 Mean rate of a V({sweeps},{sweeps}) cycle{where}, to {tolerance:g}{how}",
                "section 5", f"{printed:.2f} or less", f"{found:.2f}", found < printed + 0.005,
            )  # fmt: skip


def _fallen(bones: KneeBones, settings: FeKneeSettings, method: str) -> tuple[Array, float, float]:
    """Displacements after all steps, and mean iterations and CPU seconds of a step."""
    solver = settings.solver.model_copy(update={"method": method})
    model = KneeModel(bones, settings.model_copy(update={"solver": solver}))
    state, iterations, seconds = model.start(), [], []
    for _ in range(settings.steps):
        found = model.step(state)
        state = found.state
        iterations += [count for count, _ in found.solutions]
        seconds.append(found.seconds[0])
    return state.bodies.displacement, float(np.mean(iterations)), float(np.mean(seconds))


def replaced(settings: FeKneeSettings) -> FeKneeSettings:
    """The study with small simplified bones, both contacts at once, and few steps."""
    bones = settings.bones.model_copy(
        update={
            "source": "simplified", "simplified": _SMALL, "element_mm": 12.0,
            "joint_gap_mm": 0.0, "refinements": 1, "cartilage_mm": 1.5,
        }
    )  # fmt: skip
    update = {"bones": bones, "rods": None, "obstacle_gap_mm": 0.02, "steps": 6}
    return settings.model_copy(update=update)
