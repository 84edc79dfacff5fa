"""Time the contact engine: distances, whole evaluations, scaling, and the limits of the machine.

`python -m benchmarks.evaluation` (part of `make benchmark`) prints tables. One process, medians,
and one thread where none are counted.
The surface pair is that of the default study, and poses step through its gait cycle in 100 steps,
so that no result can be used again. OpenCASCADE, where the extra `cad` is installed, gets the same
surface and points in the same run (`benchmarks.distance`); the other programs have their own bodies
(`benchmarks.peers`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numba import njit
from scipy.spatial.transform import Rotation

from benchmarks.distance import opencascade_times
from benchmarks.timing import seconds
from kneewear import default_study
from kneewear.activity.sources import build_activity
from kneewear.base.cases import Case
from kneewear.contact._distance_kernels import project_near
from kneewear.contact._force_kernels import RESULT
from kneewear.contact._kernels import evaluate_pairs
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.geometry._distance_kernels import look_up_distances, look_up_projections
from kneewear.geometry._kernels import project
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import tabulate_surface
from kneewear.io.cad import cad_is_installed
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases

COARSE = 30, 30
GRIDS = ((15, 15), (30, 30), (60, 45), (100, 75), (200, 150))
SEARCHES = ("bounds", "breadth_first", "all")
POSES = 100
REPEATS = 15
NEAR = 0.1  # mm between a warm start and the projection
QUERIES_OPENCASCADE = 200


class Knee:
    """The default implant, its distance tables, and the poses of its gait cycle."""

    def __init__(self) -> None:
        study = default_study()
        self.settings = study.simulation
        self.implant: Implant = build_implant(study.implant)[0]
        self.nodes = {
            side: tabulate_surface(surface, study.table.u_points, study.table.v_points)
            for side, surface in self.implant.femoral.items()
        }
        wanted = 1e-3 * study.table.distance_error_um
        self.tables = {
            side: build_distance_table(surface, wanted)
            for side, surface in self.implant.femoral.items()
        }
        self.activity = build_activity("gait", study.activities["gait"], POSES)
        self.case = Case("10mm_75kg", 10.0, 75.0)
        history = self.cycle(self.grid((50, 50)), "exact")
        self.poses = [
            (body_three_123(angles), position)
            for angles, position in zip(
                history.rotation.values[0], history.translation.values[0], strict=True
            )
        ]

    def grid(self, cells: tuple[int, int]) -> ElementGrid:
        """Elements of both sides, rows x columns each."""
        return build_grid(self.implant, *cells)

    def cycle(self, grid: ElementGrid, distance: str) -> Any:
        """A quasi-static cycle of one case."""
        settings = self.settings.model_copy(update={"distance": distance})
        knee = KneeModel(self.implant, grid, self.nodes, self.tables)
        return simulate_cases(knee, self.activity, [self.case], settings)

    def pairs(self, grid: ElementGrid, source: str, **choices: Any) -> dict[str, ContactPair]:
        """Both sides, with distances from the table or exact."""
        return {
            side: ContactPair(
                grid,
                n,
                surface,
                self.nodes[side],
                distance_table=self.tables[side] if source == "table" else None,
                **choices,
            )
            for n, (side, surface) in enumerate(self.implant.femoral.items())
        }

    def layers(
        self, grid: ElementGrid, pairs: Mapping[str, ContactPair]
    ) -> dict[str, ElasticLayer]:
        """Layers of the case."""
        law = SmallStrain(
            confined_modulus(self.settings.youngs_modulus_mpa, self.settings.poisson_ratio)
        )
        thickness = grid.case_thickness(self.case.thickness)
        return {
            side: ElasticLayer(law, thickness[n].ravel()[pair.index])
            for n, (side, pair) in enumerate(pairs.items())
        }

    def model(
        self, cells: tuple[int, int], source: str, threads: int = 1, **choices: Any
    ) -> ContactModel:
        """Both sides, ready for evaluation."""
        grid = self.grid(cells)
        pairs = self.pairs(grid, source, **choices)
        return ContactModel(pairs, self.layers(grid, pairs), threads=threads)


@njit
def _project_all(patch: Any, points: Any, u: Any, v: Any, distance: Any) -> None:
    """The engine's projection, from given starts."""
    projection, work = np.empty(10), np.empty((6, 4))
    for n in range(distance.size):
        point = (points[n, 0], points[n, 1], points[n, 2])
        project(patch, point, u[n], v[n], projection, work)
        distance[n] = projection[0]


