"""The layer beside the finite elements of scikit-fem: errors of a sphere and of a frame of a knee.

`python -m benchmarks.outside` (part of `make benchmark`) prints the largest errors of both checks
(`benchmarks.outside_sphere`, `benchmarks.outside_frame`), elastic and yielding. Nothing is measured
where scikit-fem is not installed (`pip install -e '.[peers]'`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks import outside_frame, outside_sphere, peers
from kneewear.contact.influence import flat_influence
from kneewear.contact.material import Elastic, Hardening
from kneewear.contact.slabs import SlabWindow
from kneewear.contact.yielding import PlasticSlabs, YieldingLayer

CELL = 0.5  # mm
HALF = 5.5  # mm, half the width of the elements
BORDERS = (0.0, 0.25, 0.6, 1.1, 1.8, 2.8, 4.3, 6.5)
MOVES = 3


def main() -> dict[str, float]:
    """Measure and print the errors, %."""
    if not peers.installed("skfem"):
        return {}
    errors = sphere_errors() | frame_errors()
    print("\nLayer beside scikit-fem, errors in %\n" + pd.Series(errors).round(2).to_string())
    return errors


def sphere_errors() -> dict[str, float]:
    """Largest errors of peak pressure and sinking of a sphere on a plate, %."""
    peaks, sinkings = [], []
    for load, steps in outside_sphere.CASES:
        elements = outside_sphere.press_sphere(load, steps)
        peak, sinking = press_layer(load, steps)
        peaks.append(abs(peak / elements["peak_pressure_mpa"] - 1.0))
        sinkings.append(abs(sinking / elements["sinking_mm"] - 1.0))
    return {
        "sphere_peak_percent": 100.0 * max(peaks),
        "sphere_sinking_percent": 100.0 * max(sinkings),
    }


def press_layer(load: float, steps: int | None) -> tuple[float, float]:
    """Peak pressure, MPa, and sinking, mm, of the sphere on the layer; elastic without steps."""
    material = Elastic(outside_sphere.YOUNG, outside_sphere.POISSON)
    stress = (1.0 if steps else 1e6) * outside_sphere.YIELD_STRESS
    curve = Hardening(tuple(outside_sphere.PLASTIC_STRAIN), tuple(stress))
    count, thickness = int(2.0 * HALF / CELL), outside_sphere.HEIGHT
    place = (np.arange(count) - 0.5 * (count - 1)) * CELL
    radius = np.hypot(place[:, None], place)
    cells = np.argwhere(radius < HALF)
    shape, cell = (count, count), (CELL, CELL)
    influence = flat_influence(
        shape, cell, thickness, material.youngs_modulus, material.poisson_ratio
    )
    window = SlabWindow(shape, cell, thickness, material, BORDERS)
    layer = YieldingLayer(PlasticSlabs(window, curve), influence.matrix(*cells.T), cells)
    away, height = radius[tuple(cells.T)], 0.0
    for _ in range(MOVES):
        middle = outside_sphere.RADIUS + height
        distance = np.hypot(away, middle)
        pressed = layer.press(
            distance - outside_sphere.RADIUS,
            middle / distance,
            layer.fresh(),
            load=load,
            steps=steps or 1,
        )
        height += pressed.lift
    return float(pressed.force.max()) / CELL**2, -height


def frame_errors() -> dict[str, float]:
    """Largest mean gap that the layer's pressures leave in a frame of a knee, % of the overlap."""
    side, knee, thickness = outside_frame.read_frame()
    compared = [
        outside_frame.compare(side, knee, thickness, steps)
        for steps in (None, outside_frame.LOAD_STEPS)
    ]
    gaps = [abs(row["gap_mean_um"]) / row["overlap_um"] for row in compared]
    return {"frame_gap_percent": 100.0 * max(gaps)}


if __name__ == "__main__":
    main()
