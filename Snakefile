"""Wear of total knee replacements; see README.md and config/README.md."""

from snakemake.utils import min_version

min_version("9.0")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/geometry.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/activity.smk"
# The file of the study's kind ends in a target rule of the same name.
include: f"workflow/rules/{STUDY.kind}.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        getattr(rules, STUDY.kind).input,
