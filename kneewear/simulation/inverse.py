"""Inverse dynamics: pressures, forces and sliding that belong to a given motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.contact import _kernels
from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import coordinate_numbers
from kneewear.mechanics.generalized_forces import turn_axes
from kneewear.mechanics.rotations import body_three_123
from kneewear.simulation.balance import WEIGHT
from kneewear.simulation.passage import Passage

Array = NDArray[np.float64]


def replay(
    pairs: Sequence[ContactPair],
    layers: Sequence[Layer],
    passage: Passage,
    tell: Callable[[], None],
) -> tuple[tuple[Resultant, ...], ...]:
    """Contact at every pose of a motion.

    Parameters
    ----------
    pairs, layers : sequence
        Contact pairs, usually of a finer grid than the motion was found with, and their layers.
    passage : Passage
        Poses.
    tell : callable
        Called after every frame.

    Returns
    -------
    tuple of tuple of Resultant
        Contact of each pair at every frame.

    Raises
    ------
    ConvergenceError
        If elements lie too deep inside the moving body; the message names the frame.
    """
    found = []
    for frame, rotation in enumerate(body_three_123(passage.rotation)):
        translation = passage.translation[frame]
        try:
            found.append(
                tuple(
                    pair.evaluate(rotation, translation, layer)
                    for pair, layer in zip(pairs, layers, strict=True)
                )
            )
        except ValueError as error:
            raise ConvergenceError(
                f"Inverse dynamics ({error})", frame, np.nan, "mm", "Check the motion."
            ) from error
        tell()
    return tuple(found)


def contact_arrays(
    pairs: Sequence[ContactPair],
    shape: tuple[int, int],
    passage: Passage,
    contacts: Sequence[Sequence[Resultant]],
) -> dict[str, Any]:
    """Element and frame histories of one case, as `ContactHistory` names them.

    Parameters
    ----------
    pairs : sequence of ContactPair
        One pair a side.
    shape : tuple of int
        Rows and columns of the grid.
    passage : Passage
        Poses and what acts besides contact.
    contacts : sequence of sequence of Resultant
        Contact of each pair at every frame.

    Returns
    -------
    dict of name to array
        Arrays of `ContactHistory` without the case axis.
    """
    per_pair = [
        _pair_arrays(pair, passage, [frame[number] for frame in contacts], shape)
        for number, pair in enumerate(pairs)
    ]
    arrays = {name: np.stack([part[name] for part in per_pair], axis=1) for name in per_pair[0]}
    total = np.array([sum(result.wrench for result in frame) for frame in contacts])
    # What drivers exert is what acceleration takes beyond contact and loads.
    reaction = passage.inertia - total - passage.applied
    return {
        **arrays,
        "translation": passage.translation,
        "rotation": passage.rotation,
        "load": passage.load,
        "load_line": passage.load_line,
        "spring_force": passage.spring_force,
        "reaction_force": reaction[:, :3],
        "reaction_moment": reaction[:, 3:],
        "inertia_force": passage.inertia[:, :3],
        "inertia_moment": passage.inertia[:, 3:],
        "residual": passage.residual + _mismatch(passage, total),
    }


def _mismatch(passage: Passage, total: Array) -> Array:
    """Contact beyond that the pose was solved with, along free coordinates, parts of the load."""
    change = total - passage.contact
    axes = np.array([turn_axes(angles) for angles in passage.rotation])
    change[:, 3:] = np.einsum("nij,ni->nj", axes, change[:, 3:])
    free = coordinate_numbers(passage.free)
    return np.max(np.abs(change / WEIGHT)[:, free], axis=1) / passage.load


def _pair_arrays(
    pair: ContactPair, passage: Passage, results: Sequence[Resultant], shape: tuple[int, int]
) -> dict[str, Any]:
    """Histories of one pair, frames first."""
    n_frames, n_elements = len(results), shape[0] * shape[1]
    matrix, place = body_three_123(passage.rotation), passage.translation
    pressure = np.zeros((n_frames, n_elements), dtype=np.float32)
    slip = np.zeros((n_frames, n_elements, 2), dtype=np.float32)
    one_each = {
        name: np.zeros(n_frames)
        for name in ("max_pressure", "avg_pressure", "contact_area", "max_penetration")
    }
    active = np.zeros(n_frames, dtype=np.int64)
    centre = np.full((n_frames, 3), np.nan)
    for frame, result in enumerate(results):
        before, after = (frame - 1) % n_frames, (frame + 1) % n_frames
        loaded = result.penetration > 0
        if not loaded.any():
            continue
        local = result.element[loaded]
        value, area = result.pressure[loaded], pair.area[local]
        sliding = np.empty((local.size, 2))
        _kernels.slide(
            pair.centre[local],
            pair.tangent_row[local],
            pair.tangent_column[local],
            *(part for n in (frame, before, after) for part in (matrix[n], place[n])),
            sliding,
        )
        pressure[frame, pair.index[local]] = value
        slip[frame, pair.index[local]] = sliding
        active[frame] = local.size
        one_each["max_pressure"][frame] = value.max()
        one_each["avg_pressure"][frame] = value.mean()
        one_each["contact_area"][frame] = area.sum()
        one_each["max_penetration"][frame] = result.penetration.max()
        centre[frame] = (value * area) @ pair.centre[local] / (value * area).sum()
    wrench = np.stack([result.wrench for result in results])
    return {
        "pressure": pressure.reshape(n_frames, *shape),
        "slip": slip.reshape(n_frames, *shape, 2),
        "force": -wrench[:, :3],
        "torque": -(wrench[:, 3:] + np.cross(place, wrench[:, :3])),
        **one_each,
        "active_elements": active,
        "centre_of_pressure": centre,
    }
