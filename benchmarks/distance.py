"""Minimum distance against ray firing on one and on several patches, after Table 2-1 of Bei (2003).

`make benchmark` writes `results/benchmarks/distance_methods.csv`, and `table_2_1.csv` with the
printed values and those of this code. A condyle is given as one dense patch, one sparse patch and
12 to 96 patches, each with as many lines as the dissertation's. Times are medians for one query,
those of this code with OpenCASCADE's (where the extra `cad` is installed) in the same run on the
same points. "Warm" starts from the parameters of a point 0.1 mm away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.multipatch import PatchSet
from benchmarks.timing import seconds
from kneewear import default_study
from kneewear.evidence.published.values import published_table
from kneewear.geometry import _kernels
from kneewear.geometry.fitting import patch_through
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.surface import Surface
from kneewear.io.cad import cad_is_installed
from kneewear.io.documents import save_table

# Name, patches along and across, lines of each patch along and across: those of Table 2-1.
GEOMETRIES = (
    ("one dense patch", (1, 1), (50, 50)),
    ("one sparse patch", (1, 1), (18, 14)),
    ("12 patches", (4, 3), (8, 8)),
    ("24 patches", (6, 4), (5, 5)),
    ("48 patches", (8, 6), (4, 4)),
    ("96 patches", (12, 8), (3, 3)),
)
FOLDER = Path("results/benchmarks")
QUERIES = 4000
QUERIES_OPENCASCADE = 200
# Deviation from the dense patch, and the times of both methods.
DEVIATIONS = {
    "max_mm": "largest deviation",
    "mean_mm": "mean deviation",
    "sd_mm": "standard deviation",
}
RATIOS = {
    "ray firing over minimum distance": "",
    "ray firing over minimum distance begun nearby": "_warm",
}
HEIGHT = 0.5  # mm over the surface, as elements near contact


def rebuilt(condyle: Surface, patches: tuple[int, int], lines: tuple[int, int]) -> list[Surface]:
    """Patches of few lines through a surface, cut along its parameter lines."""
    (u0, u1), (v0, v1) = condyle.domain
    cuts = np.linspace(u0, u1, patches[0] + 1), np.linspace(v0, v1, patches[1] + 1)
    return [
        patch_through(condyle.evaluate, (_knots(a, b, lines[0]), _knots(c, d, lines[1])))
        for a, b in pairwise(cuts[0])
        for c, d in pairwise(cuts[1])
    ]


def _knots(start: float, end: float, lines: int) -> np.ndarray:
    """Clamped cubic knots of so many control points; three lines still make one cubic span."""
    inner = np.linspace(start, end, max(lines, 4) - 2)
    return np.concatenate([[start] * 3, inner, [end] * 3])


def microseconds(function: Callable[[], Any], queries: int, repeats: int = 5) -> float:
    """Median time of one query."""
    return 1e6 * seconds(function, repeats) / queries


def measure(queries: int = QUERIES, queries_opencascade: int = QUERIES_OPENCASCADE) -> pd.DataFrame:
    """Time and deviation of every geometry."""
    implant, _ = build_implant(default_study().implant)
    dense = rebuilt(implant.femoral["medial"], (1, 1), (50, 50))[0]
    rng = np.random.default_rng(1)
    (u0, u1), (v0, v1) = dense.domain
    # Off the border, where a ray from a coarser patch may miss.
    u = u0 + (u1 - u0) * rng.uniform(0.05, 0.95, queries)
    v = v0 + (v1 - v0) * rng.uniform(0.05, 0.95, queries)
    base, normal = dense.evaluate(u, v), dense.normal(u, v)
    points = base + HEIGHT * normal
    rows = []
    for name, patches, lines in GEOMETRIES:
        surfaces = [dense] if lines == (50, 50) else rebuilt(dense, patches, lines)
        row: dict[str, Any] = {
            "geometry": name,
            "patches": len(surfaces),
            "lines_along": surfaces[0].control_points.shape[0],
            "lines_across": surfaces[0].control_points.shape[1],
        }
        body = surfaces[0] if len(surfaces) == 1 else PatchSet(tuple(surfaces))
        deviation = np.abs(body.closest_points(base)[-3])
        row |= {
            "max_mm": deviation.max(),
            "mean_mm": deviation.mean(),
            "sd_mm": deviation.std(),
            "minimum_distance_us": microseconds(lambda b=body: b.closest_points(points), queries),
            "minimum_distance_warm_us": _warm(body, points) if len(surfaces) == 1 else np.nan,
            "ray_firing_us": microseconds(lambda b=body: b.ray_hits(points, -normal), queries),
        }
        if cad_is_installed():
            some = slice(0, queries_opencascade)
            row |= opencascade_times(surfaces, points[some], normal[some], body)
        rows.append(row)
    return pd.DataFrame(rows)


def _warm(surface: Surface, points: np.ndarray) -> float:
    """Time of a search that starts next to its end."""
    u, v, *_ = surface.closest_points(points + [0.1, 0.0, 0.0])
    projections, status = np.empty((len(points), 10)), np.empty(len(points), dtype=np.int64)
    return microseconds(
        lambda: _kernels.project_many(
            surface.arrays, points, u.copy(), v.copy(), projections, status
        ),
        len(points),
    )


def opencascade_times(
    surfaces: Sequence[Surface], points: np.ndarray, normal: np.ndarray, body: Any
) -> dict[str, float]:
    """OpenCASCADE's times for the same, and how far its answers are from ours."""
    from OCP.BRepBuilderAPI import (  # noqa: PLC0415
        BRepBuilderAPI_MakeFace,
        BRepBuilderAPI_MakeVertex,
        BRepBuilderAPI_Sewing,
    )
    from OCP.BRepExtrema import BRepExtrema_DistShapeShape  # noqa: PLC0415
    from OCP.Extrema import Extrema_ExtPS, Extrema_GenLocateExtPS  # noqa: PLC0415
    from OCP.GeomAdaptor import GeomAdaptor_Surface  # noqa: PLC0415
    from OCP.gp import gp_Dir, gp_Lin, gp_Pnt  # noqa: PLC0415
    from OCP.IntCurvesFace import IntCurvesFace_ShapeIntersector  # noqa: PLC0415

    from kneewear.io.opencascade import bspline  # noqa: PLC0415

    positions = [gp_Pnt(*map(float, point)) for point in points]
    lines = [gp_Lin(p, gp_Dir(*map(float, -n))) for p, n in zip(positions, normal, strict=True)]
    sewing = BRepBuilderAPI_Sewing(1e-3)  # closes gaps at common borders, mm
    for surface in surfaces:
        sewing.Add(BRepBuilderAPI_MakeFace(bspline(surface), 1e-7).Face())
    sewing.Perform()
    shape = sewing.SewedShape()
    distances, ways = np.empty(len(points)), np.empty(len(points))
    result: dict[str, float] = {}
    if len(surfaces) == 1:
        adaptor = GeomAdaptor_Surface(bspline(surfaces[0]))
        search, local = Extrema_ExtPS(), Extrema_GenLocateExtPS(adaptor, 1e-9, 1e-9)
        (u0, u1), (v0, v1) = surfaces[0].domain
        search.Initialize(adaptor, u0, u1, v0, v1, 1e-9, 1e-9)
        start_u, start_v, *_ = surfaces[0].closest_points(points + [0.1, 0.0, 0.0])

        def nearest() -> None:
            for number, position in enumerate(positions):
                search.Perform(position)
                found = [search.SquareDistance(k + 1) for k in range(search.NbExt())]
                distances[number] = min(found) ** 0.5 if found else np.nan

        def warm() -> None:
            for position, u, v in zip(positions, start_u, start_v, strict=True):
                local.Perform(position, u, v)

        result["opencascade_minimum_distance_warm_us"] = microseconds(warm, len(points), 3)
    else:
        vertices = [BRepBuilderAPI_MakeVertex(position).Vertex() for position in positions]

        def nearest() -> None:
            for number, vertex in enumerate(vertices):
                distances[number] = BRepExtrema_DistShapeShape(vertex, shape).Value()

    rays = IntCurvesFace_ShapeIntersector()
    rays.Load(shape, 1e-7)

    def fire() -> None:
        for number, line in enumerate(lines):
            rays.PerformNearest(line, 0.0, 1e3)
            ways[number] = rays.WParameter(1) if rays.NbPnt() else np.nan

    result["opencascade_minimum_distance_us"] = microseconds(nearest, len(points), 3)
    result["opencascade_ray_firing_us"] = microseconds(fire, len(points), 3)
    ours, hits = np.abs(body.closest_points(points)[-3]), body.ray_hits(points, -normal)[-2]
    result["difference_distance_um"] = 1e3 * float(np.nanmax(np.abs(distances - ours)))
    result["difference_ray_um"] = 1e3 * float(np.nanmax(np.abs(ways - hits)))
    result["opencascade_unanswered"] = float(np.isnan(distances).sum() + np.isnan(ways).sum())
    return result


