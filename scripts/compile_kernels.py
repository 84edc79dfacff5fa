"""Compile the kernels before jobs that need them run side by side (rule compile_kernels)."""

from kneewear.joblog import job_log
from kneewear.simulation.warm_up import compile_kernels

with job_log(snakemake.log[0]):
    compile_kernels(snakemake.params.source)