@njit
def _project_from_map(pair: Any, points: Any, distance: Any) -> None:
    """The engine's projection, from the starts of its map."""
    patch, voxels = pair.patch, pair.voxels
    projection, work = np.empty(10), np.empty((6, 4))
    for n in range(distance.size):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        voxel = int((x - voxels.origin_x) / voxels.size) * voxels.count_y
        voxel = (voxel + int((y - voxels.origin_y) / voxels.size)) * voxels.count_z
        voxel += int((z - voxels.origin_z) / voxels.size)
        project_near(patch, voxels, voxel, 0, (x, y, z), projection, work)
        distance[n] = projection[0]


def distance_costs(knee: Knee) -> dict[str, float]:
    """Time an element of every way to its distance, us, on elements in and near contact."""
    grid = knee.grid((100, 75))
    pair = knee.pairs(grid, "exact")["medial"]
    condyle, table = knee.implant.femoral["medial"], knee.tables["medial"]
    rotation, position = knee.poses[int(np.argmax(knee.activity.load))]
    points = np.ascontiguousarray((pair.centre - position) @ rotation)
    near = np.abs(condyle.closest_points(points)[2]) < 0.1
    points = np.ascontiguousarray(points[near])
    count = len(points)
    _, _, exact, normal, _ = condyle.closest_points(points)
    *start, _, _, _ = condyle.closest_points(points + [NEAR, 0.0, 0.0])
    rows = np.ascontiguousarray(points.T)
    projections, room, state = (
        np.empty((10, count)),
        np.empty((4, count)),
        np.empty(count, dtype=np.int64),
    )
    distance = np.empty(count)
    prepared = pair.prepare(knee.layers(grid, {"medial": pair})["medial"])
    calls: dict[str, Callable[[], None]] = {
        "distance_table_us": lambda: look_up_distances(
            table.arrays, rows, 0, count, room, state, projections
        ),
        "distance_table_with_derivatives_us": lambda: look_up_projections(
            table.arrays, rows, 0, count, room, state, projections
        ),
        "exact_warm_started_us": lambda: _project_all(condyle.arrays, points, *start, distance),
        "exact_from_map_us": lambda: _project_from_map(prepared.record, points, distance),
        "exact_cold_us": lambda: condyle.closest_points(points),
        "ray_firing_us": lambda: condyle.ray_hits(points, -normal),
    }
    costs = {name: 1e6 * seconds(call) / count for name, call in calls.items()}
    costs["elements"] = count
    costs["distance_table_max_error_um"] = 1e3 * float(np.abs(projections[0] - exact).max())
    _project_all(condyle.arrays, points, *start, distance)
    costs["exact_max_difference_um"] = 1e3 * float(np.abs(distance - exact).max())
    if cad_is_installed():
        some = slice(0, QUERIES_OPENCASCADE)
        theirs = opencascade_times([condyle], points[some], normal[some], condyle)
        warm = theirs["opencascade_minimum_distance_warm_us"]
        costs |= theirs
        costs["times_faster_exact"] = warm / costs["exact_warm_started_us"]
        costs["times_faster_table"] = warm / costs["distance_table_us"]
    return costs


def evaluation_costs(knee: Knee) -> pd.DataFrame:
    """Time of a whole evaluation of both sides on 30 x 30 elements, by source and search."""
    rows = []
    for source in ("table", "exact"):
        for search in SEARCHES:
            model = knee.model(COARSE, source, search=search)
            rows.append(
                {
                    "distance": source,
                    "search": search,
                    **time_cycle(model, knee.poses),
                    "compiled_us": compiled_cycle(model, knee.poses),
                }
            )
    return pd.DataFrame(rows)


