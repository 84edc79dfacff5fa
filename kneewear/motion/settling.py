"""The component lifted above the insert settles on it by numerical damping (Bei 2003, 2.2.4)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.geometry.implant import Implant
from kneewear.mechanics.coordinates import COORDINATES, POSE_FACTORS
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import moving_body
from kneewear.motion.component import CONTACT, component_system, free_coordinates
from kneewear.motion.press import Pressed, Rig, solve_press
from kneewear.motion.system import System
from kneewear.motion.system_settling import settle_system

Array = NDArray[np.float64]


class SettledPress(Pressed, Protocol):
    """Settings of a press whose component settles on the insert."""

    @property
    def analyses(self) -> Any:
        """Its option `settling` has start and accuracy."""


def settle_component(implant: Implant, study: SettledPress) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Let the component settle by implicit Euler steps, and solve the same equilibrium by descent.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee.
    study : SettledPress
        Settings, without variables; the analysis `settling` has start and accuracy, and
        `simulation.forward` the inertia.

    Returns
    -------
    sequence : DataFrame
        Start and end of each step: time_s, columns of `POSE_FACTORS`, kinetic_energy_n_mm, the
        largest acceleration_mm_per_s2 and acceleration_rad_per_s2, and the force upwards of each
        side, such as medial_force_n.
    settled : DataFrame
        Each coordinate of `POSE_FACTORS`: whether it is free, where it settled, the equilibrium by
        descent, and their difference.

    Raises
    ------
    ConvergenceError
        If the component does not come to rest, or there is no equilibrium.
    """
    options = study.analyses.settling
    if options is None:
        raise ValueError("the settings have no `analyses.settling`")
    rig = Rig(implant, study)
    start, free, axial = rig.start(), rig.free, rig.axial
    elements = rig.with_cells(solve_press(rig).elements.cells)
    pose = rig.settle(start, free, axial, elements).pose
    body = moving_body(study.simulation.forward)
    springs = rig.springs(start, free, axial)

    def system_at(place: Array) -> System:
        pressed = rig.knee.pressed_layers(elements, place[:3], body_three_123(place[3:]))
        return component_system(pressed.pairs, pressed.layers, [axial.load], springs, body)

    fixed = system_at(start)
    systems = system_at if rig.knee.natural else lambda _: fixed
    lifted = start + np.array([0.0, options.lift_mm, 0.0, np.radians(options.varus_deg), 0.0, 0.0])
    found = settle_system(
        systems,
        lifted,
        free_coordinates(free),
        step_error=options.step_error_mm,
        tolerance=options.acceleration,
    )
    scale = np.array(list(POSE_FACTORS.values()))
    # Zero is added to zeros whose sign a factor has changed.
    sequence = pd.DataFrame(found.coordinates * scale + 0.0, columns=list(POSE_FACTORS))
    sequence.insert(0, "time_s", found.time)
    sequence["kinetic_energy_n_mm"] = found.kinetic
    for unit, part in (("mm", slice(0, 3)), ("rad", slice(3, 6))):
        largest = np.abs(found.accelerations[:, part]).max(axis=1)
        sequence[f"acceleration_{unit}_per_s2"] = largest
    contacts = [systems(place).forces(place).parts[CONTACT] for place in found.coordinates]
    for number, side in enumerate(elements.cells):
        sequence[f"{side}_force_n"] = [contact["wrench"][number, 1] for contact in contacts]
    settled = pd.DataFrame(
        {
            "coordinate": list(POSE_FACTORS),
            "free": np.isin(COORDINATES, free),
            "settled": found.coordinates[-1] * scale + 0.0,
            "equilibrium": pose * scale + 0.0,
            "difference": (found.coordinates[-1] - pose) * scale + 0.0,
        }
    )
    return sequence, settled
