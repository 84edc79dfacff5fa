"""Plane figures and simple solids whose areas are known by hand."""

from __future__ import annotations

import numpy as np

from kneewear.geometry.coverage import Coverage
from kneewear.geometry.meshes import TriangleMesh


def polygon(corners):
    """Coverage bounded by one polygon of corners (x, z)."""
    corners = np.asarray(corners, dtype=float)
    return Coverage(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))


def on_circle(radius, first, last, count):
    """Points of an arc about the origin, from +x to +z."""
    angle = np.linspace(first, last, count + 1)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def bar(profile, z=(-1.0, 8.0)):
    """Side walls of a bar along z over a counter-clockwise profile (x, y), normals outward."""
    count = len(profile)
    front = np.column_stack([profile, np.full(count, z[0])])
    back = np.column_stack([profile, np.full(count, z[1])])
    number, after = np.arange(count), np.roll(np.arange(count), -1)
    faces = np.concatenate(
        [
            np.stack([number, after, after + count], axis=1),
            np.stack([number, after + count, number + count], axis=1),
        ]
    )
    return TriangleMesh(np.concatenate([front, back]), faces)
