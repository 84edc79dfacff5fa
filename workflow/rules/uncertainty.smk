"""An uncertainty study: a plan of samples, their results by the method, and figures."""

# First and last sample of the plan by job, the nominal one first.
SAMPLE_BATCHES = {name: list(samples) for name, samples in STUDY.batches().items()}


rule plan_samples:
    output:
        plan=f"{RESULTS}/samples/plan.csv",
    log:
        f"{LOGS}/plan_samples.log",
    benchmark:
        f"{BENCHMARKS}/plan_samples.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plan_samples", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/plan_samples.py"


rule evaluate_samples:
    input:
        plan=rules.plan_samples.output.plan,
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        samples=f"{RESULTS}/samples/{{batch}}.csv",
        sums=f"{RESULTS}/samples/{{batch}}.nc",
    log:
        f"{LOGS}/evaluate_samples/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_samples/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("evaluate_samples", ROOT),
        study=STUDY.computed(),
        samples=lambda wildcards: SAMPLE_BATCHES[wildcards.batch],
    script:
        "../../scripts/evaluate_samples.py"


rule check_discretisation:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        discretisation=table("discretisation", "Verification"),
    log:
        f"{LOGS}/check_discretisation.log",
    benchmark:
        f"{BENCHMARKS}/check_discretisation.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(2500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("check_discretisation", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/check_discretisation.py"


rule analyse_samples:
    input:
        samples=expand(rules.evaluate_samples.output.samples, batch=SAMPLE_BATCHES),
    output:
        samples=table("samples", "Results"),
        found=table(STUDY.uncertainty.method, "Results"),
    log:
        f"{LOGS}/analyse_samples.log",
    benchmark:
        f"{BENCHMARKS}/analyse_samples.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("analyse_samples", ROOT),
        uncertainty=settings(STUDY.uncertainty),
        seed=STUDY.seed,
    script:
        "../../scripts/analyse_samples.py"


rule plot_uncertainty:
    input:
        found=rules.analyse_samples.output.found,
        samples=rules.analyse_samples.output.samples,
        sums=expand(rules.evaluate_samples.output.sums, batch=SAMPLE_BATCHES),
        knee=rules.build_geometry.output.knee,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_uncertainty.log",
    benchmark:
        f"{BENCHMARKS}/plot_uncertainty.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_uncertainty", ROOT),
        method=STUDY.uncertainty.method,
        captions=CAPTIONS,
    script:
        "../../scripts/plot_uncertainty.py"


REPORTED = {
    "figures": [rules.plot_uncertainty.output.figures],
    "tables": [
        *rules.analyse_samples.output,
        rules.check_discretisation.output.discretisation,
        rules.build_geometry.output.fit_quality,
    ],
    "activities": PREPARED,
}


rule uncertainty:
    input:
        rules.build_geometry.output,
        rules.export_geometry.output.step,
        PREPARED,
        PAGE,