def compare_published(measured: pd.DataFrame) -> pd.DataFrame:
    """Table 2-1 with the printed values: times as ratios, because the number of queries is not.

    Parameters
    ----------
    measured : DataFrame
        Table of :func:`measure`.

    Returns
    -------
    DataFrame
        One row a geometry and quantity: geometry, quantity, unit, here, opencascade (NaN where it
        was not timed), published, difference (here less published).
    """
    printed = published_table("table_2_1_distance_methods").set_index("geometry")
    rows = []
    for geometry, own in measured.set_index("geometry").iterrows():
        published = printed.loc[geometry]
        for name, text in DEVIATIONS.items():
            rows.append((geometry, text, "um", 1e3 * own[name], np.nan, 1e3 * published[name]))
        for text, ending in RATIOS.items():
            ratios = [
                own.get(f"{tool}ray_firing_us", np.nan)
                / own.get(f"{tool}minimum_distance{ending}_us", np.nan)
                for tool in ("", "opencascade_")
            ]
            rows.append((geometry, text, "1", *ratios, published["ratio"]))
    columns = ["geometry", "quantity", "unit", "here", "opencascade", "published"]
    table = pd.DataFrame(rows, columns=columns)
    # The dense patch does not deviate from itself, and several patches have no start nearby.
    table = table.dropna(subset=["here", "published"])
    return table.assign(difference=table["here"] - table["published"])


def main() -> pd.DataFrame:
    """Measure, print and write the tables."""
    table = measure()
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_table(table, FOLDER / "distance_methods.csv")
    compared = compare_published(table)
    save_table(compared, FOLDER / "table_2_1.csv")
    print(f"\nMinimum distance and ray firing (us a query), written to {FOLDER}")
    print(table.drop(columns=["lines_along", "lines_across"]).round(4).to_string(index=False))
    print("\nBeside Table 2-1 of Bei (2003)")
    print(compared.round(2).to_string(index=False))
    return table


if __name__ == "__main__":
    main()
