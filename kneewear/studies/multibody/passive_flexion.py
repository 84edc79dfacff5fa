"""Passive flexion: equilibria of tibia and patella over a prescribed flexion."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator

from kneewear.activity.load import GRAVITY
from kneewear.contact.mesh_pair import MeshContact
from kneewear.errors import ConvergenceError
from kneewear.geometry.distance_field import build_distance_field
from kneewear.geometry.meshes import TriangleMesh
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.coordinates import OF_PATELLA
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import angles_123, clinical_angles
from kneewear.multibody.actions import Contact
from kneewear.multibody.equilibrium import SystemEquilibrium, solve_system, trace_equilibria
from kneewear.multibody.system import FLEXION_FIRST, Action, Body, System
from kneewear.regression.literature import (
    ComparedNumber,
    judge_numbers,
    rms_number,
)
from kneewear.settings.multibody import (
    DamperSettings,
    PassiveFlexionSettings,
    ReferenceMotionSettings,
)
from kneewear.settings.soft_tissue_knee import SoftTissueKneeSettings
from kneewear.studies.multibody.layers import build_layer
from kneewear.studies.multibody.outcome import equilibrium_checks, force_curves, knee_scene
from kneewear.studies.multibody.result import MultibodyResult, curves
from kneewear.studies.multibody.tuning import groups_of, strained, tune_strains
from kneewear.tissue._wrapping_kernels import WRONG_SIDE
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.laws import constant
from kneewear.tissue.wrapping import WrapObject, require_path

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

BODIES = ("femur", "tibia", "patella")
MOVING = Body("tibia", FLEXION_FIRST), Body("patella", FLEXION_FIRST)
FREE = ("tibia.x", "tibia.y", "tibia.z", "tibia.theta_2", "tibia.theta_3", "patella")
# Contacts, and what touches the femur in each.
CONTACTS = {"tibiofemoral contact": "tibia", "patellofemoral contact": "patella"}
# Actions that are muscles.
MUSCLES = ("quadriceps", "other muscles")
TISSUES = ("ligaments", *MUSCLES)
# Forces balance to this part of the largest one.
TOLERANCE = 1e-6
OVER = "flexion (deg)"
# From N s/m to N s/mm, and from N m s to N mm s.
IN_MM = (1e-3, 1e3)
# Coordinates of the femoral component in the tibial one's frame, as of files of its motion.
COMPONENTS = {
    "flexion": ("flexion_deg", "deg"),
    "varus": ("varus_deg", "deg"),
    "tibial external rotation": ("tibial_external_rotation_deg", "deg"),
    "femur anterior": ("femur_anterior_mm", "mm"),
    "femur superior": ("femur_superior_mm", "mm"),
    "femur lateral": ("femur_lateral_mm", "mm"),
}
# Columns of the motion of the femoral component on the button.
PATELLA = ("flexion_deg", "tilt_deg", "rotation_deg", "proximal_mm", "lateral_mm", "force_n")
# What laxity tests move, with units, and the last columns of their table.
TIBIAL = (
    ("anterior", "mm"), ("superior", "mm"), ("lateral", "mm"),
    ("varus", "deg"), ("internal rotation", "deg"),
)  # fmt: skip
LAXITY = ("coordinate", "unit", "change")
# Coordinates of the joints of tibia (tf) and patella (pf) in the femur, their order in the system
# (translations, then turns), and the columns of files of them.
JOINTS = {
    f"{body} {name}": (f"{short}_{column}", unit)
    for body, short, names in (
        ("tibia", "tf", ("flexion", "adduction", "rotation")),
        ("patella", "pf", ("flexion", "rotation", "tilt")),
    )
    for name, column, unit in (
        ("anterior", "tx_mm", "mm"),
        ("superior", "ty_mm", "mm"),
        ("lateral", "tz_mm", "mm"),
        *((turn, f"{turn}_deg", "deg") for turn in names),
    )
}


@dataclass(frozen=True)
class KneeParts:
    """What a passive knee is made of, in the frames of its bodies, mm.

    `surfaces` are the bearings of femur, tibia and patella, `bones` those under them where the
    thickness of the layers is measured, `drawn_bones` whole ones that are drawn instead;
    `ligaments`, `quadriceps` and other `muscles` are bundles with what they wrap on. `components`
    are the frames of the femoral and of the tibial component (rotation and origin), `button` the
    frame of the patella's button, `reference` the motion to compare with, `source_model` the motion
    of the model the numbers are from, and `load` a measured load.
    """

    surfaces: Mapping[str, TriangleMesh]
    bones: Mapping[str, TriangleMesh]
    ligaments: Bundles
    quadriceps: Bundles
    muscles: Bundles | None = None
    components: tuple[tuple[Array, Array], tuple[Array, Array]] | None = None
    reference: pd.DataFrame | None = None
    source_model: pd.DataFrame | None = None
    load: pd.DataFrame | None = None
    drawn_bones: Mapping[str, TriangleMesh] = field(default_factory=dict)
    button: tuple[Array, Array] | None = None

    def drawn(self) -> dict[str, Any]:
        """Meshes of a scene, and what they are."""
        bones = {**self.bones, **self.drawn_bones}
        note = "pale: bones" if bones else "there are no bones in the data"
        return {"meshes": self.surfaces, "bones": bones, "shapes": f"Bearing surfaces ({note})"}


def mesh_contacts(parts: KneeParts, settings: SoftTissueKneeSettings) -> dict[str, Contact]:
    """Contact of the triangles of tibia and patella with the field of distances of the femur."""
    field = build_distance_field(parts.surfaces["femur"], settings.layers.field_spacing_mm)
    measured = {
        body: (parts.bones[body], parts.surfaces["femur"], parts.bones["femur"])
        for body in BODIES[1:]
        if settings.layers.thickness_mm is None
    }
    return {
        name: Contact(
            body,
            "femur",
            MeshContact(
                parts.surfaces[body],
                field,
                build_layer(settings.layers, parts.surfaces[body], measured.get(body)),
            ),
        )
        for name, body in CONTACTS.items()
    }


def build_system(
    parts: KneeParts,
    settings: SoftTissueKneeSettings,
    contacts: Mapping[str, Contact] | None = None,
) -> System:
    """Tibia and patella on a resting femur, with contact, ligaments, quadriceps and weight.

    `contacts`, by the names of `CONTACTS`, are contacts of meshes by default.
    """
    tissues: dict[str, Action | Load] = {
        "ligaments": parts.ligaments,
        MUSCLES[0]: parts.quadriceps,
    }
    if parts.muscles is not None:
        tissues[MUSCLES[1]] = parts.muscles
    if settings.weight is not None:
        down = np.array(settings.weight.direction) / np.linalg.norm(settings.weight.direction)
        for body, mass in settings.weight.bodies.items():
            pull = mass.mass_kg * GRAVITY * down
            tissues[f"weight of {body}"] = Load(pull, point=mass.centre_mm, body=body)
    return System("femur", MOVING, {**tissues, **(contacts or mesh_contacts(parts, settings))})


def start_of(settings: SoftTissueKneeSettings) -> Array:
    """Start of tibia and patella (12,), mm and rad."""
    starts = [settings.bodies[name].start for name in ("tibia", "patella")]
    start = np.array(starts, dtype=float)
    start[:, 3:] = np.radians(start[:, 3:])
    return start.ravel()


def flex_knee(
    system: System, settings: PassiveFlexionSettings, flexion_deg: ArrayLike | None = None
) -> tuple[SystemEquilibrium, ...]:
    """Equilibria over the flexion of the settings, or slow ones at given angles, deg.

    The first one is found from the start of the settings, at its own flexion. With dampers frames
    are at equal times, and flexion is a monotone cubic of time, as of `_flexion_over_time`.
    """
    sweep, dampers = settings.flexion_deg, settings.dampers
    step, resisting = None, np.zeros(system.size)
    if flexion_deg is not None:
        angles = np.asarray(flexion_deg, dtype=float)
    elif dampers is None:
        angles = np.linspace(sweep.first, sweep.last, sweep.frames)
    else:
        angles = _flexion_over_time(settings, dampers)
        step = dampers.duration_s / (sweep.frames - 1)
        resisting = np.array([*dampers.tibia, *dampers.patella]) * np.tile(np.repeat(IN_MM, 3), 2)
    seated = solve_system(system, start_of(settings), FREE, tolerance=TOLERANCE)
    motion = np.tile(seated.coordinates, (len(angles), 1))
    motion[:, system.coordinate("tibia.theta_1")] = np.radians(angles)
    return trace_equilibria(system, motion, FREE, step=step, dampers=resisting, tolerance=TOLERANCE)


def _flexion_over_time(settings: PassiveFlexionSettings, dampers: DamperSettings) -> Array:
    """Angles, deg, of a monotone cubic interpolation that rests at first and then flexes.

    That of Fritsch and Butland, with which OpenSim-JAM prescribes its flexion.
    """
    sweep, rest = settings.flexion_deg, dampers.rest_s
    end = rest + dampers.duration_s
    course = PchipInterpolator([0.0, rest, end], [sweep.first, sweep.first, sweep.last])
    return np.asarray(course(np.linspace(rest, end, sweep.frames)), dtype=float)


def solve_passive_flexion(parts: KneeParts, settings: PassiveFlexionSettings) -> MultibodyResult:
    """Flex a knee through its equilibria, and compare its motion with the reference."""
    system = build_system(parts, settings)
    found = flex_knee(system, settings)
    logger.info("%d equilibria, %d evaluations", len(found), sum(one.evaluations for one in found))
    return MultibodyResult(
        kinematics=_kinematics(system, parts, settings, found),
        forces=tissue_forces(system, found, OVER, np.degrees(joint_angle(system, found))),
        literature=judge_numbers(
            [*_compare(system, parts, settings, found), *_tune(system, parts, settings)]
        ),
        scene=knee_scene(
            system,
            [system.poses(one.coordinates) for one in found],
            tuple(f"{angle:.0f}°" for angle in np.degrees(joint_angle(system, found))),
            TISSUES,
            **parts.drawn(),
        ),
        patella=button_motion(system, parts, found) if settings.places_button else None,
        laxity=tibial_laxity(system, settings, found) if settings.laxity is not None else None,
    )


def component_motion(
    system: System, parts: KneeParts, found: tuple[SystemEquilibrium, ...]
) -> dict[str, Array]:
    """Clinical coordinates of the femoral component in the tibial one's frame, by name.

    Component frames are x posterior, y superior, z medial.
    """
    if parts.components is None:
        raise ValueError("the placements of femoral and tibial components are not known")
    (femoral, femoral_origin), (tibial, tibial_origin) = parts.components
    rows = []
    for one in found:
        poses = system.poses(one.coordinates)
        rotation, translation = poses.rotation[1], poses.translation[1]
        turn = tibial.T @ rotation.T @ femoral
        place = tibial.T @ (rotation.T @ (femoral_origin - translation) - tibial_origin)
        flexion, varus, external = np.degrees(clinical_angles(turn))
        rows.append([flexion, varus, external, -place[0], place[1], -place[2]])
    return dict(zip(COMPONENTS, np.array(rows).T, strict=True))


def tibial_laxity(
    system: System, settings: PassiveFlexionSettings, found: Sequence[SystemEquilibrium]
) -> pd.DataFrame:
    """How far each load of the laxity tests moves the tibia.

    Flexion is held, all other coordinates of tibia and patella are in equilibrium. Loads grow in
    steps from the equilibrium without load. Its search starts at the one of `found` with the
    nearest flexion.

    Returns
    -------
    DataFrame
        One row per flexion (deg), test and coordinate: `change`, in `unit`, of the position of the
        tibia's origin along its own axes (anterior, superior, lateral), of varus and of internal
        rotation; `borne` is the part of the load up to which equilibria were found, below 1 where
        the tibia leaves its bearing.

    Raises
    ------
    ConvergenceError
        If there is no equilibrium without load.
    """
    if settings.laxity is None:
        raise ValueError("no laxity tests are given")
    number = system.coordinate("tibia.theta_1")
    rows: list[tuple[Any, ...]] = []
    for angle in settings.laxity.flexion_deg:
        near = min(found, key=lambda one: abs(one.coordinates[number] - np.radians(angle)))
        start = near.coordinates.copy()
        start[number] = np.radians(angle)
        rest = solve_system(system, start, FREE, tolerance=TOLERANCE).coordinates
        axes = system.poses(rest).rotation[BODIES.index("tibia")]
        for test, load in settings.laxity.loads.items():
            loaded, borne = rest, 0.0
            for part in np.linspace(0.0, 1.0, settings.laxity.steps + 1)[1:]:
                pull = Load(
                    part * np.array(load.force_n),
                    moment=part * 1e3 * np.array(load.moment_n_m),
                    point=load.point_mm,
                    frame="moving",
                    body="tibia",
                )
                pulled = System(system.ground, system.bodies, {**system.actions, test: pull})
                try:
                    loaded = solve_system(pulled, loaded, FREE, tolerance=TOLERANCE).coordinates
                except ConvergenceError as error:
                    logger.warning("%s at %.3g deg ends: %s", test, angle, error)
                    break
                borne = float(part)
            moved = loaded - rest
            changes = np.concatenate([axes.T @ moved[:3], np.degrees(moved[[4, 5]])])
            rows += [
                (test, angle, borne, *coordinate, float(change))
                for coordinate, change in zip(TIBIAL, changes, strict=True)
            ]
    return pd.DataFrame(rows, columns=["test", "flexion_deg", "borne", *LAXITY])


def button_motion(
    system: System, parts: KneeParts, found: tuple[SystemEquilibrium, ...]
) -> pd.DataFrame:
    """Motion of the femoral component on the patella's button, flexed and extended again.

    A test of a button takes these columns (`kneewear.settings.wear_test.PatellarMotion`): flexion,
    tilt and rotation, deg, position of the femoral component's origin proximal and lateral of the
    button's origin, mm, and the force of the contact, N, over the percent of a cycle.
    """
    if parts.components is None or parts.button is None:
        raise ValueError("the placements of femoral component and button are not known")
    (femoral, origin), (button, middle) = parts.components[0], parts.button
    rows, number = [], BODIES.index("patella")
    for one in found:
        poses = system.poses(one.coordinates)
        rotation, translation = poses.rotation[number], poses.translation[number]
        turn = OF_PATELLA @ button.T @ rotation.T @ femoral @ OF_PATELLA.T
        place = OF_PATELLA @ button.T @ (rotation.T @ (origin - translation) - middle)
        tilt, turned, flexion = np.degrees(angles_123(turn))
        force = np.linalg.norm(one.forces.parts["patellofemoral contact"].wrench[:3])
        rows.append([flexion, tilt, turned, place[0], place[2], force])
    there = np.array(rows)
    cycle = np.concatenate([there, there[-2:0:-1]])
    table = pd.DataFrame(cycle, columns=list(PATELLA))
    table.insert(0, "percent", 100.0 * np.arange(len(cycle)) / len(cycle))
    return table


def joint_motion(found: tuple[SystemEquilibrium, ...]) -> dict[str, Array]:
    """Coordinates of tibia and patella in the femur, mm and deg, by name."""
    values = np.array([one.coordinates for one in found])
    values = values.reshape(len(found), 2, 6)
    values[..., 3:] = np.degrees(values[..., 3:])
    return dict(zip(JOINTS, values.reshape(len(found), 12).T, strict=True))


def _computed(
    system: System,
    parts: KneeParts,
    settings: PassiveFlexionSettings,
    found: tuple[SystemEquilibrium, ...],
) -> tuple[dict[str, Array], dict[str, tuple[str, str]], str]:
    """Curves by name, their columns and units in files, and the name of the flexion."""
    reference = settings.reference
    if parts.components is not None and (reference is None or reference.convention == "components"):
        return component_motion(system, parts, found), COMPONENTS, "flexion"
    return joint_motion(found), JOINTS, "tibia flexion"


def _kinematics(
    system: System,
    parts: KneeParts,
    settings: PassiveFlexionSettings,
    found: tuple[SystemEquilibrium, ...],
) -> pd.DataFrame:
    values, columns, flexion = _computed(system, parts, settings, found)
    tables = []
    for name, curve in values.items():
        column, unit = columns[name]
        tables.append(curves(name, OVER, values[flexion], unit, {"computed": curve}))
        for series, motion in _motions(parts).items():
            at = motion[columns[flexion][0]]
            tables.append(curves(name, OVER, at, unit, {_spoken(series): motion[column]}))
    return pd.concat(tables, ignore_index=True)


def _motions(parts: KneeParts) -> dict[str, pd.DataFrame]:
    """Motions to compare with, by the names of their files."""
    given = {"reference": parts.reference, "source_model": parts.source_model}
    return {name: motion for name, motion in given.items() if motion is not None}


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def tissue_forces(
    system: System, found: Sequence[SystemEquilibrium], over: str, at: ArrayLike
) -> pd.DataFrame:
    """Forces of contacts, ligaments and muscles at equilibria."""
    parts = [one.forces.parts for one in found]
    muscles = [name for name in MUSCLES if name in system.actions]
    return force_curves(system, parts, over, at, ligaments=["ligaments"], muscles=muscles)


def joint_angle(system: System, found: tuple[SystemEquilibrium, ...]) -> Array:
    """Flexion of the tibia, rad."""
    number = system.coordinate("tibia.theta_1")
    return np.array([one.coordinates[number] for one in found])


def reference_errors(
    values: Mapping[str, Array],
    columns: Mapping[str, tuple[str, str]],
    flexion: str,
    reference: pd.DataFrame,
) -> dict[str, Array]:
    """Computed minus reference value of each coordinate, as of `compared_curves`."""
    pairs = compared_curves(values, columns, flexion, reference)
    return {name: computed - measured for name, (computed, measured) in pairs.items()}


def compared_curves(
    values: Mapping[str, Array],
    columns: Mapping[str, tuple[str, str]],
    flexion: str,
    reference: pd.DataFrame,
) -> dict[str, tuple[Array, Array]]:
    """Computed and reference value of each coordinate at the reference's flexions.

    Flexions beyond the computed ones are left out.
    """
    at = reference[columns[flexion][0]].to_numpy(dtype=float)
    order = np.argsort(values[flexion])
    first, last = values[flexion][order[0]], values[flexion][order[-1]]
    inside = (at >= first) & (at <= last)
    return {
        name: (
            np.interp(at[inside], values[flexion][order], curve[order]),
            reference[columns[name][0]].to_numpy(dtype=float)[inside],
        )
        for name, curve in values.items()
        if name != flexion
    }


def _compare(
    system: System,
    parts: KneeParts,
    settings: PassiveFlexionSettings,
    found: tuple[SystemEquilibrium, ...],
) -> Iterator[ComparedNumber]:
    """Rms of every coordinate against each motion, with its target; largest residual."""
    yield from equilibrium_checks(system, found)
    values, columns, flexion = _computed(system, parts, settings, found)
    for motion, reference in _motions(parts).items():
        wanted = settings.motions[motion]
        of = _spoken(motion)
        pairs = compared_curves(values, columns, flexion, reference)
        for name, (computed, measured) in pairs.items():
            unit = columns[name][1]
            yield rms_number(
                f"rms difference from the {of}", name, computed, measured, unit, wanted.source,
                _target(wanted, unit),
            )  # fmt: skip
            if motion == "reference":
                shifted = computed - float(np.mean(computed - measured))
                yield rms_number(
                    "rms difference without the mean one", name, shifted, measured, unit,
                    wanted.source,
                )  # fmt: skip


def _target(wanted: ReferenceMotionSettings, unit: str) -> float:
    return wanted.rotation_target_deg if unit == "deg" else wanted.translation_target_mm


def _tune(
    system: System, parts: KneeParts, settings: PassiveFlexionSettings
) -> Iterator[ComparedNumber]:
    """Numbers of slack lengths that are fitted to every other frame of the reference."""
    wanted, tuning, reference = settings.reference, settings.tuning, parts.reference
    if wanted is None or tuning is None or reference is None:
        return

    def errors(strain: dict[str, float]) -> Array:
        changed = dict(system.actions) | {"ligaments": strained(parts.ligaments, strain)}
        knee = System(system.ground, system.bodies, changed)
        values, columns, flexion = _computed(knee, parts, settings, flex_knee(knee, settings))
        found = reference_errors(values, columns, flexion, reference)
        return np.stack([e / _target(wanted, columns[name][1]) for name, e in found.items()], -1)

    groups = tuple(groups_of(parts.ligaments.names))
    tuned = tune_strains(groups, errors, 0.01 * tuning.strain_percent, tuning.evaluations)
    source = f"slack lengths within {tuning.strain_percent:g} % of strain"
    for half, before, after in zip(("fitted", "tested"), tuned.before, tuned.after, strict=True):
        quantity = f"rms over the targets, {half} frames"
        yield ComparedNumber(quantity, "published slack lengths", before, "1", wanted.source)
        limit = before if half == "tested" else np.nan
        yield ComparedNumber(quantity, "fitted slack lengths", after, "1", source, high=limit)
    for name, value in tuned.strain.items():
        yield ComparedNumber("change of strain", name, 100.0 * value, "%", source)


def sided(bundles: Bundles, poses: BodyPoses) -> Bundles:
    """The same bundles, whose paths stay on the side of their cylinders on which they are now.

    Objects that state a side keep it. Around spheres and ellipsoids without one they take the
    shortest path, whose length has no jumps. InputDataError if a path passes beside its cylinder on
    the side opposite to that which is stated.
    """
    obstacles: list[WrapObject | None] = []
    for bundle, obstacle in enumerate(bundles.obstacles):
        if obstacle is None or obstacle.kind != "cylinder":
            obstacles.append(obstacle)
            continue
        path = bundles.chosen([bundle]).straight.lines(poses)[0]
        body = bundles.bodies.index(obstacle.body)
        local = (path - poses.translation[body]) @ poses.rotation[body]
        bodies = [name for name, _ in bundles.paths[bundle]]
        spans = [n for n in range(len(bodies) - 1) if bodies[n] != bodies[n + 1]]
        axes = np.asarray(obstacle.rotation)
        one, other = (local[[spans[0], spans[0] + 1]] - obstacle.origin) @ axes
        along = (other - one) / np.linalg.norm(other - one)
        side = 0.5 * (one + other)
        side[2] = along[2] = 0.0
        along /= max(float(np.linalg.norm(along)), 1e-9)
        side -= (side @ along) * along
        stated, away = np.asarray(obstacle.side), float(np.linalg.norm(side))
        if not stated.any():
            obstacles.append(replace(obstacle, side=side / max(away, 1e-9)))
            continue
        # A straight path beside the cylinder would have to wind all the way around it.
        if stated @ side < 0.0 and away > float(np.asarray(obstacle.size)[0]):
            require_path(WRONG_SIDE, bundles.names[bundle], obstacle)
        obstacles.append(obstacle)
    return replace(bundles, obstacles=tuple(obstacles))


def quadriceps_bundles(
    paths: tuple[Any, ...], forces: ArrayLike, total: float, names: tuple[str, ...]
) -> Bundles:
    """Muscles that share a total force, N, in proportion to their maximum isometric forces."""
    share = np.asarray(forces, dtype=float)
    return Bundles(names, BODIES, paths, constant(total * share / share.sum()))
