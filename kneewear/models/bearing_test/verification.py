"""Wear and worn geometry of simple bearings against analytical solutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.contact.foundation import confined_modulus
from kneewear.geometry.element_grid import ElementGrid
from kneewear.models.bearing_test import sliding_wear
from kneewear.models.bearing_test.settings import BearingTest
from kneewear.models.bearing_test.simulation import BearingContact, TestWear, wear_of_test
from kneewear.motion.settings import SimulationSettings
from kneewear.wear.settings import WearSettings
from kneewear.wear.worn_surface import lower_surface

Array = NDArray[np.float64]
# Test, quantity, unit, exact and computed value.
Row = tuple[str, str, str, float, float]

TARGET_PERCENT = 1.0
_FACTOR = 1.0e-6  # mm3/(N m)
_K = 1.0e-3 * _FACTOR  # mm3/(N mm)
_CYCLES = 1.0e6


def verify_wear(settings: SimulationSettings, wear: WearSettings) -> dict[str, pd.DataFrame]:
    """Wear of simple bearings by Archard's law on a linear foundation: table `wear_solutions`.

    Columns test, quantity, unit, exact, computed, error_percent and target_percent.
    """
    linear = settings.pressure_law.model_copy(
        update={
            "material": "linear",
            "strain": "small",
            "own_material": None,
            "cap_mpa": None,
            "thickness_offset_mm": 0.0,
        }
    )
    foundation = settings.model_copy(update={"contact": "foundation", "pressure_law": linear})
    rows = [row for solution in SOLUTIONS for row in solution(foundation, wear)]
    table = pd.DataFrame(rows, columns=["test", "quantity", "unit", "exact", "computed"])
    table["error_percent"] = 100.0 * (table["computed"] / table["exact"] - 1.0)
    return {"wear_solutions": table.assign(target_percent=TARGET_PERCENT)}


def _wear(
    settings: SimulationSettings, wear: WearSettings, blocks: int = 1, **test: Any
) -> tuple[BearingContact, TestWear]:
    """Contact and wear of a test by Archard's law, without creep and smoothing."""
    load = test.pop("load")
    complete = {
        "million_cycles": 1.0,
        "blocks": blocks,
        "load": {"low_n": load, "high_n": load},
        **test,
    }
    contact = BearingContact(BearingTest(**complete), settings)
    update = wear.surface_update.model_copy(update={"smoothing_mm": 0.0, "thins_layer": False})
    changed = wear.model_copy(
        update={
            "wear_law": "archard",
            "wear_factor_mm3_per_n_m": _FACTOR,
            "creep_mm_per_mpa": 0.0,
            "surface_update": update,
        }
    )
    return contact, wear_of_test(contact, changed)


def _stiffness(settings: SimulationSettings, thickness: float) -> float:
    """Stiffness of the foundation, MPa/mm."""
    return confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio) / thickness


def _depth(result: TestWear) -> Array:
    depth: Array = result.maps.wear_depth.values[0, 0, 0]
    return depth


def _ring(settings: SimulationSettings, wear: WearSettings) -> Iterator[Row]:
    """A ring that turns on a plate, fresh and worn in."""
    inner, outer, load = 5.0, 8.0, 100.0
    test: dict[str, Any] = {
        "bearing": {
            "shape": "ring_pin",
            "inner_radius_mm": inner,
            "outer_radius_mm": outer,
            "thickness_mm": 10.0,
        },
        "motion": {"path": "spin"},
        "load": load,
        "frames": 60,
        "element_mm": 0.3,
    }
    _, fresh = _wear(settings, wear, **test)
    exact = sliding_wear.fresh_ring_volume(_K, load, inner, outer, _CYCLES)
    yield "ring, fresh", "volume", "mm3", exact, fresh.values["wear_rate"]
    _, part = _wear(settings, wear, blocks=8, **(test | {"million_cycles": 0.5}))
    _, worn = _wear(settings, wear, blocks=16, **(test | {"million_cycles": 1.0}))
    rate = (_depth(worn) - _depth(part)) / 0.5
    whole = worn.grid.covered[0] == 1.0
    exact = sliding_wear.worn_ring_rate(_K, load, inner, outer) * _CYCLES
    for quantity, value in (("smallest", rate[whole].min()), ("largest", rate[whole].max())):
        yield "ring, worn in", f"{quantity} depth of 10^6 turns", "mm", exact, float(value)


