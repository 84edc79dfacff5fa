"""Plane profiles that touch where they share a normal.

References
----------
Machado thesis, sections 5.1 to 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import InputDataError
from kneewear.knees.contact.point import Touch
from kneewear.knees.papers.point_contact import _profile_kernels as kernels

Array = NDArray[np.float64]


@dataclass
class Profiles:
    """Plane profiles of both bodies, in their x-y planes.

    The points where they are nearest, or overlap most, share a normal; the search starts from those
    of the last pose. Profiles must be convex or flat (Machado thesis, section 5.1.2).
    InputDataError if no common normal is found.
    """

    fixed: kernels.PolarProfile
    moving: kernels.PolarProfile
    angles: Array

    def touch(self, rotation: Array, translation: Array) -> Touch:
        """Overlap along the moving profile's normal (Eqs 5.19 to 5.22)."""
        points, normal = np.empty((2, 2)), np.zeros(3)
        angles = self.angles.copy()
        found, depth = kernels.common_normal(
            self.fixed, self.moving, rotation, translation, angles, points, normal
        )
        if not found:
            first, second = np.degrees(self.angles)
            raise InputDataError(
                "multibody.femoral_profile, multibody.tibial_profile",
                f"no common normal near {first:.1f} and {second:.1f} deg",
                "convex or flat profiles that face each other",
                "Smooth the profiles, narrow their ranges, or give more of their points.",
            )
        self.angles = angles
        return Touch(depth, np.append(points.mean(axis=0), 0.0), -normal)


def polar_profile(angle: ArrayLike, radius: ArrayLike, spline: str) -> kernels.PolarProfile:
    """Profile through points in polar coordinates, rad and mm, in ascending order of angles.

    `spline` is "cubic" (not-a-knot), "akima" or "shape_preserving" (monotone cubics of Fritsch and
    Carlson; the thesis uses one that keeps convexity). ValueError if it is another.
    """
    kinds = {
        "cubic": scipy.interpolate.CubicSpline,
        "akima": scipy.interpolate.Akima1DInterpolator,
        "shape_preserving": scipy.interpolate.PchipInterpolator,
    }
    if spline not in kinds:
        raise ValueError(f"spline '{spline}': expected one of {', '.join(kinds)}")
    pieces = kinds[spline](np.asarray(angle, dtype=float), np.asarray(radius, dtype=float))
    return kernels.PolarProfile(
        np.ascontiguousarray(pieces.x), np.ascontiguousarray(pieces.c, dtype=float)
    )
