"""Elements of the polyethylene of a test, and the metal surface that moves over them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import confined_modulus
from kneewear.geometry.coverage import Coverage, rectangle_plan, ring
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.meshes import TriangleMesh, condyle_axis, to_knee_axes
from kneewear.geometry.primitives import Profile, arc, cylinder, plate, revolved
from kneewear.geometry.surface import Surface
from kneewear.mechanics.coordinates import OF_PATELLA
from kneewear.models.bearing_test.settings import (
    AnatomicButton,
    BallInSocket,
    BearingTest,
    CylinderOnFlat,
    FittedButton,
    FlatPin,
    PatellarButton,
    RingPin,
    SphereOnFlat,
)
from kneewear.motion.settings import SimulationSettings

Array = NDArray[np.float64]

SIDE = "bearing"
# Elements reach this many contact radii beyond the contact's centre: contact widens with wear.
_REACH = 1.6
# Angle of the elements of a ball or socket from its axis, rad: elements end at 80 deg.
_CAP = math.radians(75.0)
# Half angles of a ball that turns, and of elements, rad.
_WIDE = (2.9, 1.5)
_UPPER = (1.4, 1.4)
# A patch reaches so far beyond its elements, mm; largest sine of an inclination.
_MARGIN = 1.0
_STEEPEST = 0.95
_DOWN = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True)
class TestBearing:
    """Elements on the fixed polyethylene, and the surface of the moving metal.

    `height` is the height of the moving origin, mm, at which the surfaces touch. `is_unbounded` is
    True where the polyethylene goes on beyond its elements, as a disc under a ball does: then these
    are no free ends of a coupled layer.
    """

    __test__ = False  # no test for pytest

    grid: ElementGrid
    indenter: Surface
    height: float
    is_unbounded: bool = False


def build_bearing(
    test: BearingTest,
    settings: SimulationSettings,
    path: Array,
    load: float,
    meshes: Mapping[str, TriangleMesh] | None = None,
) -> TestBearing:
    """Bearing of a test whose contact is centred along a path (n, 2), mm, under a largest load, N.

    `meshes` are the shapes of a bearing from files, in their units and axes. ValueError if an
    element is too steep, or without these; InputDataError if they cannot be fitted.
    """
    shape, half = test.bearing, test.element_mm
    reach = _REACH * contact_reach(test, settings, load) + 2.0 * half
    span = np.abs(path).max(axis=0) if len(path) else np.zeros(2)
    if isinstance(shape, FlatPin | RingPin):
        outer = shape.radius_mm if isinstance(shape, FlatPin) else shape.outer_radius_mm
        inner = 0.0 if isinstance(shape, FlatPin) else shape.inner_radius_mm
        body = plate((-outer, outer), (-outer, outer))
        return _on_plate(test, body, ring(outer, inner), float(outer + span.max()))
    if isinstance(shape, BallInSocket):
        return _ball_in_socket(test, shape)
    if isinstance(shape, PatellarButton):
        dome = ball(shape.dome_radius_mm, _UPPER).transformed(
            _DOWN, [0.0, -shape.dome_radius_mm, 0.0]
        )
        elements = _elements(test, dome, ring(shape.half_width_mm))
        return TestBearing(elements, trochlea(shape), shape.trochlea_radius_mm)
    if isinstance(shape, AnatomicButton):
        return _anatomic(test, shape)
    if isinstance(shape, FittedButton):
        return _fitted(test, shape, meshes)
    if shape.polyethylene == "pin":
        body = (
            ball(shape.radius_mm, _UPPER)
            if isinstance(shape, SphereOnFlat)
            else cylinder(shape.radius_mm, 0.5 * shape.length_mm)
        ).transformed(_DOWN, [0.0, -shape.radius_mm, 0.0])
        cover = (
            ring(reach)
            if isinstance(shape, SphereOnFlat)
            else rectangle_plan(reach, 0.5 * shape.length_mm)
        )
        return replace(_on_plate(test, body, cover, float(reach + span.max())), is_unbounded=True)
    if isinstance(shape, SphereOnFlat):
        half_x, half_z = span + reach
        indenter = ball(shape.radius_mm, (1.0, 1.0))
    else:
        half_x, half_z = span[0] + reach, 0.5 * shape.length_mm
        indenter = cylinder(shape.radius_mm, 0.5 * shape.length_mm + span[1] + 1.0)
    grid = _elements(test, plate((-half_x, half_x), (-half_z, half_z)), None)
    return TestBearing(grid, indenter, shape.radius_mm, is_unbounded=True)


def contact_reach(test: BearingTest, settings: SimulationSettings, load: float) -> float:
    """Radius, or half width, of the contact of a foundation on a flat, mm; zero of flat pins.

    With confined modulus K and thickness h, a sphere of radius R has F = pi K a^4 / (4 R h), a
    cylinder F / L = 2 K a^3 / (3 R h).
    """
    shape = test.bearing
    modulus = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio)
    stiffness = modulus / shape.thickness_mm
    if isinstance(shape, SphereOnFlat):
        return float((4.0 * load * shape.radius_mm / (math.pi * stiffness)) ** 0.25)
    if isinstance(shape, CylinderOnFlat):
        line = load / shape.length_mm
        return float((1.5 * line * shape.radius_mm / stiffness) ** (1.0 / 3.0))
    return 0.0


def ball(radius: float, half_angles: tuple[float, float]) -> Surface:
    """Lower part of a sphere up to half angles about z, and towards its poles, rad."""
    profile, knots = arc(-half_angles[1], half_angles[1], 4)
    return revolved(
        profile * [radius, -radius, 1.0], knots, (-half_angles[0], half_angles[0]), count=6
    )


def trochlea(shape: PatellarButton) -> Surface:
    """Groove of a trochlea, revolved about the medial-lateral axis z, normals out of the metal."""
    half_angle = math.asin(shape.groove_half_width_mm / shape.groove_radius_mm)
    profile, knots = arc(-half_angle, half_angle, 4)
    # The bottom of the groove is nearest to the axis.
    middle = shape.trochlea_radius_mm + shape.groove_radius_mm
    radius = middle + shape.groove_radius_mm * profile[:, 1]
    across = shape.groove_radius_mm * profile[:, 0]
    outline = np.column_stack([across, radius, profile[:, 2]])
    return revolved(outline, knots, (-_WIDE[0], _WIDE[0]), count=6)


def _anatomic(test: BearingTest, shape: AnatomicButton) -> TestBearing:
    """Button with ridge and facets, and its trochlea with groove and flanks."""
    reach = shape.half_width_mm + _MARGIN
    button = Profile(
        0.0,
        shape.ridge_radius_mm,
        shape.ridge_half_width_mm,
        shape.facet_radius_mm,
        -_wing(shape.ridge_radius_mm, shape.ridge_half_width_mm, shape.facet_radius_mm, reach),
    )
    groove = Profile(
        0.0,
        shape.groove_radius_mm,
        shape.groove_half_width_mm,
        shape.flank_radius_mm,
        _wing(shape.groove_radius_mm, shape.groove_half_width_mm, shape.flank_radius_mm, reach),
        hollow=True,
    )
    long = min(_UPPER[0], math.asin(min(0.95, reach / shape.sagittal_radius_mm)))
    surface = button.revolved(shape.sagittal_radius_mm, (-long, long), 2).transformed(
        _DOWN, [0.0, -shape.sagittal_radius_mm, 0.0]
    )
    elements = _elements(test, surface, ring(shape.half_width_mm))
    metal = groove.revolved(shape.trochlea_radius_mm, (-_WIDE[0], _WIDE[0]), 6)
    return TestBearing(elements, metal, shape.trochlea_radius_mm)


def _wing(radius: float, half_width: float, wing_radius: float, reach: float) -> float:
    """Angle of an arc that follows one of a half width tangentially to a width, mm, turning back.

    It ends where it is inclined by 72 deg if that comes first.
    """
    tilt = half_width / radius
    end = (reach - half_width) / wing_radius - tilt
    return math.asin(tilt) + math.asin(min(max(end, 0.0), _STEEPEST))


def _fitted(
    test: BearingTest, shape: FittedButton, meshes: Mapping[str, TriangleMesh] | None
) -> TestBearing:
    """Button and trochlea fitted to meshes, with the axis of the settings or of the condyles."""
    if meshes is None:
        raise ValueError("the meshes of button and trochlea are needed")
    found = {
        name: to_knee_axes(meshes[name], shape.unit, axes.model_dump(), shape.knee, source)
        for name, axes, source in (
            ("button", shape.button_axes, shape.button),
            ("trochlea", shape.trochlea_axes, shape.trochlea),
        )
    }
    fit = FitSettings(
        shape.knot_spacing_mm,
        shape.knot_spacing_mm,
        shape.smoothing_length_mm,
        shape.tolerance_mm,
        shape.mean_tolerance_mm,
    )
    button = found["button"].vertices @ OF_PATELLA.T
    ends = button.min(axis=0), button.max(axis=0)
    top = np.array([0.5 * (ends[0][0] + ends[1][0]), ends[1][1], 0.5 * (ends[0][2] + ends[1][2])])
    sheet = TriangleMesh(button - top, found["button"].faces)
    window = (-shape.half_width_mm - _MARGIN, shape.half_width_mm + _MARGIN)
    body, _ = fit_plateau(sheet, window, window, fit, ("button", shape.button, "patellar"))
    low, high = shape.trochlea_angle_deg
    axis = shape.axis_mm or condyle_axis(found["trochlea"], shape.condyles_mm)
    metal, _ = fit_condyle(
        found["trochlea"],
        axis,
        (math.radians(low), math.radians(high)),
        (-shape.trochlea_half_width_mm, shape.trochlea_half_width_mm),
        fit,
        ("femoral", shape.trochlea, "patellar"),
    )
    metal = metal.transformed(OF_PATELLA, -OF_PATELLA @ [*axis, 0.0])
    elements = _elements(test, body, ring(shape.half_width_mm))
    return TestBearing(elements, metal, float(np.hypot(*metal.sample_points[:, :2].T).max()))


def _elements(test: BearingTest, surface: Surface, cover: Coverage | None) -> ElementGrid:
    """Elements of about the width that the test asks for."""
    thickness = test.bearing.thickness_mm
    bearing = Bearing(SIDE, surface, thickness, coverage=cover)
    points = bearing.covered.edges.reshape(-1, 2)
    rows, columns = (max(4, math.ceil(width / test.element_mm)) for width in np.ptp(points, axis=0))
    return build_elements(bearing, bearing.rectangle(rows, columns), nominal_thickness=thickness)


def _on_plate(test: BearingTest, body: Surface, cover: Coverage, reach: float) -> TestBearing:
    """Body of polyethylene, facing up, under a metal plate that reaches beyond it."""
    half = reach * math.sqrt(2.0) + 5.0
    metal = plate((-half, half), (-half, half)).reversed_normal()
    return TestBearing(_elements(test, body, cover), metal, 0.0)


def _ball_in_socket(test: BearingTest, shape: BallInSocket) -> TestBearing:
    socket = shape.radius_mm + shape.clearance_mm
    if shape.polyethylene == "socket":
        body = ball(socket, _UPPER).reversed_normal()
        metal = ball(shape.radius_mm, _WIDE)
        return TestBearing(
            _elements(test, body, ring(socket * math.sin(_CAP))), metal, -shape.clearance_mm
        )
    body = ball(shape.radius_mm, _UPPER).transformed(_DOWN, np.zeros(3))
    metal = ball(socket, _WIDE).reversed_normal().transformed(_DOWN, np.zeros(3))
    cover = ring(shape.radius_mm * math.sin(_CAP))
    return TestBearing(_elements(test, body, cover), metal, -shape.clearance_mm)
