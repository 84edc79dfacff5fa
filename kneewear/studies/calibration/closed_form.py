"""The tables' quantities of the built-in implant, some fifty times faster than by the engine.

A calibration simulates a few cases some thousand times, each time with another implant. The general
engine would lay elements, build tables of distance and keep histories anew every time; condyles of
revolution need none of it, for their distance from a point is a closed form. What the two differ by
is measured (`tests/calibration/test_closed_form.py`), and the default study runs on the engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.load import GRAVITY
from kneewear.activity.parametric import build_parametric_activity
from kneewear.contact.foundation import confined_modulus
from kneewear.geometry.parametric import condyle_profile, plateau_profile
from kneewear.settings.activity import ParametricActivity
from kneewear.settings.base import LifeStudy
from kneewear.settings.implant import ParametricImplantSettings
from kneewear.sides import SIDES
from kneewear.studies.calibration import _kernels
from kneewear.wear.laws import MM3_PER_N_MM_FROM_MM3_PER_N_M, cycles_of_life

Array = NDArray[np.float64]

# What Tables A-1, B-1 and C-1 print, in the order of the last axis of all results.
QUANTITIES = (
    "max_pressure",
    "avg_pressure",
    "wear_depth",
    "creep_depth",
    "damage_depth",
    "damage_area",
    "damage_volume",
)


@dataclass(frozen=True)
class Resolution:
    """How finely a cycle is analysed.

    Parameters
    ----------
    rows, columns : int
        Elements of a plateau from front to back and from side to side.
    frames : int
        Frames of the cycle.
    """

    rows: int
    columns: int
    frames: int


def simulate_cells(
    study: LifeStudy, activity: str, cells: Sequence[tuple[float, float]], resolution: Resolution
) -> Array:
    """Quantities of the published tables for some thicknesses and body masses.

    Parameters
    ----------
    study : LifeStudy
        Its implant must be the built-in one without further arcs, cam and post; material, load
        share and wear are those of the default study, by the linear layer, Archard's law and creep
        in proportion to pressure.
    activity : str
        Name of a built-in activity, all of the life.
    cells : sequence of (thickness in mm, body mass in kg)
        Cases.
    resolution : Resolution
        Elements and frames; those of the study have no influence.

    Returns
    -------
    array, shape (cells, sides, quantities)
        In the order of `cells`, `kneewear.geometry.implant.SIDES` and `QUANTITIES`; MPa, mm, mm2
        and mm3, as `kneewear.wear.summary.summarize_cases` defines them.

    Raises
    ------
    ValueError
        If the study is not of that kind, or a frame finds no equilibrium.
    """
    shape, motion_settings = _check_kind(study, activity)
    motion = build_parametric_activity(activity, motion_settings, resolution.frames)
    plateaus = [_lay_elements(study, shape, side, resolution) for side in SIDES]
    elements = np.stack(plateaus)
    condyles = tuple(_condyle_arrays(shape, side) for side in SIDES)
    modulus = confined_modulus(study.simulation.youngs_modulus_mpa, study.simulation.poisson_ratio)
    results = np.empty((len(cells), len(SIDES), len(QUANTITIES)))
    for number, (thickness, body_mass) in enumerate(cells):
        more = thickness - study.implant.nominal_thickness_mm
        elements[..., _kernels.LAYER] = modulus / (elements[..., 1] + more)
        arrays = _kernels.MotionArrays(
            np.ascontiguousarray(motion.translation[:, 0]),
            np.ascontiguousarray(motion.rotation[:, 1]),
            np.ascontiguousarray(motion.rotation[:, 2]),
            motion.load * (body_mass * GRAVITY),
        )
        places, turns = np.zeros((resolution.frames, 6)), np.empty((resolution.frames, 3, 3))
        avg_pressure = np.zeros(len(SIDES))
        simulation = study.simulation
        left = _kernels.follow_cycle(
            elements,
            condyles,
            arrays,
            simulation.medial_share,
            1e-6,
            places,
            turns,
            avg_pressure,
        )
        if not left < 1e-3:
            raise ValueError(f"{thickness:g} mm, {body_mass:g} kg: a frame has no equilibrium")
        for side, condyle in enumerate(condyles):
            pressure, sliding = np.zeros((2, *elements.shape[1:3]))
            _kernels.add_damage(elements[side], condyle, places, turns, pressure, sliding)
            area = elements[side, ..., _kernels.AREA]
            results[number, side] = _summarize(study, pressure, sliding, area, avg_pressure[side])
    return results


def _check_kind(
    study: LifeStudy, activity: str
) -> tuple[ParametricImplantSettings, ParametricActivity]:
    """Refuse what has no closed form."""
    shape, motion = study.implant.parametric, study.activities.get(activity)
    simulation, wear = study.simulation, study.wear
    if (
        study.implant.source != "parametric"
        or shape is None
        or not isinstance(motion, ParametricActivity)
    ):
        raise ValueError("the closed form is for the built-in implant and a built-in activity")
    if shape.femoral_arcs or shape.cam_and_post is not None:
        raise ValueError("the closed form is for condyles of revolution, without cam and post")
    law = simulation.pressure_law
    chosen = (
        law.material, law.strain, law.cap_mpa, law.thickness_offset_mm,
        simulation.load_line, simulation.medial_lateral, simulation.medial_lateral_spring_per_mm,
        simulation.force_direction, wear.wear_law, wear.creep_law, wear.creep_time,
        wear.recovery_minutes, wear.blocks,
    )  # fmt: skip
    known = (
        "linear", "small", None, 0.0, "solved", "solved", 0.0, "minimum_distance", "archard",
        "pressure", "constant", 0, 1,
    )  # fmt: skip
    if chosen != known:
        raise ValueError(f"the closed form knows {known} only, not {chosen}")
    return shape, motion


def _lay_elements(
    study: LifeStudy, shape: ParametricImplantSettings, side: str, resolution: Resolution
) -> Array:
    """Centre, normal, area and place of the stiffness of each element, (rows, columns, 8)."""
    profile = plateau_profile(shape, side)
    radius = shape.plateau_sagittal_radius_mm
    # What lies lower than the middle of the land, as the rims' ends do, reaches farther.
    rim = profile.outline(np.array([profile.middle + 0.5 * profile.width]))[0][0]
    length = 2.0 * shape.plateau_half_length_mm * (1.0 - min(float(rim), 0.0) / radius)
    x = length * ((np.arange(resolution.rows) + 0.5) / resolution.rows - 0.5)
    z = profile.width * ((np.arange(resolution.columns) + 0.5) / resolution.columns - 0.5)
    z += profile.middle
    height, slope = profile.outline(z)
    # The axis stands above the insert: what rises comes nearer to it.
    away = radius - height
    drop = np.sqrt(away[None, :] ** 2 - x[:, None] ** 2)
    elements = np.empty((resolution.rows, resolution.columns, 8))
    elements[..., 0], elements[..., 2] = x[:, None], z[None, :]
    top = study.implant.nominal_thickness_mm + shape.extra_thickness_mm
    elements[..., 1] = top + radius - drop
    elements[..., 3], elements[..., 4] = -x[:, None] / drop, 1.0
    elements[..., 5] = -(away * slope)[None, :] / drop
    steepness = np.linalg.norm(elements[..., 3:6], axis=-1)
    elements[..., 3:6] /= steepness[..., None]
    cell = (length / resolution.rows) * (profile.width / resolution.columns)
    elements[..., _kernels.AREA] = cell * steepness
    return elements


def _condyle_arrays(shape: ParametricImplantSettings, side: str) -> _kernels.CondyleArrays:
    profile = condyle_profile(shape, side)
    tilt = math.asin(profile.half_width / profile.arc_radius)
    return _kernels.CondyleArrays(
        profile.middle,
        shape.femoral_sagittal_radius_mm,
        profile.arc_radius,
        profile.half_width,
        profile.rim_radius,
        math.sin(tilt),
        math.cos(tilt),
    )


def _summarize(
    study: LifeStudy, pressure: Array, sliding: Array, area: Array, avg_pressure: float
) -> list[float]:
    """Quantities of one side, as `kneewear.wear.summary.summarize_cases` defines them."""
    factor = study.wear.wear_factor_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M
    wear = factor * cycles_of_life(study.wear.cycles_per_year, study.wear.months) * sliding
    creep = study.wear.creep_mm_per_mpa * pressure
    damage = wear + creep
    worst = np.unravel_index(np.argmax(damage), damage.shape)
    return [
        float(pressure.max()),
        avg_pressure,
        float(wear[worst]),
        float(creep[worst]),
        float(damage[worst]),
        float(area[pressure > 0.0].sum()),
        float(np.sum(damage * area)),
    ]
