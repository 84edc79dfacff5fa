"""Compiled energy of the friction of an insert that moves on its tray."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from kneewear.base.compilation import compiled


@compiled
def dissipate(
    most: NDArray,
    way: NDArray,
    arm: NDArray,
    sense: NDArray,
    step: NDArray,
    transition: float,
    slope: NDArray,
    curve: NDArray,
) -> float:
    """Friction times sliding of the elements of both faces, N mm, after a step of the insert.

    An element with the largest friction `most` (n,), N, slides by `way` (n, 3) along x, z and
    upwards, mm, and by `sense` (n,) times the `step` (3,) along x and z and about the pivot, mm and
    rad, with its distance `arm` (n, 2) along x and z. `slope` (3,) and `curve` (3, 3) become the
    derivatives with the step.
    """
    total = 0.0
    slope[:] = 0.0
    curve[:] = 0.0
    for n in range(most.size):
        x = way[n, 0] + sense[n] * (step[0] + arm[n, 1] * step[2])
        z = way[n, 1] + sense[n] * (step[1] - arm[n, 0] * step[2])
        length = math.sqrt(x * x + z * z + way[n, 2] * way[n, 2] + transition * transition)
        total += most[n] * length
        stiff = most[n] / length
        x /= length
        z /= length
        turned = arm[n, 1] * x - arm[n, 0] * z
        slope[0] += sense[n] * most[n] * x
        slope[1] += sense[n] * most[n] * z
        slope[2] += sense[n] * most[n] * turned
        curve[0, 0] += stiff * (1.0 - x * x)
        curve[1, 1] += stiff * (1.0 - z * z)
        curve[0, 1] -= stiff * x * z
        curve[0, 2] += stiff * (arm[n, 1] - x * turned)
        curve[1, 2] -= stiff * (arm[n, 0] + z * turned)
        square = arm[n, 0] * arm[n, 0] + arm[n, 1] * arm[n, 1]
        curve[2, 2] += stiff * (square - turned * turned)
    for a in range(1, 3):
        for b in range(a):
            curve[a, b] = curve[b, a]
    return total
