"""Step of the rule analyse_cases of wear studies, whose cases have maps of damage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.analysis.regression_tables import tabulate_results
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.io.curves import read_simulator_test
from kneewear.io.result_files import frozen_digest
from kneewear.study import netcdf
from kneewear.study.job_files import JobFiles
from kneewear.wear.gravimetry import tabulate_wear_over_cycles
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import summarize_batches


def analyse_lives(settings: Mapping[str, Any], given: JobFiles) -> dict[str, pd.DataFrame]:
    """Reduce the cases of a study to its tables."""
    leave_out = ("pressure", "slip")
    histories = netcdf.load_all(CONTACT, given.paths("histories"), leave_out=leave_out)
    batches = zip(
        netcdf.load_all(DAMAGE, given.paths("damage")),
        # All activities of a batch, which follow each other.
        zip(*[histories] * settings["activities"], strict=True),
        [WearSettings(**one) for one in settings["wear"]],
        strict=True,
    )
    cases, failures = summarize_batches(batches, given.grid())
    tables = tabulate_results(cases, **settings["limits"])
    life = WearSettings(**settings["life"])
    # The prediction is stored: from here on measured wear is read.
    digest = frozen_digest(*given.paths("frozen")) if given.paths("frozen") else ""
    tests = {
        name: read_simulator_test(test["path"], test["columns"], life.mm3_per(test["unit"]))
        for name, test in settings["tests"].items()
    }
    return tables | {"failures": failures} | tabulate_wear_over_cycles(cases, life, tests, digest)
