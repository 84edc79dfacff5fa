"""Time the lookup tables: a storage window against the whole file, distances against search.

`python -m benchmarks.tables` prints the window sizes of Machado's Table 6.3 and the smooth distance
table compared with the search on the surface. Absolute numbers belong to the machine; ratios
compare two ways to the same result in the same run.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.sample_blocks import open_window, save_samples
from benchmarks.timing import seconds
from kneewear import default_study
from kneewear.activity.sources import build_activity
from kneewear.contact.foundation import Layer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactPair
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import SurfaceTable, frame_samples, tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.settings.cases import Case
from kneewear.simulation.cases import simulate_cases

# Table 6.3: blocks of the sphere's and of the plane's window, along u and v, and the printed ratio.
TABLE_6_3 = (
    ((9, 9), (37, 37), 100.00),
    ((3, 3), (37, 37), 98.34),
    ((9, 9), (3, 23), 93.02),
    ((3, 3), (3, 23), 91.20),
    ((3, 3), (3, 9), 89.93),
)
# Four impacts of a ball that flies along the plane's long side, and the look-ups in each.
IMPACTS = (0.40, 0.46, 0.52, 0.58)
LOOKUPS = 200


def ball_and_plane() -> tuple[SurfaceTable, SurfaceTable]:
    """The sphere of 998001 and the plane of 110889 points of section 6.5.1."""
    u, v = np.linspace(-1.5, 1.5, 999), np.linspace(-np.pi, np.pi, 999)
    a, b = u[:, None], v[None, :]
    out = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a) + 0 * b], axis=-1)
    up = np.stack([-np.sin(a) * np.cos(b), -np.sin(a) * np.sin(b), np.cos(a) + 0 * b], axis=-1)
    round_ = np.stack([-np.sin(b) + 0 * a, np.cos(b) + 0 * a, 0 * a * b], axis=-1)
    sphere = frame_samples(u, v, 20.0 * out, up, -round_)
    x, y = np.linspace(0.0, 200.0, 333), np.linspace(0.0, 100.0, 333)
    point = np.stack([*np.meshgrid(x, y, indexing="ij"), np.zeros((333, 333))], axis=-1)
    axes = np.broadcast_to(np.eye(3)[:2, None, None], (2, 333, 333, 3))
    return sphere, frame_samples(x, y, point, axes[0], axes[1])


def time_windows() -> list[dict[str, float]]:
    """Time and reading of four impacts for the window sizes of Table 6.3."""
    rows = []
    sphere, plane = ball_and_plane()
    print("storage window (Machado, Table 6.3): four impacts, file read each time")
    print("case  sphere  plane    ms    ratio  printed  updates  values stored")
    with tempfile.TemporaryDirectory() as folder:
        ball, ground = Path(folder, "sphere.nc"), Path(folder, "plane.nc")
        save_samples({"ball": sphere}, ball, (111, 111))
        save_samples({"ground": plane}, ground, (9, 9))
        seen: dict[str, int] = {}

        def bounce(on_ball: tuple[int, int], on_ground: tuple[int, int]) -> None:
            with (
                open_window(ball, "ball", on_ball) as upper,
                open_window(ground, "ground", on_ground) as lower,
            ):
                for part in IMPACTS:
                    for n in range(LOOKUPS):
                        upper.interpolate(0.0, 0.5)
                        lower.interpolate(50.0, 100.0 * (part + 1e-5 * n))
                seen["updates"] = upper.updates + lower.updates
                seen["stored"] = upper.rows.size + lower.rows.size

        whole = 0.0
        for case, (on_ball, on_ground, printed) in enumerate(TABLE_6_3, start=1):
            duration = 1e3 * seconds(lambda b=on_ball, g=on_ground: bounce(b, g), 3)
            whole = whole or duration
            rows.append({"case": case, "duration_ms": duration, "updates": seen["updates"]})
            print(
                f"{case:4d}  {on_ball[0]}x{on_ball[1]}    {on_ground[0]:2d}x{on_ground[1]:<2d} "
                f"{duration:7.1f} {100 * duration / whole:7.1f}% {printed:7.2f}% "
                f"{seen['updates']:7d} {seen['stored']:12d}"
            )
    return rows


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
    frame = int(np.argmax(history.load[0]))
    rotation, position = body_three_123(history.rotation[0, frame]), history.translation[0, frame]
    modulus = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio)
    condyle, nearest = implant.femoral["medial"], nodes["medial"]
    exact = ContactPair(grid, 0, condyle, nearest)
    smooth = ContactPair(grid, 0, condyle, nearest, distance_table=tables["medial"])
    layer = Layer(SmallStrain(modulus), grid.thickness[0].ravel()[exact.index])

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
    force = np.abs(other.force - history.force).max() / np.abs(history.force).max()
    shift = 1e3 * np.abs(other.translation - history.translation).max()
    print(
        f"largest difference over the cycle: {force:.2g} of the peak force, {shift:.2g} um of pose"
    )
    return costs


def main() -> dict[str, Any]:
    """Measure and print both."""
    return {"windows": time_windows(), "distances": time_distances()}


if __name__ == "__main__":
    main()
