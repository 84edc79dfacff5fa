"""Volumes that kneewear finds of a test set: `python -m benchmarks.retrieval.run FOLDER`.

Writes `kneewear.csv` with the columns that `score` reads of any program: phantom, side, volume_mm3,
sd_mm3, detection_limit_mm3.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.models.retrieval.evaluate import evaluate_scan, result_table
from kneewear.models.retrieval.scans import read_scan
from kneewear.models.retrieval.settings import ScanSettings


def main() -> None:
    """Evaluate the scans of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path)
    folder, output = (chosen := parser.parse_args()).folder, chosen.output
    with (output or folder / "kneewear.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["phantom", "side", "volume_mm3", "sd_mm3", "detection_limit_mm3"])
        for path in sorted(folder.glob("*_scan.ply")):
            name = path.stem.removesuffix("_scan")
            start = time.perf_counter()
            unworn = folder / f"{name}_reference.ply"
            reference = read_scan(str(unworn), "right") if unworn.is_file() else None
            try:
                scan = read_scan(str(path), "right")
                result = evaluate_scan(scan, reference, ScanSettings())
            except InputDataError as error:
                print(f"{name}: {error}", flush=True)
                continue
            for row in result_table([result], None).itertuples():
                limit = row.detection_limit_mm3
                values = [f"{item:.4f}" for item in (row.volume_mm3, row.sd_mm3, limit)]
                rows.writerow([name, row.side, *values])
            file.flush()
            print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
