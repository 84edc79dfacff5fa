"""Predicted gait: position and rotation from measured flexion and load, and soft tissue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.mechanics.loads import Load
from kneewear.multibody.equilibrium import SystemEquilibrium, solve_system
from kneewear.multibody.system import System
from kneewear.regression.literature import ComparedNumber, judge_numbers, rms_number
from kneewear.settings.multibody import PredictedGaitSettings
from kneewear.studies.multibody.outcome import equilibrium_checks, knee_scene
from kneewear.studies.multibody.passive_flexion import (
    COMPONENTS,
    FREE,
    TISSUES,
    TOLERANCE,
    KneeParts,
    build_system,
    component_motion,
    start_of,
    tissue_forces,
)
from kneewear.studies.multibody.result import MultibodyResult, curves

Array = NDArray[np.float64]

OVER = "gait cycle (%)"
GAIT_COLUMN = "percent_gait_cycle"
LOAD_COLUMNS = ("pct_cycle", "medial_N", "lateral_N")
# Flexion of the components differs from the joint's by their placement: found in so many solutions.
TURNS = 2


def solve_predicted_gait(parts: KneeParts, settings: PredictedGaitSettings) -> MultibodyResult:
    """Equilibria over a gait cycle, and their motion beside the measured one.

    Prescribed are the measured flexion of the components and, along the tibial component's axis,
    the measured contact force with its medial share; the other five coordinates of the tibia and
    the six of the patella follow. Inertia is left out. ConvergenceError, with the frame, if a frame
    has no equilibrium; ValueError without components, motion or load.
    """
    motion, load = parts.reference, parts.load
    if parts.components is None or motion is None or load is None:
        raise ValueError("a predicted gait needs placements of components, a motion and a load")
    percent = motion[GAIT_COLUMN].to_numpy(dtype=float)
    medial, lateral = (
        np.maximum(np.interp(percent, load["pct_cycle"], load[name]), settings.gait.least_load_n)
        for name in LOAD_COLUMNS[1:]
    )
    base = build_system(parts, settings)
    found = _solve_frames(base, parts, settings, (medial, lateral))
    values = component_motion(base, parts, found)
    tables = [
        curves(name, OVER, percent, unit, {"reference": motion[column], "computed": values[name]})
        for name, (column, unit) in COMPONENTS.items()
    ]
    forces = tissue_forces(base, found, OVER, percent)
    applied = curves("contact force", OVER, percent, "N", {"applied load": medial + lateral})
    return MultibodyResult(
        kinematics=pd.concat(tables, ignore_index=True),
        forces=pd.concat([applied, forces], ignore_index=True),
        literature=judge_numbers(
            [*equilibrium_checks(base, found), *_compare(values, motion, percent, settings)]
        ),
        scene=knee_scene(
            base,
            [base.poses(one.coordinates) for one in found],
            tuple(f"{at:.0f} %" for at in percent),
            TISSUES,
            **parts.drawn(),
        ),
        motion=pd.DataFrame(
            {GAIT_COLUMN: percent}
            | {column: values[name] for name, (column, _) in COMPONENTS.items()}
        ),
    )


def _solve_frames(
    base: System, parts: KneeParts, settings: PredictedGaitSettings, load: tuple[Array, Array]
) -> tuple[SystemEquilibrium, ...]:
    """Equilibrium of each frame, from that of the frame before."""
    motion, components = parts.reference, parts.components
    if motion is None or components is None:
        raise ValueError("a predicted gait needs placements of components and a motion")
    axes, origin = components[1]
    flexion = base.coordinate("tibia.theta_1")
    now = solve_system(base, start_of(settings), FREE, tolerance=TOLERANCE)
    found = []
    for frame, wanted in enumerate(np.radians(motion["flexion_deg"].to_numpy(dtype=float))):
        total = load[0][frame] + load[1][frame]
        # Components have z medial.
        line = settings.gait.lever_mm * (load[0][frame] - load[1][frame]) / total
        pull = Load(
            axes @ (0.0, total, 0.0), point=origin + axes @ (0.0, 0.0, line), frame="moving",
            body="tibia",
        )  # fmt: skip
        system = replace(base, actions=dict(base.actions) | {"load": pull})
        for _ in range(TURNS):
            here = np.radians(component_motion(base, parts, (now,))["flexion"][0])
            start = now.coordinates.copy()
            start[flexion] += wanted - here
            now = solve_system(system, start, FREE, tolerance=TOLERANCE, frame=frame)
        found.append(now)
    return tuple(found)


def _compare(
    values: dict[str, Array],
    motion: pd.DataFrame,
    percent: Array,
    settings: PredictedGaitSettings,
) -> Iterator[ComparedNumber]:
    """Differences from the measured motion over the cycle and over stance; nothing is expected."""
    gait = settings.gait
    stance = percent <= gait.stance_percent
    for name, (column, unit) in COMPONENTS.items():
        measured = motion[column].to_numpy(dtype=float)
        for part, chosen in (("cycle", np.ones_like(stance)), ("stance", stance)):
            yield rms_number(
                f"rms difference over the {part}", name, values[name][chosen], measured[chosen],
                unit, gait.source,
            )  # fmt: skip
        spans = [float(np.ptp(curve)) for curve in (values[name], motion[column])]
        yield ComparedNumber("range", name, spans[0], unit, gait.source, published=spans[1])
