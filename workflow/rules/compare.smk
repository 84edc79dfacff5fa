"""Comparison of finished studies: make compare STUDIES="a b", or snakemake -s of this file."""

import os
from pathlib import Path

from snakemake.utils import min_version

from kneewear.errors import KneewearError
from kneewear.fingerprints import source_fingerprint
from kneewear.io.finished_study import finished_files, study_folders

min_version("9.0")

ROOT = os.path.relpath(Path(str(workflow.current_basedir)).parent.parent)
STUDIES = str(config.get("studies") or "").split()
RESULTS = f"results/comparisons/{'_and_'.join(STUDIES)}"
if not STUDIES:
    raise SystemExit(
        'make compare: found no studies; expected finished ones, such as STUDIES="default quick".'
    )
try:
    FOLDERS = list(map(str, study_folders(STUDIES)))
    FILES = [str(file) for folder in FOLDERS for file in finished_files(folder)]
except KneewearError as error:
    raise SystemExit(str(error)) from None


rule compare_studies:
    input:
        FILES,
    output:
        **{
            name: f"{RESULTS}/tables/{name}.csv"
            for name in [
                "differences",
                "ranking",
                "constants",
                "settings",
                "depth_maps",
            ]
        },
        figures=directory(f"{RESULTS}/figures"),
        page=f"{RESULTS}/report/index.html",
        records=f"{RESULTS}/report/summary.json",
    log:
        f"{RESULTS}/logs/compare_studies.log",
    benchmark:
        f"{RESULTS}/benchmarks/compare_studies.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 15 * attempt,
    params:
        source=source_fingerprint("compare_studies", ROOT),
        folders=FOLDERS,
    script:
        "../../scripts/compare_studies.py"
