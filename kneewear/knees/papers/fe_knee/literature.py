"""Numbers of Sander et al. (2012) on their dynamic knee beside the computed ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import computed_rows, judge_number, published_rows
from kneewear.knees.papers.fe_knee.bones import FEMUR, TIBIA, KneeBones
from kneewear.knees.papers.fe_knee.model import GROUPS, DynamicKnee
from kneewear.knees.papers.fe_knee.run import KneeFrames, KneeRun
from kneewear.knees.papers.fe_knee.settings import FeKneeSettings

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Values = dict[str, float | dict[str, float]]

# The printed gap of the obstacle, mm, and the printed damping, with steps for which it is tried.
PRINTED_GAP = 1.0
PRINTED_DAMPING = 0.6
DAMPED_STEPS = 20
# Fewer nodes in contact cannot show whether their number oscillates: one or two come and go once.
MIN_CONTACT_NODES = 20
REVERSALS = "reversals of the number of contact nodes within a contact"
# The step at which stresses at insertions are shown (Fig. 8).
INSERTION_STEP = 30


def compare_fe_knee(run: KneeRun, bones: KneeBones, settings: FeKneeSettings) -> pd.DataFrame:
    """Judge the printed numbers by a run; solvers and coupling are tried as the source has them."""
    history = run.history
    computed = _meshes(run.meshes) | _contact(history) | _energy(history, settings)
    computed |= _fall(history, settings) | _stresses(run, settings) | _losses(history, settings)
    computed |= _solvers(history, settings)
    if settings.rods is not None:
        computed |= _damping(bones, settings)
    if settings.solver.method == "truncated_newton":
        computed |= _cycles(history, bones, settings)
    undecided = [
        (REVERSALS, group)
        for group in GROUPS
        if history[f"{group}_nodes"].max() < MIN_CONTACT_NODES
    ]
    return judge_number(published_rows(__package__), computed_rows(computed), undecided=undecided)


def phases(values: Array) -> list[tuple[int, int]]:
    """First and last numbers of the runs of values above zero."""
    on = np.concatenate([[False], np.asarray(values) > 0.0, [False]])
    change = np.flatnonzero(on[1:] != on[:-1])
    return [(int(a), int(b) - 1) for a, b in zip(change[::2], change[1::2], strict=True)]


def reversals(counts: Array) -> int:
    """Number of times that a series of numbers changes between rising and falling."""
    change = np.diff(np.asarray(counts, dtype=float))
    signs = np.sign(change[change != 0.0])
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def _in_contact(history: pd.DataFrame, group: str) -> Mask:
    return np.asarray(history[f"{group}_nodes"] > 0.0)


def _touching(history: pd.DataFrame) -> Mask:
    """Steps with either kind of contact."""
    return np.logical_or(*(_in_contact(history, group) for group in GROUPS))


def _meshes(meshes: pd.DataFrame) -> Values:
    coarse = meshes.set_index("body").to_dict("index")
    return {
        **{
            f"coarse {kind} of the {body}": float(coarse[body][kind])
            for body in coarse
            for kind in ("tetrahedra", "prisms")
        },
        "elements on the finest meshes": float(
            meshes[["fine_tetrahedra", "fine_prisms"]].to_numpy().sum()
        ),
        "unknowns on the finest meshes": 3.0 * float(meshes["fine_nodes"].sum()),
    }


def _contact(history: pd.DataFrame) -> Values:
    """Non-penetration, and contact nodes that do not oscillate."""
    turns: dict[str, float] = {}
    for group in GROUPS:
        nodes = history[f"{group}_nodes"].to_numpy()
        counts = [reversals(np.r_[0.0, nodes[a : b + 1], 0.0]) for a, b in phases(nodes)]
        turns |= {group: float(max(counts))} if counts else {}
    return {
        "largest penetration in the weak sense": float(history["penetration_mm"].max()),
        REVERSALS: turns,
    }


def _energy(history: pd.DataFrame, settings: FeKneeSettings) -> Values:
    total = history["total_mj"].to_numpy()
    start = total[0]
    touching = _touching(history)
    free = slice(0, int(np.argmax(touching)) if touching.any() else len(history))
    momentum = history[[f"momentum_{axis}_n_s" for axis in "xyz"]].to_numpy()
    weight = _mass(history, settings) * 1e3 * np.array(settings.gravity_m_per_s2)
    # Every constant force changes the momentum as the weight does.
    weight = weight + sum(np.array(traction.force_n) for traction in settings.tractions.values())
    seconds = 1e-3 * history["time_ms"].to_numpy()[free, None]
    off = np.abs(momentum[free] - momentum[0] - weight * seconds).max()
    values: Values = {}
    # Prescribed displacements do work, and nothing falls freely.
    if not settings.prescribed:
        values = {
            "largest rise of energy in a step over the energy at the start": float(
                np.diff(total).max(initial=0.0) / start
            ),
            "change of energy before contact over the energy at the start": float(
                np.abs(total[free] - start).max() / start
            ),
            "error of momentum in free fall over the momentum at the start": float(
                off / max(np.abs(momentum[0]).max(), 1e-30)
            ),
        }
    if settings.rods is None:
        names = ["viscous_loss_mj", "contact_loss_mj", "stabilisation_loss_mj"]
        lost = history[names].sum(axis=1) - _work(history)
        values["error of energy and losses over the energy at the start"] = float(
            np.abs(total + lost - start).max() / max(start, np.abs(_work(history)).max())
        )
    return values


def _work(history: pd.DataFrame) -> Array:
    """Work of prescribed displacements since the start, mJ."""
    return np.asarray(history.get("prescribed_work_mj", np.zeros(len(history))))


def _mass(history: pd.DataFrame, settings: FeKneeSettings) -> float:
    """Mass of everything, t, from the kinetic energy at the start, where all has one velocity."""
    kinetic = float(history["bone_kinetic_mj"].iloc[0] + history["rod_kinetic_mj"].iloc[0])
    speed = 1e3 * float(np.linalg.norm(settings.velocity_m_per_s))
    return 2.0 * kinetic / speed**2 if speed > 0.0 else 0.0


def _losses(history: pd.DataFrame, settings: FeKneeSettings) -> Values:
    """Where energy is lost."""
    drop = -np.diff(history["total_mj"].to_numpy() - _work(history))
    cartilage = _in_contact(history, "cartilage")[1:]
    values: Values = {
        "share of the losses in contact of the cartilages": float(drop[cartilage].sum())
        / max(float(drop.sum()), 1e-30)
    }
    if settings.rods is not None:
        loss = np.diff(history["coupling_loss_mj"].to_numpy())[~_touching(history)[1:]]
        values["loss by the coupling without contact over the energy at the start"] = float(
            loss.sum() / max(history["total_mj"].iloc[0], np.abs(_work(history)).max())
        )
    return values


def _fall(history: pd.DataFrame, settings: FeKneeSettings) -> Values:
    """Steps of contact and separation."""
    values: Values = {
        "first step in contact with an obstacle at the printed gap of 1 mm": free_fall_steps(
            PRINTED_GAP, settings
        )
    }
    obstacle, cartilage = (
        phases(history[f"{name}_nodes"].to_numpy()) for name in ("obstacle", "cartilage")
    )
    if obstacle:
        values["first step in contact with the obstacle"] = obstacle[0][0]
    if cartilage:
        start, end = cartilage[0][0], cartilage[0][1] + 1
        values |= {
            "first step in contact of the cartilages": start,
            "first step after contact of the cartilages": end,
            "duration of the first contact of the cartilages": 1e3
            * (end - start)
            * settings.time_step_s,
        }
    return values


def free_fall_steps(gap: float, settings: FeKneeSettings) -> float:
    """Step at whose end a point that falls freely has passed a gap, mm; NaN if it rises."""
    speed = -1e3 * settings.velocity_m_per_s[1]
    gravity = -1e3 * settings.gravity_m_per_s2[1]
    if speed <= 0.0 and gravity <= 0.0:
        return np.nan
    root = np.sqrt(max(speed, 0.0) ** 2 + 2.0 * gravity * gap)
    seconds = 2.0 * gap / (max(speed, 0.0) + root)
    return float(np.ceil(seconds / settings.time_step_s))


def _stresses(run: KneeRun, settings: FeKneeSettings) -> Values:
    """Von Mises stress in tibia and femur before and after contacts, and at insertions."""
    frames, history = run.frames, run.history
    step = np.rint(frames.time / settings.time_step_s).astype(int)
    peaks = {name: body_peaks(frames, name) for name in frames.bodies}
    values: Values = {}
    if obstacle := phases(history["obstacle_nodes"].to_numpy()):
        first = obstacle[0][0]
        after = (step >= first) & (step < INSERTION_STEP)
        values["stress in the tibia before contact with the obstacle over that after it"] = (
            _largest(peaks[TIBIA], step < first) / max(_largest(peaks[TIBIA], after), 1e-30)
        )
    if settings.rods is not None:
        frame = int(np.argmin(np.abs(step - INSERTION_STEP)))
        values["stress at the insertions at step 30 over the largest in the tibia"] = float(
            frames.insertion_stress[frame].max(initial=0.0)
        ) / max(float(peaks[TIBIA].max()), 1e-30)
    if cartilage := phases(history["cartilage_nodes"].to_numpy()):
        after = step >= cartilage[0][0]
        values["stress in the femur before contact of the cartilages over that after it"] = (
            _largest(peaks[FEMUR], ~after) / max(_largest(peaks[FEMUR], after), 1e-30)
        )
    return values


def body_peaks(frames: KneeFrames, body: str) -> Array:
    """Largest von Mises stress at the boundary of a bone in each frame, cartilage left out, MPa."""
    triangles = frames.triangles[frames.triangle_body == frames.bodies.index(body)]
    nodes = np.unique(triangles)
    return np.asarray(frames.stress[:, nodes[~frames.is_cartilage[nodes]]].max(axis=1))


def _largest(values: Array, chosen: Mask) -> float:
    return float(values[chosen].max(initial=0.0))


def _solvers(history: pd.DataFrame, settings: FeKneeSettings) -> Values:
    rows = history.iloc[1:]
    solves = rows["coupling_iterations"].clip(lower=1.0)
    values: Values = {
        "processor time of a contact problem": float((rows["bone_seconds"] / solves).mean())
    }
    if settings.rods is not None:
        values |= {
            "iterations of the coupling": float(rows["coupling_iterations"].max()),
            "mean rate of the coupling": float(rows["coupling_rate"].mean()),
            "largest distance of rods from their insertions": float(rows["coupling_gap_mm"].max()),
            "processor time of the rods": float((rows["rod_seconds"] / solves).mean()),
        }
    return values


def _damping(bones: KneeBones, settings: FeKneeSettings) -> Values:
    """Iterations of the coupling with the damping of the source, on the coarse meshes."""
    coarse = settings.model_copy(
        update={
            "bones": settings.bones.model_copy(update={"refinements": 0}),
            "solver": settings.solver.model_copy(update={"method": "direct"}),
            "coupling": settings.coupling.model_copy(update={"damping": PRINTED_DAMPING}),
        }
    )
    model = DynamicKnee(bones, coarse)
    state, most = model.start(), 0
    for _ in range(min(DAMPED_STEPS, settings.steps)):
        step = model.step(state)
        state, most = step.state, max(most, step.coupling.iterations if step.coupling else 0)
    return {"iterations of the coupling with a damping of 0.6 on the coarse meshes": most}


def _cycles(history: pd.DataFrame, bones: KneeBones, settings: FeKneeSettings) -> Values:
    """Mean rates of plain linear cycles, one in an iteration as in the source.

    With more cycles in an iteration the fall is computed again with one, without ligaments.
    """
    if settings.solver.linear_cycles == 1:
        rows = history.iloc[1:]
        return cycle_rates(rows["solver_rate"].to_numpy(), _touching(rows))
    solver = settings.solver.model_copy(update={"linear_cycles": 1})
    model = DynamicKnee(bones, settings.model_copy(update={"solver": solver, "rods": None}))
    state, rates, touching = model.start(), [], []
    for _ in range(settings.steps):
        step = model.step(state)
        state = step.state
        rates.append(step.solutions[0][1])
        touching.append(bool(step.bodies.active.any()))
    return cycle_rates(np.array(rates), np.array(touching))


def cycle_rates(rates: Array, touching: Mask) -> Values:
    """Mean rates of the cycles of some steps, of all and of those in contact."""
    known = np.isfinite(rates)
    parts = {"": known, " in contact": known & touching}
    return {
        f"mean rate of a linear cycle{where}": float(rates[chosen].mean())
        for where, chosen in parts.items()
        if chosen.any()
    }
