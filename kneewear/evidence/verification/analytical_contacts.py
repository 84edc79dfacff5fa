"""Contacts of the engine that have an analytical solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import (
    MATERIALS,
    ElasticLayer,
    LargeStrain,
    PressureLaw,
    SmallStrain,
    ThreeParameter,
    confined_modulus,
)
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.evidence.verification import winkler
from kneewear.evidence.verification.winkler import LayerLaw, Measure
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.primitives import cylinder, plate, sphere
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123

Array = NDArray[np.float64]
Cells = tuple[int, int]  # rows and columns of elements
Values = dict[str, float]
# From a shift of the contact along x and z, mm, to the indenter's translation, mm, and the exact
# values of some of `UNITS` there.
Solution = Callable[[Array], tuple[Array, Values]]

# Polyethylene on cobalt-chromium as in a knee: radius, penetration and layer, mm.
RADIUS = 30.0
DEPTH = 0.2
THICKNESS = 8.0
YOUNGS_MODULUS = 463.0
POISSON_RATIO = 0.46
MODULUS = confined_modulus(YOUNGS_MODULUS, POISSON_RATIO)
# Contact radius, or half width under a cylinder, mm.
EDGE = winkler.contact_radius(RADIUS, DEPTH)
# Contacts on a plate are this far medial of the fixed body's origin, mm: half a condyle spacing.
CHARACTERISTIC_LENGTH = 23.0
UPRIGHT = np.eye(3)
# Elements extend a tenth beyond the contact, so that it may be shifted by a cell.
JUST_WIDER = 1.1
# Force along y, its moment about x at the fixed body's origin, largest and mean pressure, contact
# area, and the radius of a circle of that area.
UNITS = {
    "force": "N",
    "torque": "N mm",
    "peak": "MPa",
    "mean": "MPa",
    "area": "mm2",
    "radius": "mm",
}


@dataclass(frozen=True)
class AnalyticalContact:
    """A rigid indenter pressed into an elastic layer, with its analytical solution."""

    name: str  # indenter, pressure law and measure of penetration
    bearing: Bearing  # carries the elements
    indenter: ContactPair  # on any elements
    law: PressureLaw
    solution: Solution
    rotation: Array = field(default_factory=lambda: UPRIGHT)  # of the indenter
    shifts: tuple[bool, bool] = (True, True)  # whether the solution allows shifts along x and z

    def on_grid(self, cells: Cells) -> tuple[Callable[[Array], Resultant], ContactPair]:
        """Contact as a function of the indenter's translation, mm, on a grid; and its elements."""
        grid = build_elements(self.bearing, self.bearing.rectangle(*cells))
        pair = self.indenter.with_grid(grid, 0)
        layer = ElasticLayer(self.law, grid.thickness[grid.valid])
        return lambda translation: pair.evaluate(self.rotation, translation, layer), pair

    def errors(self, cells: Cells, offsets: Array) -> dict[str, Array]:
        """Relative errors of each quantity; offsets of the contact (n, 2), fractions of a cell."""
        evaluate, _ = self.on_grid(cells)
        rectangle = self.bearing.rectangle(*cells)
        size = np.array([rectangle.length, rectangle.width]) / cells
        found: list[dict[str, float]] = []
        for shift in offsets * size * self.shifts:
            translation, exact = self.solution(shift)
            computed = _quantities(evaluate(translation))
            found.append({name: computed[name] / exact[name] - 1.0 for name in exact})
        return {name: np.array([errors[name] for errors in found]) for name in found[0]}


def _quantities(result: Resultant) -> dict[str, float]:
    """Quantities of the engine, in the names of `UNITS`."""
    return {
        "force": -float(result.force[1]),
        "torque": -float(result.torque[0]),
        "peak": result.max_pressure,
        "mean": result.avg_pressure,
        "area": result.contact_area,
        "radius": math.sqrt(result.contact_area / math.pi),
    }


def _softening(form: Literal["published", "integrated"]) -> tuple[PressureLaw, LayerLaw]:
    material = MATERIALS["polyethylene_23c"]
    exact = winkler.SofteningLayer(
        material.exponent,
        material.reference_strain,
        material.reference_pressure,
        confined_modulus(1.0, POISSON_RATIO),
        THICKNESS,
        material.exponent if form == "published" else 1.0,
    )
    return ThreeParameter(material, POISSON_RATIO, form), exact


