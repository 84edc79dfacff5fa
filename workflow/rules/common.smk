"""Settings, paths and names every rule file uses."""

import os
from pathlib import Path

from snakemake.logging import logger

from kneewear.activity_settings import prescribes_motion
from kneewear.config import load_study
from kneewear.errors import KneewearError
from kneewear.io.atomic import check_writable
from kneewear.io.cad import cad_is_installed
from kneewear.io.study_inputs import (
    activity_files,
    check_inputs,
    has_solid,
    mesh_files,
)
from kneewear.provenance import source_fingerprint
from kneewear.settings_file import read_settings_file

# Relative, so that a checkout can be moved without running anything again.
ROOT = os.path.relpath(workflow.basedir)
# The default study comes last in the list but is overridden by the others.
NAMES = [os.path.relpath(path) for path in workflow.configfiles]
NAMES = NAMES[-1:] + NAMES[:-1]

try:
    # Snakemake has merged the files by now; read again they tell lines, and traps of YAML.
    FILES = map(read_settings_file, NAMES if workflow.is_main_process else [])
    STUDY = load_study(config, " + ".join(NAMES), list(FILES))
    if workflow.is_main_process:
        for note in check_inputs(STUDY, ROOT):
            logger.warning(note)
        check_writable(f"results/{STUDY.study}")
except KneewearError as error:
    # Snakemake would add the place in this file to an error of its own.
    raise SystemExit(str(error)) from None

RESULTS = f"results/{STUDY.study}"
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
PROVENANCE = f"{RESULTS}/provenance.json"
# What printed results are compared with; nothing else may read it.
PUBLISHED = sorted(
    str(path) for path in Path(ROOT).glob("kneewear/reference/published/*.csv")
)
TEMPLATES = sorted(map(str, Path(ROOT, "kneewear/report/templates").iterdir()))
ACTIVITIES = list(STUDY.simulated_activities())
BATCHES = {name: list(cases) for name, cases in STUDY.batches().items()}


wildcard_constraints:
    activity="|".join(ACTIVITIES),
    batch="b[0-9]+|other_[a-z]+",


def fingerprint(script):
    """Hash of the package code a script runs."""
    return source_fingerprint(script, ROOT)


def settings(block):
    """Settings of a block as plain builtins, which Snakemake can compare."""
    return block.model_dump(mode="json")


def curve_files(wildcards):
    """Motion and load file of a measured activity."""
    return activity_files(STUDY, wildcards.activity, ROOT)