def time_cycle(model: ContactModel, poses: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """Median over the poses of a cycle, each pose's time the median over cycles."""
    times = np.empty((REPEATS + 1, len(poses)))
    for repeat in range(REPEATS + 1):
        for number, pose in enumerate(poses):
            start = time.perf_counter()
            model.evaluate(*pose)
            times[repeat, number] = time.perf_counter() - start
    parts = [part for pose in poses for part in model.evaluate(*pose).values()]
    each = 1e6 * np.median(times[1:], axis=0)
    return {
        "evaluation_us": float(np.median(each)),
        "fastest_pose_us": float(each.min()),
        "slowest_pose_us": float(each.max()),
        "active_elements": sum(part.active_elements for part in parts) / len(poses),
        "evaluated_elements": sum(part.evaluated_elements for part in parts) / len(poses),
        "elements": float(sum(work.normal_force.size for work in model.work)),
    }


@njit
def _run_cycle(model: Any, rotations: Any, translations: Any, results: Any) -> None:
    velocity = np.zeros(6)
    for number in range(rotations.shape[0]):
        evaluate_pairs(model, rotations[number], translations[number], velocity, bool(0), results)


def compiled_cycle(model: ContactModel, poses: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Mean time of an evaluation inside a compiled loop, us."""
    rotations, translations = (np.array(part) for part in zip(*poses, strict=True))
    results = np.empty(len(model.work), dtype=RESULT)
    arguments = model.record, rotations, translations, results
    return 1e6 * seconds(lambda: _run_cycle(*arguments)) / len(poses)


def scaling(knee: Knee) -> pd.DataFrame:
    """Time of a whole evaluation by number of elements and of threads."""
    rows = []
    for cells in GRIDS:
        for source, search in (("table", "bounds"), ("exact", "bounds"), ("exact", "all")):
            for threads in (1, 2):
                model = knee.model(cells, source, threads, search=search)
                found = time_cycle(model, knee.poses[::10])
                rows.append(
                    {
                        "elements": found["elements"],
                        "distance": source,
                        "search": search,
                        "threads": threads,
                        "evaluation_us": found["evaluation_us"],
                        "active_elements": found["active_elements"],
                    }
                )
    return pd.DataFrame(rows)


def cycle_costs(knee: Knee) -> dict[str, float]:
    """Time of quasi-static cycles and of stored motions, s."""
    coarse, fine = knee.grid((50, 50)), knee.grid((100, 75))
    costs = {
        f"quasi_static_{POSES}_frames_2x2500_{source}_s": seconds(
            lambda s=source: knee.cycle(coarse, s), 5
        )
        for source in ("exact", "table")
    }
    for source in ("exact", "table"):
        pairs = knee.pairs(fine, source)
        model = ContactModel(pairs, knee.layers(fine, pairs))

        def play(model: ContactModel = model) -> None:
            for pose in knee.poses:
                model.evaluate(*pose)

        costs[f"stored_motion_{POSES}_frames_2x7500_{source}_s"] = seconds(play, 5)
    return costs


# A condyle pressed in, pushed out over the edge of the insert, lifted and brought back: how far in
# front of the edge, how high over first touch and how far to the side, mm, and turns about x, rad.
LOOP = np.array(
    [
        [-10.0, 0.1, 0.0, 0.0],
        [-10.0, -0.2, 0.0, 0.0],
        [2.0, -0.2, 0.5, 0.0],
        [2.0, 0.6, 0.5, 0.005],
        [-10.0, 0.1, 0.0, 0.0],
    ]
)


def first_touch(pair: ContactPair, layer: ElasticLayer, x: float) -> float:
    """Height of the upright moving body at its first touch, mm."""
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        touches = pair.evaluate(np.eye(3), [x, middle, 0.0], layer).wrench.any()
        low, high = (middle, high) if touches else (low, middle)
    return high


def loop_work(knee: Knee, steps: int = 400) -> dict[str, float]:
    """Work of the contact forces round a loop over the edge, % of the work exchanged."""
    work = {}
    grid = knee.grid((40, 30))
    edge = float(grid.centre[0][grid.valid[0]][:, 0].max())
    for direction in ("minimum_distance", "mid_surface", "element_normal"):
        pair = knee.pairs(grid, "exact", direction=direction)["medial"]
        layer = knee.layers(grid, {"medial": pair})["medial"]
        loop = LOOP + [edge, first_touch(pair, layer, edge + LOOP[0, 0]), 0.0, 0.0]
        net = exchanged = 0.0
        for begin, end in pairwise(loop):
            change = (end - begin) / steps
            for number in range(steps):
                at = begin + (number + 0.5) * change
                rotation = Rotation.from_rotvec([at[3], 0.0, 0.0]).as_matrix()
                wrench = pair.evaluate(rotation, at[:3], layer).wrench
                done = wrench[:3] @ change[:3] + wrench[3] * change[3]
                net, exchanged = net + done, exchanged + abs(done)
        work[f"{direction}_percent"] = 100.0 * abs(net) / exchanged
        work[f"{direction}_exchanged_n_mm"] = exchanged
    return work


@njit(fastmath=True)
def _triad(a: Any, b: Any, c: Any) -> None:
    for n in range(a.size):
        a[n] = b[n] + 1.5 * c[n]


@njit(fastmath={"contract"})
def _polynomials(values: Any, rounds: int) -> float:
    """Sixteen fused steps a value and round."""
    for _ in range(rounds):
        for n in range(values.size):
            x = values[n]
            y = 0.1
            for _step in range(16):
                y = y * x + 0.3
            values[n] = 1e-3 * y
    return values[0]


def machine_limits() -> dict[str, float]:
    """Limits of one thread of this machine: bandwidth, GB/s, and GFLOP/s."""
    limits = {}
    for name, size in (("memory", 8_000_000), ("second_level_cache", 20_000)):
        a, b, c = np.zeros(size), np.ones(size), np.ones(size)
        rounds = max(1, 2_000_000 // size)

        def run(a: Any = a, b: Any = b, c: Any = c, rounds: int = rounds) -> None:
            for _ in range(rounds):
                _triad(a, b, c)

        limits[f"{name}_gb_per_s"] = 24.0 * size * rounds / seconds(run) / 1e9
    values, rounds = np.full(1024, 0.5), 200
    duration = seconds(lambda: _polynomials(values, rounds))
    limits["gflop_per_s"] = 32.0 * values.size * rounds / duration / 1e9
    return limits


def main() -> dict[str, dict[str, float] | pd.DataFrame]:
    """Measure and print everything."""
    knee = Knee()
    titles = {
        "distances": "A distance an element, medial condyle",
        "evaluations": f"A whole evaluation, 2 x {COARSE[0]} x {COARSE[1]} elements, {POSES} poses",
        "scaling": "Scaling with elements and threads, median of 10 poses",
        "cycles": "Cycles",
        "loop_work": "Work left round a loop over the insert's edge",
        "machine_limits": "Limits of the machine, one thread",
    }
    measured: dict[str, dict[str, float] | pd.DataFrame] = {
        "distances": distance_costs(knee),
        "evaluations": evaluation_costs(knee),
        "scaling": scaling(knee),
        "cycles": cycle_costs(knee),
        "loop_work": loop_work(knee),
        "machine_limits": machine_limits(),
    }
    for name, content in measured.items():
        table = content if isinstance(content, pd.DataFrame) else pd.Series(content).to_frame("")
        print(f"\n{titles[name]}\n{table.to_string(float_format=lambda value: f'{value:.4g}')}")
    return measured


if __name__ == "__main__":
    main()