# Law of the engine and law of the analytical solution, by name.
LAWS: dict[str, tuple[PressureLaw, LayerLaw]] = {
    "linear": (SmallStrain(MODULUS), winkler.LinearLayer(MODULUS, THICKNESS)),
    "large strain": (LargeStrain(MODULUS), winkler.LargeStrainLayer(MODULUS, THICKNESS)),
    "published": _softening("published"),
    "integrated": _softening("integrated"),
}
# Arguments of `ContactPair` for each measure of penetration.
MEASURES: dict[Measure, dict[str, Any]] = {
    "minimum_distance": {},
    "minimum_distance_along_normal": {"direction": "element_normal"},
    "ray": {"method": "ray", "direction": "element_normal"},
}
# The measure whose force is the sum of pressure times area, for any pressure direction.
SUMMED: dict[Measure, Measure] = {
    "minimum_distance": "minimum_distance_along_normal",
    "minimum_distance_along_normal": "minimum_distance_along_normal",
    "ray": "ray",
}


def analytical_contacts() -> tuple[AnalyticalContact, ...]:
    """One contact for every indenter, law and measure that has an analytical solution."""
    nonlinear = [law for law in LAWS if law != "linear"]
    return (
        *(sphere_on_layer("linear", measure) for measure in MEASURES),
        *(sphere_on_layer(law) for law in nonlinear),
        *(cylinder_on_layer("linear", measure) for measure in MEASURES),
        *(cylinder_on_layer(law) for law in nonlinear),
        cylinder_over_edge(),
        *(tilted_flat(law) for law in LAWS),
        flat_punch(),
        *(ball_in_cup(law) for law in LAWS),
    )


def contacts_by_shape() -> tuple[AnalyticalContact, ...]:
    """Each shape once, on the linear layer, and the sphere on a softening one."""
    return (
        sphere_on_layer("linear"),
        sphere_on_layer("published"),
        cylinder_on_layer("linear"),
        cylinder_over_edge(),
        tilted_flat("linear"),
        flat_punch(),
        ball_in_cup("linear"),
    )


def sphere_on_layer(
    law: str, measure: Measure = "minimum_distance", reach: float = JUST_WIDER
) -> AnalyticalContact:
    """Sphere on a flat layer; `law` of `LAWS`, half width `reach` of the grid in contact radii."""
    exact = LAWS[law][1]
    area = math.pi * EDGE**2
    values = {
        "force": winkler.sphere_force(RADIUS, DEPTH, exact, measure),
        "peak": exact.pressure(DEPTH),
        "mean": winkler.sphere_force(RADIUS, DEPTH, exact, SUMMED[measure]) / area,
        "area": area,
        "radius": EDGE,
    }
    return _on_plate("sphere", _sphere(measure), law, measure, values, reach)


def cylinder_on_layer(law: str, measure: Measure = "minimum_distance") -> AnalyticalContact:
    """Cylinder across the whole of a flat layer."""
    exact, width = LAWS[law][1], 2.0 * JUST_WIDER * EDGE
    area = 2.0 * EDGE * width
    force, total = (
        width * winkler.cylinder_force(RADIUS, DEPTH, exact, kind)
        for kind in (measure, SUMMED[measure])
    )
    values = {"force": force, "peak": exact.pressure(DEPTH), "mean": total / area, "area": area}
    indenter = _cylinder(width, measure)
    contact = _on_plate("cylinder", indenter, law, measure, values, JUST_WIDER)
    return replace(contact, shifts=(True, False))


def cylinder_over_edge() -> AnalyticalContact:
    """Cylinder that overhangs the edge of the block it is pressed into."""
    edge, width = 0.3 * EDGE, 2.0 * EDGE
    layer = winkler.LinearLayer(MODULUS, THICKNESS)

    def solution(shift: Array) -> tuple[Array, Values]:
        reach = edge - float(shift[0])
        force = winkler.linear_cylinder_force(RADIUS, DEPTH, layer, edge=reach)
        values = {"force": width * force, "area": width * (EDGE + reach)}
        return np.array([shift[0], RADIUS - DEPTH, 0.0]), values

    return AnalyticalContact(
        "cylinder over a block's edge, linear",
        Bearing("block", plate((-2.0 * EDGE, edge), (-EDGE, EDGE)), THICKNESS),
        prepare_indenter(cylinder(RADIUS, 4.0 * EDGE)),
        LAWS["linear"][0],
        solution,
        shifts=(True, False),
    )


