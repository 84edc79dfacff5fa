"""Wear of total knee replacements; see README.md and config/README.md."""

from snakemake.utils import min_version

min_version("9.0")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/geometry.smk"
include: "workflow/rules/activity.smk"
include: "workflow/rules/kernels.smk"


if STUDY.kind == "wear":

    include: "workflow/rules/simulation.smk"
    include: "workflow/rules/wear.smk"
    include: "workflow/rules/regression.smk"
    include: "workflow/rules/report.smk"

else:

    include: f"workflow/rules/{STUDY.kind}.smk"


include: "workflow/rules/provenance.smk"


rule all:
    default_target: True
    input:
        STUDY_FILES,
