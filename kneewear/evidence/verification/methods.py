"""Distances and analyses compared on one case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases
from kneewear.motion.history import cases_of, sides_of
from kneewear.motion.settings import SimulationSettings
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import summarize_cases

Array = NDArray[np.float64]


def correct_distances(
    grid: ElementGrid, femoral: Mapping[str, Surface], history: xr.Dataset
) -> pd.DataFrame:
    """Penetration of every loaded element at the largest load, by four methods.

    One row per side and loaded element of the history's first case: position of its centre (frame
    of the insert); angle between its normal and the indenter's at the nearest point (`angle_deg`)
    and on the element's normal (`ray_angle_deg`); penetration as minimum distance and along the
    ray, without and with correction. NaN for a ray without hit.

    Notes
    -----
    With A the element's centre, n its normal, B the nearest point of the indenter, C that on the
    line along n, and theta the angle between the normals: |AB|, |AB| / cos(theta / 2), |AC| and
    |AC| cos(theta) / cos(theta / 2), with theta of the ray at C. The corrected ones are measured
    along the normal of the mid-surface (Bei 2003, section 2.2.2 and Fig. 2-2, in words). For flat
    surfaces |AC| = |AB| / cos(theta), so that the corrected ones are equal, and all but the third
    agree to second order in theta.
    """
    frame = int(np.argmax(history["load"].values[0]))
    rotation = body_three_123(history.rotation.values[0, frame])
    translation = history.translation.values[0, frame]
    parts = []
    for number, side in enumerate(grid.sides):
        loaded = history.pressure.values[0, frame, number] > 0.0
        centre, normal = grid.centre[number][loaded], grid.normal[number][loaded]
        penetrations = _penetrations(
            femoral[side], (centre - translation) @ rotation, normal @ rotation
        )
        columns = {"x_mm": centre[:, 0], "z_mm": centre[:, 2], **penetrations}
        parts.append(pd.DataFrame({"activity": history.attrs["activity"], "side": side, **columns}))
    return pd.concat(parts, ignore_index=True)


def _penetrations(condyle: Surface, centre: Array, normal: Array) -> dict[str, Array]:
    """Angles and penetrations of elements given in the femoral frame."""
    _, _, distance, nearest_normal, _ = condyle.closest_points(centre)
    u, v, along, hit = condyle.ray_hits(centre, -normal)
    (u_low, _), (v_low, _) = condyle.domain
    hit_normal = condyle.normal(np.where(hit, u, u_low), np.where(hit, v, v_low))
    hit_normal = np.where(hit[:, None], hit_normal, np.nan)
    ray = np.where(hit, along, np.nan)
    angle, ray_angle = _angle(normal, nearest_normal), _angle(normal, hit_normal)
    return {
        "angle_deg": np.degrees(angle),
        "ray_angle_deg": np.degrees(ray_angle),
        "minimum_distance_mm": -distance,
        "minimum_distance_corrected_mm": -distance / np.cos(angle / 2.0),
        "ray_mm": ray,
        "ray_corrected_mm": ray * np.cos(ray_angle) / np.cos(ray_angle / 2.0),
    }


def _angle(element: Array, indenter: Array) -> Array:
    """Angle between an element's normal and the opposite of the indenter's, rad."""
    cosine = -(element * indenter).sum(axis=-1)
    sine = np.linalg.norm(np.cross(element, indenter), axis=-1)
    return np.asarray(np.arctan2(sine, cosine))


Histories = Mapping[str, xr.Dataset]  # by activity

# Frames with a load above this fraction of the largest are stance.
STANCE = 0.4
_KEYS = ["case", "life", "side", "quantity", "unit"]
_ALTERNATIVES = {
    "force_direction": {"minimum_distance": "mid_surface", "mid_surface": "minimum_distance"},
    "analysis": {"forward": "quasi_static", "quasi_static": "forward"},
    # A distance table is not built where exact distances are configured.
    "distance": {"table": "exact"},
}


def change_methods(settings: SimulationSettings) -> dict[str, SimulationSettings]:
    """Settings with one choice of method changed, by names such as "analysis: quasi-static"."""
    plain = settings.model_dump(mode="json")
    changes: dict[str, dict[str, Any]] = {
        f"{key.replace('_', ' ')}: {others[plain[key]].replace('_', '-')}": {
            key: others[plain[key]]
        }
        for key, others in _ALTERNATIVES.items()
        if plain[key] in others
    }
    return {name: SimulationSettings(**plain | change) for name, change in changes.items()}


def compare_methods(
    histories: Histories,
    changed: Mapping[str, Histories],
    grid: ElementGrid,
    settings: WearSettings,
) -> pd.DataFrame:
    """Every result of a case as configured (`value`) and with each method `changed`.

    The surface is never updated; blocks in the settings are ignored.
    """
    reference = _results(histories, grid, settings)
    columns = ["variant", *_KEYS, "value", "changed", "relative_difference"]
    tables = [
        pd.concat([reference, _results(others, grid, settings).rename("changed")], axis=1)
        .reset_index()
        .assign(variant=name)
        for name, others in changed.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    difference = (table["changed"] - table["value"]) / table["value"].abs().replace(0.0, np.nan)
    return table.assign(relative_difference=difference)[columns]


def _results(histories: Histories, grid: ElementGrid, settings: WearSettings) -> pd.Series:
    """Summary of all cases as one column."""
    plain = settings.without_updates()
    maps = accumulate_wear(histories, grid, plain)
    summary = summarize_cases(maps, record_cycles(histories), grid, plain)
    return summary.set_index(_KEYS)["value"]


def compare_analyses(one: xr.Dataset, other: xr.Dataset) -> pd.DataFrame:
    """Contact of the same cases by forward and by quasi-static analysis, in any order, by frame.

    One row per case, frame and side: `activity`, `case`, `percent`, `stance` (whether the load
    exceeds 40 % of its maximum), `side`; for q in max_pressure_mpa, avg_pressure_mpa,
    contact_area_mm2 and side_share the columns q_quasi_static and q_forward; `medial_shift_um` and
    `height_shift_um` (forward minus quasi-static); as fractions of the load, the force of the
    component's acceleration (`inertia`) and the difference between the contact forces on the fine
    and on the coarse grid of the motion (`mismatch`). Raises ValueError if both are of the same
    analysis, or cases or frames differ.
    """
    by_analysis = {history.attrs["analysis"]: history for history in (one, other)}
    if by_analysis.keys() != {"quasi_static", "forward"}:
        raise ValueError(f"both histories are of the analysis {one.attrs['analysis']!r}")
    quasi_static, forward = by_analysis["quasi_static"], by_analysis["forward"]
    same = cases_of(quasi_static) == cases_of(forward) and sides_of(quasi_static) == sides_of(
        forward
    )
    if not same or not np.array_equal(quasi_static.percent.values, forward.percent.values):
        raise ValueError("the two analyses are of other cases, sides or frames")
    shape = forward.max_pressure.shape  # case, frame, side
    case, frame, side = (axis.ravel() for axis in np.indices(shape))

    def per_side(values: NDArray[Any]) -> NDArray[Any]:
        """Value of a frame, repeated for every side."""
        return np.broadcast_to(values[..., None], shape).ravel()

    stance = forward["load"].values > STANCE * forward["load"].values.max(axis=1, keepdims=True)
    columns: dict[str, NDArray[Any]] = {
        "activity": np.full(case.size, forward.attrs["activity"]),
        "case": forward["case"].values.astype(object)[case],
        "percent": forward.percent.values[frame],
        "stance": per_side(stance),
        "side": forward["side"].values.astype(object)[side],
    }
    for history in (quasi_static, forward):
        quantities = {
            "max_pressure_mpa": history.max_pressure.values,
            "avg_pressure_mpa": history.avg_pressure.values,
            "contact_area_mm2": history.contact_area.values,
            "side_share": -history.force.values[..., 1] / history["load"].values[..., None],
        }
        for name, values in quantities.items():
            columns[f"{name}_{history.attrs['analysis']}"] = values.ravel()
    shift = 1e3 * (forward.translation.values - quasi_static.translation.values)
    inertia = np.linalg.norm(forward.inertia_force.values, axis=-1)
    columns |= {
        "medial_shift_um": per_side(shift[..., 2]),
        "height_shift_um": per_side(shift[..., 1]),
        "inertia": per_side(inertia / forward["load"].values),
        "mismatch": per_side(forward.residual.values),
    }
    return pd.DataFrame(columns)


def verify_methods(
    knee: KneeModel,
    activities: Sequence[Activity],
    case: Case,
    simulation: SimulationSettings,
    wear: WearSettings,
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Compare the methods a study can choose from, on one case of an implant.

    Each comparison changes one choice of the configured simulation; activities are those of the
    lives. Yields the tables `distance_correction`, `variants` and `analyses` with their names, each
    as soon as it is known. Raises ConvergenceError if the case
    does not converge with one of the methods.
    """
    settings = {"": simulation, **change_methods(simulation)}
    histories = {
        name: {
            activity.name: simulate_cases(knee, activity, [case], changed)
            for activity in activities
        }
        for name, changed in settings.items()
    }
    configured = histories.pop("")
    femoral = knee.implant.femoral
    corrected = [correct_distances(knee.grid, femoral, one) for one in configured.values()]
    yield "distance_correction", pd.concat(corrected)
    yield "variants", compare_methods(configured, histories, knee.grid, wear)
    (other,) = (histories[name] for name in histories if name.startswith("analysis"))
    analyses = [compare_analyses(history, other[name]) for name, history in configured.items()]
    yield "analyses", pd.concat(analyses)
