"""Contact at one point: where two shapes share a normal, and force laws of impacts.

References
----------
Machado thesis, sections 5.1 to 5.5 and 6.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.knees.contact.impact_laws import impact_force

Array = NDArray[np.float64]

# Exponent of Hertz's contact of surfaces with two curvatures.
EXPONENT = 1.5


class Touch(NamedTuple):
    """Overlap of two bodies, mm, negative where they are apart, and where they are nearest.

    `point` is midway between both surfaces and `normal` points out of the fixed body, into the
    moving one, in the frame of the fixed body.
    """

    depth: float
    point: Array
    normal: Array


class Shapes(Protocol):
    """A shape of each body."""

    def touch(self, rotation: Array, translation: Array) -> Touch:
        """Overlap at a pose of the moving body in the frame of the fixed one."""


@dataclass(frozen=True)
class ImpactLaw:
    """Force K d^n (1 + c rate / initial rate) of one layer, or of a layer on a stiffer one.

    `stiffness` K, N/mm^1.5; `factor` c of `impact_laws.hysteresis_factor`. Beyond the thickness of
    a first `layer`, mm, the force of a second one of stiffness `base` is added to that of the first
    at its thickness (Machado thesis, Eq. 5.33; without loss only).
    """

    stiffness: float
    factor: float = 0.0
    layer: float = np.inf
    base: float = 0.0

    def __post_init__(self) -> None:
        if self.factor and np.isfinite(self.layer):
            raise ValueError("a double layer has no loss: its initial rate of impact is undefined")

    def force(self, depth: float, rate: float, initial_rate: float) -> float:
        """Force, N, from the overlap, mm, its rate, and its rate when contact began, mm/s."""
        first = min(depth, self.layer)
        beyond = self.base * max(depth - self.layer, 0.0) ** EXPONENT
        return beyond + float(
            impact_force(first, rate, initial_rate, self.stiffness, self.factor, EXPONENT)
        )

    def slopes(self, depth: float, rate: float, initial_rate: float) -> tuple[float, float]:
        """Derivatives of the force over the overlap, N/mm, and over its rate, N s/mm."""
        if depth <= 0.0:
            return 0.0, 0.0
        damped = 1.0 + (self.factor * rate / initial_rate if self.factor else 0.0)
        if damped <= 0.0:
            return 0.0, 0.0
        root = self.stiffness * np.sqrt(depth)
        if depth > self.layer:
            return EXPONENT * self.base * np.sqrt(depth - self.layer), 0.0
        return EXPONENT * root * damped, (
            self.factor * root * depth / initial_rate if self.factor else 0.0
        )

    def energy(self, depth: float) -> float:
        """Energy stored without loss, N mm."""
        first, beyond = min(depth, self.layer), max(depth - self.layer, 0.0)
        held = self.stiffness * first**EXPONENT * beyond if beyond else 0.0
        power = EXPONENT + 1.0
        return held + (self.stiffness * first**power + self.base * beyond**power) / power


class PointForce(NamedTuple):
    """Wrench (6,) on the moving body about its origin and derivatives; overlap, rate and force."""

    wrench: Array
    stiffness: Array
    damping: Array
    energy: float
    depth: float
    rate: float
    force: float
    point: Array


@dataclass
class PointContact:
    """Contact of two shapes by an impact law, a `ContactLaw` of `kneewear.motion.actions`.

    `initial_rate` is the rate of overlap when the current contact began, mm/s, which
    `impacts` sets; zero while the bodies are apart, where the current rate is used instead.

    Notes
    -----
    The stiffness is that of the overlap along the normal; the small terms of the turning normal,
    which only slow down the convergence of an integrator, are left out.
    """

    shapes: Shapes
    law: ImpactLaw
    initial_rate: float = field(default=0.0)

    def evaluate(
        self, rotation: Array, translation: Array, velocity: Array | None = None
    ) -> PointForce:
        """Force at a pose and velocity of the moving body in the frame of the other one."""
        touch = self.shapes.touch(rotation, translation)
        (x, y, z), (a, b, c) = touch.point - translation, touch.normal
        along = np.array([a, b, c, y * c - z * b, z * a - x * c, x * b - y * a])
        rate = 0.0 if velocity is None else -float(along @ velocity)
        started = self.initial_rate if self.initial_rate > 0.0 else max(abs(rate), 1e-9)
        none = np.zeros((6, 6))
        if touch.depth <= 0.0:
            return PointForce(np.zeros(6), none, none, 0.0, touch.depth, rate, 0.0, touch.point)
        force = self.law.force(touch.depth, rate, started)
        over_depth, over_rate = self.law.slopes(touch.depth, rate, started)
        square = np.outer(along, along)
        return PointForce(
            force * along,
            -over_depth * square,
            -over_rate * square,
            self.law.energy(touch.depth),
            touch.depth,
            rate,
            force,
            touch.point,
        )


@dataclass(frozen=True)
class SphereOnPlane:
    """A sphere of the fixed body and a plane of the moving one.

    `centre` in the frame of the fixed body and `radius`, mm; `origin` and outward unit `normal` of
    the plane in the frame of the moving body. The plane is endless.
    """

    centre: ArrayLike
    radius: float
    origin: ArrayLike
    normal: ArrayLike

    def touch(self, rotation: Array, translation: Array) -> Touch:
        """Overlap along the plane's normal, on which the centre is."""
        normal = rotation @ np.asarray(self.normal)
        centre = np.asarray(self.centre)
        height = (centre - translation - rotation @ np.asarray(self.origin)) @ normal
        depth = self.radius - height
        return Touch(float(depth), centre - (self.radius - 0.5 * depth) * normal, -normal)


@dataclass(frozen=True)
class SphereOnSphere:
    """A sphere of the fixed body, and a sphere or a cup of the moving one.

    Centres in the frames of their bodies and radii, mm; `other_radius` is negative for a cup, which
    is larger than the sphere (Machado thesis, Eqs 5.25 to 5.29).
    """

    centre: ArrayLike
    radius: float
    other_centre: ArrayLike
    other_radius: float

    def touch(self, rotation: Array, translation: Array) -> Touch:
        """Overlap along the line of the centres."""
        centre = np.asarray(self.centre)
        apart = translation + rotation @ np.asarray(self.other_centre) - centre
        sign, distance = np.sign(self.other_radius), float(np.linalg.norm(apart))
        normal = sign * apart / distance
        depth = self.radius + self.other_radius - sign * distance
        return Touch(float(depth), centre + (self.radius - 0.5 * depth) * normal, normal)
