"""Score the results of a code: `python benchmarks/cases/score.py submission.csv`.

A submission is a CSV file with the columns case, quantity and value, in the units of the cases.
Only Python is needed. The exit code is 1 if a submitted value is outside its tolerance.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
WITHIN = "within"
OUTSIDE = "outside"
MISSING = "not submitted"


def load_cases(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """All cases, by the names of their files."""
    files = sorted(path for path in folder.glob("*.json") if path.name != "schema.json")
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def read_submission(path: Path) -> dict[tuple[str, str], float]:
    """Values by case and quantity; ValueError with the line of a fault."""
    found: dict[tuple[str, str], float] = {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    for number, row in enumerate(csv.DictReader(lines), start=2):
        try:
            key = row["case"], row["quantity"]
            value = float(row["value"])
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{path}, row {number}: found {row}; expected the columns case, quantity and"
                f" a number "
                "as value"
            ) from None
        if key in found:
            raise ValueError(f"{path}, row {number}: {key} is there twice")
        found[key] = value
    return found


def score(
    cases: list[dict[str, Any]], submission: dict[tuple[str, str], float]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each quantity; ValueError for values of unknown cases or quantities."""
    known = {(case["name"], one["name"]) for case in cases for one in case["quantities"]}
    unknown = sorted(set(submission) - known)
    if unknown:
        raise ValueError(f"no case and quantity {unknown[0]}; README.md lists all")
    for case in cases:
        for one in case["quantities"]:
            reference = one["solutions"][0]["value"]
            value = submission.get((case["name"], one["name"]))
            error = None if value is None else 100.0 * (value / reference - 1.0)
            verdict = MISSING
            if error is not None:
                verdict = WITHIN if abs(error) <= one["tolerance_percent"] else OUTSIDE
            yield {
                "field": case["field"],
                "case": case["name"],
                "quantity": one["name"],
                "unit": one["unit"],
                "reference": reference,
                "value": value,
                "error_percent": error,
                "tolerance_percent": one["tolerance_percent"],
                "verdict": verdict,
            }


def main(arguments: list[str]) -> int:
    """Print the scores of a submission."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    rows = list(score(load_cases(), read_submission(Path(arguments[0]))))
    for row in rows:
        error = "" if row["error_percent"] is None else f"{row['error_percent']:+.3f} %"
        print(f"{row['case']:22} {row['quantity']:32} {error:>12}  {row['verdict']}")
    counts = {
        name: sum(row["verdict"] == name for row in rows) for name in (WITHIN, OUTSIDE, MISSING)
    }
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return int(counts[OUTSIDE] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
