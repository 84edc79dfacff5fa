"""Splitting a surface into patches, and seams and holes of a set of patches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import BSpline
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from kneewear.geometry.surface import Surface

EDGES = ("u_low", "u_high", "v_low", "v_high")
BORDER_POINTS = 33


@dataclass(frozen=True)
class Seam:
    """Part of one patch's border that lies on another patch."""

    patch: int
    edge: str
    neighbour: int
    share: float  # of the border
    gap: float  # largest distance along it, mm


def borders(body):
    """Patch, edge, points of the edge and their distances to each other patch."""
    for number, patch in enumerate(body.patches):
        for edge in EDGES:
            points = border_points(patch, edge)
            yield (
                number,
                edge,
                points,
                {
                    other: apart(neighbour, points)
                    for other, neighbour in enumerate(body.patches)
                    if other != number
                },
            )


def find_seams(body):
    """Every border part that lies on a neighbour, in both directions."""
    seams = []
    for number, edge, _, distances in borders(body):
        for other, distance in distances.items():
            on = distance <= body.tolerance
            # A corner alone is no seam.
            if (on[1:] & on[:-1]).any():
                seams.append(Seam(number, edge, other, float(on.mean()), float(distance[on].max())))
    return seams


def count_holes(body):
    """Number of closed free borders beyond the outline of each connected group of patches."""
    joined = np.array([(seam.patch, seam.neighbour) for seam in find_seams(body)], dtype=int)
    bodies = np.unique(labels(joined.reshape(-1, 2), len(body.patches))).size
    links, everything = [], []
    for number, (_, _, points, distances) in enumerate(borders(body)):
        free = np.min([np.full(len(points), np.inf), *distances.values()], axis=0) > body.tolerance
        # A corner lies on a neighbour; it is free if the next point of the border is.
        free[0], free[-1] = free[1], free[-2]
        start = number * BORDER_POINTS + np.flatnonzero(free[1:] & free[:-1])
        links.append(np.column_stack([start, start + 1]))
        everything.append(points)
    points, free_links = np.concatenate(everything), np.concatenate(links)
    meeting = cKDTree(points).query_pairs(body.tolerance, output_type="ndarray")
    label = labels(np.concatenate([free_links, meeting]), len(points))
    return np.unique(label[np.unique(free_links)]).size - bodies


def border_points(surface, edge):
    """Points along one border of a patch, mm."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, BORDER_POINTS), np.linspace(v0, v1, BORDER_POINTS)
    at = {"u_low": u0, "u_high": u1, "v_low": v0, "v_high": v1}[edge]
    return surface.evaluate(at, v) if edge.startswith("u") else surface.evaluate(u, at)


def apart(surface, points):
    """Distance of points from a patch, its border included, mm; inf beyond its box."""
    net = surface.control_points.reshape(-1, 3)
    near = ((points > net.min(axis=0) - 1.0) & (points < net.max(axis=0) + 1.0)).all(axis=1)
    distance = np.full(len(points), np.inf)
    if near.any():
        u, v, *_ = surface.closest_points(points[near])
        distance[near] = np.linalg.norm(points[near] - surface.evaluate(u, v), axis=1)
    return distance


def labels(links, count):
    """Group of each of `count` nodes connected by links."""
    graph = coo_array((np.ones(len(links)), tuple(links.T)), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def split_surface(surface, parts_u, parts_v):
    """Patches cut along parameter lines by inserting knots, u slowest."""
    (u0, u1), (v0, v1) = surface.domain
    homogeneous = np.concatenate(
        [surface.control_points * surface.weights[..., None], surface.weights[..., None]], axis=-1
    )
    strips = _cut(surface.knots_u, homogeneous, surface.degree_u, np.linspace(u0, u1, parts_u + 1))
    pieces = []
    for knots_u, strip in strips:
        across = _cut(
            surface.knots_v,
            strip.swapaxes(0, 1),
            surface.degree_v,
            np.linspace(v0, v1, parts_v + 1),
        )
        for knots_v, part in across:
            net = np.ascontiguousarray(part.swapaxes(0, 1))
            pieces.append(
                Surface(
                    np.ascontiguousarray(net[..., :3] / net[..., 3:]),
                    np.ascontiguousarray(net[..., 3]),
                    knots_u,
                    knots_v,
                    surface.degree_u,
                    surface.degree_v,
                )
            )
    return pieces


def _cut(knots, net, degree, cuts):
    """Knots and control values of the pieces of a spline along its first axis."""
    spline = BSpline(knots, net, degree)
    for cut in cuts[1:-1]:
        # A cut within rounding of a knot is made at that knot.
        near = spline.t[np.abs(spline.t - cut).argmin()]
        knot = near if abs(near - cut) < 1e-12 * (knots[-1] - knots[0]) else cut
        missing = degree - int((spline.t == knot).sum())
        if missing > 0:
            spline = spline.insert_knot(knot, missing)
    pieces = []
    for start, end in pairwise(cuts):
        width = 1e-12 * (knots[-1] - knots[0])
        inner = spline.t[(spline.t > start + width) & (spline.t < end - width)]
        first = int((spline.t < start - width).sum())
        first = max(first - 1, 0) if start > knots[0] + width else 0
        count = inner.size + degree + 1
        low = spline.t[np.abs(spline.t - start).argmin()]
        high = spline.t[np.abs(spline.t - end).argmin()]
        ends = np.full(degree + 1, low), np.full(degree + 1, high)
        pieces.append((np.concatenate([ends[0], inner, ends[1]]), spline.c[first : first + count]))
    return pieces
