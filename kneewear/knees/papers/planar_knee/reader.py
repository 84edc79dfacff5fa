"""Profiles of the planar knee from meshes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import UnivariateSpline

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh, ray_distances, sagittal_section
from kneewear.io.shapes import load_shape
from kneewear.knees.papers.planar_knee.settings import (
    RADIUS,
    OutlineSettings,
    PlanarSettings,
    ProfileSettings,
)

Array = NDArray[np.float64]

# Directions in which a section is sampled before it is smoothed, about ten per edge of a mesh.
RAYS = 500


def read(settings: PlanarSettings, files: Mapping[str, str | Path]) -> dict[str, ProfileSettings]:
    """Points of the profiles that are outlines of meshes, by profile.

    InputDataError if a section is beside its mesh or does not reach the angles of its ends.
    """
    found = {}
    for name, path in files.items():
        outline = getattr(settings, name).outline
        mesh = load_shape(path)
        scaled = TriangleMesh(MM_PER_UNIT[outline.unit] * mesh.vertices, mesh.faces)
        angle, radius = _cut(scaled, outline, path, f"multibody.{name}.outline")
        found[name] = ProfileSettings(angle_deg=tuple(angle), radius_mm=tuple(radius))
    return found


def _cut(
    mesh: TriangleMesh, outline: OutlineSettings, path: str | Path, where: str
) -> tuple[list[float], list[float]]:
    """Angles, deg, and radii, mm, of the points of an outline."""
    segments = sagittal_section(mesh, outline.z_mm)
    if not len(segments):
        low, high = mesh.vertices[:, 2].min(), mesh.vertices[:, 2].max()
        found, remedy = f"no section at z = {outline.z_mm:g} mm", "Correct the place or the unit."
        expected = f"a place within the mesh, {low:.1f} to {high:.1f} mm"
        raise InputDataError(path, found, expected, remedy, f"{where}.z_mm")
    cos, sin = np.cos(np.radians(outline.rotation_deg)), np.sin(np.radians(outline.rotation_deg))
    placed = (segments - outline.origin_mm) @ np.array([[cos, sin], [-sin, cos]])
    angle = np.linspace(*outline.angle_deg, outline.points)
    rays = np.linspace(*outline.angle_deg, RAYS) if outline.smoothing_mm else angle
    radius = ray_distances(placed, np.radians(rays))
    missed = rays[np.isnan(radius)]
    if missed.size:
        found = f"no place of the section at {missed[0]:.1f} deg"
        remedy = "Narrow the range, or correct origin_mm, rotation_deg or unit."
        expected = "a range of angles that the section covers"
        raise InputDataError(path, found, expected, remedy, f"{where}.angle_deg")
    if outline.smoothing_mm:
        radius = UnivariateSpline(rays, radius, s=RAYS * outline.smoothing_mm**2)(angle)
    odd = [one for one in radius.tolist() if RADIUS.severity(one) == "refuse"]
    if odd:
        remedy = "Correct origin_mm or unit."
        raise InputDataError(path, f"a radius of {odd[0]:.3g} mm", RADIUS.possible, remedy, where)
    return angle.tolist(), radius.tolist()