def _sphere_that_wears(settings: SimulationSettings, wear: WearSettings) -> Iterator[Row]:
    """A sphere of polyethylene on a plate of metal."""
    radius, load, thickness = 28.0, 60.0, 8.0
    contact, result = _wear(
        settings,
        wear,
        blocks=16,
        bearing={
            "shape": "sphere",
            "polyethylene": "pin",
            "radius_mm": radius,
            "thickness_mm": thickness,
        },
        motion={"path": "circle", "diameter_mm": 10.0},
        load=load,
        million_cycles=0.4,
        frames=72,
        element_mm=0.12,
    )
    volume = _K * load * math.pi * 10.0 * 0.4 * _CYCLES
    stiffness = _stiffness(settings, thickness)
    yield "sphere that wears", "volume", "mm3", volume, 0.4 * result.values["wear_rate"]
    exact = sliding_wear.worn_sphere_radius(radius, volume, load, stiffness)
    last = contact(_worn(contact, result))
    found = math.sqrt(float(last["contact_area"].values.mean()) / math.pi)
    yield "sphere that wears", "radius of the contact", "mm", exact, found


def _worn(contact: BearingContact, result: TestWear) -> ElementGrid:
    """Elements at the end of a test."""
    depth = result.maps.wear_depth.values[0, 0]
    return lower_surface(contact.bearing.grid, depth, depth, 0.0, False)


def _cylinder_that_wears(settings: SimulationSettings, wear: WearSettings) -> Iterator[Row]:
    """A cylinder of polyethylene across a plate of metal."""
    radius, length, load, thickness = 20.0, 4.0, 80.0, 8.0
    contact, result = _wear(
        settings,
        wear,
        blocks=16,
        bearing={
            "shape": "cylinder",
            "polyethylene": "pin",
            "radius_mm": radius,
            "length_mm": length,
            "thickness_mm": thickness,
        },
        motion={"path": "straight", "stroke_mm": 10.0},
        load=load,
        million_cycles=0.3,
        frames=48,
        element_mm=0.1,
    )
    volume = _K * load * 20.0 * 0.3 * _CYCLES
    yield "cylinder that wears", "volume", "mm3", volume, 0.3 * result.values["wear_rate"]
    exact = sliding_wear.worn_cylinder_half_width(
        radius, volume / length, load / length, _stiffness(settings, thickness)
    )
    last = contact(_worn(contact, result))
    found = float(last["contact_area"].values.mean()) / (2.0 * length)
    yield "cylinder that wears", "half width of the contact", "mm", exact, found


def _cylinder_on_plate(settings: SimulationSettings, wear: WearSettings) -> Iterator[Row]:
    """A cylinder of metal that slides, and rolls in part, over a plate of polyethylene."""
    radius, length, load, stroke = 28.0, 4.0, 100.0, 12.0
    for rolling in (0.0, 0.4):
        name = f"plate under a cylinder, rolling {rolling:g}"
        _, result = _wear(
            settings,
            wear,
            bearing={
                "shape": "cylinder",
                "radius_mm": radius,
                "length_mm": length,
                "rolling": rolling,
                "thickness_mm": 8.0,
            },
            motion={"path": "straight", "stroke_mm": stroke},
            load=load,
            frames=360,
            element_mm=0.15,
        )
        sliding = (1.0 - rolling) * 2.0 * stroke
        yield name, "volume", "mm3", _K * load * sliding * _CYCLES, result.values["wear_rate"]
        stiffness = _stiffness(settings, 8.0)
        half_width = sliding_wear.worn_cylinder_half_width(radius, 0.0, load / length, stiffness)
        x = result.grid.centre[0, :, 0, 0]
        exact = (1.0 - rolling) * sliding_wear.plate_depth_under_cylinder(
            _K, load / length, 2.0 * _CYCLES, half_width, stroke, x
        )
        off = _depth(result).mean(axis=1) - exact
        # The worst depth of the whole profile, at the place of the largest one.
        worst = exact.max() + off[np.argmax(np.abs(off))]
        yield name, "worst depth of the profile", "mm", float(exact.max()), float(worst)


