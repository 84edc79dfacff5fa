"""Time passive flexion, knee extension and the planar knee against their targets.

`python -m benchmarks.multibody` writes results/benchmarks/multibody.csv: the median duration of
some runs on one thread, without reading and tabulating the surfaces. Left out, and stated, where
their data are absent.
"""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.timing import durations
from kneewear.io.documents import save_table
from kneewear.knees.assembly import compose_system
from kneewear.knees.composed import trace_composed
from kneewear.knees.impacts import integrate_impacts
from kneewear.knees.inputs import load_parts
from kneewear.knees.papers.knee_extension.motion import (
    build_extension,
    extend_knee,
    find_slack_length,
)
from kneewear.knees.papers.knee_extension.settings import KneeExtensionSettings
from kneewear.knees.papers.planar_knee.model import FREE, build_planar
from kneewear.knees.papers.planar_knee.settings import PlanarSettings
from kneewear.knees.settings.study import MultibodyStudy
from kneewear.study.files import model_files
from kneewear.study.settings import read_study

ROOT = Path(__file__).parent.parent
OUTPUT = Path("results/benchmarks/multibody.csv")
RUNS = 3
# Forcing function of the extension.
EXTENSION = "400N"


def main() -> pd.DataFrame:
    """Time the flexion and write the table."""
    study = read_study(
        ROOT / "config/evidence/tkr_soft_tissue.yaml", defaults=ROOT / "config/defaults.yaml"
    )
    rows = []
    files = model_files(study, ROOT)
    if isinstance(study, MultibodyStudy) and all(Path(path).is_file() for path in files.values()):
        settings = study.multibody
        knee_parts = load_parts(settings, files)
        system = compose_system(knee_parts, settings)
        times = durations(lambda: trace_composed(system, knee_parts, settings), RUNS)
        stage = "passive flexion 0-90 degrees, 148 bundles and patella, 91 frames"
        rows.append((stage, statistics.median(times), min(times), 5.0))
    else:
        print("the data of subject DM are not there: passive flexion is left out")
    study = read_study(
        ROOT / "config/papers/knee_extension.yaml", defaults=ROOT / "config/defaults.yaml"
    )
    files = model_files(study, ROOT)
    extension = study.multibody if isinstance(study, MultibodyStudy) else None
    if not all(Path(path).is_file() for path in files.values()):
        print("the data of the natural knee are not there: its extension is left out")
    elif isinstance(extension, KneeExtensionSettings):
        parts = load_parts(extension, files)
        base = compose_system(parts.knee, extension)
        slack, start = find_slack_length(base, parts, extension)
        extended = build_extension(base, parts, extension, EXTENSION, slack)
        times = durations(lambda: extend_knee(extended, start, extension, EXTENSION), RUNS)
        stage = "extension 90-0 degrees under 400 N, 12 degrees of freedom"
        rows.append((stage, statistics.median(times), min(times), 20.0))
    planar = read_study(
        ROOT / "config/papers/planar_knee.yaml", defaults=ROOT / "config/defaults.yaml"
    )
    knee = planar.multibody if isinstance(planar, MultibodyStudy) else None
    if isinstance(knee, PlanarSettings):
        built, start = build_planar(
            knee, knee.reference_knee, "hertz", knee.splines[0], knee.pulse.amplitude_n
        )
        at = np.arange(0.0, knee.duration_s + 1e-9, knee.output_step_s)
        times = durations(lambda: integrate_impacts(built, at, start, FREE), RUNS)
        stage = "planar knee, 0.4 s of motion with impacts, 401 output times"
        rows.append((stage, statistics.median(times), min(times), 1.0))
    table = pd.DataFrame(rows, columns=["stage", "median_s", "least_s", "target_s"])
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    save_table(table, OUTPUT)
    return table


if __name__ == "__main__":
    print(main().to_string(index=False))
