"""Time the stages of the default study; one contact evaluation also against a SciPy search.

`python -m benchmarks.stages` (part of `make benchmark`) prints medians in milliseconds. Absolute
numbers belong to the machine; the ratio compares two ways of finding the same penetrations in the
same run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.timing import seconds
from kneewear import default_study
from kneewear.activity.sources import build_activity
from kneewear.base.cases import Case
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactPair
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases


def penetration_by_scipy(condyle: Surface, points: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Depth of points inside the condyle by SciPy's bounded minimiser, started as close as ours."""
    bounds = condyle.domain

    def distance(parameters: np.ndarray, point: np.ndarray) -> float:
        return float(np.sum((condyle.evaluate(*parameters) - point) ** 2))

    found = [
        minimize(distance, guess, args=(point,), bounds=bounds, tol=1e-12)
        for point, guess in zip(points, start, strict=True)
    ]
    return np.sqrt([result.fun for result in found])


def main() -> dict[str, float]:
    """Print and return the timings, ms."""
    study = default_study()
    implant, _ = build_implant(study.implant)
    grid_settings = study.grid
    exact = {"analysis": "quasi_static", "distance": "exact"}
    settings = study.simulation.model_copy(update=exact)
    size = study.table.u_points, study.table.v_points
    grid = build_grid(implant, grid_settings.rows, grid_settings.columns)
    tables = {side: tabulate_surface(s, *size) for side, s in implant.femoral.items()}
    activity = build_activity("gait", study.activities["gait"], settings.frames)
    case = Case("10mm_75kg", 10.0, 75.0)

    def cycle() -> Any:
        return simulate_cases(KneeModel(implant, grid, tables), activity, [case], settings)

    history = cycle()
    frame = int(np.argmax(history["load"].values[0]))
    rotation = body_three_123(history.rotation.values[0, frame])
    translation = history.translation.values[0, frame]
    contact = ContactPair(grid, 0, implant.femoral["medial"], tables["medial"])
    modulus = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio)
    layer = ElasticLayer(SmallStrain(modulus), grid.thickness[0].ravel()[contact.index])

    def evaluate_twice() -> None:
        """Two poses in turn, for the same one again costs nothing."""
        for lower in (0.0, 1e-3):
            contact.evaluate(rotation, translation - [0.0, lower, 0.0], layer)

    rows = [
        (
            "implant, element grid and lookup tables",
            1e3
            * seconds(
                lambda: (
                    build_grid(build_implant(study.implant)[0], 100, 75),
                    [tabulate_surface(s, *size) for s in implant.femoral.values()],
                ),
                3,
            ),
        ),
        (
            f"one contact evaluation, medial, {history.active_elements.values[0, frame, 0]} loaded",
            0.5e3 * seconds(evaluate_twice, 200),
        ),
        (f"a cycle of {settings.frames} quasi-static frames, one case", 1e3 * seconds(cycle, 3)),
    ]
    for name, milliseconds in rows:
        print(f"{name:60s} {milliseconds:10.3f} ms")

    loaded = np.flatnonzero(history.pressure.values[0, frame, 0].ravel()[contact.index] > 0)[:40]
    points = (contact.centre[loaded] - translation) @ rotation
    condyle = implant.femoral["medial"]
    u, v, distance, *_ = condyle.closest_points(points)
    near = np.stack([u, v], axis=-1) + 1e-3 * np.ptp(condyle.domain, axis=1)
    ours = 1e3 * seconds(lambda: condyle.closest_points(points), 20)
    theirs = 1e3 * seconds(lambda: penetration_by_scipy(condyle, points, near), 1)
    error = np.abs(penetration_by_scipy(condyle, points, near) + distance).max()
    print(
        f"{points.shape[0]} closest points: {ours:.2f} ms, scipy.optimize.minimize {theirs:.0f} ms "
        f"(ratio {theirs / ours:.0f}); largest difference {1e3 * error:.3g} um"
    )
    return {name: milliseconds for name, milliseconds in rows} | {
        f"{points.shape[0]} closest points": ours,
        f"{points.shape[0]} closest points by scipy.optimize.minimize": theirs,
    }


if __name__ == "__main__":
    main()
