"""Contact pairs of a knee with their elastic layers, and contact at given poses."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from kneewear.base.schemas import CONTACT
from kneewear.contact.foundation import (
    MATERIALS,
    CoupledLayer,
    ElasticLayer,
    LargeStrain,
    PressureLaw,
    SmallStrain,
    ThreeParameter,
    ThreeParameterMaterial,
    confined_modulus,
)
from kneewear.contact.material import Elastic, Hardening
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.contact.search import FEW_POSES
from kneewear.errors import Finding
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import SurfaceTable
from kneewear.geometry.thickness import joint_thickness, with_layer_thickness
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.coupling import (
    half_space_influence,
    insert_influence,
    middle_element,
    unbounded_influence,
)
from kneewear.motion.cycle import RESULTANTS
from kneewear.motion.frame_equilibrium import Equilibrium
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.yielding import CommittedStrain, YieldingInsert, run_cycle

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)


def build_pairs(knee: KneeModel, settings: SimulationSettings) -> tuple[ContactPair, ...]:
    """Contact pair of each side, with `distance` and `force_direction` of the settings.

    Where a distance table is wanted that is missing or less accurate than requested, distances are
    computed exactly, and a warning says why and what would make the table good enough.
    """
    exact = exact_distances(knee, settings)
    for reason in exact.values():
        logger.warning("%s", reason)
    tables = knee.distance_tables if settings.distance == "table" else {}
    tables = {side: table for side, table in tables.items() if side not in exact}
    return tuple(
        ContactPair(
            knee.grid,
            number,
            knee.implant.femoral[side],
            knee.samples[side],
            correction="mid_surface" if settings.force_direction == "mid_surface" else "none",
            direction=settings.force_direction,
            distance_table=tables.get(side),
            map_share=FEW_POSES if settings.analysis == "quasi_static" else 1.0,
        )
        for number, side in enumerate(knee.grid.sides)
    )


def exact_distances(knee: KneeModel, settings: SimulationSettings) -> dict[str, Finding]:
    """Why distances are computed exactly though a table is wanted, by side."""
    found = {}
    for side in knee.grid.sides if settings.distance == "table" else ():
        table = knee.distance_tables.get(side)
        faults = table.quality.faults() if table else ("there is none",)
        if faults:
            reason = f"distances are computed exactly: {'; '.join(faults)}"
            less = "Results change by less than 0.1 %."
            found[side] = Finding("distance.exact", "warn", f"{side} condyle", reason, "", less)
    return found


def choose_pressure_law(settings: SimulationSettings) -> PressureLaw:
    """Pressure law of `settings.pressure_law`."""
    chosen, poisson_ratio = settings.pressure_law, settings.poisson_ratio
    cap = math.inf if chosen.cap_mpa is None else chosen.cap_mpa
    if chosen.material == "linear":
        modulus = confined_modulus(settings.youngs_modulus_mpa, poisson_ratio)
        law = LargeStrain if chosen.strain == "large" else SmallStrain
        return law(modulus, cap)
    own = chosen.own_material
    material = (
        MATERIALS[chosen.material]
        if own is None
        else ThreeParameterMaterial(own.exponent, own.reference_strain, own.reference_pressure_mpa)
    )
    return ThreeParameter(material, poisson_ratio, chosen.nonlinear_form, chosen.strain, cap)


def build_layers(
    grid: ElementGrid,
    pairs: Sequence[ContactPair],
    thickness: float,
    settings: SimulationSettings,
    *,
    is_unbounded: bool = False,
) -> tuple[ElasticLayer, ...]:
    """Elastic layer under the elements of each pair, one per side of the grid.

    `thickness` is the minimum insert thickness of the case, mm, to which the settings add their
    offset. A coupled layer has free ends where the elements end, unless it is unbounded.
    ValueError if the local thickness is not positive everywhere on the grid.
    """
    local = grid.case_thickness(thickness + settings.pressure_law.thickness_offset_mm)
    law = choose_pressure_law(settings)
    under = [local[side].ravel()[pair.index] for side, pair in enumerate(pairs)]
    if settings.contact == "foundation":
        return tuple(ElasticLayer(law, part) for part in under)
    material = Elastic(settings.youngs_modulus_mpa, settings.poisson_ratio)
    is_half_space = settings.contact == "half_space"
    return tuple(
        CoupledLayer(
            law,
            part,
            half_space_influence(grid, side, material)
            if is_half_space
            else unbounded_influence(grid, side, local, material)
            if is_unbounded
            else insert_influence(grid, side, local, material),
        )
        for side, part in enumerate(under)
    )


def yielding_insert(
    grid: ElementGrid, thickness: float, settings: SimulationSettings
) -> tuple[YieldingInsert, list[float]]:
    """Polyethylene of `settings.material_yield`, and its thickness below each plateau, mm.

    `thickness` is the minimum insert thickness of the case, mm.
    """
    curve = settings.material_yield
    if curve is None:
        raise TypeError("settings whose material does not yield")
    insert = YieldingInsert(
        Elastic(settings.youngs_modulus_mpa, settings.poisson_ratio),
        Hardening(curve.plastic_strain, curve.yield_stress_mpa),
        curve.permanent_share,
    )
    local = grid.case_thickness(thickness + settings.pressure_law.thickness_offset_mm)
    sides = range(len(grid.sides))
    return insert, [float(local[side][middle_element(grid.valid[side])]) for side in sides]


def femoral_layers(
    implant: Implant, samples: Mapping[str, SurfaceTable]
) -> dict[str, SurfaceTable]:
    """Samples of the femoral surfaces with the thickness of their layers; none if rigid."""
    layer = implant.femoral_layer
    if layer is None:
        return {}
    return {
        side: with_layer_thickness(
            table,
            layer.bone[side],
            layer.limits,
            layer.normal(implant.femoral[side], table.point.reshape(-1, 3)),
        )
        for side, table in samples.items()
    }


def add_femoral_layers(
    moving: Mapping[str, SurfaceTable],
    pairs: Mapping[str, ContactPair],
    layers: Sequence[ElasticLayer],
    translation: NDArray[np.float64],
    rotation: NDArray[np.float64],
) -> tuple[ElasticLayer, ...]:
    """Layers of each side with those of `femoral_layers` that face them at a pose.

    Each element has the thickness under it plus that of the cartilage at the nearest point of the
    femur: layers of one material act as one (Bei 2003, section 2.2.2).
    """
    joined = []
    for (side, pair), layer in zip(pairs.items(), layers, strict=True):
        u, v, *_ = pair.patches[0].closest_points((pair.centre - translation) @ rotation)
        joined.append(
            replace(layer, thickness=joint_thickness(layer.thickness, moving[side], u, v))
        )
    return tuple(joined)


def contact_at_poses(
    knee: KneeModel,
    poses: ArrayLike,
    settings: SimulationSettings,
    thickness: float | None = None,
    before: Sequence[CommittedStrain] = (),
) -> xr.Dataset:
    """Contact of a knee at each of several poses, without friction and damping.

    `poses` (6,) or (pose, 6) hold the position of the femoral origin in the frame of the insert,
    mm, and body-three 1-2-3 angles, rad; `thickness` is the minimum insert thickness, mm, that of
    the geometry by default. ValueError if a pose is not six finite numbers, or a thickness not
    positive; ConvergenceError if the plastic strain at a pose is not found. The dataset is of the
    schema CONTACT with the leading dimension pose.

    Material that yields starts at every pose from `permanent_share` times the plastic strain of
    each side that was there `before`; without it the insert was never loaded.

    In a natural knee both cartilage layers act as one: the thickness of an element is that of the
    fixed layer plus that of the moving layer at the point it faces (Bei 2003, section 2.2.2).
    """
    chosen = np.atleast_2d(np.asarray(poses, dtype=float))
    if chosen.ndim != 2 or chosen.shape[1] != 6 or not np.isfinite(chosen).all():
        raise ValueError(
            f"poses of shape {np.shape(poses)}; expected finite numbers of shape (6,) or (n, 6): "
            "three coordinates of the position in mm and three angles in rad"
        )
    grid = knee.grid
    pairs = build_pairs(knee, settings)
    nominal = knee.implant.nominal_thickness if thickness is None else thickness
    layers = build_layers(grid, pairs, nominal, settings)
    moving = femoral_layers(knee.implant, knee.samples)
    named = dict(zip(grid.sides, pairs, strict=True))

    def press(pose: Array, pressed: Sequence[ContactPair]) -> tuple[Resultant, ...]:
        translation, rotation = pose[:3], body_three_123(pose[3:])
        both = (
            add_femoral_layers(moving, named, layers, translation, rotation) if moving else layers
        )
        return tuple(
            pair.evaluate(rotation, translation, layer)
            for pair, layer in zip(pressed, both, strict=True)
        )

    if settings.material_yield is None:
        results = [press(pose, pairs) for pose in chosen]
    else:
        yielding = yielding_insert(grid, nominal, settings)
        results = _press_yielding(chosen, pairs, press, grid, yielding, before)
    shape = grid.area.shape[1:]
    return CONTACT.dataset(
        {
            "side": grid.sides,
            "translation": chosen[:, :3],
            "rotation": chosen[:, 3:],
            "pressure": np.array([_pressures(parts, pairs, shape) for parts in results]),
            **{
                name: np.array([[getattr(part, name) for part in parts] for parts in results])
                for name in RESULTANTS
            },
        },
        leading=("pose",),
    )


def _press_yielding(
    poses: Array,
    pairs: Sequence[ContactPair],
    press: Callable[[Array, Sequence[ContactPair]], tuple[Resultant, ...]],
    grid: ElementGrid,
    yielding: tuple[YieldingInsert, list[float]],
    before: Sequence[CommittedStrain],
) -> list[tuple[Resultant, ...]]:
    """Contacts at poses, each from the same plastic strain: a reported cycle whose poses stand."""
    insert, thickness = yielding
    dented = [pair.sinkable() for pair in pairs]

    def stand(number: int, pressed: Sequence[ContactPair]) -> Equilibrium:
        pose = poses[number]
        return Equilibrium(pose[:3], pose[3:], press(pose, pressed), 0.0, 1)

    every = range(len(poses))
    cycle = run_cycle(
        lambda *_: {number: stand(number, pairs) for number in every},
        every,
        lambda number, *_: stand(number, dented),
        dented,
        grid,
        thickness,
        insert,
        before,
        entry_steps=0,
        passes=0,
    )
    return [frame.contacts for frame in cycle.frames]


def _pressures(
    parts: Sequence[Resultant], pairs: Sequence[ContactPair], shape: tuple[int, ...]
) -> Array:
    """Element pressures of all sides on their grid."""
    pressure = np.zeros((len(parts), *shape))
    for one, part, pair in zip(pressure, parts, pairs, strict=True):
        one.ravel()[pair.index[part.element]] = part.pressure
    return pressure
