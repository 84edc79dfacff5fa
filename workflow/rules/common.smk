"""Settings, paths and names every rule file uses."""

import gc
import os
import sys
from pathlib import Path

from snakemake.logging import logger

# What is imported lasts: collections would find nothing in it, and take a tenth of the time before
# the first job.
gc.freeze()
gc.disable()

import kneewear
from kneewear.errors import KneewearError
from kneewear.runs.provenance import source_fingerprint
from kneewear.runs.joblog import ATTEMPT
from kneewear.study.files import (
    activity_files,
    design_studies,
    measured_activities,
    model_files,
    pose_files,
    simulator_tests,
    comparison_table,
    uncertain_constants,
)
from kneewear.runs.provenance import gather_records
from kneewear.report.specification import load_page
from kneewear.study.models import model_of
from kneewear.runs.workflow import JobSizes, study_of_run, input_digests

# Relative: a moved checkout runs nothing again.
ROOT = os.path.relpath(Path(str(workflow.current_basedir)).parent.parent)
PACKAGE = os.path.relpath(Path(kneewear.__file__).parent)
# Lines of keys come from the files; another workflow that uses this one passes none.
HAS_FILES = config == workflow.config_settings.overwrite_config
FILES = workflow.configfiles if HAS_FILES and workflow.is_main_process else []
TYPED = workflow.config_settings.config if HAS_FILES else None

try:
    STUDY, NOTES = study_of_run(config, FILES, ROOT, workflow.is_main_process, TYPED)
    # Drawn beside built-in activities.
    MEASURED = measured_activities(STUDY, ROOT)
    CONSTANTS = uncertain_constants(STUDY, ROOT)
except KneewearError as error:
    # Snakemake would add the line of this file to an error of its own.
    raise SystemExit(str(error)) from None
gc.freeze()
gc.enable()
for note in NOTES:
    logger.warning(note)

os.environ[kneewear.JOB] = "1"
# A job that failed because of its input is not computed again where failed jobs are retried, as on
# clusters: there a job is a command of its own, whose number Snakemake says in this option only.
if "--attempt" in sys.argv:
    os.environ[ATTEMPT] = sys.argv[sys.argv.index("--attempt") + 1]

RESULTS = f"results/{STUDY.study}"
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
PAGE = f"{RESULTS}/report/index.html"
APPENDIX = f"{RESULTS}/report/appendix.html"
RECORDS = f"{RESULTS}/report/summary.json"
SUMMARY = f"{RESULTS}/report/summary.pdf"
PROVENANCE = f"{RESULTS}/provenance.json"
# Printed results; only comparison and calibration may read them.
PUBLISHED = sorted(map(str, Path(PACKAGE, "evidence/published").glob("*.csv")))
# Wear that was measured in a simulator.
TESTS = simulator_tests(STUDY, ROOT)
# Cases without maps have a row of results each; searches and fits add cases as they go.
TARGET = (
    STUDY.cases.plan
    if STUDY.cases.plan in ("search", "fit")
    else (
        "cases"
        if model_of(STUDY).has_cases and not STUDY.has_maps
        else "wear" if STUDY.has_maps else "parts"
    )
)
# Formats of figures, and those that the summary shows as pictures.
DRAWN = {
    "formats": STUDY.figure_formats,
    "pictures": load_page(STUDY.page or STUDY.model).summary_figures,
}
ACTIVITIES = list(STUDY.simulated_activities())
SIZES = JobSizes(STUDY, ROOT)
# Priority of the rules that the page waits for longest: files for other programs fill the gaps.
LONGEST_WAY = 1


wildcard_constraints:
    activity="|".join(ACTIVITIES),
    batch="b[0-9]+",


def settings(block):
    """Settings of a block as plain builtins, which Snakemake can compare."""
    return block.model_dump(mode="json")


def figures_folder(name):
    """Folder of figures; which there are depends on the study."""
    return report(
        directory(f"{RESULTS}/{name}"),
        patterns=["{name}.svg"],
        caption="../report/file.rst",
        category="Figures",
        subcategory=Path(name).name.capitalize(),
        labels={"figure": "{name}"},
    )


def table(name, category, folder="tables", **labels):
    """Table of the study."""
    return report(
        f"{RESULTS}/{folder}/{name}.csv",
        caption="../report/file.rst",
        category="Tables",
        subcategory=category,
        labels={"table": name.replace("_", " "), **labels},
    )
