"""Comparison of one case with finite elements and coupled layers at frames of its cycle."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.contact.foundation import SmallStrain
from kneewear.contact.material import Elastic, Hardening
from kneewear.evidence.fe_comparison.frames import (
    QUANTITIES,
    SideAtFrame,
    SideComparison,
    SolidFields,
    compute_side,
    foundation_values,
)
from kneewear.evidence.fe_comparison.layer import SideLayer, compute_layer
from kneewear.evidence.fe_comparison.settings import FeComparisonSettings
from kneewear.evidence.fe_comparison.yielding import COMPARED_COLUMNS, SideYielding
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.knee import KneeModel
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases
from kneewear.motion.evaluation import build_layers, build_pairs, choose_pressure_law
from kneewear.motion.settings import SimulationSettings

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

FOUNDATION = "foundation"
COUPLED = "coupled_layer"
YIELDING = "yielding_layer"
ELEMENTS = "finite_elements"
LABELS = ["case", "thickness_mm", "body_mass_kg", "percent", "side"]
VALUES = [
    "quantity",
    "unit",
    FOUNDATION,
    COUPLED,
    YIELDING,
    ELEMENTS,
    "foundation_error_percent",
    "layer_error_percent",
    "yielding_error_percent",
    "fine_layer_error_percent",
    "mesh_error_percent",
]
_MAP = ["x", "z", "width_x", "width_z", "pressure"]
_PROFILE = ["part", "depth", "von_mises", "max_shear"]


@dataclass(frozen=True)
class CaseComparison:
    """Tables of one case, and fields of its frames by their names.

    `results` has a row per frame, side and quantity; `maps` the loaded elements of the foundation
    and of the coupled layer, and loaded nodes of the solid with their rectangles of the plan, mm,
    and their pressures, MPa; `profiles` the largest stresses at every level of nodes below the
    surface; `solids` a row per frame and side: elements, wall time, and how well the reaction of
    the base balances; `poses` those of the frames by percent of the cycle: position, mm, and body-
    three 1-2-3 angles, rad.
    """

    results: pd.DataFrame
    maps: pd.DataFrame
    profiles: pd.DataFrame
    solids: pd.DataFrame
    fields: Mapping[str, SolidFields]
    poses: Mapping[float, Array]


def compute_comparison(
    knee: KneeModel,
    activity: Activity,
    case: Case,
    frames: tuple[int, ...],
    settings: FeComparisonSettings,
    simulation: SimulationSettings,
) -> CaseComparison:
    """Chosen frames of one case by finite elements beside the foundation and coupled layers.

    Poses and loads of each side are those of the foundation's cycle; each condyle is pressed alone
    on its plateau, once at that pose and once, moved along y, under the foundation's vertical force
    of its side. ConvergenceError if the cycle has no equilibrium, InputDataError if a frame of the
    solid has none, ValueError if the solid cannot be built.
    """
    history = simulate_cases(knee, activity, [case], simulation)
    pairs = build_pairs(knee, simulation)
    layers = build_layers(knee.grid, pairs, case.thickness, simulation)
    material = Elastic(simulation.youngs_modulus_mpa, simulation.poisson_ratio)
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in ("results", "maps", "profiles")}
    solids, fields, poses = [], {}, {}
    for frame in frames:
        percent = float(history.percent[frame])
        pose = np.concatenate([history.translation[0, frame], history.rotation[0, frame]])
        poses[percent] = pose
        for number, name in enumerate(knee.grid.sides):
            contact = pairs[number].evaluate(body_three_123(pose[3:]), pose[:3], layers[number])
            if contact.active_elements == 0:
                continue
            centres = knee.grid.centre[number][knee.grid.valid[number]][:, [0, 2]]
            side = SideAtFrame(
                label=f"{case.name}, {percent:g} % of {activity.name}, {name}",
                bearing=bearing_of(knee.implant, name),
                plan=(centres.min(axis=0), centres.max(axis=0)),
                condyle=knee.implant.femoral[name],
                pose=pose,
                pair=pairs[number],
                contact=contact,
                more_thickness=case.thickness - knee.implant.nominal_thickness,
            )
            comparison = compute_side(side, material, settings)
            # Other directions of the pressure have no coupled layer.
            coupled = simulation.force_direction == "minimum_distance"
            layer = (
                compute_layer(side, knee.grid, number, case.thickness, material)
                if coupled
                else None
            )
            curve = settings.plasticity
            yielding = (
                SideYielding.of(
                    side,
                    knee.grid,
                    number,
                    case.thickness,
                    material,
                    Hardening(curve.plastic_strain, curve.yield_stress_mpa),
                ).values(curve.load_steps)
                if coupled and curve is not None
                else {}
            )
            if yielding and yielding["peak_columns"] < COMPARED_COLUMNS:
                logger.warning(
                    "%s: the largest pressure is on %d columns of elements and was compared on %d "
                    "or more; a narrower peak is smoothed",
                    *(side.label, yielding["peak_columns"], COMPARED_COLUMNS),
                )
            labels = (case.name, case.thickness, case.body_mass, percent, name)
            own = dict(zip(LABELS, labels, strict=True))
            found = {
                "results": _compared(side, comparison, layer, yielding, simulation),
                "maps": _maps(knee, number, side, comparison.fields, layer),
                "profiles": _profiles(side, comparison.fields),
            }
            for part, table in found.items():
                parts[part].append(pd.DataFrame(own, index=table.index).join(table))
            solids.append(own | _solid_row(side, comparison))
            fields[f"{case.name}_{percent:g}_{name}"] = comparison.fields
    joined = {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()}
    return CaseComparison(solids=pd.DataFrame(solids), fields=fields, poses=poses, **joined)


def _compared(
    side: SideAtFrame,
    comparison: SideComparison,
    layer: SideLayer | None,
    yielding: Mapping[str, float],
    simulation: SimulationSettings,
) -> pd.DataFrame:
    """Values of all, errors of foundation and layers, and the foundation's effective modulus."""
    foundation, nothing = foundation_values(side), np.nan
    coupled, fine = (layer.values, layer.fine_values) if layer else ({}, {})
    rows = [
        (
            name,
            unit,
            foundation.get(name, nothing),
            coupled.get(name, nothing),
            yielding.get(name, nothing),
            comparison.values[name],
            # A side may bear nothing in the middle: an error against zero is none.
            100.0 * (fine.get(name, nothing) / (comparison.values[name] or nothing) - 1.0),
            comparison.mesh_error(name),
        )
        for name, unit in QUANTITIES.items()
        if name != "plastic_strain" or comparison.values[name] > 0.0
    ]
    law = choose_pressure_law(simulation)
    if isinstance(law, SmallStrain) and np.isinf(law.cap):
        # Its force is proportional to the modulus.
        modulus = simulation.youngs_modulus_mpa
        part = comparison.values["force_at_pose"] / foundation["force_at_pose"]
        error = comparison.mesh_error("force_at_pose")
        row = (
            "effective_modulus",
            "MPa",
            modulus,
            nothing,
            nothing,
            part * modulus,
            nothing,
            error,
        )
        rows.append(row)
    columns = ["quantity", "unit", FOUNDATION, COUPLED, YIELDING, ELEMENTS, *VALUES[-2:]]
    table = pd.DataFrame(rows, columns=columns)
    methods = {"foundation": FOUNDATION, "layer": COUPLED, "yielding": YIELDING}
    for error_of, method in methods.items():
        table[f"{error_of}_error_percent"] = 100.0 * (table[method] / table[ELEMENTS] - 1.0)
    return table[VALUES]


