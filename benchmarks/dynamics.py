"""Time forward, inverse and quasi-static cycles of the built-in gait against their targets.

`python -m benchmarks.dynamics` writes results/benchmarks/dynamics.csv: of each stage the median and
the least duration of some runs on one thread, and the target.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.timing import durations
from kneewear import default_study
from kneewear.activity.load import GRAVITY
from kneewear.activity.sources import build_activity
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactPair
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.table import tabulate_surface
from kneewear.io.documents import save_table
from kneewear.motion.cases import moving_body
from kneewear.motion.cycle import contact_histories, evaluate_cycle
from kneewear.motion.forward import Integrator, forward_solution, solve_forward
from kneewear.motion.quasi_static import solve_quasi_static

RUNS = 7
THICKNESS = 10.0
BODY_MASS = 75.0


def main() -> pd.DataFrame:
    """Time all stages and write the table."""
    study = default_study()
    settings = study.simulation
    implant, _ = build_implant(study.implant)
    condyles = implant.femoral
    tables = {
        s: tabulate_surface(c, study.table.u_points, study.table.v_points)
        for s, c in condyles.items()
    }
    distances = {
        s: build_distance_table(c, 1e-3 * study.table.distance_error_um)
        for s, c in condyles.items()
    }
    activity = build_activity("gait", study.activities["gait"], settings.frames)
    weight = BODY_MASS * GRAVITY
    law = SmallStrain(confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio))

    fine_grid = build_grid(implant, 100, 75)

    def contact(grid: ElementGrid) -> tuple[list[ContactPair], list[ElasticLayer]]:
        thickness = grid.case_thickness(THICKNESS)
        pairs = [
            ContactPair(grid, n, condyles[side], tables[side], distance_table=distances[side])
            for n, side in enumerate(grid.sides)
        ]
        return pairs, [
            ElasticLayer(law, thickness[n].ravel()[p.index]) for n, p in enumerate(pairs)
        ]

    coarse, medium = contact(build_grid(implant, 36, 25)), contact(build_grid(implant, 50, 50))
    fine = contact(fine_grid)
    equilibria, _ = solve_quasi_static(*coarse, activity, weight, settings)
    body = moving_body(settings.forward)

    def forward(tolerance: float) -> Any:
        integrator = Integrator(tolerance, settings.forward.damping_ratio)
        return solve_forward(*coarse, body, equilibria.conditions, integrator)

    solution = forward_solution(forward(1e-5), equilibria)

    def inverse() -> Any:
        return contact_histories(fine[0], fine_grid, solution, evaluate_cycle(*fine, solution))

    stages: list[tuple[str, Callable[[], Any], float]] = [
        ("forward cycle, 2 x 900 elements, tolerance 1e-5", lambda: forward(1e-5), 0.3),
        ("forward cycle, 2 x 900 elements, tolerance 1e-4", lambda: forward(1e-4), float("nan")),
        ("inverse pass, 100 frames, 2 x 7500 elements", inverse, 1.0),
        (
            "quasi-static cycle, 100 frames, 2 x 2500 elements",
            lambda: solve_quasi_static(*medium, activity, weight, settings),
            0.1,
        ),
    ]
    rows = []
    for stage, run, target in stages:
        times = durations(run, RUNS)
        rows.append(
            {
                "stage": stage,
                "median_s": statistics.median(times),
                "least_s": min(times),
                "target_s": target,
            }
        )
    table = pd.DataFrame(rows)
    save_table(table, Path("results/benchmarks/dynamics.csv"))
    print(f"\nDynamics, one thread\n{table.to_string(index=False)}")
    return table


if __name__ == "__main__":
    main()
