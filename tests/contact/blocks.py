"""Blocks, and bodies whose distance is known."""

from __future__ import annotations

import numpy as np

from kneewear.contact.solid import Solid, graded_lines, with_middles
from kneewear.evidence.fe_comparison.contact import ElasticSurface


def block(x, z, y, moved=None):
    """Solid between borders of elements; `moved` displaces its nodes."""
    x, z, y = np.meshgrid(*map(with_middles, (x, z, y)), indexing="ij")
    nodes = np.stack([x, y, z], axis=-1)
    return Solid(nodes if moved is None else nodes + moved(nodes))


def layer_under_sphere(material, thickness, radius, count, reach=None):
    """Surface of a layer with `count` elements per radius of the contact at the origin.

    Pressure of a nearly incompressible layer decreases over about twice its thickness beyond the
    contact, so that it reaches five times as far.
    """
    size = radius / count
    width = 1.3 * radius + (5.0 * min(thickness, 8.0 * radius) if reach is None else reach)
    x = graded_lines(-width, width, (-1.4 * radius, 1.4 * radius), size)
    y = graded_lines(0.0, thickness, (thickness - size, thickness), 0.75 * size)
    solid = block(x, x, y)
    plan = solid.nodes[:, :, -1]
    return ElasticSurface(solid, material, np.hypot(plan[..., 0], plan[..., 2]) < 1.35 * radius)


def paraboloid(radius, lowest, across=None):
    """Vertical distance to a body of given radii of curvature, as in Hertz's theory."""

    def distance(points):
        x, y, z = points.T
        found = lowest + x**2 / (2.0 * radius) - y
        if across is not None:
            found = found + z**2 / (2.0 * across)
        normal = np.zeros_like(points)
        normal[:, 1] = -1.0
        return found, normal

    return distance