def _maps(
    knee: KneeModel,
    number: int,
    side: SideAtFrame,
    fields: SolidFields,
    layer: SideLayer | None,
) -> pd.DataFrame:
    """Pressures of all with the rectangles of the plan that have them."""
    widths = knee.grid.cell_edges(number)
    contacts = {FOUNDATION: side.contact} | ({COUPLED: layer.contact} if layer else {})
    parts = {}
    for name, contact in contacts.items():
        loaded = contact.pressure > 0.0
        centre = side.pair.centre[contact.element[loaded]]
        wide = np.tile(widths, (len(centre), 1))
        parts[name] = np.column_stack([centre[:, [0, 2]], wide, contact.pressure[loaded]])
    top = fields.solid.nodes[:, :, -1]
    low, high = zip(*(_bounds(line) for line in (top[:, 0, 0], top[0, :, 2])), strict=True)
    x = np.meshgrid(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), indexing="ij")
    nodes = np.meshgrid(high[0] - low[0], high[1] - low[1], indexing="ij")
    pressure = fields.pressed.pressure
    parts[ELEMENTS] = np.stack([*x, *nodes, pressure], axis=-1)[pressure > 0.0]
    return pd.concat(
        [pd.DataFrame(part, columns=_MAP).assign(method=name) for name, part in parts.items()],
        ignore_index=True,
    )


def _bounds(line: Array) -> tuple[Array, Array]:
    """Ends of the part of each of some positions in a row: halfway to its neighbours."""
    between = np.array([0.5 * (a + b) for a, b in pairwise(line)])
    return np.append(line[0], between), np.append(between, line[-1])


def _profiles(side: SideAtFrame, fields: SolidFields) -> pd.DataFrame:
    """Largest stresses of every level of nodes, of all and of the middle of the contact."""
    middle = side.box.in_middle(fields.solid.nodes[:, :, -1, 2])
    rows = []
    for part, chosen in (("all", np.ones_like(middle)), ("middle", middle)):
        for level in range(fields.depth.shape[2]):
            stress, shear = fields.von_mises[chosen, level], fields.max_shear[chosen, level]
            depth = float(fields.depth[chosen, level][stress.argmax()])
            rows.append((part, depth, float(stress.max()), float(shear.max())))
    return pd.DataFrame(rows, columns=_PROFILE)


def _solid_row(side: SideAtFrame, comparison: SideComparison) -> dict[str, object]:
    pressed = comparison.fields.pressed
    balance = np.abs(pressed.force + pressed.reaction).max() / side.load
    return {
        "elements": " x ".join(map(str, comparison.fields.solid.elements)),
        "degrees_of_freedom": comparison.fields.solid.size,
        "iterations": pressed.iterations,
        "balance": float(balance),
        "seconds": round(comparison.seconds, 1),
    }
