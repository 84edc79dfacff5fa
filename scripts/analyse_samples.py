"""Reduce the samples of an uncertainty study to its tables (rule analyse_samples)."""

import pandas as pd

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.settings.uncertainty import UncertaintySettings
from kneewear.studies.uncertainty.analysis import analyse_samples

with job_log(snakemake.log[0], snakemake.threads):
    samples = pd.concat(map(load_table, snakemake.input.samples), ignore_index=True)
    uncertainty = UncertaintySettings(**snakemake.params.uncertainty)
    found = analyse_samples(uncertainty, snakemake.params.seed, samples)
    save_table(samples, snakemake.output.samples)
    save_table(found, snakemake.output.found)
