"""Small exact bodies whose contact is known by hand, and studies small enough to repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import cos, sin

import numpy as np

from kneewear import default_study
from kneewear.activity import Activity, build_parametric_activity
from kneewear.contact import ContactPair, Layer, SmallStrain, confined_modulus
from kneewear.geometry import (
    SIDES,
    ElementGrid,
    Implant,
    Surface,
    build_grid,
    build_parametric_implant,
    tabulate_surface,
)
from kneewear.mechanics import body_three_123
from kneewear.simulation import Case, simulate_cases

MODULUS = confined_modulus(463.0, 0.46)
UPRIGHT = np.eye(3)


def arc(first, last, count):
    """Control points (sin, -cos, weight) and knots of a unit arc of `count` equal pieces."""
    step = (last - first) / count
    points = []
    for number in range(2 * count + 1):
        angle = first + 0.5 * number * step
        weight = cos(0.5 * step) if number % 2 else 1.0
        points.append([sin(angle) / weight, -cos(angle) / weight, weight])
    breaks = np.linspace(0.0, 1.0, count + 1)
    return np.array(points), np.concatenate([[0.0], np.repeat(breaks, 2), [1.0]])


def revolved(profile, knots, sweep=(-1.0, 1.0), count=2):
    """Surface of revolution about z of a profile (z, radius, weight); normals point outward."""
    circle, knots_u = arc(*sweep, count)
    points = np.empty((len(circle), len(profile), 3))
    points[..., 0] = circle[:, None, 0] * profile[:, 1]
    points[..., 1] = circle[:, None, 1] * profile[:, 1]
    points[..., 2] = profile[:, 0]
    weights = circle[:, None, 2] * profile[:, 2]
    knots = np.asarray(knots, dtype=float)
    degree = int(np.sum(knots == knots[0])) - 1
    return Surface(points, weights, knots_u, knots, 2, degree)


def sphere(radius, middle=0.0):
    """Lower part of a sphere about the origin, shifted along z."""
    profile, knots = arc(-1.0, 1.0, 2)
    profile = profile * np.array([radius, -radius, 1.0])
    return revolved(profile, knots).transformed(UPRIGHT, [0.0, 0.0, middle])


def cylinder(radius, half_width, middle=0.0):
    """Lower part of a cylinder about the z axis."""
    profile = np.array([[-half_width, radius, 1.0], [half_width, radius, 1.0]])
    return revolved(profile, [0.0, 0.0, 1.0, 1.0]).transformed(UPRIGHT, [0.0, 0.0, middle])


def plate(x, z, height=0.0, slope=0.0):
    """Flat rectangle facing up over x and z limits; `slope` raises it along x (height per mm)."""
    x, z = np.asarray(x, dtype=float), np.asarray(z, dtype=float)
    points = np.zeros((2, 2, 3))
    points[..., 2] = z[:, None]
    points[..., 0] = x[None, :]
    points[..., 1] = height + slope * x[None, :]
    knots = np.array([0.0, 0.0, 1.0, 1.0])
    return Surface(points, np.ones((2, 2)), knots, knots, 1, 1)


def flat_implant(condyle, half_x=8.0, half_z=8.0, spacing=46.0, thickness=8.0):
    """Two flat plates of one thickness under two equal condyles at z = +- spacing / 2."""
    femoral, insert = {}, {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        middle = sign * 0.5 * spacing
        femoral[side] = condyle.transformed(UPRIGHT, [0.0, 0.0, middle])
        insert[side] = plate((-half_x, half_x), (middle - half_z, middle + half_z), thickness)
    return Implant("plates", femoral, insert, 0.0, thickness)


def contact_of(
    implant, rows, columns, side=0, direction="minimum_distance", nodes=(61, 41), search="bounds"
):
    """Contact of one side and the layer under its elements."""
    grid = build_grid(implant, rows, columns)
    condyle = implant.femoral[SIDES[side]]
    table = tabulate_surface(condyle, *nodes)
    correction = "mid_surface" if direction == "mid_surface" else "none"
    contact = ContactPair(
        grid, side, condyle, table, correction=correction, direction=direction, search=search
    )
    return contact, linear_layer(grid.thickness[side].ravel()[contact.index])


def linear_layer(thickness, modulus=MODULUS):
    """A small-strain layer."""
    return Layer(SmallStrain(modulus), thickness)


def energy(result):
    """Elastic energy of the linear foundation, N mm."""
    return 0.5 * float(np.sum(result.pressure * result.area * result.penetration))


@dataclass(frozen=True)
class Study:
    """Everything `simulate_cases` needs, changed piece by piece with `dataclasses.replace`."""

    implant: Implant
    grid: ElementGrid
    activity: Activity
    settings: object
    nodes: tuple[int, int] = (61, 31)

    def run(self, *cases):
        tables = {s: tabulate_surface(f, *self.nodes) for s, f in self.implant.femoral.items()}
        return simulate_cases(
            self.grid, self.implant.femoral, tables, self.activity, cases, self.settings
        )

    def with_settings(self, **changes):
        return replace(self, settings=self.settings.model_copy(update=changes))


@cache
def gait_study(rows=40, columns=30, frames=12):
    """The default study on a coarse grid."""
    study = default_study()
    implant = build_parametric_implant(
        study.implant.parametric, "built in", study.implant.nominal_thickness_mm
    )
    activity = build_parametric_activity("gait", study.activities["gait"], frames)
    return Study(implant, build_grid(implant, rows, columns), activity, study.simulation)


def moved(implant, shift):
    """The implant with its insert described in a frame whose origin lies at -shift."""
    insert = {s: p.transformed(UPRIGHT, shift) for s, p in implant.insert.items()}
    return replace(implant, insert=insert, underside=implant.underside + shift[1])


def pose_of(history, frame, case=0):
    """Rotation matrix and translation of one frame of a history."""
    return body_three_123(history.rotation[case, frame]), history.translation[case, frame]


CASES = (Case("thin", 6.0, 75.0), Case("thick", 10.0, 120.0), Case("light", 14.0, 50.0))
