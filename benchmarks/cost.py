"""Cost of a study over the number of cases, of elements and of frames.

`python -m benchmarks.cost` simulates the built-in gait by forward dynamics and by equilibria, and
writes results/benchmarks/cost.csv and cost.svg. Seconds are those of the processor, so that what
else the machine does hardly counts. It takes some ten minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pandas as pd

from kneewear import default_study
from kneewear.activity.sources import build_activity
from kneewear.base.cases import Case
from kneewear.evidence.verification.figures import draw_cost
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import tabulate_surface
from kneewear.io.documents import save_table
from kneewear.io.result_files import atomic_path
from kneewear.motion.cases import simulate_cases

FOLDER = Path("results/benchmarks")
CASES = (25, 100, 400)
GRIDS = ((40, 30), (70, 54), (100, 75), (160, 120), (240, 180))
FRAMES = (25, 50, 100, 200, 400)
BATCH = 5
ANALYSES = ("forward", "quasi_static")


def main() -> None:
    """Simulate, write the table and draw it."""
    cost = _Cost()
    settings = default_study().simulation
    usual = GRIDS[2], settings.frames
    cost.of("forward", BATCH, *usual)  # compiles
    rows = [
        {"analysis": analysis, "varied": varied, "number": number, "seconds": seconds}
        for analysis in ANALYSES
        for varied, number, seconds in (
            *(("cases", *row) for row in cost.of_cases(analysis, CASES, *usual)),
            *(("elements", 2 * g[0] * g[1], cost.of(analysis, 5, g, usual[1])) for g in GRIDS),
            *(("frames", n, cost.of(analysis, 5, usual[0], n)) for n in FRAMES),
        )
    ]
    table = pd.DataFrame(rows)
    save_table(table, FOLDER / "cost.csv")
    with atomic_path(FOLDER / "cost.svg") as path:
        draw_cost(table).savefig(path)
    print(table.to_string(index=False))


class _Cost:
    """The built-in implant and gait, and how long cases of them take."""

    def __init__(self) -> None:
        self.study = default_study()
        self.implant, _ = build_implant(self.study.implant)
        nodes = self.study.table.u_points, self.study.table.v_points
        error = 1e-3 * self.study.table.distance_error_um
        condyles = self.implant.femoral
        self.tables = {s: tabulate_surface(c, *nodes) for s, c in condyles.items()}
        self.distances = {s: build_distance_table(c, error) for s, c in condyles.items()}

    def of(self, analysis: str, cases: int, grid: tuple[int, int], frames: int) -> float:
        """Seconds of a number of cases."""
        ((_, seconds),) = self.of_cases(analysis, (cases,), grid, frames)
        return seconds

    def of_cases(
        self, analysis: str, counts: tuple[int, ...], grid: tuple[int, int], frames: int
    ) -> Iterator[tuple[int, float]]:
        """Numbers of cases and the seconds it took to get there, of one row of cases."""
        settings = self.study.simulation.model_copy(update={"analysis": analysis})
        coarse = self.study.coarse_grid
        knee = KneeModel(
            self.implant,
            build_grid(self.implant, *grid),
            self.tables,
            self.distances,
            build_grid(self.implant, coarse.rows, coarse.columns),
        )
        activity = build_activity("gait", self.study.activities["gait"], frames)
        designs = product(range(6, 14), range(50, 150, 2))
        cases = [Case(f"{h}mm_{m}kg", float(h), float(m)) for h, m in designs][: max(counts)]
        start = time.process_time()
        # In batches as a study has them, for pressures of all cases at once would fill the memory.
        for first in range(0, len(cases), BATCH):
            simulate_cases(knee, activity, cases[first : first + BATCH], settings)
            if first + BATCH in counts:
                yield first + BATCH, time.process_time() - start


if __name__ == "__main__":
    main()
