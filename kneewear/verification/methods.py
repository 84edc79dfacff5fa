"""Grids, distances and analyses compared on one case."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.foundation import Layer, PressureLaw
from kneewear.contact.resultant import Resultant
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import bearing_of, build_elements
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.wear import WearSettings
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.evaluation import choose_pressure_law
from kneewear.simulation.history import ContactHistory
from kneewear.verification.adaptive import AdaptivePair, AdaptiveResultant
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import summarize_cases

Array = NDArray[np.float64]
Cells = tuple[int, int]  # rows and columns
Evaluation = Callable[[Array], Resultant | AdaptiveResultant]  # from the translation, mm

# Elements per region of the reference solution.
REFERENCE = (120, 120)
# Largest penetrations from light contact to full load, mm.
DEPTHS = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
QUANTITIES = ("force", "peak", "mean", "area")
# Tolerance of the depth of a pose, relative to the depth, and maximum number of steps.
_DEPTH_TOLERANCE, _MAX_STEPS = 1e-3, 200


def compare_grids(
    pair: AdaptivePair,
    law: PressureLaw,
    depths: Sequence[float] = DEPTHS,
    *,
    adaptive: Sequence[Cells] = ((20, 15), (40, 30)),
    fixed: Sequence[Cells] = ((50, 38), (100, 75)),
    positions: int = 5,
) -> pd.DataFrame:
    """Errors of force, peak and mean pressure and contact area over the depth of the contact.

    The surfaces are moved along y with their axes parallel, to the given largest penetrations (mm),
    at random positions within a cell of the coarsest fixed grid. One row per depth and grid:
    `depth_mm`, `kind`, `elements` (of one region if adaptive), `active` (mean number of loaded
    elements) and errors (root mean square over the positions) relative to `REFERENCE`.
    """

    def adaptive_grid(cells: Cells) -> Evaluation:
        on_cells = pair.with_elements(*cells)
        return lambda translation: on_cells.evaluate(np.eye(3), translation, law)

    def fixed_grid(cells: Cells) -> Evaluation:
        grid = build_elements(pair.bearing, pair.bearing.rectangle(*cells))
        on_grid, layer = pair.on(grid), Layer(law, grid.thickness[grid.valid])
        return lambda translation: on_grid.evaluate(np.eye(3), translation, layer)

    grids = [("fixed", cells, fixed_grid(cells)) for cells in fixed]
    grids += [("adaptive", cells, adaptive_grid(cells)) for cells in adaptive]
    reference = adaptive_grid(REFERENCE)
    coarsest = pair.bearing.rectangle(*min(fixed, default=(20, 15)))
    span = np.array([coarsest.length / coarsest.rows, 0.0, coarsest.width / coarsest.columns])
    shifts = np.random.default_rng(0).uniform(-0.5, 0.5, (positions, 3)) * span
    rows = []
    for depth in depths:
        poses = [lower_to_depth(pair, law, shift, depth) for shift in shifts]
        exact = np.array([_quantities(reference(pose)) for pose in poses])
        for kind, cells, evaluate in grids:
            results = [evaluate(pose) for pose in poses]
            found = np.array([_quantities(result) for result in results])
            error = np.sqrt(np.mean((found / exact - 1.0) ** 2, axis=0))
            active = float(np.mean([(result.pressure > 0).sum() for result in results]))
            row = {"depth_mm": depth, "kind": kind, "elements": math.prod(cells), "active": active}
            rows.append(row | {f"{n}_error": e for n, e in zip(QUANTITIES, error, strict=True)})
    return pd.DataFrame(rows)


def lower_to_depth(
    pair: AdaptivePair,
    law: PressureLaw,
    translation: Array,
    depth: float,
    rotation: Array | None = None,
) -> Array:
    """Translation, mm, at which the largest penetration is `depth`, mm, moving along y only.

    Raises ValueError if the surfaces do not meet.
    """
    rotation = np.eye(3) if rotation is None else rotation
    points, indenter = pair.bearing.surface.sample_points, pair.search.indenter
    pose = np.array(translation, dtype=float)
    pose[1] = points[:, 1].max() - (indenter.sample_points @ rotation.T)[:, 1].min() + 1.0
    for _ in range(_MAX_STEPS):
        _, _, distance, _, interior = indenter.closest_points((points - pose) @ rotation)
        gap = float(np.where(interior, distance, np.inf).min())
        if not 0.0 < gap < np.inf:
            break
        # The gap is never larger than the remaining distance along y.
        pose[1] -= gap + depth
    finer = pair.with_elements(40, 40)
    for _ in range(_MAX_STEPS if gap <= 0.0 else 0):
        reached = float(finer.evaluate(rotation, pose, law).penetration.max(initial=0.0))
        if abs(reached - depth) < _DEPTH_TOLERANCE * depth:
            return pose
        pose[1] += reached - depth
    raise ValueError(f"the {pair.bearing.name} surfaces do not meet when lowered")


def _quantities(result: Resultant | AdaptiveResultant) -> tuple[float, float, float, float]:
    """Force, N, peak and mean pressure, MPa, and contact area, mm2."""
    if not result.pressure.any():
        return 0.0, 0.0, 0.0, 0.0
    parts = (
        [region.resultant for region in result.regions]
        if isinstance(result, AdaptiveResultant)
        else [result]
    )
    area = sum(part.contact_area for part in parts)
    mean = float(result.pressure @ result.area) / area
    return float(np.linalg.norm(result.wrench[:3])), float(result.pressure.max()), mean, area


def correct_distances(
    grid: ElementGrid, femoral: Mapping[str, Surface], history: ContactHistory
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
    frame = int(np.argmax(history.load[0]))
    rotation = body_three_123(history.rotation[0, frame])
    translation = history.translation[0, frame]
    parts = []
    for number, side in enumerate(grid.sides):
        loaded = history.pressure[0, frame, number] > 0.0
        centre, normal = grid.centre[number][loaded], grid.normal[number][loaded]
        penetrations = _penetrations(
            femoral[side], (centre - translation) @ rotation, normal @ rotation
        )
        columns = {"x_mm": centre[:, 0], "z_mm": centre[:, 2], **penetrations}
        parts.append(pd.DataFrame({"activity": history.activity, "side": side, **columns}))
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


Histories = Mapping[str, ContactHistory]  # by activity

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


def compare_analyses(one: ContactHistory, other: ContactHistory) -> pd.DataFrame:
    """Contact of the same cases by forward and by quasi-static analysis, in any order, by frame.

    One row per case, frame and side: `activity`, `case`, `percent`, `stance` (whether the load
    exceeds 40 % of its maximum), `side`; for q in max_pressure_mpa, avg_pressure_mpa,
    contact_area_mm2 and side_share the columns q_quasi_static and q_forward; `medial_shift_um` and
    `height_shift_um` (forward minus quasi-static); as fractions of the load, the force of the
    component's acceleration (`inertia`) and the difference between the contact forces on the fine
    and on the coarse grid of the motion (`mismatch`). Raises ValueError if both are of the same
    analysis, or cases or frames differ.
    """
    by_analysis = {one.analysis: one, other.analysis: other}
    if by_analysis.keys() != {"quasi_static", "forward"}:
        raise ValueError(f"both histories are of the analysis {one.analysis!r}")
    quasi_static, forward = by_analysis["quasi_static"], by_analysis["forward"]
    same = quasi_static.cases == forward.cases and quasi_static.sides == forward.sides
    if not same or not np.array_equal(quasi_static.percent, forward.percent):
        raise ValueError("the two analyses are of other cases, sides or frames")
    shape = forward.max_pressure.shape
    case, frame, side = (axis.ravel() for axis in np.indices(shape))

    def per_side(values: NDArray) -> NDArray:
        """Value of a frame, repeated for every side."""
        return np.broadcast_to(values[..., None], shape).ravel()

    stance = forward.load > STANCE * forward.load.max(axis=1, keepdims=True)
    columns: dict[str, NDArray] = {
        "activity": np.full(case.size, forward.activity),
        "case": np.array([one.name for one in forward.cases], dtype=object)[case],
        "percent": forward.percent[frame],
        "stance": per_side(stance),
        "side": np.array(forward.sides, dtype=object)[side],
    }
    for history in (quasi_static, forward):
        quantities = {
            "max_pressure_mpa": history.max_pressure,
            "avg_pressure_mpa": history.avg_pressure,
            "contact_area_mm2": history.contact_area,
            "side_share": -history.force[..., 1] / history.load[..., None],
        }
        for name, values in quantities.items():
            columns[f"{name}_{history.analysis}"] = values.ravel()
    shift = 1e3 * (forward.translation - quasi_static.translation)
    inertia = np.linalg.norm(forward.inertia_force, axis=-1)
    columns |= {
        "medial_shift_um": per_side(shift[..., 2]),
        "height_shift_um": per_side(shift[..., 1]),
        "inertia": per_side(inertia / forward.load),
        "mismatch": per_side(forward.residual),
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
    lives. Yields the tables `distance_correction`, `variants`, `analyses` and `grid_comparison`
    (medial side) with their names, each as soon as it is known. Raises ConvergenceError if the case
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
    bearing = bearing_of(knee.implant, "medial")
    pair = AdaptivePair(bearing, femoral["medial"], knee.samples["medial"], 2, 2)
    yield "grid_comparison", compare_grids(pair, choose_pressure_law(simulation))
