"""Geodesic elements of Cosserat rods: strains, their increments in a step, and nodal forces.

An element joins two cross-sections (r_a, R_a) and (r_b, R_b). Inside, the position is linear and
the rotation follows the shortest geodesic of SO(3) (Sander 2010, doi:10.1002/nme.2814). All arrays
have leading axes of elements and are real or complex: the derivatives of nodal forces are found by
a complex step, which has no cancellation.

Strains are taken at the middle of the element (one-point rule), which keeps shear from locking.
Rotations of half a turn within an element or within a time step are out of range.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.knees.papers.rotation_vectors import (
    cayley,
    cross_product,
    dot,
    inverse_cayley,
    transposed,
    turned,
)

# Real or, for a complex step, complex.
Values = NDArray[Any]

_COMPLEX_STEP = 1e-30
# Angle over tangent of the half angle, as a series in the tangent's square: 2 atan(x) / x.
_SERIES = np.array([2.0 * (-1.0) ** k / (2 * k + 1) for k in range(13)])
_SERIES_SLOPE = _SERIES[1:] * np.arange(1, 13)
_SERIES_LIMIT = 0.05
_GAUSS, _GAUSS_WEIGHT = np.polynomial.legendre.leggauss(6)


class RodSection(NamedTuple):
    """An element's geometry, as far as strains and forces depend on it."""

    chord: Values  # r_b - r_a, mm
    tangent: Values  # tan(angle / 2) times the axis of R_a^T R_b, body components
    start: Values  # R_a
    middle: Values  # rotation in the middle of the geodesic
    quarter_cosine: Values  # cosine of a quarter of the angle, shape (..., 1)
    quarter_sine: Values  # sine of a quarter of the angle times the axis, spatial components


class NodalForces(NamedTuple):
    """Derivatives of an element's work by displacement and rotation of its nodes.

    Node b has the force `force` and the moment `end`; node a has `-force` and `start`. Spatial
    components; N and N mm.
    """

    force: Values
    start: Values
    end: Values


def section(chord: Values, start: Values, end: Values) -> RodSection:
    """Geometry of elements between cross-sections with rotations `start` and `end` (..., 3, 3)."""
    tangent = 0.5 * inverse_cayley(transposed(start) @ end)
    half_cosine = 1.0 / np.sqrt(1.0 + dot(tangent, tangent))
    quarter_cosine = np.sqrt(0.5 * (1.0 + half_cosine))
    quarter_sine = tangent * half_cosine / (2.0 * quarter_cosine)
    middle = start @ cayley(2.0 * quarter_sine / quarter_cosine)
    return RodSection(chord, tangent, start, middle, quarter_cosine, turned(start, quarter_sine))


def strains(at: RodSection, length: Values) -> tuple[Values, Values]:
    """Strain of the centre line and curvature in the middle of elements.

    `length` (..., 1), mm, is the length of the straight, unstressed element. Components are those
    of the cross-section: two of shear and the stretch; two of bending and the twist, rad/mm.
    """
    stretch = turned(transposed(at.middle), at.chord) / length - np.array([0.0, 0.0, 1.0])
    return stretch, _angle_ratio(dot(at.tangent, at.tangent)) * at.tangent / length


def forces_of_step(
    old: RodSection,
    length: Values,
    stiffness: Values,
    shift: Values,
    turn_a: Values,
    turn_b: Values,
) -> NodalForces:
    """Nodal forces of elements over one time step, which do exactly the work of the strain energy.

    Parameters
    ----------
    old
        Elements at the start of the step.
    length
        Unstressed length of elements, mm, shape (..., 1).
    stiffness
        (A1, A2, A3, K1, K2, K3), N and N mm2, shape (..., 6).
    shift
        Change of the chord in the step, mm.
    turn_a, turn_b
        Rotations of both nodes in the step as Cayley vectors theta, R_new = cay(theta) R_old.

    Notes
    -----
    Stresses are those of the mean strains of both ends of the step, N = W (strain_old +
    strain_new) / 2 (the source prints a difference, which is zero at rest). Their work must be N .
    (strain_new - strain_old); the strain increments therefore have to be linear in shift and turns
    and exact for finite steps. For geodesic elements they are

        length * d_stretch = R'^T (shift - turn_m x chord'),   d_angle = B (turn_b - turn_a) / 2

    with means R' and chord' of both ends of the step, turn_m = (turn_a + turn_b) / 2 + C (turn_b -
    turn_a) the Cayley vector of the middle's rotation, and matrices B and C that follow from the
    product rule of Cayley vectors. C is of second order; the source uses linear turns, C = 0, with
    which strains of the updated nodes differ from those of the step, so that energy is conserved
    up to the error of interpolation only. B and C are means of their values seen from both ends of
    the step, hence symmetric in time. A rigid motion of both nodes does no work, so that linear and
    angular momentum are conserved as well.

    References
    ----------
    Sander et al. 2012, equations 19 to 24; Simo, Tarnow and Doblare 1995,
    doi:10.1002/nme.1620380903.
    """
    new = section(old.chord + shift, cayley(turn_a) @ old.start, cayley(turn_b) @ _end(old))
    before, after = strains(old, length), strains(new, length)
    stress = 0.5 * stiffness[..., :3] * (before[0] + after[0])
    couple = 0.5 * stiffness[..., 3:] * (before[1] + after[1])
    force = turned(0.5 * (old.middle + new.middle), stress)
    arm = cross_product(0.5 * (old.chord + new.chord), force)
    shared = 0.5 * (
        _middle_share(old, turn_a, turn_b, arm) + _middle_share(new, -turn_a, -turn_b, arm)
    )
    moment = _curvature_moment(old, new, turn_a, turn_b, couple)
    return NodalForces(force, shared - 0.5 * arm - moment, moment - shared - 0.5 * arm)


