"""Results common to all models of bodies: forces, checks of equilibria, scene of the motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.analysis.literature import ENDS, ENERGY, EQUILIBRIUM, ComparedNumber
from kneewear.contact.ends import BORDER_LOST
from kneewear.knees.contact.mesh_pair import MeshContact, MeshEnds
from kneewear.knees.contact.point import PointContact
from kneewear.knees.result import Scene, curves
from kneewear.knees.tuning import groups_of
from kneewear.mechanics.bodies import BodyPoses
from kneewear.motion.actions import Contact
from kneewear.motion.equilibrium import SystemEquilibrium
from kneewear.motion.system import System

Array = NDArray[np.float64]

# Paths are drawn up to this distance from the ground's origin, mm; the knee would be tiny beside
# muscles that begin at the pelvis.
REACH = 150.0


def force_curves(
    system: System,
    parts: Sequence[Mapping[str, Any]],
    over: str,
    at: ArrayLike,
    *,
    ligaments: Sequence[str],
    muscles: Sequence[str] = (),
) -> pd.DataFrame:
    """Forces of contacts, tensions and strains by group of bundles, and tensions of muscles.

    `parts` is what each action found in each frame, by name; `ligaments` and `muscles` name actions
    that are bundles. Muscles without a table of tensions have a constant one, which is left out.
    """
    pairs = {
        name: action.law
        for name, action in system.actions.items()
        if isinstance(action, Contact) and isinstance(action.law, MeshContact | PointContact)
    }
    contact = {
        name: [float(np.linalg.norm(part[name].wrench[:3])) for part in parts] for name in pairs
    }
    tables = [curves("contact force", over, at, "N", contact)] if contact else []
    sums, means = {}, {}
    for table in ligaments:
        bundles: Any = system.actions[table]
        tension = np.array([one[table].tension for one in parts])
        strain = np.array([bundles.law.strain(one[table].length) for one in parts])
        for name, numbers in groups_of(bundles.names).items():
            sums[name] = tension[:, numbers].sum(axis=1)
            means[name] = 100.0 * strain[:, numbers].mean(axis=1)
    if sums:
        tables.append(curves("ligament tension", over, at, "N", sums))
        tables.append(curves("mean ligament strain", over, at, "%", means))
    tensions = {
        muscle: np.array([one[table].tension[number] for one in parts])
        for table in muscles
        for action in [system.actions[table]]
        if action.law.pieces.size  # type: ignore[union-attr]
        for number, muscle in enumerate(action.names)  # type: ignore[union-attr]
    }
    if tensions:
        tables.append(curves("muscle tension", over, at, "N", tensions))
    return pd.concat(tables, ignore_index=True) if tables else curves("", over, [], "N", {"": []})


def equilibrium_checks(
    system: System, found: tuple[SystemEquilibrium, ...]
) -> Iterator[ComparedNumber]:
    """Largest residual of all equilibria, and gap in the balance of energy."""
    for quantity, source, value in (
        ("unbalanced force over the largest", EQUILIBRIUM, max(one.residual for one in found)),
        ("energy error over the largest work", ENERGY, energy_error(system, found)),
    ):
        yield ComparedNumber(quantity, "", value, "1", source, high=1e-3)
    for name, (force, area) in end_shares(system, found).items():
        yield ComparedNumber(
            "force where a surface ends over the largest", name, force, "1", ENDS, high=BORDER_LOST
        )
        yield ComparedNumber("area where a surface ends over the largest", name, area, "1", ENDS)


def end_shares(
    system: System, found: tuple[SystemEquilibrium, ...]
) -> dict[str, tuple[float, float]]:
    """Largest force and area of each contact between meshes where one of them ends.

    Relative to the largest sum of pressure times area, and area of loaded triangles, of a frame.
    """
    shares = {}
    for name, action in system.actions.items():
        if not (isinstance(action, Contact) and isinstance(action.law, MeshContact)):
            continue
        ends, at_ends, whole = MeshEnds(action.law), np.zeros(2), np.zeros(2)
        for one in found:
            poses = system.poses(one.coordinates)
            fixed, moving = action.numbers
            frame = poses.rotation[fixed]
            place = frame.T @ (poses.translation[moving] - poses.translation[fixed])
            turn = frame.T @ poses.rotation[moving]
            contact = action.law.evaluate(turn, place)
            at = ends.touched(turn, place, contact).any(axis=0)
            parts = np.array([contact.pressure * contact.area, contact.area])
            at_ends = np.maximum(at_ends, parts[:, at].sum(axis=1))
            whole = np.maximum(whole, parts.sum(axis=1))
        force, area = (at_ends / np.maximum(whole, 1e-300)).tolist()
        shares[name] = force, area
    return shares


def energy_error(system: System, found: tuple[SystemEquilibrium, ...]) -> float:
    """Largest gap between the stored energy and the work done on the knee at rest.

    Energy is that of contact, ligaments, muscles and weights of `system`. At equilibrium the work
    of reactions and of other loads, less the loss in dampers, is the negative work of these forces
    without their damping, integrated here over all coordinates: in each step by the trapezoidal
    rule, corrected by the derivatives of the forces. The gap is relative to the largest work.
    """
    stored, work, before = [], [0.0], None
    for one in found:
        forces = system.forces(one.coordinates)
        energy = forces.energy
        for name, action in system.actions.items():
            if isinstance(action, Contact) and isinstance(action.law, MeshContact):
                energy += action.law.energy(forces.parts[name])
        stored.append(energy)
        if before is not None:
            step = one.coordinates - before[0]
            mean = 0.5 * (forces.force + before[1].force)
            bend = (before[1].derivative - forces.derivative) @ step / 12.0
            work.append(work[-1] - float(step @ (mean + bend)))
        before = one.coordinates, forces
    change = np.array(stored) - stored[0]
    return float(np.abs(change - work).max() / max(np.abs(work).max(), 1e-300))


def knee_scene(
    system: System,
    poses: Sequence[BodyPoses],
    labels: Sequence[str],
    tissues: Sequence[str],
    **drawn: Any,
) -> Scene:
    """Bodies, and the bundles of some actions, at poses; `drawn` are meshes and what they are."""
    bundles: list[Any] = [system.actions[name] for name in tissues if name in system.actions]
    return Scene(
        bodies=system.names,
        **drawn,
        rotation=np.array([pose.rotation for pose in poses]),
        translation=np.array([one.translation for one in poses]),
        labels=tuple(labels),
        lines=tuple(
            tuple(near(line) for part in bundles for line in part.lines(one)) for one in poses
        ),
    )


def near(line: Array) -> Array:
    """The part of a path within `REACH` of the ground's origin, all of it where none is."""
    parts = []
    for start, along in zip(line[:-1], np.diff(line, axis=0), strict=True):
        square, middle = along @ along, start @ along
        root = middle**2 - square * (start @ start - REACH**2)
        if root > 0.0:
            ends = np.clip((-middle + np.sqrt(root) * np.array([-1.0, 1.0])) / square, 0.0, 1.0)
            if ends[0] < ends[1]:
                parts.append(start + ends[:, None] * along)
    return np.concatenate(parts) if parts else line
