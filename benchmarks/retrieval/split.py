"""Wear apart from creep on lives with known wear: `python -m benchmarks.retrieval.split`.

A life of another law, amplitude, offset and grid than the fit has wears an insert; the sum of
wear and creep, with noise, a smooth deviation of tolerance and an error of the total volume, is
what a scan measures. Printed are the wear found with the creep constant known to 10 %, which the
study has wrong by as much, and the range found without it.

    python -m benchmarks.retrieval.split --output split.csv
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kneewear as kw
from benchmarks.retrieval.phantoms import smooth_field
from kneewear.geometry.grid import build_grid
from kneewear.models.retrieval.lives import Lifetime, LifeTrial
from kneewear.models.retrieval.settings import SplitSettings
from kneewear.models.retrieval.split import Measured, at_blocks, fit_lives, split_table
from kneewear.study.files import load_activity

Array = NDArray[np.float64]

# Truths: law, amplitude, offset, mm, wear factor and error of the study's creep constant.
TRUTHS = (
    ("cross_shear_saturation", 0.8, 1.0, 9.0, 1.1),
    ("directional_work", 0.8, 1.0, 5.0, 1.1),
    ("archard", 0.8, 1.0, 1.2, 1.1),
    ("unified_theory", 0.8, -1.0, 30.0, 0.9),
    ("directional_work", 1.2, 1.0, 4.0, 0.9),
    ("cross_shear_saturation", 0.8, -1.0, 10.0, 0.9),
    ("archard", 1.2, -1.0, 0.8, 1.1),
    ("unified_theory", 1.2, 1.0, 20.0, 1.1),
    ("direction_memory", 0.8, 1.0, 5.0, 0.9),
    ("cross_shear_saturation", 1.2, 0.0, 3.0, 0.9),
)
# Rows and columns of elements of the truth; distance of blocks, noise, SD and length of tolerance,
# mm; and error of the volume.
_GRID = (60, 45)
_BLOCK = 2.0
_NOISE = 0.002
_TOLERANCE = (0.015, 15.0)
_VOLUME_SD = 0.02


def lifetime(rows: int = 40, columns: int = 30) -> Lifetime:
    """Lives of the study `quick`, one case, on a surface that follows its wear."""
    study: Any = kw.load_study(
        "quick",
        {
            "variables": {"thickness_mm": [10]},
            "simulation": {"analysis": "quasi_static"},
            "wear": {"blocks": 6},
        },
    )
    knee = kw.build_knee(study)
    grid = build_grid(knee.implant, rows, columns)
    activities = {name: load_activity(study, name, Path()) for name in study.simulated_activities()}
    (case,) = study.variants()[0]
    return Lifetime(study, replace(knee, grid=grid, coarse_grid=None), activities, case)


def worn(truth: tuple[str, float, float, float, float], seed: int) -> tuple[Measured, float, Array]:
    """Measurement of a life, its wear volume, mm3, and positions of its blocks, (n, 2)."""
    law, amplitude, posterior, factor, creep = truth
    source = lifetime(*_GRID)
    trial = LifeTrial(law, amplitude, float(np.log(factor)), -float(np.log(creep)), posterior)
    wear, worn_by_creep = source.depths(trial)
    rng = np.random.default_rng(seed)
    plan = source.centres[..., [0, 2]].reshape(-1, 2)
    low, high = plan.min(axis=0), plan.max(axis=0)
    axes = [np.arange(a, b, _BLOCK) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    sd, length = _TOLERANCE
    tolerance = sd * smooth_field(rng, points.shape[:2], length, _BLOCK).ravel()
    blocks = points.reshape(-1, 2)
    depths = at_blocks(plan, blocks)
    both = depths((wear + worn_by_creep).ravel())
    noisy = both + (both > 0.0) * (tolerance + _NOISE * rng.standard_normal(both.size))
    side = (blocks[:, 1] < 0.0).astype(np.int64)
    area = np.full(both.size, _BLOCK**2)
    sums = np.bincount(side, weights=both * area, minlength=2)
    volume = sums * (1.0 + _VOLUME_SD * rng.standard_normal(2))
    measured = Measured(noisy, np.full(both.size, _NOISE), area, side, volume, _VOLUME_SD * sums)
    true = float(np.bincount(side, weights=depths(wear.ravel()) * area).sum())
    return measured, true, blocks


def main() -> None:
    """Split the truths and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("split.csv"))
    parser.add_argument("--laws", nargs="+")
    parser.add_argument("--truths", type=int, nargs="+", default=list(range(len(TRUTHS))))
    chosen = parser.parse_args()
    source = lifetime()
    plan = source.centres[..., [0, 2]].reshape(-1, 2)
    with chosen.output.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["truth", "law", "basis", "true_mm3", "sum_mm3", "wear_mm3", "low_mm3", "high_mm3"]
        )
        for number in chosen.truths:
            measured, true, blocks = worn(TRUTHS[number], number)
            to_blocks = at_blocks(plan, blocks)

            def depths(trial: LifeTrial, to_blocks: Any = to_blocks) -> tuple[Array, Array]:
                wear, creep = source.depths(trial)
                return to_blocks(wear.ravel()), to_blocks(creep.ravel())

            for prior in (0.1, None):
                fits = fit_lives(measured, depths, prior, chosen.laws, fixed=source.fixed)
                settings = SplitSettings(creep_constant_sd=prior)
                for row in split_table(measured, fits, settings).itertuples():
                    values = (true, measured.volume.sum(), row.wear_mm3, row.low_mm3, row.high_mm3)
                    numbers = [f"{value:.2f}" for value in values]
                    rows.writerow([number, TRUTHS[number][0], row.basis, *numbers])
                    print(number, TRUTHS[number][0], row.basis, *numbers, flush=True)
                file.flush()


if __name__ == "__main__":
    main()
