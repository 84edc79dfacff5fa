"""Creep under a pressure that changes over the life, by linear superposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Creep depth for each MPa, mm/MPa, at a part of the life after loading: a number or a map.
Compliance = Callable[[float], "Array | float"]


def superposed_creep(
    starts: Sequence[float], pressures: Sequence[Array], end: float, law: Compliance
) -> Array:
    """Creep depth, mm, of a pressure that is constant within steps.

    Parameters
    ----------
    starts : sequence of float
        Start of each step, as a part of the life.
    pressures : sequence of array
        Pressure of each step, MPa.
    end : float
        End of the last step.
    law : callable
        Creep depth for each MPa at a part of the life after loading.

    Notes
    -----
    Boltzmann's superposition of the creep of all changes of pressure,
    sum_i C(T - t_i) (p_i - p_{i-1}) = sum_i [C(T - t_i) - C(T - t_{i+1})] p_i with C = 0 before
    loading: a mean over the history times C(T). It is exact for a linear viscoelastic layer. As C
    grows with the logarithm of time, the last tenth of a life has 85 % of the weight after 51
    months. Unloaded after 10 000 min for as long again, the law recovers 93 % of the creep; Lee and
    Pienkowski (1998) measured 51 %. Their part that stays is not included, so that creep follows a
    falling pressure farther than measured.

    References
    ----------
    Findley, W.N., Lai, J.S. and Onaran, K. (1976) Creep and relaxation of nonlinear viscoelastic
    materials, chapter 5. North-Holland (from memory).
    """
    since = [law(end - start) for start in starts]
    later = [*since[1:], 0.0]
    parts = [(a - b) * p for a, b, p in zip(since, later, pressures, strict=True)]
    return np.asarray(sum(parts[1:], start=parts[0]))


@dataclass(frozen=True)
class ContactResponse:
    """Response of the largest pressures of a cycle to a small lowering of the elements.

    Parameters
    ----------
    pressure : array, shape (frame, side, row, column)
        Pressures of the cycle, MPa.
    stiffness : array, shape (side,)
        Pressure for each mm of penetration, MPa/mm; zero where unknown.
    weight : float or array, shape (side, row, column)
        Weight of the cycle's largest pressure in that which creep follows.

    Notes
    -----
    An element lowered by d loses stiffness x (d - s) of its pressure. At constant load the femoral
    component settles by s, the mean of d over the elements in contact at the frame of the
    element's largest pressure.
    """

    pressure: Array
    stiffness: Array
    weight: Array | float


def relaxed_pressure(
    pressure: Array,
    lowering: Array,
    compliance: Array | float,
    area: Array,
    responses: Sequence[ContactResponse],
) -> Array:
    """Largest pressures at the end of a step whose creep lowers the surface, MPa.

    Parameters
    ----------
    pressure : array, shape (side, row, column)
        Largest pressures at the start of the step, MPa.
    lowering : array, shape (side, row, column)
        How much deeper than at the start the elements would be at the end if the pressure stayed,
        mm.
    compliance : float or array
        Creep depth for each MPa of the step's pressure, mm/MPa.
    area : array, shape (side, row, column)
        Areas of the elements, mm2.
    responses : sequence of ContactResponse
        One per activity of the step.

    Notes
    -----
    Creep is several times deeper than the penetration that causes it, so creep by the pressure at
    the start of a step would oscillate with any number of steps. The pressure at its end is found
    with the linear response of the contact instead (a linearly implicit Euler step). Elements that
    lost contact while their creep recovers count as touching.
    """
    relaxed = pressure.copy()
    for side in range(len(pressure)):
        loaded = (pressure[side] > 0.0) | (lowering[side] < 0.0)
        count = int(loaded.sum())
        if not count:
            continue
        gains, shares, means = np.zeros(count), [], []
        creep = np.broadcast_to(compliance, pressure.shape)[side][loaded]
        for response in responses:
            cycle = response.pressure[:, side][:, loaded].astype(np.float64)
            weight = np.broadcast_to(response.weight, pressure.shape)[side][loaded]
            gain = weight * response.stiffness[side]
            share = np.zeros((count, len(cycle)))
            share[np.arange(count), cycle.argmax(axis=0)] = gain * (cycle.max(axis=0) > 0.0)
            contact = (cycle > 0.0) * area[side][loaded]
            total = contact.sum(axis=1, keepdims=True)
            gains += gain
            shares.append(share)
            means.append(contact / np.where(total > 0.0, total, 1.0))
        share, mean = np.hstack(shares), np.vstack(means)
        # Settling follows from the deepening, and the deepening from the settling.
        scale = 1.0 / (1.0 + creep * gains)
        matrix = np.eye(len(mean)) - mean @ ((scale * creep)[:, None] * share)
        settling = np.linalg.solve(matrix, mean @ (scale * lowering[side][loaded]))
        deeper = scale * (lowering[side][loaded] + creep * (share @ settling))
        change = share @ settling - gains * deeper
        relaxed[side][loaded] = np.maximum(pressure[side][loaded] + change, 0.0)
    return relaxed
