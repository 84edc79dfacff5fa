"""Time the smooth distance table against the search on the surface.

`python -m benchmarks.tables` prints both. Absolute numbers belong to the machine; ratios
compare two ways to the same result in the same run.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.timing import seconds
from kneewear import default_study
from kneewear.activity.sources import build_activity
from kneewear.base.cases import Case
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactPair
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases


def time_distances() -> dict[str, float]:
    """Build, error, size and speed of the distance table compared with the search."""
    study = default_study()
    settings = study.simulation
    implant, _ = build_implant(study.implant)
    grid = build_grid(implant, study.grid.rows, study.grid.columns)
    nodes = {
        side: tabulate_surface(s, study.table.u_points, study.table.v_points)
        for side, s in implant.femoral.items()
    }
    wanted = 1e-3 * study.table.distance_error_um
    build_distance_table(implant.femoral["medial"], 1e-2)  # compiles
    start = time.perf_counter()
    tables = {side: build_distance_table(s, wanted) for side, s in implant.femoral.items()}
    print(f"\ndistance tables of both condyles: built in {time.perf_counter() - start:.1f} s")
    for side, table in tables.items():
        q = table.quality
        print(
            f"  {side:8s} {q.memory_mb:.2f} MB, nodes {q.spacing_turn_mm:.2f} x "
            f"{q.spacing_across_mm:.3f} x {q.spacing_out_mm:.2f} mm; "
            f"error {q.max_error_um:.3f} um, "
            f"normal {q.smooth_normal_error_deg:.4f} deg where smooth"
        )
    activity = build_activity("gait", study.activities["gait"], settings.frames)
    case = Case("10mm_75kg", 10.0, 75.0)

    def cycle(source: str) -> Any:
        chosen = settings.model_copy(update={"distance": source, "analysis": "quasi_static"})
        knee = KneeModel(implant, grid, nodes, tables)
        return simulate_cases(knee, activity, [case], chosen)

    history = cycle("exact")
    frame = int(np.argmax(history["load"].values[0]))
    rotation, position = (
        body_three_123(history.rotation.values[0, frame]),
        history.translation.values[0, frame],
    )
    modulus = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio)
    condyle, nearest = implant.femoral["medial"], nodes["medial"]
    exact = ContactPair(grid, 0, condyle, nearest)
    smooth = ContactPair(grid, 0, condyle, nearest, distance_table=tables["medial"])
    layer = ElasticLayer(SmallStrain(modulus), grid.thickness[0].ravel()[exact.index])

    costs = {}
    for source, contact in (("search", exact), ("table", smooth)):

        def evaluate_twice(pair: ContactPair = contact) -> None:
            """Two poses in turn, for the same one again costs nothing."""
            for lower in (0.0, 1e-3):
                pair.evaluate(rotation, position - [0.0, lower, 0.0], layer)

        costs[f"contact evaluation, medial, by {source}, us"] = 0.5e6 * seconds(evaluate_twice, 100)
    for source in ("exact", "table"):
        cycled = 1e6 * seconds(lambda s=source: cycle(s), 3)
        costs[f"a cycle of {settings.frames} frames, distance: {source}, us"] = cycled
    print(pd.Series(costs).to_string(float_format=lambda value: f"{value:12.4f}"))
    other = cycle("table")
    force = (
        np.abs(other.force.values - history.force.values).max() / np.abs(history.force.values).max()
    )
    shift = 1e3 * np.abs(other.translation.values - history.translation.values).max()
    print(
        f"largest difference over the cycle: {force:.2g} of the peak force, {shift:.2g} um of pose"
    )
    return costs


def main() -> dict[str, Any]:
    """Measure and print both."""
    return {"distances": time_distances()}


if __name__ == "__main__":
    main()
