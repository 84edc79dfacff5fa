"""Contact of a knee at given poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.geometry.knee import KneeModel
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import build_pairs
from kneewear.simulation.cycle import RESULTANTS
from kneewear.simulation.history import ContactResults
from kneewear.simulation.layers import add_femoral_layers, build_layers, femoral_layers

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PoseContact(ContactResults):
    """Contact at several poses."""

    pressure: Array  # shape (pose, side, row, column), MPa, zero where the surfaces are apart


def evaluate_contact(
    knee: KneeModel,
    poses: ArrayLike,
    settings: SimulationSettings,
    thickness: float | None = None,
) -> PoseContact:
    """Contact of a knee at each of several poses, without friction and damping.

    `poses` (6,) or (pose, 6) hold the position of the femoral origin in the frame of the insert,
    mm, and body-three 1-2-3 angles, rad; `thickness` is the minimum insert thickness, mm, that of
    the geometry by default. ValueError if a pose is not six finite numbers, or a thickness not
    positive.

    In a natural knee both cartilage layers act as one: the thickness of an element is that of the
    fixed layer plus that of the moving layer at the point it faces (Bei 2003, section 2.2.2).
    """
    chosen = np.atleast_2d(np.asarray(poses, dtype=float))
    if chosen.ndim != 2 or chosen.shape[1] != 6 or not np.isfinite(chosen).all():
        raise ValueError(
            f"poses of shape {np.shape(poses)}; expected finite numbers of shape (6,) or (n, 6): "
            "three coordinates of the position in mm and three angles in rad"
        )
    grid = knee.grid
    pairs = build_pairs(knee, settings)
    nominal = knee.implant.nominal_thickness if thickness is None else thickness
    layers = build_layers(grid, pairs, nominal, settings)
    moving = femoral_layers(knee.implant, knee.samples)
    named = dict(zip(grid.sides, pairs, strict=True))
    results = []
    for pose in chosen:
        translation, rotation = pose[:3], body_three_123(pose[3:])
        if moving:
            both = add_femoral_layers(moving, named, layers, translation, rotation)
        else:
            both = layers
        results.append(
            [
                pair.evaluate(rotation, translation, layer)
                for pair, layer in zip(pairs, both, strict=True)
            ]
        )
    shape = grid.area.shape[1:]
    return PoseContact(
        sides=grid.sides,
        translation=chosen[:, :3],
        rotation=chosen[:, 3:],
        pressure=np.array([_pressures(parts, pairs, shape) for parts in results]),
        **{
            name: np.array([[getattr(part, name) for part in parts] for parts in results])
            for name in RESULTANTS
        },
    )


def _pressures(
    parts: Sequence[Resultant], pairs: Sequence[ContactPair], shape: tuple[int, ...]
) -> Array:
    """Element pressures of all sides on their grid."""
    pressure = np.zeros((len(parts), *shape))
    for one, part, pair in zip(pressure, parts, pairs, strict=True):
        one.ravel()[pair.index[part.element]] = part.pressure
    return pressure
