"""Trends over the cases and comparison with published values."""

CASES = rules.summarize_cases.output.cases


rule fit_regression:
    input:
        cases=CASES,
    output:
        regression=report(
            f"{RESULTS}/tables/regression.csv",
            caption="../report/regression.rst",
            category="Tables",
        ),
        models=report(
            f"{RESULTS}/tables/regression_models.csv",
            caption="../report/regression_models.rst",
            category="Tables",
        ),
        points=f"{RESULTS}/tables/regression_points.csv",
    log:
        f"{LOGS}/fit_regression.log",
    benchmark:
        f"{BENCHMARKS}/fit_regression.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("fit_regression"),
    script:
        "../../scripts/fit_regression.py"


rule correlate_pressure:
    input:
        cases=CASES,
    output:
        correlation=f"{RESULTS}/tables/correlation.csv",
    log:
        f"{LOGS}/correlate_pressure.log",
    benchmark:
        f"{BENCHMARKS}/correlate_pressure.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("correlate_pressure"),
    script:
        "../../scripts/correlate_pressure.py"


rule flag_validity:
    input:
        cases=CASES,
    output:
        validity=f"{RESULTS}/tables/validity.csv",
    log:
        f"{LOGS}/flag_validity.log",
    benchmark:
        f"{BENCHMARKS}/flag_validity.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("flag_validity"),
        pressure_limit=STUDY.report.pressure_limit_mpa,
        avg_pressure_limit=STUDY.report.avg_pressure_limit_mpa,
    script:
        "../../scripts/flag_validity.py"


rule compare_published:
    input:
        cases=CASES,
        regression=rules.fit_regression.output.regression,
        correlation=rules.correlate_pressure.output.correlation,
        published=PUBLISHED,
    output:
        comparison=report(
            f"{RESULTS}/tables/comparison.csv",
            caption="../report/comparison.rst",
            category="Tables",
        ),
        regression=f"{RESULTS}/tables/regression_comparison.csv",
        correlation=f"{RESULTS}/tables/correlation_comparison.csv",
        statements=f"{RESULTS}/tables/statements.csv",
        prediction=f"{RESULTS}/tables/prediction.csv",
    log:
        f"{LOGS}/compare_published.log",
    benchmark:
        f"{BENCHMARKS}/compare_published.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("compare_published"),
    script:
        "../../scripts/compare_published.py"
