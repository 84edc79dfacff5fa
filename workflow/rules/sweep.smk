"""A sweep: cases of a plan over any settings, their effects, and figures."""

from kneewear.io.study_inputs import count_cases

PLAN_FILES = plan_files(STUDY, ROOT)
# First and last case of the plan by job.
CASE_BATCHES = {
    name: list(cases)
    for name, cases in STUDY.batch_ranges(count_cases(STUDY, ROOT)).items()
}


rule plan_cases:
    input:
        file=PLAN_FILES,
    output:
        plan=table("plan", "Inputs"),
    log:
        f"{LOGS}/plan_cases.log",
    benchmark:
        f"{BENCHMARKS}/plan_cases.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plan_cases", ROOT),
        digests=lambda wildcards: input_digests(PLAN_FILES),
        study=STUDY.computed(),
    script:
        "../../scripts/plan_cases.py"


rule evaluate_cases:
    input:
        plan=rules.plan_cases.output.plan,
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        cases=f"{RESULTS}/cases/{{batch}}.csv",
    log:
        f"{LOGS}/evaluate_cases/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_cases/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("evaluate_cases", ROOT),
        study=STUDY.computed(),
        cases=lambda wildcards: CASE_BATCHES[wildcards.batch],
    script:
        "../../scripts/evaluate_cases.py"


rule tabulate_sweep:
    input:
        plan=rules.plan_cases.output.plan,
        cases=expand(rules.evaluate_cases.output.cases, batch=CASE_BATCHES),
    output:
        sweep=table("sweep", "Results"),
        effects=table("effects", "Results"),
        response=table("response", "Results"),
        coefficients=table("coefficients", "Results"),
    log:
        f"{LOGS}/tabulate_sweep.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_sweep.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("tabulate_sweep", ROOT),
    script:
        "../../scripts/tabulate_sweep.py"


rule plot_sweep:
    input:
        sweep=rules.tabulate_sweep.output.sweep,
        effects=rules.tabulate_sweep.output.effects,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_sweep.log",
    benchmark:
        f"{BENCHMARKS}/plot_sweep.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_sweep", ROOT),
        units={name: one.unit for name, one in STUDY.sweep.factors.items()},
        captions=CAPTIONS,
    script:
        "../../scripts/plot_sweep.py"


REPORTED = {
    "figures": [rules.plot_sweep.output.figures],
    "tables": [
        *rules.tabulate_sweep.output,
        rules.build_geometry.output.fit_quality,
    ],
    "activities": PREPARED,
}


rule sweep:
    input:
        rules.build_geometry.output,
        PREPARED,
        PAGE,
