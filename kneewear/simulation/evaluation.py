"""Contact of a knee at given poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.thickness import layer_thickness
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import build_pairs
from kneewear.simulation.layers import build_layers

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PoseContact:
    """Contact at several poses; axes are in the order pose, side, row, column, component.

    Forces and torques are those on the fixed body, in its frame; the moving body feels the
    opposite.

    Parameters
    ----------
    sides : tuple of str
        ("medial", "lateral").
    translation, rotation : array, shape (pose, 3)
        Poses: mm, and body-three 1-2-3 angles, rad.
    pressure : array, shape (pose, side, row, column)
        Contact pressure, MPa, zero where the surfaces are apart.
    force, torque : array, shape (pose, side, 3)
        Resultant, N, and its torque about the origin of the fixed body, N mm.
    max_pressure, avg_pressure, contact_area, max_penetration : array, shape (pose, side)
        Largest and mean non-zero element pressure, MPa; loaded area, mm2; penetration, mm.
    active_elements : int array, shape (pose, side)
        Number of loaded elements.
    centre_of_pressure : array, shape (pose, side, 3)
        Centre of pressure, mm; NaN where a side is unloaded.
    """

    sides: tuple[str, ...]
    translation: Array
    rotation: Array
    pressure: Array
    force: Array
    torque: Array
    max_pressure: Array
    avg_pressure: Array
    contact_area: Array
    max_penetration: Array
    active_elements: NDArray[np.int64]
    centre_of_pressure: Array


def evaluate_contact(
    knee: KneeModel,
    poses: ArrayLike,
    settings: SimulationSettings,
    thickness: float | None = None,
) -> PoseContact:
    """Contact of a knee at each of several poses, without friction and damping.

    Parameters
    ----------
    knee : KneeModel
        An implant or a natural knee.
    poses : array, shape (6,) or (pose, 6)
        Position of the femoral origin in the frame of the insert, mm, and body-three 1-2-3 angles,
        rad.
    settings : SimulationSettings
        Material, pressure law, direction of the pressure and source of distances.
    thickness : float, optional
        Minimum insert thickness, mm; that of the geometry by default.

    Returns
    -------
    PoseContact

    Raises
    ------
    ValueError
        If poses do not have six coordinates or are not finite, or if the thickness is not positive
        everywhere.

    Notes
    -----
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
    results = []
    for pose in chosen:
        translation, rotation = pose[:3], body_three_123(pose[3:])
        parts = []
        for side, pair, layer in zip(grid.sides, pairs, layers, strict=True):
            both = _both_layers(knee, side, pair, layer, translation, rotation)
            parts.append(pair.evaluate(rotation, translation, both))
        results.append(parts)
    shape = grid.area.shape[1:]
    return PoseContact(
        sides=grid.sides,
        translation=chosen[:, :3],
        rotation=chosen[:, 3:],
        pressure=np.array([_pressures(parts, pairs, shape) for parts in results]),
        **{
            name: np.array([[getattr(part, name) for part in parts] for parts in results])
            for name in (
                "force", "torque", "max_pressure", "avg_pressure", "contact_area",
                "max_penetration", "active_elements", "centre_of_pressure",
            )
        },
    )  # fmt: skip


def _both_layers(
    knee: KneeModel,
    side: str,
    pair: ContactPair,
    layer: Layer,
    translation: Array,
    rotation: Array,
) -> Layer:
    """Layer of a side with the moving body's thickness added, if that body has a layer."""
    moving = knee.implant.femoral_layer
    if moving is None:
        return layer
    femur = knee.implant.femoral[side]
    u, v, *_ = femur.closest_points((pair.centre - translation) @ rotation)
    added = layer_thickness(femur.evaluate(u, v), moving.bone[side], moving.limits)
    return replace(layer, thickness=layer.thickness + added)


def _pressures(
    parts: Sequence[Resultant], pairs: Sequence[ContactPair], shape: tuple[int, ...]
) -> Array:
    """Element pressures of all sides on their grid."""
    pressure = np.zeros((len(parts), *shape))
    for one, part, pair in zip(pressure, parts, pairs, strict=True):
        one.ravel()[pair.index[part.element]] = part.pressure
    return pressure
