"""Study of the run, its jobs (`CHAIN`), and flags of their output."""

import gc
import os
import sys
from pathlib import Path

from snakemake.logging import logger

# What is imported lasts: collections would find nothing in it, and take a tenth of the time before
# the first job.
gc.freeze()
gc.disable()

# Version of the package that these rules are part of: they may come from elsewhere (`github(...)`).
VERSION = "1.0.0"
HERE = Path(str(workflow.current_basedir)).parent.parent
# A checkout need not be installed.
if Path(HERE, "kneewear", "__init__.py").is_file():
    sys.path.insert(0, str(HERE))

try:
    import kneewear
except ModuleNotFoundError as error:
    if error.name != "kneewear":
        raise
    raise SystemExit(
        f"{sys.executable}: found no package kneewear; expected version {VERSION} where Snakemake "
        f"runs. Install it: {sys.executable} -m pip install (the wheel or checkout of kneewear)"
    ) from None
if kneewear.__version__ != VERSION:
    raise SystemExit(
        f"{Path(kneewear.__file__).parent}: found version {kneewear.__version__} of kneewear; "
        f"expected {VERSION}, the version of the workflow {HERE}. Install that version where Snakemake "
        "runs, or name the workflow of the version that is installed (kneewear.checkout_folder())"
    )

from kneewear.errors import KneewearError
from kneewear.report.specification import load_page
from kneewear.runs.chains import chain_of
from kneewear.runs.joblog import ATTEMPT
from kneewear.runs.launch import SAFE_PATH, name_interpreter
from kneewear.runs.provenance import gather_records
from kneewear.runs.workflow import (
    input_digests,
    kernel_marker,
    block_settings,
    source_fingerprint,
    study_of_run,
)
from kneewear.study.models import COMMANDS
from kneewear.study.shipped import reachable

# Relative: a moved checkout runs nothing again.
ROOT = os.path.relpath(kneewear.checkout_folder())
PACKAGE = os.path.relpath(Path(kneewear.__file__).parent)
# Lines of keys come from the files; another workflow that uses this one passes none.
HAS_FILES = config == workflow.config_settings.overwrite_config
FILES = workflow.configfiles if HAS_FILES and workflow.is_main_process else []
TYPED = workflow.config_settings.config if HAS_FILES else None

try:
    STUDY, NOTES = study_of_run(config, FILES, ROOT, workflow.is_main_process, TYPED)
    CHAIN = chain_of(STUDY, ROOT)
except KneewearError as error:
    # Snakemake would add the line of this file to an error of its own.
    raise SystemExit(reachable(str(error))) from None
gc.freeze()
gc.enable()
for note in NOTES:
    logger.warning(reachable(note))

os.environ[kneewear.JOB] = "1"
# Jobs import no file of the study's folder, however Snakemake was started.
os.environ.update(SAFE_PATH)
sys.executable = name_interpreter()
# A job that failed because of its input is not computed again where failed jobs are retried, as on
# clusters: there a job is a command of its own, whose number Snakemake says in this option only.
if "--attempt" in sys.argv:
    os.environ[ATTEMPT] = sys.argv[sys.argv.index("--attempt") + 1]

RESULTS = CHAIN.results
# Folder of the results of all studies.
COLLECTED = str(Path(RESULTS).parent)
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
PAGE = f"{RESULTS}/report/index.html"
SIZES = CHAIN.sizes
# Priorities: the chain first, which the page waits for longest; figures fill its gaps, and files for
# other programs those of figures.
CHAIN_FIRST, FIGURES_NEXT = 2, 1


wildcard_constraints:
    activity="|".join(CHAIN.activities),
    batch="b[0-9]+",
    group="|".join(CHAIN.drawn),


def table(path, category, **labels):
    """Table of the study."""
    return report(
        path,
        caption="../report/file.rst",
        category="Tables",
        subcategory=category,
        labels={"table": Path(path).stem.replace("_", " "), **labels},
    )


def tables(by_category):
    """Tables of the study, which are given by category, by name."""
    return {
        name: table(CHAIN.path(name), category)
        for category, names in by_category.items()
        for name in names
    }
