"""A knee composed by its settings: equilibria over a course, or forward dynamics."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import (
    ENERGY,
    ComparedNumber,
    judge_number,
    judge_numbers,
    rms_number,
)
from kneewear.geometry.meshes import TriangleMesh, joined, sphere_mesh, woven
from kneewear.knees.assembly import (
    APPLIED,
    ComposedParts,
    compose_system,
    course_points,
    driven_motion,
    follower,
    free_names,
    start_coordinates,
)
from kneewear.knees.components import button_motion, clinical_motion, cycle_table, trace_components
from kneewear.knees.impacts import integrate_impacts
from kneewear.knees.laxity import body_laxity
from kneewear.knees.outcome import equilibrium_checks, force_curves, knee_scene
from kneewear.knees.result import MultibodyResult, curves
from kneewear.knees.settings.bodies import SphereShapeSettings
from kneewear.knees.settings.composed_knee import (
    ComposedKneeSettings,
    FoundationSettings,
    KneeSettings,
)
from kneewear.knees.settings.knee_results import CLINICAL, COMPONENTS, ComparedMotionSettings
from kneewear.knees.tuning import groups_of, strained, tune_strains
from kneewear.mechanics.coordinates import COORDINATES, follow_samples
from kneewear.motion.equilibrium import SystemEquilibrium, solve_system, trace_equilibria
from kneewear.motion.system import System

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

NAMES = {"flexion_first": ("flexion", "adduction", "rotation"), "body_three": COORDINATES[3:]}
# From N s/m to N s/mm, and from N m s to N mm s.
IN_MM = (1e-3, 1e3)
# Frames in the animation, at most, and half the edge of a plane that is drawn, mm.
POSES = 61
HALF_EDGE = 30.0
LARGEST_ENERGY_ERROR = 1e-3


class Observed(NamedTuple):
    """Values (n_frames,) of a coordinate, mm or deg, and its name in tables."""

    label: str
    unit: str
    values: Array


class Axis(NamedTuple):
    """Abscissa of curves: its name with unit, its values (n_frames,), and the unit if known."""

    label: str
    at: Array
    unit: str = ""

    def value(self, frame: int) -> str:
        """Value at a frame, with the unit if it is known apart from the name."""
        return f"{self.at[frame]:.3g} {self.unit}".strip().replace("-", "−")


def solve_composed(parts: ComposedParts, settings: ComposedKneeSettings) -> MultibodyResult:
    """Motion and forces of all bodies over the course.

    ConvergenceError, with the frame, if it has no equilibrium or the integration ends early.
    """
    at = course_points(settings)
    system = compose_system(parts, settings)
    equilibria: tuple[SystemEquilibrium, ...] = ()
    if settings.dynamics is not None:
        motion = _integrate(system, settings, driven_motion(parts, settings, at))
        coordinates, found, reactions = motion.coordinates, motion.parts, motion.reaction
        checks = [
            ComparedNumber(
                "energy error over the largest kinetic energy",
                "",
                motion.energy_error,
                "1",
                ENERGY,
                high=LARGEST_ENERGY_ERROR,
            )
        ]
    else:
        equilibria = trace_composed(system, parts, settings)
        count = sum(one.evaluations for one in equilibria)
        logger.info("%d equilibria, %d evaluations", len(equilibria), count)
        coordinates = np.array([one.coordinates for one in equilibria])
        found = tuple(one.forces.parts for one in equilibria)
        reactions = -np.array([one.forces.force for one in equilibria])
        # Loads do work that nothing stores.
        stored = {
            name: one
            for name, one in system.actions.items()
            if name not in settings.loads and name != APPLIED
        }
        checks = list(equilibrium_checks(System(system.ground, system.bodies, stored), equilibria))
    seen = observe(system, parts, settings, coordinates)
    axis = axis_of(settings, seen)
    kinematics = coordinate_curves(settings, axis, seen, parts.compared)
    forces = all_force_curves(system, parts, settings, axis, found, reactions)
    checks += [*_compare(settings, axis, seen, parts.compared), *_tune(system, parts, settings)]
    literature = judge_numbers(checks)
    if parts.literature is not None:
        printed = compare_printed(parts.literature, pd.concat([kinematics, forces]))
        literature = pd.concat([literature, printed], ignore_index=True)
    components = settings.components
    clinical = {name: seen[f"{COMPONENTS}.{name}"].values for name in CLINICAL if components}
    return MultibodyResult(
        kinematics,
        forces,
        literature,
        _scene(system, parts, settings, axis, coordinates),
        motion=cycle_table(at, clinical) if settings.course.is_cycle else None,
        patella=button_motion(system, parts.placements, settings, coordinates, found)
        if settings.button_contact
        else None,
        laxity=body_laxity(system, settings, equilibria) if settings.laxity else None,
    )


def trace_composed(
    system: System, parts: ComposedParts, settings: ComposedKneeSettings
) -> tuple[SystemEquilibrium, ...]:
    """Equilibrium of each frame; forces alone where all coordinates are held or driven."""
    if follower(settings) is not None:
        return trace_components(system, parts, settings)
    course, free = settings.course, free_names(settings)
    driven = driven_motion(parts, settings, course_points(settings))
    if not free:
        return tuple(
            SystemEquilibrium(one, system.at(frame).forces(one), 0.0, 1)
            for frame, one in enumerate(driven)
        )
    dampers = np.array([settings.bodies[name].dampers or [0.0] * 6 for name in settings.moving])
    step = (course.last - course.first) / (course.frames - 1) if dampers.any() else None
    resisting = (dampers * np.repeat(IN_MM, 3)).ravel()
    return trace_equilibria(
        system, driven, free, step=step, dampers=resisting, tolerance=settings.tolerance
    )


def _integrate(system: System, settings: ComposedKneeSettings, driven: Array) -> Any:
    """Forward dynamics over the course, in s from its first value."""
    dynamics, course = settings.dynamics, settings.course
    if dynamics is None:
        raise ValueError("no settings of dynamics")
    duration, free = course.last - course.first, free_names(settings)
    loads = [load.time_history(course.frames) for load in system.loads.values()]
    start, begin = driven[0], system.at(0)
    if dynamics.settle and free:
        start = solve_system(begin, start, free, tolerance=settings.tolerance).coordinates
    return integrate_impacts(
        begin,
        np.linspace(0.0, duration, course.frames),
        start,
        free,
        motion=follow_samples(np.hstack([driven, *loads]), duration),
        relative_tolerance=dynamics.relative_tolerance,
        largest_step=dynamics.largest_step_s,
    ).motion


def _labels(settings: ComposedKneeSettings) -> Iterator[tuple[str, int, str, str]]:
    """Yield body, number, name and unit of each coordinate of the bodies that move."""
    number = 0
    for body in settings.moving:
        one = settings.bodies[body]
        for name in one.names or (*COORDINATES[:3], *NAMES[one.turns]):
            yield body, number, name, "mm" if number % 6 < 3 else "deg"
            number += 1


def observe(
    system: System, parts: ComposedParts, settings: ComposedKneeSettings, motion: Array
) -> dict[str, Observed]:
    """Coordinates of bodies, of a motion (n_frames, 6 n), and of components, by name."""
    found = {}
    for body, number, name, unit in _labels(settings):
        values = np.degrees(motion[:, number]) if unit == "deg" else motion[:, number]
        found[f"{body}.{COORDINATES[number % 6]}"] = Observed(f"{body} {name}", unit, values)
    if settings.components is not None:
        clinical = clinical_motion(system, parts.placements, settings.components, motion)
        for name, values in clinical.items():
            label = name.replace("_", " ")
            found[f"{COMPONENTS}.{name}"] = Observed(label, CLINICAL[name], values)
    return found


def axis_of(settings: ComposedKneeSettings, seen: Mapping[str, Observed]) -> Axis:
    """The course, or the coordinate that curves are shown over instead."""
    course = settings.course
    if course.over is None:
        return Axis(course.of, course_points(settings))
    over = seen[course.over]
    return Axis(f"{over.label} ({over.unit})", over.values, over.unit)


def coordinate_curves(
    settings: ComposedKneeSettings,
    axis: Axis,
    seen: Mapping[str, Observed],
    compared: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """Curves of the components, or else of all bodies, and of what was measured beside these."""
    measured = {part for one in settings.compare.values() for part in one.columns}
    tables = []
    for part, one in seen.items():
        if settings.components and part not in measured and not part.startswith(COMPONENTS):
            continue
        tables.append(curves(one.label, axis.label, axis.at, one.unit, {"computed": one.values}))
        for name, motion in compared.items():
            if part in motion or part == settings.course.over:
                series = {name.replace("_", " "): motion.get(part, motion["at"])}
                tables.append(curves(one.label, axis.label, motion["at"], one.unit, series))
    return pd.concat(tables, ignore_index=True)


def all_force_curves(
    system: System,
    parts: ComposedParts,
    settings: ComposedKneeSettings,
    axis: Axis,
    found: Sequence[Mapping[str, Any]],
    reactions: Array,
) -> pd.DataFrame:
    """Curves of contacts, tissues and joints, and of constraint forces (n_frames, 6 n)."""
    ligaments, muscles = list(parts.ligaments), list(parts.muscles)
    tables = [
        force_curves(system, found, axis.label, axis.at, ligaments=ligaments, muscles=muscles),
        *_joint_curves(settings, axis, found),
        *_reaction_curves(settings, axis, reactions),
    ]
    if APPLIED in system.actions:
        applied = {APPLIED: [np.linalg.norm(one[APPLIED][:3]) for one in found]}
        tables.insert(0, curves("contact force", axis.label, axis.at, "N", applied))
    return pd.concat(tables, ignore_index=True)


def _joint_curves(
    settings: ComposedKneeSettings, axis: Axis, found: Sequence[Mapping[str, Any]]
) -> Iterator[pd.DataFrame]:
    """Yield curves of constraint forces and gaps of joints."""
    if not settings.joints:
        return
    over, at = axis.label, axis.at
    force = {
        name: [np.linalg.norm(one[name].wrench[:3]) for one in found] for name in settings.joints
    }
    gap = {name: [one[name].gap for one in found] for name in settings.joints}
    yield curves("joint constraint force", over, at, "N", force)
    yield curves("joint gap", over, at, "mm", gap)


def _reaction_curves(
    settings: ComposedKneeSettings, axis: Axis, reactions: Array
) -> Iterator[pd.DataFrame]:
    """Yield curves of constraint forces along coordinates that are held or driven."""
    force: dict[str, Array] = {}
    moment: dict[str, Array] = {}
    for body, number, name, unit in _labels(settings):
        one = settings.bodies[body]
        coordinate = COORDINATES[number % 6]
        if coordinate in (*one.held, *one.driven) or f"{body}.{coordinate}" == follower(settings):
            of = force if unit == "mm" else moment
            of[f"{body} {name}"] = reactions[:, number] * (1.0 if unit == "mm" else 1e-3)
    if force:
        yield curves("constraint force", axis.label, axis.at, "N", force)
    if moment:
        yield curves("constraint moment", axis.label, axis.at, "N m", moment)


def _compare(
    settings: ComposedKneeSettings,
    axis: Axis,
    seen: Mapping[str, Observed],
    compared: Mapping[str, pd.DataFrame],
) -> Iterator[ComparedNumber]:
    """Yield differences from each motion, of the first without the mean difference, too."""
    for number, (motion, wanted) in enumerate(settings.compare.items()):
        of = f"from the {motion.replace('_', ' ')}"
        for part in wanted.columns:
            one = seen[part]
            at, computed, measured = compared_values(axis, one, part, compared[motion])
            if wanted.parts:
                yield from _compare_parts(wanted, one, at, computed, measured)
                continue
            yield rms_number(
                f"rms difference {of}",
                one.label,
                computed,
                measured,
                one.unit,
                wanted.source,
                wanted.targets[one.unit],
            )
            if number == 0:
                shifted = computed - float(np.mean(computed - measured))
                yield rms_number(
                    "rms difference without the mean one",
                    one.label,
                    shifted,
                    measured,
                    one.unit,
                    wanted.source,
                )


def _compare_parts(
    wanted: ComparedMotionSettings, one: Observed, at: Array, computed: Array, measured: Array
) -> Iterator[ComparedNumber]:
    """Yield differences over parts of the course, and ranges of both motions."""
    for name, (first, last) in wanted.parts.items():
        chosen = (at >= first) & (at <= last)
        yield rms_number(
            f"rms difference over the {name}",
            one.label,
            computed[chosen],
            measured[chosen],
            one.unit,
            wanted.source,
        )
    own, other = float(np.ptp(one.values)), float(np.ptp(measured))
    yield ComparedNumber("range", one.label, own, one.unit, wanted.source, published=other)


def compared_values(
    axis: Axis, one: Observed, part: str, motion: pd.DataFrame
) -> tuple[Array, Array, Array]:
    """Places of a motion within the computed one, and computed and other values there."""
    at = motion["at"].to_numpy(dtype=float)
    order = np.argsort(axis.at)
    inside = (at >= axis.at[order[0]]) & (at <= axis.at[order[-1]])
    computed = np.interp(at[inside], axis.at[order], one.values[order])
    return at[inside], computed, motion[part].to_numpy(dtype=float)[inside]


def _tune(
    system: System, parts: ComposedParts, settings: ComposedKneeSettings
) -> Iterator[ComparedNumber]:
    """Numbers of slack lengths that are fitted to every other frame of the first motion."""
    tuning = settings.tuning
    if tuning is None:
        return
    motion, wanted = next(iter(settings.compare.items()))
    reference = parts.compared[motion]

    def errors(strain: dict[str, float]) -> Array:
        changed = {name: strained(one, strain) for name, one in parts.ligaments.items()}
        knee = System(system.ground, system.bodies, {**system.actions, **changed})
        found = np.array([one.coordinates for one in trace_composed(knee, parts, settings)])
        seen = observe(knee, parts, settings, found)
        axis, columns = axis_of(settings, seen), []
        for part in wanted.columns:
            _, computed, measured = compared_values(axis, seen[part], part, reference)
            columns.append((computed - measured) / wanted.targets[seen[part].unit])
        return np.stack(columns, -1)

    names = [name for one in parts.ligaments.values() for name in one.names]
    groups = tuple(groups_of(tuple(names)))
    tuned = tune_strains(groups, errors, 0.01 * tuning.strain_percent, tuning.evaluations)
    source = f"slack lengths within {tuning.strain_percent:g} % of strain"
    for half, before, after in zip(("fitted", "tested"), tuned.before, tuned.after, strict=True):
        quantity = f"rms over the targets, {half} frames"
        yield ComparedNumber(quantity, "published slack lengths", before, "1", wanted.source)
        limit = before if half == "tested" else np.nan
        yield ComparedNumber(quantity, "fitted slack lengths", after, "1", source, high=limit)
    for name, value in tuned.strain.items():
        yield ComparedNumber("change of strain", name, 100.0 * value, "%", source)


def compare_printed(printed: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Judge printed numbers (`panel`, `series`, `at`, `published`, ...) by computed curves."""
    computed = []
    for panel, series, at in printed[["panel", "series", "at"]].itertuples(index=False):
        curve = table[(table["panel"] == panel) & (table["series"] == series)].sort_values("at")
        computed.append(float(np.interp(at, curve["at"], curve["value"])))
    names = zip(printed["series"], printed["at"], strict=True)
    case = [f"{series} at {at:g}" for series, at in names]
    keys = printed.assign(quantity=printed["panel"], case=case)
    return judge_number(keys, keys[["quantity", "case"]].assign(computed=computed))