def tilted_flat(law: str) -> AnalyticalContact:
    """Plane tilted by two degrees that penetrates a block over part of its length."""
    engine_law, exact = LAWS[law]
    tilt, half = math.radians(2.0), 5.0

    def solution(shift: Array) -> tuple[Array, Values]:
        reach = half + 1.0 + float(shift[0])
        area = 2.0 * half * reach
        force = winkler.tilted_flat_force(tilt, 2.0 * half, (0.0, reach), exact, "minimum_distance")
        values = {"force": force, "area": area, "mean": force / math.cos(tilt) / area}
        return np.array([1.0 + shift[0], 0.0, 0.0]), values

    return AnalyticalContact(
        f"tilted flat, {law}",
        Bearing("block", plate((-half, half), (-half, half)), THICKNESS),
        prepare_indenter(plate((-20.0, 20.0), (-20.0, 20.0)).reversed_normal()),
        engine_law,
        solution,
        body_three_123(np.array([0.0, 0.0, tilt])),
        (True, False),
    )


def flat_punch() -> AnalyticalContact:
    """Level rectangular punch, turned against the rows of the elements."""
    engine_law, exact = LAWS["linear"]
    half = 3.0, 2.0
    area, pressure = 4.0 * half[0] * half[1], exact.pressure(DEPTH)
    values = {"force": area * pressure, "area": area, "peak": pressure, "mean": pressure}
    return AnalyticalContact(
        "flat punch, linear",
        Bearing("plate", plate((-5.0, 5.0), (-5.0, 5.0)), THICKNESS),
        prepare_indenter(plate((-half[0], half[0]), (-half[1], half[1])).reversed_normal()),
        engine_law,
        lambda shift: (np.array([shift[0], -DEPTH, shift[1]]), values),
        body_three_123(np.array([0.0, math.radians(20.0), 0.0])),
    )


def ball_in_cup(law: str) -> AnalyticalContact:
    """Ball in a cup of slightly larger radius, lined with a layer."""
    engine_law, exact = LAWS[law]
    cup, off = RADIUS + 1.0, DEPTH + 1.0
    rim = (cup**2 + off**2 - RADIUS**2) / (2.0 * cup * off)
    force = winkler.ball_in_cup_force(RADIUS, cup, DEPTH, exact)
    area = 2.0 * math.pi * cup**2 * (1.0 - rim)

    def solution(shift: Array) -> tuple[Array, Values]:
        # The contact moves along the cup with the direction in which the ball is off its centre.
        x, z = shift / cup
        down = math.sqrt(1.0 - x**2 - z**2)
        values = {"force": force * down, "peak": exact.pressure(DEPTH), "area": area}
        return off * np.array([x, -down, z]), values

    bearing = Bearing("cup", sphere(cup).reversed_normal(), THICKNESS)
    indenter = _sphere("minimum_distance")
    return AnalyticalContact(f"ball in a cup, {law}", bearing, indenter, engine_law, solution)


@cache
def _sphere(measure: Measure) -> ContactPair:
    return prepare_indenter(sphere(RADIUS), **MEASURES[measure])


@cache
def _cylinder(width: float, measure: Measure) -> ContactPair:
    return prepare_indenter(cylinder(RADIUS, width), **MEASURES[measure])


def prepare_indenter(surface: Surface, **options: Any) -> ContactPair:
    """Contact pair of an indenter with some elements, prepared once for all grids.

    `options` are further arguments of `ContactPair`.
    """
    bearing = Bearing("plate", plate((-1.0, 1.0), (-1.0, 1.0)), THICKNESS)
    grid = build_elements(bearing, bearing.rectangle(2, 2))
    return ContactPair(grid, 0, surface, tabulate_surface(surface, 61, 41), **options)


def _on_plate(
    name: str, indenter: ContactPair, law: str, measure: Measure, values: Values, reach: float
) -> AnalyticalContact:
    """Indenter pressed into a square plate with a half width of `reach` contact radii."""
    half = reach * EDGE

    def solution(shift: Array) -> tuple[Array, Values]:
        z = CHARACTERISTIC_LENGTH + float(shift[1])
        return np.array([shift[0], RADIUS - DEPTH, z]), {**values, "torque": -values["force"] * z}

    bearing = Bearing(
        "plate",
        plate((-half, half), (CHARACTERISTIC_LENGTH - half, CHARACTERISTIC_LENGTH + half)),
        THICKNESS,
    )
    name = f"{name}, {law}, {measure.replace('_', ' ')}"
    return AnalyticalContact(name, bearing, indenter, LAWS[law][0], solution)
