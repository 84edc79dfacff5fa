"""Unworn inserts of many designs without a reference: volumes over their standard deviations.

    python -m benchmarks.retrieval.designs --seeds 10

draws dishes of ellipsoids, of different sagittal radii before and behind, of polynomials and of
arcs, with an offset of 15 um over 15 mm and noise of 8 um. An ellipse of 276 mm2 on each plateau is
stated to be worn, so that no scar is searched. Printed is the root mean square of volumes over
their stated standard deviations, which is 1 where errors of form are what they are said to be.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.phantoms import arcs, smooth_field, triangles
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.evaluate import Areas, evaluate_scan
from kneewear.models.retrieval.scans import Scan
from kneewear.models.retrieval.settings import ScanSettings

Array = NDArray[np.float64]

_MIDDLE = 21.0  # mm, of a plateau
_STEP = 0.5  # mm, between points
_TOLERANCE = 0.015  # mm
_LENGTH = 15.0  # mm, of its correlation
_NOISE = 0.008  # mm
# Half axes of the scar, mm.
_ALONG = 11.0
_ACROSS = 8.0
_GRID = np.meshgrid(
    np.arange(-22.0, 22.0 + 1e-9, _STEP), np.arange(-38.0, 38.0 + 1e-9, _STEP), indexing="ij"
)
_X = _GRID[0]
_Z = _GRID[1]


def _ellipsoids(rng: np.random.Generator) -> Array:
    """Parts of ellipsoids with rounded rims."""
    height = np.full(_X.shape, 5.0)
    for side in (1.0, -1.0):
        length, width, depth = rng.uniform(32, 50), rng.uniform(19, 25), rng.uniform(6, 10)
        rounding = rng.uniform(0.8, 1.6)
        q = (_X / length) ** 2 + ((_Z - side * _MIDDLE) / width) ** 2
        dish = depth * (1.0 - np.sqrt(np.maximum(1.0 - q, 0.0)))
        own = -rounding * np.log(np.exp(-dish / rounding) + np.exp(-5.0 / rounding))
        height = np.where(side * _Z > 0, own, height)
    return height


def _two_radii(rng: np.random.Generator) -> Array:
    """Sagittal radii that differ before and behind the lowest point, coronal arcs."""
    height = np.zeros(_X.shape)
    for side in (1.0, -1.0):
        before, behind, coronal = rng.uniform(30, 45), rng.uniform(50, 90), rng.uniform(28, 45)
        across = np.minimum(np.abs(_Z - side * _MIDDLE), 13.0)
        radius = np.where(_X < 0, before, behind)
        rise = radius - np.sqrt(radius**2 - _X**2) + coronal - np.sqrt(coronal**2 - across**2)
        height = np.where(side * _Z > 0, rise, height)
    return height


def _polynomials(rng: np.random.Generator) -> Array:
    """Second and fourth order."""
    height = np.zeros(_X.shape)
    for side in (1.0, -1.0):
        along, across = rng.uniform(40, 80), rng.uniform(25, 40)
        fourth = rng.uniform(0.2, 1.0), rng.uniform(0.2, 1.0), rng.uniform(-0.5, 0.5)
        v = _Z - side * _MIDDLE
        rise = _X**2 / 2 / along + v**2 / 2 / across + fourth[0] * (_X / 22.0) ** 4
        rise += fourth[1] * (v / 15.0) ** 4 + fourth[2] * (_X / 22.0) ** 2 * (v / 15.0) ** 2
        height = np.where(side * _Z > 0, rise, height)
    return np.minimum(height, 9.0)


def _arcs(rng: np.random.Generator) -> Array:
    """The arcs of the phantoms."""
    return arcs(_X, _Z)


DESIGNS: dict[str, Callable[[np.random.Generator], Array]] = {
    "ell": _ellipsoids,
    "two": _two_radii,
    "quart": _polynomials,
    "arcs": _arcs,
}


def blank(design: str, seed: int) -> TriangleMesh:
    """Scan of an unworn insert, mm."""
    rng = np.random.default_rng([len(design), seed, 7])
    height = DESIGNS[design](rng)
    height = height + _TOLERANCE * smooth_field(rng, _X.shape, _LENGTH)
    height += _NOISE * rng.standard_normal(_X.shape)
    faces = triangles(~((np.abs(_Z) < 7.0) & (_X > 12.0)))
    mesh = TriangleMesh(np.stack([_X, height, _Z], -1).reshape(-1, 3), faces)
    return mesh.part(np.ones(len(faces), dtype=bool))


def main() -> None:
    """Evaluate blanks of all designs and print the scatter of their volumes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--design", action="append", choices=list(DESIGNS))
    chosen = parser.parse_args()
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    ring = np.column_stack([_ALONG * np.cos(angle), _ACROSS * np.sin(angle)])
    areas = Areas(worn=tuple(ring + [0.0, side * _MIDDLE] for side in (1.0, -1.0)))
    for design in chosen.design or DESIGNS:
        ratios = []
        for seed in range(chosen.seeds):
            scan = Scan(design, blank(design, seed), ())
            scar = evaluate_scan(scan, None, ScanSettings(), areas).scar
            ratios.append(scar.volume / scar.volume_sd)
            print(design, seed, scar.volume.round(2), scar.volume_sd.round(2), flush=True)
        square = np.array(ratios) ** 2
        sides, both = np.sqrt(square[:, :2].mean()), np.sqrt(square[:, 2].mean())
        print(f"{design}: volume over its SD, rms: {both:.2f} of both, {sides:.2f} of each plateau")


if __name__ == "__main__":
    main()