def curve_names(parts: ComposedParts, settings: ComposedKneeSettings) -> list[tuple[str, str]]:
    """Panel and series of every curve that the model computes, before it computes any."""
    start = start_coordinates(settings)
    system = compose_system(parts, settings)
    forces, twice = system.at(0).forces(start), np.tile(start, (2, 1))
    seen, axis = observe(system, parts, settings, twice), Axis("", np.zeros(2))
    tables = (
        coordinate_curves(settings, axis, seen, {}),
        all_force_curves(system, parts, settings, axis, [forces.parts] * 2, 0.0 * twice),
    )
    names = pd.concat(tables)[["panel", "series"]].drop_duplicates()
    return list(names.itertuples(index=False, name=None))


def drawn_shapes(parts: ComposedParts, settings: KneeSettings) -> dict[str, Any]:
    """Meshes of a scene, and what they are; bones under layers are drawn as bones."""
    under = {
        bone
        for one in settings.contacts.values()
        if isinstance(one, FoundationSettings)
        for bone in one.bones or ()
    }
    meshes = {
        name: joined(drawn)
        for name, body in settings.bodies.items()
        if (
            drawn := [
                _drawn(shape, parts.shapes.get(f"{name}.{key}"))
                for key, shape in body.shapes.items()
                if f"{name}.{key}" not in under
            ]
        )
    }
    bones = {bone.split(".")[0]: parts.shapes[bone] for bone in under} | dict(parts.bones)
    note = " (pale: bones)" if bones else ""
    return {"meshes": meshes, "bones": bones, "shapes": f"Shapes of the bodies{note}"}


def _scene(
    system: System, parts: ComposedParts, settings: ComposedKneeSettings, axis: Axis, motion: Array
) -> Any:
    """Bodies and bundles at some frames; None where nothing has a shape."""
    drawn = drawn_shapes(parts, settings)
    if not drawn["meshes"]:
        return None
    count = len(motion)
    chosen = np.unique(np.linspace(0, count - 1, min(POSES, count)).round().astype(int))
    return knee_scene(
        system,
        [system.poses(motion[frame]) for frame in chosen],
        [axis.value(frame) for frame in chosen],
        (*parts.ligaments, *parts.muscles),
        **drawn,
    )


def _drawn(shape: Any, mesh: TriangleMesh | None) -> TriangleMesh:
    """Mesh of a shape; of a plane a square."""
    if mesh is not None:
        return mesh
    if isinstance(shape, SphereShapeSettings):
        return sphere_mesh(shape.centre_mm, abs(shape.radius_mm))
    across = HALF_EDGE * np.linalg.svd(np.array([shape.normal], dtype=float))[2][1:]
    middle = np.array(shape.point_mm)
    return woven(
        np.array([[middle + i * across[0] + j * across[1] for j in (-1, 1)] for i in (-1, 1)])
    )
