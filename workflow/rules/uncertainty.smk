"""An uncertainty study: a plan of samples, their results, what they tell, and the page."""

# Consecutive samples of the plan by job, the nominal one first.
SAMPLE_BATCHES = STUDY.batches()


def samples_mb(wildcards, attempt):
    """Memory of one sample at a time, more at every attempt."""
    return batch_memory(ELEMENTS, STUDY.simulation.frames * len(ACTIVITIES), 1, attempt)


def samples_minutes(wildcards, attempt):
    """Run time of a batch of samples, more at every attempt."""
    frames = STUDY.simulation.frames * len(ACTIVITIES)
    return batch_minutes(ELEMENTS, frames, STUDY.cases_per_job, attempt=attempt)


rule plan_samples:
    output:
        plan=f"{RESULTS}/samples/plan.csv",
    log:
        f"{LOGS}/plan_samples.log",
    benchmark:
        f"{BENCHMARKS}/plan_samples.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        source=fingerprint("plan_samples"),
        study=STUDY.computed(),
    script:
        "../../scripts/plan_samples.py"


rule evaluate_samples:
    input:
        plan=rules.plan_samples.output.plan,
        knee=rules.build_geometry.output.knee,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
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
    threads: 1
    resources:
        mem_mb=samples_mb,
        runtime=samples_minutes,
    params:
        source=fingerprint("evaluate_samples"),
        study=STUDY.computed(),
        samples=lambda wildcards: list(SAMPLE_BATCHES[wildcards.batch]),
    script:
        "../../scripts/evaluate_samples.py"


rule check_discretisation:
    input:
        knee=rules.build_geometry.output.knee,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        discretisation=f"{RESULTS}/tables/discretisation.csv",
    log:
        f"{LOGS}/check_discretisation.log",
    benchmark:
        f"{BENCHMARKS}/check_discretisation.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=2500,
        runtime=15,
    params:
        source=fingerprint("check_discretisation"),
        study=STUDY.computed(),
    script:
        "../../scripts/check_discretisation.py"


rule analyse_samples:
    input:
        samples=expand(rules.evaluate_samples.output.samples, batch=SAMPLE_BATCHES),
    output:
        samples=f"{RESULTS}/tables/samples.csv",
        found=report(
            f"{RESULTS}/tables/{STUDY.uncertainty.method}.csv",
            caption="../report/uncertainty.rst",
            category="Tables",
        ),
    log:
        f"{LOGS}/analyse_samples.log",
    benchmark:
        f"{BENCHMARKS}/analyse_samples.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=15,
    params:
        source=fingerprint("analyse_samples"),
        uncertainty=settings(STUDY.uncertainty),
        seed=STUDY.seed,
    script:
        "../../scripts/analyse_samples.py"


TABLES = [
    *rules.analyse_samples.output,
    rules.check_discretisation.output.discretisation,
]


rule plot_uncertainty:
    input:
        found=rules.analyse_samples.output.found,
        samples=rules.analyse_samples.output.samples,
        sums=expand(rules.evaluate_samples.output.sums, batch=SAMPLE_BATCHES),
        knee=rules.build_geometry.output.knee,
    output:
        figures=report(
            directory(f"{RESULTS}/figures"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_uncertainty.log",
    benchmark:
        f"{BENCHMARKS}/plot_uncertainty.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("plot_uncertainty"),
        method=STUDY.uncertainty.method,
        captions=CAPTIONS,
    script:
        "../../scripts/plot_uncertainty.py"


rule write_report:
    input:
        tables=[*TABLES, rules.build_geometry.output.fit_quality],
        figures=[rules.plot_uncertainty.output.figures],
        provenance=PROVENANCE,
        templates=TEMPLATES,
    output:
        page=report(
            f"{RESULTS}/report/index.html",
            caption="../report/page.rst",
            category="Page",
        ),
    log:
        f"{LOGS}/write_report.log",
    benchmark:
        f"{BENCHMARKS}/write_report.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("write_report"),
        kind=STUDY.kind,
        settings=settings(STUDY),
    script:
        "../../scripts/write_report.py"


STUDY_FILES = [
    *rules.build_geometry.output,
    *CAD_FILES,
    *expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
    *TABLES,
    rules.plot_uncertainty.output.figures,
    PROVENANCE,
    rules.write_report.output.page,
]
