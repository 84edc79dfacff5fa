"""Numbers of Machado's spatial knee beside the computed ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import computed_rows, judge_number, published_rows
from kneewear.base.sides import SIDES
from kneewear.knees.impacts import ContactInterval
from kneewear.knees.papers.point_contact.euler_parameters import integrate_euler_parameters
from kneewear.knees.papers.rotation_vectors import logarithm
from kneewear.knees.papers.spatial_knee.settings import SpatialSettings
from kneewear.motion.system import System

Array = NDArray[np.float64]

# Flexions up to which, and beyond which, tensions of ligaments are compared, deg.
EXTENDED = 2.0
FLEXED = 30.0
# Flexion of the largest displacement of the tibia's centre to lateral in the source, deg.
TURNED = 70.0


def assumed_case(settings: SpatialSettings) -> str:
    """Name of the motion with the assumed stretches: law, ligaments and their stretches."""
    stretches = (f"{name} {value:g}" for name, value in settings.assumed_stretches.items())
    return ", ".join([settings.laws[0], *stretches])


def compare_spatial(
    flexions: Mapping[str, tuple[pd.DataFrame, tuple[ContactInterval, ...]]],
    settings: SpatialSettings,
    others: Mapping[str, float | dict[str, float]],
) -> pd.DataFrame:
    """Judge the printed numbers by motion table and contacts of each case, and by `others`.

    The ranks of ligaments whose stretch is assumed are aims in that case: more stretch is more
    tension.
    """
    computed = {
        case: spatial_numbers(motion, contacts, tuple(settings.ligaments))
        for case, (motion, contacts) in flexions.items()
    }
    quantities = dict.fromkeys(name for one in computed.values() for name in one)
    by_case = {
        name: {case: one[name] for case, one in computed.items() if name in one}
        for name in quantities
    }
    aims = {(rank_of(name), assumed_case(settings)) for name in settings.assumed_stretches}
    rows = computed_rows({**by_case, **others})
    return judge_number(published_rows(__package__), rows, aims)


def rank_of(ligament: str) -> str:
    """Quantity of a ligament's rank."""
    return f"rank of {ligament} by mean tension above 30 deg"


def spatial_numbers(
    motion: pd.DataFrame, contacts: tuple[ContactInterval, ...], ligaments: tuple[str, ...]
) -> dict[str, float]:
    """Numbers of a motion table and the contacts in it."""
    flexion, rotation = (
        motion[name].to_numpy() for name in ("flexion_deg", "internal_rotation_deg")
    )
    begin = {
        side: [contact.begin for contact in contacts if contact.name == side] or [np.nan]
        for side in SIDES
    }
    force = {side: motion[f"{side}_force_n"].to_numpy() for side in SIDES}
    total, late = force["medial"] + force["lateral"], flexion > 0.5 * flexion.max()
    computed = {
        "largest flexion": float(flexion.max()),
        "first contact: medial before lateral by": begin["lateral"][0] - begin["medial"][0],
        **{f"number of {side} contacts": float(np.isfinite(begin[side]).sum()) for side in SIDES},
        "share of the time with both contacts in which one force rises and the other falls": (
            opposed_share(force["medial"], force["lateral"])
        ),
        "largest contact force in the second half of the flexion over the first half": float(
            total[late].max() / total[~late].max()
        ),
        "correlation of internal rotation and flexion": float(np.corrcoef(flexion, rotation)[0, 1]),
        "flexion of the largest internal rotation": float(flexion[rotation.argmax()]),
        "flexion of the largest lateral force": float(flexion[force["lateral"].argmax()]),
    }
    if flexion.max() >= TURNED:
        # x is lateral; the leg flexes all the time.
        lateral = np.interp(TURNED, np.maximum.accumulate(flexion), motion["x_mm"])
        computed["lateral displacement of the tibia's centre at 70 deg"] = float(
            lateral - motion["x_mm"].iloc[0]
        )
    tension = {name: motion[f"{name}_n"].to_numpy() for name in ligaments}
    beyond = flexion > FLEXED
    if {"MCL_ant", "PCL_ant"} <= set(tension) and beyond.any():
        mean = {name: float(values[beyond].mean()) for name, values in tension.items()}
        ranking = sorted(mean, key=lambda name: -mean[name])
        for name in ("MCL_ant", "PCL_ant"):
            computed[rank_of(name)] = 1.0 + ranking.index(name)
    for group in ("MCL", "LCL"):
        if names := [name for name in ligaments if name.startswith(group)]:
            computed[f"tension of the {group} below 2 deg"] = max(
                float(tension[name][flexion < EXTENDED].max()) for name in names
            )
    return computed


def opposed_share(medial: Array, lateral: Array) -> float:
    """Part of the output steps in which both sides touch where one is loaded, one unloaded."""
    both = (np.diff(medial) != 0.0) & (np.diff(lateral) != 0.0)
    opposed = np.diff(medial)[both] * np.diff(lateral)[both] < 0.0
    return float(opposed.mean()) if opposed.size else 0.0


def euler_parameter_differences(
    system: System, coordinates: Array, times: Array
) -> dict[str, float]:
    """Largest differences of positions, mm, and rotations, deg, from those by Euler parameters."""
    other = integrate_euler_parameters(system, times[: len(coordinates)], coordinates[0], 1e-8)
    rotation = np.array([system.poses(coordinate).rotation[1] for coordinate in coordinates])
    turn = logarithm(np.swapaxes(rotation, 1, 2) @ other.rotation[:, 0])
    place = np.abs(other.translation[:, 0] - coordinates[:, :3]).max()
    return {
        "difference from the positions by Euler parameters": float(place),
        "difference from the rotations by Euler parameters": float(np.degrees(np.abs(turn).max())),
    }
