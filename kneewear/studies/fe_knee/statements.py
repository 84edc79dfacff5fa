"""What Sander et al. (2012) state about their dynamic knee, beside the numbers found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.settings.fe_knee import FeKneeSettings
from kneewear.studies.fe_knee.bones import FEMUR, TIBIA, KneeBones
from kneewear.studies.fe_knee.checks import check_parts, cycle_rates
from kneewear.studies.fe_knee.run import KneeFrames, KneeRun
from kneewear.studies.multibody.result import OWN_CHECK, statements
from kneewear.studies.point_contact.results import Statement, stated

Array = NDArray[np.float64]
Row = Statement | tuple[Any, ...]

SOURCE = "section 5"
# Steps that count as the same as a printed one.
_NEAR_STEPS = 3
# The printed gap of the obstacle, mm, and the printed step of first contact.
_PRINTED_GAP, _PRINTED_STEP = 1.0, 11
# A rise of energy below this part of the energy at the start is within the tolerance of coupling
# and solver.
_ENERGY_TOLERANCE = 1e-4
# Reversals of the number of contact nodes within one contact: up, down, and the increase that the
# source sees at the end of the first contact.
_REVERSALS = 4


def knee_statements(run: KneeRun, bones: KneeBones, settings: FeKneeSettings) -> pd.DataFrame:
    """Table of all statements, numbered as the capabilities they belong to, and own checks."""
    checks = list(check_parts(bones, settings))
    rows: list[Row] = [
        *_meshes(run.meshes, settings),
        *_contact(run.history),
        *_energy(run.history, settings),
        *_solvers(run.history, settings),
        *_fall(run.history, settings),
        *_stress(run, settings),
    ]
    rows += checks
    return statements(sorted(rows, key=lambda row: int(row[0].split()[0][1:])))


def phases(values: Array) -> list[tuple[int, int]]:
    """First and last numbers of the runs of values above zero."""
    on = np.concatenate([[False], np.asarray(values) > 0.0, [False]])
    change = np.flatnonzero(on[1:] != on[:-1])
    return [(int(a), int(b) - 1) for a, b in zip(change[::2], change[1::2], strict=True)]


def reversals(counts: Array) -> int:
    """How often a series of numbers turns from rising to falling or back."""
    change = np.diff(np.asarray(counts, dtype=float))
    signs = np.sign(change[change != 0.0])
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def _meshes(meshes: pd.DataFrame, settings: FeKneeSettings) -> Iterator[Row]:
    printed = {
        (FEMUR, "tetrahedra"): 3787, (TIBIA, "tetrahedra"): 2550,
        (FEMUR, "prisms"): 171, (TIBIA, "prisms"): 129,
    }  # fmt: skip
    own = meshes.set_index("body").to_dict("index")
    for (body, kind), number in printed.items():
        yield (
            f"D2 Coarse {kind} of the {body}", f"{own[body][kind]}", "", f"{number}", None,
            SOURCE,
        )  # fmt: skip
    elements = int(meshes[["fine_tetrahedra", "fine_prisms"]].to_numpy().sum())
    nodes = int(meshes["fine_nodes"].sum())
    yield (
        "D2 Elements on the finest meshes",
        f"{elements}",
        "",
        "504960 (with a fibula)",
        None,
        SOURCE,
    )
    yield "D2 Unknowns on the finest meshes", f"{3 * nodes}", "", "315741", None, SOURCE
    expected = 8**settings.bones.refinements
    coarse = int(meshes[["tetrahedra", "prisms"]].to_numpy().sum())
    yield stated(
        "D2 Refinement divides each element into eight", OWN_CHECK, f"{expected}",
        f"{elements / coarse:g}", elements == expected * coarse,
    )  # fmt: skip


def _contact(history: pd.DataFrame) -> Iterator[Row]:
    """Non-penetration, and contact nodes that do not oscillate."""
    worst = float(history["penetration_mm"].max())
    yield stated(
        "D3 Weak penetration at any contact node and step", OWN_CHECK, "below 1e-9 mm",
        f"{worst:.1g} mm", worst < 1e-9,
    )  # fmt: skip
    for group in ("obstacle", "cartilage"):
        nodes = history[f"{group}_nodes"].to_numpy()
        found = phases(nodes)
        turns = [reversals(np.r_[0.0, nodes[a : b + 1], 0.0]) for a, b in found]
        yield stated(
            f"D4 No oscillation of the number of contact nodes, {group}", "Fig. 10",
            f"at most {_REVERSALS} reversals in a contact",
            f"{max(turns)} in {len(found)} contacts" if found else "no contact",
            bool(found) and max(turns) <= _REVERSALS,
        )  # fmt: skip


def _energy(history: pd.DataFrame, settings: FeKneeSettings) -> Iterator[Row]:
    total = history["total_mj"].to_numpy()
    start = total[0]
    rise = float(np.diff(total).max(initial=0.0)) / start
    yield stated(
        "D4 Total energy never rises", "Theorem 2.3",
        f"largest rise in a step below {100 * _ENERGY_TOLERANCE:g} % of the energy at the start",
        f"{100 * rise:.2g} %", rise < _ENERGY_TOLERANCE,
    )  # fmt: skip
    free = _before_contact(history)
    change = float(np.abs(total[free] - start).max()) / start
    yield stated(
        "D4 Energy is constant before contact changes", "Theorem 2.3", "relative change below 1e-6",
        f"{change:.1g}", change < 1e-6,
    )  # fmt: skip
    momentum = history[[f"momentum_{axis}_n_s" for axis in "xyz"]].to_numpy()
    weight = _mass(history, settings) * 1e3 * np.array(settings.gravity_m_per_s2)
    seconds = 1e-3 * history["time_ms"].to_numpy()[free, None]
    off = np.abs(momentum[free] - momentum[0] - weight * seconds).max()
    error = float(off / max(np.abs(momentum[0]).max(), 1e-30))
    yield stated(
        "D4 Momentum in free fall changes by gravity alone", "Theorem 2.2",
        "relative error below 1e-6", f"{error:.1g}", error < 1e-6,
    )  # fmt: skip
    if settings.rods is None:
        lost = history[["viscous_loss_mj", "contact_loss_mj", "stabilisation_loss_mj"]].sum(axis=1)
        balance = float(np.abs(total + lost - start).max()) / start
        yield stated(
            "D4 Energy and losses by viscosity, contact and stabilisation are in balance",
            OWN_CHECK, "relative error below 1e-6", f"{balance:.1g}", balance < 1e-6,
        )  # fmt: skip
    yield from _dissipation(history, settings)


def _mass(history: pd.DataFrame, settings: FeKneeSettings) -> float:
    """Mass of everything, t, from the kinetic energy at the start, where all has one velocity."""
    kinetic = float(history["bone_kinetic_mj"].iloc[0] + history["rod_kinetic_mj"].iloc[0])
    speed = 1e3 * float(np.linalg.norm(settings.velocity_m_per_s))
    return 2.0 * kinetic / speed**2 if speed > 0.0 else 0.0


def _before_contact(history: pd.DataFrame) -> slice:
    """Steps before the first contact of either kind."""
    touching = (history["obstacle_nodes"] > 0.0) | (history["cartilage_nodes"] > 0.0)
    first = int(np.argmax(touching)) if touching.any() else len(history)
    return slice(0, first)


def _dissipation(history: pd.DataFrame, settings: FeKneeSettings) -> Iterator[Row]:
    """Where energy is lost."""
    drop = -np.diff(history["total_mj"].to_numpy())
    start = float(history["total_mj"].iloc[0])
    lost = max(float(drop.sum()), 1e-30)
    cartilage = history["cartilage_nodes"].to_numpy()[1:] > 0.0
    obstacle = history["obstacle_nodes"].to_numpy()[1:] > 0.0
    share = float(drop[cartilage].sum()) / lost
    yield stated(
        "D10 Most of the energy is lost in the contact of femur and tibia", "Fig. 9",
        "above 50 % of all losses",
        f"{100 * share:.0f} % there, {100 * float(drop[obstacle].sum()) / lost:.0f} % during "
        f"contact with the obstacle, of {100 * lost / start:.0f} % of the energy at the start",
        share > 0.5,
    )  # fmt: skip
    if settings.rods is not None:
        apart = ~cartilage & ~obstacle
        coupling = np.diff(history["coupling_loss_mj"].to_numpy())
        found = float(coupling[apart].sum()) / start
        yield stated(
            "D10 The coupling loses a little energy without contact", "Fig. 9",
            "above 0, below 1 % of the energy at the start",
            f"{100 * found:.2g} % in {int(apart.sum())} steps", 0.0 < found < 0.01,
        )  # fmt: skip


def _solvers(history: pd.DataFrame, settings: FeKneeSettings) -> Iterator[Row]:
    rows = history.iloc[1:]
    if settings.rods is not None:
        most = int(rows["coupling_iterations"].max())
        yield stated(
            f"D6 Iterations of the coupling for {settings.coupling.tolerance:g} with a damping of "
            f"{settings.coupling.damping:g}", SOURCE,
            "at most 5", f"{most}", most <= 5,
        )  # fmt: skip
        rate = float(rows["coupling_rate"].mean())
        yield "D6 Mean rate of the coupling", f"{rate:.2f}", "", "0.12", None, SOURCE
        gap = float(rows["coupling_gap_mm"].max())
        yield stated(
            "D6 Ends of the rods are on their insertions", OWN_CHECK, "within 1e-3 mm",
            f"{gap:.1g} mm", gap < 1e-3,
        )  # fmt: skip
    if settings.solver.method == "truncated_newton":
        cycles = settings.solver.linear_cycles
        touching = (rows[["cartilage_nodes", "obstacle_nodes"]] > 0.0).any(axis=1).to_numpy()
        rates = rows["solver_rate"]
        if cycles == 1:
            yield from cycle_rates(rates.to_numpy(), touching, settings, "")
        else:
            # The printed rates are those of plain cycles (`checks`).
            sweeps = settings.solver.smoothing_steps
            yield (
                f"D7 Mean rate of one of {cycles} V({sweeps},{sweeps}) cycles with conjugate "
                "gradients, of all steps and of those in contact",
                f"{rates.mean():.2f}, {rates[touching].mean():.2f}", "", "", None, OWN_CHECK,
            )  # fmt: skip
    solves = rows["coupling_iterations"].clip(lower=1.0)
    each = float((rows["bone_seconds"] / solves).mean())
    yield (
        "D11 Processor time of a contact problem", f"{each:.2g} s", "",
        "70 s with 315741 unknowns at 2.6 GHz", None, SOURCE,
    )  # fmt: skip
    if settings.rods is not None:
        rods = float((rows["rod_seconds"] / solves).mean())
        yield stated(
            "D11 Processor time of the rods", SOURCE, "below 1 s", f"{rods:.2g} s", rods < 1.0
        )


def _fall(history: pd.DataFrame, settings: FeKneeSettings) -> Iterator[Row]:
    """Steps of contact and separation; gaps were chosen for them."""
    obstacle, cartilage = (phases(history[f"{name}_nodes"].to_numpy()) for name in
                           ("obstacle", "cartilage"))  # fmt: skip
    first = obstacle[0][0] if obstacle else -1
    yield stated(
        f"D8 First contact with the obstacle, gap {settings.obstacle_gap_mm:g} mm", SOURCE,
        f"step {_PRINTED_STEP}", f"step {first}" if obstacle else "none", first == _PRINTED_STEP,
        chosen=True,
    )  # fmt: skip
    printed = _steps_of_fall(_PRINTED_GAP, settings)
    yield stated(
        f"D8 First contact with the printed gap of {_PRINTED_GAP:g} mm, in free fall", SOURCE,
        f"step {_PRINTED_STEP}", f"step {printed}", printed == _PRINTED_STEP,
    )  # fmt: skip
    start = cartilage[0][0] if cartilage else -1
    yield stated(
        f"D8 First contact of the cartilages, gap {settings.bones.joint_gap_mm:g} mm (not printed)",
        SOURCE, f"step 48 within {_NEAR_STEPS}", f"step {start}" if cartilage else "none",
        abs(start - 48) <= _NEAR_STEPS, chosen=True,
    )  # fmt: skip
    end = cartilage[0][1] + 1 if cartilage else -1
    yield stated(
        "D8 The joint separates", SOURCE, f"step 66 within {_NEAR_STEPS}",
        f"step {end}" if cartilage else "none", abs(end - 66) <= _NEAR_STEPS,
    )  # fmt: skip
    length = 1e3 * (end - start) * settings.time_step_s if cartilage else float("nan")
    yield stated(
        "D8 Duration of the first contact of the cartilages", SOURCE, "0.18 ms within 25 %",
        f"{length:.2g} ms", abs(length - 0.18) <= 0.045,
    )  # fmt: skip


def _steps_of_fall(gap: float, settings: FeKneeSettings) -> int:
    """Step at whose end a point that falls freely has passed a gap, mm."""
    speed = -1e3 * settings.velocity_m_per_s[1]
    gravity = -1e3 * settings.gravity_m_per_s2[1]
    if speed <= 0.0 and gravity <= 0.0:
        return -1
    root = np.sqrt(max(speed, 0.0) ** 2 + 2.0 * gravity * gap)
    seconds = 2.0 * gap / (max(speed, 0.0) + root)
    return int(np.ceil(seconds / settings.time_step_s))


def _stress(run: KneeRun, settings: FeKneeSettings) -> Iterator[Row]:
    """Stress in the tibia, the femur and at the insertions."""
    frames, history = run.frames, run.history
    step = np.rint(frames.time / settings.time_step_s).astype(int)
    peaks = {name: body_peaks(frames, name) for name in frames.bodies}
    obstacle = phases(history["obstacle_nodes"].to_numpy())
    cartilage = phases(history["cartilage_nodes"].to_numpy())
    if obstacle:
        before, after = step < obstacle[0][0], (step >= obstacle[0][0]) & (step < 30)
        quiet, wave = (_most(peaks[TIBIA], one) for one in (before, after))
        yield stated(
            "D9 Stress in the tibia comes with the obstacle (von Mises, bone)", "Fig. 8",
            "none before step 11", f"{quiet:.2g} MPa before, up to {wave:.3g} MPa after",
            quiet < 0.01 * wave,
        )  # fmt: skip
    if settings.rods is not None:
        at = int(np.argmin(np.abs(step - 30)))
        found = float(frames.insertion_stress[at].max(initial=0.0))
        most = float(peaks[TIBIA].max())
        yield stated(
            f"D9 Small stresses at the insertions at step {step[at]}", "Fig. 8",
            "above 0, small beside those of the impact",
            f"{found:.2g} MPa, {100 * found / max(most, 1e-30):.0f} % of the tibia's largest",
            0.0 < found < 0.5 * most,
        )  # fmt: skip
    if cartilage:
        before, after = step < cartilage[0][0], step >= cartilage[0][0]
        calm, wave = (_most(peaks[FEMUR], one) for one in (before, after))
        yield stated(
            "D9 Contact of the cartilages causes a second wave, through the femur", "Fig. 8",
            "larger stress than before", f"{wave:.3g} MPa after, {calm:.3g} MPa before",
            wave > calm,
        )  # fmt: skip


def body_peaks(frames: KneeFrames, body: str) -> Array:
    """Largest von Mises stress at the boundary of a bone in each frame, cartilage left out, MPa."""
    own = frames.triangles[frames.triangle_body == frames.bodies.index(body)]
    nodes = np.unique(own)
    return np.asarray(frames.stress[:, nodes[~frames.is_cartilage[nodes]]].max(axis=1))


def _most(values: Array, chosen: NDArray[np.bool_]) -> float:
    return float(values[chosen].max(initial=0.0))