def _groove(settings: SimulationSettings, wear: WearSettings) -> Iterator[Row]:
    """The groove of a sphere of metal that reciprocates on a plate of polyethylene."""
    stroke = 9.0
    radius, load, thickness, cycles = 28.0, 73.0, 2.0, 0.6
    _, result = _wear(
        settings,
        wear,
        blocks=32,
        bearing={"shape": "sphere", "radius_mm": radius, "thickness_mm": thickness},
        motion={"path": "straight", "stroke_mm": stroke},
        load=load,
        million_cycles=cycles,
        frames=150,
        element_mm=0.2,
    )
    strokes = 2.0 * cycles * _CYCLES
    z, depth = sliding_wear.elastic_groove(
        _K, load, radius, _stiffness(settings, thickness), strokes
    )
    yield (
        "groove of a sphere",
        "volume",
        "mm3",
        _K * load * stroke * strokes,
        (cycles * result.values["wear_rate"]),
    )
    x, across = result.grid.centre[0, :, 0, 0], result.grid.centre[0, 0, :, 2]
    section = _depth(result)[np.abs(x) < 0.8].mean(axis=0)
    exact, found = _parabola(z, depth), _parabola(across, section)
    yield "groove of a sphere", "depth", "mm", exact.depth, found.depth
    yield "groove of a sphere", "half width", "mm", exact.half_width, found.half_width
    # The same independent solution long after: it tends to the self-similar one.
    z, depth = sliding_wear.elastic_groove(
        _K, load, radius, 50.0 * _stiffness(settings, thickness), 20.0 * strokes
    )
    limit = sliding_wear.self_similar_groove(_K, load, radius, 20.0 * strokes)
    late = _parabola(z, depth)
    yield "groove, self-similar", "depth", "mm", limit.depth, late.depth
    yield "groove, self-similar", "half width", "mm", limit.half_width, late.half_width


def _parabola(z: Array, depth: Array) -> sliding_wear.Groove:
    """Half width by the second moment of a section, and depth by its area: exact of parabolas."""
    area = float(np.trapezoid(depth, z))
    half_width = math.sqrt(5.0 * float(np.trapezoid(depth * z**2, z)) / area)
    return sliding_wear.Groove(half_width, 0.75 * area / half_width)


def _socket(settings: SimulationSettings, wear: WearSettings) -> Iterator[Row]:
    """A socket whose ball turns to and fro about an axis perpendicular to the load."""
    radius, load, thickness, angle = 14.0, 800.0, 8.0, 15.0
    turned = 4.0 * math.radians(angle) * _CYCLES
    for clearance in (0.08, 0.3):
        contact, result = _wear(
            settings,
            wear,
            bearing={
                "shape": "ball_in_socket",
                "radius_mm": radius,
                "clearance_mm": clearance,
                "thickness_mm": thickness,
            },
            motion={
                "path": "rotations",
                "flexion": {"low_deg": -angle, "high_deg": angle},
            },
            load=load,
            frames=72,
            element_mm=0.5,
        )
        # The overlap of a foundation is (D + c) cos f - c, with D that under the load.
        depth = float(contact.fresh["max_penetration"].values.mean())
        rim = clearance / (depth + clearance)
        exact = sliding_wear.socket_volume(
            _K, load, radius, turned, partial(_overlap, rim=rim), math.acos(rim)
        )
        name = f"socket, clearance {clearance:g} mm"
        yield name, "volume", "mm3", exact, result.values["wear_rate"]


def _overlap(polar: Array, rim: float) -> Array:
    """Overlap of a ball and a socket over the angle from the load, in the depth of the socket."""
    overlap: Array = np.cos(polar) - rim
    return overlap


SOLUTIONS: tuple[Callable[[SimulationSettings, WearSettings], Iterator[Row]], ...] = (
    _ring,
    _sphere_that_wears,
    _cylinder_that_wears,
    _cylinder_on_plate,
    _groove,
    _socket,
)
