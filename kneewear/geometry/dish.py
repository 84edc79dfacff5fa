"""Shape of a bearing: dish and condyle, room between its ends, and how it restores a condyle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.segmentation import CondyleRegion, PlateauRegion

Array = NDArray[np.float64]

# Sagittal radius of plateau over that of condyle below which the bearing decides the motion.
CONFORMING = 1.45
# Half-lengths of the strip (x, height, z) in which a sagittal radius is measured, mm; least points.
_SAGITTAL = (9.0, 4.0, 2.0)
# Half-lengths (x, height, z) of the strip in which a coronal radius is measured, mm.
_CORONAL = (2.0, 4.0, 9.0)
_MIN_POINTS = 10
# Half of the part of a condyle's width, about its middle, that is no rim.
_BETWEEN_RIMS = 0.3
# Half of the width of contact, over which a bearing must not end, mm.
_WIDE = 12.0
# A bearing whose lowest place is nearer than this to its end has its dwell pose in the middle, mm.
_SLIDES = 2.0
# Usual penetration of a condyle, mm.
_USUAL_PENETRATION = 0.1


@dataclass(frozen=True)
class Dish:
    """Sagittal shape of a bearing, mm."""

    ratio: float = np.inf  # radius of the dish over that of the condyle
    condyle: float = 30.0  # radius of the condyle
    room: float = np.inf  # from the lowest place to the nearer end of a bearing
    middle: float = 0.0  # between both plateaus, z in the insert's frame
    single: bool = False  # of one plateau, which restores no rotation
    restoring: float = np.inf  # medial-lateral force over load and distance from the middle, 1/mm

    @property
    def conforms(self) -> bool:
        """True if the dish is so close to its condyle that the bearing decides the motion."""
        return bool(self.ratio < CONFORMING and not self.single)

    def kept_travel(self, travel: float) -> float:
        """Part of a travel, mm to either side, that leaves contact on the bearing, at most 1.

        The contact of a condyle of radius r in a dish of radius R moves by R/(R - r) times the
        condyle's way, and reaches sqrt(2 d r R/(R - r)) beyond its middle at a penetration d.
        """
        gain = self.ratio / (self.ratio - 1.0) if np.isfinite(self.ratio) else 1.0
        half = np.sqrt(2.0 * _USUAL_PENETRATION * self.condyle * gain)
        return float(np.clip((self.room - half) / (gain * travel), 0.2, 1.0))


def sagittal_arc(points: Array) -> tuple[float, float]:
    """Height of the centre and radius of the sagittal arc of a strip of points (n, 3), mm.

    Least squares of x^2 + y^2 = 2 a x + 2 b y + c + d z + e z^2 about the strip's middle: the last
    terms take up its coronal inclination and curvature.
    """
    middle = points.mean(axis=0)
    x, y, z = (points - middle).T
    columns = np.column_stack([x, y, np.ones_like(x), z, z**2])
    a, b, c, *_ = np.linalg.lstsq(columns, x**2 + y**2, rcond=None)[0]
    return float(middle[1] + 0.5 * b), float(np.sqrt(max(c + 0.25 * (a**2 + b**2), 0.0)))


def medial_lateral_restoring(insert: Array, condyle: Array) -> float:
    """Medial-lateral force of a dish over its load and the distance from its lowest line, 1/mm.

    Points (n, 3) of coronal strips of the dish and of the condyle, mm. Without friction a condyle
    of radius r in a dish of radius R is restored by 1/(R - r); infinite of a condyle as wide as its
    dish, zero of a dish that is flat or bulges.
    """
    curvatures = []
    for points in (insert, condyle):
        height, radius = sagittal_arc(points[:, [2, 1, 0]])
        curvatures.append(np.sign(height - points[:, 1].mean()) / max(radius, 1e-9))
    return _restoring(*curvatures)


def _restoring(dish: float, condyle: float) -> float:
    """Force over load and distance, 1/mm, from the curvatures across of dish and condyle, 1/mm."""
    if dish <= 0.0:
        return 0.0
    return float(dish * condyle / (condyle - dish)) if condyle > dish else np.inf


def _coronal_curvature(points: Array) -> float:
    """Curvature across of points (n, 3) of a coronal strip of any inclination, 1/mm.

    Positive with its centre above.
    """
    x, y, z = (points - points.mean(axis=0)).T
    columns = np.column_stack([z**2, z, x**2, x * z, x, np.ones_like(x)])
    half, slope, *_ = np.linalg.lstsq(columns, y, rcond=None)[0]
    return float(2.0 * half / (1.0 + slope**2) ** 1.5)


def restoring_at(insert: Array, condyle: Array, place: Array) -> float:
    """Medial-lateral force of a dish over its load and distance where a condyle touches it, 1/mm.

    As `medial_lateral_restoring`, of points (n, 3) of the whole dish and of the condyle in the
    frame of the insert, mm, about the place (3,) of the largest pressure; infinite where there are
    too few points.
    """
    strips = [body[(np.abs(body - place) < _CORONAL).all(axis=1)] for body in (insert, condyle)]
    if min(map(len, strips)) < _MIN_POINTS:
        return np.inf
    return _restoring(*map(_coronal_curvature, strips))


def needed_radius(
    insert: Array, condyle: Array, at: float, penetration: float
) -> tuple[float, float, float] | None:
    """Radii of dish and condyle in a section, and the largest one of a condyle clear of its edges.

    Parameters
    ----------
    insert : array, shape (n, 3)
        Points of the dish of one side, mm: of a coronal section as they are (x, y, z), of a
        sagittal one with x and z exchanged.
    condyle : array, shape (m, 3)
        Points of its condyle in the frame of the insert, mm, in the same order.
    at : float
        Position of the section along the first axis, mm.
    penetration : float
        Overlap of both surfaces, mm.

    Returns
    -------
    tuple of float or None
        Radii, mm; None where contact ends inside the section, or this has too few points.

    Notes
    -----
    A condyle of radius r on a dish of radius R overlaps it by d over a half-width
    sqrt(2 d r R/(R - r)), which is at most half of the width w of the narrower one:
    1/r = 1/R + 8 d/w^2.
    """
    section = _section(insert, condyle, at)
    if section is None:
        return None
    hollow, bulge, width = section
    needed = hollow + 8.0 * penetration / width**2
    if hollow <= 0.0 or bulge >= needed:
        return None
    return 1.0 / hollow, 1.0 / max(bulge, 1e-9), 1.0 / needed


def conforms_along(insert: Array, condyle: Array, z: float) -> bool:
    """True if the dish conforms to its condyle, points (n, 3) in mm, in the sagittal plane at z."""
    order = [2, 1, 0]
    section = _section(insert[:, order], condyle[:, order], z)
    return section is not None and section[0] > 0.0 and section[1] < CONFORMING * section[0]


def _section(insert: Array, condyle: Array, at: float) -> tuple[float, float, float] | None:
    """Curvatures, 1/mm, of dish and condyle in a section normal to the first axis, and a width, mm.

    The narrower one states the width.
    """
    dish, own = (body[np.abs(body[:, 0] - at) < _CORONAL[0]] for body in (insert, condyle))
    own = own[own[:, 1] < own[:, 1].min(initial=np.inf) + _CORONAL[1]]
    if not (len(own) and len(dish)):
        return None
    (low, high), (left, right) = ((body[:, 2].min(), body[:, 2].max()) for body in (own, dish))
    width, middle = float(min(high - low, right - left)), 0.5 * (low + high)
    # Rims are rounder than the bearing between them.
    half = _BETWEEN_RIMS * width
    within = float(np.clip(middle, left + half, right - half))
    own, dish = own[np.abs(own[:, 2] - middle) < half], dish[np.abs(dish[:, 2] - within) < half]
    if min(len(dish), len(own)) < _MIN_POINTS:
        return None
    return _coronal_curvature(dish), _coronal_curvature(own), width


def room_around(region: PlateauRegion) -> float:
    """Least distance of the outline in front of and behind the lowest place, mm.

    Over the width that contact takes, where the outline may be nearer.
    """
    x, z = region.outline.T
    other_x, other_z = np.roll(region.outline, -1, axis=0).T
    nearest = []
    for at in region.lowest[2] + np.linspace(-_WIDE, _WIDE, 9):
        crossed = (z - at) * (other_z - at) < 0.0
        part = (at - z[crossed]) / (other_z - z)[crossed]
        apart = x[crossed] + part * (other_x - x)[crossed] - region.lowest[0]
        if (apart < 0.0).any() and (apart > 0.0).any():
            nearest += [-apart[apart < 0.0].max(), apart[apart > 0.0].min()]
    return float(min(nearest, default=0.0))


def find_dish(
    insert: TriangleMesh,
    femoral: TriangleMesh,
    plateaus: Mapping[str, PlateauRegion],
    condyles: Mapping[str, CondyleRegion],
) -> Dish:
    """Dish closest to its condyle, from the sheets of both components, mm."""
    dishes = []
    restoring = []
    # Origins of both components are unrelated: middles between their sides belong together.
    middles = np.mean([np.mean(condyle.z) for condyle in condyles.values()])
    apart = middles - np.mean([one.lowest[2] for one in plateaus.values()])
    for region in plateaus.values():
        z = region.lowest[2] + apart
        # The whole window is on the bearing, also where that is lowest at its end.
        low, high = region.x[0] + _SAGITTAL[0], region.x[1] - _SAGITTAL[0]
        middle = np.array(
            [np.clip(region.lowest[0], min(low, high), max(low, high)), *region.lowest[1:]]
        )
        near = np.abs(insert.vertices - middle) < _SAGITTAL
        dish = insert.vertices[near.all(axis=1)]
        sagittal = femoral.vertices[np.abs(femoral.vertices[:, 2] - z) < _SAGITTAL[2]]
        distal = sagittal[sagittal[:, 1] < sagittal[:, 1].min(initial=np.inf) + _SAGITTAL[1]]
        if len(dish) < _MIN_POINTS or len(distal) < _MIN_POINTS:
            continue
        lowest = sagittal[sagittal[:, 1].argmin()] * [1.0, 1.0, 0.0] + [0.0, 0.0, z]
        strips = [
            mesh.vertices[(np.abs(mesh.vertices - at) < _CORONAL).all(axis=1)]
            for mesh, at in ((insert, middle), (femoral, lowest))
        ]
        if min(map(len, strips)) >= _MIN_POINTS:
            restoring.append(medial_lateral_restoring(*strips))
        (height, wide), (_, tight) = (sagittal_arc(one) for one in (dish, distal))
        # A plateau that is flat or bulges has no dish.
        ratio = max(wide / tight, 1.01) if height > region.lowest[1] else np.inf
        room = room_around(region)
        # The dwell pose of a bearing that is lowest at its end is in the middle.
        if room < _SLIDES:
            room = 0.5 * (region.x[1] - region.x[0])
        dishes.append(Dish(ratio, tight, float(room)))
    lines = [one.lowest[2] for one in plateaus.values()]
    closest = min(dishes, key=lambda one: one.ratio, default=Dish())
    return replace(
        closest,
        middle=float(np.mean(lines)),
        single=len(plateaus) == 1,
        restoring=float(np.mean(restoring)) if restoring else np.inf,
    )
