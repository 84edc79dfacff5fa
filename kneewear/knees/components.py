"""Components of a replacement: their clinical motion, and equilibria at their flexion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.knees.assembly import (
    APPLIED,
    ComposedParts,
    Placement,
    course_points,
    driven_motion,
    follower,
    free_names,
    sample_curve,
    start_coordinates,
)
from kneewear.knees.settings.composed_knee import ComposedKneeSettings
from kneewear.knees.settings.knee_results import CLINICAL, ComponentsSettings
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.coordinates import OF_PATELLA
from kneewear.mechanics.rotations import angles_123, clinical_angles
from kneewear.motion.equilibrium import SystemEquilibrium, solve_system
from kneewear.motion.system import System

Array = NDArray[np.float64]

# Columns of the motion of the femoral component on the button.
PATELLA = ("flexion_deg", "tilt_deg", "rotation_deg", "proximal_mm", "lateral_mm", "force_n")
CYCLE = "percent_gait_cycle"
# Flexion of the components differs from the body's by their placement: found in so many solutions.
TURNS = 2


def clinical_motion(
    system: System,
    placements: Mapping[str, Placement],
    components: ComponentsSettings,
    motion: Sequence[Array] | Array,
) -> dict[str, Array]:
    """Clinical coordinates of the femoral component in the tibial one's frame, by name.

    `motion` holds coordinates (6 n,) of the bodies; lengths are in mm, angles in deg. Component
    frames are x posterior, y superior, z medial.
    """
    rows = []
    for coordinates in motion:
        poses = system.poses(coordinates)
        turn, place = _relative(system, placements, poses, components.femoral, components.tibial)
        flexion, varus, external = np.degrees(clinical_angles(turn))
        rows.append([flexion, varus, external, -place[0], place[1], -place[2]])
    return dict(zip(CLINICAL, np.array(rows).T, strict=True))


def cycle_table(at: Array, clinical: Mapping[str, Array]) -> pd.DataFrame:
    """Clinical coordinates over the percent of a cycle, in the columns that activities can name."""
    values = {f"{name}_{unit}": clinical[name] for name, unit in CLINICAL.items()}
    return pd.DataFrame({CYCLE: at} | values)


def trace_components(
    system: System, parts: ComposedParts, settings: ComposedKneeSettings
) -> tuple[SystemEquilibrium, ...]:
    """Equilibrium of each frame at the flexion of the components, from the frame before."""
    components, name = settings.components, follower(settings)
    if components is None or components.flexion is None or name is None:
        raise ValueError("no flexion of components is given")
    at, free = course_points(settings), free_names(settings)
    curve = sample_curve(components.flexion, parts.curves.get("components_flexion"), at)
    driven = driven_motion(parts, settings, at)
    flexion, others = system.coordinate(name), np.ones(system.size, dtype=bool)
    others[[*system.coordinates(*free), flexion]] = False
    # The start of the settings is one without the load on components.
    others_act = {name: one for name, one in system.actions.items() if name != APPLIED}
    rest = System(system.ground, system.bodies, others_act).at(0)
    now = solve_system(rest, start_coordinates(settings), free, tolerance=settings.tolerance)
    found = []
    for frame, wanted in enumerate(np.radians(curve)):
        for _ in range(TURNS):
            here = clinical_motion(system, parts.placements, components, [now.coordinates])
            start = now.coordinates.copy()
            start[others] = driven[frame][others]
            start[flexion] += wanted - np.radians(here["flexion"][0])
            now = solve_system(
                system.at(frame), start, free, tolerance=settings.tolerance, frame=frame
            )
        found.append(now)
    return tuple(found)


def button_motion(
    system: System,
    placements: Mapping[str, Placement],
    settings: ComposedKneeSettings,
    motion: Sequence[Array] | Array,
    found: Sequence[Mapping[str, Any]],
) -> pd.DataFrame:
    """Motion of the femoral component on the patella's button, over the course and back again.

    `motion` holds coordinates (6 n,) of the bodies, `found` what acts in each frame. A test of a
    button takes these columns (`PatellarMotion` of the bearing tests): flexion, tilt and rotation,
    deg, position of the femoral component's origin proximal and lateral of the button's origin, mm,
    and the force of the contact, N, over the percent of a cycle.
    """
    components, contact = settings.components, settings.button_contact
    if components is None or components.button is None or contact is None:
        raise ValueError("no button and its contact are given")
    rows = []
    for coordinates, parts in zip(motion, found, strict=True):
        poses = system.poses(coordinates)
        turn, place = _relative(system, placements, poses, components.femoral, components.button)
        tilt, turned, flexion = np.degrees(angles_123(OF_PATELLA @ turn @ OF_PATELLA.T))
        place = OF_PATELLA @ place
        force = np.linalg.norm(parts[contact].wrench[:3])
        rows.append([flexion, tilt, turned, place[0], place[2], force])
    there = np.array(rows)
    cycle = np.concatenate([there, there[-2:0:-1]])
    table = pd.DataFrame(cycle, columns=list(PATELLA))
    table.insert(0, "percent", 100.0 * np.arange(len(cycle)) / len(cycle))
    return table


def _relative(
    system: System, placements: Mapping[str, Placement], poses: BodyPoses, moving: str, fixed: str
) -> Placement:
    """Rotation and origin, mm, of the frame of a mesh in the frame of another one."""
    (turn, origin), (axes, middle) = placements[moving], placements[fixed]
    one, other = (system.names.index(part.split(".")[0]) for part in (moving, fixed))
    frame = poses.rotation[other]
    between = frame.T @ poses.rotation[one]
    place = frame.T @ (poses.translation[one] - poses.translation[other]) + between @ origin
    return axes.T @ between @ turn, axes.T @ (place - middle)
