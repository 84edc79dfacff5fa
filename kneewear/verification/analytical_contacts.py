"""Contacts of the engine whose result is known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import (
    LargeStrain,
    Layer,
    PressureLaw,
    SmallStrain,
    ThreeParameter,
    confined_modulus,
)
from kneewear.contact.materials import MATERIALS
from kneewear.contact.pair import ContactPair
from kneewear.geometry.bearing import Bearing
from kneewear.geometry.grid import build_elements
from kneewear.geometry.primitives import cylinder, plate, sphere
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.reference import bonded_layer, winkler
from kneewear.reference.bonded_layer import LayerLaw
from kneewear.reference.winkler import Measure

Array = NDArray[np.float64]
Exact = dict[str, float]

# Polyethylene on cobalt-chromium as in a knee: radius, depth and layer, mm.
RADIUS, DEPTH, THICKNESS = 30.0, 0.2, 8.0
YOUNGS_MODULUS, POISSON_RATIO = 463.0, 0.46
MODULUS = confined_modulus(YOUNGS_MODULUS, POISSON_RATIO)
# Contact radius, or half width under a cylinder, mm.
EDGE = winkler.contact_radius(RADIUS, DEPTH)

# Where contacts on a plate stand, mm medial of the fixed body's origin: half a condyle spacing.
LEVER = 23.0
UPRIGHT = np.eye(3)
# Force along y, its moment about x round the fixed body's origin, largest and mean pressure,
# contact area, and the radius of a circle of that area.
UNITS = {
    "force": "N",
    "torque": "N mm",
    "peak": "MPa",
    "mean": "MPa",
    "area": "mm2",
    "radius": "mm",
}


@dataclass(frozen=True)
class KnownContact:
    """A rigid indenter pressed into a layer, and what theory says of it.

    Parameters
    ----------
    name : str
        What is pressed, and how it is measured.
    bearing : Bearing
        Surface that carries the elements.
    indenter : Surface
        Surface of the moving body.
    rotation : array, shape (3, 3)
        Its orientation.
    at : function
        From a shift of the contact along x and z, mm, to the indenter's translation, mm, and the
        exact values of some of `UNITS` there.
    law : PressureLaw
        Law of the layer.
    shifts : pair of bool
        Whether the place of the grid under the contact is free along x and along z.
    options : mapping
        Further words for `ContactPair`.
    """

    name: str
    bearing: Bearing
    indenter: Surface
    rotation: Array
    at: Callable[[Array], tuple[Array, Exact]]
    law: PressureLaw
    shifts: tuple[bool, bool] = (True, True)
    options: tuple[tuple[str, Any], ...] = ()


def contact_errors(
    contact: KnownContact, cells: tuple[int, int], offsets: Array
) -> dict[str, Array]:
    """Relative errors of the engine at places of the grid under the contact.

    Parameters
    ----------
    contact : KnownContact
        Contact.
    cells : pair of int
        Rows and columns of elements.
    offsets : array, shape (n, 2)
        Places of the contact as parts of a cell, along rows and columns.

    Returns
    -------
    dict of str to array, shape (n,)
        Error of each quantity that is known, relative to its exact value.
    """
    return next(errors_of_grids([(contact, cells)], offsets))


def errors_of_grids(
    contacts: Iterable[tuple[KnownContact, tuple[int, int]]], offsets: Array
) -> Iterator[dict[str, Array]]:
    """Relative errors of many contacts, as `contact_errors` finds them.

    Parameters
    ----------
    contacts : iterable of pairs
        Contacts, and rows and columns of elements of each. The space round an indenter is mapped
        once for all that press it alike.
    offsets : array, shape (n, 2)
        Places of the contact as parts of a cell, along rows and columns.

    Yields
    ------
    dict of str to array, shape (n,)
    """
    known: list[tuple[KnownContact, ContactPair]] = []
    for contact, cells in contacts:
        like = next((pair for other, pair in known if _alike(contact, other)), None)
        pair, layer, cell = build_pair(contact, cells, like)
        if like is None:
            known.append((contact, pair))
        found: dict[str, list[float]] = {}
        for shift in offsets * cell * contact.shifts:
            place, exact = contact.at(shift)
            measured = _quantities(pair, contact.rotation, place, layer)
            for name, value in exact.items():
                found.setdefault(name, []).append(measured[name] / value - 1.0)
        yield {name: np.array(errors) for name, errors in found.items()}


def _alike(contact: KnownContact, other: KnownContact) -> bool:
    """Whether indenter and measure are the same."""
    ours, theirs = contact.indenter, other.indenter
    return contact.options == other.options and all(
        np.array_equal(getattr(ours, name), getattr(theirs, name))
        for name in ("control_points", "weights", "knots_u", "knots_v")
    )


def build_pair(
    contact: KnownContact, cells: tuple[int, int], alike: ContactPair | None = None
) -> tuple[ContactPair, Layer, Array]:
    """Pair and layer of a known contact, and length and width of its cells.

    Parameters
    ----------
    contact : KnownContact
        Contact.
    cells : pair of int
        Rows and columns of elements.
    alike : ContactPair, optional
        Pair with the same indenter and measure, to share what was prepared of the indenter.

    Returns
    -------
    pair : ContactPair
    layer : Layer
    cell : array, shape (2,)
        mm.
    """
    rectangle = contact.bearing.rectangle(*cells)
    grid = build_elements(contact.bearing, rectangle)
    if alike is None:
        table = tabulate_surface(contact.indenter, 61, 41)
        pair = ContactPair(grid, 0, contact.indenter, table, **dict(contact.options))
    else:
        pair = alike.over(grid, 0)
    layer = Layer(contact.law, grid.thickness[0].ravel()[pair.index])
    return pair, layer, np.array([rectangle.length, rectangle.width]) / cells


def _quantities(pair: ContactPair, rotation: Array, place: Array, layer: Layer) -> dict[str, float]:
    """What the engine finds, in the names of `UNITS`."""
    result = pair.evaluate(rotation, place, layer)
    force, moment = result.wrench[:3], result.wrench[3:]
    loaded = result.pressure > 0.0
    area = float(result.area[loaded].sum())
    return {
        "force": float(force[1]),
        "torque": float((moment + np.cross(place, force))[0]),
        "peak": float(result.pressure.max(initial=0.0)),
        "mean": float(result.pressure[loaded].sum()) / max(int(loaded.sum()), 1),
        "area": area,
        "radius": math.sqrt(area / math.pi),
    }


def _softening(form: Literal["published", "integrated"]) -> tuple[PressureLaw, LayerLaw]:
    material = MATERIALS["polyethylene_23c"]
    weight = material.exponent if form == "published" else 1.0
    theirs = bonded_layer.SofteningLayer(
        material.exponent,
        material.reference_strain,
        material.reference_pressure,
        confined_modulus(1.0, POISSON_RATIO),
        THICKNESS,
        weight,
    )
    return ThreeParameter(material, POISSON_RATIO, form), theirs


# Name: law of the engine, law of the reference.
LAWS: dict[str, tuple[PressureLaw, LayerLaw]] = {
    "linear": (SmallStrain(MODULUS), bonded_layer.LinearLayer(MODULUS, THICKNESS)),
    "large strain": (LargeStrain(MODULUS), bonded_layer.LargeStrainLayer(MODULUS, THICKNESS)),
    "published": _softening("published"),
    "integrated": _softening("integrated"),
}
# Elements reach a tenth farther than the contact, so that it may be shifted by a cell.
JUST_WIDER = 1.1
# How the engine is told to measure penetration and to direct pressure.
MEASURES: dict[Measure, dict[str, str]] = {
    "minimum_distance": {},
    "minimum_distance_along_normal": {"direction": "element_normal"},
    "ray": {"method": "ray", "direction": "element_normal"},
}
# The measure whose force is the sum of pressure times area, whatever line pressure acts along.
SUMMED: dict[Measure, Measure] = {
    "minimum_distance": "minimum_distance_along_normal",
    "minimum_distance_along_normal": "minimum_distance_along_normal",
    "ray": "ray",
}


def known_contacts() -> tuple[KnownContact, ...]:
    """One contact for every indenter, law and measure that a closed form is known for."""
    return (
        *(sphere_on_layer("linear", measure) for measure in MEASURES),
        *(sphere_on_layer(law) for law in LAWS if law != "linear"),
        *(cylinder_on_layer("linear", measure) for measure in MEASURES),
        *(cylinder_on_layer(law) for law in LAWS if law != "linear"),
        cylinder_over_edge(),
        *(tilted_flat(law) for law in LAWS),
        flat_punch(),
        *(ball_in_cup(law) for law in LAWS),
    )


def contacts_by_shape() -> tuple[KnownContact, ...]:
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
) -> KnownContact:
    """Sphere on a flat layer.

    Parameters
    ----------
    law : str
        One of `LAWS`.
    measure : {"minimum_distance", "minimum_distance_along_normal", "ray"}
        One of `MEASURES`.
    reach : float
        Half width of the square of elements, contact radii.
    """
    theirs = LAWS[law][1]
    force = bonded_layer.sphere_force(RADIUS, DEPTH, theirs, measure)
    area = math.pi * EDGE**2
    total = bonded_layer.sphere_force(RADIUS, DEPTH, theirs, SUMMED[measure])
    known = {
        "force": force,
        "peak": theirs.pressure(DEPTH),
        "mean": total / area,
        "area": area,
        "radius": EDGE,
    }

    return _on_plate("sphere", sphere(RADIUS), law, measure, known, reach)


def cylinder_on_layer(law: str, measure: Measure = "minimum_distance") -> KnownContact:
    """Cylinder across the whole of a flat layer; words as of `sphere_on_layer`."""
    theirs, width = LAWS[law][1], 2.0 * JUST_WIDER * EDGE
    area = 2.0 * EDGE * width
    force, total = (
        width * bonded_layer.cylinder_force(RADIUS, DEPTH, theirs, kind)
        for kind in (measure, SUMMED[measure])
    )
    exact = {"force": force, "peak": theirs.pressure(DEPTH), "mean": total / area, "area": area}
    contact = _on_plate("cylinder", cylinder(RADIUS, width), law, measure, exact, JUST_WIDER)
    return replace(contact, shifts=(True, False))


def cylinder_over_edge() -> KnownContact:
    """Cylinder that overhangs the edge of the block it presses on."""
    edge, width = 0.3 * EDGE, 2.0 * EDGE

    def at(shift: Array) -> tuple[Array, Exact]:
        reach = edge - float(shift[0])
        force = winkler.cylinder_force(RADIUS, DEPTH, MODULUS, THICKNESS, edge=reach)
        exact = {"force": width * force, "area": width * (EDGE + reach)}
        return np.array([shift[0], RADIUS - DEPTH, 0.0]), exact

    return KnownContact(
        "cylinder over a block's edge, linear",
        Bearing("block", plate((-2.0 * EDGE, edge), (-EDGE, EDGE)), THICKNESS),
        cylinder(RADIUS, 4.0 * EDGE),
        UPRIGHT,
        at,
        LAWS["linear"][0],
        (True, False),
    )


def tilted_flat(law: str) -> KnownContact:
    """Plane tilted by two degrees that dips into a block over part of its length."""
    ours, theirs = LAWS[law]
    tilt, half = math.radians(2.0), 5.0

    def at(shift: Array) -> tuple[Array, Exact]:
        reach = half + 1.0 + float(shift[0])
        area = 2.0 * half * reach
        force = bonded_layer.tilted_flat_force(
            tilt, 2.0 * half, (0.0, reach), theirs, "minimum_distance"
        )
        exact = {"force": force, "area": area, "mean": force / math.cos(tilt) / area}
        return np.array([1.0 + shift[0], 0.0, 0.0]), exact

    return KnownContact(
        f"tilted flat, {law}",
        Bearing("block", plate((-half, half), (-half, half)), THICKNESS),
        plate((-20.0, 20.0), (-20.0, 20.0)).reversed_normal(),
        body_three_123(np.array([0.0, 0.0, tilt])),
        at,
        ours,
        (True, False),
    )


def flat_punch() -> KnownContact:
    """Level rectangular punch, turned against the rows of the elements."""
    ours, theirs = LAWS["linear"]
    half = 3.0, 2.0
    area, pressure = 4.0 * half[0] * half[1], theirs.pressure(DEPTH)
    force = bonded_layer.flat_punch_force(area, DEPTH, theirs)
    exact = {"force": force, "area": area, "peak": pressure, "mean": pressure}
    return KnownContact(
        "flat punch, linear",
        Bearing("plate", plate((-5.0, 5.0), (-5.0, 5.0)), THICKNESS),
        plate((-half[0], half[0]), (-half[1], half[1])).reversed_normal(),
        body_three_123(np.array([0.0, math.radians(20.0), 0.0])),
        lambda shift: (np.array([shift[0], -DEPTH, shift[1]]), exact),
        ours,
    )


def ball_in_cup(law: str) -> KnownContact:
    """Ball in a cup of little more radius, lined with a layer; `law` is one of `LAWS`."""
    ours, theirs = LAWS[law]
    cup, off = RADIUS + 1.0, DEPTH + 1.0
    rim = (cup**2 + off**2 - RADIUS**2) / (2.0 * cup * off)
    force = bonded_layer.ball_in_cup_force(RADIUS, cup, DEPTH, theirs)
    area = 2.0 * math.pi * cup**2 * (1.0 - rim)

    def at(shift: Array) -> tuple[Array, Exact]:
        # The contact wanders along the cup when the ball stands off its centre another way.
        x, z = shift / cup
        down = math.sqrt(1.0 - x**2 - z**2)
        exact = {"force": force * down, "peak": theirs.pressure(DEPTH), "area": area}
        return off * np.array([x, -down, z]), exact

    return KnownContact(
        f"ball in a cup, {law}",
        Bearing("cup", sphere(cup).reversed_normal(), THICKNESS),
        sphere(RADIUS),
        UPRIGHT,
        at,
        ours,
    )


def _on_plate(
    name: str, indenter: Surface, law: str, measure: Measure, known: Exact, reach: float
) -> KnownContact:
    """Indenter about the origin pressed into a square plate of a half width in contact radii."""
    half = reach * EDGE

    def at(shift: Array) -> tuple[Array, Exact]:
        place = np.array([shift[0], RADIUS - DEPTH, LEVER + shift[1]])
        return place, {**known, "torque": -known["force"] * (LEVER + float(shift[1]))}

    return KnownContact(
        f"{name}, {law}, {measure.replace('_', ' ')}",
        Bearing("plate", plate((-half, half), (LEVER - half, LEVER + half)), THICKNESS),
        indenter,
        UPRIGHT,
        at,
        LAWS[law][0],
        options=tuple(MEASURES[measure].items()),
    )