def forces_at_rest(at: RodSection, length: Values, stiffness: Values) -> NodalForces:
    """Nodal forces of elements that do not move: the gradient of their strain energy."""
    still = np.zeros_like(at.chord)
    return forces_of_step(at, length, stiffness, still, still, still)


def moved_nodes(at: RodSection, shift: Values, turn_a: Values, turn_b: Values) -> RodSection:
    """Elements after a change of the chord and rotations of both nodes (Cayley vectors)."""
    return section(at.chord + shift, cayley(turn_a) @ at.start, cayley(turn_b) @ _end(at))


def complex_steps(count: int, ndim: int) -> Values:
    """Imaginary perturbation of each of `count` unknowns: shape (count, 1, ..., 1, count).

    `ndim` is the number of axes of one unperturbed array of unknowns.
    """
    return (1j * _COMPLEX_STEP * np.eye(count)).reshape(count, *[1] * (ndim - 1), count)


def slopes(perturbed: Values) -> NDArray[np.float64]:
    """Jacobian (..., value, unknown) of values perturbed by `complex_steps`."""
    return np.moveaxis(perturbed.imag / _COMPLEX_STEP, 0, -1)


def _end(at: RodSection) -> Values:
    """Rotation of the second node."""
    return at.start @ cayley(2.0 * at.tangent)


def _angle_ratio(square: Values) -> Values:
    """Angle over the tangent of its half, as a function of the tangent's square."""
    root = np.sqrt(np.where(square.real < _SERIES_LIMIT, 1.0, square))
    near = np.polynomial.polynomial.polyval(square, _SERIES)
    return np.where(square.real < _SERIES_LIMIT, near, 2.0 * np.arctan(root) / root)


def _angle_ratio_slope(square: Values) -> Values:
    """Derivative of `_angle_ratio`."""
    near = np.polynomial.polynomial.polyval(square, _SERIES_SLOPE)
    safe = np.where(square.real < _SERIES_LIMIT, 1.0, square)
    far = (1.0 / (1.0 + safe) - np.arctan(np.sqrt(safe)) / np.sqrt(safe)) / safe
    return np.where(square.real < _SERIES_LIMIT, near, far)


def _angle_ratio_quotient(first: Values, second: Values) -> Values:
    """Difference quotient of `_angle_ratio`: its mean slope, by Gauss's rule."""
    points = 0.5 * (first + second) + 0.5 * (second - first) * _GAUSS
    return 0.5 * np.sum(_GAUSS_WEIGHT * _angle_ratio_slope(points), axis=-1, keepdims=True)


def _curvature_moment(
    old: RodSection, new: RodSection, turn_a: Values, turn_b: Values, couple: Values
) -> Values:
    """Moment B^T M / 2 on node b, spatial, of the mean couple M in body components.

    The increment of the angle is B (turn_b - turn_a) / 2, in three factors: from the turns to the
    Cayley vector of the relative turn; from that to the tangents; from tangents to angles.
    """
    a, b, p, q = 0.5 * turn_a, 0.5 * turn_b, old.tangent, new.tangent
    scale = 1.0 + dot(a, b)
    relative = turned(transposed(old.start), b - a - cross_product(a, b)) / scale

    square, other = dot(p, p), dot(q, q)
    mean = 0.5 * (p + q)
    couple = 0.5 * (_angle_ratio(square) + _angle_ratio(other)) * couple + (
        2.0 * _angle_ratio_quotient(square, other) * dot(mean, couple) * mean
    )
    couple = 0.5 * (
        (couple + cross_product(p, couple) + p * dot(p, couple)) / (1.0 - dot(relative, p))
        + (couple + cross_product(q, couple) + q * dot(q, couple)) / (1.0 + dot(relative, q))
    )
    couple = turned(old.start, couple)
    return 0.5 * (couple + cross_product(a, couple)) / scale


def _middle_share(at: RodSection, turn_a: Values, turn_b: Values, arm: Values) -> Values:
    """Product C^T arm, where C gives the turn of the middle beyond the mean of both turns."""
    a, b, sine, cosine = 0.5 * turn_a, 0.5 * turn_b, at.quarter_sine, at.quarter_cosine
    mean = 0.5 * (a + b)
    cosine_a, cosine_b = 1.0 / np.sqrt(1.0 + dot(a, a)), 1.0 / np.sqrt(1.0 + dot(b, b))
    total = cosine_a + cosine_b
    slope = 2.0 * (cosine_a * cosine_b) ** 2 / total
    axis = sine + dot(sine, mean) * mean + cross_product(mean, sine)
    share = (
        0.5 * cosine * (cosine_b - cosine_a) * arm
        - slope * dot(axis, arm) * mean
        + 0.5 * total * (dot(mean, arm) * sine + cross_product(sine, arm))
    )
    return share / (cosine * total + dot(sine, cosine_a * a - cosine_b * b))
