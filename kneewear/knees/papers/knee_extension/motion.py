"""Motion of tibia and patella that move freely under a quadriceps force that depends on flexion.

References
----------
Caruntu and Hefzy 2004, doi:10.1115/1.1644565.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.contact.foundation import confined_modulus
from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError, InputDataError
from kneewear.knees.assembly import ComposedParts, compose_system, start_coordinates
from kneewear.knees.contact.mesh_pair import MeshContact
from kneewear.knees.papers.knee_extension.patch_contact import PatchContact
from kneewear.knees.papers.knee_extension.patches import CoonsPatches, joined_sources
from kneewear.knees.papers.knee_extension.settings import CONTACTS, KneeExtensionSettings
from kneewear.knees.papers.knee_extension.tendon import PatchTendon
from kneewear.knees.tissue.bundles import Attachment, Bundles
from kneewear.knees.tissue.wrapping import overlap
from kneewear.mechanics.tension_laws import linear
from kneewear.motion.actions import Contact, FlexionDriven
from kneewear.motion.dynamics import Stepping, SystemMotion, integrate_system
from kneewear.motion.equilibrium import SystemEquilibrium, solve_system
from kneewear.motion.system import System, SystemForces

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

logger = logging.getLogger(__name__)

BODIES = ("femur", "tibia", "patella")
FREE = ("tibia.x", "tibia.y", "tibia.z", "tibia.theta_2", "tibia.theta_3", "patella")
# Coordinates of tibia and patella in the femur, in the order of the system, and their units.
JOINTS = {
    f"{body} {name}": unit
    for body, turns in (
        ("tibia", ("flexion", "adduction", "rotation")),
        ("patella", ("flexion", "rotation", "tilt")),
    )
    for unit, names in (("mm", ("anterior", "superior", "lateral")), ("deg", turns))
    for name in names
}
FLEXION = "tibia flexion"
# Start in equilibrium; a part of the largest force.
TOLERANCE = 1e-6
# Local error of the integration, and its order: two damps the vibration of the patella on its
# cartilage (about 400 Hz), which the source does not report either.
RELATIVE_TOLERANCE = 1e-3
HIGHEST_ORDER = 2
LARGEST_STEP = 5e-3
# A leg that flexes at this rate, rad/s, has turned back: forces no longer extend it.
TURNED_BACK = 0.1
# Preferred directions of contact, out of tibia and patella (Eq. 10).
PREFERRED = {"tibia": (0.0, 1.0, 0.0), "patella": (-1.0, 0.0, 0.0)}
# Output times that an extension has at least.
MIN_FRAMES = 4
# Steps, mm, of the search for the slack length of the patellar ligament, and how many.
STEP = 1.0
STEPS = 15


@dataclass(frozen=True)
class ExtensionParts:
    """A knee with one tendon of 1 N as its quadriceps, and the ends of the patellar ligament.

    With `patches`, of each body, contact and wrapping are of these.
    """

    knee: ComposedParts
    patellar_ligament: tuple[Attachment, Attachment]
    patches: Mapping[str, tuple[CoonsPatches, ...]] | None = None


class Extension(NamedTuple):
    """Extension under one forcing function.

    `table` has one row per output time and the end; `unwrapped` is the row, interpolated, where the
    quadriceps leave the femur, None if they do not. `patella_zero` is the flexion of the patella's
    own axes, deg, from which its flexion is counted.
    """

    system: System
    motion: SystemMotion
    table: pd.DataFrame
    unwrapped: pd.Series | None
    patella_zero: float = 0.0


class SideContact(NamedTuple):
    """Contact force on one side, N, its centre in the frame of the elements, mm, stored energy."""

    force: float
    centre: Array
    energy: float


def build_base(parts: ExtensionParts, settings: KneeExtensionSettings) -> System:
    """Bodies, ligaments and contact: of the patches, if there are any, or of the meshes."""
    if parts.patches is None:
        return compose_system(parts.knee, settings)
    system = compose_system(parts.knee, settings.model_copy(update={"contacts": {}}))
    contacts = {}
    for name, body in CONTACTS.items():
        layer = settings.contact(name).layer
        if layer.thickness_mm is None:
            raise ValueError("contact of patches needs one thickness of the layers")
        modulus = confined_modulus(layer.youngs_modulus_mpa, layer.poisson_ratio)
        law = PatchContact(
            joined_sources(parts.patches[body]),
            parts.patches["femur"][0],
            PREFERRED[body],
            modulus / layer.thickness_mm,
        )
        contacts[name] = Contact(body, "femur", law)
    return System(system.ground, system.bodies, {**system.actions, **contacts})


def _tendon(parts: ExtensionParts) -> Bundles | PatchTendon:
    """The tendon of the quadriceps, which wraps on patches or on the object of the bundle."""
    quadriceps = parts.knee.muscles["quadriceps"]
    if parts.patches is None:
        return quadriceps
    ends = {body: np.asarray(point, dtype=float) for body, point in quadriceps.paths[0]}
    return PatchTendon(ends["femur"], ends["patella"], parts.patches["femur"][0])


def build_extension(
    base: System, parts: ExtensionParts, settings: KneeExtensionSettings, case: str, slack: float
) -> System:
    """System of a forcing function; `base` has all but the tendons, `slack` is of one, mm."""
    extension = settings.extension
    forcing = extension.forcing
    tendon = Bundles(
        ("patellar ligament",),
        BODIES,
        (parts.patellar_ligament,),
        linear(slack, extension.patellar_ligament.stiffness_n_per_mm),
    )
    pull = FlexionDriven(
        _tendon(parts), "tibia", np.radians(forcing.flexion_deg), forcing.force_n[case]
    )
    return System(
        base.ground,
        base.bodies,
        {**base.actions, "quadriceps": pull, "patellar ligament": tendon},
    )


def dwell_pose(system: System, start: Array) -> SystemEquilibrium:
    """Equilibrium at the flexion of the start."""
    return solve_system(system, start, FREE, tolerance=TOLERANCE)


def force_ratio(forces: SystemForces) -> float:
    """Tension of the patellar ligament over that of the quadriceps."""
    return float(forces.parts["patellar ligament"].tension[0] / forces.parts["quadriceps"].factor)


def find_slack_length(
    base: System, parts: ExtensionParts, settings: KneeExtensionSettings
) -> tuple[float, Array]:
    """Slack length of the patellar ligament, mm, for the force ratio at the start; and that pose.

    The ratio falls with the slack length, with which the patella moves along the trochlea.
    ConvergenceError if it does not pass through the wanted one within 15 mm.
    """
    wanted = settings.extension.patellar_ligament
    case = next(iter(settings.extension.forcing.force_n))
    pose = start_coordinates(settings)

    def excess(slack: float) -> float:
        nonlocal pose
        found = dwell_pose(build_extension(base, parts, settings, case, slack), pose)
        pose = found.coordinates
        return force_ratio(found.forces) - wanted.force_ratio

    first = build_extension(base, parts, settings, case, 1.0)
    at = first.forces(pose).parts
    length = float(at["patellar ligament"].length[0])
    length -= wanted.force_ratio * at["quadriceps"].factor / wanted.stiffness_n_per_mm
    here = excess(length)
    step = STEP if here > 0.0 else -STEP
    for _ in range(STEPS):
        there = excess(length + step)
        if here * there <= 0.0:
            slack = float(
                scipy.optimize.brentq(excess, *sorted((length, length + step)), xtol=1e-4)
            )
            return slack, pose
        length, here = length + step, there
    what = f"A slack length of the patellar ligament for a force ratio of {wanted.force_ratio:g}"
    remedy = "Change force_ratio, or check its attachments and the start of the patella."
    raise ConvergenceError(what, 0, here, "of the ratio", remedy)


def extend_knee(
    system: System, start: Array, settings: KneeExtensionSettings, case: str
) -> Extension:
    """Motion from rest at a pose to the last flexion, or to the least one that it reaches.

    InputDataError if the leg does not extend at all.
    """
    extension = settings.extension
    flexion = system.coordinate("tibia.theta_1")
    last = np.radians(extension.last_flexion_deg)
    at_rest = dwell_pose(system, start)

    def margins(
        time: float, place: Array, rates: Array, found: Callable[[], Any], values: Array
    ) -> None:
        values[0], values[1] = place[flexion] - last, TURNED_BACK - rates[flexion]
        values[2] = wrap_overlap(system, place)

    motion = integrate_system(
        system,
        np.arange(0.0, extension.longest_s, extension.output_step_s),
        at_rest.coordinates,
        BODIES[1:],
        margins=margins,
        stops=(True, True, False),
        what=f"Dynamics of the extension under {case}",
        stepping=Stepping(RELATIVE_TOLERANCE, LARGEST_STEP, HIGHEST_ORDER),
    )
    table = motion_table(system, motion)
    table = table.iloc[: int(table["flexion_deg"].argmin()) + 1]
    if len(table) < MIN_FRAMES:
        raise InputDataError(
            f"multibody.extension.forcing.force_n.{case}",
            f"a leg that flexes from rest at {table['flexion_deg'].iloc[0]:.3g} deg",
            "one that extends",
            "Increase the force at this flexion, or check the inertia and gravity.",
        )
    logger.info("%s: %d evaluations, %.3f s", case, motion.evaluations, table["time_s"].iloc[-1])
    left = [time for time, number in motion.events if number == 2]
    unwrapped = None
    if left and left[0] <= table["time_s"].iloc[-1]:
        values = {name: np.interp(left[0], table["time_s"], table[name]) for name in table}
        unwrapped = pd.Series(values)
    return Extension(system, motion, table, unwrapped)


def wrap_overlap(system: System, coordinates: Array) -> float:
    """Depth by which the straight quadriceps cut the surface they wrap on; -1 without a surface.

    A part of the size of a wrap object; on patches the angle, rad, by which the tendon is turned.
    """
    pull: Any = system.actions["quadriceps"]
    tendon, poses = pull.action, system.poses(coordinates)
    if isinstance(tendon, PatchTendon):
        return tendon.turn(poses)
    obstacle = tendon.obstacles[0]
    if obstacle is None:
        return -1.0
    body = BODIES.index(obstacle.body)
    line = tendon.straight.lines(poses)[0]
    local = (line - poses.translation[body]) @ poses.rotation[body]
    return overlap(obstacle, local[0], local[-1])


def lateral_elements(system: System) -> dict[str, Mask]:
    """Elements of the lateral plateau, and elements of the patella that face to lateral (+z)."""
    laws: list[Any] = [system.actions[name] for name in CONTACTS]
    plateau, facet = laws[0].law.centre[:, 2] > 0.0, laws[1].law.normal[:, 2] > 0.0
    return dict(zip(CONTACTS, (plateau, facet), strict=True))


def side_contact(found: Resultant, law: MeshContact | PatchContact, chosen: Mask) -> SideContact:
    """Contact of some elements: the force of their pressures, and their centre of pressure."""
    own = chosen[found.element]
    push = (found.pressure * found.area)[own]
    total = float(push.sum())
    if total == 0.0:
        return SideContact(0.0, np.full(3, np.nan), 0.0)
    force = float(np.linalg.norm(push @ found.direction[own]))
    centre = push @ law.centre[found.element[own]] / total
    return SideContact(force, centre, law.energy(found, chosen))


def motion_table(system: System, motion: SystemMotion) -> pd.DataFrame:
    """Coordinates, forces, centres of contact and energies at the output times and at the end."""
    lateral = lateral_elements(system)
    frames = list(zip(motion.time, motion.coordinates, motion.rates, motion.parts, strict=True))
    if motion.stop is not None:
        time, place, rates, _ = motion.stop
        frames.append((time, place, rates, system.forces(place, rates, time).parts))
    names = ["flexion_deg" if name == FLEXION else name for name in JOINTS]
    rows = []
    for time, place, rates, found in frames:
        values = place.reshape(2, 6).copy()
        values[:, 3:] = np.round(np.degrees(values[:, 3:]), 9) + 0.0
        row: dict[str, float] = {"time_s": time, **dict(zip(names, values.ravel(), strict=True))}
        pull = found["quadriceps"]
        row |= {
            "quadriceps": pull.factor,
            "quadriceps power": pull.power,
            "patellar ligament": float(found["patellar ligament"].tension[0]),
            **_tensions(system, found),
        }
        poses = system.poses(place, rates)
        stored = 0.0
        for name, sides in lateral.items():
            action: Any = system.actions[name]
            resultant = found[name]
            row[name] = float(np.linalg.norm(resultant.wrench[:3]))
            for side, mask in (("medial", ~sides), ("lateral", sides)):
                part = side_contact(resultant, action.law, mask)
                stored += part.energy
                row[f"{side} {name}"] = part.force
                body = BODIES.index(action.fixed)
                ground = poses.rotation[body] @ part.centre + poses.translation[body]
                for axis, one, other in zip("xyz", part.centre, ground, strict=True):
                    row[f"{side} {name} {axis}"] = float(one)
                    row[f"{side} {name} femur {axis}"] = float(other)
        row["contact energy"] = stored
        rows.append(row)
    return pd.DataFrame(rows)


def _tensions(system: System, found: Any) -> dict[str, float]:
    ligaments: Any = system.actions["ligaments"]
    return dict(zip(ligaments.names, found["ligaments"].tension.tolist(), strict=True))


def stored_energy_error(one: Extension) -> float:
    """Largest gap between the energy of the knee and the work of the quadriceps.

    Relative to the largest of that work. Energy is kinetic, of weights, of bundles and of contact;
    work is the integral of the power at the output times.
    """
    count = min(len(one.table), len(one.motion.time))
    rows, time = one.table.iloc[:count], one.motion.time[:count]
    work = scipy.interpolate.CubicSpline(time, rows["quadriceps power"]).antiderivative()(time)
    stored = one.motion.energy[:count] + rows["contact energy"].to_numpy()
    energy = one.motion.kinetic[:count] + stored
    return float(np.abs(energy - energy[0] - work).max() / np.abs(work).max())
