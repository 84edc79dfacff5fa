"""Compile the kernels before jobs that need them run side by side (rule compile_kernels)."""

from kneewear.motion.warm_up import compile_kernels
from kneewear.runs.joblog import job_log
from kneewear.study.models import compile_models

with job_log(snakemake.log[0]):
    compile_kernels(snakemake.params.source, compile_models())
