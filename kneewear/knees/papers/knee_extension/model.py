"""Knee extension by the quadriceps (Caruntu and Hefzy 2004): curves, comparison and scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.knees.composed import drawn_shapes
from kneewear.knees.outcome import near
from kneewear.knees.papers.knee_extension.literature import (
    EXTENDED,
    PATELLOFEMORAL,
    compare_extension,
)
from kneewear.knees.papers.knee_extension.motion import (
    BODIES,
    FLEXION,
    JOINTS,
    Extension,
    ExtensionParts,
    build_base,
    build_extension,
    extend_knee,
    find_slack_length,
)
from kneewear.knees.papers.knee_extension.settings import CONTACTS, KneeExtensionSettings
from kneewear.knees.result import MultibodyResult, Scene, curves

Array = NDArray[np.float64]

OVER = "flexion (deg)"
PATELLA = "patella flexion"
RATIO = "patellofemoral over quadriceps force"
# Poses in the animation.
POSES = 19


def solve(parts: ExtensionParts, settings: KneeExtensionSettings) -> MultibodyResult:
    """Extend a knee under each forcing function, beside the numbers of the source."""
    base = build_base(parts, settings)
    slack, start = find_slack_length(base, parts, settings)
    cases = {
        case: extend_knee(
            build_extension(base, parts, settings, case, slack), start, settings, case
        )
        for case in settings.extension.forcing.force_n
    }
    cases = refer_patella(cases)
    kinematics, forces = extension_curves(cases)
    furthest = min(cases.values(), key=lambda one: one.table["flexion_deg"].min())
    return MultibodyResult(
        kinematics=kinematics,
        forces=forces,
        literature=compare_extension(cases, settings),
        scene=extension_scene(furthest, parts, settings),
    )


def refer_patella(cases: Mapping[str, Extension]) -> dict[str, Extension]:
    """Flexion of the patella from where it is in full extension under the last force.

    In the source the axes of both bodies are parallel in extension. As it is where that motion ends
    in flexion.
    """
    table = list(cases.values())[-1].table
    if table["flexion_deg"].iloc[-1] > EXTENDED:
        return dict(cases)
    zero = table[PATELLA].iloc[-1]
    return {
        name: one._replace(
            patella_zero=float(zero),
            table=one.table.assign(**{PATELLA: one.table[PATELLA] - zero}),
            unwrapped=None
            if one.unwrapped is None
            else one.unwrapped - zero * (one.unwrapped.index == PATELLA),
        )
        for name, one in cases.items()
    }


def extension_curves(cases: Mapping[str, Extension]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Curves of motion and of forces over flexion, one series per forcing function."""

    def panel(name: str, unit: str, columns: Mapping[str, str]) -> pd.DataFrame:
        tables = [
            curves(
                name,
                OVER,
                one.table["flexion_deg"],
                unit,
                {f"{case}{label}": one.table[column].to_numpy()},
            )
            for case, one in cases.items()
            for label, column in columns.items()
        ]
        return pd.concat(tables, ignore_index=True)

    motion = [panel(name, unit, {"": name}) for name, unit in JOINTS.items() if name != FLEXION]
    motion += [
        curves("flexion", "time (s)", one.table["time_s"], "deg", {case: one.table["flexion_deg"]})
        for case, one in cases.items()
    ]
    tibia, patella = CONTACTS
    places = {
        "medial contact, anterior": f"medial {tibia} x",
        "lateral contact, anterior": f"lateral {tibia} x",
        "contact on femur, superior": f"lateral {patella} femur y",
        "contact on patella, superior": f"lateral {patella} y",
    }
    motion += [panel(name, "mm", {"": column}) for name, column in places.items()]
    totals = {f", {name}": name for name in CONTACTS}
    forces = [panel("contact force", "N", totals)]
    for one in cases.values():
        one.table[RATIO] = one.table[PATELLOFEMORAL] / one.table["quadriceps"]
    forces.append(panel(RATIO, "1", {"": RATIO}))
    for name in CONTACTS:
        sides = {f", {side}": f"{side} {name}" for side in ("medial", "lateral")}
        forces.append(panel(f"{name} contact force by side", "N", sides))
    pulls = {f", {name}": name for name in ("quadriceps", "patellar ligament")}
    forces.append(panel("quadriceps and patellar ligament", "N", pulls))
    ligaments: Any = next(iter(cases.values())).system.actions["ligaments"]
    for case, one in cases.items():
        series = {name: one.table[name].to_numpy() for name in ligaments.names}
        at = one.table["flexion_deg"]
        forces.append(curves(f"ligament tension, {case}", OVER, at, "N", series))
    return pd.concat(motion, ignore_index=True), pd.concat(forces, ignore_index=True)


def extension_scene(
    one: Extension, parts: ExtensionParts, settings: KneeExtensionSettings
) -> Scene:
    """Bodies, ligaments and tendons at even steps of flexion."""
    system, table = one.system, one.table
    wanted = np.linspace(table["flexion_deg"].iloc[0], table["flexion_deg"].iloc[-1], POSES)
    flexion = table["flexion_deg"].to_numpy()[: len(one.motion.time)]
    chosen = [int(np.abs(flexion - angle).argmin()) for angle in wanted]
    poses = [system.poses(one.motion.coordinates[number]) for number in chosen]
    ligaments: Any = system.actions["ligaments"]
    tendon: Any = system.actions["patellar ligament"]
    quadriceps: Any = system.actions["quadriceps"]
    lines = []
    for pose in poses:
        pull = near(quadriceps.action.lines(pose)[0])
        lines.append((*ligaments.straight.lines(pose), *tendon.lines(pose), pull))
    return Scene(
        bodies=BODIES,
        **drawn_shapes(parts.knee, settings),
        rotation=np.array([pose.rotation for pose in poses]),
        translation=np.array([pose.translation for pose in poses]),
        labels=tuple(f"{flexion[number]:.0f}°" for number in chosen),
        lines=tuple(lines),
    )
