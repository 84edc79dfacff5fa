"""A cohort: wear of every subject with every design, distributions, and figures."""

from kneewear.io.study_inputs import cohort_file, subject_files, subjects

COHORT = cohort_file(STUDY, ROOT)
# Own files of the subjects, by the names the rows give them.
OWN_FILES = subject_files(STUDY, ROOT)
# First and last pair of a design and a subject by job.
PAIR_BATCHES = {
    name: list(pairs)
    for name, pairs in STUDY.batch_ranges(
        len(subjects(STUDY, ROOT)) * len(STUDY.design_names)
    ).items()
}


include: "designs.smk"


rule evaluate_subjects:
    input:
        cohort=COHORT,
        files=sorted(OWN_FILES.values()),
        knees=expand(rules.build_design.output.knee, design=DESIGNS),
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        subjects=f"{RESULTS}/subjects/{{batch}}.csv",
    log:
        f"{LOGS}/evaluate_subjects/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_subjects/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("evaluate_subjects", ROOT),
        digests=lambda wildcards: input_digests([COHORT, *sorted(OWN_FILES.values())]),
        study=STUDY.computed(),
        designs=list(DESIGNS),
        own_files=OWN_FILES,
        pairs=lambda wildcards: PAIR_BATCHES[wildcards.batch],
    script:
        "../../scripts/evaluate_subjects.py"


rule tabulate_cohort:
    input:
        subjects=expand(rules.evaluate_subjects.output.subjects, batch=PAIR_BATCHES),
    output:
        cohort=table("cohort", "Results"),
        percentiles=table("percentiles", "Results"),
        differences=table("differences", "Results"),
        effects=table("effects", "Results"),
        outside=table("outside", "Results"),
    log:
        f"{LOGS}/tabulate_cohort.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_cohort.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("tabulate_cohort", ROOT),
        percentiles=STUDY.cohort.percentiles,
        columns=list(STUDY.cohort.columns),
        covariates=list(STUDY.cohort.covariates),
        limits=[STUDY.report.pressure_limit_mpa, STUDY.report.avg_pressure_limit_mpa],
    script:
        "../../scripts/tabulate_cohort.py"


rule plot_cohort:
    input:
        cohort=rules.tabulate_cohort.output.cohort,
        percentiles=rules.tabulate_cohort.output.percentiles,
        effects=rules.tabulate_cohort.output.effects,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_cohort.log",
    benchmark:
        f"{BENCHMARKS}/plot_cohort.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_cohort", ROOT),
        units={name: one.unit for name, one in STUDY.cohort.columns.items()},
        captions=CAPTIONS,
    script:
        "../../scripts/plot_cohort.py"


REPORTED = {
    "figures": [rules.plot_cohort.output.figures],
    "tables": [*rules.tabulate_cohort.output],
    "activities": PREPARED,
}


rule cohort:
    input:
        PREPARED,
        PAGE,
