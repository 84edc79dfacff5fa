"""Settings, paths and names every rule file uses."""

import os
from dataclasses import asdict
from pathlib import Path

from snakemake.logging import logger

from kneewear.settings.activity import prescribes_motion
from kneewear.compilation import kernel_folder
from kneewear.settings.study import load_study, merge_settings
from kneewear.errors import KneewearError
from kneewear.io.atomic import check_writable
from kneewear.io.cad import cad_is_installed
from kneewear.io.study_inputs import (
    activity_files,
    check_inputs,
    mesh_files,
)
from kneewear.job_sizes import batch_memory, batch_minutes, study_memory
from kneewear.provenance import source_fingerprint
from kneewear.report.captions import figure_texts
from kneewear.settings.files import read_settings_file

# Relative, so that a checkout can be moved without running anything again.
ROOT = os.path.relpath(Path(str(workflow.current_basedir)).parent.parent)
DEFAULT = os.path.relpath(f"{ROOT}/config/config.yaml")
# Read again here, files give the line of each key, and traps of YAML; another workflow that uses
# this one as a module passes settings without files.
OWN_FILES = (
    workflow.is_main_process and config == workflow.config_settings.overwrite_config
)
NAMES = [DEFAULT, *map(os.path.relpath, workflow.configfiles if OWN_FILES else [])]

try:
    files = [read_settings_file(path) for path in NAMES]
    SETTINGS = merge_settings(files[0].content, config)
    STUDY = load_study(SETTINGS, " + ".join(NAMES), files)
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
KERNEL_FOLDER = os.path.relpath(kernel_folder())
# What printed results are compared with; nothing else may read it.
PUBLISHED = sorted(
    str(path) for path in Path(ROOT).glob("kneewear/reference/published/*.csv")
)
TEMPLATES = sorted(map(str, Path(ROOT, "kneewear/report/templates").iterdir()))
CAPTIONS = {
    name: f"{text.title}. {text.caption}" for name, text in figure_texts().items()
}
ACTIVITIES = list(STUDY.simulated_activities())
BATCHES = (
    {name: list(map(asdict, cases)) for name, cases in STUDY.batches().items()}
    if STUDY.kind == "wear"
    else {}
)
ELEMENTS = 2 * STUDY.grid.rows * STUDY.grid.columns


# Priority of the rules that the page waits for longest: files for other programs fill the gaps.
LONGEST_WAY = 1


# Seconds each: not worth a job of a cluster.
localrules:
    list_failures,
    fit_regression,
    correlate_pressure,
    flag_validity,
    compare_published,
    compare_materials,
    write_provenance,
    write_report,


wildcard_constraints:
    activity="|".join(ACTIVITIES),
    batch="b[0-9]+",


def fingerprint(script):
    """Hash of the package code a script runs."""
    return source_fingerprint(script, ROOT)


def settings(block):
    """Settings of a block as plain builtins, which Snakemake can compare."""
    return block.model_dump(mode="json")


def curve_files(wildcards):
    """Motion and load file of a measured activity."""
    return activity_files(STUDY, wildcards.activity, ROOT)


def batch_size(wildcards):
    """Elements, frames and cases of a batch; of one case where there is no batch."""
    cases = len(BATCHES.get(getattr(wildcards, "batch", None), [None]))
    return ELEMENTS, STUDY.simulation.frames, cases


def simulation_mb(wildcards, attempt):
    """Memory of one activity's contact, more at every attempt."""
    return batch_memory(*batch_size(wildcards), attempt)


def simulation_minutes(wildcards, attempt):
    """Run time of one activity's contact, more at every attempt."""
    cycles = STUDY.simulation.forward.cycles
    return batch_minutes(*batch_size(wildcards), cycles, attempt)


def wear_mb(wildcards, attempt):
    """Memory of a batch's wear, which needs all its activities."""
    elements, frames, cases = batch_size(wildcards)
    return batch_memory(elements, frames * len(ACTIVITIES), cases, attempt)


def wear_minutes(wildcards, attempt):
    """Run time of a batch's wear; every block after the first simulates contact again."""
    cycles = STUDY.wear.blocks * len(ACTIVITIES)
    return batch_minutes(*batch_size(wildcards), cycles, attempt)


def comparison_mb(wildcards, attempt):
    """Memory of the batch that holds the centre case."""
    frames = STUDY.simulation.frames * len(ACTIVITIES)
    return batch_memory(ELEMENTS, frames, STUDY.cases_per_job, attempt)


def view_mb(wildcards, attempt):
    """Memory of all maps and of one batch's contact."""
    maps = study_memory(ELEMENTS, len(STUDY.case_list()), attempt)
    return maps + comparison_mb(wildcards, attempt)


def maps_mb(wildcards, attempt):
    """Memory of the maps of all cases."""
    return study_memory(ELEMENTS, len(STUDY.case_list()), attempt)
