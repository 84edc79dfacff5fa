"""Coverage of intervals and truth of the detection limit.

Many seeds are affordable because scans are not written, read and registered: blocks of deviations
are made from the heights of a phantom. Search of the scar and prediction below it are in common
with the command. Families without a reference are evaluated whole, from files, by `run`.

    python -m benchmarks.retrieval.coverage --seeds 20 --output coverage.csv

prints for each family the fraction of volumes within intervals of 90 %, the standard deviations
found and stated, and for blanks the detection limit found, 3.29 standard deviations of their
volumes, over the stated one; and the fraction of volumes above the critical level.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from benchmarks.retrieval.phantoms import Phantom, make_phantom, read_families
from kneewear.models.retrieval.kriging import Drift
from kneewear.models.retrieval.scans import bearing_regions, plateau_regions
from kneewear.models.retrieval.scar import find_scar
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.surfaces import Raster, make_blocks

Array = NDArray[np.float64]

_NINETY = 1.645
_CURRIE = 3.29
# Families with a reference, which need no reconstruction.
_LEFT_OUT = ("none",)


def evaluate(phantom: Phantom) -> dict[str, float]:
    """Volumes of both plateaus, true and found, and the limit, mm3."""
    heights, result, raster = _rasters(phantom)
    regions = bearing_regions(raster, heights, plateau_regions(raster, heights, phantom.name))
    blocks = make_blocks(raster, heights, result, regions, ScanSettings().block_mm)
    scar = find_scar(blocks, [Drift(blocks.rigid_drift())], ScanSettings())
    row: dict[str, float] = {}
    for number, side in enumerate(("medial", "lateral", "both")):
        true = sum(phantom.volumes) if side == "both" else phantom.volumes[number]
        row |= {f"{side}_true": true, f"{side}": float(scar.volume[number])}
        row |= {f"{side}_sd": float(scar.volume_sd[number])}
        row |= {f"{side}_limit": _CURRIE * float(scar.blank_sd[number])}
    return row


def _rasters(phantom: Phantom) -> tuple[Array, Array, Raster]:
    """Heights of reference and scan on a raster, without the pose of the scan."""
    assert phantom.reference is not None
    grid = phantom.reference
    x, z = grid[:, 0, 0], grid[0, :, 2]
    raster = Raster.around(np.array([x[0], z[0]]), np.array([x[-1], z[-1]]))
    at = np.stack(np.meshgrid(raster.x, raster.z, indexing="ij"), -1)
    known = (raster.x[-1] <= x[-1] + 1e-9) and (raster.z[-1] <= z[-1] + 1e-9)
    assert known, "the raster ends with the phantom"

    def heights(values: Array, present: NDArray[np.bool_]) -> Array:
        interpolator = scipy.interpolate.RegularGridInterpolator(
            (x, z), np.where(present, values, np.nan)
        )
        return np.asarray(interpolator(at))

    unworn = heights(grid[..., 1], phantom.whole)
    return unworn, heights(phantom.unmoved[..., 1], phantom.present), raster


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage and limits of each family."""
    result = []
    for family, own in rows.groupby("family", sort=False):
        errors = np.concatenate([own[side] - own[f"{side}_true"] for side in ("medial", "lateral")])
        sds = np.concatenate([own[f"{side}_sd"] for side in ("medial", "lateral")])
        error, sd = own["both"] - own["both_true"], own["both_sd"]
        limit = _CURRIE * float(own["both"].std()) if own["both_true"].max() < 1e-9 else np.nan
        result.append(
            {
                "family": family,
                "seeds": len(own),
                "mean_error_mm3": error.mean(),
                "rms_error_mm3": np.sqrt((error**2).mean()),
                "stated_sd_mm3": np.sqrt((sd**2).mean()),
                "coverage_both": (error.abs() <= _NINETY * sd).mean(),
                "coverage_sides": (np.abs(errors) <= _NINETY * sds).mean(),
                "stated_limit_mm3": own["both_limit"].mean(),
                "limit_found_over_stated": limit / own["both_limit"].mean(),
                "detected": (own["both"] > 0.5 * own["both_limit"]).mean(),
            }
        )
    return pd.DataFrame(result)


def main() -> None:
    """Evaluate seeds of all families and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--family", action="append")
    parser.add_argument("--output", type=Path, default=Path("coverage.csv"))
    chosen = parser.parse_args()
    families: list[dict[str, Any]] = [
        family
        for family in read_families()
        if family["reference"] not in _LEFT_OUT
        and (not chosen.family or family["family"] in chosen.family)
    ]
    writer = None
    with chosen.output.open("w", encoding="utf-8", newline="") as file:
        for seed in range(chosen.first, chosen.first + chosen.seeds):
            for family in families:
                row = {"family": family["family"], "seed": seed}
                row |= evaluate(make_phantom(family, seed))
                if writer is None:
                    writer = csv.DictWriter(file, list(row))
                    writer.writeheader()
                writer.writerow(row)
                file.flush()
    print(summarise(pd.read_csv(chosen.output)).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
