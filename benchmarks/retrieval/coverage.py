"""Coverage of intervals and truth of the detection limit.

Many seeds are affordable because scans are not written, read and registered: blocks of deviations
are made from the heights of a phantom, and without a reference its mesh is evaluated as it is.
Search of the scar and prediction below it are in common with the command.

    python -m benchmarks.retrieval.coverage --seeds 20 --output coverage.csv

prints for each family the fraction of volumes within the tolerance and within intervals of 90 %,
and the standard deviations found, stated, and of the best linear prediction with scar and field
known; for blanks the detection limit found, 3.29 standard deviations of their volumes, over the
stated one; and the fraction of volumes above the critical level.
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

from benchmarks.retrieval.phantoms import Phantom, make_phantom, read_families, triangles
from benchmarks.retrieval.score import TOLERANCES
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.evaluate import evaluate_scan
from kneewear.models.retrieval.kriging import Drift, Field, UnwornSurface
from kneewear.models.retrieval.scans import Scan, bearing_regions, plateau_regions
from kneewear.models.retrieval.scar import Scar, find_scar, measured_area
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.surfaces import Blocks, Raster, make_blocks

Array = NDArray[np.float64]

_NINETY = 1.645
_CURRIE = 3.29
_STEP = 0.5  # mm, between points of phantoms


def evaluate(phantom: Phantom, family: dict[str, Any], settings: ScanSettings) -> dict[str, float]:
    """Volumes, true and found, their standard deviations and limits, mm3, of each side and both."""
    known = np.nan
    if phantom.reference is None:
        scar = _scar_alone(phantom, settings)
    else:
        blocks = blocks_of(phantom, settings)
        scar = find_scar(blocks, [Drift(blocks.rigid_drift())], settings)
        known = known_sd(phantom, family, blocks)
    row: dict[str, float] = {}
    for number, side in enumerate(("medial", "lateral", "both")):
        true = sum(phantom.volumes) if side == "both" else phantom.volumes[number]
        row |= {f"{side}_true": true, f"{side}": float(scar.volume[number])}
        row |= {f"{side}_sd": float(scar.volume_sd[number])}
        row |= {f"{side}_limit": _CURRIE * float(scar.volume_sd[number])}
    return row | {"both_known_sd": known}


def _evaluate_or_refuse(
    phantom: Phantom, family: dict[str, Any], settings: ScanSettings
) -> dict[str, float]:
    """As `evaluate`, with nothing but the true volumes of a scan that is refused."""
    try:
        return evaluate(phantom, family, settings)
    except InputDataError as error:
        print(error)
        sides = {"medial": phantom.volumes[0], "lateral": phantom.volumes[1]}
        sides["both"] = sum(phantom.volumes)
        names = [f"{side}{part}" for side in sides for part in ("_true", "", "_sd", "_limit")]
        return dict.fromkeys([*names, "both_known_sd"], np.nan) | {
            f"{side}_true": volume for side, volume in sides.items()
        }


def blocks_of(phantom: Phantom, settings: ScanSettings) -> Blocks:
    """Deviations of a phantom from its reference, without the pose of its scan."""
    heights, result, raster = _rasters(phantom)
    regions = bearing_regions(raster, heights, plateau_regions(raster, heights, phantom.name))
    return make_blocks(raster, heights, result, regions, settings.block_mm)


def _scar_alone(phantom: Phantom, settings: ScanSettings) -> Scar:
    """Scar of a phantom without a reference."""
    faces = triangles(phantom.present)
    mesh = TriangleMesh(phantom.unmoved.reshape(-1, 3), faces)
    mesh = mesh.part(np.ones(len(faces), dtype=bool))
    return evaluate_scan(Scan(phantom.name, mesh, ()), None, settings).scar


def known_sd(phantom: Phantom, family: dict[str, Any], blocks: Blocks) -> float:
    """Standard deviation of the volume of both plateaus with scar and field known, mm3.

    It is the error of the best linear prediction, which no evaluation without knowledge of the
    depths can have less of. Of blanks it is for the region whose volume is measured.
    """
    wear = scipy.interpolate.RegularGridInterpolator(
        (phantom.unmoved[:, 0, 0], phantom.unmoved[0, :, 2]), phantom.wear
    )
    worn = measured_area(blocks, wear(blocks.points[:, [0, 2]]) > 0.0)
    noise = family["noise_um"] * _STEP / blocks.size
    sd = family["offset_sd_um"] if family["reference"] in ("other", "cad") else 0.0
    if family["reference"] == "own":
        noise *= np.sqrt(2.0)
    sd, noise = 1e-3 * max(sd, 1e-3), 1e-3 * noise
    field = Field(1.0, sd, family["length_mm"], "gaussian", (noise / sd) ** 2)
    drift, plan = Drift(blocks.rigid_drift()), blocks.points[:, [0, 2]]
    unworn = ~worn & np.isfinite(blocks.deviation)
    surface = UnwornSurface(
        plan[unworn], blocks.deviation[unworn], drift.at(unworn), fields=(field,)
    )
    return float(surface.predict(plan, drift, np.where(worn, blocks.area, 0.0)[None]).total_sd[0])


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
    references = {item["family"]: item["reference"] for item in read_families()}
    for family, every in rows.groupby("family", sort=False):
        own = every.dropna(subset=["both"])
        errors = np.concatenate([own[side] - own[f"{side}_true"] for side in ("medial", "lateral")])
        sds = np.concatenate([own[f"{side}_sd"] for side in ("medial", "lateral")])
        error, sd = own["both"] - own["both_true"], own["both_sd"]
        relative, absolute = TOLERANCES[references[str(family)]]
        tolerance = np.maximum(relative * own["both_true"], absolute)
        known = own["both_known_sd"]
        limit = _CURRIE * float(own["both"].std()) if own["both_true"].max() < 1e-9 else np.nan
        result.append(
            {
                "family": family,
                "seeds": len(own),
                "refused": len(every) - len(own),
                "mean_error_mm3": error.mean(),
                "rms_error_mm3": np.sqrt((error**2).mean()),
                "stated_sd_mm3": np.sqrt((sd**2).mean()),
                "known_sd_mm3": np.sqrt((known**2).mean()),
                "within": (error.abs() <= tolerance).mean(),
                "within_if_known": (2.0 * scipy.stats.norm.cdf(tolerance / known) - 1.0).mean(),
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
    parser.add_argument("--block", type=float, default=ScanSettings().block_mm, help="mm")
    parser.add_argument("--output", type=Path, default=Path("coverage.csv"))
    chosen = parser.parse_args()
    families: list[dict[str, Any]] = [
        family
        for family in read_families()
        if not chosen.family or family["family"] in chosen.family
    ]
    writer, settings = None, ScanSettings(block_mm=chosen.block)
    with chosen.output.open("w", encoding="utf-8", newline="") as file:
        for seed in range(chosen.first, chosen.first + chosen.seeds):
            for family in families:
                row = {"family": family["family"], "seed": seed}
                row |= _evaluate_or_refuse(make_phantom(family, seed), family, settings)
                if writer is None:
                    writer = csv.DictWriter(file, list(row))
                    writer.writeheader()
                writer.writerow(row)
                file.flush()
    print(summarise(pd.read_csv(chosen.output)).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
