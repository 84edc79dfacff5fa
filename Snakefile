"""Wear of total knee replacements; see README.md and config/README.md."""

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/geometry.smk"
include: "workflow/rules/activity.smk"
include: "workflow/rules/simulation.smk"
include: "workflow/rules/contact.smk"


if STUDY.calibration is not None:

    include: "workflow/rules/calibration.smk"

elif STUDY.uncertainty is not None:

    include: "workflow/rules/uncertainty.smk"

elif STUDY.static is None:

    include: "workflow/rules/wear.smk"
    include: "workflow/rules/regression.smk"
    include: "workflow/rules/report.smk"

else:

    include: "workflow/rules/static.smk"


include: "workflow/rules/provenance.smk"


rule all:
    default_target: True
    input:
        STUDY_FILES,
