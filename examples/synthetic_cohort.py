"""Write the synthetic cohort of config/cohort_example.yaml: no row is a patient.

    python examples/synthetic_cohort.py config/cohort/synthetic.csv

Distributions, independent unless stated, from a fixed seed:

- Sex: 62.2 % women. Age: mean 69.1 years, standard deviation 9 years (chosen). Body mass index:
  log-normal, median 28.9, fitted to the shares 21.2, 36.9, 27.0, 10.2 and 4.6 % below 25, 30, 35,
  40 and above; cut off at 18 and 50. All of 1565 knee replacements (BMC Musculoskeletal Disorders
  2021, doi 10.1186/s12891-021-04512-1, read in the abstract).
- Height: 1.62 (women) and 1.75 m (men), standard deviation 0.07 m (from memory).
- Walking cycles: 3102 per day on average, from 343 to 5857, of 32 knee replacements (BioMed Res
  International 2015:157541, read in the abstract); normal, standard deviation a quarter of the
  range, cut off at its ends.
- Medial share of the load: 0.65, standard deviation 0.05, cut off at three of them; 0.70 is that of
  Bei (2003), 0.58 to 0.63 was measured in one implant. It represents frontal alignment.
- Rotation of the tibial component against the motion (0, 3 degrees), position of the femoral
  component from front to back (0, 1 mm), anterior-posterior travel as a multiple (1, 0.2): chosen
  standard deviations, cut off at three.
- Insert: 8, 10, 12 or 14 mm for 30, 45, 20 and 5 % (chosen). Side: half each. Size by height: small
  below 1.60 m, large from 1.75 m on (chosen).
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

SUBJECTS = 200
SEED = 20150157
CUT = 3.0
DAYS = 365.25


def cut_normal(
    generator: np.random.Generator, mean: float, deviation: float, low: float, high: float
) -> float:
    """Draw a normal number between two limits."""
    while not low <= (value := generator.normal(mean, deviation)) <= high:
        pass
    return float(value)


def draw_subject(generator: np.random.Generator, number: int) -> dict[str, str]:
    """Draw one row of the file."""

    def about(mean: float, deviation: float) -> float:
        low, high = mean - CUT * deviation, mean + CUT * deviation
        return cut_normal(generator, mean, deviation, low, high)

    woman = generator.random() < 0.622
    height = about(1.62 if woman else 1.75, 0.07)
    index = float(np.exp(cut_normal(generator, np.log(28.9), 0.182, np.log(18), np.log(50))))
    cycles = cut_normal(generator, 3102.0, (5857.0 - 343.0) / 4.0, 343.0, 5857.0)
    return {
        "subject": f"synthetic_{number:03d}",
        "side": "right" if generator.random() < 0.5 else "left",
        "size": "small" if height < 1.60 else "large" if height >= 1.75 else "medium",
        "age_years": f"{about(69.1, 9.0):.0f}",
        "body_mass_index": f"{index:.1f}",
        "body_mass_kg": f"{index * height**2:.1f}",
        "thickness_mm": f"{generator.choice([8, 10, 12, 14], p=[0.3, 0.45, 0.2, 0.05])}",
        "cycles_per_year": f"{DAYS * cycles:.0f}",
        "medial_share": f"{about(0.65, 0.05):.3f}",
        "tibial_rotation_deg": f"{about(0.0, 3.0):.2f}",
        "posterior_mm": f"{about(0.0, 1.0):.2f}",
        "travel": f"{about(1.0, 0.2):.3f}",
    }


def write_cohort(path: str | Path) -> None:
    """Write the cohort."""
    generator = np.random.default_rng(SEED)
    rows = [draw_subject(generator, number) for number in range(1, SUBJECTS + 1)]
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write("# Synthetic: drawn by examples/synthetic_cohort.py. No row is a patient.\n")
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    write_cohort(sys.argv[1])
