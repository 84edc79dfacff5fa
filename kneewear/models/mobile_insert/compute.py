"""Wear of both faces of an insert: contact of the bearing, motion on the tray, and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.load import GRAVITY
from kneewear.base.cases import WHOLE, Case, Output
from kneewear.base.schemas import CONTACT
from kneewear.errors import ConvergenceError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.models.mobile_insert.backside import LOWER, Backside, build_backside, moment_about
from kneewear.models.mobile_insert.insert_motion import InsertMotion, InsertOnTray
from kneewear.models.mobile_insert.settings import BacksideStudy, Micromotion, MobileInsert
from kneewear.motion.cases import simulate_cases
from kneewear.motion.cycle import contact_histories
from kneewear.motion.dwell_pose import refer_to_dwell_pose
from kneewear.motion.evaluation import build_layers, build_pairs
from kneewear.motion.history import Failure, case_coordinates, cases_of, failure_attribute
from kneewear.motion.quasi_static import share_of_plateaus
from kneewear.motion.settings import SimulationSettings
from kneewear.study.inputs import CaseInputs, with_exact_distances
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.interval import WearingSurface
from kneewear.wear.laws import cycles_of_life
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import damage_volume

Array = NDArray[np.float64]

UPPER = "upper"
_OF_FACES = {
    "wear_volume": "mm3",
    "wear_rate": "mm3/10^6",
    "max_wear_depth": "mm",
    "max_pressure": "MPa",
    "sliding": "mm",
    "cross_shear": "1",
}
# Results of a case, in the order of tables.
OUTPUTS: tuple[Output, ...] = (
    *(Output(face, *one) for face in (UPPER, LOWER) for one in _OF_FACES.items()),
    Output(WHOLE, "mass_rate", "mg/10^6"),
    Output(WHOLE, "backside_percent", "%"),
    Output(WHOLE, "femoral_rotation_range", "deg"),
    Output(WHOLE, "insert_rotation_range", "deg"),
    Output(WHOLE, "insert_posterior_range", "mm"),
    Output(WHOLE, "insert_medial_range", "mm"),
    Output(WHOLE, "rotation_on_tray", "1"),
    Output(WHOLE, "max_axial_moment", "N m"),
    Output(WHOLE, "max_friction_moment", "N m"),
    Output(WHOLE, "rotation_closure", "deg"),
    Output(WHOLE, "glide_closure", "mm"),
)


@dataclass(frozen=True)
class FaceCycle:
    """One cycle of an activity: contact of both faces, and the insert on its tray.

    `upper` and `lower` are datasets of the schema CONTACT. Each of `curves` has the shape
    (frame,): `percent` of the cycle, `femoral_rotation` and `insert_rotation` against the tray,
    deg, tibial external rotation positive, `insert_posterior` and `insert_medial`, its displacement
    on the tray, mm, `axial_moment` of the femoral component on the insert about the pivot and
    `friction_moment`, the largest that the backside resists with, N m.
    """

    upper: xr.Dataset
    lower: xr.Dataset
    curves: Mapping[str, Array]
    closure: Array


@dataclass(frozen=True)
class FacesWear:
    """Numbers of a case by column, and a dataset of its curves and of its backside."""

    values: Mapping[str, float]
    dataset: xr.Dataset


def compute_faces(study: BacksideStudy, inputs: CaseInputs) -> FacesWear:
    """Wear of both faces of an insert over a life.

    Parameters
    ----------
    study : BacksideStudy
        Settings of a case.
    inputs : CaseInputs
        Its knee and activities.

    Returns
    -------
    FacesWear
        Values of `OUTPUTS`: volumes and depths after the life (its first one), rates per million
        cycles. `sliding` is the integral of pressure times sliding over a face and a cycle of each
        activity by its share, over the mean load; `rotation_on_tray` the part of the rotation that
        is between insert and tray, by the sums of its steps.

    Raises
    ------
    KneewearError
        If the knee cannot be built, or a frame has no equilibrium.

    Notes
    -----
    Contact of the bearing is that of model wear, but for the rotation of the insert. Creep of the
    backside is not computed: the whole face is under less pressure than the bearing, and the
    compression of the layer is counted there.
    """
    lower = build_backside(study.backside, inputs.knee(study).implant, study.insert.thickness_mm)
    cycles = face_cycles(study, inputs, lower)
    uppers = {name: cycle.upper for name, cycle in cycles.items()}
    lowers = {name: cycle.lower for name, cycle in cycles.items()}
    wear, grid = study.wear, inputs.knee(study).grid
    own = wear_of_backside(study)
    values: dict[str, float] = {}
    maps = {}
    for face, histories, elements, settings in (
        (UPPER, uppers, grid, wear),
        (LOWER, lowers, lower.grid, own),
    ):
        maps[face] = accumulate_wear(histories, elements, settings)
        found = _face_results(maps[face], histories, elements, settings)
        values |= {f"{face}_{name}": value for name, value in found.items()}
    volumes = [values[f"{face}_wear_volume"] for face in (UPPER, LOWER)]
    rates = [values[f"{face}_wear_rate"] for face in (UPPER, LOWER)]
    curves = {
        name: np.concatenate([cycle.curves[name] for cycle in cycles.values()])
        for name in next(iter(cycles.values())).curves
    }
    closure = np.max([one.closure for one in cycles.values()], axis=0)
    values |= {
        "mass_rate": wear.density_mg_per_mm3 * sum(rates),
        "backside_percent": 100.0 * volumes[1] / sum(volumes),
        "femoral_rotation_range": float(np.ptp(curves["femoral_rotation"])),
        **{
            f"{name}_range": float(np.ptp(curves[name]))
            for name in ("insert_rotation", "insert_posterior", "insert_medial")
        },
        "rotation_on_tray": _part_on_tray(cycles),
        "max_axial_moment": float(np.abs(curves["axial_moment"]).max()),
        "max_friction_moment": float(curves["friction_moment"].max()),
        "rotation_closure": float(np.degrees(closure[2])),
        "glide_closure": float(closure[:2].max()),
    }
    return FacesWear(values, _kept(cycles, lower, maps[LOWER]))


def face_surfaces(
    study: BacksideStudy, inputs: CaseInputs
) -> tuple[Sequence[WearingSurface], WearSettings]:
    """Both faces of an insert with their cycles, and the settings of their wear.

    Lives and class of polyethylene are one for both.
    """
    knee = inputs.knee(study)
    lower = build_backside(study.backside, knee.implant, study.insert.thickness_mm)
    cycles = face_cycles(study, inputs, lower)
    uppers = WearingSurface({name: cycle.upper for name, cycle in cycles.items()}, knee.grid, UPPER)
    lowers = WearingSurface(
        {name: cycle.lower for name, cycle in cycles.items()}, lower.grid, LOWER
    )
    return [uppers, lowers], study.wear


def wear_of_backside(study: BacksideStudy) -> WearSettings:
    """Wear settings of the backside: its own law and factor, without creep."""
    backside = study.backside
    return study.wear.model_copy(
        update={
            "wear_law": backside.wear_law,
            "wear_factor_mm3_per_n_m": backside.wear_factor_mm3_per_n_m,
            "creep_law": "pressure",
            "creep_mm_per_mpa": 0.0,
        }
    )


def face_cycles(study: BacksideStudy, inputs: CaseInputs, lower: Backside) -> dict[str, FaceCycle]:
    """Contact of both faces over a cycle of each activity of a case."""
    movement = study.backside.movement
    if isinstance(movement, Micromotion):
        activities = inputs.activities(study)
        return {
            name: _with_micromotion(history, activities[name], movement, lower)
            for name, history in inputs.cycles(study).items()
        }
    return {
        name: move_insert(study, inputs, activity, movement, lower)
        for name, activity in inputs.activities(study).items()
    }


def micromotion_path(movement: Micromotion, frames: int) -> Array:
    """Posterior and medial displacement, mm, and rotation, rad, of a cycle, shape (frames, 3)."""
    phase = 2.0 * np.pi * np.arange(frames) / frames
    turn = np.radians(movement.rotation_deg)
    return 0.5 * np.column_stack(
        [
            movement.anterior_posterior_mm * np.cos(phase),
            movement.medial_lateral_mm * np.sin(phase),
            turn * np.cos(phase),
        ]
    )


def _with_micromotion(
    upper: xr.Dataset, activity: Activity, movement: Micromotion, lower: Backside
) -> FaceCycle:
    """Cycle of a fixed insert with a stated motion on its tray."""
    force = -upper["force"].values[0].sum(axis=1)
    torque = -upper["torque"].values[0].sum(axis=1)
    path = micromotion_path(movement, len(force))
    # On the femoral component, as `move_insert` has them.
    wrenches = np.concatenate([force, torque], axis=1)
    return _face_cycle(upper, activity, wrenches, path, lower, np.zeros(len(force)), np.zeros(3))


def _face_cycle(
    upper: xr.Dataset,
    activity: Activity,
    wrenches: Array,
    path: Array,
    lower: Backside,
    resistance: Array,
    closure: Array,
) -> FaceCycle:
    """Cycle from the contact of the bearing, `wrenches` (frame, 6) on the femoral component.

    Moments are about the origin of the insert.
    """
    on_insert = np.array([-moment_about(lower.pivot, [wrench], np.zeros(3)) for wrench in wrenches])
    pressure = np.array([lower.pressure(wrench, n) for n, wrench in enumerate(on_insert)])
    (case,) = cases_of(upper)
    curves = {
        "percent": activity.percent,
        "femoral_rotation": np.degrees(activity.rotation[:, 1]),
        "insert_rotation": np.degrees(path[:, 2]),
        "insert_posterior": path[:, 0],
        "insert_medial": path[:, 1],
        "axial_moment": 1e-3 * on_insert[:, 4],
        "friction_moment": 1e-3 * resistance,
    }
    history = lower.cycle(activity.name, pressure, path, case, activity.duration)
    return FaceCycle(upper, history, curves, closure)


def move_insert(
    study: BacksideStudy,
    inputs: CaseInputs,
    activity: Activity,
    movement: MobileInsert,
    lower: Backside,
) -> FaceCycle:
    """Cycle of an insert whose motion on the tray follows from friction of both faces."""
    settings = (with_exact_distances(study) if inputs.exact else study).simulation
    knee = inputs.knee(study)
    placed = share_of_plateaus(
        refer_to_dwell_pose(activity, knee, settings), knee.grid.sides, settings
    )
    (case,) = study.case_list()
    moved, upper = _move_on_tray(knee, placed, case, settings, movement, lower)
    wrenches = np.array(
        [
            moment_about(np.zeros(3), [part.wrench for part in frame.contacts], frame.translation)
            for frame in moved.frames
        ]
    )
    cycle = _face_cycle(upper, placed, wrenches, moved.path, lower, moved.resistance, moved.closure)
    # With the friction of the bearing.
    return replace(cycle, curves={**cycle.curves, "axial_moment": 1e-3 * moved.driving})


def _move_on_tray(
    knee: KneeModel,
    activity: Activity,
    case: Case,
    settings: SimulationSettings,
    movement: MobileInsert,
    lower: Backside,
) -> tuple[InsertMotion, xr.Dataset]:
    """Motion of an insert under the share of its plateaus, and contact of its bearing."""
    pairs = build_pairs(knee, settings)
    layers = build_layers(knee.grid, pairs, case.thickness, settings)
    weight = case.body_mass * GRAVITY
    moved = InsertOnTray(pairs, layers, activity, weight, settings, movement, lower).solve()
    contacts = tuple(frame.contacts for frame in moved.frames)
    arrays = contact_histories(pairs, knee.grid, moved.solution, contacts)
    upper = CONTACT.dataset(
        {
            **case_coordinates([case]),
            "percent": activity.percent,
            "time": activity.duration * activity.percent / 100.0,
            "side": knee.grid.sides,
            **{name: array[None] for name, array in arrays.items()},
        },
        leading=("case", "frame"),
        activity=activity.name,
        analysis=settings.analysis,
        **failure_attribute([]),
    )
    return moved, upper


def try_cases(
    study: BacksideStudy,
    knee: KneeModel,
    activity: Activity,
    cases: Sequence[Case],
    settings: SimulationSettings,
    **options: Any,
) -> xr.Dataset:
    """Contact of the bearing in cases that are tried before a run, of an insert that moves.

    As `kneewear.motion.cases.simulate_cases`, whose further `options` belong to an insert that
    is fixed; cases without equilibrium are left out, and are an attribute.
    """
    movement = study.backside.movement
    if isinstance(movement, Micromotion):
        return simulate_cases(knee, activity, cases, settings, **options)
    placed = share_of_plateaus(activity, knee.grid.sides, settings)
    found, failures = [], []
    for case in cases:
        lower = build_backside(study.backside, knee.implant, case.thickness)
        try:
            found.append(_move_on_tray(knee, placed, case, settings, movement, lower)[1])
        except ConvergenceError as error:
            named = error.named(f"Case {case.name}, activity {activity.name}")
            failures.append(Failure(case, str(named), named.frame, named.residual))
    every = xr.concat(found, "case") if found else xr.Dataset()
    return every.assign_attrs(failure_attribute(failures))


def _face_results(
    maps: xr.Dataset,
    histories: Mapping[str, xr.Dataset],
    grid: ElementGrid,
    settings: WearSettings,
) -> dict[str, float]:
    """Results of one face after the first life, by quantity."""
    depth = maps.wear_depth.values[0, 0]
    volume = damage_volume(depth, grid.area)
    million = 1e-6 * cycles_of_life(settings.cycles_per_year, settings.months)
    crossed = damage_volume(depth * maps.cross_shear.values[0, 0], grid.area)
    shares = dict(zip(maps["activity"].values.tolist(), maps["shares"].values[0], strict=True))
    work = load = 0.0
    for name, history in histories.items():
        distance = np.linalg.norm(history["slip"].values[0].astype(float), axis=-1)
        work += shares[name] * float(np.sum(history["pressure"].values[0] * distance * grid.area))
        load += shares[name] * float(np.mean(history["load"].values[0]))
    return {
        "wear_volume": volume,
        "wear_rate": volume / million if million > 0.0 else float("nan"),
        "max_wear_depth": float(depth.max()),
        "max_pressure": float(maps.max_pressure.values[0, 0].max()),
        "sliding": work / load,
        "cross_shear": crossed / volume if volume > 0.0 else float("nan"),
    }


def _part_on_tray(cycles: Mapping[str, FaceCycle]) -> float:
    """Part of the rotation that is between insert and tray, of all cycles."""
    lower = upper = 0.0
    for cycle in cycles.values():
        whole, insert = (
            np.diff(turned, append=turned[0])
            for turned in (cycle.curves["femoral_rotation"], cycle.curves["insert_rotation"])
        )
        lower += float(np.abs(insert).sum())
        upper += float(np.abs(whole - insert).sum())
    return lower / (lower + upper)


def _kept(cycles: Mapping[str, FaceCycle], lower: Backside, maps: xr.Dataset) -> xr.Dataset:
    """Curves of the first activity, and the backside at the end of the first life."""
    name, cycle = next(iter(cycles.items()))
    units = {
        "percent": "%",
        "femoral_rotation": "deg",
        "insert_rotation": "deg",
        "insert_posterior": "mm",
        "insert_medial": "mm",
    }
    curves = {
        key: ("frame", values, {"units": units.get(key, "N m")})
        for key, values in cycle.curves.items()
    }
    element = ("row", "column")
    return xr.Dataset(
        curves
        | {
            "lower_wear_depth": (element, maps.wear_depth.values[0, 0, 0], {"units": "mm"}),
            "lower_max_pressure": (element, maps.max_pressure.values[0, 0, 0], {"units": "MPa"}),
            "lower_covered": (element, lower.grid.covered[0], {"units": "1"}),
            "lower_corners": (
                ("row_edge", "column_edge", "plan"),
                lower.grid.corners[0],
                {"units": "mm"},
            ),
        },
        attrs={"activity": name},
    )


def list_outputs(study: BacksideStudy) -> tuple[Output, ...]:
    """Numbers of a case, in the order of tables."""
    return OUTPUTS
